"""Sparse matrices as lists of their entries, while a linear program is written down.

SciPy checks every matrix that it makes, and of small programs these checks took longer than solving them. So there is
one such matrix, made at the end.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.program import Indices


@dataclass(frozen=True)
class Entries:
    """Where entries stand and what they are; of several in one place the sum is meant."""

    rows: Indices
    columns: Indices
    values: Array
    shape: tuple[int, int]

    def __neg__(self) -> "Entries":
        """Every entry with its sign turned."""
        return Entries(self.rows, self.columns, -self.values, self.shape)

    def times(self, factor: float) -> "Entries":
        """Every entry as many times."""
        return Entries(self.rows, self.columns, factor * self.values, self.shape)

    def __add__(self, other: "Entries") -> "Entries":
        """The entries of both."""
        return together([self, other], self.shape)

    def moved(self, down: int, right: int) -> "Entries":
        """The same entries further down and to the right, in a matrix that is larger by as much."""
        shape = (self.shape[0] + down, self.shape[1] + right)
        return Entries(self.rows + down, self.columns + right, self.values, shape)

    def sparse(self) -> Any:
        """The matrix as SciPy has it, row by row and without zeros."""
        from scipy.sparse import coo_array

        matrix = coo_array((self.values, (self.rows, self.columns)), shape=self.shape).tocsr()
        matrix.eliminate_zeros()
        return matrix


def together(blocks: list[Entries], shape: tuple[int, int]) -> Entries:
    """The entries of several in one matrix."""
    return Entries(
        np.concatenate([block.rows for block in blocks]),
        np.concatenate([block.columns for block in blocks]),
        np.concatenate([block.values for block in blocks]),
        shape,
    )


def listed(matrix: Array) -> Entries:
    """The entries of a dense matrix that are not zero."""
    rows, columns = np.nonzero(matrix)
    return Entries(rows, columns, matrix[rows, columns], matrix.shape)


def picked(columns: Indices, width: int) -> Entries:
    """A row for each of the columns named, with a one there."""
    return Entries(np.arange(columns.size), columns, np.ones(columns.size), (columns.size, width))


def diagonal(values: Array) -> Entries:
    """A square matrix with these values on its diagonal."""
    at = np.arange(values.size)
    return Entries(at, at, values, (values.size, values.size))


def identity(size: int) -> Entries:
    """The identity of this many rows."""
    return diagonal(np.ones(size))


def kron(left: Entries, right: Entries) -> Entries:
    """The Kronecker product: the right matrix in the place of every entry of the left one, times that entry."""
    (height, width), other = right.shape, left.shape
    return Entries(
        (left.rows[:, None] * height + right.rows).ravel(),
        (left.columns[:, None] * width + right.columns).ravel(),
        (left.values[:, None] * right.values).ravel(),
        (other[0] * height, other[1] * width),
    )
