"""The divergence of all pairs of many mixtures at once, by a matrix product on a shared grid.

Each density is evaluated once per secret. The integral of p^α q^{1−α} for every pair is then a product of two matrices
with the grid as the inner dimension. The factors span thousands of orders of magnitude, so the grid is cut into runs
on which no factor varies by more than e^350, each run is scaled by its largest entries, and the runs are added in
logarithms: nothing over- or underflows to a wrong answer.

The trapezoidal rule on an analytic integrand converges exponentially. What it may have missed is added to it: the
largest difference to the four rules of four times the step, which err far more than it does; a bound on the tails
beyond the grid; and where ln q turns so sharply between two nodes that a spike could hide there, the most such a
spike can hold (proofs/exact.md). A pair for which this is more than a trifle is tried on a finer and wider grid.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.envelope import Indices
from takifugu.divergences.line.tails import log_tails
from takifugu.laws.mixture import Mixture

# Nodes per width of the narrowest peak there can be, and reach as a multiple of the first: ever finer and wider grids,
# tried on what is still in doubt.
_LEVELS = ((5.0, 1.0), (8.0, 2.2), (36.0, 4.3))
_LEAST_REACH = 14.0  # standard deviations beyond the means
_MOST_NODES = 1 << 15
_BLOCK = 1 << 14  # components times nodes that are evaluated together: what a processor keeps at hand
_LARGEST_SWING = 350.0
_LONGEST_RUN = 64
_GENTLE = 1.5  # a turn of the log-integrand from one step to the next that no spike can hide behind
_ROUNDING, _ROUNDING_OF_LOGS = 1e-12, 2.0**-51
_SMALLEST_SHARE = 1e-200  # of the largest component: below it the sum may have lost parts to underflow
_NO_PART = -700.0  # added to the logarithm of what is to be left out of a sum


class Components(NamedTuple):
    """All components of all secrets, padded with empty ones to the same number."""

    log_weights: Array
    means: Array
    stds: Array

    @classmethod
    def of(cls, priors: Sequence[Mixture]) -> "Components":
        """Gather the components of each prior into rows."""
        most = max(len(prior) for prior in priors)
        log_weights = np.full((len(priors), most), -np.inf)
        means, stds = np.zeros((len(priors), most)), np.zeros((len(priors), most))
        for row, prior in enumerate(priors):
            count = len(prior)
            log_weights[row, :count] = np.log(prior.weights / math.fsum(prior.weights))
            means[row, :count], stds[row, :count] = prior.means, prior.stds
            means[row, count:], stds[row, count:] = prior.means[0], prior.stds[0]
        return cls(log_weights, means, stds)

    def with_noise(self, theta: float) -> "Components":
        """The components of each secret after noise."""
        return self._replace(stds=np.hypot(self.stds, theta))

    def seen_from(self, origin: float) -> "Components":
        """The components with distances counted from another origin, near which a grid has more digits."""
        return self._replace(means=self.means - origin)

    def of_rows(self, rows: Indices) -> "Components":
        """The components of some of the secrets."""
        return Components(self.log_weights[rows], self.means[rows], self.stds[rows])


def rough_losses(
    rows: Components,
    columns: Components,
    *,
    alpha: float,
    theta: float,
    tolerance: float = 1e-6,
    around: float = 1.0,
) -> Array:
    """The matrix of D_α of row against column, with what the grid may have missed added; infinite where unknown."""
    losses, _ = losses_and_doubts(rows, columns, alpha=alpha, theta=theta, tolerance=tolerance, around=around)
    return losses


def losses_and_doubts(
    rows: Components,
    columns: Components,
    *,
    alpha: float,
    theta: float,
    tolerance: float = 1e-6,
    around: float = 1.0,
) -> tuple[Array, Array]:
    """`rough_losses`, and the share of each integral that was added for what the grid may have missed.

    Grids are refined for the pairs of which more than the share `tolerance` of the integral may be missing. Losses of
    the size `around` are of interest: their mass lies some √(2α·loss) standard deviations out.
    """
    origin = float(rows.means[0, 0])
    p = rows.with_noise(theta).seen_from(origin)
    q = p if rows is columns else columns.with_noise(theta).seen_from(origin)
    first_reach = max(_LEAST_REACH, 8.0 + 1.3 * math.sqrt(2 * alpha * around))
    losses = np.full((len(p.means), len(q.means)), np.inf)
    missing = losses.copy()
    if min(p.stds.min(), q.stds.min()) == 0:
        return losses, missing
    for density, reach in _LEVELS:
        doubt = missing > tolerance
        i, j = np.flatnonzero(doubt.any(axis=1)), np.flatnonzero(doubt.any(axis=0))
        if not len(i):
            break
        part = np.ix_(i, j)
        lead = p.of_rows(i)
        follow = lead if p is q and np.array_equal(i, j) else q.of_rows(j)
        found, lack = _losses_on_grid(lead, follow, alpha, density, reach * first_reach)
        losses[part], missing[part] = np.minimum(losses[part], found), np.minimum(missing[part], lack)
    return losses, missing


def _losses_on_grid(p: Components, q: Components, alpha: float, density: float, reach: float) -> tuple[Array, Array]:
    """An upper estimate of each loss, and the share of the integral that was added to make it one."""
    step = _narrowest_peak(p, q, alpha) / density
    grid = _grid(p, q, step=step, reach=reach)
    if grid is None:
        nothing = np.full((len(p.means), len(q.means)), np.inf)
        return nothing, nothing
    log_p = _log_densities(p, grid)
    log_q = log_p if p is q else _log_densities(q, grid)
    log_step = math.log(step)
    quarters = [_log_products(log_p[:, k::4], (1.0 - alpha) * log_q[:, k::4], alpha) for k in range(4)]
    with np.errstate(all="ignore"):
        total = np.logaddexp.reduce(quarters) + log_step
        missing = _ROUNDING + _ROUNDING_OF_LOGS * alpha * (np.abs(log_p).max() + np.abs(log_q).max())
        missing = missing + np.abs(np.expm1(np.array(quarters) + math.log(4) + log_step - total)).max(axis=0)
        for end, side in ((0, -1.0), (-1, 1.0)):
            tail = log_tails(p, q, log_p[:, end], log_q[:, end], float(grid[end]), side=side, alpha=alpha)
            missing += np.exp(tail - total)
        missing += np.exp(_log_hidden(log_p, log_q, q, step, alpha) + log_step - total)
        losses = np.maximum(total + np.log1p(missing), 0.0) / (alpha - 1)
    unknown = ~(np.isfinite(losses) & (missing < 0.5))
    return np.where(unknown, np.inf, losses), np.where(unknown, np.inf, missing)


def _narrowest_peak(p: Components, q: Components, alpha: float) -> float:
    """A width that no peak of p^α q^{1−α} falls short of, crossings of q's components apart.

    −(ln p)″ is at most 1/v, v the least variance of p, and −(ln q)″ at least 1/s less what crossings add, s the least
    of q. With noise the two nearly cancel: at high orders a peak is √α times as wide as p^α alone would be.
    """
    curvature = alpha / (p.stds.min(axis=1) ** 2).min() - (alpha - 1.0) / (q.stds.min(axis=1) ** 2).max()
    widest = float(max(p.stds.max(), q.stds.max()))
    return 1.0 / math.sqrt(max(float(curvature), 1.0 / widest**2))


def _log_hidden(log_p: Array, log_q: Array, q: Components, step: float, alpha: float) -> Array:
    """ln of a bound, per step, on spikes of q^{1−α} between nodes, where components of q cross.

    ln q + y²/2s is convex, s the least variance of q. Where its slope turns by t (times the step) over a cell and its
    neighbours, the integrand rises above the two nodes by at most e^{βt/4}.
    """
    beta = alpha - 1.0
    turn = np.zeros_like(log_q)
    bend = (step / q.stds.min(axis=1)[:, None]) ** 2
    turn[:, 1:-1] = np.maximum(log_q[:, 2:] - 2 * log_q[:, 1:-1] + log_q[:, :-2] + bend, 0.0)
    turn[:, 1:] += turn[:, :-1]  # a crossing shows at the nodes on either side of it, in part at each
    turn[:, :-1] = np.maximum(turn[:, :-1], turn[:, 1:])
    sharp = beta * turn > _GENTLE
    hidden = np.full((len(log_p), len(log_q)), -np.inf)
    rows = np.flatnonzero(sharp.any(axis=1))
    if len(rows):
        lift = np.where(sharp, 0.25 * beta * turn + 0.25, _NO_PART)[rows]
        hidden[:, rows] = _log_products(log_p, (1.0 - alpha) * log_q[rows] + lift, alpha) + math.log(2)
    return hidden


def _grid(p: Components, q: Components, *, step: float, reach: float) -> Array | None:
    """Equally spaced nodes over all components and `reach` standard deviations beyond; none if they are too many."""
    low = float(min((c.means - reach * c.stds).min() for c in (p, q)))
    high = float(max((c.means + reach * c.stds).max() for c in (p, q)))
    nodes = (high - low) / step + 2
    if not nodes <= _MOST_NODES:
        return None
    grid: Array = low + step * np.arange(4.0 * math.ceil(nodes / 4))
    return grid


def _log_densities(mixtures: Components, grid: Array) -> Array:
    """The log-density of each secret at each node."""
    means, stds = mixtures.means, mixtures.stds
    if len(means) > 1 and (means == means[0]).all() and (stds == stds[0]).all():
        # Laws on the same values: the components are evaluated once, and each law is a row of a matrix product.
        logs, top = _component_logs(np.zeros(means.shape[1]), means[0], stds[0], grid)
        shares = np.exp(mixtures.log_weights) @ np.exp(logs - top)
        if shares.min() > _SMALLEST_SHARE:
            shared: Array = top + np.log(shares)
            return shared
    out = np.empty((len(means), len(grid)))
    together = max(1, _BLOCK // (means.shape[1] * len(grid)))
    for start in range(0, len(means), together):
        rows = slice(start, start + together)
        logs, top = _component_logs(mixtures.log_weights[rows], means[rows], stds[rows], grid)
        out[rows] = top + np.log(np.exp(logs - top[:, None, :]).sum(axis=1))
    return out


def _component_logs(log_weights: Array, means: Array, stds: Array, grid: Array) -> tuple[Array, Array]:
    """The weighted log-density of each component at each node, and the largest at each; any number of laws."""
    heights = log_weights - np.log(stds) - 0.5 * math.log(2 * math.pi)
    z = (grid - means[..., None]) / stds[..., None]
    logs = heights[..., None] - 0.5 * z * z
    return logs, logs.max(axis=-2)


def _log_products(log_p: Array, log_weight: Array, alpha: float) -> Array:
    """ln Σ_y exp(α·log_p[i, y] + log_weight[j, y]) for all i, j, run by run."""
    total = np.empty(0)
    with np.errstate(divide="ignore"):
        for start, stop in _runs(alpha * log_p, log_weight):
            lead, follow = alpha * log_p[:, start:stop], log_weight[:, start:stop]
            top_lead, top_follow = lead.max(axis=1), follow.max(axis=1)
            product = np.exp(lead - top_lead[:, None]) @ np.exp(follow - top_follow[:, None]).T
            here = np.log(product) + top_lead[:, None] + top_follow
            total = here if start == 0 else np.logaddexp(total, here, out=total)
    return total


def _runs(lead: Array, follow: Array) -> list[tuple[int, int]]:
    """Runs of nodes on which no factor's logarithm swings by more than the limit; one node alone may."""
    swing = np.maximum(*(np.abs(np.diff(x, axis=1)).max(axis=0, initial=0.0) for x in (lead, follow)))
    runs, start, used = [], 0, 0.0
    for node, change in enumerate(swing.tolist(), start=1):
        used += change
        if used > _LARGEST_SWING or node - start >= _LONGEST_RUN:
            runs.append((start, node))
            start, used = node, 0.0
    runs.append((start, lead.shape[1]))
    return runs
