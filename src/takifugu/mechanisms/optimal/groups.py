"""Laws of which each is hidden from each, as rows of a linear program: a floor for each output in place of all pairs.

p_i ≤ ρ p_j holds for every i in A and j in B exactly if some f has p_i ≤ ρ f for every i in A and f ≤ p_j for every j
in B: the least of these p_j is one. That takes as many rows as there are laws, where pairs take their product
(proofs/optimal.md).
"""

from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.program import Indices, Program

_WORTH_HALVES = 4  # times as few rows: many floors take the simplex method more steps, too many for twelve laws


class Group(NamedTuple):
    """Laws that are each to be hidden from every one of others; what is in both is hidden from itself anyway."""

    above: Indices
    below: Indices

    @property
    def rows(self) -> int:
        """How many rows it takes for each output."""
        return len(self.above) + len(self.below)


class Grouped(NamedTuple):
    """The constraints of a program: groups, and the places of those that are in none."""

    groups: tuple[Group, ...]
    rest: Indices


def grouped(program: Program) -> Grouped:
    """Groups where they take fewer rows than the pairs in them."""
    count = len(program.constraints)
    component = components(program.left, program.right, len(program.laws))
    sizes = np.bincount(component)
    held = np.bincount(component[program.left], minlength=len(sizes))
    groups: list[Group] = []
    free = np.ones(count, dtype=np.bool_)
    for name in np.flatnonzero((held == sizes * (sizes - 1)) & (sizes > 2)):  # every law of it against every other
        among = np.flatnonzero(component == name)
        found = [Group(among, among)] if program.radius is None else _halves(among)
        worth = 1 if program.radius is None else _WORTH_HALVES
        if worth * sum(group.rows for group in found) < held[name]:
            groups += found
            free &= component[program.left] != name
    return Grouped(tuple(groups), np.flatnonzero(free))


def components(left: Indices, right: Indices, laws: int) -> Indices:
    """A number for each law, the same for laws that pairs lead from one to the other: those of one belief, mostly."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(left.size), (left, right)), shape=(laws, laws))
    return np.asarray(connected_components(joined, directed=False)[1], dtype=np.intp)


def _halves(among: Indices) -> list[Group]:
    """Every law against every other and none against itself, which a radius around it would not allow."""
    if len(among) < 2:
        return []
    one, other = among[: len(among) // 2], among[len(among) // 2 :]
    return [Group(one, other), Group(other, one), *_halves(one), *_halves(other)]


def shared_out(program: Program, parts: Grouped, above: list[Array], below: list[Array], rest: Array) -> Array:
    """Multipliers of pairs, outputs × constraints, from those of the rows: (laws of a side × outputs) for each group.

    What the rows p_i ≤ ρ f and f ≤ p_j pay for the floor balances, so that each i can pay the j in proportion.
    """
    place = np.full((len(program.laws), len(program.laws)), -1)
    place[program.left, program.right] = np.arange(len(program.constraints))
    found = np.zeros((program.size[1], len(program.constraints)))
    found[:, parts.rest] = rest.T
    for group, pay, take in zip(parts.groups, above, below, strict=True):
        total = take.sum(axis=0)
        share = np.divide(take, total, out=np.zeros_like(take), where=total > 0)
        for k in np.flatnonzero(pay.any(axis=1)):
            others = place[group.above[k], group.below]
            apart = others >= 0
            found[:, others[apart]] += (pay[k] * share[apart]).T
    return found
