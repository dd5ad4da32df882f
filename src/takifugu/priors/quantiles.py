"""Quantiles of a mixture, accurate in both tails."""

import sys
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError

if TYPE_CHECKING:
    from takifugu.priors.mixture import Mixture

Flags = npt.NDArray[np.bool_]

_HALVINGS = 64  # one for each bit of a float
_PAD = 4 * sys.float_info.epsilon  # the ends of the bracket are rounded sums of rounded products
_ROUNDING = 1e-15  # weights are rounded, and so are their sums and the logarithms of those


def quantile(mixture: "Mixture", u: Array) -> Array:
    """The least x with P(X <= x) >= u; the ends of the support for u = 0 and u = 1."""
    if not ((u >= 0) & (u <= 1)).all():
        raise InputError(f"u must be between 0 and 1, got {float(u[~((u >= 0) & (u <= 1))][0])}")
    from scipy.special import ndtri

    if mixture.is_discrete:
        return _discrete(mixture, u)
    upper = u > 0.5
    with np.errstate(divide="ignore"):
        target = np.where(upper, np.log1p(-u), np.log(u))
    return _search(mixture, ndtri(u), upper, target)


def quantile_at_score(mixture: "Mixture", score: Array) -> Array:
    """The quantile at u = Φ(score): the scale on which a normal's quantiles are a straight line.

    Scores keep their meaning far beyond the levels that a float64 u can tell from 0 or 1. Each
    component's own quantile is mean + std·score, and the mixture's lies between the least and the
    largest of them.
    """
    from scipy.special import log_ndtr, ndtr

    t = np.asarray(score, dtype=np.float64)
    if mixture.is_discrete:
        return _discrete(mixture, ndtr(t))
    return _search(mixture, t, t > 0, log_ndtr(-np.abs(t)))


def _search(mixture: "Mixture", t: Array, upper: Flags, target: Array) -> Array:
    """The least float at which the smaller tail (the upper one where told) meets its target."""
    out = np.empty(t.shape)
    finite = np.isfinite(t)
    out[~finite] = t[~finite]  # a component of positive width reaches both ends of the line
    out[finite] = _bisect(mixture.simplified(), t[finite], upper[finite], target[finite])
    return out


def _bisect(mixture: "Mixture", t: Array, upper: Flags, target: Array) -> Array:
    """Bisection over the floats themselves, counted in order.

    Halving the count instead of the length ends at two neighbouring floats after 64 rounds, however
    narrow one component is beside the distance to another, and lands on a point mass exactly.
    """
    largest = sys.float_info.max
    with np.errstate(over="ignore"):
        reach = np.clip(t[:, None] * mixture.stds, -largest, largest)
        own = np.clip(mixture.means + reach, -largest, largest)
        pad = _PAD * np.abs(mixture.means) + _PAD * np.abs(reach)
        low = _rank(np.clip((own - pad).min(axis=1), -largest, largest))
        high = _rank(np.clip((own + pad).max(axis=1), -largest, largest))
    done = _reaches(mixture, _float(low), upper, target)
    high = np.where(done, low, high)
    for _ in range(_HALVINGS):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)  # the sum of two ranks could overflow
        enough = _reaches(mixture, _float(middle), upper, target)
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return _float(high)


def _rank(x: Array) -> npt.NDArray[np.int64]:
    """The place of each float in the order of all floats: equal steps from one to the next."""
    bits = np.ascontiguousarray(x + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


def _float(rank: npt.NDArray[np.int64]) -> Array:
    bits = np.where(rank >= 0, rank, np.int64(-(2**63)) - rank)
    return bits.view(np.float64) + 0.0


def _reaches(mixture: "Mixture", x: Array, upper: Flags, target: Array) -> Flags:
    """Whether P(X <= x) meets the level, told by the logarithm of the smaller tail."""
    from scipy.special import log_ndtr, logsumexp

    from takifugu.priors.mixture import scores

    z = scores(x, mixture)
    with np.errstate(divide="ignore", over="ignore"):
        tail = logsumexp(log_ndtr(np.where(upper[:, None], -z, z)) + np.log(mixture.weights), axis=1)
    # The slack matters only at a level where a point mass ends: there rounding must not skip to the
    # next value, which may be far away.
    reached: Flags = np.where(upper, tail <= target + _ROUNDING, tail >= target - _ROUNDING)
    return reached


def _discrete(mixture: "Mixture", u: Array) -> Array:
    simple = mixture.simplified()
    cumulative = np.cumsum(simple.weights) / simple.weights.sum()
    place = np.searchsorted(cumulative, u * (1 - _ROUNDING))
    return simple.means[np.minimum(place, len(simple) - 1)]
