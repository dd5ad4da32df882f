"""The divergence of many pairs of Gaussian vectors at once: a sum of d divergences on the line.

Whiten with the Cholesky factor of q's covariance B = C_q + Σ and turn the axes to the eigenvectors of what is left of
C_p − C_q: there both are products of independent normals (proofs/vector.md). The *difference* of the covariances is
whitened, not the covariances: for C_p ≈ C_q the determinants agree to more digits than a float64 has.
"""

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.divergences.line.many_gaussians import spread_series

_SERIES_BELOW = 0.1  # on |αν|, as on the line
_DOUBT = 2e-11  # a relative error that may be larger than this sends a pair to exact arithmetic
_UNIT = 8 * 2.0**-53


def gaussian_vector_divergences(gaps: Array, lead: Array, follow: Array, *, alpha: float, covariance: Array) -> Array:
    """D_α(N(gap, lead + Σ) ‖ N(0, follow + Σ)) for each of P pairs: gaps P×d, covariances P×d×d, Σ d×d.

    Where float64 may have lost more than the eleventh digit, or the integral is about to diverge, the pair is settled
    in exact arithmetic; what rounding may have taken from the others is put back. `inf` where the integral diverges.
    """
    value, doubt = _in_floats(gaps, lead, follow, alpha, covariance)
    with np.errstate(all="ignore"):
        value = np.where(doubt <= _DOUBT, value * (1 + doubt), np.nan)
    for place in np.flatnonzero(~np.isfinite(value)):
        value[place] = _exactly(gaps[place], lead[place], follow[place], alpha, covariance)
    return value


def rough_vector_divergences(gaps: Array, lead: Array, follow: Array, *, alpha: float, covariance: Array) -> Array:
    """The same for a search that is checked afterwards: no exact arithmetic, `inf` wherever float64 is lost."""
    value, doubt = _in_floats(gaps, lead, follow, alpha, covariance)
    return np.where(doubt < 1e-3, value, np.inf)


def gaussian_vector_divergence(gap: Array, lead: Array, follow: Array, *, alpha: float, covariance: Array) -> float:
    """`gaussian_vector_divergences` of one pair.

    >>> eye = np.eye(2)
    >>> round(gaussian_vector_divergence(np.ones(2), eye, eye, alpha=2.0, covariance=eye), 9)
    1.0
    """
    both = gaussian_vector_divergences(gap[None], lead[None], follow[None], alpha=alpha, covariance=covariance)
    return float(both[0])


def _in_floats(gaps: Array, lead: Array, follow: Array, alpha: float, covariance: Array) -> tuple[Array, Array]:
    """The divergences, and an estimate of their relative error: infinite where nothing is known."""
    beta, d = alpha - 1.0, gaps.shape[1]
    with np.errstate(all="ignore"):
        total = follow + covariance
        unit = np.sqrt(np.diagonal(total, axis1=1, axis2=2))
        usable = np.asarray((np.isfinite(unit) & (unit > 1e-140)).all(axis=1))
        unit = np.where(usable[:, None], unit, 1.0)
        square = unit[:, :, None] * unit[:, None, :]
        scaled = np.where(usable[:, None, None], total / square, np.eye(d))
        factor, definite = _cholesky(scaled)
        usable &= definite
        inverse = np.linalg.inv(factor)
        difference = (lead - follow) / square
        finite = np.isfinite(difference).all(axis=(1, 2))
        usable &= finite
        white = inverse @ np.where(usable[:, None, None], difference, 0.0) @ inverse.transpose(0, 2, 1)
        e, axes = np.linalg.eigh(0.5 * (white + white.transpose(0, 2, 1)))
        g = np.einsum("pij,pj->pi", inverse, gaps / unit)
        shift = np.einsum("pij,pi->pj", axes, g)
        w, v = 1.0 - beta * e, 1.0 + e  # q's variance is 1 on each of these axes, p's is 1 + e
        nu = -e / v
        spread = -0.5 * (np.log1p(e) + np.log1p(-beta * e) / beta)
        close = np.abs(alpha * nu) < _SERIES_BELOW
        if close.any():
            spread = np.where(close, spread_series(nu, alpha), spread)
        value: Array = (0.5 * alpha * shift * shift / w + spread).sum(axis=1)
        # The condition of the whitening, times what the distance to an edge (w = 0 or v = 0) makes of it.
        condition = (factor * factor).sum(axis=(1, 2)) * (inverse * inverse).sum(axis=(1, 2)) / d**2
        size = np.abs(e).max(axis=1)
        least_w, least_v = w.min(axis=1), v.min(axis=1)
        edge = (1 + beta * size) / np.minimum(least_w, 1.0) / np.minimum(least_v, 1.0)
        doubt = _UNIT * (8 + d * condition * edge)  # eight: two logarithms that cancel to five bits
        known = usable & (least_w > 0) & (least_v > 0) & np.isfinite(value) & (value >= 0)
        return value, np.where(known & (doubt >= 0), doubt, np.inf)


def _cholesky(matrices: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The factors, and which of the matrices have one; the identity stands for the factor of the others."""
    try:
        factors = np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
        return factors, np.ones(len(matrices), dtype=np.bool_)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(matrices)[:, 0]
        good: npt.NDArray[np.bool_] = least > 1e-12
        factors = np.linalg.cholesky(np.where(good[:, None, None], matrices, np.eye(matrices.shape[1])))
        return factors, good


def _exactly(gap: Array, lead: Array, follow: Array, alpha: float, covariance: Array) -> float:
    """The upper end of an enclosure; infinite where there is none."""
    from takifugu.divergences.proved.balls import UNKNOWN, meet, outward
    from takifugu.divergences.proved.gaussian_vectors import ExactGaussian, GaussianVectors
    from takifugu.divergences.proved.matrices import exact_matrix
    from takifugu.divergences.proved.rational import fraction

    if not np.isfinite(gap).all():
        return float("inf")
    noise = exact_matrix(covariance)
    p, q = ExactGaussian.after_noise(gap, lead, noise), ExactGaussian.after_noise(0.0 * gap, follow, noise)
    pair = GaussianVectors(p, q, alpha=fraction(alpha))
    found = UNKNOWN
    for value in pair.balls():
        found = meet(found, outward(value))
        if found.width <= 1e-13 * found.lower:
            break
    return found.upper
