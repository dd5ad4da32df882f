"""H = ∫ (p − e^ε q)₊ of two mixtures after Gaussian or Laplace noise: the least δ of an (ε, δ) guarantee.

In floats it is a figure of the privacy curve, and a sign change that a search misses makes it too small. In balls the
line is cut into cells: where the sign is decided the masses of the cell are added exactly, where it is not the cell
counts for nothing in the lower bound and for its width times the largest difference in the upper one
(proofs/hockey-stick.md).
"""

import math
from abc import ABC, abstractmethod
from heapq import heappop, heappush
from itertools import count, pairwise
from typing import Any

from takifugu._validation import noise, real
from takifugu.divergences.certified import Decision
from takifugu.divergences.laplace import ExactLaplace, upper_normal_tail
from takifugu.divergences.numerics.balls import (
    Effort,
    Enclosure,
    ExactMixture,
    UndecidableError,
    fraction,
    outward,
    working_precision,
)
from takifugu.errors import InputError
from takifugu.laws import Mixture

_BITS = 160
_RTOL = 1e-13
_ATOL = 1e-30  # below it a probability is as good as none
_MOST_CELLS = 40_000


class Smoothed(ABC):
    """A law after noise, its numbers taken as exact: densities and masses as balls."""

    @property
    @abstractmethod
    def breaks(self) -> list[Any]:
        """Rational places at which to begin to cut."""

    @abstractmethod
    def density(self, a: Any, c: Any) -> tuple[Any, Any]:
        """The least and the largest density on a cell."""

    @abstractmethod
    def mass(self, a: Any, c: Any) -> Any:
        """The probability of a cell, points apart."""

    @abstractmethod
    def beyond(self, y: Any, sign: int) -> Any:
        """The probability of what lies beyond `y`, above it for a positive sign."""


class GaussianSmoothed(Smoothed):
    """After N(0, theta²); points are left where theta is 0."""

    def __init__(self, law: Mixture, theta: float, effort: Effort) -> None:
        """Take the numbers as exact."""
        from flint import arb

        self.law = ExactMixture.after_noise(law, theta)
        self.points = self.law.atoms
        self._effort = effort
        self._bells = [(arb(b.weight), arb(b.mean), arb(b.variance).sqrt()) for b in self.law.bells]

    @property
    def breaks(self) -> list[Any]:
        """Half a standard deviation after another around each mean."""
        return [
            one.mean + fraction(0.5 * k) * fraction(math.sqrt(float(outward_float(one.variance))))
            for one in self.law.bells
            for k in range(-12, 13)
        ]

    def density(self, a: Any, c: Any) -> tuple[Any, Any]:
        """A normal is largest where it is nearest to its mean, and least at the farther end."""
        from flint import arb

        self._effort.spend(2 * len(self._bells))
        least, largest = arb(0), arb(0)
        left, right = arb(a), arb(c)
        for (weight, mean, std), bell in zip(self._bells, self.law.bells, strict=True):
            top = weight / (std * (2 * arb.pi()).sqrt())
            low, high = ((left - mean) / std) ** 2, ((right - mean) / std) ** 2
            one, other = top * (-low / 2).exp(), top * (-high / 2).exp()
            inside = a <= bell.mean <= c
            is_left = abs(bell.mean - a) <= abs(bell.mean - c)  # whether the left end is the nearer
            least += other if is_left else one
            largest += top if inside else (one if is_left else other)
        return least, largest

    def mass(self, a: Any, c: Any) -> Any:
        """Between two places, from whichever tail keeps the digits."""
        from flint import arb

        self._effort.spend(2 * len(self._bells))
        total = arb(0)
        for (weight, mean, std), bell in zip(self._bells, self.law.bells, strict=True):
            low, high = (arb(a) - mean) / std, (arb(c) - mean) / std
            is_above = a >= bell.mean
            between = (
                upper_normal_tail(low) - upper_normal_tail(high)
                if is_above
                else upper_normal_tail(-high) - upper_normal_tail(-low)
            )
            total += weight * between
        return total

    def beyond(self, y: Any, sign: int) -> Any:
        """The tail of each normal."""
        from flint import arb

        return sum((w * upper_normal_tail(sign * (arb(y) - m) / s) for w, m, s in self._bells), arb(0))


class LaplaceSmoothed(Smoothed):
    """After Lap(scale), which leaves no points."""

    points: dict[Any, Any]

    def __init__(self, law: Mixture, scale: float, effort: Effort) -> None:
        """Take the numbers as exact."""
        self._exact = ExactLaplace(law, scale, effort)
        self.law, self.points = self._exact.law, {}

    @property
    def breaks(self) -> list[Any]:
        """Those of the law, and a few scales beyond either end."""
        inner = sorted(self._exact.breaks)
        step = 1 / self._exact.u
        return [*inner, *(inner[-1] + k * step for k in (1, 2, 4, 8)), *(inner[0] - k * step for k in (1, 2, 4, 8))]

    def density(self, a: Any, c: Any) -> tuple[Any, Any]:
        """Its logarithm rises or falls by 1/b a unit at most, so the middle bounds the cell."""
        from flint import arb

        u = self._exact.u
        middle = sum(self._exact.parts((a + c) / 2), arb(0)) * arb(u) / 2
        change = (arb(u * (c - a)) / 2).exp()
        return middle / change, middle * change

    def mass(self, a: Any, c: Any) -> Any:
        """The law's own mass, and what noise carries over either end."""
        from flint import arb

        (below_a, above_a), (below_c, above_c) = self._exact.parts(a), self._exact.parts(c)
        return self._exact.mass_to(a, c) + (arb(below_a) - above_a - below_c + above_c) / 2

    def beyond(self, y: Any, sign: int) -> Any:
        """1 − F + A/2 − B/2 on the right, its mirror image on the left."""
        below, above = self._exact.parts(y)
        inner = self._exact.mass_beyond(y, sign)
        return inner + sign * (below - above) / 2


def outward_float(number: Any) -> float:
    """A rational number as a float, roughly: for choosing where to cut."""
    return float(int(number.numer()) / int(number.denom())) or 5e-324


def enclose_hockey_stick(
    p: Mixture,
    q: Mixture,
    *,
    epsilon: float,
    theta: float = 0.0,
    scale: float = 0.0,
    delta: float | None = None,
    effort: Effort | None = None,
) -> Enclosure:
    """Two floats that hold ∫ (p − e^ε q)₊ after noise; with `delta` only as close as it takes to compare with that.

    >>> p, q = Mixture.gaussian(0, 1), Mixture.gaussian(1, 2)
    >>> found = enclose_hockey_stick(q, p, epsilon=0.5, theta=0.7)
    >>> found.lower <= 0.255827217606717 <= found.upper
    True
    """
    real("epsilon", epsilon, "a finite number")
    if noise(theta) and noise(scale):
        raise InputError("theta and scale are noise of two families: give one of them")
    spent = Effort() if effort is None else effort
    with working_precision(_BITS):
        if scale:
            return _enclosed(LaplaceSmoothed(p, scale, spent), LaplaceSmoothed(q, scale, spent), epsilon, delta)
        return _enclosed(GaussianSmoothed(p, theta, spent), GaussianSmoothed(q, theta, spent), epsilon, delta)


def decide_hockey_stick(
    p: Mixture,
    q: Mixture,
    *,
    epsilon: float,
    delta: float,
    theta: float = 0.0,
    scale: float = 0.0,
    effort: Effort | None = None,
) -> Decision:
    """Whether ∫ (p − e^ε q)₊ after noise is `delta` at most, proved either way."""
    try:
        found = enclose_hockey_stick(p, q, epsilon=epsilon, theta=theta, scale=scale, delta=delta, effort=effort)
    except UndecidableError as limit:
        return Decision(None, Enclosure(0.0, 1.0), f"undecided: {limit}")
    if found.upper <= delta:
        return Decision(True, found, f"proved: it is at most {found.upper!r}, within {delta!r}")
    if found.lower > delta:
        return Decision(False, found, f"refuted: it is at least {found.lower!r}, above {delta!r}")
    return Decision(None, found, f"undecided: it lies in [{found.lower!r}, {found.upper!r}]")


def _enclosed(p: Any, q: Any, epsilon: float, delta: float | None) -> Enclosure:
    from flint import arb

    factor = arb(fraction(epsilon)).exp()
    if p.law == q.law:
        found = 1 - factor if epsilon < 0 else arb(0)
        return outward(found)
    lower = upper = arb(0)
    for x, weight in p.points.items():
        gap = arb(weight) - factor * arb(q.points[x]) if x in q.points else arb(weight)
        if not gap <= 0:
            upper += gap if gap > 0 else arb(gap.upper())
            lower += gap if gap > 0 else arb(0)
    cuts = sorted({*p.breaks, *q.breaks})
    order: list[tuple[float, int, Any, Any, Any]] = []
    tie = count()
    doubt = arb(0)  # what the cells that are left add to the upper bound

    def put(a: Any, c: Any) -> None:
        nonlocal lower, upper, doubt
        low_p, high_p = p.density(a, c)
        low_q, high_q = q.density(a, c)
        if high_p <= factor * low_q:
            return
        if low_p >= factor * high_q:
            part = p.mass(a, c) - factor * q.mass(a, c)
            lower, upper = lower + part, upper + part
            return
        most = (high_p - factor * low_q).upper() * arb(c - a)
        doubt += most
        heappush(order, (-float(outward(arb(most.upper())).upper), next(tie), a, c, most))

    for a, c in pairwise(cuts):
        put(a, c)
    ends = [(cuts[0], -1), (cuts[-1], 1)] if cuts else []
    tails = arb(0)
    for end, sign in ends:
        y, reach = end, (cuts[-1] - cuts[0] or fraction(1.0)) / 8
        for _ in range(200):
            here = p.beyond(y, sign)
            if here.upper() < _ATOL or here.upper() < arb(_RTOL) / 16 * lower.lower():
                break
            further = y + sign * reach
            put(*((y, further) if sign > 0 else (further, y)))
            y, reach = further, reach * fraction(1.25)
        tails += p.beyond(y, sign)
    for _ in range(_MOST_CELLS):
        above = upper + doubt + tails
        if delta is not None and (above <= arb(delta) or lower > arb(delta)):
            break
        if not order or (doubt.upper() <= arb(_RTOL) * lower.lower() / 4) or (doubt.upper() < _ATOL):
            break
        _, _, a, c, most = heappop(order)
        doubt = arb(max(0, (doubt - most).upper()) if (doubt - most).upper() > 0 else 0)
        middle = (a + c) / 2
        put(a, middle)
        put(middle, c)
    doubt = sum((arb(one[4].upper()) for one in order), arb(0))
    found = outward(upper + doubt + tails)
    below = outward(arb(lower.lower())).lower if lower.lower() > 0 else 0.0
    return Enclosure(below, min(1.0, found.upper))
