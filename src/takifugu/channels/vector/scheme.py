"""Turning a covariance into independent axes by a matrix that multiplies without rounding.

Σ = T·diag·Tᵀ with T unit lower triangular, so U = T⁻¹ makes the axes of U·noise independent. U is rounded to a few
binary digits, which spoils that a little; the variances θ² of the axes are raised until diag(θ²) ⪰ UΣUᵀ, that is
until U⁻¹·diag(θ²)·U⁻ᵀ ⪰ Σ, and this is proved in rational arithmetic (proofs/vector-sampler.md).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.proved.matrices import exact_matrix, is_semidefinite, nearest_floats, require_definite
from takifugu.divergences.proved.rational import fraction
from takifugu.errors import InputError

_BITS = (12, 18, 24, 30, 36)  # binary digits of U after the point: the first that cost little
_LITTLE = 5e-4  # of the variance
_ATTEMPTS = 60


@dataclass(frozen=True)
class Scheme:
    """x is measured in 2^exponents, multiplied by U = rows·2^−bits, and axis k then gets noise of deviation thetas[k].

    The effective covariance, 2^e·U⁻¹·diag(θ²)·U⁻ᵀ·2^e, is proved to be at least the one asked for.
    """

    exponents: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    bits: int
    thetas: tuple[float, ...]

    @classmethod
    def of(cls, covariance: Array) -> "Scheme":
        """The scheme of a positive definite covariance, proved."""
        # Powers of two, so that changing to these units rounds nothing: variances lie between 1/4 and 1.
        exponents = [-(-math.frexp(float(v))[1] // 2) for v in np.diagonal(covariance)]
        # In two steps: 2^-(e+f) itself may be no float64.
        unit = np.ldexp(1.0, [-e for e in exponents])
        sigma = covariance * unit * unit[:, None]
        exact = _scaled(covariance, exponents)
        require_definite("the noise's covariance", exact)
        try:
            factor = np.linalg.cholesky(sigma)
        except np.linalg.LinAlgError:
            raise InputError("the noise's covariance must be positive definite: it is singular to float64") from None
        turn = np.linalg.inv(factor / np.diagonal(factor))
        for bits in _BITS:
            rows = tuple(
                tuple((1 << bits) if j == i else (round(math.ldexp(float(x), bits)) if j < i else 0) for j, x in line)
                for i, line in enumerate(enumerate(row) for row in turn)
            )
            thetas, excess = _proved_thetas(rows, bits, exact)
            if excess <= _LITTLE:
                break
        return cls(tuple(exponents), rows, bits, thetas)

    def effective(self) -> Any:
        """The covariance of the noise, as a matrix of rational numbers."""
        from flint import fmpq_mat

        d = len(self.thetas)
        inverse = (_dyadic(self.rows, self.bits)).inv()
        axes = fmpq_mat([[fraction(self.thetas[i]) ** 2 if i == j else 0 for j in range(d)] for i in range(d)])
        units = fmpq_mat([[_power(self.exponents[i]) if i == j else 0 for j in range(d)] for i in range(d)])
        return units * inverse * axes * inverse.transpose() * units


def _proved_thetas(rows: tuple[tuple[int, ...], ...], bits: int, sigma: Any) -> tuple[tuple[float, ...], float]:
    """Deviations of the axes with diag(θ²) ⪰ UΣUᵀ, proved, and how far their squares exceed its diagonal."""
    from flint import fmpq_mat

    d = len(rows)
    U = _dyadic(rows, bits)
    exact = U * sigma * U.transpose()
    # Entries of a product of 2^bits-ths: any of them fits a float64 to its last digit.
    turned = nearest_floats(exact)
    deviation = np.sqrt(np.diagonal(turned))
    excess = max(float(np.linalg.eigvalsh(turned / np.outer(deviation, deviation))[-1]) - 1.0, 0.0) + 1e-14
    for _ in range(_ATTEMPTS):
        thetas = [float(x) for x in deviation * math.sqrt(1 + excess)]
        room = fmpq_mat([[fraction(thetas[i]) ** 2 if i == j else 0 for j in range(d)] for i in range(d)]) - exact
        if is_semidefinite(room):
            return tuple(thetas), excess
        excess = 2 * excess
    raise InputError("the noise's covariance is too close to singular to be drawn safely: raise its least direction")


def _scaled(covariance: Array, exponents: list[int]) -> Any:
    """2^−e·Σ·2^−e without rounding."""
    from flint import fmpq_mat

    d = len(exponents)
    units = fmpq_mat([[_power(-exponents[i]) if i == j else 0 for j in range(d)] for i in range(d)])
    return units * exact_matrix(covariance) * units


def _dyadic(rows: tuple[tuple[int, ...], ...], bits: int) -> Any:
    from flint import fmpq, fmpq_mat

    return fmpq_mat([[fmpq(x, 1 << bits) for x in row] for row in rows])


def _power(exponent: int) -> Any:
    from flint import fmpq

    return fmpq(1 << exponent) if exponent >= 0 else fmpq(1, 1 << -exponent)
