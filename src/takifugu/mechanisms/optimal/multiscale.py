"""Columns from coarse to fine: the channel between groups of values first, whose moves and prices start the next.

A linear program between thousands of values takes its prices long to settle. Between groups of values that lie close
together and tell alike of the secrets it takes a moment, and its prices, spread out over the values of each group, say
which moves of each value to begin with. As with transport plans (Mérigot 2011; Schmitzer 2016) a few levels are enough.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.finite_problem import Cells
from takifugu.mechanisms.optimal.program import Indices
from takifugu.mechanisms.optimal.restricted_master import ColumnProgram, Generated, Master, Round, generated

_SMALL = 200  # values of a program that begins with all its moves
_FINER = 5  # a level has about as many times the values of the one before it
_NEAREST = 12  # moves offered to each input because they cost least
_BANDS = 4  # kinds of values that a law shows most, by how much more than the others
_AT_ONCE = 4_000_000
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
    at_prices = Round(np.zeros(0), 0.0, worth, before.limits, before.kept, 0.0)
    cheapest, _ = Master(program, everything).priced(at_prices)
    moves = before.sources * program.size + before.targets
    offered = np.unique(np.concatenate([nearest(program, everything), moves, cheapest]))
    return generated(program, everything, offered, rounds=rounds)


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
    laws = program.laws[program.members]
    most, least = laws.max(axis=0), np.maximum(laws.min(axis=0), 1e-300)
    steps = 2 * np.log(np.maximum(most / least, 1.0)) / max(np.log(program.odds), 1e-9)
    return np.asarray(laws.argmax(axis=0) * (_BANDS + 1) + np.minimum(steps, _BANDS).astype(np.intp))


def nearest(program: ColumnProgram, outputs: Indices) -> Indices:
    """The outputs that cost each input least, as places input × outputs + output."""
    number, step = min(_NEAREST, len(outputs)), max(1, _AT_ONCE // len(outputs))
    found = []
    for start in range(0, program.size, step):
        some = np.arange(start, min(program.size, start + step))
        near = np.argpartition(program.cells.between(some, outputs), number - 1, axis=1)[:, :number]
        found.append((some[:, None] * len(outputs) + near).ravel())
    return np.concatenate(found)


def medoid(program: ColumnProgram, part: Indices, candidates: Indices) -> int:
    """The candidate that costs least as what all of a part is published as."""
    costs = np.zeros(len(candidates))
    for code, table in zip(program.cells.codes, program.cells.tables, strict=True):
        costs += (np.bincount(code[part], weights=program.mass[part], minlength=len(table)) @ table)[code[candidates]]
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
