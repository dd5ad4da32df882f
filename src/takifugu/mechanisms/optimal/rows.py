"""Rows of sparse linear programs about a channel, collected block by block; and the rows of its wishes."""

from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.program import Program


class Rows:
    """Rows over groups of variables, each with a name and a width; one of them is "channel", K(y|x) row by row."""

    def __init__(self, widths: dict[str, int]) -> None:
        """The groups, in the order of their variables."""
        self.widths = widths
        self.blocks: list[Any] = []
        self.limits: list[Array] = []

    def add(self, limit: Array, **parts: Any) -> None:
        """A block given by its parts over some of the groups; over the others it is zero."""
        from scipy.sparse import csr_array, hstack

        blank = {name: csr_array((limit.size, width)) for name, width in self.widths.items()}
        self.blocks.append(hstack([(blank | parts)[name] for name in self.widths], format="csr"))
        self.limits.append(limit)

    def joined(self) -> tuple[Any, Array]:
        """All rows, and their limits."""
        from scipy.sparse import vstack

        return vstack(self.blocks, format="csr"), np.concatenate(self.limits)


def add_wishes(program: Program, rows: Rows) -> None:
    """The wishes that are equalities: the marginal, then the mean or every input's own."""
    from scipy.sparse import csr_array, eye_array, kron

    n, m = program.size
    pooled = csr_array(program.pooled[None, :])
    if program.keep == "marginal":
        rows.add(program.pooled, channel=kron(pooled, eye_array(m, format="csr"), format="csr"))
    if program.outputs is not None and program.inputs is not None:
        out = csr_array(program.outputs[None, :])
        if program.unbiased:
            rows.add(program.inputs, channel=kron(eye_array(n), out, format="csr"))
        elif program.keep == "mean":
            rows.add(np.array([program.pooled @ program.inputs]), channel=kron(pooled, out, format="csr"))


def add_diagonal(program: Program, rows: Rows) -> None:
    """The share that stays as it is, where one is promised: an inequality."""
    from scipy.sparse import csr_array

    if program.diagonal is not None:
        rows.add(np.array([-program.diagonal]), channel=csr_array(-np.diag(program.pooled).reshape(1, -1)))
