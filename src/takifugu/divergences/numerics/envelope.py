"""Which component dominates where: the upper envelope of weighted normal log-densities.

The logarithm of each weighted component is a parabola in y. The largest of them tells a mixture's log-density to
within the logarithm of the number of components, so the envelope shows where an integrand can have any mass
before a single point of it has been evaluated.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.divergences.numerics.balls import Bell

if TYPE_CHECKING:
    from flint import fmpq

Indices = npt.NDArray[np.intp]


class Parabolas(NamedTuple):
    """f_k(y) = height_k − (y − mean_k)² / (2 std_k²), one per component; `bare` is std_k before noise.

    A mean is `means + lows`: far from the origin one float has too few digits for the distance of two means.
    """

    heights: Array
    means: Array
    stds: Array
    bare: Array
    lows: Array

    @classmethod
    def of(cls, weights: Array, means: Array, stds: Array, bare: Array, lows: Array) -> "Parabolas":
        """The log-densities of weighted normal components."""
        return cls(np.log(weights) - np.log(stds) - 0.5 * np.log(2 * np.pi), means, stds, bare, lows)

    def at(self, y: Array, which: Indices | slice = slice(None)) -> Array:
        """f_k(y), elementwise over `y` and the components chosen."""
        z = ((y - self.means[which]) - self.lows[which]) / self.stds[which]
        return self.heights[which] - 0.5 * z * z


class Envelope(NamedTuple):
    """`owners[i]` is the largest parabola from `cuts[i − 1]` to `cuts[i]`, the line's ends being implied."""

    cuts: Array
    owners: Indices


_BLOCK = 24  # all crossings at once up to here; beyond, envelopes of halves are merged


def upper_envelope(curves: Parabolas, members: Indices | None = None) -> Envelope:
    """The upper envelope of some or all of the parabolas."""
    if members is None:
        members = np.arange(len(curves.heights))
    if len(members) == 1:
        return Envelope(np.zeros(0), members)
    if len(members) > _BLOCK:
        half = len(members) // 2
        return _merge(curves, upper_envelope(curves, members[:half]), upper_envelope(curves, members[half:]))
    first, second = _pairs(len(members))
    cuts = np.unique(_crossings(curves, members[first], members[second]))
    heights = curves.at(_inside(cuts)[:, None], members)
    return _compressed(cuts, members[heights.argmax(axis=1)])


def _merge(curves: Parabolas, a: Envelope, b: Envelope) -> Envelope:
    shared = np.unique(np.concatenate([a.cuts, b.cuts]))
    points = _inside(shared)
    one, two = owners_at(a, points), owners_at(b, points)
    differ = one != two
    cuts = np.unique(np.concatenate([shared, _crossings(curves, one[differ], two[differ])]))
    points = _inside(cuts)
    one, two = owners_at(a, points), owners_at(b, points)
    return _compressed(cuts, np.where(curves.at(points, one) >= curves.at(points, two), one, two))


def owners_at(envelope: Envelope, y: Array) -> Indices:
    """The component on top at each y."""
    return envelope.owners[np.searchsorted(envelope.cuts, y)]


def _compressed(cuts: Array, owners: Indices) -> Envelope:
    changes = np.flatnonzero(owners[1:] != owners[:-1])
    return Envelope(cuts[changes], owners[np.concatenate([changes, [len(owners) - 1]])])


@cache
def _pairs(count: int) -> tuple[Indices, Indices]:
    """All pairs of so many, up to the size of a block."""
    first, second = np.triu_indices(count, 1)
    return first, second


def _inside(cuts: Array) -> Array:
    """One point in each of the cells that the cuts make of the line."""
    if len(cuts) == 0:
        return np.zeros(1)
    with np.errstate(over="ignore"):
        left, right = cuts[0] - (1 + abs(cuts[0])), cuts[-1] + (1 + abs(cuts[-1]))
    return np.concatenate([[left], cuts[:-1] + 0.5 * (cuts[1:] - cuts[:-1]), [right]])


def _crossings(curves: Parabolas, i: Indices, j: Indices) -> Array:
    """The points where f_i = f_j, around the mean of i to keep digits; those that are no numbers left out."""
    with np.errstate(all="ignore"):
        si, sj = curves.stds[i], curves.stds[j]
        gap = (curves.means[j] - curves.means[i]) + (curves.lows[j] - curves.lows[i])
        # f_i − f_j = a t² + b t + c with t = y − mean_i
        a = 0.5 * (si - sj) * (si + sj) / (si * si * sj * sj)
        b = -gap / (sj * sj)
        c = curves.heights[i] - curves.heights[j] + 0.5 * (gap / sj) ** 2
        found = roots(a, b, c) + np.concatenate([curves.means[i]] * 2)
    finite: Array = found[np.isfinite(found)]
    return finite


def roots(a: Array, b: Array, c: Array) -> Array:
    """Where a·t² + b·t + c is 0, both places after one another, neither by a difference of nearly equal numbers."""
    root = np.sqrt(b * b - 4 * a * c)
    big = -0.5 * (b + np.where(b >= 0, root, -root))
    return np.concatenate([big / a, c / big])


# Sums of two floats that keep what rounding takes away.
#
# A component near zero seen from an origin eight million away loses the last thirty bits of its mean, and with them
# the distance to its neighbours: a divergence then comes out too small. So a moved mean is two floats, the nearest
# float and the rest. Nothing is lost in either function, short of overflow.


class Split(NamedTuple):
    """high + low, of which `high` is the float nearest to the sum."""

    high: Array
    low: Array

    def minus(self, high: Array, low: Array) -> Array:
        """The difference to another such sum, to the last digits of the difference itself."""
        return (self.high - high) + (self.low - low)


def exact_sum(a: Array, b: Array) -> Split:
    """a + b with no rounding error at all (Knuth's TwoSum; any order of sizes)."""
    high = a + b
    back = high - a
    return Split(high, (a - (high - back)) + (b - back))


# One component's log-density relative to another's, to the digits that their parameters allow.


class Quadratic(NamedTuple):
    """constant + linear·u + square·u², u the distance from a given middle."""

    constant: Array
    linear: Array
    square: Array

    def at(self, u: Array) -> Array:
        """The value at a distance from the middle."""
        return self.constant + u * (self.linear + self.square * u)


def relative(f: Parabolas, i: Indices, g: Parabolas, j: Indices, middle: Split) -> Quadratic:
    """f_i − g_j around `middle`; the indices and the middle broadcast.

    Each coefficient is computed in two ways, from the distances to both means and from the differences of means and
    variances, and taken from the one with the smaller terms. The first is right close to a mean, the second far out,
    where two parabolas of almost the same width differ by much less than either is.
    """
    v, w = f.stds[i] ** 2, g.stds[j] ** 2
    square = 0.5 * (f.bare[i] - g.bare[j]) * (f.bare[i] + g.bare[j]) / (v * w)
    own, other = middle.minus(f.means[i], f.lows[i]), middle.minus(g.means[j], g.lows[j])
    gap = (f.means[i] - g.means[j]) + (f.lows[i] - g.lows[j])
    scaled = gap / v
    linear = _shorter((other / w, -own / v), (2 * other * square, scaled))
    constant = (f.heights[i] - g.heights[j]) + _shorter(
        (0.5 * other * (other / w), -0.5 * own * (own / v)),
        (other * other * square, other * scaled, -0.5 * gap * scaled),
    )
    return Quadratic(constant, linear, square)


def _shorter(one: tuple[Array, ...], two: tuple[Array, ...]) -> Array:
    """The sum of either list, whichever has the smaller terms and so the smaller rounding."""
    return np.where(_total(map(np.abs, one)) <= _total(map(np.abs, two)), _total(one), _total(two))


def _total(terms: Iterable[Array]) -> Array:
    """Their sum from left to right."""
    return reduce(np.add, terms)


# The integrand of a Rényi divergence with its certain part taken out.
#
# With r = p/q, the integral of q r^α is 1 plus the integral of q (r^α − 1 − α(r − 1)), since p and q each have mass
# 1. The bracket is never negative, so nothing cancels in its integral however close p and q are. Divided by β = α − 1
# it stays of order one as α falls to 1. Here L = ln r and
#
#     excess(L) = (e^{αL} − 1 − α(e^L − 1)) / β,
#
# and a divergence is ln(1 + βJ)/β, J the integral (for atoms, the sum) of q·excess(ln p/q). See proofs/mixture.md.

_SERIES_BELOW = 0.1  # on α|L|; beyond, at most a factor of 20 of a rounding error is lost
_SERIES_TERMS = 14


def log_weighted_excess(L: Array, log_q: Array, log_power: Array, alpha: float) -> Array:
    """ln(q·excess(L)) for L = ln p/q, given also log_power = α ln p − (α − 1) ln q.

    All three are taken from the caller because where p and q are tiny each is known to more digits than a
    difference of their logarithms would give.
    """
    beta = alpha - 1.0
    with np.errstate(all="ignore"):
        small = alpha * np.abs(L) < _SERIES_BELOW
        above = np.where(L > 0, L, 0.0)
        below = np.where(L > 0, 0.0, L)
        # excess(L)·e^{−αL} for L > 0 and excess(L) for L < 0: no exponential here exceeds one
        high = -np.expm1(-beta * above) / beta + np.exp(-beta * above) * np.expm1(-above)
        low = np.exp(below) * np.expm1(beta * below) / beta - np.expm1(below)
        result = np.where(L > 0, log_power + np.log(high), log_q + np.log(low))
        if small.any():
            near = np.where(small, L, 0.0)
            result = np.where(small, log_q + np.log(_series(near, alpha)), result)
        return result


def from_log_integral(log_j: float, alpha: float) -> float:
    """ln(1 + βJ)/β from ln J."""
    beta = alpha - 1.0
    x = math.log(beta) + log_j
    if x > 700:
        return x / beta
    return math.log1p(math.exp(x)) / beta


def _series(L: Array, alpha: float) -> Array:
    """Σ_{k≥2} α(1 + α + … + α^{k−2}) L^k / k!, the powers of L taken with those of α."""
    total, h, power, factorial = np.zeros_like(L), np.ones_like(L), np.ones_like(L), 1.0
    for k in range(2, _SERIES_TERMS + 2):
        factorial *= k
        total += h / factorial
        power = power * L
        h = alpha * L * h + power
    return total * (alpha * L) * L


# Where to cut the line: a plan in floats for an integral that is then done in balls.
#
# Nothing here is trusted. A good plan makes each piece easy, by naming the one component of p and of q
# that stand out on it; a bad plan costs time and never a proof.


_SLACK = 3.0  # a component within e^-3 of the largest still stands out
_STEPS = np.array([-8.0, -3.0, 0.0, 3.0, 8.0])  # where a bell begins, bends and ends
_MOST_PAIRS = 2500  # beyond it only the widest components are paired with the others
_CROSSING_ROUNDS = 3  # between two points the lead may change more than once
_GROWTH = 2.0  # pieces outside all bells grow by this factor


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval, the components to factor out on it, and about how much of the integral it holds."""

    start: float
    end: float
    p_lead: int
    q_lead: int
    log_mass: float


class Side:
    """The components of one mixture in floats."""

    def __init__(self, bells: tuple[Bell, ...]) -> None:
        """Round the rational parameters."""
        self.means = np.array([as_float(bell.mean) for bell in bells])
        self.variances = np.array([as_float(bell.variance) for bell in bells])
        self.heights = np.array([math.log(as_float(bell.weight)) for bell in bells]) - 0.5 * np.log(
            2 * math.pi * self.variances
        )

    def logs(self, y: Array) -> Array:
        """The logarithm of each weighted component at each y."""
        gaps = y[:, None] - self.means
        table: Array = self.heights - 0.5 * gaps * (gaps / self.variances)
        return table


class Plan:
    """What the integrand p^α q^(1-α) looks like, roughly."""

    def __init__(self, p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: float) -> None:
        """Find the points of interest: the bells, and the centres where p^α q^(1-α) has its mass."""
        with np.errstate(all="ignore"):
            self.p, self.q, self.alpha = Side(p), Side(q), alpha
            size = len(p) + len(q)
            steps = _STEPS if size <= 500 else _STEPS[1:4] if size <= 1500 else _STEPS[2:3]  # to save memory
            bells = [
                (side.means[:, None] + steps * np.sqrt(side.variances)[:, None]).ravel() for side in (self.p, self.q)
            ]
            self.core = _finite(np.concatenate(bells))
            self.tilted = self._tilted()

    def heights(self, most: int) -> list[float]:
        """The points of interest where the integrand is largest, at most so many."""
        points = np.concatenate([self.core, self.tilted])
        with np.errstate(all="ignore"):
            logs = np.nan_to_num(self._log_f(points), nan=-math.inf)
        return [float(y) for y in points[np.argsort(-logs)[:most]]]

    def pieces(self, start: float, end: float) -> list[Piece]:
        """Consecutive intervals from start to end, the weightiest first."""
        with np.errstate(all="ignore"):
            points, forced = self._points(start, end)
            for _ in range(_CROSSING_ROUNDS):
                cuts = np.concatenate([_plan_crossings(side, points) for side in (self.p, self.q)])
                cuts = np.setdiff1d(cuts, points)
                if not len(cuts):
                    break
                points, forced = _with_cuts(points, forced, cuts)
            p_lack, q_lack = _lack(self.p.logs(points)), _lack(self.q.logs(points))
            mass = self._log_f(points)
        pieces = []
        i = 0
        while i < len(points) - 1:
            j, p_lead, q_lead = _stretch(p_lack, q_lack, forced, i)
            width = points[j] - points[i]
            log_mass = float(np.nan_to_num(mass[i : j + 1], nan=-math.inf).max()) + math.log(width)
            pieces.append(Piece(float(points[i]), float(points[j]), p_lead, q_lead, log_mass))
            i = j
        return sorted(pieces, key=lambda piece: -piece.log_mass)

    def _tilted(self) -> Array:
        # N_k^α N_l^(1-α) is a bell around (α m_k s_l - (α-1) n_l v_k)/margin, perhaps far from both.
        a, p, q = self.alpha, self.p, self.q
        rows, columns = np.arange(len(p.means)), np.arange(len(q.means))
        if len(rows) * len(columns) > _MOST_PAIRS:
            rows, columns = rows[[p.variances.argmax()]], columns[[q.variances.argmax()]]
        m, v = p.means[rows][:, None], p.variances[rows][:, None]
        n, s = q.means[columns], q.variances[columns]
        margin = a * s - (a - 1) * v
        centre = np.where(margin > 0, (a * m * s - (a - 1) * n * v) / margin, np.nan)
        width = np.sqrt(np.where(margin > 0, v * s / margin, np.nan))
        keep = np.isfinite(centre) & np.isfinite(width)
        far = (centre + _STEPS[:, None, None] * width)[:, keep] if keep.size <= 400 else centre[keep]
        return _finite(far.ravel())

    def _points(self, start: float, end: float) -> tuple[Array, npt.NDArray[np.bool_]]:
        low, high = float(self.core.min()), float(self.core.max())
        first = max(high - low, 1e-3) / 4
        outward = first * _GROWTH ** np.arange(0.0, 200.0)
        forced = np.concatenate([[low, high], high + outward, low - outward])
        inside = np.concatenate([self.core, self.tilted, forced])
        inside = inside[(inside > start) & (inside < end)]
        points = np.unique(np.concatenate([[start, end], inside]))
        return points, np.isin(points, forced)

    def _log_f(self, y: Array) -> Array:
        a = self.alpha
        p_logs, q_logs = self.p.logs(y), self.q.logs(y)
        p_lead, q_lead = p_logs.argmax(axis=1), q_logs.argmax(axis=1)
        at = np.arange(len(y))
        p_top, q_top = p_logs[at, p_lead], q_logs[at, q_lead]
        direct = a * p_top - (a - 1) * q_top
        # Far out the two squares are huge and nearly equal: there their difference is taken by algebra.
        m, v = self.p.means[p_lead], self.p.variances[p_lead]
        n, s = self.q.means[q_lead], self.q.variances[q_lead]
        margin = a * s - (a - 1) * v
        peak = a * (a - 1) * (m - n) ** 2 / (2 * margin)
        centre = (a * m * s - (a - 1) * n * v) / margin
        heights = a * self.p.heights[p_lead] - (a - 1) * self.q.heights[q_lead]
        algebraic = heights + peak - 0.5 * margin / (v * s) * (y - centre) ** 2
        top = np.where(np.abs(peak) < a * np.abs(p_top), algebraic, direct)
        p_rest = np.log(np.exp(p_logs - p_top[:, None]).sum(axis=1))
        q_rest = np.log(np.exp(q_logs - q_top[:, None]).sum(axis=1))
        result: Array = top + a * p_rest - (a - 1) * q_rest
        return result


def as_float(number: "fmpq") -> float:
    """A rational as a float; the nearest finite positive one where it is too large or too small."""
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if number > 0:
        return min(max(value, 1e-300), 1e300)
    return max(value, -1e300)


def _finite(points: Array) -> Array:
    kept: Array = np.unique(points[np.isfinite(points)])
    return kept


def _stretch(p_lack: Array, q_lack: Array, forced: npt.NDArray[np.bool_], i: int) -> tuple[int, int, int]:
    """The furthest point up to which one component of each side stands out, and which they are."""
    best = None
    p_most, q_most = p_lack[i], q_lack[i]
    for j in range(i + 1, len(forced)):
        p_most, q_most = np.maximum(p_most, p_lack[j]), np.maximum(q_most, q_lack[j])
        p_lead, q_lead = int(p_most.argmin()), int(q_most.argmin())
        if best is not None and max(p_most[p_lead], q_most[q_lead]) > _SLACK:
            return best
        best = (j, p_lead, q_lead)
        if forced[j]:
            return best
    if best is None:
        raise IndexError("there is no point to the right of the last one")
    return best


def _lack(logs: Array) -> Array:
    """By how much each component falls short of the largest at each point."""
    lack: Array = np.nan_to_num(logs.max(axis=1, keepdims=True) - logs, nan=math.inf)
    return lack


def _plan_crossings(side: Side, points: Array) -> Array:
    """Where the lead passes from one component to another between two points, neither standing out at both.

    In the empty stretch between far clusters a sum of two bells has a zero a short way off the line, wherever the
    wrong one is factored out: without a cut there an integral could only be bounded by crossing the stretch in
    steps of that size.
    """
    lack = _lack(side.logs(points))
    lead = lack.argmin(axis=1)
    i, j = lead[:-1], lead[1:]
    at = np.arange(len(points) - 1)
    torn = np.flatnonzero((i != j) & (lack[at, j] > _SLACK) & (lack[at + 1, i] > _SLACK))
    i, j, low, high = i[torn], j[torn], points[torn], points[torn + 1]
    # log_i - log_j at y = mean_i + t is a·t² + b·t + c
    gap, u, v = side.means[j] - side.means[i], side.variances[i], side.variances[j]
    a, b = 0.5 / v - 0.5 / u, -gap / v
    c = side.heights[i] - side.heights[j] + 0.5 * gap * gap / v
    found = roots(a, b, c) + np.concatenate([side.means[i]] * 2)
    inside: Array = found[(found > np.concatenate([low] * 2)) & (found < np.concatenate([high] * 2))]
    return np.unique(inside)


def _with_cuts(points: Array, forced: npt.NDArray[np.bool_], cuts: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The points and the cuts together, all cuts forced."""
    everything = np.concatenate([points, cuts])
    order = np.argsort(everything)
    return everything[order], np.concatenate([forced, np.ones(len(cuts), dtype=bool)])[order]
