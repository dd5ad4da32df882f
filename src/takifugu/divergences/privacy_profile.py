"""H = ∫ (p − e^ε q)₊ of two mixtures after Gaussian or Laplace noise: the least δ of an (ε, δ) guarantee.

In floats it is a figure of the privacy curve, and a sign change that a search misses makes it too small. In balls the
line is cut into cells: where the sign is decided the masses of the cell are added exactly, where it is not the cell
counts for nothing in the lower bound and for its width times the largest difference in the upper one
(proofs/hockey-stick.md).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import count, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from takifugu import _validation as check
from takifugu._display import Plotted
from takifugu._validation import Array, noise, real
from takifugu.divergences.certified import Decision
from takifugu.divergences.laplace_odds import ExactLaplace, LogLaplace, normal_mass, upper_normal_tail
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

if TYPE_CHECKING:
    from flint import arb, fmpq

_BITS = 160
_RTOL = 1e-13
_ATOL = 1e-30  # below it a probability is as good as none
_MOST_CELLS = 40_000
_MANY = 8  # normals from which it pays to cut the line once for all


class Smoothed(ABC):
    """A law after noise, its numbers taken as exact: densities and masses as balls."""

    law: ExactMixture
    points: "dict[fmpq, fmpq]"

    @property
    @abstractmethod
    def breaks(self) -> "list[fmpq]":
        """Rational places at which to begin to cut."""

    @abstractmethod
    def density(self, a: "fmpq", c: "fmpq") -> "tuple[arb, arb]":
        """The least and the largest density on a cell.

        Args:
            a: the left end of the cell.
            c: the right end.

        Returns:
            Two balls between which the density lies all over the cell.
        """

    def excess(self, other: Self, factor: "arb", a: "fmpq", c: "fmpq") -> "tuple[arb, arb]":
        """No more than the least, and no less than the largest difference to `factor` times the other on a cell.

        Where the lower one is 0 or more, or the upper one 0 or less, the sign is decided on all of the cell and its
        masses are added exactly. Where neither is, the cell is cut in half.

        Args:
            other: the law to compare with.
            factor: e^ε as a ball.
            a: the left end of the cell.
            c: the right end.

        Returns:
            A ball below p − factor·q on the cell and one above it.
        """
        (low, high), (other_low, other_high) = self.density(a, c), other.density(a, c)
        return low - factor * other_high, high - factor * other_low

    @abstractmethod
    def mass(self, a: "fmpq", c: "fmpq") -> "arb":
        """The probability of a cell, points apart.

        Args:
            a: the left end of the cell.
            c: the right end.

        Returns:
            A ball around the integral of the density.
        """

    @abstractmethod
    def beyond(self, y: "fmpq", sign: int) -> "arb":
        """The probability of what lies beyond `y`, above it for a positive sign.

        Args:
            y: the end of what was cut into cells.
            sign: 1 for what lies above it, −1 for what lies below.

        Returns:
            A ball around the tail's probability. All of it goes into the upper bound, and nothing into the lower one.
        """


_Smoothed = TypeVar("_Smoothed", bound=Smoothed)


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
    def breaks(self) -> "list[fmpq]":
        """Half a standard deviation after another around each mean; of many normals one grid, if that is shorter."""
        if len(self.law.bells) > _MANY:
            means, spreads = zip(*((b.mean, outward_float(b.variance) ** 0.5) for b in self.law.bells), strict=True)
            step, reach = fraction(0.5 * min(spreads)), fraction(6.0 * max(spreads))
            start, end = min(means) - reach, max(means) + reach
            cells = int(outward_float((end - start) / step)) + 1
            if cells < 24 * len(self.law.bells):
                return [start + k * step for k in range(cells + 1)]
        return [
            one.mean + fraction(0.5 * k) * fraction(math.sqrt(float(outward_float(one.variance))))
            for one in self.law.bells
            for k in range(-12, 13)
        ]

    def density(self, a: "fmpq", c: "fmpq") -> "tuple[arb, arb]":
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

    def excess(self, other: Self, factor: "arb", a: "fmpq", c: "fmpq") -> "tuple[arb, arb]":
        """See `Smoothed`: on a short cell by value and slope in its middle, and how far the slope may change."""
        from flint import arb

        if not self._bells or not other._bells or arb(c - a) > min(self._narrowest, other._narrowest):
            return super().excess(other, factor, a, c)
        (value, slope, bend), (other_value, other_slope, other_bend) = (
            law._around(arb((a + c) / 2), arb((c - a) / 2)) for law in (self, other)
        )
        half = arb((c - a) / 2)
        middle = value - factor * other_value
        room = abs(slope - factor * other_slope) * half + (bend + factor * other_bend) * half * half / 2
        return middle - room, middle + room

    @cached_property
    def _narrowest(self) -> "arb":
        return min(std.lower() for _, _, std in self._bells)

    def _around(self, middle: "arb", half: "arb") -> "tuple[arb, arb, arb]":
        """The density and its slope, and no less than its second derivative anywhere within half a cell.

        With z = (y − μ)/σ it is φ·(z² − 1)/σ², and φ rises by no more than e^(|z|·half/σ) towards the mean.
        """
        from flint import arb

        self._effort.spend(2 * len(self._bells))
        value, slope, bend = arb(0), arb(0), arb(0)
        for weight, mean, std in self._bells:
            z, reach = (middle - mean) / std, half / std
            height = weight / (std * (2 * arb.pi()).sqrt()) * (-z * z / 2).exp()
            far = abs(z) + reach
            value += height
            slope -= height * z / std
            bend += height * (abs(z) * reach).exp() * (1 + far * far) / (std * std)
        return value, slope, bend

    def mass(self, a: "fmpq", c: "fmpq") -> "arb":
        """Between two places, from whichever tail keeps the digits."""
        from flint import arb

        self._effort.spend(2 * len(self._bells))
        total = arb(0)
        for (weight, mean, std), bell in zip(self._bells, self.law.bells, strict=True):
            low, high = (arb(a) - mean) / std, (arb(c) - mean) / std
            total += weight * normal_mass(low, high, is_above=a >= bell.mean)
        return total

    def beyond(self, y: "fmpq", sign: int) -> "arb":
        """The tail of each normal."""
        from flint import arb

        return sum((w * upper_normal_tail(sign * (arb(y) - m) / s) for w, m, s in self._bells), arb(0))


class LaplaceSmoothed(Smoothed):
    """After Lap(scale), which leaves no points."""

    def __init__(self, law: Mixture, scale: float, effort: Effort) -> None:
        """Take the numbers as exact."""
        self._exact = ExactLaplace(law, scale, effort)
        self.law, self.points = self._exact.law, {}

    @property
    def breaks(self) -> "list[fmpq]":
        """Those of the law, and a few scales beyond either end."""
        inner = sorted(self._exact.breaks)
        step = 1 / self._exact.u
        return [*inner, *(inner[-1] + k * step for k in (1, 2, 4, 8)), *(inner[0] - k * step for k in (1, 2, 4, 8))]

    def density(self, a: "fmpq", c: "fmpq") -> "tuple[arb, arb]":
        """Its logarithm rises or falls by 1/b a unit at most, so the middle bounds the cell."""
        from flint import arb

        u = self._exact.u
        middle = sum(self._exact.parts((a + c) / 2), arb(0)) * arb(u) / 2
        change = (arb(u * (c - a)) / 2).exp()
        return middle / change, middle * change

    def excess(self, other: Self, factor: "arb", a: "fmpq", c: "fmpq") -> "tuple[arb, arb]":
        """See `Smoothed`: what lies beyond the cell reaches into it as two exponentials, and little lies inside.

        In a tail where one law is all but `factor` times the other, as of normals of one width, no density by itself
        would tell which is larger on any cell worth having.
        """
        from flint import arb

        mine, others = self._reaching(a, c), other._reaching(a, c)
        falls, rises, fade = (
            mine[0] - factor * others[0],
            mine[1] - factor * others[1],
            arb(self._exact.u * (a - c)).exp(),
        )
        ends = falls + rises * fade, falls * fade + rises
        low, high = (f(end.lower() if f is min else end.upper() for end in ends) for f in (min, max))
        if falls > 0 and rises > 0:  # a sum of two convex functions
            low = fade * (falls + rises)
        elif falls < 0 and rises < 0:
            high = fade * (falls + rises)
        elif falls.contains(0) or rises.contains(0):  # neither is known to be monotone: each by itself
            parts = [(one, one * fade) for one in (falls, rises)]
            low = sum((min(x.lower(), y.lower()) for x, y in parts), arb(0))
            high = sum((max(x.upper(), y.upper()) for x, y in parts), arb(0))
        inside, others_inside = self._exact.mass(a, c), other._exact.mass(a, c)
        half = arb(self._exact.u) / 2
        return (low - factor * others_inside) * half, (high + inside) * half

    def _reaching(self, a: "fmpq", c: "fmpq") -> "tuple[arb, arb]":
        """2b times the density at the left end of what lies up to it, and at the right end of what lies from it on."""
        at = self._exact.law.atoms.get(c)
        return self._exact.parts(a)[0], self._exact.parts(c)[1] + (0 if at is None else at)

    def mass(self, a: "fmpq", c: "fmpq") -> "arb":
        """The law's own mass, and what noise carries over either end."""
        from flint import arb

        (below_a, above_a), (below_c, above_c) = self._exact.parts(a), self._exact.parts(c)
        return self._exact.mass_to(a, c) + (arb(below_a) - above_a - below_c + above_c) / 2

    def beyond(self, y: "fmpq", sign: int) -> "arb":
        """1 − F + A/2 − B/2 on the right, its mirror image on the left."""
        below, above = self._exact.parts(y)
        inner = self._exact.mass_beyond(y, sign)
        return inner + sign * (below - above) / 2


def outward_float(number: "fmpq") -> float:
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

    Args:
        p: the law under one secret.
        q: that under the other.
        epsilon: any real number, taken as the exact number that the float is.
        theta: the standard deviation of Gaussian noise.
        scale: the scale of Laplace noise; one of the two at most is above 0.
        delta: what the value will be compared with.
        effort: the work that may be spent; unlimited work has no end where the value is `delta` exactly.

    Returns:
        The enclosure, rounded outwards.

    Raises:
        UndecidableError: where the work that was allowed is spent.

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
    """Whether ∫ (p − e^ε q)₊ after noise is `delta` at most, proved either way.

    Args:
        p: the law under one secret.
        q: that under the other.
        epsilon: any real number.
        delta: the budget.
        theta: the standard deviation of Gaussian noise.
        scale: the scale of Laplace noise; one of the two at most is above 0.
        effort: the work that may be spent.

    Returns:
        The answer with its enclosure and words for it; `holds` is None where the work did not suffice.
    """
    try:
        found = enclose_hockey_stick(p, q, epsilon=epsilon, theta=theta, scale=scale, delta=delta, effort=effort)
    except UndecidableError as limit:
        return Decision(None, Enclosure(0.0, 1.0), f"undecided: {limit}")
    if found.upper <= delta:
        return Decision(True, found, f"proved: it is at most {found.upper!r}, within {delta!r}")
    if found.lower > delta:
        return Decision(False, found, f"refuted: it is at least {found.lower!r}, above {delta!r}")
    return Decision(None, found, f"undecided: it lies in [{found.lower!r}, {found.upper!r}]")


def _enclosed(p: _Smoothed, q: _Smoothed, epsilon: float, delta: float | None) -> Enclosure:
    from flint import arb

    factor = arb(fraction(epsilon)).exp()
    if p.law == q.law:  # the sign of what is exactly 0 at ε = 0 would be decided nowhere
        found = 1 - factor if epsilon < 0 else arb(0)
        return outward(found)
    lower = upper = arb(0)
    # Points and densities do not mix: a point of p is held against the mass of q at the very same point, and points
    # of q alone add nothing to a positive part.
    for x, weight in p.points.items():
        gap = arb(weight) - factor * arb(q.points[x]) if x in q.points else arb(weight)
        if not gap <= 0:
            upper += gap if gap > 0 else arb(gap.upper())
            lower += gap if gap > 0 else arb(0)
    cuts = sorted({*p.breaks, *q.breaks})
    order: list[tuple[float, int, fmpq, fmpq, arb]] = []
    tie = count()
    doubt = arb(0)  # what the cells that are left add to the upper bound

    def put(a: "fmpq", c: "fmpq") -> None:
        nonlocal lower, upper, doubt
        low, high = p.excess(q, factor, a, c)
        if high <= 0:
            return
        if low >= 0:
            part = p.mass(a, c) - factor * q.mass(a, c)
            lower, upper = lower + part, upper + part
            return
        most = high.upper() * arb(c - a)
        doubt += most
        heappush(order, (-float(outward(arb(most.upper())).upper), next(tie), a, c, most))

    for a, c in pairwise(cuts):
        put(a, c)
    ends = [(cuts[0], -1), (cuts[-1], 1)] if cuts else []
    tails = arb(0)
    # Cells go on outwards until next to nothing of p is left. What is left counts in full for the upper bound: beyond
    # the last cell nobody asks which of the two is the larger.
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
    # The cell that adds most to the doubt is cut in half, again and again. A half whose sign is decided is done with;
    # around a crossing the difference falls with the width, and so the doubt with its square.
    for _ in range(_MOST_CELLS):
        above = upper + doubt + tails
        if delta is not None and (above <= arb(delta) or lower > arb(delta)):
            break
        if not order or (doubt.upper() <= arb(_RTOL) * lower.lower() / 4) or (doubt.upper() < _ATOL):
            break
        _, _, a, c, most = heappop(order)
        left = (doubt - most).upper()
        doubt = left if left > 0 else arb(0)
        middle = (a + c) / 2
        put(a, middle)
        put(middle, c)
    # Added up anew: what was taken off along the way has widened its ball with every step.
    doubt = sum((arb(one[4].upper()) for one in order), arb(0))
    whole = outward(upper + doubt + tails)
    least = outward(arb(lower.lower())).lower if lower.lower() > 0 else 0.0
    return Enclosure(least, min(1.0, whole.upper))


# The privacy curve: δ at every ε of two published laws, from which every other figure of the pair comes.
#
# With L = ln p/q, P(L > ε) and Q(L > ε) at every real ε are all there is to say about telling p from q: the pair (P, Q)
# at a threshold is a point of the trade-off between the two errors, δ(ε) = P − e^ε Q, and a best guess is a δ at the
# logarithm of the prior odds. For laws on points both are sums; after noise they are masses between the places where L
# crosses ε (proofs/hockey-stick.md).


_FURTHEST = 745.0  # e to more is beyond floats
_ENDS = 40.0  # log-odds beyond which what is left of an integral of δ·e^−ε is no digit of it
_REACH = 12.0  # standard deviations from a mean within which a crossing is looked for
_LAPLACE_REACH = 40.0
_STEPS = 24  # places a standard deviation
_MOST_STEPS = 200
_CLOSE = 1e-14  # of a threshold that is searched for
_LEVEL = 1e-13  # of L: where it is as flat as that, as in the tails after Laplace noise, rounding alone changes signs
_BLOCK = 1 << 21  # densities of components at a time
_SHOWN = 121  # thresholds that a picture of densities takes
_MOST_SHOWN = 12.0  # log-odds beyond which no threshold is drawn

Order = Callable[[float], float]
_ORDERS = (np.geomspace(0.05, 500.0, 60) + 1.0).tolist()  # at which a conversion is tried before it is refined


class ByOrder(NamedTuple):
    """What follows from the Rényi divergence of one order alone."""

    epsilon: float
    alpha: float


"""D_α as a function of α, infinity included."""


class Density(Protocol):
    """A law with a density, in floats; points that noise left apart are kept in `points`."""

    @property
    def places(self) -> Array:
        """Where to look at it: its features lie between these."""
        ...

    @property
    def points(self) -> Mapping[Hashable, float]:
        """Points and their masses."""
        ...

    def log_density(self, y: Array) -> Array:
        """The logarithm of the density at each y.

        Args:
            y: places on the line.

        Returns:
            Its values there, −inf where the law has none.
        """
        ...

    def mass(self, a: float, c: float) -> float:
        """The probability between two places, points apart.

        Args:
            a: the lower place, which may be −inf.
            c: the upper, which may be inf.

        Returns:
            The probability, from whichever tail keeps its digits.
        """
        ...


@dataclass(frozen=True)
class PrivacyCurve(Plotted):
    """How well the published law p can be told from q, in floats.

    Made by `privacy_curve`. Everything is about p against q; `reversed()` is q against p.

    >>> from takifugu import GaussianNoise, Mixture, privacy_curve
    >>> curve = privacy_curve(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), noise=GaussianNoise(1.0))
    >>> round(curve.delta(1.0), 6)
    0.039633
    >>> round(curve.best_guess(), 6)
    0.638163
    >>> math.isclose(curve.delta(0.0), curve.reversed().delta(0.0), rel_tol=1e-12)
    True
    """

    p: Density = field(repr=False)
    q: Density = field(repr=False)
    orders: tuple[Order, Order] | None = field(default=None, repr=False, compare=False)  # of p against q, and back

    def reversed(self) -> "PrivacyCurve":
        """The curve of q against p."""
        return PrivacyCurve(self.q, self.p, None if self.orders is None else self.orders[::-1])

    def divergence(self, alpha: float) -> float:
        """D_α of p against q, by its own sum or integral; of the order ∞ the logarithm of the largest odds.

        Args:
            alpha: the order, above 1 or infinite.

        Returns:
            D_α in natural logarithms.
        """
        if self.orders is None:
            raise InputError("this curve knows no orders: make it with privacy_curve")
        return self.orders[0](alpha)

    def delta(self, epsilon: float) -> float:
        """The least δ with which p is within (ε, δ) of q: ∫ (p − e^ε q)₊.

        Args:
            epsilon: any real number. At 0 it is the total variation of the two laws.

        Returns:
            δ, between 0 and 1, in float64: no bound. For a proof see `takifugu.certify`.
        """
        above, other = self._above(check.real("epsilon", epsilon, "a finite number"))
        return min(1.0, max(0.0, above - _times_exp(other, epsilon)))

    def epsilon(self, delta: float) -> float:
        """The least ε at which δ is enough; infinite where none is, and 0 where p and q are that close already.

        Args:
            delta: the share that is allowed, 0 or more and below 1.

        Returns:
            The ε, found by bisection of a curve that falls; 0 or more.

        >>> from takifugu import GaussianNoise, privacy_curve
        >>> curve = privacy_curve(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), noise=GaussianNoise(1.0))
        >>> round(curve.epsilon(curve.delta(1.0)), 9)
        1.0
        """
        target = check.real("delta", delta, "a number of at least 0 and below 1")
        if not 0 <= target < 1:
            raise InputError(f"delta must be a number of at least 0 and below 1, got {delta!r}")
        if self.delta(0.0) <= target:
            return 0.0
        return _least(lambda e: self.delta(e) <= target, 0.0)

    def epsilon_by_order(self, delta: float) -> "ByOrder":
        """The least ε that follows from one Rényi divergence by itself, and its order: never less than `epsilon`.

        From D_α ≤ D follows δ ≤ e^((α−1)(D − ε))·(1 − 1/α)^α/(α − 1), the conversion of C. Canonne, G. Kamath and T.
        Steinke, "The Discrete Gaussian for Differential Privacy" (2020), proposition 12.

        Args:
            delta: the share that is allowed, above 0 and below 1.

        Returns:
            The ε and the order α, in float64; the best of some hundred orders, and infinite where no divergence is
            finite.

        >>> from takifugu import GaussianNoise, privacy_curve
        >>> curve = privacy_curve(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), noise=GaussianNoise(2.0))
        >>> curve.epsilon(1e-5) < curve.epsilon_by_order(1e-5).epsilon
        True
        """
        share = check.real("delta", delta, "a number above 0 and below 1")
        if not 0 < share < 1:
            raise InputError(f"delta must be a number above 0 and below 1, got {delta!r}")

        def converted(alpha: float) -> float:
            loss = self.divergence(alpha)
            return loss + (-math.log(share) + alpha * math.log1p(-1.0 / alpha) - math.log(alpha - 1.0)) / (alpha - 1.0)

        found = [ByOrder(max(0.0, converted(alpha)), alpha) for alpha in _ORDERS]
        best = min(range(len(found)), key=lambda k: found[k].epsilon)
        finer = np.geomspace(_ORDERS[max(0, best - 1)] - 1.0, _ORDERS[min(best + 1, len(_ORDERS) - 1)] - 1.0, 24) + 1.0
        if math.isfinite(found[best].epsilon):
            found += [ByOrder(max(0.0, converted(alpha)), alpha) for alpha in finer.tolist()]
        found.append(ByOrder(self.divergence(math.inf), math.inf))  # which leaves no share out
        return min(found, key=lambda one: one.epsilon)

    def exceeds(self, epsilon: float) -> float:
        """P(L > ε): how often a value drawn from p speaks for p by more than e^ε.

        Args:
            epsilon: the logarithm of the factor.

        Returns:
            The probability, over what is published where p is true. It is what an attacker who waits for strong
            evidence counts on, and differs from δ, which weighs each value by how far beyond it is.
        """
        return min(1.0, max(0.0, self._above(check.real("epsilon", epsilon, "a finite number"))[0]))

    def odds_quantile(self, probability: float) -> float:
        """The least factor that the odds for p exceed with the rest of this probability at most, over draws from p.

        Args:
            probability: how often the odds stay within the factor, above 0 and below 1.

        Returns:
            The factor; infinite where it is beyond floats, or p has points that q lacks.
        """
        share = check.real("probability", probability, "a number above 0 and below 1")
        if not 0 < share < 1:
            raise InputError(f"probability must be a number above 0 and below 1, got {probability!r}")
        found = _least(lambda e: self.exceeds(e) <= 1.0 - share, *self._bracket)
        return math.exp(found) if found < 709.0 else math.inf

    def best_guess(self, prior: float = 0.5) -> float:
        """The largest chance of guessing right which of the two it is, where p has this probability beforehand.

        Args:
            prior: the probability of p before anything is published.

        Returns:
            The probability of a right guess by whoever knows both laws. It is (1 − π) + π·δ at the logarithm of the
            prior odds against p, and so no less than what is right without looking.
        """
        chance = check.real("prior", prior, "a number above 0 and below 1")
        if not 0 < chance < 1:
            raise InputError(f"prior must be a number above 0 and below 1, got {prior!r}")
        return (1.0 - chance) + chance * self.delta(math.log((1.0 - chance) / chance))

    def information(self, prior: float = 0.5) -> float:
        """The mutual information, in nats, of what is published and which of the two it is, p having this probability.

        π(1 − π)·∫ δ(ε)/(πe^ε + 1 − π) + δ'(ε)/((1 − π)e^ε + π) over ε from 0 on, δ' of q against p.

        Args:
            prior: the probability of p before anything is published.

        Returns:
            I(secret; published), at most the entropy of the prior: ln 2 for two secrets that were equally likely.
        """
        from scipy.integrate import quad

        chance = check.real("prior", prior, "a number above 0 and below 1")
        if not 0 < chance < 1:
            raise InputError(f"prior must be a number above 0 and below 1, got {prior!r}")
        if not (self.p.places.size or self.q.places.size):
            return _information_of_points(self.p.points, self.q.points, chance)
        total = 0.0
        for curve, weight in ((self, chance), (self.reversed(), 1.0 - chance)):
            ends = sorted({0.0, 1.0, 4.0, 12.0, *(e for e in curve._kinks if 0 < e < _ENDS), _ENDS})
            for low, high in pairwise(ends):
                part, _ = quad(
                    lambda e, c=curve, w=weight: c.delta(e) / (w * math.exp(e) + 1.0 - w), low, high, epsabs=1e-11
                )
                total += part
        return max(0.0, chance * (1.0 - chance) * total)

    def pointwise_leakage(self, prior: float = 0.5) -> float:
        """The pointwise maximal leakage, in nats: by how much a value can raise the chance of either, p having `prior`.

        The largest ln p/m or ln q/m, m = prior·p + (1 − prior)·q: never more than −ln of the smaller chance.

        Args:
            prior: the probability of p before anything is published.

        Returns:
            The largest over all published values; for finite laws and Laplace noise mostly finite, for Gaussian noise
            mostly as large as it can be.
        """
        chance = check.real("prior", prior, "a number above 0 and below 1")
        if not 0 < chance < 1:
            raise InputError(f"prior must be a number above 0 and below 1, got {prior!r}")
        ways = ((self.divergence(math.inf), chance), (self.reversed().divergence(math.inf), 1.0 - chance))
        return max(-math.log(share + (1.0 - share) * math.exp(-loss)) for loss, share in ways)

    def errors(self, epsilon: float) -> tuple[float, float]:
        """The chances of a false alarm and of a miss, of the test that says p where the odds for p exceed e^ε.

        Args:
            epsilon: the threshold, a log-odds.

        Returns:
            The probability of saying p where q is true, and of saying q where p is. No test with as few false alarms
            misses less often (J. Neyman and E. Pearson, 1933).
        """
        above, other = self._above(check.real("epsilon", epsilon, "a finite number"))
        return min(1.0, max(0.0, other)), min(1.0, max(0.0, 1.0 - above))

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Log-odds at which the errors are worth a look: those of every point, and a row of them for densities."""
        found = set(self._kinks)
        if self._ratios[0].size:
            finite = np.clip(self._ratios[1][np.isfinite(self._ratios[1])], -_MOST_SHOWN, _MOST_SHOWN)
            if finite.size:
                found |= set(np.linspace(finite.min(), finite.max(), _SHOWN).tolist())
        return tuple(sorted(found))

    @property
    def _kinks(self) -> tuple[float, ...]:
        """The log-odds of points, at which δ has a kink."""
        pairs = ((weight, self.q.points.get(x, 0.0)) for x, weight in self.p.points.items())
        return tuple(sorted({math.log(one / other) for one, other in pairs if one > 0 and other > 0}))

    def trade_off(self, false_alarm: float) -> float:
        """The least chance of missing p for a test that takes q for p with this chance at most.

        Args:
            false_alarm: the probability of saying p where q is true, between 0 and 1.

        Returns:
            The value of the trade-off function (J. Dong, A. Roth and W. Su, "Gaussian Differential Privacy", 2022). Two
            laws that nobody can tell apart have 1 − `false_alarm`.

        >>> from takifugu import GaussianNoise, privacy_curve
        >>> curve = privacy_curve(Mixture.gaussian(0, 1), Mixture.gaussian(0, 1), noise=GaussianNoise(1.0))
        >>> round(curve.trade_off(0.25), 9)
        0.75
        """
        level = check.real("false_alarm", false_alarm, "a number between 0 and 1")
        if not 0 <= level <= 1:
            raise InputError(f"false_alarm must be a number between 0 and 1, got {false_alarm!r}")
        # The best test takes what is beyond a threshold, and at it a share: a line below the curve, as δ is at ε.
        at = _least(lambda e: self._above(e)[1] <= level, *self._bracket)
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
        at, ratios = self._ratios
        if not at.size:
            return []
        epsilon += _LEVEL * (1.0 + abs(epsilon))
        signs = ratios > epsilon
        k = np.flatnonzero(signs[1:] != signs[:-1])
        roots = 0.5 * (at[k] + at[k + 1])
        sure = np.isfinite(ratios[k]) & np.isfinite(ratios[k + 1])
        inside, above = k[sure], ratios - epsilon
        roots[sure] = _crossings(
            lambda y: self._ratio(y) - epsilon, (at[inside], at[inside + 1]), (above[inside], above[inside + 1])
        )
        ends = [-math.inf, *roots.tolist(), math.inf]
        return list(pairwise(ends))[0 if signs[0] else 1 :: 2]

    @cached_property
    def _bracket(self) -> tuple[float, float]:
        """Between what L lies, up to what is infinite."""
        seen = [*self._kinks, *self._ratios[1][np.isfinite(self._ratios[1])].tolist()]
        return max(-_FURTHEST, min(seen, default=0.0) - 1.0), min(_FURTHEST, max(seen, default=0.0) + 1.0)


def _crossings(f: Callable[[Array], Array], ends: tuple[Array, Array], values: tuple[Array, Array]) -> Array:
    """Where a function changes its sign in each of several intervals: secants that keep their bracket, all at once."""
    (a, b), (fa, fb) = (np.array(one, dtype=float) for one in ends), (np.array(one, dtype=float) for one in values)
    x = 0.5 * (a + b)
    for step in range(_MOST_STEPS):
        if not len(a) or (np.abs(b - a) <= 4 * np.spacing(np.maximum(np.abs(a), np.abs(b)))).all():
            break
        with np.errstate(invalid="ignore", divide="ignore"):
            x = b - fb * (b - a) / (fb - fa)
        middle = 0.5 * (a + b)
        x = np.where((x > np.minimum(a, b)) & (x < np.maximum(a, b)) & (step % 3 < 2), x, middle)
        fx = f(x)
        if (np.abs(fx) <= 1e-15).all():
            break
        same = (fx > 0) == (fa > 0)
        # The end that stays is weighed by half, or secants would creep up to the root from one side (Illinois).
        fa, fb = np.where(same, fx, 0.5 * fa), np.where(same, 0.5 * fb, fx)
        a, b = np.where(same, x, a), np.where(same, b, x)
    found: Array = x
    return found


def _information_of_points(p: Mapping[Hashable, float], q: Mapping[Hashable, float], chance: float) -> float:
    """Of laws on points alone it is a sum, π·p·ln(p/m) + (1 − π)·q·ln(q/m) with m = πp + (1 − π)q."""
    terms = []
    for place in {**p, **q}:
        mass, other = p.get(place, 0.0), q.get(place, 0.0)
        middle = chance * mass + (1.0 - chance) * other
        terms += [w * one * math.log(one / middle) for w, one in ((chance, mass), (1.0 - chance, other)) if one > 0]
    return max(0.0, math.fsum(terms))


class Points:
    """A law on a list of values, which has no density."""

    def __init__(self, points: Mapping[Hashable, float]) -> None:
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
        at = law.means[~wide].tolist()
        self.points: Mapping[Hashable, float] = dict(zip(at, weights[~wide].tolist(), strict=True))
        self._weights, self._means, self._stds = weights[wide], law.means[wide], stds[wide]
        self.places = _around(self._means, self._stds, _REACH)

    def log_density(self, y: Array) -> Array:
        """See `Density`."""
        if not len(self._means):
            return np.full(len(y), -np.inf)
        heights = np.log(self._weights) - np.log(self._stds * math.sqrt(2 * math.pi))
        found, rows = np.empty(len(y)), max(1, _BLOCK // len(heights))
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            for start in range(0, len(y), rows):
                z = (y[start : start + rows, None] - self._means) / self._stds
                logs = heights - 0.5 * z * z
                top = np.maximum(logs.max(axis=1), -1e308)  # far from all of them nothing is left to add up
                found[start : start + rows] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        return found

    def mass(self, a: float, c: float) -> float:
        """Above a mean the upper tails have the digits."""
        from scipy.special import ndtr

        low, high = (a - self._means) / self._stds, (c - self._means) / self._stds
        parts = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        return math.fsum((self._weights * parts).tolist())


class LaplaceDensity:
    """A mixture after Lap(scale), in floats; no points are left."""

    points: Mapping[Hashable, float] = MappingProxyType({})

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


def _around(means: Array, stds: Array, reach: float) -> Array:
    """A grid along each component, as far as so many of its widths."""
    steps = np.linspace(-reach, reach, int(2 * reach * _STEPS) + 1)
    return np.unique((means[:, None] + stds[:, None] * steps).ravel())


def hockey_stick_after(p: Mixture, q: Mixture, *, epsilon: float, theta: float = 0.0, scale: float = 0.0) -> float:
    """∫ (p − e^ε q)₊ after N(0, theta²) or Lap(scale), in float64; any real `epsilon`, one noise at most.

    Args:
        p: the law under one secret.
        q: that under the other.
        epsilon: any real number.
        theta: the standard deviation of Gaussian noise.
        scale: the scale of Laplace noise.

    Returns:
        δ in float64. A sign change that the search misses makes it too small, so nothing is guaranteed by it alone.

    >>> round(hockey_stick_after(Mixture.gaussian(0, 1), Mixture.gaussian(1, 2), epsilon=0.5, theta=0.7), 12)
    0.075079914228
    """
    if p.simplified() == q.simplified():
        return max(0.0, -math.expm1(epsilon))
    first, second = (LaplaceDensity(law, scale) if scale else NormalDensity(law, theta) for law in (p, q))
    return PrivacyCurve(first, second).delta(epsilon)


def _times_exp(number: float, exponent: float) -> float:
    """Number · e^exponent, where the second is beyond floats and the first is small."""
    return math.exp(exponent + math.log(number)) if number > 0 else 0.0


def _least(holds: Callable[[float], bool], start: float, end: float = _FURTHEST) -> float:
    """The least number from `start` on at which a claim holds that holds from somewhere on; infinite if beyond all."""
    if holds(start):
        return start
    low, high = start, end
    if end == _FURTHEST:
        step = 1.0
        while not holds(high := min(start + step, _FURTHEST)):
            if high == _FURTHEST:
                return math.inf
            step *= 2.0
        low = start + step / 2 if step > 1 else start
    elif not holds(high):
        return math.inf
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low <= _CLOSE * abs(high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
