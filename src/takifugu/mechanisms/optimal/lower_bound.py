"""Nothing can be better: a number that no channel which keeps the promise and the wishes costs less than.

Tangent planes and weak duality (proofs/optimal.md). The multipliers may come from anywhere and be wrong by any amount:
the bound is true for all of them. The tangents are computed in ball arithmetic; what follows are sums of products of
floats, whose rounding errors are bounded term by term and taken off.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, reals
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.finite_problem import Cells
from takifugu.mechanisms.optimal.program import Excess, Indices, Mask, Program, allowed_moves

# The multipliers that prove a lower bound: a handful of arrays, which anyone may write down and check again.


@dataclass(frozen=True, eq=False)
class Duals:
    """Whatever they are, the bound they give is true (proofs/optimal.md); good ones make it tight.

    weights: one number, 0 or more, per constraint of finite order; empty where there is none ratios: outputs ×
    constraints, above 0: where the tangent planes touch odds: outputs × constraints, 0 or more: of p_i(y) ≤ ρ p_j(y);
    empty where the odds are free kept: one per output, of any sign, for keep="marginal"; otherwise empty mean: one for
    keep="mean", one per input for unbiased, otherwise empty; of any sign diagonal: 0 or more, for the promised diagonal
    spread: inputs × outputs, for a radius; otherwise empty
    """

    weights: Array
    ratios: Array
    odds: Array
    kept: Array
    mean: Array
    diagonal: float
    spread: Array

    def to_json(self) -> dict[str, object]:
        """Plain lists and numbers."""
        plain: dict[str, object] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            plain[f.name] = value.tolist() if isinstance(value, np.ndarray) else value
        return plain

    @classmethod
    def from_json(cls, plain: object) -> "Duals":
        """The multipliers that `to_json` wrote; an unknown or missing name is refused."""
        names = {f.name for f in fields(cls)}
        if not isinstance(plain, dict) or set(plain) != names:
            raise InputError(f"duals must hold exactly {', '.join(sorted(names))}")
        arrays = {name: reals(f"duals.{name}", plain[name]) for name in names - {"diagonal"}}
        diagonal = reals("duals.diagonal", plain["diagonal"])
        if diagonal.ndim:
            raise InputError("duals.diagonal must be one number")
        return cls(**arrays, diagonal=float(diagonal))

    def checked(self, program: Program) -> "Duals":
        """The same multipliers, if they fit the program and have the signs the proof needs.

        Args:
            program: that they are to prove a bound of.

        Returns:
            Themselves, with the shapes of the program.

        Raises:
            InputError: for a wrong shape, a NaN, or a sign that the proof does not allow.
        """
        for name, shape in _shapes(program).items():
            given = getattr(self, name)
            if given.size == 0 and 0 in shape:
                object.__setattr__(self, name, np.zeros(shape))
            elif given.shape != shape:
                raise InputError(f"duals.{name} must have the shape {shape} for this program, got {given.shape}")
            if not np.isfinite(given).all():
                raise InputError(f"duals.{name} must be finite")
        signed = (self.weights >= 0).all() and (self.odds >= 0).all() and (self.ratios > 0).all()
        if not signed or not 0 <= self.diagonal < np.inf or (self.diagonal > 0 and program.diagonal is None):
            raise InputError("duals of inequalities must be 0 or more, and ratios above 0")
        return self


def _shapes(program: Program) -> dict[str, tuple[int, ...]]:
    """The shape of every array of multipliers; one of them is 0 where the program asks for nothing of the kind."""
    n, m = program.size
    count = len(program.constraints)
    orders, ratios = (count if program.bounds_divergence else 0), (count if program.factor < np.inf else 0)
    return {
        "weights": (orders,),
        "ratios": (m, orders),
        "odds": (m, ratios),
        "kept": (m if program.keep == "marginal" else 0,),
        "mean": (n if program.unbiased else 1 if program.keep == "mean" else 0,),
        "spread": (n, m) if program.radius is not None else (0, 0),
    }


def no_duals(program: Program) -> Duals:
    """Multipliers that prove what the loss alone proves."""
    nothing = {name: np.zeros(shape) for name, shape in _shapes(program).items()}
    return Duals(**nothing | {"ratios": np.ones_like(nothing["ratios"])}, diagonal=0.0)


UNIT = 2.0**-53
TINY = 1e-290  # above the sum of whatever underflows to zero
UNDERFLOW = 1e-270  # of a coefficient, where the share it is multiplied by may have underflowed
_PRECISION = 128
_TOGETHER = 1 << 21  # outputs × constraints that are added up together
_ROOM = 1e-10  # of a bound, between what is proved and what is said


@dataclass(frozen=True)
class Tangents:
    """Planes that lie below the promise: λG(p, q) ≥ slope_p·p + slope_q·q, m × C each, and λα/(C−1), λ(α−1)/(C−1)."""

    slope_p: Array
    slope_q: Array
    lift_p: Array
    lift_q: Array


@dataclass(frozen=True)
class Bracket:
    """What a unit of K(y|x) costs in the Lagrangian, a bound on the rounding error of that, and the constant."""

    value: Array
    error: Array
    constant: float


def lower_bound(program: Program, duals: Duals) -> float:
    """A proved lower bound on the cost of every channel on this alphabet that keeps the promise and the wishes.

    Weak duality: for any multipliers of the right signs the least of the Lagrangian over all channels is a lower bound.
    It is computed input by input, with every rounding error taken off, so that the bound holds whoever made the
    multipliers.

    Args:
        program: the problem.
        duals: the multipliers.

    Returns:
        The bound, 0 where something overflowed: a loss is never negative.
    """
    tangents = proved_tangents(program, duals.checked(program))
    with np.errstate(all="ignore"):  # what overflows is not finite in the end, and then nothing is claimed
        at = bracket(program, duals, tangents)
        rows = least(at, allowed_moves(program))
    return total(rows, at.constant)


def estimate(program: Program, duals: Duals, allowed: Mask) -> float:
    """The same bound up to rounding errors, quickly: for the solver to see how far it has come.

    Args:
        program: the problem.
        duals: the multipliers.
        allowed: which moves a channel may make.

    Returns:
        The bound in floats, which proves nothing.
    """
    at = bracket(program, duals, float_tangents(program, duals))
    return float(least(at, allowed).sum() + at.constant)


def least(at: Bracket, allowed: Mask) -> Array:
    """Per input, the least that any possible output costs in the Lagrangian, rounding errors taken off."""
    return np.asarray(np.where(allowed, at.value - at.error, np.inf).min(axis=1))


def total(rows: Array, constant: float) -> float:
    """The sum, rounded down; zero where it is less, because a loss is never negative.

    Args:
        rows: what each input costs at least.
        constant: what is added to all of them.

    Returns:
        A float that is not above the exact sum.
    """
    if not np.isfinite(rows).all() or not math.isfinite(constant):
        return 0.0  # what every channel costs at least; an overflow proves nothing more
    found = _sum([*rows.tolist(), constant])
    return max(0.0, math.nextafter(found, -math.inf)) if math.isfinite(found) else 0.0


def to_state(proved: float, cost: float) -> float:
    """What is said of a proved bound: a hair less, so that a machine that rounds otherwise proves it again.

    And no more than what was found costs, which is itself computed in floats: a bound must not contradict it.

    Args:
        proved: the bound, as it was proved here.
        cost: what the channel that was found costs.

    Returns:
        The bound that a certificate states.
    """
    return min(proved * (1 - _ROOM), cost)


def _sum(numbers: Iterable[float]) -> float:
    """Their sum; infinite where `math.fsum` gives up, as multipliers from a stranger's file can make it."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.inf


def bracket(program: Program, duals: Duals, tangents: Tangents) -> Bracket:
    """The Lagrangian's coefficients, with a bound on their rounding errors."""
    pooled = program.pooled
    # No entry passes through more roundings than this: dividing by a sum of n weights, summing over the constraints of
    # a law, then over the laws that have any, then a handful of products and sums. Bounds on |terms| instead of on the
    # result make cancellation harmless.
    steps = (program.size[0] + 4 * len(program.constraints) + 24) * UNIT * 1.1
    law_part, size = _promised(program, duals, tangents, steps)
    constant, constant_size = -_sum(duals.weights), 0.0
    if program.keep == "marginal":
        law_part = law_part + pooled[:, None] * duals.kept
        size = size + pooled[:, None] * np.abs(duals.kept)
        constant -= float(duals.kept @ pooled)
        constant_size += float(np.abs(duals.kept) @ pooled)
    value, size = program.cost + law_part, size + program.cost + UNDERFLOW * program.loss
    if program.inputs is not None and program.outputs is not None and (program.unbiased or program.keep == "mean"):
        tilt = duals.mean[:, None] if program.unbiased else duals.mean * pooled[:, None]
        value, size = value + tilt * program.outputs, size + np.abs(tilt * program.outputs)
        constant -= float(tilt[:, 0] @ program.inputs)
        constant_size += float(np.abs(tilt[:, 0]) @ np.abs(program.inputs))
    if program.diagonal is not None:
        value = value - np.diag(duals.diagonal * pooled)
        size = size + np.diag(duals.diagonal * pooled)
        constant += duals.diagonal * program.diagonal
        constant_size += duals.diagonal
    constant -= steps * (constant_size + abs(constant) + _sum(duals.weights)) + TINY
    return Bracket(value, steps * size + TINY, constant)


def _promised(program: Program, duals: Duals, tangents: Tangents, steps: float) -> tuple[Array, Array]:
    """What the promises add to the cost of a unit of K(y|x), n × m, and the sum of the sizes of what was added up."""
    left, right, m, laws = program.left, program.right, program.size[1], len(program.laws)
    reach = program.reach
    whole, whole_size = np.zeros((2, m, laws))  # coefficients of p_s
    pressure = pressure_size = np.zeros(m)  # the coefficient of w
    if duals.weights.size:
        plus, minus = np.abs(tangents.slope_p), np.abs(tangents.slope_q)
        whole = _of_laws(tangents.slope_p, left, laws) + _of_laws(tangents.slope_q, right, laws)
        whole_size = _of_laws(plus, left, laws) + _of_laws(minus, right, laws)
        up, down = tangents.slope_p + tangents.lift_p, tangents.slope_q - tangents.lift_q
        pressure = pressure + up @ reach[left] - down @ reach[right]
        pressure_size = (plus + np.abs(tangents.lift_p)) @ reach[left]
        pressure_size = pressure_size + (minus + np.abs(tangents.lift_q)) @ reach[right]
    if duals.odds.size:
        more, less = _of_laws(duals.odds, left, laws), program.factor * _of_laws(duals.odds, right, laws)
        whole, whole_size = whole + (more - less), whole_size + (more + less)
        grip = duals.odds @ (reach[left] + program.factor * reach[right])
        pressure, pressure_size = pressure + grip, pressure_size + grip
    value, size = program.shares.T @ whole.T, program.shares.T @ whole_size.T
    size = size + UNDERFLOW * whole_size.sum(axis=1)
    if program.radius is not None:
        apart = _balanced(duals.spread, pressure - steps * pressure_size - TINY)
        value, size = value + apart, size + np.abs(apart)
    return value, size


def _of_laws(coefficients: Array, at: Indices, laws: int) -> Array:
    """The sums, m × S, of coefficients m × C over the constraints that have a law at this side."""
    found = np.empty((len(coefficients), laws))
    together = max(1, _TOGETHER // max(1, at.size))
    for k in range(0, len(found), together):  # of a million pairs all outputs at once would be all memory
        some = coefficients[k : k + together]
        places = np.arange(len(some))[:, None] * laws + at
        sums = np.bincount(places.ravel(), weights=some.ravel(), minlength=len(some) * laws)
        found[k : k + together] = sums.reshape(len(some), laws)
    return found


def _balanced(spread: Array, pressure: Array) -> Array:
    """The nearest e with Σ_x e ≤ 0 and Σ_x max(e, 0) ≤ pressure(y), which is what the proof asks of it."""
    above, below = np.maximum(spread, 0.0), np.maximum(-spread, 0.0)
    safe = 1.0 - 4.0 * (len(spread) + 4) * UNIT
    sums = above.sum(axis=0)
    most = np.minimum(np.maximum(pressure, 0.0), below.sum(axis=0)) * safe
    share = np.minimum(1.0, most / np.maximum(sums, TINY)) * safe
    return np.asarray(above * share - below)


def float_tangents(program: Program, duals: Duals) -> Tangents:
    """The tangent planes in floats."""
    if not duals.weights.size:
        return Tangents(*np.zeros((4, 1, 1)))
    excess = Excess(program.alpha, program.log_budget)
    slope_p, slope_q = excess.slopes(duals.ratios)
    lift = duals.weights * excess.scale
    return Tangents(slope_p * duals.weights, slope_q * duals.weights, program.alpha * lift, (program.alpha - 1) * lift)


def proved_tangents(program: Program, duals: Duals) -> Tangents:
    """The tangent planes, every slope rounded down: p and q are not negative, so the plane only sinks."""
    if not duals.weights.size:
        return Tangents(*np.zeros((4, 1, 1)))
    return tangents_at(program.alpha, program.epsilon, duals.weights, duals.ratios)


def tangents_at(order: float, epsilon: float, weights: Array, ratios: Array) -> Tangents:
    """Planes below a guarantee of finite order, at any ratios above 0, every slope rounded down.

    Args:
        order: above 1.
        epsilon: the budget.
        weights: of each pair, 0 or more.
        ratios: outputs by pairs.

    Returns:
        The planes; infinite slopes where floats do not hold them, which prove nothing.
    """
    from flint import arb, ctx

    before = ctx.prec
    ctx.prec = _PRECISION
    try:
        alpha = arb(order)
        less_one = alpha - 1
        scale = 1 / (less_one * arb(epsilon)).expm1()
        slope_p, slope_q = np.zeros_like(ratios), np.zeros_like(ratios)
        lift_p, lift_q = np.zeros_like(weights), np.zeros_like(weights)
        for c, weight in enumerate(weights.tolist()):
            if weight == 0.0:
                continue
            over = arb(weight) * scale
            lift_p[c], lift_q[c] = _down(alpha * over), _down(less_one * over)
            for y, ratio in enumerate(ratios[:, c].tolist()):
                log = arb(ratio).log()
                slope_p[y, c] = _down(alpha * over * (less_one * log).expm1())
                slope_q[y, c] = _down(-less_one * over * (alpha * log).expm1())
    finally:
        ctx.prec = before
    return Tangents(slope_p, slope_q, lift_p, lift_q)


def _down(ball: object) -> float:
    """A float that is no larger than anything in the ball."""
    lower = float(ball.lower())  # type: ignore[attr-defined]
    return -math.inf if math.isnan(lower) else math.nextafter(lower, -math.inf)


# Pricing: which outputs cost each input least at some prices, exactly, and without a look at most of them.
#
# Outputs lie in blocks that cost alike. The least of a block's losses, entry by entry, and of its prices is what a
# stand-in would cost that is dearer than no output of the block, whatever the input: rates and laws are never negative.
# A block whose stand-in costs an input more than what was found elsewhere is left out whole: branch and bound, of two
# levels (Land and Doig 1960). What is left out is proved to be, in floats too (proofs/sparse.md).

_AT_ONCE = 4_000_000  # moves that are priced together
_BLOCK = 32  # outputs that one stand-in is for, at most
_NEARBY = 4  # blocks of outputs that lie close together, which their prices tell apart
_LOOKS = 3  # blocks of an input that are looked at for a limit to what others may cost
_FEWEST = 2_000  # outputs that are worth a second look at their blocks
_SPARSE = 8  # times as many as entries of all columns: where tables are as large as the program, blocks save nothing


@dataclass(frozen=True, eq=False)
class _Offers:
    """What outputs cost: rate(x)·(Σ_c table_c(x, y) + kept(y)) + Σ_s law_s(x)·price_s(y), by places of the outputs.

    tables: for each column, entries of the inputs by outputs
    """

    codes: Indices
    rate: Array
    laws: Array
    tables: tuple[Array, ...]
    prices: Array
    kept: Array

    def values(self, some: Indices, places: slice) -> Array:
        """The cost of each of some inputs at each of some outputs."""
        return self._sums(some, places, self.prices, self.kept)

    def sizes(self, some: Indices, places: slice) -> Array:
        """The same with every term without its sign: what the roundings of `values` are a share of."""
        return self._sums(some, places, np.abs(self.prices), np.abs(self.kept))

    def _sums(self, some: Indices, places: slice, prices: Array, kept: Array) -> Array:
        first, *others = zip(self.codes, self.tables, strict=True)
        total: Array = first[1][:, places].take(first[0][some], axis=0)
        for code, table in others:
            total += table[:, places].take(code[some], axis=0)
        if kept.size:
            total += kept[places]
        total *= self.rate[some, None]
        if len(self.laws):
            total += self.laws[:, some].T @ prices[:, places]
        return total

    def traces(self) -> Array:
        """What underflows may take from the cost at each output."""
        small = UNDERFLOW * (np.abs(self.prices).sum(axis=0) + sum(table.max(axis=0) for table in self.tables))
        return np.asarray(small + (UNDERFLOW * np.abs(self.kept) if self.kept.size else 0.0) + TINY)

    def stand_ins(self, starts: Indices) -> "_Offers":
        """For each stretch of the outputs one that costs no input more than any output in it."""
        tables = tuple(np.minimum.reduceat(table, starts, axis=1) for table in self.tables)
        prices = np.minimum.reduceat(self.prices, starts, axis=1) if len(self.prices) else self.prices[:, : len(starts)]
        kept = np.minimum.reduceat(self.kept, starts) if self.kept.size else self.kept
        return _Offers(self.codes, self.rate, self.laws, tables, prices, kept)


class Cheapest(NamedTuple):
    """What each input costs at its cheapest output, and moves, as input × outputs + place of the output."""

    least: Array
    moves: Indices


class Pricing:
    """The moves between values and outputs, at any prices of what the laws publish."""

    def __init__(
        self, cells: Cells, outputs: Indices, *, rate: Array, laws: Array, dtype: npt.DTypeLike = np.float64
    ) -> None:
        """What hangs on no price.

        Args:
            cells: what it costs to publish one value as another.
            outputs: the values that may be published.
            rate: of each input, what a unit of loss counts; not negative.
            laws: rows over the inputs, not negative, that the prices are of.
            dtype: of floats of half the length where nothing is proved.
        """
        self._codes, self._dtype = cells.codes, dtype
        self._rate, self._laws = rate.astype(dtype), laws.astype(dtype)
        self._tables = tuple(
            table[:, place[outputs]].astype(dtype) for table, place in zip(cells.tables, cells.published, strict=True)
        )
        self._inputs, self._width = int(cells.codes.shape[1]), len(outputs)
        self._nearby = [np.arange(self._width)]
        self._is_pruned = self._width >= _FEWEST and _SPARSE * sum(map(len, cells.tables)) <= self._width
        if self._is_pruned:
            there = Cells(cells.published[:, outputs], cells.published[:, outputs], cells.tables, cells.is_ordered)
            parts = there.parts(np.random.default_rng(0), most=_BLOCK * _NEARBY, least=lambda _: True)
            self._nearby = _joined(parts, least=_BLOCK * _NEARBY // 2)

    def cheapest(self, prices: Array, *, below: Array, number: int, kept: Array | None = None) -> Cheapest:
        """The cheapest outputs of every input, and so many moves of it at most that cost no more than `below`.

        Args:
            prices: a row for each law, by outputs.
            below: of each input, what a move must cost less than to be named; inf for any.
            number: how many moves of an input are named.
            kept: what a unit of each output costs itself, at the rate of the input.

        Returns:
            The least costs and moves of all the outputs, as floats see them.
        """
        offers, order, starts = self._offers(prices, kept)
        least, found = np.empty(self._inputs, dtype=self._dtype), []
        number = min(number, self._width)
        blocks = offers if len(starts) == 1 else offers.stand_ins(starts)
        limits = below.astype(self._dtype)
        for some in self._chunks(len(starts)):
            if len(starts) == 1:
                value = offers.values(some, slice(None))
                least[some] = value.min(axis=1)
                rows = np.flatnonzero(least[some] < limits[some])
                best = np.argpartition(value[rows], number - 1, axis=1)[:, :number]
                cheaper = np.take_along_axis(value[rows], best, axis=1) < limits[some[rows], None]
                found.append((some[rows, None] * self._width + order[best])[cheaper])
                continue
            there = _Search(offers, starts, some, blocks.values(some, slice(None)))
            near = np.full((len(some), max(number, there.looks * there.longest)), np.inf, dtype=self._dtype)
            for look in range(there.looks):
                for rows, places in there.best(look):
                    start = look * there.longest
                    near[rows, start : start + places.stop - places.start] = offers.values(some[rows], places)
            near = np.partition(near, number - 1, axis=1)[:, :number]
            limit, first = np.minimum(limits[some], near.max(axis=1)), near.min(axis=1)
            cut = np.maximum(first, limit)
            named: list[tuple[Indices, Indices, Array]] = []
            for rows, places in there.not_above(cut):
                value = offers.values(some[rows], places)
                row, place = np.nonzero(value <= cut[rows, None])
                named.append((rows[row], place + places.start, value[row, place]))
            row, place, cost = (np.concatenate(column) for column in zip(*named, strict=True))
            np.minimum.at(first, row, cost)
            least[some] = first
            row, place, cost = (column[cost <= limit[row]] for column in (row, place, cost))
            chosen = _first_of(row, cost, number)
            found.append(some[row[chosen]] * self._width + order[place[chosen]])
        return Cheapest(least.astype(np.float64), np.concatenate(found).astype(np.int64))

    def least_proved(self, prices: Array, *, roundings: float, kept: Array | None = None) -> Array:
        """What every input costs at least, at any output, rounded down.

        Args:
            prices: a row for each law, by outputs.
            roundings: the share of the sum of its terms, without their signs, that a cost in floats may be off by.
            kept: what a unit of each output costs itself, at the rate of the input.

        Returns:
            A number for each input that is not above its cost at any output, nan where floats overflow.
        """
        offers, _, starts = self._offers(prices, kept)
        blocks = offers if len(starts) == 1 else offers.stand_ins(starts)
        traces, of_blocks = offers.traces(), blocks.traces()
        least = np.empty(self._inputs)
        for some in self._chunks(len(starts)):
            lower = blocks.values(some, slice(None)) - roundings * blocks.sizes(some, slice(None)) - of_blocks
            if len(starts) == 1:
                least[some] = lower.min(axis=1)
                continue
            there = _Search(offers, starts, some, lower)
            found = np.full(len(some), np.inf)
            for looked_at in (there.best(0), there.not_above(found)):
                for rows, places in looked_at:
                    value = offers.values(some[rows], places) - roundings * offers.sizes(some[rows], places)
                    found[rows] = np.minimum(found[rows], (value - traces[places]).min(axis=1))
            least[some] = found
        return least

    def _chunks(self, blocks: int) -> Iterator[Indices]:
        step = max(1, _AT_ONCE // (self._width if blocks == 1 else blocks))
        for start in range(0, self._inputs, step):
            yield np.arange(start, min(self._inputs, start + step))

    def _offers(self, prices: Array, kept: Array | None) -> tuple[_Offers, Indices, Indices]:
        """The outputs in an order in which blocks cost alike, that order, and where the blocks begin."""
        prices = prices.astype(self._dtype)
        kept = np.zeros(0, dtype=self._dtype) if kept is None else kept.astype(self._dtype)
        offers = _Offers(self._codes, self._rate, self._laws, self._tables, prices, kept)
        if not self._is_pruned:
            return offers, np.arange(self._width), np.zeros(1, dtype=np.intp)
        order, starts, start = [], [], 0
        for part in self._nearby:
            if len(prices):
                there = prices[:, part]
                part = part[np.lexsort((there.min(axis=0), there.argmin(axis=0)))]
            order.append(part)
            blocks = -(-len(part) // _BLOCK)
            starts.append(start + np.arange(blocks) * len(part) // blocks)
            start += len(part)
        sequence = np.concatenate(order)
        tables = tuple(table[:, sequence] for table in self._tables)
        offers = _Offers(
            self._codes, self._rate, self._laws, tables, prices[:, sequence], kept[sequence] if kept.size else kept
        )
        return offers, sequence, np.concatenate(starts)


class _Search:
    """The blocks of outputs that are looked at for some inputs, by what they cost at least."""

    def __init__(self, offers: _Offers, starts: Indices, some: Indices, lower: Array) -> None:
        self._starts, self._ends = starts, np.append(starts[1:], offers.tables[0].shape[1])
        self._lower = np.ascontiguousarray(lower.T)
        self.looks = min(_LOOKS, len(starts))
        likely = np.argpartition(lower, range(self.looks), axis=1)[:, : self.looks]
        self._likely = np.ascontiguousarray(likely.T)

    @property
    def longest(self) -> int:
        """The most outputs of a block."""
        return int((self._ends - self._starts).max())

    def best(self, look: int) -> Iterator[tuple[Indices, slice]]:
        """Each input with the block that may be the cheapest, or the next: the inputs of a block, and its outputs."""
        likely = self._likely[look]
        order = np.argsort(likely, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(likely[order])) + 1):
            yield rows, self._places(int(likely[rows[0]]))

    def not_above(self, limit: Array) -> Iterator[tuple[Indices, slice]]:
        """The inputs of every block that may cost less than a limit, as it is when the block's turn comes.

        And of those that were looked at for the limit, which ties with it leave in the dark.
        """
        for block in range(len(self._starts)):
            # What overflows is nan, and looked at.
            rows = np.flatnonzero(~(self._lower[block] >= limit) | (self._likely == block).any(axis=0))
            if rows.size:
                yield rows, self._places(block)

    def _places(self, block: int) -> slice:
        return slice(int(self._starts[block]), int(self._ends[block]))


def _first_of(row: Indices, cost: Array, number: int) -> Indices:
    """The places of the cheapest of each row, so many at most."""
    order = np.lexsort((cost, row))
    rank = np.arange(len(row)) - np.searchsorted(row[order], row[order])
    return np.asarray(order[rank < number])


def _joined(parts: list[Indices], *, least: int) -> list[Indices]:
    """Parts that stand beside one another as one, until each holds so many outputs."""
    found: list[Indices] = []
    for part in parts:
        if found and len(found[-1]) < least:
            found[-1] = np.concatenate([found[-1], part])
        else:
            found.append(part)
    if len(found) > 1 and len(found[-1]) < least:
        last = found.pop()
        found[-1] = np.concatenate([found[-1], last])
    return found
