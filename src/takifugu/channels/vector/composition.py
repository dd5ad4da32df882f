"""What several releases about one vector are worth together: their precisions, matrices, add up.

A release A·X + N(0, S) has the precision AᵀS⁻¹A (proofs/vector-sampler.md). Whether a sum still fits into a budget is
decided in rational arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.divergences.proved.matrices import exact_matrix, is_definite, is_semidefinite
from takifugu.errors import InputError
from takifugu.laws.vector import covariance_matrix


@dataclass(frozen=True, eq=False)
class LinearRelease:
    """A·X + N(0, covariance); `linear` is A, by default the identity: the vector itself."""

    covariance: Array
    linear: Array | None = None

    @classmethod
    def of(cls, covariance: npt.ArrayLike, linear: npt.ArrayLike | None = None) -> "LinearRelease":
        """Check the two matrices."""
        matrix = covariance_matrix("the noise's covariance", covariance, definite=True)
        if linear is None:
            return cls(matrix)
        a = np.atleast_2d(np.asarray(linear, dtype=np.float64))
        if a.ndim != 2 or not np.isfinite(a).all() or len(a) != len(matrix):
            raise InputError(
                f"linear must be a matrix of finite numbers with a row for each of the {len(matrix)} numbers published"
            )
        return cls(matrix, a)

    def precision(self) -> Any:
        """AᵀS⁻¹A as rational numbers."""
        inverse = exact_matrix(self.covariance).inv()
        if self.linear is None:
            return inverse
        a = exact_matrix(self.linear)
        return a.transpose() * inverse * a


def fits(releases: Sequence[LinearRelease], *, budget: npt.ArrayLike) -> bool:
    """Whether all releases together tell no more than one release of the vector with noise `budget`.

    >>> half = LinearRelease.of([[2.0, 0.0], [0.0, 2.0]])
    >>> fits([half, half], budget=np.eye(2)), fits([half, half, half], budget=np.eye(2))
    (True, False)
    """
    whole = exact_matrix(covariance_matrix("the budget's covariance", budget, definite=True)).inv()
    for release in releases:
        spent = release.precision()
        if spent.nrows() != whole.nrows():
            raise InputError(f"a release about {spent.nrows()} numbers does not compose with one of {whole.nrows()}")
        whole = whole - spent
    return is_semidefinite(whole)


def at_least(covariance: Array, least: Array) -> bool:
    """Whether one covariance has, in every direction, at least the variance of another."""
    return is_semidefinite(exact_matrix(covariance) - exact_matrix(least))


def what_is_left(releases: Sequence[LinearRelease], *, budget: npt.ArrayLike) -> Array | None:
    """The covariance of one more release of the whole vector that uses up the budget; None where none is left.

    The precision left over is exact; its inverse is rounded and raised until it is checked to fit.

    >>> what_is_left([LinearRelease.of([[2.0, 0.0], [0.0, 4.0]])], budget=np.eye(2)).round(6).tolist()
    [[2.0, 0.0], [0.0, 1.333333]]
    """
    whole = covariance_matrix("the budget's covariance", budget, definite=True)
    left = exact_matrix(whole).inv()
    for release in releases:
        left = left - release.precision()
    if not is_definite(left):
        return None
    covariance = _floats(left.inv())
    covariance = 0.5 * (covariance + covariance.T)
    hair = 2.0**-52
    while hair < 1:
        if np.isfinite(covariance).all() and fits([*releases, LinearRelease(covariance)], budget=whole):
            return covariance
        covariance, hair = covariance * (1 + hair), 4 * hair
    return None


def worth(releases: Sequence[LinearRelease]) -> Array:
    """The covariance of the one release of the whole vector that tells as much as all of these."""
    total = sum((release.precision() for release in releases[1:]), releases[0].precision())
    if total.det() == 0:
        raise InputError("these releases leave a direction of the vector untold: no release of all of it is worth them")
    return np.array([[int(x.numer()) / int(x.denom()) for x in row] for row in total.inv().tolist()])


def least_multiple(release: LinearRelease, spent: Sequence[LinearRelease], *, budget: npt.ArrayLike) -> float:
    """The least factor on a release's covariance at which it still fits; infinite where none does."""
    whole = np.linalg.inv(covariance_matrix("the budget's covariance", budget, definite=True))
    left = whole - sum((_floats(each.precision()) for each in spent), np.zeros_like(whole))
    values, vectors = np.linalg.eigh(0.5 * (left + left.T))
    own = vectors.T @ _floats(release.precision()) @ vectors
    open_ = values > 1e-12 * np.abs(np.linalg.eigvalsh(whole)).max()
    if not open_.any() or np.abs(own[~open_]).max(initial=0.0) > 1e-9 * np.abs(own).max():
        return float("inf")
    root = 1 / np.sqrt(values[open_])
    factor = max(float(np.linalg.eigvalsh(own[np.ix_(open_, open_)] * np.outer(root, root))[-1]), 2.0**-60)
    hair = 2.0**-50
    while hair < 1:  # the eigenvalue is a float's; what is returned has been checked
        if fits([*spent, LinearRelease(factor * release.covariance, release.linear)], budget=budget):
            return factor
        factor, hair = factor * (1 + hair), 4 * hair
    return float("inf")


def _floats(matrix: Any) -> Array:
    return np.array([[int(x.numer()) / int(x.denom()) for x in row] for row in matrix.tolist()])
