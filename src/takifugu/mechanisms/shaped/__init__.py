"""Noise with a shape: the covariance that hides the secret in a vector at the least cost."""

from takifugu.mechanisms.shaped.mechanism import Shaped
from takifugu.mechanisms.shaped.noise import ShapedNoise, shaped_noise

__all__ = ["Shaped", "ShapedNoise", "shaped_noise"]
