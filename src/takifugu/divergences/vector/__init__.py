"""Divergences of vectors after Gaussian noise: exact for Gaussians, a bound for mixtures."""
