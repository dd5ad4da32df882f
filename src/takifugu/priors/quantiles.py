"""Quantiles of a mixture, accurate in both tails."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError

Flags = npt.NDArray[np.bool_]

if TYPE_CHECKING:
    from takifugu.priors.mixture import Mixture

_MOST_STEPS = 300  # every fourth step halves the bracket, so this many leave nothing of it
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
    component's own quantile is mean + std·score, and the mixture's lies between the least and the largest of them.
    """
    from scipy.special import ndtr

    if mixture.is_discrete:
        return _discrete(mixture, ndtr(score))
    simple = mixture.simplified()
    t = np.asarray(score, dtype=np.float64)
    out = np.empty(t.shape)
    finite = np.isfinite(t)
    out[~finite] = t[~finite]  # a component of positive width reaches both ends of the line
    out[finite] = _solve(simple, t[finite])
    return out


def _solve(mixture: "Mixture", t: Array) -> Array:
    """Newton's method on the logarithm of the smaller tail, kept inside a bracket that halves when it must."""
    upper = t > 0
    target = _log_normal_tail(np.abs(t))
    own = mixture.means + t[:, None] * mixture.stds
    low: Array = own.min(axis=1)
    high: Array = own.max(axis=1)
    x = low + 0.5 * (high - low)
    active = np.flatnonzero(high > low)
    for step in range(_MOST_STEPS):
        if not len(active):
            break
        tail, log_density = _log_tail_and_density(mixture, x[active], upper[active])
        enough = np.where(upper[active], tail <= target[active], tail >= target[active])
        high[active] = np.where(enough, x[active], high[active])
        low[active] = np.where(enough, low[active], x[active])
        with np.errstate(all="ignore"):
            move = (tail - target[active]) * np.exp(tail - log_density)
            guess = x[active] + np.where(upper[active], move, -move)
        middle = low[active] + 0.5 * (high[active] - low[active])
        inside = (guess > low[active]) & (guess < high[active]) & (step % 4 != 3)  # NaN is not inside
        fresh = np.where(inside, guess, middle)
        settled = (
            (np.abs(fresh - x[active]) <= 3e-16 * np.abs(fresh)) | (middle <= low[active]) | (middle >= high[active])
        )
        x[active] = fresh
        active = active[~settled]
    points = mixture.means[mixture.stds == 0]
    if points.size:  # a jump between low and high is at a point mass, exactly
        nearest = points[np.abs(high[:, None] - points).argmin(axis=1)]
        x = np.where((nearest >= low) & (nearest <= high), nearest, x)
    return x


def _log_tail_and_density(mixture: "Mixture", x: Array, upper: Flags) -> tuple[Array, Array]:
    """ln P(X > x) where `upper`, ln P(X <= x) elsewhere, and the log-density of the continuous part."""
    from scipy.special import log_ndtr, logsumexp

    gaps = x[:, None] - mixture.means
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = np.where(mixture.stds > 0, gaps / mixture.stds, np.where(gaps >= 0, np.inf, -np.inf))
        log_weights = np.log(mixture.weights)
        tail = logsumexp(log_ndtr(np.where(upper[:, None], -z, z)) + log_weights, axis=1)
        bells = np.where(mixture.stds > 0, -0.5 * z * z - np.log(mixture.stds), -np.inf)
        log_density = logsumexp(bells + log_weights, axis=1) - 0.5 * np.log(2 * np.pi)
    return tail, log_density


def _log_normal_tail(x: Array) -> Array:
    from scipy.special import log_ndtr

    tail: Array = log_ndtr(-x)
    return tail


def _discrete(mixture: "Mixture", u: Array) -> Array:
    simple = mixture.simplified()
    cumulative = np.cumsum(simple.weights) / simple.weights.sum()
    place = np.searchsorted(cumulative, u * (1 - _ROUNDING))
    return simple.means[np.minimum(place, len(simple) - 1)]
