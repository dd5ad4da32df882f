"""The privacy curve: δ at every ε of two published laws, from which every other figure of the pair comes.

With L = ln p/q, P(L > ε) and Q(L > ε) at every real ε are all there is to say about telling p from q: the pair (P, Q)
at a threshold is a point of the trade-off between the two errors, δ(ε) = P − e^ε Q, and a best guess is a δ at the
logarithm of the prior odds. For laws on points both are sums; after noise they are masses between the places where L
crosses ε (proofs/hockey-stick.md).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.divergences.laplace import LogLaplace
from takifugu.errors import InputError
from takifugu.laws import Mixture

_FURTHEST = 745.0  # e to more is beyond floats
_REACH = 12.0  # standard deviations from a mean within which a crossing is looked for
_LAPLACE_REACH = 40.0
_STEPS = 24  # places a standard deviation


class Density(Protocol):
    """A law with a density, in floats; points that noise left apart are kept in `points`."""

    @property
    def places(self) -> Array:
        """Where to look at it: its features lie between these."""
        ...

    @property
    def points(self) -> Mapping[Any, float]:
        """Points and their masses."""
        ...

    def log_density(self, y: Array) -> Array:
        """The logarithm of the density at each y."""
        ...

    def mass(self, a: float, c: float) -> float:
        """The probability between two places, points apart."""
        ...


@dataclass(frozen=True)
class PrivacyCurve:
    """How well the published law p can be told from q, in floats.

    Made by `privacy_curve`. Everything is about p against q; `reversed()` is q against p.

    >>> from takifugu import GaussianNoise, Mixture, privacy_curve
    >>> curve = privacy_curve(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), noise=GaussianNoise(1.0))
    >>> round(curve.delta(1.0), 6)
    0.039633
    >>> round(curve.best_guess(), 6)
    0.638163
    >>> curve.delta(0.0) == curve.reversed().delta(0.0)
    True
    """

    p: Density = field(repr=False)
    q: Density = field(repr=False)

    def reversed(self) -> "PrivacyCurve":
        """The curve of q against p."""
        return PrivacyCurve(self.q, self.p)

    def delta(self, epsilon: float) -> float:
        """The least δ with which p is within (ε, δ) of q: ∫ (p − e^ε q)₊."""
        above, other = self._above(check.real("epsilon", epsilon, "a finite number"))
        return min(1.0, max(0.0, above - _times_exp(other, epsilon)))

    def epsilon(self, delta: float) -> float:
        """The least ε at which δ is enough; infinite where none is, and 0 where p and q are that close already."""
        target = check.real("delta", delta, "a number of at least 0 and below 1")
        if not 0 <= target < 1:
            raise InputError(f"delta must be a number of at least 0 and below 1, got {delta!r}")
        if self.delta(0.0) <= target:
            return 0.0
        return _least(lambda e: self.delta(e) <= target, 0.0)

    def exceeds(self, epsilon: float) -> float:
        """P(L > ε): how often a value drawn from p speaks for p by more than e^ε."""
        return min(1.0, max(0.0, self._above(check.real("epsilon", epsilon, "a finite number"))[0]))

    def odds_quantile(self, probability: float) -> float:
        """The least factor that the odds for p exceed with the rest of this probability at most, over draws from p."""
        share = check.real("probability", probability, "a number above 0 and below 1")
        if not 0 < share < 1:
            raise InputError(f"probability must be a number above 0 and below 1, got {probability!r}")
        found = _least(lambda e: self.exceeds(e) <= 1.0 - share, -_FURTHEST)
        return math.exp(found) if found < 709.0 else math.inf

    def best_guess(self, prior: float = 0.5) -> float:
        """The largest chance of guessing right which of the two it is, where p has this probability beforehand."""
        chance = check.real("prior", prior, "a number above 0 and below 1")
        if not 0 < chance < 1:
            raise InputError(f"prior must be a number above 0 and below 1, got {prior!r}")
        return (1.0 - chance) + chance * self.delta(math.log((1.0 - chance) / chance))

    def trade_off(self, false_alarm: float) -> float:
        """The least chance of missing p for a test that takes q for p with this chance at most."""
        level = check.real("false_alarm", false_alarm, "a number between 0 and 1")
        if not 0 <= level <= 1:
            raise InputError(f"false_alarm must be a number between 0 and 1, got {false_alarm!r}")
        # The best test takes what is beyond a threshold, and at it a share: a line below the curve, as δ is at ε.
        at = _least(lambda e: self._above(e)[1] <= level, -_FURTHEST)
        above, other = self._above(at)
        rest = max(0.0, level - other)
        return min(1.0, max(0.0, 1.0 - above - _times_exp(rest, at)))

    def _above(self, epsilon: float) -> tuple[float, float]:
        """P(L > ε) and Q(L > ε)."""
        first, second = [], []
        for x, weight in self.p.points.items():
            other = self.q.points.get(x, 0.0)
            if weight > 0 and (other == 0 or math.log(weight / other) > epsilon):
                first.append(weight)
                second.append(other)
        for low, high in self._stretches(epsilon):
            first.append(self.p.mass(low, high))
            second.append(self.q.mass(low, high))
        return math.fsum(first), math.fsum(second)

    @cached_property
    def _ratios(self) -> tuple[Array, Array]:
        """Where the two densities are looked at, and L there."""
        at = np.unique(np.concatenate([self.p.places, self.q.places]))
        return at, self._ratio(at)

    def _ratio(self, y: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(self.p.log_density(y) - self.q.log_density(y), nan=-np.inf, posinf=np.inf)

    def _stretches(self, epsilon: float) -> list[tuple[float, float]]:
        """The intervals on which L is above ε, each end found to the last digits."""
        from scipy.optimize import brentq

        at, ratios = self._ratios
        if not at.size:
            return []
        signs = ratios > epsilon
        ends: list[float] = [-math.inf]
        for k in np.flatnonzero(signs[1:] != signs[:-1]).tolist():
            low, high = float(at[k]), float(at[k + 1])
            if np.isfinite(ratios[k : k + 2]).all():
                ends.append(brentq(lambda y: float(self._ratio(np.array([y]))[0]) - epsilon, low, high, rtol=1e-15))
            else:
                ends.append(0.5 * (low + high))
        ends.append(math.inf)
        return list(pairwise(ends))[0 if signs[0] else 1 :: 2]


class Points:
    """A law on a list of values, which has no density."""

    def __init__(self, points: Mapping[Any, float]) -> None:
        """Keep the masses."""
        self.points, self.places = points, np.empty(0)

    def log_density(self, y: Array) -> Array:
        """See `Density`."""
        return np.full(len(y), -np.inf)

    def mass(self, a: float, c: float) -> float:
        """See `Density`."""
        return 0.0


class NormalDensity:
    """A mixture after N(0, theta²), in floats; points stay points without noise."""

    def __init__(self, law: Mixture, theta: float = 0.0) -> None:
        """Normalise the weights."""
        law = law.simplified()
        weights = law.weights / math.fsum(law.weights)
        stds = np.hypot(law.stds, theta)
        wide = stds > 0
        self.points: Mapping[Any, float] = dict(zip(law.means[~wide].tolist(), weights[~wide].tolist(), strict=True))
        self._weights, self._means, self._stds = weights[wide], law.means[wide], stds[wide]
        self.places = _around(self._means, self._stds, _REACH)

    def log_density(self, y: Array) -> Array:
        """See `Density`."""
        from scipy.special import logsumexp

        if not len(self._means):
            return np.full(len(y), -np.inf)
        z = (y[:, None] - self._means) / self._stds
        heights = np.log(self._weights) - np.log(self._stds * math.sqrt(2 * math.pi))
        found: Array = logsumexp(heights - 0.5 * z * z, axis=1)
        return found

    def mass(self, a: float, c: float) -> float:
        """Above a mean the upper tails have the digits."""
        from scipy.special import ndtr

        low, high = (a - self._means) / self._stds, (c - self._means) / self._stds
        parts = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        return math.fsum((self._weights * parts).tolist())


class LaplaceDensity:
    """A mixture after Lap(scale), in floats; no points are left."""

    points: Mapping[Any, float] = MappingProxyType({})

    def __init__(self, law: Mixture, scale: float) -> None:
        """Look at each component as far as the noise carries it."""
        law = law.simplified()
        self._logs, self._normalising = LogLaplace(law, scale), math.log(2.0 * scale)
        wide = law.stds > 0
        far = _around(law.means, np.hypot(law.stds, scale), _LAPLACE_REACH)
        near = _around(law.means[wide], law.stds[wide], _REACH)  # a normal that is narrow beside the noise bends L
        self.places = np.unique(np.concatenate([far, near, law.means]))

    def log_density(self, y: Array) -> Array:
        """See `Density`."""
        return self._logs(y) - self._normalising

    def mass(self, a: float, c: float) -> float:
        """See `Density`."""
        return self._logs.mass(a, c)


def density_of(law: Mixture, *, theta: float = 0.0, scale: float = 0.0) -> Density:
    """The law after one of the two noises, or as it is."""
    return LaplaceDensity(law, scale) if scale else NormalDensity(law, theta)


def _around(means: Array, stds: Array, reach: float) -> Array:
    """A grid along each component, as far as so many of its widths."""
    steps = np.linspace(-reach, reach, int(2 * reach * _STEPS) + 1)
    return np.unique((means[:, None] + stds[:, None] * steps).ravel())


def hockey_stick_after(p: Mixture, q: Mixture, *, epsilon: float, theta: float = 0.0, scale: float = 0.0) -> float:
    """∫ (p − e^ε q)₊ after N(0, theta²) or Lap(scale), in float64; any real `epsilon`, one noise at most.

    >>> round(hockey_stick_after(Mixture.gaussian(0, 1), Mixture.gaussian(1, 2), epsilon=0.5, theta=0.7), 12)
    0.075079914228
    """
    if p.simplified() == q.simplified():
        return max(0.0, -math.expm1(epsilon))
    return PrivacyCurve(*(density_of(law, theta=theta, scale=scale) for law in (p, q))).delta(epsilon)


def _times_exp(number: float, exponent: float) -> float:
    """Number · e^exponent, where the second is beyond floats and the first is small."""
    return math.exp(exponent + math.log(number)) if number > 0 else 0.0


def _least(holds: Callable[[float], bool], start: float) -> float:
    """The least number from `start` on at which a claim holds that holds from somewhere on; to the last digits."""
    if holds(start):
        return start
    step = 1.0
    while not holds(high := min(start + step, _FURTHEST)):
        if high == _FURTHEST:
            return math.inf
        step *= 2.0
    low = start + step / 2 if step > 1 else start
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
