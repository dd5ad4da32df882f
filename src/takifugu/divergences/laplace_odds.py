"""How far two mixtures are apart after Laplace noise, at α = ∞: the largest log-ratio, in floats and proved.

With u = 1/b the density of X + Lap(b), times 2b, is A(y) + B(y): A is what lies at or below y and B what lies above,
each point x counted with e^(−u|y−x|). Both have formulas for points and for normals. Three facts make the supremum of a
ratio of two such densities a finite question (proofs/laplace.md):

- From y = a on, as far as no point comes, A + B times e^(us) is A(a) + B(a)·t less at most (t − 1)·P(a, y], where
  y = a + s and t = e^(2us). So on a cell a ratio is at most a Möbius function of t, which is largest at an end.
- Between neighbouring points there is no mass at all: the ratio of two laws on points is largest at a point.
- Beyond the last cell e^(uy)·(A + B) only grows, towards the moment generating function at u.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from takifugu._validation import Array, budget
from takifugu.divergences.certified import Decision
from takifugu.divergences.numerics.balls import (
    UNKNOWN,
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
    from flint import acb, arb, fmpq

_BITS = 192
_REACH = 9.0  # standard deviations from a mean within which a float search looks; the tails' limits are beside it
_STEPS = 12  # points of the search for each standard deviation of the narrowest component that is near
_MOST_PLACES = 4_000  # around one normal
_NEAR = 6  # local maxima that are refined
_MOST_CELLS = 200_000
_TURNS = 400  # by how often the last cell is moved outwards: each time by a standard deviation more


def odds_after_laplace(p: Mixture, q: Mixture, *, scale: float) -> float:
    """D∞(p + Lap(scale) ‖ q + Lap(scale)): the largest ln p(y)/q(y), in float64; `scale` is above 0.

    >>> round(odds_after_laplace(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), scale=2.0), 12)
    0.5
    """
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    first, second = LogLaplace(p, scale), LogLaplace(q, scale)

    def ratio(y: Array) -> Array:
        return first(y) - second(y)

    ends = first.limits - second.limits
    at = _looked_at(p, q, scale)
    values = ratio(at)
    best = max(float(values.max()), float(ends.max()))
    if p.is_discrete and q.is_discrete:
        return max(0.0, best)  # the points are all there is
    return max(0.0, best, *_refined(ratio, at, values))


def _looked_at(p: Mixture, q: Mixture, scale: float) -> Array:
    """Where a search for the largest ratio looks: all points, and a grid over every normal."""
    parts = [law.means[law.stds == 0] for law in (p, q)]
    for law in (p, q):
        for mean, std in {(m, s) for m, s in zip(law.means.tolist(), law.stds.tolist(), strict=True) if s > 0}:
            # Noise tilts a normal by u·σ², which is where A and B are at home.
            reach = _REACH + std / scale
            parts.append(mean + std * np.linspace(-reach, reach, min(int(2 * reach * _STEPS), _MOST_PLACES) + 1))
    return np.unique(np.concatenate(parts))


def _refined(ratio: Callable[[Array], Array], at: Array, values: Array) -> Iterator[float]:
    """The largest local maxima between the points that were looked at."""
    from scipy.optimize import minimize_scalar

    inner = np.flatnonzero((values[1:-1] >= values[:-2]) & (values[1:-1] >= values[2:])) + 1
    for k in inner[np.argsort(-values[inner], kind="stable")][:_NEAR].tolist():
        low, high = float(at[k - 1]), float(at[k + 1])
        found = minimize_scalar(
            lambda y: -float(ratio(np.array([y]))[0]), bounds=(low, high), method="bounded", options={"xatol": 1e-11}
        )
        yield -float(found.fun)


class LogLaplace:
    """The logarithm of 2b times a density after noise, in floats."""

    def __init__(self, law: Mixture, scale: float) -> None:
        """Normalise the weights."""
        self._u = 1.0 / scale
        with np.errstate(divide="ignore"):
            self._weights = np.log(law.weights / math.fsum(law.weights))
        self._means, self._stds = law.means, law.stds

    def __call__(self, y: Array) -> Array:
        """At each y: of points alone from what adds up on either side of it, else a block at a time."""
        if not self._stds.any():
            return self._of_points(y)
        step = max(1, 2_000_000 // len(self._means))
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            return np.concatenate([self._block(y[k : k + step]) for k in range(0, len(y), step)])

    def _of_points(self, y: Array) -> Array:
        """One pass over the points and not one for each y: sums over thousands of rows have as many points."""
        middle = float(self._means[len(self._means) // 2])
        order = np.argsort(self._means, kind="stable")
        points, weights = self._means[order], self._weights[order]
        tilt, here = self._u * (points - middle), self._u * (y - middle)
        below = np.append(-np.inf, np.logaddexp.accumulate(weights + tilt))
        above = np.append(np.logaddexp.accumulate((weights - tilt)[::-1])[::-1], -np.inf)
        place = np.searchsorted(points, y, side="right")  # a point is below or above, never both
        found: Array = np.logaddexp(below[place] - here, above[place] + here)
        return found

    def _block(self, y: Array) -> Array:
        from scipy.special import log_ndtr

        u, gap = self._u, y[:, None] - self._means
        logs = np.empty((2, *gap.shape))
        point = self._stds == 0
        logs[:, :, point] = -u * np.abs(gap[:, point])
        logs[1][:, point] = -np.inf  # a point is below or above, never both
        wide, std = gap[:, ~point], self._stds[~point]
        bend = 0.5 * (u * std) ** 2
        logs[0][:, ~point] = bend - u * wide + log_ndtr(wide / std - u * std)
        logs[1][:, ~point] = bend + u * wide + log_ndtr(-wide / std - u * std)
        logs += self._weights
        # SciPy's function for this takes eight times as long where a search asks for one place at a time.
        top = logs.max(axis=(0, 2))
        top[~np.isfinite(top)] = 0.0
        found: Array = np.log(np.exp(logs - top[:, None]).sum(axis=(0, 2))) + top
        return found

    def mass(self, a: float, c: float) -> float:
        """The probability between two places after noise."""
        return (
            self._beyond(a, 1) - self._beyond(c, 1) if a > self._middle else self._beyond(c, -1) - self._beyond(a, -1)
        )

    @property
    def _middle(self) -> float:
        return float(np.exp(self._weights) @ self._means)

    def _beyond(self, y: float, sign: int) -> float:
        from scipy.special import log_ndtr, ndtr

        if math.isinf(y):
            return float(y * sign < 0)
        u, gap = self._u, sign * (y - self._means)  # how far the place lies beyond each mean
        found = np.where(gap >= 0, 0.5 * np.exp(-u * np.abs(gap)), 1.0 - 0.5 * np.exp(-u * np.abs(gap)))
        wide = self._stds > 0
        std, far = self._stds[wide], gap[wide]
        bend = 0.5 * (u * std) ** 2
        below = np.exp(bend - u * far + log_ndtr(far / std - u * std))
        above = np.exp(bend + u * far + log_ndtr(-far / std - u * std))
        found[wide] = ndtr(-far / std) + 0.5 * (below - above)
        return math.fsum((np.exp(self._weights) * found).tolist())

    @property
    def limits(self) -> Array:
        """ln M(u) and ln M(−u): what is left of the logarithm in either tail, once the noise's own slope is out."""
        from scipy.special import logsumexp

        bend = 0.5 * (self._u * self._stds) ** 2 + self._weights
        return np.array([logsumexp(bend + sign * self._u * self._means) for sign in (1.0, -1.0)])


def decide_odds_after_laplace(
    p: Mixture, q: Mixture, *, scale: float, epsilon: float, effort: Effort | None = None
) -> Decision:
    """Whether D∞(p + Lap(scale) ‖ q + Lap(scale)) is `epsilon` at most, proved in ball arithmetic either way.

    >>> p, q = Mixture.gaussian(0, 1), Mixture.gaussian(1, 1)
    >>> decide_odds_after_laplace(p, q, scale=2.0, epsilon=0.5 + 1e-12).holds
    True
    >>> decide_odds_after_laplace(p, q, scale=2.0, epsilon=0.5 - 1e-12).holds
    False
    """
    limit = budget(epsilon)
    if not 0 < scale < math.inf:
        raise InputError(f"scale must be a finite number above 0, got {scale!r}")
    spent = Effort() if effort is None else effort
    try:
        with working_precision(_BITS):
            return _decided(ExactLaplace(p, scale, spent), ExactLaplace(q, scale, spent), limit)
    except UndecidableError as stopped:
        return Decision(None, UNKNOWN, f"undecided: {stopped}")


def decide_odds_of_points(p: Mixture, q: Mixture, *, epsilon: float) -> Decision:
    """Whether the largest log-ratio of two laws on points is `epsilon` at most, without any noise.

    >>> decide_odds_of_points(Mixture.empirical([0, 1, 1]), Mixture.empirical([0, 0, 1]), epsilon=0.6).holds
    False
    """
    from flint import arb

    first, second = (ExactMixture.after_noise(law, 0.0) for law in (p, q))
    limit = budget(epsilon)
    if first == second:
        return Decision(True, Enclosure(0.0, 0.0), "proved: the laws are the same")
    if first.bells or second.bells:
        return Decision(None, UNKNOWN, "undecided: of normals without noise no bound on the odds is known")
    if not first.atoms.keys() <= second.atoms.keys():
        return Decision(False, Enclosure(math.inf, math.inf), "refuted: a point of the first law is none of the second")
    with working_precision(_BITS):
        largest = max(weight / second.atoms[point] for point, weight in first.atoms.items())
        found = outward(arb(largest).log())
        if arb(largest) > arb(limit).exp():
            return _refuted(arb(largest), limit)
        if arb(largest) <= arb(limit).exp():
            upper = min(limit, found.upper)
            return Decision(
                True, Enclosure(max(0.0, found.lower), upper), f"proved: the log-ratio is at most {upper!r}"
            )
    return Decision(None, found, "undecided: the ratio at a point is too close to the budget")


class ExactLaplace:
    """A mixture after Laplace noise, its numbers taken as exact: A and B as balls, times 2b."""

    def __init__(self, law: Mixture, scale: float, effort: Effort) -> None:
        """Take the numbers as exact; `effort` is what may be spent on all places together."""
        self.law = ExactMixture.after_noise(law, 0.0)
        self.u = 1 / fraction(scale)
        self._effort = effort

    @cached_property
    def _normals(self) -> list["_Normal"]:
        from flint import arb

        u = arb(self.u)
        return [
            _Normal(arb(one.weight) * (u * u * arb(one.variance) / 2).exp(), arb(one.mean), arb(one.variance).sqrt())
            for one in self.law.bells
        ]

    def parts(self, y: "fmpq") -> "tuple[arb, arb]":
        """A(y) and B(y)."""
        from flint import arb

        self._effort.spend(len(self.law.atoms) + 4 * len(self.law.bells))
        below, above = arb(0), arb(0)
        # Exponents are rational and never positive: nothing overflows, however far apart the points lie.
        for point, weight in self.law.atoms.items():
            if point <= y:
                below += arb(weight) * arb(self.u * (point - y)).exp()
            else:
                above += arb(weight) * arb(self.u * (y - point)).exp()
        u, here = arb(self.u), arb(y)
        # Of a normal A is e^(u²σ²/2 − u(y − μ))·Φ((y − μ)/σ − uσ): the noise's exponential tilts it by uσ deviations.
        for normal in self._normals:
            gap, tilt = here - normal.mean, u * normal.std
            below += normal.weight * (-u * gap).exp() * upper_normal_tail(tilt - gap / normal.std)
            above += normal.weight * (u * gap).exp() * upper_normal_tail(tilt + gap / normal.std)
        return below, above

    def at_points(self, places: "list[fmpq]") -> "list[arb]":
        """A + B at places in order, of a law whose points are all among them: one pass up and one down."""
        from flint import arb

        self._effort.spend(8 * len(places))
        # Point by point the sums would take the square of their number; between two places they only fade.
        falls = [arb(self.u * (a - c)).exp() for a, c in pairwise(places)]
        masses = [arb(self.law.atoms[place]) if place in self.law.atoms else arb(0) for place in places]
        below, above = [masses[0]], [arb(0)]
        for fall, mass in zip(falls, masses[1:], strict=True):
            below.append(below[-1] * fall + mass)
        for fall, mass in zip(reversed(falls), reversed(masses), strict=False):
            above.append((above[-1] + mass) * fall)
        return [one + other for one, other in zip(below, reversed(above), strict=True)]

    def between(self, a: "fmpq", c: "fmpq") -> "Callable[[acb], acb]":
        """A + B as an analytic function of a complex place near the interval; no point lies inside that."""
        from flint import acb, arb

        # From the middle of the interval no exponential grows by more than its half, and a ball stays narrow.
        u, middle = arb(self.u), (a + c) / 2
        below, above = arb(0), arb(0)
        for point, weight in self.law.atoms.items():
            if point <= a:
                below += arb(weight) * arb(self.u * (point - middle)).exp()
            else:
                above += arb(weight) * arb(self.u * (middle - point)).exp()

        def value(y: "acb") -> "acb":
            self._effort.spend(2 + 4 * len(self._normals))
            far = (u * (y - arb(middle))).exp()
            total = acb(below) / far + acb(above) * far
            for normal in self._normals:
                gap, tilt = y - normal.mean, u * normal.std
                far = (u * gap).exp()
                total += normal.weight * upper_normal_tail(tilt - gap / normal.std) / far
                total += normal.weight * upper_normal_tail(tilt + gap / normal.std) * far
            return total

        return value

    def mass(self, a: "fmpq", c: "fmpq") -> "arb":
        """A bound on the probability of the open interval; no point lies in it."""
        from flint import arb

        total = arb(0)
        for k, normal in enumerate(self._normals):
            low, high = (arb(a) - normal.mean) / normal.std, (arb(c) - normal.mean) / normal.std
            between = normal_mass(low, high, is_above=bool(low > 0))
            total += arb(self.law.bells[k].weight) * between
        return total

    def mass_to(self, a: "fmpq", c: "fmpq") -> "arb":
        """The law's probability of (a, c]: no point lies between the two, and one may lie at c."""
        from flint import arb

        at = self.law.atoms.get(c)
        return self.mass(a, c) + (arb(at) if at is not None else arb(0))

    def mass_beyond(self, y: "fmpq", sign: int) -> "arb":
        """The law's probability beyond a place: above it without it, or below it with it."""
        from flint import arb

        points = sum((arb(w) for x, w in self.law.atoms.items() if (x > y if sign > 0 else x <= y)), arb(0))
        tails = (
            arb(bell.weight) * upper_normal_tail(sign * (arb(y) - normal.mean) / normal.std)
            for bell, normal in zip(self.law.bells, self._normals, strict=True)
        )
        return sum(tails, points)

    def moment(self, sign: int) -> "arb":
        """E e^(sign·u·X)."""
        from flint import arb

        total = sum((arb(w) * arb(sign * self.u * x).exp() for x, w in self.law.atoms.items()), arb(0))
        u = arb(self.u)
        return sum((n.weight * (sign * u * n.mean).exp() for n in self._normals), total)

    @cached_property
    def breaks(self) -> "list[fmpq]":
        """The points, and one step of a standard deviation after another around each mean."""
        steps = [fraction(0.5 * k) for k in range(-8, 9)]
        around = [one.mean + step * _root(one.variance) for one in self.law.bells for step in steps]
        return [*self.law.atoms, *around]


@dataclass(frozen=True, slots=True)
class _Normal:
    """In balls: the weight times e^(u²σ²/2), the mean and the standard deviation."""

    weight: "arb"
    mean: "arb"
    std: "arb"


Ball = TypeVar("Ball", "arb", "acb")


def upper_normal_tail(z: Ball) -> Ball:
    """The probability that a standard normal is above z."""
    from flint import arb

    return (z / arb(2).sqrt()).erfc() / 2


def normal_mass(low: "arb", high: "arb", *, is_above: bool) -> "arb":
    """The probability between two places of a standard normal, from the tail that keeps the digits."""
    if is_above:
        return upper_normal_tail(low) - upper_normal_tail(high)
    return upper_normal_tail(-high) - upper_normal_tail(-low)


def _root(variance: "fmpq") -> "fmpq":
    """A rational number near its root: where to cut, and no part of any proof."""
    return fraction(math.sqrt(float(variance.numer()) / float(variance.denom())) or 5e-324)


def _decided(p: ExactLaplace, q: ExactLaplace, limit: float) -> Decision:
    from flint import arb

    if p.law == q.law:
        return Decision(True, Enclosure(0.0, 0.0), "proved: the laws are the same")
    most = arb(limit).exp()
    if not p.law.bells and not q.law.bells:
        return _over_points(p, q, limit)
    cuts = sorted({*p.breaks, *q.breaks})
    upper = arb(0)
    for sign in (-1, 1):
        end = _end_of_tail(p, q, cuts, sign, most)
        if end is None:
            in_the_limit = p.moment(sign) / q.moment(sign)
            if in_the_limit > most:
                return _refuted(in_the_limit, limit)
            return Decision(None, UNKNOWN, "undecided: the ratio in a tail is too close to the budget")
        cuts = sorted({*cuts, end})
        upper = _larger(upper, _at_most_beyond(p, q, end, sign))
    return _over_cells(p, q, cuts, upper, limit)


def _over_points(p: ExactLaplace, q: ExactLaplace, limit: float) -> Decision:
    """Of laws on points alone the ratio is monotone between neighbours and constant beyond the ends."""
    from flint import arb

    most, largest = arb(limit).exp(), arb(1)
    places = sorted({*p.law.atoms, *q.law.atoms})
    for mine, other in zip(p.at_points(places), q.at_points(places), strict=True):
        here = mine / other
        if here > most:
            return _refuted(here, limit)
        if not here <= most:
            return Decision(None, UNKNOWN, "undecided: the ratio at a point is too close to the budget")
        largest = _larger(largest, here)
    found = Enclosure(outward(arb(largest).log()).lower, min(limit, outward(arb(largest).log()).upper))
    return Decision(True, found, f"proved: the log-ratio is at most {found.upper!r}, within {limit!r}")


def _end_of_tail(p: ExactLaplace, q: ExactLaplace, cuts: "list[fmpq]", sign: int, most: "arb") -> "fmpq | None":
    """A place beyond which the ratio is proved to be at most `most`; None where none is found."""
    end = cuts[-1] if sign > 0 else cuts[0]
    width = max(cuts[-1] - cuts[0], fraction(1e-3) / p.u)
    for turn in range(_TURNS):
        if _at_most_beyond(p, q, end, sign) <= most:
            return end
        end = end + sign * width * fraction(2.0 ** min(turn, 40) / 8)
    return None


def _over_cells(p: ExactLaplace, q: ExactLaplace, cuts: "list[fmpq]", upper: "arb", limit: float) -> Decision:
    """Every cell decided, halved where that takes it; `upper` is a bound on the ratio beyond them."""
    from flint import arb

    most, largest = arb(limit).exp(), arb(1)  # somewhere the ratio is at least one
    waiting: list[tuple[fmpq, fmpq]] = []
    fresh = list(pairwise(cuts))
    places = list(cuts)
    for _ in range(_MOST_CELLS):
        while places:
            here = _ratio(p.parts(place := places.pop()), q.parts(place))
            if here > most:
                return _refuted(here, limit)
            if here.is_finite():
                largest = _larger(largest, here.lower())
        waiting += fresh
        if not waiting:
            found = Enclosure(outward(arb(largest).log()).lower, min(limit, outward(arb(upper).log()).upper))
            return Decision(True, found, f"proved: the log-ratio is at most {found.upper!r}, within {limit!r}")
        a, c = waiting.pop()
        bound, fresh = _at_most(p, q, a, c), []
        if bound <= most:
            upper = _larger(upper, bound)
        else:
            middle = (a + c) / 2
            places, fresh = [middle], [(a, middle), (middle, c)]
    return Decision(None, UNKNOWN, f"undecided: {_MOST_CELLS:,} cells are not enough")


def _refuted(ratio: "arb", limit: float) -> Decision:
    found = outward(ratio.log())
    return Decision(
        False, Enclosure(found.lower, math.inf), f"refuted: it is at least {found.lower!r}, above {limit!r}"
    )


def _ratio(p: "tuple[arb, arb]", q: "tuple[arb, arb]") -> "arb":
    return (p[0] + p[1]) / (q[0] + q[1])


def _larger(one: "arb", other: "arb") -> "arb":
    """A number that is at least both; infinite where either is not known, since a comparison with NaN is false."""
    if not (one.is_finite() and other.is_finite()):
        return one.pos_inf()
    return one.upper() if one.upper() >= other.upper() else other.upper()


def _at_most(p: ExactLaplace, q: ExactLaplace, a: "fmpq", c: "fmpq") -> "arb":
    """A bound on the ratio over the cell from a to c, in which no point lies.

    With t from 1 to T it is at most (A_p + B_p t)/(A_q + B_q t − Q·(t − 1)), Q the mass of q in the cell: a ratio of
    two linear functions of t, which is largest at an end as long as the one below stays above zero.
    """
    from flint import arb

    mine, other = p.parts(a), q.parts(a)
    t = arb(2 * q.u * (c - a)).exp()
    below = other[0] + other[1] * t - q.mass(a, c) * (t - 1)
    if not (below > 0 and other[0] + other[1] > 0):
        return arb.pos_inf()
    return arb(_larger(_ratio(mine, other), (mine[0] + mine[1] * t) / below))


def _at_most_beyond(p: ExactLaplace, q: ExactLaplace, end: "fmpq", sign: int) -> "arb":
    """A bound on the ratio from `end` on: what the one above grows to, over what the one below has reached."""
    from flint import arb

    reached = sum(q.parts(end), arb(0)) * arb(sign * q.u * end).exp()
    return p.moment(sign) / reached
