"""The restricted master problem of column generation: some moves of a channel, priced by HiGHS that is kept warm.

Every round adds the moves that would lower the cost, and HiGHS goes on from the basis it has, in place of a linear
program that is written down and solved anew. Nothing rests on it: its shares are repaired and proved, and any prices
prove a bound (proofs/sparse.md). For many laws an interior point does the same for some of the outputs.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu._work import detail, interruptible, tell
from takifugu.mechanisms.optimal.finite_problem import Cells
from takifugu.mechanisms.optimal.interior_point import interior_point
from takifugu.mechanisms.optimal.lower_bound import Duals, Pricing
from takifugu.mechanisms.optimal.program import Indices, Mask, Program, allowed_moves
from takifugu.mechanisms.optimal.tangent_cuts import Answer, FiniteOrder, TangentCuts, Touching

if TYPE_CHECKING:
    from highspy import Highs


@dataclass(frozen=True, eq=False)
class ColumnProgram:
    """Bounded odds on thousands of values: for every output and group, no law of it is above `odds` times another.

    laws: probabilities, one row per law; groups: rows that are all to be hidden from one another mass: how much each
    input counts in the loss; cells: the loss itself order: a guarantee of finite order beside the odds, which may be
    infinite then, with no groups lean, floor: each law's published probability p is counted as p +
    lean·(p + floor) where it is the larger, and as
        p − lean·(p + floor) where it is the smaller; zero where nothing is kept in hand for what is not known
    keeps_marginal: whether every value is published as often, on average, as it is there
    """

    laws: Array
    groups: tuple[tuple[int, ...], ...]
    mass: Array
    cells: Cells
    odds: float
    lean: float
    floor: Array
    keeps_marginal: bool = False
    order: FiniteOrder | None = None

    @property
    def members(self) -> list[int]:
        """The laws of each group, group after group: a law of several groups stands there several times."""
        return [law for group in self.groups for law in group]

    @property
    def hidden(self) -> list[int]:
        """The laws that the guarantee is about."""
        return sorted({*self.members, *(() if self.order is None else self.order.laws)})

    @property
    def contrast(self) -> float:
        """The logarithm of odds that are about as far apart as what is published may be."""
        log = float(np.log(self.odds))
        return log if self.order is None else min(log, self.order.contrast)

    @property
    def size(self) -> int:
        """The number of values."""
        return int(self.laws.shape[1])


class Generated(NamedTuple):
    """Moves and their shares, and what proves that others would save little.

    limits: what a unit of each row of the odds costs, rows by outputs (`Master.rows`) prices: the same of the
    probability of each of `ColumnProgram.members` kept: what a unit of each output costs, where the marginal is
    preserved gap: how much of the cost more moves might save, as floats see it touching: where planes of a finite order
    touch
    """

    sources: Indices
    targets: Indices
    shares: Array
    limits: Array
    prices: Array
    kept: Array
    gap: float
    touching: Touching | None = None


_NEW = 12  # moves that prices may add to an input in a round
_CLOSE = 2e-3  # the share of the cost that further moves may yet save, and are not looked for
_LEAST = 1e-7  # of the largest loss: what a move must save to be offered
_PAIRS = 3  # laws of a group: of so many there are no more pairs than rows with a level between them
_LIGHT = 1e-6  # of an average input: lighter ones are counted as if they were as heavy, in a row of their own
_PENALTY = 10.0  # of the largest loss, for a marginal that is missed
_DUST = 1e-9  # of an average input: what HiGHS may be wrong by
_TOLERANCE = 1e-9
_MISSED = 1e-9  # of all that is published: what a preserved marginal may be off by


class Master:
    """A linear program over moves that grows: a row for each input, and for each output those of its odds.

    A move is counted in units w(x) of its input: z = w(x)·K(y|x) with Σ_y z = w(x), so that the entries P_s(x)/w(x) of
    the odds are of the size of one. Of groups of two or three laws each pair has a row, p_i ≤ ρ p_j; of larger ones,
    and with a lean, each law has two, around a level of the output that is a variable.
    """

    def __init__(self, program: ColumnProgram, outputs: Indices) -> None:
        """No moves yet."""
        self.program, self.outputs, self.width = program, outputs, len(outputs)
        size = program.size
        heavy = np.maximum(program.mass, program.laws.mean(axis=0))
        self.weight = np.maximum(heavy, _LIGHT / size)
        self.rate = program.mass / self.weight
        self.unit = max(*(float(table.max()) for table in program.cells.tables), 1e-300)
        ratios = program.laws / self.weight
        self.rows = _Rows.of(program, ratios)
        self.lines = [*self.rows.entries, *([self.rate] if program.keeps_marginal else [])]
        priced = list(program.members)
        if program.order is not None:
            self.lines += [ratios[law] for law in program.order.laws]
            priced += program.order.laws
        self.pricing = Pricing(program.cells, outputs, rate=self.rate, laws=ratios[priced], dtype=np.float32)
        self.cuts: TangentCuts | None = None
        self.moved = np.zeros(0, dtype=np.int64)  # columns of the moves
        self.keys = np.zeros(0, dtype=np.int64)
        self.cost = np.zeros(0)
        self.highs = _started()
        self._add_rows()

    def _add_rows(self) -> None:
        size, width = self.program.size, self.width
        given = self.weight * size
        low = [given, *(np.full(width, -np.inf) for _ in self.rows.limits)]
        high = [given, *(np.full(width, limit * size) for limit in self.rows.limits)]
        if self.program.keeps_marginal:
            low.append(self.program.mass[self.outputs] * size)
            high.append(low[-1])
        nothing = np.zeros(width)
        shown = [] if self.program.order is None else [nothing] * len(self.program.order.laws)
        lower, upper = np.concatenate(low + shown), np.concatenate(high + shown)
        none = np.zeros(0, dtype=np.int32)
        self.highs.addRows(lower.size, lower, upper, 0, none, none, np.zeros(0))
        at = np.arange(width)
        for levels in self.rows.levels:
            where = np.array([place for place, _ in levels], dtype=np.int64)
            entries = np.array([entry for _, entry in levels])
            rows = size + where[None, :] * width + at[:, None]
            self._add_columns(np.zeros(width), rows, np.tile(entries, (width, 1)))
        self.levels = width * len(self.rows.levels)
        self.slack = 0
        if self.program.keeps_marginal:
            # What keeps the program solvable while the moves that keep the marginal are not all there yet.
            rows = size + len(self.rows.limits) * width + at[:, None]
            for sign in (1.0, -1.0):
                self._add_columns(np.full(width, _PENALTY), rows, np.full((width, 1), sign))
            self.slack = 2 * width
        if self.program.order is not None:
            first = size + (len(self.lines) - len(self.program.order.laws)) * width
            self.cuts = TangentCuts(self.program.order, self.highs, width=width, size=size, rows=first)

    def _add_columns(self, cost: Array, rows: npt.NDArray[np.integer], entries: Array) -> None:
        count, each = rows.shape
        starts = np.arange(0, count * each, each, dtype=np.int32)
        self.highs.addCols(
            count,
            cost,
            np.zeros(count),
            np.full(count, np.inf),
            count * each,
            starts,
            rows.ravel().astype(np.int32),
            entries.ravel(),
        )

    def offer(self, keys: Indices) -> int:
        """Add moves, as input × outputs + place of the output, and say how many of them are new.

        Args:
            keys: the moves.

        Returns:
            A number; 0 says that pricing has nothing more to offer.
        """
        new = np.setdiff1d(keys, self.keys)
        if not new.size:
            return 0
        sources, places = new // self.width, new % self.width
        cost = self.rate[sources] * self.program.cells.along(sources, self.outputs[places])
        rows = [sources, *(self.program.size + k * self.width + places for k in range(len(self.lines)))]
        entries = [np.ones(new.size), *(entry[sources] for entry in self.lines)]
        self.moved = np.concatenate([self.moved, self.highs.getNumCol() + np.arange(new.size)])
        self._add_columns(cost / self.unit, np.stack(rows, axis=1), np.stack(entries, axis=1))
        self.keys, self.cost = np.concatenate([self.keys, new]), np.concatenate([self.cost, cost])
        return int(new.size)

    def solve(self) -> "Round | None":
        """The best shares of the moves offered so far; None where HiGHS finds none.

        Returns:
            Amounts and prices. HiGHS goes on from the basis of the round before, which is most of why many rounds are
            quick.
        """
        interruptible(self.highs.run)
        import highspy

        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.highs.clearSolver()  # once in a while a basis leads nowhere that another one leads on from
            interruptible(self.highs.run)
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        found, size, width = self.highs.getSolution(), self.program.size, self.width
        variables = np.maximum(np.array(found.col_value), 0.0)
        missed = float(variables[self.levels : self.levels + self.slack].sum())
        priced = -self.unit * np.array(found.row_dual)
        limits = len(self.rows.limits)
        rows = priced[size:][: len(self.lines) * width].reshape(-1, width)
        kept = rows[limits] if self.program.keeps_marginal else np.zeros(0)
        moved = variables[self.moved]
        return Round(
            amounts=moved,
            cost=float(self.cost @ moved) / size,
            worth=-priced[:size],
            limits=np.maximum(rows[:limits], 0.0),
            kept=kept,
            missed=missed / size,
            cuts=None if self.cuts is None else self.cuts.read(found, self.unit),
        )

    def priced(self, now: "Round") -> tuple[Indices, float]:
        """Moves that would lower the cost, and about what no channel costs less than at these prices.

        In floats of half the length: what is proved is computed anew.

        Args:
            now: the round, whose prices are used.

        Returns:
            A few moves with negative reduced costs for each input that has any, and the Lagrangian bound.
        """
        tiny = _LEAST * self.unit
        prices = self.rows.to_members(now.limits)
        if now.cuts is not None and self.program.order is not None:
            prices = np.vstack([prices, now.cuts.touching.prices(self.program.order)])
        least, moves = self.pricing.cheapest(
            prices,
            below=now.worth - tiny,
            number=_NEW,
            kept=now.kept if self.program.keeps_marginal else None,
        )
        bound = float(self.weight @ least)
        bound -= sum(float(line.sum()) * limit for line, limit in zip(now.limits, self.rows.limits, strict=True))
        if self.program.keeps_marginal:
            bound -= float(now.kept @ self.program.mass[self.outputs])
        if now.cuts is not None:
            bound -= float(now.cuts.touching.weights.sum())
        return moves, bound

    def channel(self, last: "Round", proof: "Round", bound: float) -> Generated:
        """The shares of the last round, and the prices of the round that proves the most."""
        sources, targets = self.offered(last)
        kept = last.amounts > _DUST * np.minimum(1.0, self.weight * self.program.size)[sources]
        # HiGHS may leave an input out that hardly anybody has: it goes where it costs least, and repair has its say.
        order = np.lexsort((self.cost[: kept.size], sources))
        cheapest = order[np.searchsorted(sources[order], np.arange(self.program.size))]
        lost = cheapest[np.bincount(sources[kept], minlength=self.program.size) == 0]
        kept[lost] = True
        amounts = last.amounts.copy()
        amounts[lost] = 1.0
        sources, targets, amounts = sources[kept], targets[kept], amounts[kept]
        shares = amounts / np.bincount(sources, weights=amounts, minlength=self.program.size)[sources]
        gap = (last.cost - bound) / max(last.cost, 1e-300)
        prices = self.rows.to_members(proof.limits)
        touching = None if proof.cuts is None else proof.cuts.touching
        return Generated(sources, targets, shares, proof.limits, prices, proof.kept, gap, touching)

    def offered(self, now: "Round") -> tuple[Indices, Indices]:
        """Sources and targets of the moves that a round was solved with."""
        keys = self.keys[: now.amounts.size]
        return keys // self.width, self.outputs[keys % self.width]


class Round(NamedTuple):
    """What HiGHS found: amounts of the moves, their cost, what each input and each row of the odds is worth."""

    amounts: Array
    cost: float
    worth: Array
    limits: Array
    kept: Array
    missed: float
    cuts: Answer | None = None

    @property
    def over(self) -> float:
        """By how much what is published is over the budget of a finite order, as a part of it."""
        return -1.0 if self.cuts is None else self.cuts.over


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of an output's odds: what each input adds to them, their limits, and the levels in them.

    entries: for each row, a number for each input, in units of its weight levels: for each group, the rows that its
    level is in and with what factor; none where the rows are pairs signs: rows by members: how much of a member's
    probability is in the row
    """

    entries: list[Array]
    limits: list[float]
    levels: list[list[tuple[int, float]]]
    signs: Array

    @classmethod
    def of(cls, program: ColumnProgram, ratios: Array) -> "_Rows":
        """Of pairs where there are few laws in a group, and around a level otherwise."""
        lean, odds = program.lean, program.odds
        lines: list[dict[int, float]] = []  # of each row, the factor of each member
        limits: list[float] = []
        levels: list[list[tuple[int, float]]] = []
        first = 0
        for group in program.groups:
            places = range(first, first + len(group))
            if lean == 0 and len(group) <= _PAIRS:
                lines += [{i: 1.0, j: -odds} for i in places for j in places if i != j]
                limits += [0.0] * (len(group) * (len(group) - 1))
            else:
                # level ≤ p − lean(p + floor) and p + lean(p + floor) ≤ odds·level
                levels.append([])
                for law, place in zip(group, places, strict=True):
                    floor = lean * float(program.floor[law])
                    levels[-1] += [(len(lines), 1.0), (len(lines) + 1, -odds)]
                    lines += [{place: -(1 - lean)}, {place: 1 + lean}]
                    limits += [-floor, -floor]
            first += len(group)
        members = program.members
        signs = np.zeros((len(lines), len(members)))
        for row, line in zip(signs, lines, strict=True):
            row[list(line)] = list(line.values())
        return cls(list(signs @ ratios[members]), limits, levels, signs)

    def to_members(self, limits: Array) -> Array:
        """Prices of the rows as prices of the members."""
        return np.asarray(self.signs.T @ limits)


def _started() -> "Highs":
    import highspy

    solver = highspy.Highs()
    for name, value in (
        ("output_flag", False),
        ("solver", "simplex"),
        ("simplex_strategy", 1),
        ("primal_feasibility_tolerance", _TOLERANCE),
        ("dual_feasibility_tolerance", _TOLERANCE),
    ):
        solver.setOptionValue(name, value)
    return solver


def generated(
    program: ColumnProgram, outputs: Indices, offered: Indices, *, rounds: int, touching: Touching | None = None
) -> Generated | None:
    """The best channel to these outputs, or what so many rounds of pricing come to; None where HiGHS finds nothing.

    outputs: in ascending order; offered: moves to begin with, as input × outputs + place of the output

    Column generation: a linear program over few moves, whose prices say which others would help.

    Args:
        program: the problem.
        outputs: the values that may be published, in ascending order.
        offered: moves to begin with.
        rounds: how often prices are asked at most.
        touching: where planes of a finite order touch to begin with.

    Returns:
        The moves with their shares, and the prices that prove the most.
    """
    master = Master(program, outputs)
    master.offer(offered)
    if master.cuts is not None and touching is not None:
        master.cuts.begin(touching)
    last: Round | None = None
    proof: Round | None = None
    bound = -np.inf
    for count in range(1, (rounds if master.cuts is None else 2 * rounds) + 1):
        detail(f"round {count} of the linear program, of {len(master.keys):,} moves")
        now = master.solve()
        if now is None:
            break
        last = now
        more = np.zeros(0, dtype=np.int64)
        # Cuts alone are left to add where the bound is close already: prices would be asked for nothing.
        if now.cuts is None or now.missed > _MISSED or not now.cost - bound <= _CLOSE * now.cost:
            more, proved = master.priced(now)
            if proof is None or proved > bound:
                proof, bound = now, proved
        is_close = now.missed <= _MISSED and now.cost - bound <= _CLOSE * now.cost
        if is_close and now.over <= 0:
            break
        new = master.offer(more)
        if master.cuts is not None and now.cuts is not None:
            new += master.cuts.cut(now.cuts)
        if not new:
            break
    if last is None or proof is None or last.missed > _MISSED:
        return None
    return master.channel(last, proof, bound)


# Columns from coarse to fine: the channel between groups of values first, whose moves and prices start the next.
#
# A linear program between thousands of values takes its prices long to settle. Between groups of values that lie
# close together and tell alike of the secrets it takes a moment, and its prices, spread out over the values of each
# group, say which moves of each value to begin with. As with transport plans (Mérigot 2011; Schmitzer 2016) a few
# levels are enough.


_SMALL = 200  # values of a program that begins with all its moves
_FINER = 5  # a level has about as many times the values of the one before it
_NEAREST = 12  # moves offered to each input because they cost least
_BANDS = 4  # kinds of values that a law shows most, by how much more than the others
_CANDIDATES = 4  # times as many values among which those that cover the others are chosen
_USED = 1e-9  # of an input: less of a coarse move is not offered to its values


def by_levels(
    program: ColumnProgram, rng: np.random.Generator, *, rounds: int, is_refined: bool = True
) -> Generated | None:
    """The best channel between the values of a program, as well as so many rounds for each level find it.

    is_refined: whether the last level is solved too; otherwise the channel is that of the groups

    Args:
        program: the problem.
        rng: for what is chosen at random.
        rounds: of pricing on each level.
        is_refined: whether the last level is solved too.

    Returns:
        The channel. What is found between groups of values is a good start between the values, since moves are short.
    """
    level = None if program.size <= _SMALL else coarser(program, rng)
    found = None if level is None else by_levels(level.program, rng, rounds=rounds)
    if level is None or found is None:
        return _small(program, rounds) if is_refined else None
    lifted = level.lifted(found)
    return once_more(program, lifted, rounds=rounds) if is_refined else lifted


def once_more(program: ColumnProgram, before: Generated, *, rounds: int) -> Generated | None:
    """The best channel, beginning with the moves of another and with those that are cheapest at its prices."""
    everything = np.arange(program.size)
    worth = np.full(program.size, np.inf)
    nothing = np.zeros(0)
    cuts = None if before.touching is None else Answer(before.touching, nothing, nothing, 0.0)
    at_prices = Round(nothing, 0.0, worth, before.limits, before.kept, 0.0, cuts)
    cheapest, _ = Master(program, everything).priced(at_prices)
    moves = before.sources * program.size + before.targets
    offered = np.unique(np.concatenate([nearest(program, everything), moves, cheapest]))
    return generated(program, everything, offered, rounds=rounds, touching=before.touching)


def _small(program: ColumnProgram, rounds: int) -> Generated | None:
    """The best channel of a program that begins with all moves, or where they are too many with a few."""
    everything = np.arange(program.size)
    if program.size <= _SMALL:
        return generated(program, everything, np.arange(program.size**2), rounds=rounds)
    common = int(np.argmax(program.laws.min(axis=0)))
    offered = np.union1d(nearest(program, everything), everything * program.size + common)
    return generated(program, everything, offered, rounds=rounds)


class Level(NamedTuple):
    """A program between groups of the values of another.

    group: of each value; members: the values of each group; stand: the value that a group is published as
    """

    program: ColumnProgram
    fine: ColumnProgram
    group: Indices
    members: list[Indices]
    stand: Indices

    def lifted(self, found: Generated) -> Generated:
        """What was found between groups as moves and prices of their values.

        Every value does what its group does. Where the marginal is preserved, what becomes a group is spread over its
        values as these are there, and otherwise all of it becomes one of them: both keep the odds as they were.

        Args:
            found: between the groups.

        Returns:
            Moves between values, within the same odds.
        """
        used = found.shares > _USED
        moves = zip(
            found.sources[used].tolist(), found.targets[used].tolist(), found.shares[used].tolist(), strict=True
        )
        sources, targets, shares = [], [], []
        for source, target, share in moves:
            inside = self.members[source]
            into, parts = self._published(target)
            sources.append(np.repeat(inside, len(into)))
            targets.append(np.tile(into, len(inside)))
            shares.append(np.tile(share * parts, len(inside)))
        return Generated(
            np.concatenate(sources),
            np.concatenate(targets),
            np.concatenate(shares),
            found.limits[:, self.group],
            found.prices[:, self.group],
            found.kept[self.group] if found.kept.size else found.kept,
            found.gap,
            None if found.touching is None else found.touching._replace(ratios=found.touching.ratios[:, self.group]),
        )

    def _published(self, target: int) -> tuple[Indices, Array]:
        inside = self.members[target]
        mass = self.fine.mass[inside]
        if not self.fine.keeps_marginal:
            return self.stand[target : target + 1], np.ones(1)
        return inside, mass / mass.sum() if mass.sum() > 0 else np.full(len(inside), 1.0 / len(inside))


def coarser(program: ColumnProgram, rng: np.random.Generator) -> Level | None:
    """Groups of values that lie close together and tell alike; None where there are hardly fewer than values."""
    close = program.cells.parts(rng, most=_FINER * _BANDS, least=lambda _: True)
    kind = _kinds(program)
    members = [part[kind[part] == one] for part in close for one in np.unique(kind[part])]
    if 2 * len(members) > program.size:
        return None
    group = np.empty(program.size, dtype=np.intp)
    for place, inside in enumerate(members):
        group[inside] = place
    count = len(members)
    laws = np.stack([np.bincount(group, weights=law, minlength=count) for law in program.laws]).astype(np.float64)
    mass = np.bincount(group, weights=program.mass, minlength=count).astype(np.float64)
    stand = np.array([medoid(program, inside, inside) for inside in members])
    cost = np.zeros((count, count))
    for code, table in zip(program.cells.codes, program.cells.tables, strict=True):
        weights = np.zeros((count, len(table)))
        np.add.at(weights, (group, code), program.mass + 1e-300)
        weights /= weights.sum(axis=1, keepdims=True)
        cost += weights @ (table @ weights.T if program.keeps_marginal else table[:, code[stand]])
    one = np.arange(count)[None, :]
    cells = Cells(one, one, (cost,), (False,))
    return Level(replace(program, laws=laws, mass=mass, cells=cells), program, group, members, stand)


def _kinds(program: ColumnProgram) -> Indices:
    """Which law shows a value most, and by about how much more than the one that shows it least, in odds."""
    laws = program.laws[program.hidden]
    most, least = laws.max(axis=0), np.maximum(laws.min(axis=0), 1e-300)
    steps = 2 * np.log(np.maximum(most / least, 1.0)) / max(program.contrast, 1e-9)
    return np.asarray(laws.argmax(axis=0) * (_BANDS + 1) + np.minimum(steps, _BANDS).astype(np.intp))


def alike(program: ColumnProgram, most: int) -> Indices:
    """A group for each value, of those that lie close together and tell alike: no more groups than so many, about.

    Args:
        program: the problem.
        most: how many groups; as many values are groups of one each.

    Returns:
        Numbers from 0 on.
    """
    kind, each = _kinds(program), 1
    found = np.arange(program.size)
    while int(found.max()) >= most and each < program.size:
        each += each // 2 + 1
        parts = program.cells.parts(np.random.default_rng(0), most=each, least=lambda _: True)
        part = np.empty(program.size, dtype=np.intp)
        for place, inside in enumerate(parts):
            part[inside] = place
        found = np.unique(part * (int(kind.max()) + 1) + kind, return_inverse=True)[1].reshape(-1)
    return found


def nearest(program: ColumnProgram, outputs: Indices) -> Indices:
    """The outputs that cost each input least, as places input × outputs + output."""
    nothing = np.zeros((0, program.size))
    alone = Pricing(program.cells, outputs, rate=np.ones(program.size), laws=nothing, dtype=np.float32)
    anything = np.full(program.size, np.inf)
    return alone.cheapest(nothing[:, outputs], below=anything, number=_NEAREST).moves


def medoid(program: ColumnProgram, part: Indices, candidates: Indices) -> int:
    """The candidate that costs least as what all of a part is published as."""
    costs = np.zeros(len(candidates))
    for code, table in zip(program.cells.codes, program.cells.tables, strict=True):
        # Between groups the one table is as large as the program, and a part is a few of its rows.
        here, place = np.unique(code[part], return_inverse=True)
        there = np.bincount(place, weights=program.mass[part], minlength=len(here))
        costs += there @ table[here[:, None], code[candidates]]
    return int(candidates[np.argmin(costs)])


def covering(cells: Cells, mass: Array, number: int) -> Indices:
    """So many values, each chosen in turn because it brings what all cost to publish down most (Minoux 1978).

    Among the most common ones. What another value saves only falls as more are chosen, so most need no second look.

    Args:
        cells: what it costs to publish one value as another.
        mass: how common each value is.
        number: how many are chosen.

    Returns:
        Their places. Greedy choice is within 1 − 1/e of the best saving, since savings are submodular.
    """
    candidates = np.argsort(-mass, kind="stable")[: _CANDIDATES * number]
    far = cells.between(np.arange(len(mass)), candidates)
    nearest = far.max(axis=1)
    chosen: list[int] = []
    saved, looked_at = mass @ (nearest[:, None] - far), np.zeros(len(candidates), dtype=np.intp)
    while len(chosen) < min(number, len(candidates)):
        best = int(np.argmax(saved))
        if looked_at[best] < len(chosen):
            saved[best] = mass @ np.maximum(nearest - far[:, best], 0.0)
            looked_at[best] = len(chosen)
            continue
        chosen.append(best)
        nearest, saved[best] = np.minimum(nearest, far[:, best]), -1.0
    return np.sort(candidates[chosen])


# Many laws: an interior point from all values to some of them, in place of a linear program.
#
# Every further law adds two rows to each output of the linear program, and a simplex that settles two laws in a second
# takes minutes for seven. The steps of an interior point hardly hang on how many laws there are, and what they take is
# known beforehand: so many outputs are chosen, those that stand for all values at the least cost, that a step takes a
# quarter of a second.

_FEW_ROWS = 6  # of an output, up to which a linear program is quicker: three laws, or three pairs of them
_OF_A_STEP = 4e9  # multiplications of a step
_ENTRIES = 2_000_000  # inputs × outputs that a step has memory for
_LEAST_ODDS = 1e-6  # odds nearer to one leave nothing inside for an interior point
_TIGHTER = 5e-4  # of the odds: what is left out afterwards is within it
_POOR = 0.05  # the gap beyond which its channel is no answer
_LEFT_OUT = 1e-4  # of an output's probability under any law, which may go with moves that hardly happen
_RARE = 1e-4  # of an input: a move that happens more often stays
_UNUSED = 1e-3  # times that share of all that is published: such outputs an interior point gives up
_TRIES, _FEWER = 4, 10.0


def has_many_laws(groups: Sequence[Sequence[int]]) -> bool:
    """Whether the groups ask for more rows of an output than a simplex solves in seconds.

    Args:
        groups: of laws, each within the odds of each.

    Returns:
        False for up to three laws.
    """
    return sum(min(2 * len(group), len(group) * (len(group) - 1)) for group in groups) > _FEW_ROWS


def outputs_of(inputs: int, groups: Sequence[Sequence[int]]) -> int:
    """Through how many outputs so many values can be published that a step takes no longer than it should.

    Args:
        inputs: how many values there are.
        groups: of laws, each within the odds of each.

    Returns:
        At most as many as there are values, and one at least.
    """
    laws = min(len({law for group in groups for law in group}), sum(len(group) * (len(group) - 1) for group in groups))
    by_inputs = (_OF_A_STEP - inputs**3 / 3) / (inputs**2 * laws)  # a system of as many equations as inputs,
    by_outputs = math.sqrt(_OF_A_STEP / inputs) / laws  # or as outputs times laws, whichever are fewer
    return int(max(1, min(inputs, max(by_inputs, by_outputs), _ENTRIES / inputs)))


def through_few(program: ColumnProgram) -> Generated | None:
    """A channel from all values to some, the best for these up to a fifth of a percent; None where none was found.

    Args:
        program: the problem, in which nothing is kept in hand; a marginal is preserved only where all values are
            outputs.

    Returns:
        Its moves, and prices for all values: those of an output that was not chosen are the prices of the nearest.
    """
    size = program.size
    number = outputs_of(size, program.groups)
    chosen = np.arange(size) if number >= size else covering(program.cells, program.mass, number)
    odds = 1 + (program.odds - 1) * (1 - _TIGHTER)
    if odds <= 1 + _LEAST_ODDS:
        return None
    tell(f"Finding the best channel from {size:,} values to {len(chosen):,} of them")
    everything = np.arange(size)
    inner = Program(
        laws=program.laws,
        constraints=tuple(pair for group in program.groups for pair in itertools.permutations(group, 2)),
        mass=program.mass,
        loss=program.cells.between(everything, chosen),
        epsilon=math.log(odds),
        keep="marginal" if program.keeps_marginal else None,
    )
    found = interior_point(inner, allowed_moves(inner), goal=_CLOSE)
    if not found.gap <= _POOR:
        return None
    kept = _without_traces(program, found.matrix)
    sources, targets = np.nonzero(kept)
    return Generated(
        sources,
        chosen[targets],
        kept[sources, targets],
        np.zeros((0, size)),
        _prices(program, inner, found.duals)[:, _nearest_of(program, chosen)],
        found.duals.kept,
        found.gap,
    )


def _prices(program: ColumnProgram, inner: Program, duals: Duals) -> Array:
    """What a unit of each member's probability costs at each chosen output: λ(p_i − ρ p_j), summed over its pairs."""
    members = program.members
    found = np.zeros((len(members), duals.odds.shape[0]))
    first, worth = 0, iter(duals.odds.T)
    for group in program.groups:
        for i, j in itertools.permutations(range(first, first + len(group)), 2):
            price = next(worth)
            found[i] += price
            found[j] -= inner.factor * price
        first += len(group)
    return found


def _nearest_of(program: ColumnProgram, chosen: Indices) -> Indices:
    """For every value the place of the chosen one that it costs least to publish it as."""
    size, step = program.size, max(1, _ENTRIES // len(chosen))
    found = np.empty(size, dtype=np.intp)
    for start in range(0, size, step):
        some = np.arange(start, min(size, start + step))
        found[some] = program.cells.between(some, chosen).argmin(axis=1)
    found[chosen] = np.arange(len(chosen))
    return found


def _without_traces(program: ColumnProgram, matrix: Array) -> Array:
    """The channel without what an interior point leaves everywhere, as long as the odds bear it.

    Args:
        program: the problem, whose odds are a little larger than those the channel was found for.
        matrix: from the values to the chosen ones.

    Returns:
        A channel of few moves; of all of them where leaving out even the faintest would break the odds.
    """
    share = _LEFT_OUT
    for _ in range(_TRIES):
        kept = np.where(_matters(program, matrix, share), matrix, 0.0)
        kept /= kept.sum(axis=1, keepdims=True)
        if _is_within(program, kept):
            return kept
        share /= _FEWER
    return matrix


def _matters(program: ColumnProgram, matrix: Array, share: float) -> Mask:
    """The moves whose absence would be noticed: not so much of an output's probability under any law goes without."""
    published = program.laws @ matrix
    most = np.zeros_like(matrix)
    for law, row in zip(program.laws, published, strict=True):
        np.maximum(most, law[:, None] * (matrix / np.maximum(row, 1e-300)), out=most)
    order = np.argsort(most, axis=0)
    faint = np.zeros(matrix.shape, dtype=np.bool_)
    np.put_along_axis(faint, order, np.cumsum(np.take_along_axis(most, order, axis=0), axis=0) <= share, axis=0)
    faint &= matrix < _RARE
    if not program.keeps_marginal:
        faint[:, program.mass @ matrix < share * _UNUSED] = True
    faint[np.arange(len(matrix)), matrix.argmax(axis=1)] = False
    return np.asarray(~faint)


def _is_within(program: ColumnProgram, matrix: Array) -> bool:
    published = program.laws @ matrix
    parts = [published[list(group)] for group in program.groups]
    return all(bool((part.max(axis=0) <= program.odds * part.min(axis=0)).all()) for part in parts)
