"""The Rényi divergence of two laws on the same finite list, in float64: for searching, never for a promise.

`takifugu.divergences.proved.finite` proves what these functions estimate (proofs/finite-channels.md).
"""

import math

import numpy as np

from takifugu._validation import Array, real
from takifugu.errors import InputError

_ROUNDING = 1e-12  # a sum that is off by less was meant to be one


def order_or_odds(alpha: float) -> float:
    """The Rényi order, above one; infinity is the order of bounded odds."""
    if isinstance(alpha, float | np.floating) and alpha == math.inf:
        return math.inf
    number = real("alpha", alpha, "a number above 1, or math.inf")
    if number <= 1:
        raise InputError(f"alpha must be a number above 1, or math.inf, got {alpha!r}")
    return number


def divergence(p: Array, q: Array, *, alpha: float) -> Array:
    """D_α(p‖q) along the last axis, for 1 < α ≤ ∞; +∞ where q is zero (or less) and p is not.

    p may sum to more than one and q to less, as bounds on probabilities do; the result is then the bound
    ln(Σ p^α q^(1-α))/(α-1). What is not a number comes back as +∞.

    >>> float(divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75]), alpha=math.inf))
    0.6931471805599453
    """
    alpha = order_or_odds(alpha)
    p, q = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64))
    with np.errstate(all="ignore"):
        # Logarithms are subtracted because a quotient of small numbers under- or overflows.
        gap = np.where(p > 0, np.where(q > 0, np.log(p) - np.log(q), np.inf), -np.inf)
        if alpha == math.inf:
            found = gap.max(axis=-1)
        else:
            found = np.where((alpha - 1) * gap.max(axis=-1) < 1, _small(p, gap, alpha), _large(p, gap, alpha))
        lost = np.isnan(p + q).any(axis=-1) | np.isnan(found)
        kept: Array = np.where(lost, np.inf, np.maximum(found, 0.0))
        return kept


def _small(p: Array, gap: Array, alpha: float) -> Array:
    """ln(1 + Σ p·(r^(α-1) - 1))/(α-1): keeps its digits where every ratio r is near one, or α is."""
    over = p.sum(axis=-1) - 1
    over = np.where(np.abs(over) > _ROUNDING, over, 0.0)
    # p·expm1 of -inf is 0·(-1), which is the zero that such an output adds.
    value: Array = np.log1p((p * np.expm1((alpha - 1) * gap)).sum(axis=-1) + over) / (alpha - 1)
    return value


def _large(p: Array, gap: Array, alpha: float) -> Array:
    """The same with the largest term taken out, so that no power overflows.

    Everything is divided by α-1 first: at an order of 1e306 the exponents themselves would be beyond floats.
    """
    exponents = np.where(p > 0, np.log(p) / (alpha - 1) + gap, -np.inf)
    top = exponents.max(axis=-1)
    rest = np.exp((alpha - 1) * (exponents - top[..., None])).sum(axis=-1)
    value: Array = np.where(np.isfinite(top), top + np.log(rest) / (alpha - 1), top)
    return value


def spread(matrix: Array) -> tuple[Array, Array]:
    """The least and the largest probability of each output over all inputs."""
    return matrix.min(axis=0), matrix.max(axis=0)


def raised(p: Array, radius: Array | float, low: Array, high: Array) -> Array:
    """An upper bound on what any prior within total variation `radius` publishes, output by output."""
    return np.minimum(p + radius * (high - low), high)


def lowered(q: Array, radius: Array | float, low: Array, high: Array) -> Array:
    """The lower bound that belongs to `raised`."""
    return np.maximum(q - radius * (high - low), low)
