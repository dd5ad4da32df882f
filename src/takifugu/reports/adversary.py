"""What one release tells about the secret: the best possible guess, and how far the odds move (proofs/inference.md).

The adversary here knows both priors, gives the two secrets of a pair equal odds beforehand and wastes nothing.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.channels import GaussianVector, ListChannel, Noise
from takifugu.divergences import Masses
from takifugu.laws import Finite, Mixture, VectorMixture
from takifugu.problems import Guarantee, HockeyStick

_SCORES = np.linspace(-9.0, 9.0, 145)  # of each component: beyond nine deviations there is no mass to speak of
_SPLIT = 64  # cells in which the likelier secret changes are cut into this many
_MOST_PLACES = 6_000  # more than that are thinned out: so many components overlap
_FAR, _PLACES = 20.0, 40_001  # of the grid on which ratios after noise of another family are looked at
_BLOCK = 1 << 21  # distribution functions of components at a time


@dataclass(frozen=True)
class OddsFactor:
    """With this probability the odds of the true secret against the other rise by no more than `exact`.

    `bound` is what the guarantee alone says, whatever the priors.
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


def bounds(promise: Guarantee | None, probabilities: tuple[float, ...]) -> tuple[float, tuple[float, ...]]:
    """What a guarantee alone allows: the best guess, and the factors that the odds exceed with the rest of each chance.

    None stands for a weaker guarantee, which bounds neither.
    """
    if promise is None:
        return 1.0, (math.inf,) * len(probabilities)
    most = math.inf if promise.most_odds is None else promise.most_odds
    factors = (promise.odds_factor(1 - p) for p in probabilities)
    return promise.best_guess(), tuple(min(most, factor) for factor in factors)


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


def _quantiles_after(channel: Noise, p: Mixture, q: Mixture, probabilities: tuple[float, ...]) -> tuple[float, ...]:
    """The quantiles of the ratio of two densities after noise, under the first: on a grid, from either side."""
    if channel.size == 0:
        return odds_quantiles(p, q, probabilities)
    ends = [law.quantile(u) for law in (p, q) for u in (1e-9, 1 - 1e-9)]
    at = np.linspace(min(ends) - _FAR * channel.std, max(ends) + _FAR * channel.std, _PLACES)
    first, second = channel.density(p, at), channel.density(q, at)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(first > 0, first / np.where(second > 0, second, 1e-300), 0.0)
    order = np.argsort(ratio, kind="stable")
    upto = np.cumsum(first[order])
    places = np.searchsorted(upto, np.asarray(probabilities) * upto[-1]).clip(max=len(order) - 1)
    return tuple(float(one) for one in ratio[order][places])


def adversary(p: Mixture, q: Mixture, *, promise: Guarantee | None, channel: Noise) -> Adversary:
    """What one value tells apart, without noise and with it; the odds are those of whichever secret fares worse."""
    probabilities = (0.5, 0.95, 0.99)
    noisy_p, noisy_q = channel.normals_after(p), channel.normals_after(q)
    if noisy_p is not None and noisy_q is not None:
        ways = (odds_quantiles(noisy_p, noisy_q, probabilities), odds_quantiles(noisy_q, noisy_p, probabilities))
        guess = best_guess(noisy_p, noisy_q)
    else:
        ways = (_quantiles_after(channel, p, q, probabilities), _quantiles_after(channel, q, p, probabilities))
        guess = 0.5 + 0.5 * channel.loss(p, q, HockeyStick(0.0))
    limit, most = bounds(promise, probabilities)
    return Adversary(
        guess_before=best_guess(p, q),
        guess_after=guess,
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


# What one value published through a finite channel tells, in exact fractions (proofs/inference.md).
#
# Laws and channels are quotients of integers, so the best guess and the odds are too; they are rounded once, at the
# end.

_SHARES = (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100))


def channel_total_variation(p: Masses, q: Masses) -> Fraction:
    """Half the sum of |p − q|, exactly.

    >>> channel_total_variation(Masses((1, 1), 2), Masses((1, 3), 4))
    Fraction(1, 4)
    """
    apart = sum(abs(a * q.denominator - b * p.denominator) for a, b in zip(p.numerators, q.numerators, strict=True))
    return Fraction(apart, 2 * p.denominator * q.denominator)


def channel_odds_quantiles(p: Masses, q: Masses, shares: tuple[Fraction, ...]) -> list[float]:
    """For each share the least factor that p/q exceeds in no more than the rest of the draws from p.

    >>> channel_odds_quantiles(Masses((3, 1), 4), Masses((1, 3), 4), (Fraction(1, 4), Fraction(1, 2)))
    [0.3333333333333333, 3.0]
    """
    # None stands for a value that q never gives: its factor is infinite, and it comes last.
    factors = [
        (Fraction(a * q.denominator, b * p.denominator) if b else None, a)
        for a, b in zip(p.numerators, q.numerators, strict=True)
        if a
    ]
    factors.sort(key=lambda one: (one[0] is None, one[0] or Fraction(0)))
    found, seen, place = [], factors[0][1], 0
    for share in sorted(shares):
        while seen < share * p.denominator:
            place += 1
            seen += factors[place][1]
        factor = factors[place][0]
        found.append(math.inf if factor is None else float(factor))
    return found


def channel_adversary(channel: ListChannel, p: Finite, q: Finite, *, promise: Guarantee | None) -> Adversary:
    """What one value tells apart, as it is and as it is published; the odds are those of whichever fares worse."""
    before = [Masses.of(channel.weights_of(law)) for law in (p, q)]
    after = [channel.published(law) for law in (p, q)]
    ways = channel_odds_quantiles(after[0], after[1], _SHARES), channel_odds_quantiles(after[1], after[0], _SHARES)
    limit, most = bounds(promise, tuple(map(float, _SHARES)))
    return Adversary(
        guess_before=float((1 + channel_total_variation(*before)) / 2),
        guess_after=float((1 + channel_total_variation(*after)) / 2),
        guess_bound=limit,
        odds=tuple(
            OddsFactor(float(share), max(one, other), bound)
            for share, one, other, bound in zip(_SHARES, *ways, most, strict=True)
        ),
    )


# What one published vector tells about the secret, by simulation: in several dimensions no formula says it.
#
# The figures are averages over a fixed set of draws, good to about a third of a percent: they are for readers, and no
# promise rests on them.

_DRAWS = 20_000
_DENSITIES = 1_000_000  # of components at points: fewer points where there are many components
_MOST_PARTS = 300  # components that densities are added up over; of more a fixed sample is taken
_VECTOR_SHARES = (0.5, 0.95, 0.99)
_SEED = 20_260
_SLIGHT = 1e-4  # of a deviation: what a law without any width is given, so that it has a density


def vector_adversary(
    p: VectorMixture, q: VectorMixture, *, promise: Guarantee | None, channel: GaussianVector
) -> Adversary:
    """The best guess and the odds, without noise and with it; the odds are those of whichever secret fares worse."""
    noise = channel.covariance
    slight = np.diag(_SLIGHT**2 * np.maximum(np.diagonal(p.covariance), np.diagonal(q.covariance)) + 1e-300)
    before = _ratios(_few(p).with_noise(slight), _few(q).with_noise(slight))
    after = _ratios(_few(p).with_noise(noise), _few(q).with_noise(noise))
    factors = [max(float(np.quantile(side, share)) for side in after) for share in _VECTOR_SHARES]
    limit, most = bounds(promise, _VECTOR_SHARES)
    return Adversary(
        guess_before=_guess(before),
        guess_after=_guess(after),
        guess_bound=limit,
        odds=tuple(
            OddsFactor(share, math.exp(min(factor, 700.0)), bound)
            for share, factor, bound in zip(_VECTOR_SHARES, factors, most, strict=True)
        ),
    )


def _ratios(p: VectorMixture, q: VectorMixture) -> tuple[Array, Array]:
    """ln p/q at draws from p, and ln q/p at draws from q."""
    found = []
    for seed, (one, other) in enumerate(((p, q), (q, p))):
        points = one.sample(min(_DRAWS, _DENSITIES // max(len(p), len(q))), seed=_SEED + seed)
        found.append(_log_density(one, points) - _log_density(other, points))
    return found[0], found[1]


def _guess(ratios: tuple[Array, Array]) -> float:
    """The chance that whichever secret is likelier is the true one, over draws from both; half where they tie."""
    return float(np.mean([np.mean((side > 0) + 0.5 * (side == 0)) for side in ratios]))


def _few(law: VectorMixture) -> VectorMixture:
    """The law, or of very many components a fixed sample of them."""
    if len(law) <= _MOST_PARTS:
        return law
    which = np.random.default_rng(_SEED).choice(len(law), _MOST_PARTS, p=law.weights / law.weights.sum())
    return VectorMixture(np.full(_MOST_PARTS, 1 / _MOST_PARTS), law.means[which], law.covariances[which])


def _log_density(law: VectorMixture, points: Array) -> Array:
    logs = []
    for weight, mean, covariance in zip(law.weights, law.means, law.covariances, strict=True):
        if weight == 0:
            continue
        # In units of each axis's own width: columns of unlike sizes would lose digits in the factor.
        width = np.sqrt(np.diagonal(covariance))
        values, vectors = np.linalg.eigh(covariance / np.outer(width, width))
        values = np.maximum(values, 1e-12)
        scores = ((points - mean) / width) @ vectors
        size = 0.5 * np.log(values).sum() + np.log(width).sum()
        logs.append(math.log(weight) - size - 0.5 * ((scores * scores) @ (1 / values)))
    each = np.array(logs)
    most = each.max(axis=0)
    each -= np.where(np.isfinite(most), most, 0.0)  # far from all of them nothing is left to add up
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(each).sum(axis=0)) + most)
