"""The linear program of a sparse channel: laws, the groups of laws to hide from one another, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.mechanisms.sparse.cells import Cells

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Program:
    """Bounded odds on thousands of values: for every output and group, no law of it is above `odds` times another.

    laws: probabilities, one row per law; groups: rows that are all to be hidden from one another
    mass: how much each input counts in the loss; cells: the loss itself
    lean, floor: each law's published probability p is counted as p + lean·(p + floor) where it is the larger, and as
        p − lean·(p + floor) where it is the smaller; zero where nothing is kept in hand for what is not known
    """

    laws: Array
    groups: tuple[tuple[int, ...], ...]
    mass: Array
    cells: Cells
    odds: float
    lean: float
    floor: Array

    @property
    def members(self) -> list[int]:
        """The laws of each group, group after group: a law of several groups stands there several times."""
        return [law for group in self.groups for law in group]

    @property
    def size(self) -> int:
        """The number of values."""
        return int(self.laws.shape[1])


def groups_of(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Groups of laws that cover the directed pairs exactly: whole groups where every pair is asked for, or the pairs.

    A group of g laws needs 2g conditions for an output where its pairs need g(g − 1).

    >>> groups_of([(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
    ((0, 1, 2),)
    >>> groups_of([(0, 1), (1, 0), (1, 2), (2, 1)])
    ((0, 1), (1, 2))
    """
    near: dict[int, set[int]] = {}
    for i, j in pairs:
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)
    found: list[tuple[int, ...]] = []
    left = set(near)
    while left:
        first = min(left)
        together, waiting = {first}, [first]
        while waiting:
            for other in near[waiting.pop()] - together:
                together.add(other)
                waiting.append(other)
        left -= together
        if all(near[i] | {i} == together for i in together):
            found.append(tuple(sorted(together)))
        else:
            found.extend((i, j) for i in sorted(together) for j in sorted(near[i]) if i < j)
    return tuple(found)
