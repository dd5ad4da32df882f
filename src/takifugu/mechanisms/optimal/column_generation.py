"""A channel between thousands of values, by columns: a coarse one first, then all rows at once, or part after part.

Where all rows fit into one program, column generation finds the best channel there is. Where they do not, each step is
a program in which some inputs are free and all others stay as they are: the channel before the step is among its
candidates, so the cost never rises. The proof comes afterwards and trusts nothing of this (proofs/sparse.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array, reals
from takifugu._work import detail
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.finite_problem import Cells
from takifugu.mechanisms.optimal.linear_program import Entries, Rows, highs
from takifugu.mechanisms.optimal.lower_bound import TINY, UNIT, Pricing, total
from takifugu.mechanisms.optimal.program import Indices, components
from takifugu.mechanisms.optimal.restricted_master import (
    ColumnProgram,
    Generated,
    by_levels,
    generated,
    has_many_laws,
    medoid,
    nearest,
    once_more,
    outputs_of,
    through_few,
)
from takifugu.mechanisms.optimal.tangent_cuts import FiniteOrder, Touching


def groups_of(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Groups of laws that cover the directed pairs exactly: whole groups where every pair is asked for, or the pairs.

    A group of g laws needs 2g conditions for an output where its pairs need g(g − 1).

    Args:
        pairs: directed pairs of laws.

    Returns:
        Groups, in the order of their first laws. In a group every law is within the odds of every other.

    >>> groups_of([(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
    ((0, 1, 2),)
    >>> groups_of([(0, 1), (1, 0), (1, 2), (2, 1)])
    ((0, 1), (1, 2))
    """
    both = sorted({(min(pair), max(pair)) for pair in pairs})
    first, second = np.array(both, dtype=np.intp).T
    component = components(first, second, int(second.max()) + 1)
    found: list[tuple[int, ...]] = []
    for name in dict.fromkeys(component[first].tolist()):  # from the group of the first law on
        among = np.flatnonzero(component == name).tolist()
        inside = [pair for pair in both if component[pair[0]] == name]
        found += [tuple(among)] if 2 * len(inside) == len(among) * (len(among) - 1) else inside
    return tuple(found)


# One part of the program at a time: some inputs are free, what all others publish is held, and HiGHS does the rest.

_SECONDS = 60.0
_SMALLEST = 1e-300


@dataclass(frozen=True)
class Part:
    """The entries of a solved part, in the order of the moves that were offered, and prices.

    prices: a row for each of `ColumnProgram.members`, by outputs: what a unit of that law's probability costs there
    """

    shares: Array
    prices: Array


def solved(
    program: ColumnProgram, *, laws: Array, cost: Array, sources: Indices, targets: Indices, held: Array
) -> Part | None:
    """The cheapest shares of the moves offered, each from an input to an output; None where HiGHS finds none.

    laws: rows of weights over the inputs of this part; cost: of each move, for a whole share
    held: what the inputs outside publish, laws by outputs; the condition is on the sum
    """
    outputs, moves = held.shape[1], len(sources)
    levels = outputs * len(program.groups)  # one number per output and group, between its laws
    equal = Rows({"moves": moves, "levels": levels})
    each = np.arange(moves)
    equal.add(np.ones(laws.shape[1]), moves=Entries(sources, each, np.ones(moves), (laws.shape[1], moves)))
    scales = _scales(program, laws=laws, sources=sources, targets=targets, held=held)
    below, at, lean = Rows(equal.widths), np.arange(outputs), program.lean
    for group, (members, scale) in enumerate(zip(program.groups, scales, strict=True)):
        level = Entries(at, group * outputs + at, scale, (outputs, levels))
        for law in members:
            p = Entries(targets, each, laws[law][sources] * scale[targets], (outputs, moves))
            inside, floor = scale * held[law], scale * lean * program.floor[law]
            # level ≤ p − lean(p + floor) and p + lean(p + floor) ≤ odds·level
            below.add((1 - lean) * inside - floor, moves=p.times(-(1 - lean)), levels=level)
            below.add(-(1 + lean) * inside - floor, moves=p.times(1 + lean), levels=level.times(-program.odds))
    unit = max(float(cost.max(initial=0.0)), _SMALLEST)
    found = highs(
        np.concatenate([cost / unit, np.zeros(levels)]),
        below=below,
        equal=equal,
        seconds=_SECONDS,
        primal_feasibility_tolerance=1e-9,
        dual_feasibility_tolerance=1e-9,
    )
    if not found.is_found:
        return None
    # What a unit of each law's probability costs at each output: HiGHS' marginals with the sign turned.
    low, high = np.moveaxis((-unit * found.below).reshape(-1, 2, outputs), 1, 0)  # two rows for each member
    prices = ((1 + lean) * high - (1 - lean) * low) * np.repeat(scales, [len(one) for one in program.groups], axis=0)
    return Part(np.clip(found.variables[:moves], 0.0, 1.0), prices)


def _scales(program: ColumnProgram, *, laws: Array, sources: Indices, targets: Indices, held: Array) -> list[Array]:
    """A factor for the rows of each output and group: an output is as small as its inputs are under the laws of the
    group, and HiGHS wants rows of like size."""
    found = []
    for group in map(list, program.groups):
        size = held[group].max(axis=0).copy()
        np.add.at(size, targets, laws[group].max(axis=0)[sources])
        found.append(1.0 / np.maximum(size, _SMALLEST))
    return found


# A channel of all rows at once where they fit into one program, and otherwise part after part.

_MOST_ROWS = 60_000  # of a program that HiGHS' simplex solves in some minutes,
_MOST_OF_MANY = 50_000  # rows times laws, of one with more than three
_LEAST_OUTPUTS = 40  # that an interior point needs to be worth its while
_CUTS = 4  # rows of each law and each pair of a finite order, for an output: most of them cuts
_MOST_LEAN = 2  # laws with something in hand: few outputs for thousands of inputs are slow for a simplex with more
_TIMES = 5  # rounds of pricing for one round of parts
_GROUPS = 150  # of the coarse channel, about
_FEW_OUTPUTS = 200  # outputs that are all offered to every input
_NEAREST = 12  # moves offered to each input because they cost least, and as many because they are priced lowest
_MOVES = 12_000  # that a part may be offered in all: where it is small, each input is offered more
_DUST = 1e-12  # a share below is a rounding error of HiGHS
_SETTLED = 0.01  # the share by which a round must lower the cost to be worth another
_ROWS_IN_ALL = 1_500  # inputs of a part times laws: what HiGHS solves in a second


@dataclass(frozen=True, eq=False)
class Moves:
    """A channel as its moves: `shares[k]` of input `sources[k]` become output `targets[k]`, sources in order."""

    sources: Indices
    targets: Indices
    shares: Array

    def published(self, laws: Array) -> Array:
        """What each law publishes, laws by values.

        Args:
            laws: a row of weights for each.

        Returns:
            As many rows, over the outputs.
        """
        found = np.zeros(laws.shape)
        for law, into in zip(laws, found, strict=True):
            np.add.at(into, self.targets, law[self.sources] * self.shares)
        return found

    def apart(self, mass: Array) -> float:
        """The total variation between values as they are there and as they are published on average.

        Args:
            mass: how common each value is.

        Returns:
            A number between 0 and 1, 0 where the marginal is preserved.
        """
        spread = np.bincount(self.targets, weights=mass[self.sources] * self.shares, minlength=len(mass))
        return float(np.abs(spread - mass).sum() / 2)

    def mixed(self, other: "Moves", share: float) -> "Moves":
        """The channel that takes another one's move with a probability of `share`, and its own otherwise.

        Args:
            other: between the same values.
            share: from 0 to 1.

        Returns:
            A channel whose budget for any order is no larger than the larger of the two: e^{(α−1)D} is convex.
        """
        width = 1 + int(max(self.targets.max(), other.targets.max()))
        keys = np.concatenate([one.sources * width + one.targets for one in (self, other)])
        shares = np.concatenate([(1 - share) * self.shares, share * other.shares])
        both, place = np.unique(keys, return_inverse=True)
        together = np.bincount(place.reshape(-1), weights=shares).astype(np.float64)
        return _gathered(int(self.sources[-1]) + 1, both // width, both % width, together)

    def cost(self, program: ColumnProgram) -> float:
        """The expected loss."""
        lost = program.cells.along(self.sources, self.targets) * self.shares
        return float(program.mass[self.sources] @ lost)


def one_output(program: ColumnProgram) -> Moves:
    """Every input published as the one value that costs least: it tells nothing, whatever is promised."""
    everyone = np.arange(program.size)
    best = medoid(program, everyone, everyone[np.argsort(-program.mass, kind="stable")[:_GROUPS]])
    return Moves(everyone, np.full(program.size, best), np.ones(program.size))


_MOST_RESAMPLED = 1_000_000  # moves of a channel that is sampled anew: as many as a file may hold


def resampled(moves: Moves, mass: Array) -> Moves | None:
    """The channel that publishes, for each output of another, what may have led to it, as often as it does.

    The true value and what is published are then alike given the output, so that the marginal is preserved; it is
    post-processing, so that nothing more is told; and no metric loses more than twice as much (proofs/optimal.md).
    None where it takes too many moves.

    Args:
        moves: a channel that keeps the guarantee.
        mass: how common each value is.

    Returns:
        The composition of the channel with its own posterior.
    """
    from scipy.sparse import csr_array

    size = len(mass)
    if int((np.bincount(moves.targets, minlength=size) ** 2).sum()) > _MOST_RESAMPLED:
        return None
    there = mass[moves.sources] * moves.shares
    total = np.bincount(moves.targets, weights=there, minlength=size)
    # An output that only values come to that nobody has is published as they come.
    parts = np.divide(there, total[moves.targets], out=moves.shares.copy(), where=total[moves.targets] > 0)
    onwards = csr_array((parts, (moves.targets, moves.sources)), shape=(size, size))
    both = (csr_array((moves.shares, (moves.sources, moves.targets)), shape=(size, size)) @ onwards).tocoo()
    kept = both.data > _DUST
    return _gathered(size, both.row[kept].astype(np.intp), both.col[kept].astype(np.intp), both.data[kept])


class Searched(NamedTuple):
    """Moves, and what the last program found where it held all rows and outputs, in the search's order; its prices."""

    moves: Moves
    whole: Generated | None = None
    prices: "Prices | None" = None


def fits(program: ColumnProgram, outputs: int) -> bool:
    """Whether all rows can be free at once."""
    if program.lean > 0 and len(program.members) > _MOST_LEAN:
        return False
    cut = 0 if program.order is None else len(program.order.laws) + len(program.order.pairs)
    return fit(program.size, program.groups, outputs, cut=cut)


def fit(inputs: int, groups: Sequence[Sequence[int]], outputs: int | None = None, *, cut: int = 0) -> bool:
    """Whether one program holds so many inputs, groups of laws and outputs, by default as many as inputs.

    And so many laws and pairs of a finite order, with a few cuts each.
    """
    rows = sum(min(2 * len(group), len(group) * (len(group) - 1)) for group in groups) + _CUTS * cut
    most = _MOST_OF_MANY / sum(map(len, groups)) if has_many_laws(groups) else _MOST_ROWS
    return inputs + rows * (inputs if outputs is None else outputs) <= most


def can_preserve(inputs: int, groups: Sequence[Sequence[int]]) -> bool:
    """Whether all values are free and may be published at once, so that a marginal can be preserved."""
    return fit(inputs, groups) or (has_many_laws(groups) and outputs_of(inputs, groups) >= inputs)


def searched(program: ColumnProgram, *, rounds: int, seed: int = 0, start: Searched | None = None) -> Searched:
    """The best channel that a number of rounds finds; it starts from `start`, or from coarse ones.

    Where all rows fit into one program a marginal is preserved, and otherwise it is not. Whatever order laws and values
    are in, the search has them in one of its own: of equally good channels a solver finds another from another side.

    Args:
        program: the problem.
        rounds: how many improvements are tried.
        seed: of what is chosen at random.
        start: what an earlier search found.

    Returns:
        The moves, with prices where a program about all of the values was solved.
    """
    order = _Order.of(program)
    begun = None if start is None else order.put(start)
    return order.put_back(program, _searched(order.applied(program), rounds=rounds, seed=seed, start=begun))


class _Order(NamedTuple):
    """Laws and values by what they are, and the place of each among those of a program."""

    laws: tuple[int, ...]
    values: Indices

    @classmethod
    def of(cls, program: ColumnProgram) -> "_Order":
        values = np.lexsort(program.cells.codes[::-1])
        rows = program.laws[:, values].tolist()
        return cls(tuple(sorted(range(len(rows)), key=lambda law: (rows[law], float(program.floor[law])))), values)

    def _groups(self, program: ColumnProgram) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Each group by the new places of its laws, beside the same by the places in the program."""
        place = {law: where for where, law in enumerate(self.laws)}
        found = [sorted((place[law], law) for law in group) for group in program.groups]
        return [tuple(zip(*group, strict=True)) for group in sorted(found)]  # type: ignore[misc]

    def _pairs(self, order: FiniteOrder) -> tuple[tuple[tuple[int, int], ...], list[int]]:
        """The pairs of a finite order by the new places of their laws, and where each of the old ones is of these."""
        place = {law: where for where, law in enumerate(self.laws)}
        pairs = [(place[i], place[j]) for i, j in order.pairs]
        ordered = sorted(pairs)
        return tuple(ordered), [ordered.index(pair) for pair in pairs]

    def applied(self, program: ColumnProgram) -> ColumnProgram:
        """The same program, with laws and values in order."""
        cells, laws = program.cells, np.array(self.laws, dtype=np.intp)
        codes = np.ascontiguousarray(cells.codes[:, self.values])
        return replace(
            program,
            laws=np.ascontiguousarray(program.laws[np.ix_(laws, self.values)]),
            groups=tuple(new for new, _ in self._groups(program)),
            mass=program.mass[self.values],
            cells=Cells(codes, codes, cells.tables, cells.is_ordered),
            floor=program.floor[laws],
            order=None if program.order is None else replace(program.order, pairs=self._pairs(program.order)[0]),
        )

    def put(self, found: "Searched") -> "Searched":
        """What an earlier search found, as this one has it."""
        place = np.argsort(self.values)
        moves = found.moves
        return Searched(_sorted(place[moves.sources], place[moves.targets], moves.shares), found.whole, found.prices)

    def put_back(self, program: ColumnProgram, found: "Searched") -> "Searched":
        """What the search found, for the program as it was given; `whole` stays as the search has it."""
        place, moves, prices = np.argsort(self.values), found.moves, None
        if found.whole is not None:
            rows: dict[tuple[frozenset[int], int], int] = {}
            for _, old in self._groups(program):
                rows |= {(frozenset(old), law): len(rows) + at for at, law in enumerate(old)}
            members = [rows[frozenset(group), law] for group in program.groups for law in group]
            kept, touching = found.whole.kept, found.whole.touching
            if touching is not None and program.order is not None:
                at = self._pairs(program.order)[1]
                touching = Touching(touching.weights[at], touching.ratios[at][:, place])
            prices = Prices(found.whole.prices[members][:, place], kept[place] if kept.size else kept, touching)
        return Searched(
            _sorted(self.values[moves.sources], self.values[moves.targets], moves.shares), found.whole, prices
        )


def _searched(program: ColumnProgram, *, rounds: int, seed: int, start: Searched | None) -> Searched:
    rng = np.random.default_rng(seed)
    if program.lean == 0 and fits(program, program.size):
        if start is not None and start.whole is not None:
            whole = once_more(program, start.whole, rounds=_TIMES * rounds)
        else:
            whole = by_levels(program, rng, rounds=_TIMES * rounds)
        if whole is not None:
            return Searched(_moves(program, whole), whole)
    elif program.lean == 0 and program.order is None and has_many_laws(program.groups):
        number = outputs_of(program.size, program.groups)
        few = through_few(program) if number >= min(program.size, _LEAST_OUTPUTS) else None
        if few is not None:
            return Searched(_moves(program, few), few if number >= program.size else None)
    found = _begun(program, rng, rounds) if start is None else start.moves
    # A lean condition asks every output for some probability, which those of the coarse channel have.
    opened = np.unique(found.targets) if program.lean > 0 else np.arange(program.size)
    if program.lean > 0 and fits(program, len(opened)):
        places = np.searchsorted(opened, found.targets)
        offered = np.union1d(found.sources * len(opened) + places, nearest(program, opened))
        whole = generated(program, opened, offered, rounds=_TIMES * rounds)
        if whole is not None:
            return Searched(_moves(program, whole))
    return Searched(_part_by_part(program, found, opened, rng, rounds))


def searched_whole(program: ColumnProgram, *, rounds: int, seed: int = 0) -> Searched | None:
    """The same where one program is to hold all rows and outputs, as tangent cuts ask for; None where none does.

    Args:
        program: the problem, of a finite order.
        rounds: how many improvements are tried.
        seed: of what is chosen at random.

    Returns:
        The moves, which may be over the budget by what was not cut yet, and prices.
    """
    order = program.order
    if order is None or not order.is_told_apart(program.size) or not fits(program, program.size):
        return None
    in_order = _Order.of(program)
    applied = in_order.applied(program)
    whole = by_levels(applied, np.random.default_rng(seed), rounds=_TIMES * rounds)
    return None if whole is None else in_order.put_back(program, Searched(_moves(applied, whole), whole))


def _begun(program: ColumnProgram, rng: np.random.Generator, rounds: int) -> Moves:
    """A channel to improve part by part: that of groups of values."""
    if program.lean == 0:
        between_groups = by_levels(program, rng, rounds=_TIMES * rounds, is_refined=False)
        if between_groups is not None:
            return _moves(program, between_groups)
    return coarse(program, rng)


def _moves(program: ColumnProgram, found: Generated) -> Moves:
    return _gathered(program.size, found.sources, found.targets, found.shares)


def _part_by_part(
    program: ColumnProgram, found: Moves, opened: Indices, rng: np.random.Generator, rounds: int
) -> Moves:
    prices = np.zeros((len(program.members), program.size))
    cost = found.cost(program)
    for _ in range(rounds):
        before = cost
        size = max(100, _ROWS_IN_ALL // len(program.laws))
        parts = program.cells.parts(rng, most=size, least=lambda _: True)
        for count, part in enumerate(parts, 1):
            detail(f"part {count:,} of {len(parts):,} of the rows")
            found = _improved(program, found, part, opened, prices)
        cost = found.cost(program)
        if cost >= (1 - _SETTLED) * before:
            break
    return found


def coarse(program: ColumnProgram, rng: np.random.Generator) -> Moves:
    """A channel between groups of values, each published as one of its members; the promise decides how many."""
    most = max(1, program.size // _GROUPS)
    needed = _least_rows(program)
    for _ in range(20):

        def enough(part: Indices, needed: Array = needed) -> bool:
            return bool((program.laws[:, part].sum(axis=1) >= needed).all())

        groups = program.cells.parts(rng, most=most if program.lean == 0 else 1, least=enough)
        if len(groups) == 1:
            break
        found = _between(program, groups)
        if found is not None:
            return found
        needed = np.maximum(1.5 * needed, program.laws[:, groups[0]].sum(axis=1).min() * 0.1)
        most *= 2
    return one_output(program)


def _least_rows(program: ColumnProgram) -> Array:
    """The probability that an output needs of every law, by the lean conditions, with half as much again in hand."""
    if program.lean == 0:
        return np.zeros(len(program.laws))
    room = program.odds * (1 - program.lean) - (1 + program.lean)
    return np.asarray(1.5 * program.lean * program.floor * (1 + program.odds) / room)


def _between(program: ColumnProgram, groups: list[Indices]) -> Moves | None:
    """The best channel from groups to their members that stand for them, or None where the promise leaves none."""
    laws = np.stack([program.laws[:, group].sum(axis=1) for group in groups], axis=1)
    stand = np.array([medoid(program, group, group) for group in groups])
    costs = np.zeros((len(groups), len(groups)))
    for code, table in zip(program.cells.codes, program.cells.tables, strict=True):
        weights = np.stack([np.bincount(code[g], weights=program.mass[g], minlength=len(table)) for g in groups])
        costs += weights @ table[:, code[stand]]
    near = np.argsort(costs, axis=1, kind="stable")[:, : max(3 * _NEAREST, _FEW_OUTPUTS // 2)]
    common = np.full(len(groups), int(np.argmax(laws.min(axis=0))))
    sources, targets = _distinct(
        np.concatenate([np.repeat(np.arange(len(groups)), near.shape[1]), np.arange(len(groups))]),
        np.concatenate([near.ravel(), common]),
        len(groups),
    )
    part = solved(
        program,
        laws=laws,
        cost=costs[sources, targets],
        sources=sources,
        targets=targets,
        held=np.zeros((len(laws), len(groups))),
    )
    if part is None:
        return None
    rows = [
        (x, stand[targets[k]], part.shares[k])
        for k in np.flatnonzero(part.shares > _DUST).tolist()
        for x in groups[sources[k]].tolist()
    ]
    given, taken, shares = (np.array(column) for column in zip(*rows, strict=True))
    return _gathered(program.size, given.astype(np.intp), taken.astype(np.intp), shares.astype(np.float64))


def _improved(program: ColumnProgram, found: Moves, part: Indices, opened: Indices, prices: Array) -> Moves:
    """The channel with the rows of a part made as good as they can be while all other rows stay as they are."""
    mine = np.isin(found.sources, part)
    used = np.unique(found.targets[mine])
    offered = opened if len(opened) <= _FEW_OUTPUTS else np.intersect1d(part, opened)
    outputs = np.union1d(used, offered)
    local = np.full(program.size, -1)
    local[part] = np.arange(len(part))
    own_sources, own_targets = local[found.sources[mine]], np.searchsorted(outputs, found.targets[mine])
    loss = program.cells.between(part, outputs)
    laws = program.laws[:, part]
    priced = program.mass[part][:, None] * loss + laws[program.members].T @ prices[:, outputs]
    offers = max(_NEAREST, _MOVES // (2 * len(part)))
    nearest, lowest = (_least_of(table, offers) for table in (loss, priced))
    each = np.repeat(np.arange(len(part)), nearest.shape[1])
    sources, targets = _distinct(
        np.concatenate([each, each, own_sources]),
        np.concatenate([nearest.ravel(), lowest.ravel(), own_targets]),
        len(outputs),
    )
    others = Moves(found.sources[~mine], found.targets[~mine], found.shares[~mine])
    cost = program.mass[part][sources] * loss[sources, targets]
    got = solved(
        program,
        laws=laws,
        cost=cost,
        sources=sources,
        targets=targets,
        held=others.published(program.laws)[:, outputs],
    )
    before = Moves(found.sources[mine], found.targets[mine], found.shares[mine]).cost(program)
    if got is None or not float(cost @ got.shares) <= before * (1 + 1e-9):
        return found
    prices[:, outputs] = got.prices
    kept = got.shares > _DUST
    return _gathered(
        program.size,
        np.concatenate([others.sources, part[sources[kept]]]),
        np.concatenate([others.targets, outputs[targets[kept]]]),
        np.concatenate([others.shares, got.shares[kept]]),
    )


def _gathered(size: int, sources: Indices, targets: Indices, shares: Array) -> Moves:
    """Moves in the order of their inputs, each input's shares summing to one."""
    found = _sorted(sources, targets, shares)
    return replace(found, shares=found.shares / np.bincount(sources, weights=shares, minlength=size)[found.sources])


def _sorted(sources: Indices, targets: Indices, shares: Array) -> Moves:
    order = np.lexsort((targets, sources))
    return Moves(sources[order], targets[order], shares[order])


def _distinct(sources: Indices, targets: Indices, outputs: int) -> tuple[Indices, Indices]:
    both = np.unique(sources * outputs + targets)
    return both // outputs, both % outputs


def _least_of(table: Array, number: int) -> Indices:
    if table.shape[1] <= number:
        return np.broadcast_to(np.arange(table.shape[1]), table.shape)
    return np.argpartition(table, number, axis=1)[:, :number]


# Nothing can be much better: what no channel between thousands of values that bounds the odds costs less than.
#
# A price for each law and output, whatever it is, proves a bound (proofs/sparse.md); those of the last linear program
# make it a tight one. Sums of products of floats, whose rounding errors are bounded term by term and taken off.

_SAFE = 1 - 1e-12  # more than the roundings of sums over a group


@dataclass(frozen=True, eq=False)
class Prices:
    """Of each law of each group (`Program.members`), by outputs: any numbers prove a bound.

    kept: of each output itself, where the marginal is preserved; empty where it is not
    touching: of a finite order, where its tangent planes touch
    """

    values: Array
    kept: Array = field(default_factory=lambda: np.zeros(0))
    touching: Touching | None = None

    def to_json(self) -> dict[str, object]:
        """Plain lists."""
        plain: dict[str, object] = {"prices": self.values.tolist()}
        if self.kept.size:
            plain["kept"] = self.kept.tolist()
        if self.touching is not None:
            plain |= {"weights": self.touching.weights.tolist(), "ratios": self.touching.ratios.tolist()}
        return plain

    @classmethod
    def from_json(cls, plain: object) -> "Prices":
        """What `to_json` wrote."""
        names = set(plain) if isinstance(plain, dict) else set()
        if not isinstance(plain, dict) or names - {"kept"} not in ({"prices"}, {"prices", "weights", "ratios"}):
            raise InputError(
                "what proves the bound of a sparse channel must hold exactly prices, of a finite order weights and "
                "ratios, and kept where shares are"
            )
        values, kept = reals("prices", plain["prices"]), reals("kept", plain.get("kept", []))
        if not values.size and values.ndim == 1:
            values = values.reshape(0, 0)  # odds that are free have no prices
        if values.ndim != 2 or kept.ndim != 1:
            raise InputError("prices must be a table, a row for each law and a number for each output, and kept a list")
        if "weights" not in plain:
            return cls(values, kept)
        return cls(values, kept, Touching(reals("weights", plain["weights"]), reals("ratios", plain["ratios"])))


def lower_bound_by_columns(program: ColumnProgram, prices: Prices) -> float:
    """What every channel costs whose odds are within `program.odds` in every group; `lean` and `floor` play no part.

    Where the program keeps the marginal, it is about channels that preserve it.

    Args:
        program: the problem.
        prices: of each law at each output.

    Returns:
        A bound for any prices, with rounding taken off (proofs/sparse.md); good ones make it tight.

    Raises:
        InputError: for prices of another shape, or that are no numbers.
    """
    values, kept, order, touching = prices.values, prices.kept, program.order, prices.touching
    if not program.members and not values.size:
        values = np.zeros((0, program.size))
    if values.shape != (len(program.members), program.size) or not np.isfinite(values).all():
        raise InputError(
            f"prices must be {len(program.members)} rows of {program.size} finite numbers for this problem"
        )
    if kept.shape != ((program.size,) if program.keeps_marginal else (0,)) or not np.isfinite(kept).all():
        raise InputError("kept must be a finite number for each output where the marginal is preserved, and else empty")
    if (order is None) != (touching is None):
        raise InputError("weights and ratios are for a guarantee of finite order, and prove nothing of another")
    with np.errstate(all="ignore"):  # what overflows is not finite in the end, and then nothing is claimed
        members, prices_of, constant = program.members, _allowed(program, values), 0.0
        if order is not None and touching is not None:
            members = members + order.laws
            prices_of = np.vstack([prices_of, touching.checked(order, program.size).proved_prices(order)])
            constant = -math.fsum(touching.weights.tolist())
        # No entry passes through more roundings: dividing by a sum of n weights, adding columns, laws and the price of
        # the output, a few more.
        steps = (program.size + len(program.cells.codes) + len(members) + 26) * UNIT * 1.1
        constant -= steps * abs(constant) + TINY
        if program.keeps_marginal:
            terms = kept * program.mass
            constant -= math.fsum(terms.tolist())
            constant -= steps * (math.fsum(np.abs(terms).tolist()) + abs(constant)) + TINY
        outputs = np.arange(program.size)
        pricing = Pricing(program.cells, outputs, rate=program.mass, laws=program.laws[members])
        least = pricing.least_proved(prices_of, roundings=steps, kept=kept if program.keeps_marginal else None)
    return total(least, constant)


def _allowed(program: ColumnProgram, prices: Array) -> Array:
    """The prices with those above zero lowered until, in every group and at every output, e^ε times their sum is at
    most what those below zero sum to."""
    odds = math.nextafter(program.odds, math.inf)
    found, row = prices.copy(), 0
    for group in program.groups:
        part = found[row : row + len(group)]
        above, below = np.maximum(part, 0.0).sum(axis=0), np.maximum(-part, 0.0).sum(axis=0)
        share = np.minimum(1.0, _SAFE * below / np.maximum(odds * above, TINY)) * _SAFE
        found[row : row + len(group)] = np.where(part > 0, part * share, part)
        row += len(group)
    return found
