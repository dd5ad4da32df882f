"""Laws of which each is hidden from each, as rows of a linear program: a floor for each output in place of all pairs.

p_i ≤ ρ p_j holds for all i and j exactly if some f has p_i ≤ ρ f and f ≤ p_i for every i: the least of them is one.
That takes two rows for each law, where pairs take the square (proofs/optimal.md).
"""

from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.program import Indices, Mask, Program


class Grouped(NamedTuple):
    """The constraints of a program: the laws of each group, and the places of constraints that are in none."""

    groups: tuple[Indices, ...]
    rest: Indices


def grouped(program: Program) -> Grouped:
    """Groups where they take fewer rows than the pairs in them.

    With a radius there are none: a law against itself, which a floor asks for too, is promised nothing then.
    """
    count = len(program.constraints)
    if program.radius is not None:
        return Grouped((), np.arange(count))
    component, whole = families(program)
    groups: list[Indices] = []
    free = np.ones(count, dtype=np.bool_)
    for name in np.flatnonzero(whole):
        among = np.flatnonzero(component == name)
        if 2 * among.size < among.size * (among.size - 1):
            groups.append(among)
            free &= component[program.left] != name
    return Grouped(tuple(groups), np.flatnonzero(free))


def families(program: Program) -> tuple[Indices, Mask]:
    """The `components` of a program, and of which of them every law is hidden from every other."""
    component = components(program.left, program.right, len(program.laws))
    sizes = np.bincount(component)
    held = np.bincount(component[program.left], minlength=len(sizes))
    with_itself = np.bincount(component[program.left[program.left == program.right]], minlength=len(sizes))
    return component, (held == sizes * (sizes - 1)) & (with_itself == 0)


def components(left: Indices, right: Indices, laws: int) -> Indices:
    """A number for each law, the same for laws that pairs lead from one to the other: those of one belief, mostly."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(left.size), (left, right)), shape=(laws, laws))
    return np.asarray(connected_components(joined, directed=False)[1], dtype=np.intp)


def shared_out(program: Program, groups: tuple[Indices, ...], above: list[Array], below: list[Array]) -> Array:
    """Multipliers of pairs, outputs × constraints, from those of the rows: (laws × outputs) for each group.

    What the rows p_i ≤ ρ f and f ≤ p_j pay for the floor balances, so that each i can pay the j in proportion.
    """
    found = np.zeros((program.size[1], len(program.constraints)))
    if not groups:
        return found
    place = places(program)
    for group, pay, take in zip(groups, above, below, strict=True):
        total = take.sum(axis=0)
        share = np.divide(take, total, out=np.zeros_like(take), where=total > 0)
        for k in np.flatnonzero(pay.any(axis=1)):
            others = place[group[k], group]
            apart = others >= 0
            found[:, others[apart]] += (pay[k] * share[apart]).T
    return found


def places(program: Program) -> Indices:
    """Which constraint a law and another are in, laws × laws; −1 where they are in none."""
    found = np.full((len(program.laws), len(program.laws)), -1)
    found[program.left, program.right] = np.arange(len(program.constraints))
    return found
