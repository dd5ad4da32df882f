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
from takifugu.divergences.proved.matrices import (
    exact_matrix,
    is_definite,
    is_semidefinite,
    nearest_floats,
    require_definite,
)
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
        inverse = _inverse(self.covariance)
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
    whole = _inverse(covariance_matrix("the budget's covariance", budget, definite=True))
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
    left = _inverse(whole)
    for release in releases:
        left = left - release.precision()
    if not is_definite(left):
        return None
    covariance = nearest_floats(left.inv())
    covariance = 0.5 * (covariance + covariance.T)
    hair = 2.0**-52
    while hair < 1:
        if not np.isfinite(covariance).all() or not is_definite(exact_matrix(covariance)):
            return None  # beyond floats, or so narrow that its rounding has no least direction left
        if fits([*releases, LinearRelease(covariance)], budget=whole):
            return covariance
        covariance, hair = covariance * (1 + hair), 4 * hair
    return None


def worth(releases: Sequence[LinearRelease]) -> Array:
    """The covariance of the one release of the whole vector that tells as much as all of these."""
    total = sum((release.precision() for release in releases[1:]), releases[0].precision())
    if total.det() == 0:
        raise InputError("these releases leave a direction of the vector untold: no release of all of it is worth them")
    return nearest_floats(total.inv())


def _inverse(covariance: Array) -> Any:
    """S⁻¹ as rational numbers, of a definite S.

    A direction of −10⁻¹⁷ would be a precision far below 0: a release that is bare there would give back more of the
    budget than any other takes.
    """
    exact = exact_matrix(covariance)
    require_definite("a covariance", exact)
    return exact.inv()
