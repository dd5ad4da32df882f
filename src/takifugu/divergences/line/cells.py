"""Where along a grid the strip of strip.py is wide enough, and how large p^α q^{1−α} may be where it is not.

Components that hold next to nothing of a law around a node do not count there. So far clusters close the strip only
where they cross, deep in a valley, and narrow components only near themselves. In a closed cell the integrand is
bounded by what it and its neighbours are: crude, but negligible in a valley (proofs/exact.md).
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takifugu._validation import Array

if TYPE_CHECKING:
    from takifugu.divergences.line.many_mixtures import Components

LEAST_SHARE = 1e-13  # of an integral that half_width can be asked for, so that the edge is within strip.WIDEST
_GROWTH = 3.0  # of the logarithm of the integrand, from the line to the edge of the strip
_SLACK = 0.02  # of it, for the components that do not count and for rounding
_HALF_TURN = 2.8  # of phases: less than π by more than those components can turn
_NEGLIGIBLE = 3000.0  # times α and their number: how much smaller they are than another
_ROUNDING = 2.0**-47
_FAINT = -150.0  # the logarithm of a factor that leaves nothing


class _Near(NamedTuple):
    """Of the components that count around each node: how far their phases part, the largest and the least 1/v."""

    turn: Array
    narrowest: Array
    widest: Array


def half_width(step: float, share: float) -> float:
    """Where the strip must end for the rule to miss no more than a share of the integral over open cells."""
    return step * (math.log(2.0 / share) + _GROWTH) / (2.0 * math.pi)


def closed(p: "Components", q: "Components", grid: Array, *, step: float, edge: float, alpha: float) -> Array:
    """For every column of q and every node, whether the strip is closed around it, or too much grows across it.

    What is open is open against any row of p.
    """
    beta = alpha - 1.0
    with np.errstate(all="ignore"):  # what is not a number is not open
        follow = _near(q, grid, step=step, edge=edge, alpha=alpha)
        lead = follow if p is q else _near(p, grid, step=step, edge=edge, alpha=alpha)
        growth = 0.5 * edge**2 * np.maximum(alpha * lead.narrowest.max(axis=0) - beta * follow.widest, 0.0)
        growth -= beta * np.log(np.cos(0.5 * np.minimum(edge * follow.turn, _HALF_TURN)))
        turn = edge * np.maximum(follow.turn, lead.turn.max(axis=0))
    return np.broadcast_to(~((turn <= _HALF_TURN) & (growth <= _GROWTH - _SLACK)), (len(q.means), len(grid))).copy()


def _near(laws: "Components", grid: Array, *, step: float, edge: float, alpha: float) -> _Near:
    """Row by row; or in one row for all, where all are on the same values and a component counts if it does for one."""
    log_weights, means, stds = laws
    if (means == means[0]).all() and (stds == stds[0]).all() and np.isfinite(log_weights).all(axis=0).any():
        log_weights = np.stack([log_weights.min(axis=0), log_weights.max(axis=0)])[None]
    else:
        log_weights = np.stack([log_weights, log_weights], axis=1)
    found = _Near(*np.empty((3, len(log_weights), len(grid))))
    for row, weights in enumerate(log_weights):
        precisions = 1.0 / stds[row] ** 2
        apart = grid - means[row][:, None]
        slopes = apart * precisions[:, None]
        logs = -0.5 * apart * slopes - np.log(stds[row])[:, None]
        least = logs + weights[0][:, None]
        largest = least.argmax(axis=0), np.arange(len(grid))
        ratios = logs + weights[1][:, None] - least[largest] + 0.5 * step * np.abs(slopes - slopes[largest])
        negligible = math.log(_NEGLIGIBLE * alpha * len(means[row]))
        near = ~(ratios <= -negligible - precisions.max() * (0.125 * step**2 + 0.5 * edge**2))
        found.narrowest[row] = np.where(near, precisions[:, None], 0.0).max(axis=0)
        found.widest[row] = np.where(near, precisions[:, None], np.inf).min(axis=0)
        turn = np.where(near, slopes, -np.inf).max(axis=0) - np.where(near, slopes, np.inf).min(axis=0)
        turn += 0.5 * step * (found.narrowest[row] - found.widest[row])
        found.turn[row] = turn + _ROUNDING * np.abs(grid[[0, -1]]).max() * precisions.max()
    return found


def most_in_cells(
    p: "Components",
    q: "Components",
    grid: Array,
    step: float,
    log_p: Array,
    log_q: Array,
    where: Array,
    *,
    alpha: float,
) -> tuple[Array, Array]:
    """Two factors, ln p and (1−α)·ln q, whose products add up to more than the largest integrand of every cell.

    `where` tells the cells, inner ones. ln p + x²/2v and ln q + x²/2s are convex, v and s the least variances: p is at
    most what its chord over a cell says, and q at least what the chord before it says.
    """
    beta, at = alpha - 1.0, np.flatnonzero(where.any(axis=0))
    rise = 0.125 * (alpha * (step / p.stds.min()) ** 2 + 3.0 * beta * (step / q.stds.min(axis=1)) ** 2)
    lift = rise[:, None] + np.where(where[:, at], 0.0, _FAINT)
    lead = [log_p[:, at], *(0.5 * (log_p[:, at] + log_p[:, at + k]) for k in (-1, 1))]
    follow = [log_q[:, at], *(1.5 * log_q[:, at] - 0.5 * log_q[:, at - k] for k in (-1, 1))]
    return np.hstack(lead), np.hstack([lift - beta * logs for logs in follow])
