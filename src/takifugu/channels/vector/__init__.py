"""Gaussian noise on vectors: drawn without a trace of float64, and added up over releases."""

from takifugu.channels.vector.noise import GaussianVector

__all__ = ["GaussianVector"]
