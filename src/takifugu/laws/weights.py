"""Weights of values and of components: checked in one place."""

import math

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, vector
from takifugu.errors import InputError

_SUM_TOLERANCE = 1e-9  # weights off by more are a mistake; off by less they are rounding


def shares(weights: Array) -> Array:
    """Weights that sum to 1, and to within 2⁻⁵⁰ of it once they are divided by their sum."""
    _require_signs(weights)
    total = math.fsum(weights)
    if not abs(total - 1) <= _SUM_TOLERANCE:
        raise InputError(f"weights must sum to 1, they sum to {total}: divide each by the sum")
    return weights / total if abs(total - 1) > 2**-50 else weights


def counts(weights: npt.ArrayLike | None, of: int, *, what: str = "value") -> Array:
    """The weight of each of so many values, 1 where none are given; one of them at least is above 0."""
    w = np.ones(of) if weights is None else vector("weights", weights)
    if len(w) != of:
        raise InputError(f"weights must have one entry per {what}, got {len(w)} for {of} {what}s")
    _require_signs(w)
    if not w.any():
        raise InputError(f"weights are all 0: at least one {what} needs a positive weight")
    return w


def merge(values: npt.ArrayLike, weights: npt.ArrayLike | None) -> tuple[Array, Array]:
    """Distinct values in order, with the weight (or count) of each; values without weight are dropped."""
    x = vector("values", values)
    w = counts(weights, len(x))
    points, place = np.unique(x[w > 0], return_inverse=True)
    return points, np.bincount(place, weights=w[w > 0]).astype(np.float64)


def _require_signs(weights: Array) -> None:
    if weights.min() < 0:
        raise InputError(f"weights must be 0 or more, got {float(weights.min())}")
