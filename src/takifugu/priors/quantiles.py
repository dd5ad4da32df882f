"""Quantiles of a mixture, accurate in both tails."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError

Flags = npt.NDArray[np.bool_]

if TYPE_CHECKING:
    from takifugu.priors.mixture import Mixture

_HALVINGS = 70  # the bracket shrinks below the last bit of any bound on it
_ROUNDING = 1e-15  # cumulative weights are sums of rounded numbers


def quantile(mixture: "Mixture", u: Array) -> Array:
    """The least x with P(X <= x) >= u; the ends of the support for u = 0 and u = 1."""
    if not ((u >= 0) & (u <= 1)).all():
        raise InputError(f"u must be between 0 and 1, got {u[~((u >= 0) & (u <= 1))][0]}")
    from scipy.special import ndtri

    if mixture.is_discrete:
        return _discrete(mixture, u)
    return quantile_at_score(mixture, ndtri(u))


def quantile_at_score(mixture: "Mixture", score: Array) -> Array:
    """The quantile at u = Φ(score): the scale on which a normal's quantiles are a straight line.

    Scores keep their meaning far beyond the levels that a float64 u can tell from 0 or 1. Each
    component's own quantile is mean + std·score, and the mixture's lies between the least and the
    largest of them.
    """
    from scipy.special import ndtr

    if mixture.is_discrete:
        return _discrete(mixture, ndtr(score))
    simple = mixture.simplified()
    t = np.asarray(score, dtype=np.float64)
    out = np.empty(t.shape)
    finite = np.isfinite(t)
    out[~finite] = t[~finite]  # a component of positive width reaches both ends of the line
    out[finite] = _bisect(simple, t[finite])
    return out


def _bisect(mixture: "Mixture", t: Array) -> Array:
    from scipy.special import log_ndtr

    upper = t > 0
    target = log_ndtr(-np.abs(t))
    own = mixture.means + t[:, None] * mixture.stds
    low: Array = own.min(axis=1)
    high: Array = own.max(axis=1)
    points = mixture.means[mixture.stds == 0]
    for _ in range(_HALVINGS):
        middle = low + 0.5 * (high - low)
        enough = _reaches(mixture, middle, upper, target)
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    if points.size:  # a jump between low and high is at a point mass, exactly
        nearest = points[np.abs(high[:, None] - points).argmin(axis=1)]
        high = np.where((nearest >= low) & (nearest <= high), nearest, high)
    return high


def _reaches(mixture: "Mixture", x: Array, upper: Flags, target: Array) -> Flags:
    """Whether P(X <= x) >= Φ(t), told by the logarithm of the smaller tail."""
    from scipy.special import log_ndtr, logsumexp

    gaps = x[:, None] - mixture.means
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.where(mixture.stds > 0, gaps / mixture.stds, np.where(gaps >= 0, np.inf, -np.inf))
        tail = logsumexp(log_ndtr(np.where(upper[:, None], -z, z)) + np.log(mixture.weights), axis=1)
    reached: Flags = np.where(upper, tail <= target, tail >= target)
    return reached


def _discrete(mixture: "Mixture", u: Array) -> Array:
    simple = mixture.simplified()
    cumulative = np.cumsum(simple.weights) / simple.weights.sum()
    place = np.searchsorted(cumulative, u * (1 - _ROUNDING))
    return simple.means[np.minimum(place, len(simple) - 1)]
