"""Which rows of a linear program of many laws are written down: those of pairs that may bind, output by output.

A thousand laws on fifty values have fifty million rows, and some two thousand of them bind.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.free import hardly_changed
from takifugu.mechanisms.optimal.groups import families, places
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


@dataclass(frozen=True)
class Many:
    """A program of many laws, each hidden from all others that pairs lead to; which family each is of; its pairs.

    The pair that breaks an output's odds the most is then one of the largest and the least that show it.
    """

    program: Program
    family: Indices
    place: Indices

    @classmethod
    def of(cls, program: Program) -> "Many | None":
        """None where there are few laws, or a pair is missing."""
        if len(program.laws) <= _MANY:
            return None
        family, whole = families(program)
        return cls(program, family, places(program)) if whole.all() and np.bincount(family).max() > _MANY else None

    def hardest(self, allowed: Mask) -> Shown:
        """The pairs that hardly any change at all gives away the most, at every output."""
        start = hardly_changed(self.program, allowed)
        return self._shown(np.unique(self._candidates(start, _FIRST, least=0.0)))

    def broken(self, matrix: Array, shown: Shown) -> Shown | None:
        """The rows, and more that a channel breaks; None where it breaks no others."""
        more = self._candidates(matrix, _MORE, least=self.program.factor * (1.0 + _BROKEN))
        rows = np.union1d(shown.pairs * self.program.size[1] + shown.outputs, more)
        return None if len(rows) == len(shown.pairs) else self._shown(rows)

    def _shown(self, rows: Indices) -> Shown:
        return Shown(*np.divmod(rows, self.program.size[1]))

    def _candidates(self, matrix: Array, count: int, *, least: float) -> Indices:
        """Rows, as pair × outputs + output, whose odds are above `least`, of laws that show an output most or least."""
        program, m = self.program, self.program.size[1]
        published = program.shares @ matrix
        spread = program.reach[:, None] * (np.ptp(matrix, axis=0) if program.radius is not None else 0.0)
        high, low = published + spread, published - spread
        every, found = np.arange(m), []
        for name in range(self.family.max() + 1):
            laws = np.flatnonzero(self.family == name)
            most = laws[np.argsort(-high[laws], axis=0, kind="stable")[:count]][:, None, :]
            fewest = laws[np.argsort(low[laws], axis=0, kind="stable")[:count]][None, :, :]
            pair = self.place[most, fewest]
            over = (pair >= 0) & (high[most, every] > least * low[fewest, every])
            found.append((pair * m + every)[over])
        return np.concatenate(found)
