"""Many divergences on one grid: the midpoint rule with a proved error, its factors worked out once for each law.

Over a window ∫ p^α q^(1-α) is a sum over midpoints, up to an error that is tiny if neither density vanishes near the
line. So what is dear, logarithms and exponentials of densities, is done once a law, and a pair takes one multiplication
a point. The proof is in proofs/certified.md, "Many pairs on one grid". Where the grid stands is planned in floats, on
which nothing rests: a bad plan gives a wide ball, and the pair is then settled alone.
"""

import math
from collections.abc import Iterator, Sequence
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takifugu.divergences.numerics.ball_integrals import Bells, RightTail
from takifugu.divergences.numerics.balls import (
    Bell,
    Effort,
    ExactMixture,
    converges,
    fraction,
    mirrored,
    working_precision,
)
from takifugu.divergences.numerics.envelope import Side
from takifugu.laws import Mixture

if TYPE_CHECKING:
    from flint import acb, arb, fmpq

_BITS = 128
_FEWEST_LAWS = 4  # for fewer the grid is not worth making
_MOST_COMPONENTS, _MOST_NODES, _MOST_WORK = 2_000, 3_000, 400_000  # beyond it pairs are better settled one by one
# Heights of the strip in widths of the narrowest bell: the first in which nothing vanishes is taken.
_HEIGHTS = (1.0, 0.5, 0.25)
_NEGLIGIBLE = 44.0  # −ln of the share of an integral that may be missing; it is 1 or more
_BOXES = 2.0  # to the height of the strip
_SHARP = 44  # bits of an integral, as many as a divergence that is settled alone starts with
_TAIL = 40  # units of work in the bound on the tails of one pair, for each component


class Grid(NamedTuple):
    """Midpoints start + (k + ½)·step, and boxes of `group` steps each, up to `height` off the line; all exact."""

    start: "fmpq"
    step: "fmpq"
    height: "fmpq"
    boxes: int
    group: int

    @property
    def nodes(self) -> int:
        """The number of midpoints."""
        return self.boxes * self.group

    @property
    def end(self) -> "fmpq":
        """Where the window ends."""
        return self.start + self.nodes * self.step

    def midpoints(self) -> "Iterator[fmpq]":
        """The points at which densities are looked at, rational."""
        return (self.start + (2 * k + 1) * self.step / 2 for k in range(self.nodes))


class Row(NamedTuple):
    """One law on the grid: p^α and q^(1-α) at the midpoints, and bounds on both along the edges and over both ends."""

    lead: "list[arb]"
    follow: "list[arb]"
    lead_edges: "list[arb]"
    follow_edges: "list[arb]"
    lead_ends: "list[arb]"
    follow_ends: "list[arb]"


class SharedGrid:
    """The laws after noise, of which pairs are asked for."""

    def __init__(self, laws: Sequence[Mixture], *, alpha: float, theta: float) -> None:
        """Keep what the grid is about; it is made when first asked for."""
        self._given, self._theta, self._alpha = laws, theta, fraction(alpha)
        self._laws: list[tuple[Bell, ...]] = []
        self._grid: Grid | None = None
        self._strips: list[Strip] = []
        self._rows: dict[int, Row] = {}
        self._is_planned = False

    def ball(self, i: int, j: int, effort: Effort) -> "arb | None":
        """A ball around D_α of law i against law j; None where the grid cannot tell."""
        from flint import arb

        with working_precision(_BITS):
            if not self._is_planned:
                self._is_planned = True
                self._plan(effort)
            grid = self._grid
            if grid is None:
                return None
            p, q = self._laws[i], self._laws[j]
            if p == q or not converges(p, q, self._alpha):
                return None
            effort.spend(grid.nodes + _TAIL * (len(p) + len(q)))
            mine, other = self._row(i, effort), self._row(j, effort)
            step, height = arb(grid.step), arb(grid.height)
            inside = step * sum(map(mul, mine.lead, other.follow), arb(0))
            along = 2 * grid.group * step * sum(map(mul, mine.lead_edges, other.follow_edges), arb(0))
            ends = height * sum(map(mul, mine.lead_ends, other.follow_ends), arb(0))
            error = along / ((2 * arb.pi() * height / step).exp() - 1) + ends
            beyond = RightTail(p, q, self._alpha).bound(arb(grid.end))
            beyond += RightTail(mirrored(p), mirrored(q), self._alpha).bound(arb(-grid.start))
            if not error + beyond <= inside * arb((1, -_SHARP)):
                return None
            total = inside + arb(0).union(error) - arb(0).union(error) + arb(0).union(beyond)
            return total.log() / arb(self._alpha - 1)

    def _plan(self, effort: Effort) -> None:
        """Find the grid with the fewest points near which no law vanishes, if any is small enough."""
        size = sum(map(len, self._given))
        if len(self._given) < _FEWEST_LAWS or size > _MOST_COMPONENTS:
            return
        exact = [ExactMixture.after_noise(law, self._theta) for law in self._given]
        if any(law.atoms for law in exact):
            return
        self._laws = [law.bells for law in exact]
        sides = [Side(bells) for bells in self._laws]
        low, high = _window(sides, float(self._alpha))
        narrowest = math.sqrt(min(float(side.variances.min()) for side in sides))
        for share in _HEIGHTS:
            grid = _placed(low, high, share * narrowest, float(self._alpha))
            if grid is None or size * grid.nodes > _MOST_WORK:
                return
            effort.spend(size * grid.boxes)
            found = []
            for bells, side in zip(self._laws, sides, strict=True):
                strip = _over_boxes(Bells(bells, side), grid)
                if strip is None:
                    break
                found.append(strip)
            else:
                self._grid, self._strips = grid, found
                return

    def _row(self, place: int, effort: Effort) -> Row:
        from flint import arb

        if place not in self._rows and self._grid is not None:
            bells, strip = self._laws[place], self._strips[place]
            effort.spend(self._grid.nodes * (len(bells) + 2))
            density = Bells(bells, Side(bells))
            up, down = arb(self._alpha), arb(self._alpha - 1)
            logs = [density.log_density(y) for y in self._grid.midpoints()]
            self._rows[place] = Row(
                [(up * log).exp() for log in logs],
                [(-down * log).exp() for log in logs],
                [(up * bound.most).exp() for bound in strip.edges],
                [(-down * bound.least).exp() for bound in strip.edges],
                [(up * bound.most).exp() for bound in strip.ends],
                [(-down * bound.least).exp() for bound in strip.ends],
            )
        return self._rows[place]


class Bounds(NamedTuple):
    """Two numbers between which ln |p| stays."""

    least: "arb"
    most: "arb"


class Strip(NamedTuple):
    """Bounds on ln |p| along the upper edge of each box, and over the whole of the first and of the last."""

    edges: list[Bounds]
    ends: list[Bounds]


def _over_boxes(bells: Bells, grid: Grid) -> Strip | None:
    """Bounds on a density in the strip; None where it might vanish there.

    The values below the line are the conjugates of those above it, so the upper half stands for both.
    """
    from flint import acb, arb

    half = grid.group * grid.step / 2
    across, height = arb(-half).union(arb(half)), arb(grid.height)
    whole, edge = acb(across, arb(0).union(height)), acb(across, height)
    edges, ends = [], []
    for k in range(grid.boxes):
        centre = arb(grid.start + (2 * k + 1) * half)
        quadratics = []
        for mean, slope, top in bells.balls():
            gap = centre - mean
            quadratics.append((top - slope * gap * gap, -2 * slope * gap, -slope))
        lead = quadratics.pop(max(range(len(quadratics)), key=lambda n: float(quadratics[n][0])))
        over_lead = [tuple(x - y for x, y in zip(one, lead, strict=True)) for one in quadratics]
        inside = _bounded(lead, over_lead, whole)
        if inside is None:
            return None
        if k in (0, grid.boxes - 1):
            ends += [inside] * (2 if grid.boxes == 1 else 1)
        above = _bounded(lead, over_lead, edge)
        edges.append(inside if above is None else above)
    return Strip(edges, ends)


def _bounded(lead: "tuple[arb, ...]", others: "list[tuple[arb, ...]]", u: "acb") -> Bounds | None:
    """Bounds on ln |exp(lead(u))·(1 + Σ exp(other(u)))| for u in a ball; None where it might be the logarithm of 0."""
    from flint import acb

    square = u * u
    total = acb(1)
    for a, b, c in others:
        total += (c * square + b * u + a).exp()
    least, most = total.abs_lower(), total.abs_upper()
    if not (least > 0 and most.is_finite()):
        return None
    a, b, c = lead
    leading = a + b * u.real + c * square.real
    return Bounds((leading + least.log()).lower(), (leading + most.log()).upper())


def _window(sides: list[Side], alpha: float) -> tuple[float, float]:
    """Ends beyond which every integrand is negligible, by the terms of the bound on its tails."""
    beta = alpha - 1.0
    means, variances, heights = (
        np.concatenate([getattr(side, name) for side in sides]) for name in ("means", "variances", "heights")
    )
    low, high = np.inf, -np.inf
    with np.errstate(all="ignore"):
        for side in sides:
            l = int(np.argmax(side.variances))
            n, s = side.means[l], side.variances[l]
            margin = alpha * s - beta * variances
            curve, centre = margin / (variances * s), (alpha * means * s - beta * n * variances) / margin
            size = alpha * heights - beta * side.heights[l] + alpha * beta * (means - n) ** 2 / (2 * margin)
            reach = np.sqrt(2 * np.maximum(_NEGLIGIBLE + size, 1.0) / curve)
            low, high = min(low, float((centre - reach).min())), max(high, float((centre + reach).max()))
    return low, high


def _placed(low: float, high: float, height: float, alpha: float) -> Grid | None:
    """A grid over a window; None where it would have too many points, or the window is none."""
    step = 2 * math.pi * height / _NEGLIGIBLE
    if not (math.isfinite(low) and math.isfinite(high) and step > 0 and high - low <= _MOST_NODES * step):
        return None
    group = max(1, round(height / step / max(_BOXES, 0.25 * alpha)))  # a power of a bound is α times as crude
    boxes = math.ceil((high - low) / (group * step))
    return Grid(fraction(low), fraction(step), fraction(height), boxes, group)
