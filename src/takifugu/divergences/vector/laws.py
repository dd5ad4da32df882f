"""The divergence of two laws of vectors without noise, wherever there is a way to know it."""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.general import divergence as line_divergence
from takifugu.divergences.points import point_divergence
from takifugu.divergences.vector.cubature import cubature_divergence
from takifugu.divergences.vector.gaussian import gaussian_vector_divergence
from takifugu.errors import InputError
from takifugu.laws.vector import VectorMixture

_MOST_AXES = 3  # beyond them mixtures are not integrated


def vector_divergence(p: VectorMixture, q: VectorMixture, *, alpha: float) -> float:
    """D_α(p ‖ q): a formula for Gaussians, a sum for points, an integral for mixtures in up to three dimensions."""
    if p.dimension != q.dimension:
        raise InputError(f"p is about {p.dimension} numbers and q about {q.dimension}: both must be about the same")
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    nothing = np.zeros((p.dimension, p.dimension))
    if len(p) == len(q) == 1:
        return gaussian_vector_divergence(
            p.means[0] - q.means[0], p.covariances[0], q.covariances[0], alpha=alpha, covariance=nothing
        )
    if p.dimension == 1:
        return line_divergence(p.projected([1.0]), q.projected([1.0]), alpha=alpha, theta=0.0)
    if not p.covariances.any() and not q.covariances.any():
        return _points(p, q, alpha)
    if any(math.isinf(line_divergence(p.projected(a), q.projected(a), alpha=alpha, theta=0.0)) for a in _axes(p, q)):
        return math.inf  # one number that follows from the vector tells all (data processing)
    if p.dimension <= _MOST_AXES and _is_finite(p, q, alpha):
        value = cubature_divergence(p, q, alpha=alpha, covariance=nothing)
        if not math.isnan(value):
            return max(value, 0.0)
    raise InputError(
        "the divergence of these two mixtures of vectors is not known: there is a formula for one Gaussian against "
        "another, and an integral in up to three dimensions where every component has a density. "
        "GaussianVector(covariance).loss bounds it after noise"
    )


def _points(p: VectorMixture, q: VectorMixture, alpha: float) -> float:
    """Of point masses: a sum over the points of either, which no two components of a simplified law share."""
    first, second = (dict(zip(map(tuple, law.means.tolist()), law.weights.tolist(), strict=True)) for law in (p, q))
    return point_divergence(first, second, alpha=alpha)


def _axes(p: VectorMixture, q: VectorMixture) -> list[Array]:
    """Directions in which one component is widest against another: there an integral diverges first."""
    found = [*np.eye(p.dimension)]
    for k in range(len(p)):
        for l in range(len(q)):
            found.extend(np.linalg.eigh(p.covariances[k] - q.covariances[l])[1].T)
    return found


def _is_finite(p: VectorMixture, q: VectorMixture, alpha: float) -> bool:
    """Whether each component of p has one of q that is wide enough in every direction, so that the integral is finite.

    D_α(N_k ‖ M_l) < ∞ and q ≥ ρ_l M_l bound the part of p's component k.
    """
    if any(np.linalg.eigvalsh(law.covariances).min() <= 0 for law in (p, q)):
        return False
    return all(
        any(np.linalg.eigvalsh(alpha * b - (alpha - 1.0) * c)[0] > 0 for b in q.covariances) for c in p.covariances
    )
