"""The Rényi divergence of any two mixtures: atoms are summed, densities integrated, and both put together."""

import math
from typing import TYPE_CHECKING

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.excess import from_log_integral, log_weighted_excess
from takifugu.divergences.line.gaussian import gaussian_divergence
from takifugu.divergences.line.mixture import UnresolvedError, log_integral
from takifugu.divergences.line.skeleton import Side
from takifugu.divergences.proved.effort import DEFAULT_LIMIT, Effort
from takifugu.laws.mixture import Mixture

if TYPE_CHECKING:
    from takifugu.divergences.proved.balls import Enclosure

_FAR = 900  # exponents beyond this are moved away from the ends of the float64 range
_STEP = 64
_LEAST_NORMAL = 2.0**-1022  # below it a float has fewer digits

# Float64 knows ln p/q to some 1e-16. It is of the size of √(D/α), so of a small D few digits are left: measured against
# balls, D is off by 5e-17/√(D/α) of itself. Below these, the digits come from ball arithmetic. But D is never off by
# more than some three times what ln p and ln q are (a mean of their errors): from _PLAIN on no order matters.
_TINY, _TINY_PER_ORDER = 1e-8, 1e-10
_PLAIN = 1e-3
_HOPELESS_PER_ORDER = 1e-18  # below it floats know no digit at all
_SOME_WORK, _WORK_PER_COMPONENT = 100_000, 20_000  # ten times what such an enclosure takes
_DOUBT = 1e-6  # added where balls give up too: far more than floats can have lost


def divergence(p: Mixture, q: Mixture, *, alpha: float, theta: float) -> float:
    """`renyi_divergence` for arguments already checked."""
    whole = p.simplified(), q.simplified(), theta
    p, q, theta = _within_range(*whole)
    if _lost_a_width(whole, (p, q, theta)):
        return _by_ball_arithmetic(whole[0], whole[1], alpha, whole[2]).upper
    if len(p) == len(q) == 1:
        gap = float(p.means[0] - q.means[0])
        return gaussian_divergence(gap, float(p.stds[0]), float(q.stds[0]), alpha=alpha, theta=theta)
    if p == q:
        return 0.0
    if theta == 0 and not p.stds.any() and not q.stds.any():
        return _of_points(p, q, alpha)
    try:
        value = _in_floats(p, q, alpha, theta)
    except UnresolvedError:
        return _by_ball_arithmetic(p, q, alpha, theta).upper
    trusted = max(_TINY, min(_TINY_PER_ORDER * alpha, _PLAIN))
    return value if value > trusted else _tiny(value, p, q, alpha, theta)


def _of_points(p: Mixture, q: Mixture, alpha: float) -> float:
    """Of point masses without noise: a sum over the points of either."""
    from takifugu.divergences.points import point_divergence

    first, second = (dict(zip(law.means.tolist(), law.weights.tolist(), strict=True)) for law in (p, q))
    return point_divergence(first, second, alpha=alpha)


def _in_floats(p: Mixture, q: Mixture, alpha: float, theta: float) -> float:
    """The divergence by sums and quadrature."""
    p_atoms, p_side = _parts(p, theta)
    q_atoms, q_side = _parts(q, theta)
    if not set(p_atoms) <= set(q_atoms) or (len(p_side.weights) and not len(q_side.weights)):
        return math.inf  # p has mass where q has none
    density = _log_density_part(p_side, q_side, alpha, theta)
    logs = np.append(_log_atom_terms(p_atoms, q_atoms, alpha), density)
    top = float(logs.max())
    if math.isinf(top):
        return math.inf if top > 0 else 0.0
    return from_log_integral(top + math.log(np.exp(logs - top).sum()), alpha)


def _tiny(value: float, p: Mixture, q: Mixture, alpha: float, theta: float) -> float:
    """A divergence that floats put at `value`, too little for them to be trusted."""
    proved = _by_ball_arithmetic(p, q, alpha, theta, limit=_SOME_WORK + _WORK_PER_COMPONENT * (len(p) + len(q)))
    if math.isinf(proved.upper) and value > _HOPELESS_PER_ORDER * alpha:
        return max(proved.lower, value * (1 + _DOUBT))
    return proved.upper


def _parts(mixture: Mixture, theta: float) -> tuple[dict[float, float], Side]:
    """The mass at each atom, and the components that have a density after noise."""
    weights = mixture.weights / math.fsum(mixture.weights)
    stds = np.hypot(mixture.stds, theta)
    dense = stds > 0
    atoms = dict(zip(mixture.means[~dense].tolist(), weights[~dense].tolist(), strict=True))
    means = mixture.means[dense]
    return atoms, Side(weights[dense], means, mixture.stds[dense], stds[dense], np.zeros_like(means))


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


def _by_ball_arithmetic(p: Mixture, q: Mixture, alpha: float, theta: float, limit: int = DEFAULT_LIMIT) -> "Enclosure":
    """A rigorous enclosure: slower, and as precise as it takes."""
    from takifugu.divergences.proved.certified import enclose

    return enclose(p, q, alpha=alpha, theta=theta, rtol=1e-11, effort=Effort(min(limit, DEFAULT_LIMIT)))


def _size(law: Mixture) -> float:
    """The largest mean or width; most laws are single normals, whose two floats need no array's machinery."""
    if len(law) == 1:
        return max(abs(float(law.means[0])), float(law.stds[0]))
    return max(float(np.abs(law.means).max()), float(law.stds.max()))


def _within_range(p: Mixture, q: Mixture, theta: float) -> tuple[Mixture, Mixture, float]:
    """The same problem in units in which no difference or square root leaves the float64 range."""
    size = max(theta, _size(p), _size(q))
    exponent = math.frexp(size)[1]
    if abs(exponent) <= _FAR:
        return p, q, theta
    factor = 2.0 ** math.copysign(_STEP, -exponent)
    moved = (Mixture(m.weights, m.means * factor, m.stds * factor) for m in (p, q))
    return next(moved), next(moved), theta * factor


def _lost_a_width(before: tuple[Mixture, Mixture, float], after: tuple[Mixture, Mixture, float]) -> bool:
    """Whether the new units cost a width after noise its digits: 1e-310 beside 1e300 would become a point."""
    if after[0] is before[0]:
        return False
    with np.errstate(over="ignore"):
        old, new = (np.hypot(np.concatenate([p.stds, q.stds]), theta) for p, q, theta in (before, after))
    return bool(((old > 0) & (new < _LEAST_NORMAL)).any())
