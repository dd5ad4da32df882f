"""A good channel on thousands of values: a coarse one first, then all rows at once, or part after part.

Where all rows fit into one program, column generation finds the best channel there is. Where they do not, each step is
a program in which some inputs are free and all others stay as they are: the channel before the step is among its
candidates, so the cost never rises. The proof comes afterwards and trusts nothing of this (proofs/sparse.md).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from takifugu._listening import detail
from takifugu._validation import Array
from takifugu.mechanisms.sparse.generation import fits, generated
from takifugu.mechanisms.sparse.linear import solved
from takifugu.mechanisms.sparse.program import Places, Program

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

    sources: Places
    targets: Places
    shares: Array

    def published(self, laws: Array) -> Array:
        """What each law publishes, laws by values."""
        found = np.zeros(laws.shape)
        for law, into in zip(laws, found, strict=True):
            np.add.at(into, self.targets, law[self.sources] * self.shares)
        return found

    def cost(self, program: Program) -> float:
        """The expected loss."""
        lost = program.cells.along(self.sources, self.targets) * self.shares
        return float(program.mass[self.sources] @ lost)


def one_output(program: Program) -> Moves:
    """Every input published as the one value that costs least: it tells nothing, whatever is promised."""
    everyone = np.arange(program.size)
    best = _medoid(program, everyone, everyone[np.argsort(-program.mass, kind="stable")[:_GROUPS]])
    return Moves(everyone, np.full(program.size, best), np.ones(program.size))


class Searched(NamedTuple):
    """Moves, and the prices of `Program.members` at every output where they are those of one program for all rows."""

    moves: Moves
    prices: Array | None = None


def searched(program: Program, *, rounds: int, seed: int = 0, start: Moves | None = None) -> Searched:
    """The best channel that a number of rounds finds; it starts from `start`, or from a coarse one."""
    rng = np.random.default_rng(seed)
    found = start if start is not None else coarse(program, rng)
    # A lean condition asks every output for some probability, which those of the coarse channel have.
    opened = np.unique(found.targets) if program.lean > 0 else np.arange(program.size)
    if fits(program, len(opened)):
        whole = generated(program, found.sources, found.targets, opened, rounds=2 * rounds)
        if whole is not None:
            kept = whole.shares > _DUST
            moves = _gathered(program.size, whole.sources[kept], whole.targets[kept], whole.shares[kept])
            return Searched(moves, whole.prices if len(opened) == program.size else None)
    return Searched(_part_by_part(program, found, opened, rng, rounds))


def _part_by_part(program: Program, found: Moves, opened: Places, rng: np.random.Generator, rounds: int) -> Moves:
    prices = np.zeros((len(program.members), program.size))
    cost = found.cost(program)
    for _ in range(rounds):
        before = cost
        size = max(100, _ROWS_IN_ALL // len(program.laws))
        parts = program.cells.parts(rng, most=size, least=lambda _: True)
        for number, part in enumerate(parts, 1):
            detail(f"part {number:,} of {len(parts):,} of the rows")
            found = _improved(program, found, part, opened, prices)
        cost = found.cost(program)
        if cost >= (1 - _SETTLED) * before:
            break
    return found


def coarse(program: Program, rng: np.random.Generator) -> Moves:
    """A channel between groups of values, each published as one of its members; the promise decides how many."""
    most = max(1, program.size // _GROUPS)
    needed = _least_rows(program)
    for _ in range(20):

        def enough(part: Places, needed: Array = needed) -> bool:
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


def _least_rows(program: Program) -> Array:
    """The probability that an output needs of every law, by the lean conditions, with half as much again in hand."""
    if program.lean == 0:
        return np.zeros(len(program.laws))
    room = program.odds * (1 - program.lean) - (1 + program.lean)
    return np.asarray(1.5 * program.lean * program.floor * (1 + program.odds) / room)


def _between(program: Program, groups: list[Places]) -> Moves | None:
    """The best channel from groups to their members that stand for them, or None where the promise leaves none."""
    laws = np.stack([program.laws[:, group].sum(axis=1) for group in groups], axis=1)
    stand = np.array([_medoid(program, group, group) for group in groups])
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


def _medoid(program: Program, part: Places, candidates: Places) -> int:
    """The candidate that costs least as what all of a part is published as."""
    costs = np.zeros(len(candidates))
    for code, table in zip(program.cells.codes, program.cells.tables, strict=True):
        costs += (np.bincount(code[part], weights=program.mass[part], minlength=len(table)) @ table)[code[candidates]]
    return int(candidates[np.argmin(costs)])


def _improved(program: Program, found: Moves, part: Places, opened: Places, prices: Array) -> Moves:
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


def _gathered(size: int, sources: Places, targets: Places, shares: Array) -> Moves:
    """Moves in the order of their inputs, each input's shares summing to one."""
    order = np.lexsort((targets, sources))
    sources, targets, shares = sources[order], targets[order], shares[order]
    return Moves(sources, targets, shares / np.bincount(sources, weights=shares, minlength=size)[sources])


def _distinct(sources: Places, targets: Places, outputs: int) -> tuple[Places, Places]:
    both = np.unique(sources * outputs + targets)
    return both // outputs, both % outputs


def _least_of(table: Array, number: int) -> Places:
    if table.shape[1] <= number:
        return np.broadcast_to(np.arange(table.shape[1]), table.shape)
    return np.argpartition(table, number, axis=1)[:, :number]
