"""Bounds on the largest odds of every pair of many laws after Laplace noise, from one grid that all share.

The logarithm of a density after Lap(b) has a slope of 1/b at most, so that of a ratio one of 2/b: between two places of
a grid a ratio is no further above its larger end than the step over b, and beyond the last the moment generating
functions bound it (proofs/laplace.md, claims 2 and 4). Of laws on points the largest odds are at one of the points.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.divergences.laplace_odds import ExactLaplace, LogLaplace
from takifugu.divergences.numerics.balls import Effort, fraction, working_precision
from takifugu.laws import Mixture

if TYPE_CHECKING:
    from flint import arb

_REACH = 6.0  # standard deviations, on either side of where noise tilts a normal to
_SHARE = 0.02  # of the budget: what the steps of the grid may leave open
_LEAST, _MOST = 64, 8_000  # places of a grid
_WORK = 2_000_000_000  # differences of logarithms for all pairs
_ROUNDING = 2.0**-48  # of a logarithm's size, for each term that is added up: thirty times what floats lose
_CLEARING_BITS = 96  # of the balls at the places of a grid: its steps leave far more open than these do
_SHARES = (_SHARE, _SHARE / 10)  # for all laws, and for those that the first grid leaves open
_DEEPEST = 750.0  # e to minus this is below all floats


class Screened(NamedTuple):
    """For each law against each other one: odds that are attained or approached, and a bound on all of them, as ln."""

    attained: Array
    bound: Array


def screen_odds_after_laplace(laws: Sequence[Mixture], *, scale: float, epsilon: float) -> Screened:
    """Both for every pair of laws, beside a budget that says how fine a grid is worth.

    >>> laws = [Mixture.gaussian(0, 1), Mixture.gaussian(1, 1)]
    >>> found = screen_odds_after_laplace(laws, scale=2.0, epsilon=1.0)
    >>> bool(found.attained[0, 1] <= 0.5 <= found.bound[0, 1] <= 0.53)
    True
    """
    with np.errstate(all="ignore"):  # what overflows, or is no number, clears nothing
        return _screened(_centred(laws), scale, epsilon)


def _screened(laws: Sequence[Mixture], scale: float, epsilon: float) -> Screened:
    places, step = _grid(laws, scale, epsilon)
    logs = [LogLaplace(law, scale) for law in laws]
    heights = np.array([log(places) for log in logs])
    right, left = np.array([log.limits for log in logs]).T
    last, first = heights[:, -1] + places[-1] / scale, heights[:, 0] - places[0] / scale
    size = len(laws)
    inside = np.empty((size, size))
    for i in range(size):
        inside[i] = (heights[i] - heights).max(axis=1)
    attained = np.maximum(inside, np.maximum(right[:, None] - right, left[:, None] - left))
    bound = np.maximum(inside + step / scale, np.maximum(right[:, None] - last, left[:, None] - first))
    lost = _lost(laws, places, scale)
    attained, bound = np.nan_to_num(attained - lost, nan=0.0).clip(min=0.0), bound + lost
    same = np.eye(size, dtype=bool)
    return Screened(np.where(same, 0.0, attained), np.where(same, 0.0, np.where(np.isnan(bound), np.inf, bound)))


def _centred(laws: Sequence[Mixture]) -> list[Mixture]:
    """The laws around a common middle: nothing that tells them apart changes, and large offsets cost no digits."""
    every = np.concatenate([law.means for law in laws])
    middle = 0.5 * float(every.min()) + 0.5 * float(every.max())
    return [Mixture(law.weights, law.means - middle, law.stds) for law in laws]


def _lost(laws: Sequence[Mixture], places: Array, scale: float) -> float:
    """No less than what rounding may do to a difference of logarithms; infinite where nothing is left of them.

    A logarithm is a sum of as many terms as the law has components, each up to the span over the scale in size, or half
    the squared width over the squared scale.
    """
    span = max(float(np.abs(places).max()), *(float(np.abs(law.means).max()) for law in laws))
    width = max(float(law.stds.max()) for law in laws) / scale
    terms = 8 + max(len(law) for law in laws)
    lost = _ROUNDING * terms * (2.0 * span / scale + width * width + _DEEPEST)
    return lost if math.isfinite(lost) else math.inf


def _grid(laws: Sequence[Mixture], scale: float, epsilon: float, share: float = _SHARE) -> tuple[Array, float]:
    """Where to look, and the longest gap between two places that may hide a larger ratio; 0 where none does."""
    points = np.unique(np.concatenate([law.means[law.stds == 0] for law in laws]))
    wide = [law for law in laws if law.stds.any()]
    if not wide:
        return points, 0.0
    tilted = [_REACH + law.stds / scale for law in wide]
    low = min(float((law.means - reach * law.stds).min()) for law, reach in zip(wide, tilted, strict=True))
    high = max(float((law.means + reach * law.stds).max()) for law, reach in zip(wide, tilted, strict=True))
    if len(points):
        low, high = min(low, float(points[0])), max(high, float(points[-1]))
    most = min(_MOST, max(_LEAST, _WORK // len(laws) ** 2))
    needed = (high - low) / (share * epsilon * scale)
    count = most if not needed < most else max(_LEAST, math.ceil(needed))
    places = np.linspace(low, high, count + 1)
    gaps = np.diff(np.union1d(places, points))
    return np.union1d(places, points), float(gaps.max()) if len(gaps) and high > low else math.inf


def cleared_after_laplace(
    laws: Sequence[Mixture], *, scale: float, epsilon: float, effort: Effort | None = None
) -> npt.NDArray[np.bool_]:
    """Of which pairs of many laws it is proved that their odds after Lap(scale) are within the budget, as ln.

    The same bounds as above, on logarithms that are balls and differences that are rounded outwards (proofs/laplace.md,
    claim 4b). What is not cleared is not decided: it is for `decide_odds_after_laplace`.

    >>> laws = [Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), Mixture.gaussian(9, 1)]
    >>> cleared_after_laplace(laws, scale=2.0, epsilon=1.0)[0].tolist()
    [True, True, False]
    """
    spent = Effort() if effort is None else effort
    size = len(laws)
    cleared = np.eye(size, dtype=bool)
    left = np.arange(size)
    for share in _SHARES:
        some = [laws[k] for k in left.tolist()]
        bound = _proved_bounds(some, scale, epsilon, share, spent)
        cleared[np.ix_(left, left)] |= bound <= epsilon
        left = np.flatnonzero(~cleared.all(axis=0) | ~cleared.all(axis=1))
        if len(left) < 2:
            break
    return cleared


def _proved_bounds(laws: Sequence[Mixture], scale: float, epsilon: float, share: float, spent: Effort) -> Array:
    """For each law against each other one a bound on ln of the odds, rounded up; infinite where there is none."""
    from flint import arb

    with np.errstate(all="ignore"):
        places, _ = _grid(laws, scale, epsilon, share)
    if not np.isfinite(places).all() or len(places) < 2:
        return np.full((len(laws), len(laws)), np.inf)
    is_discrete = all(law.is_discrete for law in laws)
    at = [fraction(place) for place in places.tolist()]
    ends = []
    with working_precision(_CLEARING_BITS):
        low, high = np.empty((2, len(laws), len(places)))
        for k, law in enumerate(laws):
            exact = ExactLaplace(law, scale, spent)
            balls = exact.at_points(at) if is_discrete else [sum(exact.parts(place), arb(0)) for place in at]
            logs = [ball.log() for ball in balls]
            low[k], high[k] = np.array([_outward(log) for log in logs]).T
            tails = (
                exact.moment(1).log(),
                exact.moment(-1).log(),
                logs[-1] + exact.u * at[-1],
                logs[0] - exact.u * at[0],
            )
            ends.append([_outward(one) for one in tails])
        # Over a step of h a difference of two logarithms rises by h/b at most above the larger end.
        widest = max((c - a for a, c in pairwise(at)), default=fraction(0.0))
        rise = 0.0 if is_discrete else _outward(arb(widest) / arb(fraction(scale)))[1]
    bound = np.empty((len(laws), len(laws)))
    for k in range(len(laws)):
        bound[k] = _up(_up((high[k] - low).max(axis=1)) + rise)
    low_ends, high_ends = np.moveaxis(np.array(ends), (2, 1), (0, 1))
    beyond = np.maximum(_up(high_ends[0][:, None] - low_ends[2]), _up(high_ends[1][:, None] - low_ends[3]))
    found = np.maximum(bound, beyond)
    return np.where(np.isnan(found), np.inf, found)


def _outward(ball: "arb") -> tuple[float, float]:
    """Floats below and above all of a ball; infinite where it is no number."""
    if not ball.is_finite():
        return -math.inf, math.inf
    return math.nextafter(float(ball.lower()), -math.inf), math.nextafter(float(ball.upper()), math.inf)


def _up(rounded: Array) -> Array:
    """No less than the exact result of which this is the nearest float."""
    return np.nextafter(rounded, np.inf)
