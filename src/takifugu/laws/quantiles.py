"""Quantiles of a mixture, accurate in both tails."""

import sys
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError

if TYPE_CHECKING:
    from takifugu.laws.mixture import Mixture

Flags = npt.NDArray[np.bool_]
Ranks = npt.NDArray[np.int64]

_EVERY = 16  # of many quantiles one in so many is searched first, and the others begin between two of them
_FEW = 4  # floats beyond the end of a bracket
_MOST_TURNS = 600  # an eighth of them halve, and 64 halvings always suffice
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
    """Bisection over the floats themselves, counted in order, with Newton's method to guess ahead.

    Halving the count instead of the length ends at two neighbouring floats, however narrow one
    component is beside the distance to another, and lands on a point mass exactly.
    """
    low, high = _bracket(mixture, t)
    start = _halfway(low, high)
    if len(t) > _EVERY**2:
        # Only where the search begins: the bracket stays the one that is proved.
        some = np.argsort(t, kind="stable")[::_EVERY]
        start = np.interp(t, t[some], _bisect(mixture, t[some], upper[some], target[some]))
    # The slack matters only at a level where a point mass ends: there rounding must not skip to the
    # next value, which may be far away.
    target = np.where(upper, target + _ROUNDING, target - _ROUNDING)
    active = np.arange(len(t))
    probe = np.clip(_rank(start), low + 1, high)
    for turn in range(_MOST_TURNS):
        tail, log_density = _log_tail_and_density(mixture, _float(probe), upper[active])
        excess = np.where(upper[active], target[active] - tail, tail - target[active])
        enough = excess >= 0
        high[active] = np.where(enough, probe, high[active])
        low[active] = np.where(enough, low[active], probe)
        going = high[active] > low[active] + 1  # a difference of ranks could overflow, a successor cannot
        active, probe = active[going], probe[going]
        if not active.size:
            break
        begin, end = low[active], high[active]
        if turn % 8 == 7:
            probe = (begin >> 1) + (end >> 1) + (begin & end & 1)
            continue
        guess = _newton(probe, excess[going], tail[going], log_density[going])
        # Newton's method is believed where it ends inside the bracket, or hardly outside: there a few floats past the
        # near end are tried, since its last steps are of the size of the rounding in a tail.
        inside = np.clip(guess, begin + 1, end - 1)
        here = np.abs(guess - inside) <= (np.abs(guess - probe) >> 8) + _FEW
        probe = np.where(here, inside, np.clip(_rank(_halfway(begin, end)), begin + 1, end - 1))
    return _float(high)


def _halfway(low: Ranks, high: Ranks) -> Array:
    """The middle by length."""
    return 0.5 * _float(low) + 0.5 * _float(high)


def _bracket(mixture: "Mixture", t: Array) -> tuple[Ranks, Ranks]:
    """Ranks that hold the quantiles, the first excluded: from the least of the components' own to the largest."""
    largest = sys.float_info.max
    with np.errstate(over="ignore"):
        reach = np.clip(t[:, None] * mixture.stds, -largest, largest)
        own = np.clip(mixture.means + reach, -largest, largest)
        pad = _PAD * np.abs(mixture.means) + _PAD * np.abs(reach)
        low = np.clip((own - pad).min(axis=1), -largest, largest)
        high = np.clip((own + pad).max(axis=1), -largest, largest)
    return np.maximum(_rank(low) - 1, _rank(np.array(-largest))), _rank(high)


def _newton(rank: Ranks, excess: Array, tail: Array, log_density: Array) -> Ranks:
    """One Newton step on the logarithm of the tail, a little too far, so that the bracket closes too."""
    x = _float(rank)
    largest = sys.float_info.max
    with np.errstate(all="ignore"):
        guess = np.clip(np.nan_to_num(x - excess * np.exp(tail - log_density)), -largest, largest)
    move = _rank(guess) - rank  # wraps only for a leap over half of all floats, which the bracket refuses
    ahead: Ranks = rank + move + (move >> 12) + np.sign(move)
    return ahead


def _rank(x: Array) -> Ranks:
    """The place of each float in the order of all floats: equal steps from one to the next."""
    bits = np.ascontiguousarray(x + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


def _float(rank: Ranks) -> Array:
    bits = np.where(rank >= 0, rank, np.int64(-(2**63)) - rank)
    return bits.view(np.float64) + 0.0


def standardised(x: Array, means: Array, stds: Array) -> Array:
    """(x − mean)/std where the three are broadcast against one another; ±inf on the two sides of a point mass."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gaps = x - means
        z = gaps / stds
        if np.isinf(gaps).any():  # halves have a difference where floats of opposite sign have none
            z = np.where(np.isinf(gaps), (0.5 * x - 0.5 * means) / (0.5 * stds), z)
    return np.where(stds > 0, z, np.where(gaps >= 0, np.inf, -np.inf))


def _log_tail_and_density(mixture: "Mixture", x: Array, upper: Flags) -> tuple[Array, Array]:
    """ln P(X > x) where `upper` and ln P(X <= x) elsewhere; the log-density of the continuous part."""
    tail, z = log_tail(mixture, x, upper)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_weights, stds = np.log(mixture.weights)[:, None], mixture.stds[:, None]
        bells = np.where(stds > 0, -0.5 * z * z - np.log(stds), -np.inf)
        log_density = _log_sum(bells + log_weights) - 0.5 * np.log(2 * np.pi)
    return tail, log_density


def log_tail(mixture: "Mixture", x: Array, upper: Flags) -> tuple[Array, Array]:
    """ln P(X > x) where `upper` and ln P(X <= x) elsewhere, with x as each component's scores, one a row."""
    from scipy.special import log_ndtr

    # Component by component along the points: sums over a handful in the innermost axis take three times as long.
    z = standardised(x, mixture.means[:, None], mixture.stds[:, None])
    with np.errstate(divide="ignore"):
        return _log_sum(log_ndtr(np.where(upper, -z, z)) + np.log(mixture.weights)[:, None]), z


def _log_sum(logs: Array) -> Array:
    """ln Σ exp along the first axis; a sum of nothing is −inf."""
    top = np.maximum(logs.max(axis=0), -sys.float_info.max)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return np.asarray(top + np.log(np.exp(logs - top).sum(axis=0)))


def _discrete(mixture: "Mixture", u: Array) -> Array:
    simple = mixture.simplified()
    cumulative = np.cumsum(simple.weights) / simple.weights.sum()
    place = np.searchsorted(cumulative, u * (1 - _ROUNDING))
    return simple.means[np.minimum(place, len(simple) - 1)]
