"""Noise with a shape: the covariance that hides the secret in a vector at the least cost."""

from takifugu.mechanisms.shaped.noise import Shaped, shaped_noise

__all__ = ["Shaped", "shaped_noise"]
