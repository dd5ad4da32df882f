"""The divergences of many laws on one lattice: all densities after noise by one matrix product.

The noise gives every point the same bell, so the densities of all laws at all nodes are (masses) @ (bells): the kernel
is computed once for all of them. The trapezoidal rule converges exponentially; what it may have missed is added to it:
the largest difference to the rules of four times the step, the most that a spike between two nodes can hold, and a
bound on the tails beyond the nodes (proofs/population.md, "What is computed").
"""

import math

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array

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
    """The log-density of each law after noise at each node."""
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
