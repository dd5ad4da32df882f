"""The divergence of two mixtures in two or three dimensions by adaptive cubature: evidence, for tests and reports.

A number to compare a bound with, never a proof: the integrator's estimate of its own error is all there is.
"""

import math

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, order
from takifugu.errors import InputError
from takifugu.laws.vector import VectorMixture

_REACH = 9.0  # standard deviations around a centre, on each axis
_MOST = 3  # dimensions


def cubature_divergence(
    p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: npt.ArrayLike, rtol: float = 1e-7
) -> float:
    """D_α(p + N(0, Σ) ‖ q + N(0, Σ)) by integration; NaN where the integrator does not settle.

    Both laws must have a density after noise, and the integral must be finite.
    """
    from scipy.integrate import cubature

    alpha = order(alpha)
    p, q = p.with_noise(covariance), q.with_noise(covariance)
    if p.dimension > _MOST:
        raise InputError(f"cubature reaches {_MOST} dimensions, these laws have {p.dimension}: use the coupling bound")
    low, high = _box(p, q, alpha)
    centres = _centres(p, q, alpha)[0]
    top = float(_log_integrand(centres, p, q, alpha).max())

    def height(x: Array) -> Array:
        return np.asarray(np.exp(_log_integrand(x, p, q, alpha) - top), dtype=np.float64)

    result = cubature(height, low, high, rule="genz-malik" if len(low) > 1 else "gk21", rtol=rtol, atol=0.0)
    if result.status != "converged":
        return math.nan
    return (top + math.log(float(result.estimate))) / (alpha - 1.0)


def log_density(x: Array, law: VectorMixture) -> Array:
    """ln of the density at the rows of x."""
    from scipy.special import logsumexp

    factors = np.linalg.cholesky(law.covariances)
    logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    parts = []
    for factor, log, mean, weight in zip(factors, logs, law.means, law.weights, strict=True):
        z = np.linalg.solve(factor, (x - mean).T)
        parts.append(math.log(weight) - log - 0.5 * (z * z).sum(axis=0))
    return np.asarray(logsumexp(parts, axis=0) - 0.5 * law.dimension * math.log(2 * math.pi), dtype=np.float64)


def _log_integrand(x: Array, p: VectorMixture, q: VectorMixture, alpha: float) -> Array:
    return alpha * log_density(x, p) - (alpha - 1.0) * log_density(x, q)


def _centres(p: VectorMixture, q: VectorMixture, alpha: float) -> tuple[Array, Array]:
    """Where the integrand has its mass: the components and the centres of N_k^α M_l^{1−α}; with their widths."""
    beta = alpha - 1.0
    centres = [*p.means, *q.means]
    widths = [np.sqrt(np.diagonal(c)) for c in (*p.covariances, *q.covariances)]
    for mean, c in zip(p.means, p.covariances, strict=True):
        for other, b in zip(q.means, q.covariances, strict=True):
            tilted = alpha * np.linalg.inv(c) - beta * np.linalg.inv(b)
            if np.linalg.eigvalsh(tilted)[0] <= 0:
                continue
            spread = np.linalg.inv(tilted)
            centres.append(spread @ (alpha * np.linalg.solve(c, mean) - beta * np.linalg.solve(b, other)))
            widths.append(np.sqrt(np.diagonal(spread)))
    return np.array(centres), np.array(widths)


def _box(p: VectorMixture, q: VectorMixture, alpha: float) -> tuple[Array, Array]:
    centres, widths = _centres(p, q, alpha)
    return (centres - _REACH * widths).min(axis=0), (centres + _REACH * widths).max(axis=0)
