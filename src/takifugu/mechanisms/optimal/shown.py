"""Which rows of a linear program of many laws are written down: those of pairs that may bind, output by output.

A thousand laws on fifty values have fifty million rows, and some two thousand of them bind.
"""

from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.free import cheapest
from takifugu.mechanisms.optimal.groups import components, places
from takifugu.mechanisms.optimal.program import Indices, Mask, Program

_MANY = 24  # laws that are hidden from one another: of fewer all rows are written at once, in less time
_FIRST, _MORE = 4, 6  # laws that show an output the most, and as many that show it the least, of which pairs are made
_BROKEN = 1e-8  # less is mended by mixing in a trace of a constant row


class Shown(NamedTuple):
    """Pairs, by their places among the constraints, and the output that the odds of each are bounded at."""

    pairs: Indices
    outputs: Indices

    def means(self, program: Program) -> Indices:
        """The places, in laws × outputs, of what these rows are about."""
        m = program.size[1]
        return np.unique([law[self.pairs] * m + self.outputs for law in (program.left, program.right)])


def everywhere(program: Program, pairs: Indices) -> Shown:
    """These pairs at every output."""
    m = program.size[1]
    return Shown(np.repeat(pairs, m), np.tile(np.arange(m), len(pairs)))


def is_of_many(program: Program) -> bool:
    """Whether there are many laws, and each is hidden from all others that pairs lead to.

    Then the pair that breaks an output's odds the most is one of the largest and the least that show it.
    """
    if len(program.laws) <= _MANY:
        return False
    family = components(program.left, program.right, len(program.laws))
    sizes = np.bincount(family)
    apart = program.left != program.right
    held = np.bincount(family[program.left[apart]], minlength=len(sizes))
    return bool(apart.all() and (held == sizes * (sizes - 1)).all() and sizes.max() > _MANY)


def hardest(program: Program, allowed: Mask) -> Shown:
    """The pairs that hardly any change at all gives away the most, at every output."""
    n, m = program.size
    change = np.full((n, m), 0.1 / m)
    change[np.arange(n), cheapest(program, allowed)] += 0.9
    return _shown(program, np.unique(_candidates(program, change, _FIRST, least=0.0)))


def broken(program: Program, matrix: Array, shown: Shown) -> Shown | None:
    """The rows, and more that a channel breaks; None where it breaks no others."""
    more = _candidates(program, matrix, _MORE, least=program.factor * (1.0 + _BROKEN))
    rows = np.union1d(shown.pairs * program.size[1] + shown.outputs, more)
    return None if len(rows) == len(shown.pairs) else _shown(program, rows)


def _shown(program: Program, rows: Indices) -> Shown:
    return Shown(*np.divmod(rows, program.size[1]))


def _candidates(program: Program, matrix: Array, count: int, *, least: float) -> Indices:
    """Rows, as pair × outputs + output, whose odds are above `least`, of laws that show an output the most or least."""
    m, place = program.size[1], places(program)
    published = program.shares @ matrix
    spread = program.reach[:, None] * (np.ptp(matrix, axis=0) if program.radius is not None else 0.0)
    high, low = published + spread, published - spread
    family, every, found = components(program.left, program.right, len(program.laws)), np.arange(m), []
    for name in range(family.max() + 1):
        laws = np.flatnonzero(family == name)
        most = laws[np.argsort(-high[laws], axis=0, kind="stable")[:count]][:, None, :]
        fewest = laws[np.argsort(low[laws], axis=0, kind="stable")[:count]][None, :, :]
        pair = place[most, fewest]
        over = (pair >= 0) & (high[most, every] > least * low[fewest, every])
        found.append((pair * m + every)[over])
    return np.concatenate(found)
