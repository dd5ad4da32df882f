"""Rows of sparse linear programs about a channel, collected block by block; and the rows of its wishes."""

from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.entries import Entries, identity, kron, listed, together
from takifugu.mechanisms.optimal.program import Program


class Rows:
    """Rows over groups of variables, each with a name and a width; one of them is "channel", K(y|x) row by row."""

    def __init__(self, widths: dict[str, int]) -> None:
        """The groups, in the order of their variables."""
        self.widths = widths
        self.starts = dict(zip(widths, np.cumsum([0, *widths.values()]).tolist(), strict=False))
        self.height = 0
        self.blocks: list[Entries] = []
        self.limits: list[Array] = []

    def add(self, limit: Array, **parts: Entries) -> None:
        """A block given by its parts over some of the groups; over the others it is zero."""
        self.blocks += [part.moved(self.height, self.starts[name]) for name, part in parts.items()]
        self.height += limit.size
        self.limits.append(limit)

    def entries(self) -> Entries:
        """All rows, as one matrix."""
        return together(self.blocks, (self.height, sum(self.widths.values())))

    def joined(self) -> tuple[Any, Array]:
        """All rows, as SciPy has them, and their limits."""
        return self.entries().sparse(), np.concatenate(self.limits)


def add_wishes(program: Program, rows: Rows) -> None:
    """The wishes that are equalities: the marginal, then the mean or every input's own."""
    n, m = program.size
    pooled = listed(program.pooled[None, :])
    if program.keep == "marginal":
        rows.add(program.pooled, channel=kron(pooled, identity(m)))
    if program.outputs is not None and program.inputs is not None:
        out = listed(program.outputs[None, :])
        if program.unbiased:
            rows.add(program.inputs, channel=kron(identity(n), out))
        elif program.keep == "mean":
            rows.add(np.array([program.pooled @ program.inputs]), channel=kron(pooled, out))


def add_diagonal(program: Program, rows: Rows) -> None:
    """The share that stays as it is, where one is promised: an inequality."""
    if program.diagonal is not None:
        rows.add(np.array([-program.diagonal]), channel=listed(-np.diag(program.pooled).reshape(1, -1)))
