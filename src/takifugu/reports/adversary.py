"""What one release tells about the secret: the best possible guess, and how far the odds move (proofs/inference.md).

The adversary here knows both priors, gives the two secrets of a pair equal odds beforehand and wastes nothing.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.proved.guessing import guess_allowed, odds_factor
from takifugu.laws.mixture import Mixture
from takifugu.problems.guarantee import Renyi

_SCORES = np.linspace(-9.0, 9.0, 145)  # of each component: beyond nine deviations there is no mass to speak of
_SPLIT = 64  # cells in which the likelier secret changes are cut into this many
_MOST_PLACES = 6_000  # more than that are thinned out: so many components overlap
_BLOCK = 1 << 21  # distribution functions of components at a time


@dataclass(frozen=True)
class OddsFactor:
    """With this probability the odds of the true secret against the other rise by no more than `exact`.

    `bound` is what the promise alone says, whatever the priors.
    """

    probability: float
    exact: float
    bound: float


@dataclass(frozen=True)
class Adversary:
    """One release, one guess. `guess_*` are probabilities of guessing right, 0.5 being a random guess.

    In a report each is the largest over all pairs and beliefs, and `*_between` names the pair and belief that it is
    about; the odds are those of `after_between`.
    """

    guess_before: float
    guess_after: float
    guess_bound: float
    odds: tuple[OddsFactor, ...]
    before_between: str = ""
    after_between: str = ""


def total_variation(p: Mixture, q: Mixture) -> float:
    """The total variation distance: half the integral of |p − q|, points included.

    The distribution functions are exact; the places where p crosses q are found on a grid that follows every
    component, so the result is from below and off by the square of its step there.

    >>> round(total_variation(Mixture.gaussian(0, 1), Mixture.gaussian(2, 1)), 6)  # 2Φ(1) − 1
    0.682689
    >>> total_variation(Mixture.empirical([0, 1]), Mixture.empirical([1, 2]))
    0.5
    """
    if p.is_discrete and q.is_discrete:
        return float(min(1.0, 0.5 * np.abs(np.subtract(*_masses(p, q))).sum()))
    seen = _seen(frozenset((p, q)))
    ahead = seen.below[p] - seen.below[q]
    steps = np.diff(ahead)
    crossing = np.flatnonzero(steps[:-1] * steps[1:] < 0)
    cells = np.unique(np.concatenate([crossing, crossing + 1]))
    fine = (seen.x[cells, None] + np.diff(seen.x)[cells, None] * np.linspace(0, 1, _SPLIT)[1:-1]).ravel()
    order = np.argsort(np.concatenate([seen.x, fine]), kind="stable")
    ahead = np.concatenate([ahead, _cdf(p, fine) - _cdf(q, fine)])[order]
    return float(min(1.0, 0.5 * np.abs(np.diff(np.concatenate([[0.0], ahead, [0.0]]))).sum()))


def best_guess(p: Mixture, q: Mixture) -> float:
    """The probability of guessing right between two equally likely secrets from one value: 1/2 + TV/2."""
    return 0.5 + 0.5 * total_variation(p, q)


def bounds(promise: Renyi | None, probabilities: tuple[float, ...]) -> tuple[float, tuple[float, ...]]:
    """What a promise alone allows: the best guess, and the factors that the odds exceed with the rest of each chance.

    None stands for a weaker promise, which bounds neither.
    """
    if promise is None:
        return 1.0, (math.inf,) * len(probabilities)
    most = math.inf if promise.most_odds is None else promise.most_odds
    factors = (odds_factor(alpha=promise.alpha, epsilon=promise.epsilon, chance=1 - p) for p in probabilities)
    return guess_allowed(promise), tuple(min(most, factor) for factor in factors)


def odds_quantiles(p: Mixture, q: Mixture, probabilities: tuple[float, ...]) -> tuple[float, ...]:
    """The quantiles of the likelihood ratio p/q of a value drawn from p."""
    if p.is_discrete and q.is_discrete:
        mass_p, mass_q = _masses(p, q)
    else:
        below = _seen(frozenset((p, q))).below
        mass_p, mass_q = (np.diff(np.concatenate([[0.0], below[m], [1.0]])) for m in (p, q))
    kept = mass_p > 1e-15
    mass_p, mass_q = mass_p[kept], mass_q[kept]
    with np.errstate(divide="ignore"):
        ratio = np.where(mass_q > 0, mass_p / np.where(mass_q > 0, mass_q, 1.0), math.inf)
    order = np.argsort(ratio)
    upto = np.cumsum(mass_p[order])
    places = np.searchsorted(upto, np.asarray(probabilities) * upto[-1]).clip(max=len(order) - 1)
    return tuple(float(r) for r in ratio[order][places])


def adversary(p: Mixture, q: Mixture, *, promise: Renyi | None, theta: float) -> Adversary:
    """What one value tells apart, without noise and with it; the odds are those of whichever secret fares worse."""
    probabilities = (0.5, 0.95, 0.99)
    noisy_p, noisy_q = p.with_noise(theta), q.with_noise(theta)
    ways = (odds_quantiles(noisy_p, noisy_q, probabilities), odds_quantiles(noisy_q, noisy_p, probabilities))
    limit, most = bounds(promise, probabilities)
    return Adversary(
        guess_before=best_guess(p, q),
        guess_after=best_guess(noisy_p, noisy_q),
        guess_bound=limit,
        odds=tuple(map(OddsFactor, probabilities, map(max, *ways), most)),
    )


class _Seen(NamedTuple):
    """The distribution functions of two laws at the places that show how they differ."""

    x: Array
    below: dict[Mixture, Array]


@lru_cache(maxsize=4)  # the best guess and the odds both ways look at the same places
def _seen(laws: frozenset[Mixture]) -> _Seen:
    x = _places(laws)
    return _Seen(x, {law: _cdf(law, x) for law in laws})


def _cdf(mixture: Mixture, x: Array) -> Array:
    """The distribution function in blocks: thousands of points and components together would fill the memory."""
    mixture = mixture.simplified()
    rows = max(1, _BLOCK // len(mixture))
    blocks = [np.asarray(mixture.cdf(x[start : start + rows])) for start in range(0, len(x), rows)]
    return np.concatenate([np.empty(0), *blocks])


def _masses(p: Mixture, q: Mixture) -> tuple[Array, Array]:
    """The masses of both at every point of either."""
    p, q = p.simplified(), q.simplified()
    points = np.union1d(p.means, q.means)
    found = np.zeros((2, len(points)))
    for row, mixture in zip(found, (p, q), strict=True):
        row[np.searchsorted(points, mixture.means)] = mixture.weights
    return found[0], found[1]


def _places(laws: Iterable[Mixture]) -> Array:
    """Points that follow every component; both sides of every point mass."""
    bells, atoms = [], []
    for mixture in (law.simplified() for law in laws):
        wide = mixture.stds > 0
        scores = _SCORES[:: 1 + int(wide.sum()) // 200]
        bells.append((mixture.means[wide, None] + mixture.stds[wide, None] * scores).ravel())
        atoms.append(mixture.means[~wide])
    x, points = np.unique(np.concatenate(bells)), np.concatenate(atoms)
    x = np.append(x[:: 1 + len(x) // _MOST_PLACES], x[-1:])
    return np.unique(np.concatenate([x, points, np.nextafter(points, -np.inf)]))
