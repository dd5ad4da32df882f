"""The divergence of mixtures on the line, in float64."""

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.divergences.discrete import Masses, enclose
from takifugu.divergences.gaussians import gaussian_divergence
from takifugu.divergences.numerics.balls import DEFAULT_LIMIT, Effort
from takifugu.divergences.numerics.envelope import from_log_integral, log_weighted_excess
from takifugu.divergences.numerics.quadrature import Side, UnresolvedError, log_integral
from takifugu.laws import Mixture, log_tail

if TYPE_CHECKING:
    from takifugu.divergences.numerics.balls import Enclosure


# The Rényi divergence of any two mixtures: atoms are summed, densities integrated, and both put together.

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
    """`renyi_divergence` for arguments already checked.

    Args:
        p: the law under one secret.
        q: that under the other.
        alpha: the order, above 1.
        theta: the standard deviation of the noise, 0 or more.

    Returns:
        D_α in float64. Two single components have a formula and points a sum; everything else is integrated over panels
        whose digits are checked, and by ball arithmetic where float64 does not resolve it (proofs/mixture.md).
    """
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
    from takifugu.divergences.certified import enclose

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


# What one look at the tails is sure to tell: a lower bound on the divergence that costs next to nothing.

_SCORES = np.array([-16.0, -8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0])
_MOST = 1 << 17  # tails of components that are looked at: milliseconds


def half_line_loss(p: Mixture, q: Mixture, *, alpha: float) -> float:
    """The largest of (α ln P(A) − (α−1) ln Q(A))/(α−1) over some half-lines A; D_α is no less (data processing).

    Who only sees on which side of a cut the answer lies learns no more than who sees the answer, and of his two
    outcomes one term alone is left of the sum P(A)^α Q(A)^{1−α}. In float64, so good for finding out early what is
    hopeless, and for nothing else.

    Args:
        p: the law under one secret, after noise.
        q: that under the other, after noise.
        alpha: the order, above 1.

    Returns:
        A number that D_α exceeds but for rounding; 0 where no half-line tells the two apart.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        cuts = np.unique(np.concatenate([(law.means[:, None] + law.stds[:, None] * _SCORES).ravel() for law in (p, q)]))
        cuts = cuts[np.isfinite(cuts)][:: max(1, len(cuts) * max(len(p), len(q)) // _MOST)]
        most = 0.0
        for upper in (False, True):
            (log_p, _), (log_q, _) = (log_tail(law, cuts, np.full(cuts.shape, upper)) for law in (p, q))
            told = np.where(np.isneginf(log_p), 0.0, alpha / (alpha - 1) * log_p - log_q)
            most = max(most, float(np.nanmax(told, initial=0.0)))
    return most


# The Rényi divergence of two laws on points: a finite sum, with all the digits of a float64 and never too small.


Point = TypeVar("Point", bound=Hashable)


def point_divergence(p: Mapping[Point, float], q: Mapping[Point, float], *, alpha: float) -> float:
    """D_α of two laws given as the weight of each point, 1 < α ≤ ∞; +∞ where p has a point that q has not.

    The weights are taken as the exact numbers their floats are, each law's divided by their sum. Floats alone would
    know no digit of a divergence of 1e-24, nor how large one is whose shares are below the least float.

    Args:
        p: the weight of each point under one secret, 0 or more.
        q: that under the other.
        alpha: the order, above 1 or infinite.

    Returns:
        The upper end of a proved enclosure, to some twelve digits.

    >>> round(point_divergence({"a": 1, "b": 3}, {"a": 1, "b": 1}, alpha=float("inf")), 9)
    0.405465108
    """
    points = list(dict.fromkeys([*p, *q]))
    first, second = (Masses.of([law.get(point, 0.0) for point in points]) for law in (p, q))
    return enclose(first, second, alpha=alpha).upper


# The divergences of many laws on one lattice: all densities after noise by one matrix product.
#
# The noise gives every point the same bell, so the densities of all laws at all nodes are (masses) @ (bells): the
# kernel is computed once for all of them. The trapezoidal rule converges exponentially; what it may have missed is
# added to it: the largest difference to the rules of four times the step, the most that a spike between two nodes can
# hold, and a bound on the tails beyond the nodes (proofs/population.md, "What is computed").


Indices = npt.NDArray[np.intp]

_DENSITIES = (5.0, 12.0, 36.0)  # nodes per standard deviation of the noise, times √α: tried on what is in doubt
_REACHES = (6.0, 10.0, 20.0, 60.0, 200.0)  # standard deviations beyond the outermost points
_MOST_NODES = 1 << 17
_BLOCK = 1 << 22  # elements of one kernel, or of one table of laws by nodes
_NEAR = 40.0  # standard deviations beyond which a bell is nothing beside a nearer one: e^-800
_GENTLE = 1.5  # a turn of the log-integrand from one step to the next that no spike can hide behind
_ROUNDING = 1e-12


def lattice_losses(
    points: Array,
    laws: Array,
    i: Indices,
    j: Indices,
    *,
    alpha: float,
    theta: float,
    tolerance: float = 1e-6,
    limit: float = math.inf,
) -> Array:
    """D_α of law i[n] against law j[n] after noise, with what the rule may have missed added; infinite where unknown.

    `laws` holds the masses, one law a row. Finer and wider nodes are tried on pairs of which more than the share
    `tolerance` of the integral may be missing; not on those already seen to lose more than `limit`.

    Args:
        points: the lattice, equally spaced.
        laws: the mass of each point under each secret, one law a row.
        i: the first law of each pair.
        j: the second.
        alpha: the order, above 1.
        theta: the standard deviation of the noise.
        tolerance: the share of an integral that may be missing before finer nodes are tried.
        limit: a loss beyond which no more digits are wanted.

    Returns:
        One value a pair: where it is within `limit` no less than the divergence but for rounding, and beyond it what
        was seen of the integral, which is enough to say that it is beyond.
    """
    if theta == 0:
        return _discrete(laws, i, j, alpha)
    losses, missing = np.full(len(i), np.inf), np.full(len(i), np.inf)
    used = np.flatnonzero(laws.any(axis=0))
    points, laws = points[used[0] : used[-1] + 1], laws[:, used[0] : used[-1] + 1]
    points = points - points[0]  # distances near the data have more digits than distances from a far zero
    for density in _DENSITIES:
        for reach in _REACHES:
            doubt = np.flatnonzero(missing > tolerance)
            step = theta / (density * math.sqrt(alpha))
            count = 4 * math.ceil(((points[-1] + 2 * reach * theta) / step + 2) / 4)
            if not len(doubt) or count > _MOST_NODES:
                break
            nodes = -reach * theta + step * np.arange(count)
            pairs = max(1, _BLOCK // count)
            tails = np.zeros(len(doubt))
            for start in range(0, len(doubt), pairs):
                part = doubt[start : start + pairs]
                found, lack, tail, seen = _on_nodes(points, laws, i[part], j[part], nodes, step, alpha, theta)
                over = seen > limit
                losses[part] = np.where(over, seen, np.minimum(losses[part], found))
                missing[part] = np.where(over, 0.0, np.minimum(missing[part], lack))
                tails[start : start + pairs] = np.where(over, 0.0, tail)
            if not (tails > 0.1 * tolerance).any():
                break  # what is still in doubt needs closer nodes, not more of them
    return losses


def _discrete(laws: Array, i: Indices, j: Indices, alpha: float) -> Array:
    """Without noise: Σ p^α q^(1−α) over the points."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_p, log_q = np.log(laws[i]), np.log(laws[j])
        logs = alpha * log_p - (alpha - 1.0) * log_q
        logs = np.where(np.isneginf(log_p), -np.inf, logs)
        top = logs.max(axis=1)
        total = np.where(np.isinf(top), top, top + np.log(np.exp(logs - top[:, None]).sum(axis=1)))
    losses: Array = np.maximum(total, 0.0) / (alpha - 1)
    return losses


def _on_nodes(
    points: Array, laws: Array, i: Indices, j: Indices, nodes: Array, step: float, alpha: float, theta: float
) -> tuple[Array, Array, Array, Array]:
    """An upper estimate of each loss, the share of the integral added, the tails' part of that, and the bare rule."""
    rows, where = np.unique(np.concatenate([i, j]), return_inverse=True)
    logs = log_densities(points, laws[rows], nodes, theta)
    log_p, log_q = logs[where[: len(i)]], logs[where[len(i) :]]
    beta = alpha - 1.0
    with np.errstate(all="ignore"):
        log_f = np.where(np.isneginf(log_p), -np.inf, alpha * log_p - beta * log_q)
        top = log_f.max(axis=1, keepdims=True)
        f = np.exp(log_f - top)
        quarters = np.array([f[:, k::4].sum(axis=1) for k in range(4)])
        total = quarters.sum(axis=0)
        missing = _ROUNDING + np.abs(4 * quarters / total - 1).max(axis=0)
        missing += _hidden(log_q, f, beta) / total
        tail = _tails(points, laws[i], laws[j], nodes, alpha, theta) * f[:, [0, -1]] / (step * total[:, None])
        tails = np.where(f[:, [0, -1]] > 0, tail, np.where(np.isinf(tail) | np.isnan(tail), np.inf, 0.0)).sum(axis=1)
        missing += tails
        bare = (top[:, 0] + np.log(total * step)) / beta
        losses = np.maximum(bare + np.log1p(missing) / beta, 0.0)
    unknown = ~(np.isfinite(losses) & (missing < 0.5))
    tails = np.nan_to_num(tails, nan=np.inf)
    return np.where(unknown, np.inf, losses), np.where(unknown, np.inf, missing), tails, np.nan_to_num(bare)


def log_densities(points: Array, laws: Array, nodes: Array, theta: float) -> Array:
    """The log-density of each law after noise at each node.

    Args:
        points: where the masses are, in increasing order.
        laws: the masses, one law a row.
        nodes: where the densities are wanted, in increasing order.
        theta: the standard deviation of the noise.

    Returns:
        A matrix of laws by nodes. Points that lie many deviations away from a node are left out there.
    """
    out = np.empty((len(laws), len(nodes)))
    block = max(64, _BLOCK // len(points))
    for start in range(0, len(nodes), block):
        y = nodes[start : start + block]
        near = slice(*np.searchsorted(points, [y[0] - _NEAR * theta, y[-1] + _NEAR * theta]))
        if near.start >= near.stop or y[0] < points[0] or y[-1] > points[-1]:
            near = slice(0, len(points))  # outside the lattice every bell is far, and the nearest decides
        z = (y - points[near, None]) / theta
        exponents = -0.5 * z * z
        top = exponents.max(axis=0)
        with np.errstate(divide="ignore", under="ignore"):
            out[:, start : start + block] = np.log(laws[:, near] @ np.exp(exponents - top)) + top
    # A law without mass near a node: its density there is beyond the kernel's range and is summed in logarithms.
    for row in np.flatnonzero(np.isneginf(out).any(axis=1)):
        lost = np.flatnonzero(np.isneginf(out[row]))
        mine = np.flatnonzero(laws[row])
        weights = np.log(laws[row, mine])[:, None]
        for start in range(0, len(lost), block):
            these = lost[start : start + block]
            z = (nodes[these] - points[mine, None]) / theta
            exponents = weights - 0.5 * z * z
            top = exponents.max(axis=0)
            out[row, these] = top + np.log(np.exp(exponents - top).sum(axis=0))
    out -= math.log(theta) + 0.5 * math.log(2 * math.pi)
    return out


def _hidden(log_q: Array, f: Array, beta: float) -> Array:
    """The most that spikes between two nodes can hold, in units of the step: see proofs/population.md."""
    bend = np.abs(np.diff(log_q, n=2, axis=1))
    turn = np.zeros_like(log_q)
    turn[:, 1:-1] = bend
    turn[:, :-1] += turn[:, 1:]  # of both ends of the interval that begins at the node
    sharp = beta * turn > _GENTLE
    if not sharp.any():
        return np.zeros(len(f))
    lift = np.where(sharp, np.exp(0.25 * beta * turn + 0.25), 0.0)
    ends = np.maximum(f, np.concatenate([f[:, 1:], f[:, -1:]], axis=1))
    found: Array = 2 * (np.where(sharp, lift * ends, 0.0)).sum(axis=1)
    return found


def _tails(points: Array, p: Array, q: Array, nodes: Array, alpha: float, theta: float) -> Array:
    """For each pair and each end, a bound on the tail as a multiple of the integrand at the last node.

    The slope of the log-integrand at y is −(y − αm_p + (α−1)m_q)/θ², with m the mean of each law tilted by the bells
    at y, which moves towards y as y moves out. So beyond Y it is at most −(y − c)/θ², c = α·max p − (α−1)·m_q(Y).
    """
    bounds = np.empty((len(p), 2))
    for side, (end, sign) in enumerate(((nodes[0], -1.0), (nodes[-1], 1.0))):
        exponents = np.log(q) - 0.5 * ((end - points) / theta) ** 2
        shares = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        tilted = sign * (shares @ points) / shares.sum(axis=1)
        farthest = np.where(p > 0, sign * points, -np.inf).max(axis=1)
        distance = sign * end - (alpha * farthest - (alpha - 1.0) * tilted)
        bounds[:, side] = np.where(distance > 0, theta * theta / distance, np.inf)
    return bounds
