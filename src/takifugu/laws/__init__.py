"""Distributions of an answer, and how they are fitted to counts."""

from takifugu.laws.mixture import Mixture

__all__ = ["LAWS", "Law", "Mixture"]

Law = Mixture
LAWS = (Mixture,)
