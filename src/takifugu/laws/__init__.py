"""Distributions of an answer: Gaussian mixtures on the line, and how they are fitted to counts."""
