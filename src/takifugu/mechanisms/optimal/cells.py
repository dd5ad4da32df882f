"""Channels that leave every row in its cell: one block for each belief, each found and proved on its own.

A belief is then that of who has read the cell, which is published with the row: its laws live on the rows of one cell
alone, and no row becomes one of another cell (proofs/cells.md).
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu.channels.base import Channel
from takifugu.channels.finite import FiniteChannel
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.values import key
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.optimal.losses import loss_matrix
from takifugu.mechanisms.optimal.table import table_of
from takifugu.problems.beliefs import Belief
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

if TYPE_CHECKING:
    from takifugu.mechanisms.optimal.mechanism import Optimal


class Block(NamedTuple):
    """One cell: the rule and the problem that are left of the whole there, and which values of the whole it has."""

    rule: "Optimal"
    problem: Problem
    rows: npt.NDArray[np.intp]

    def part(self, channel: FiniteChannel) -> FiniteChannel:
        """The block of a channel, which must leave every row of the cell in it."""
        values = tuple(channel.inputs[k] for k in self.rows.tolist())
        return FiniteChannel(values, values, channel.counts[np.ix_(self.rows, self.rows)])


def blocks(rule: "Optimal", problem: Problem) -> list[Block]:
    """The cells of a problem, one for each belief; an error where two beliefs share a row."""
    table, size, reach = table_of(problem), len(problem.pairs.secrets), rule.reach(problem)
    loss = loss_matrix(rule.loss, table.values, table.values, table.mass)
    taken = np.zeros(len(table.values), dtype=bool)
    found = []
    for b, belief in enumerate(problem.beliefs):
        laws = table.laws[b * size : (b + 1) * size]
        rows = np.flatnonzero(laws.any(axis=0))
        if taken[rows].any():
            raise InputError("two beliefs have a row in common: with cells each must have rows of its own")
        taken[rows] = True
        values = [table.values[k] for k in rows.tolist()]
        named = {key(value) for value in values}
        inner = replace(
            rule,
            cells=False,
            loss=loss[np.ix_(rows, rows)].tolist(),
            radius=tuple(reach[b * size : (b + 1) * size].tolist()),
            forbidden=tuple(move for move in rule.forbidden if {key(move[0]), key(move[1])} <= named),
        )
        here = {s: Finite(values, laws[k, rows]) for k, s in enumerate(problem.pairs.secrets)}
        found.append(Block(inner, Problem((Belief(here, label=belief.label),), problem.pairs), rows))
    if not taken.all():
        raise InputError("a row lies in no cell: every row that may be published must be one of some belief")
    return found


def find_in_cells(rule: "Optimal", problem: Problem, asked: Renyi) -> Found:
    """The best channel of each cell, put together. What the whole could cost at the least is not said."""
    return assembled(
        problem, [(block, block.rule.find(block.problem, asked).channel) for block in blocks(rule, problem)]
    )


def assembled(problem: Problem, parts: list[tuple[Block, Channel]]) -> Found:
    """The channel whose blocks these are."""
    table = table_of(problem)
    counts = np.zeros((len(table.values), len(table.values)), dtype=np.int64)
    for block, channel in parts:
        if not isinstance(channel, FiniteChannel):
            raise InputError("a cell needs a finite channel")
        counts[np.ix_(block.rows, block.rows)] = channel.counts
    return Found(FiniteChannel(table.values, table.values, counts))


def is_kept_in_cells(rule: "Optimal", problem: Problem, asked: Renyi, channel: FiniteChannel) -> bool:
    """Whether no row leaves its cell, and every cell's block is proved to keep the promise."""
    found = blocks(rule, problem)
    return stays_inside(channel, found) and all(
        block.rule.is_kept(block.problem, asked, block.part(channel)) for block in found
    )


def stays_inside(channel: FiniteChannel, found: list[Block]) -> bool:
    """Whether no row leaves its cell."""
    inside = np.zeros(channel.counts.shape, dtype=bool)
    for block in found:
        inside[np.ix_(block.rows, block.rows)] = True
    return not channel.counts[~inside].any()
