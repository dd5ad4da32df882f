"""Gaussian noise on vectors: drawn without a trace of float64, and added up over releases."""

from takifugu.channels.vector.noise import MOST_AXES, GaussianVector

__all__ = ["MOST_AXES", "GaussianVector"]
