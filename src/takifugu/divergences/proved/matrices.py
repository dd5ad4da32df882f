"""Matrices of rational numbers: signs and determinants with no rounding at all.

A float is a fraction with a power of two below it. Whether a symmetric matrix of such numbers is positive definite is
read off the signs of its characteristic polynomial, whose roots are all real (proofs/vector.md, lemma 1).
"""

from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.proved.rational import fraction
from takifugu.errors import InputError


def exact_matrix(array: Array) -> Any:
    """A float64 matrix, or a vector as one column, as a matrix of rational numbers."""
    from flint import fmpq_mat

    rows = array.tolist() if array.ndim == 2 else [[x] for x in array.tolist()]
    return fmpq_mat([[fraction(x) for x in row] for row in rows])


def nearest_floats(matrix: Any) -> Array:
    """A matrix of rational numbers in float64, each entry rounded once."""
    return np.array([[int(x.numer()) / int(x.denom()) for x in row] for row in matrix.tolist()])


def is_definite(matrix: Any) -> bool:
    """Whether every eigenvalue of a symmetric matrix is above 0."""
    return volume_if_definite(matrix) is not None


def require_definite(name: str, matrix: Any) -> None:
    """Raise unless a covariance is definite as the exact numbers it holds.

    To floats a direction of −10⁻¹⁷ is one of 0 or a little more: a matrix of a rank too few, rounded, may pass there.
    """
    if not is_definite(matrix):
        raise InputError(f"{name} must be positive definite: but for rounding it is singular")


def volume_if_definite(matrix: Any) -> Any:
    """The determinant of a symmetric matrix whose eigenvalues are all above 0, None for any other."""
    coefficients = _alternated(matrix)
    return coefficients[0] if all(c > 0 for c in coefficients) else None


def is_semidefinite(matrix: Any) -> bool:
    """Whether no eigenvalue of a symmetric matrix is below 0."""
    coefficients = _alternated(matrix)
    return all(c >= 0 for c in coefficients)


def pivots(matrix: Any) -> list[int]:
    """The first columns that span the range of the matrix."""
    reduced, rank = matrix.rref()
    found = []
    for row in reduced.tolist()[:rank]:
        found.append(next(k for k, x in enumerate(row) if x != 0))
    return found


def block(matrix: Any, rows: list[int], columns: list[int]) -> Any:
    """The entries in some rows and columns."""
    from flint import fmpq_mat

    entries = matrix.tolist()
    return fmpq_mat([[entries[i][j] for j in columns] for i in rows])


def beside(left: Any, right: Any) -> Any:
    """Two matrices of as many rows, one beside the other."""
    from flint import fmpq_mat

    return fmpq_mat([a + b for a, b in zip(left.tolist(), right.tolist(), strict=True)])


def quadratic_form(matrix: Any, column: Any, determinant: Any) -> Any:
    """xᵀ·matrix⁻¹·x from two determinants: that of the matrix bordered by x is −|matrix|·xᵀ·matrix⁻¹·x."""
    from flint import fmpq, fmpq_mat

    xs = [row[0] for row in column.tolist()]
    bordered = fmpq_mat([[*row, x] for row, x in zip(matrix.tolist(), xs, strict=True)] + [[*xs, fmpq(0)]])
    return -bordered.det() / determinant


def _alternated(matrix: Any) -> list[Any]:
    """The elementary symmetric functions of the eigenvalues, from the determinant down to the trace."""
    coefficients = matrix.charpoly().coeffs()
    size = matrix.nrows()
    coefficients += [0] * (size + 1 - len(coefficients))
    return [c if (size - k) % 2 == 0 else -c for k, c in enumerate(coefficients[:size])]
