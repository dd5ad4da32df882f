"""The Rényi divergence of any two mixtures: atoms are summed, densities integrated, and both put together."""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.excess import from_log_integral, log_weighted_excess
from takifugu.divergences.line.gaussian import gaussian_divergence
from takifugu.divergences.line.mixture import UnresolvedError, log_integral
from takifugu.divergences.line.skeleton import Side
from takifugu.laws.mixture import Mixture

_FAR = 900  # exponents beyond this are moved away from the ends of the float64 range
_STEP = 64


def divergence(p: Mixture, q: Mixture, *, alpha: float, theta: float) -> float:
    """`renyi_divergence` for arguments already checked."""
    p, q, theta = _within_range(p.simplified(), q.simplified(), theta)
    if p == q:
        return 0.0
    if len(p) == len(q) == 1:
        gap = float(p.means[0] - q.means[0])
        return gaussian_divergence(gap, float(p.stds[0]), float(q.stds[0]), alpha=alpha, theta=theta)
    p_atoms, p_side = _parts(p, theta)
    q_atoms, q_side = _parts(q, theta)
    if not set(p_atoms) <= set(q_atoms) or (len(p_side.weights) and not len(q_side.weights)):
        return math.inf  # p has mass where q has none
    try:
        density = _log_density_part(p_side, q_side, alpha, theta)
    except UnresolvedError:
        return _by_ball_arithmetic(p, q, alpha, theta)
    logs = np.append(_log_atom_terms(p_atoms, q_atoms, alpha), density)
    top = float(logs.max())
    if math.isinf(top):
        return math.inf if top > 0 else 0.0
    return from_log_integral(top + math.log(np.exp(logs - top).sum()), alpha)


def _parts(mixture: Mixture, theta: float) -> tuple[dict[float, float], Side]:
    """The mass at each atom, and the components that have a density after noise."""
    weights = mixture.weights / math.fsum(mixture.weights)
    stds = np.hypot(mixture.stds, theta)
    dense = stds > 0
    atoms = dict(zip(mixture.means[~dense].tolist(), weights[~dense].tolist(), strict=True))
    return atoms, Side(weights[dense], mixture.means[dense], mixture.stds[dense], stds[dense])


def _log_atom_terms(p: dict[float, float], q: dict[float, float], alpha: float) -> Array:
    """ln of q·excess(ln p/q) at each atom of q."""
    with np.errstate(divide="ignore"):
        log_p = np.log(np.array([p.get(atom, 0.0) for atom in q]))
        log_q = np.log(np.array(list(q.values())))
        return log_weighted_excess(log_p - log_q, log_q, alpha * log_p - (alpha - 1.0) * log_q, alpha)


def _log_density_part(p: Side, q: Side, alpha: float, theta: float) -> float:
    if not len(q.weights):
        return -math.inf
    if not len(p.weights):
        return math.log(math.fsum(q.weights))  # excess is 1 where p vanishes
    return log_integral(p, q, alpha=alpha, theta=theta)


def _by_ball_arithmetic(p: Mixture, q: Mixture, alpha: float, theta: float) -> float:
    """The upper end of a rigorous enclosure: slower, and as precise as it takes."""
    from takifugu.divergences.proved.certified import enclose

    return enclose(p, q, alpha=alpha, theta=theta, rtol=1e-11).upper


def _within_range(p: Mixture, q: Mixture, theta: float) -> tuple[Mixture, Mixture, float]:
    """The same problem in units in which no difference or square root leaves the float64 range."""
    size = max(theta, *(float(np.abs(x).max()) for x in (p.means, q.means, p.stds, q.stds)))
    exponent = math.frexp(size)[1]
    if abs(exponent) <= _FAR:
        return p, q, theta
    factor = 2.0 ** math.copysign(_STEP, -exponent)
    moved = (Mixture(m.weights, m.means * factor, m.stds * factor) for m in (p, q))
    return next(moved), next(moved), theta * factor
