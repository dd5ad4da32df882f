"""The divergence of all pairs of many mixtures at once, by a matrix product on a shared grid.

Each density is evaluated once per secret. The integral of p^α q^{1−α} for every pair is then a product of two matrices
with the grid as the inner dimension. The factors span thousands of orders of magnitude, so the grid is cut into runs
on which no factor varies by more than e^350, each run is scaled by its largest entries, and the runs are added in
logarithms: nothing over- or underflows to a wrong answer.

The trapezoidal rule on an analytic integrand converges exponentially. What it may have missed is bounded and added to
it: between the nodes (strip.py, or node by node cells.py), in the tails beyond the grid (tails.py), and by rounding; so
that no loss is below the truth (proofs/exact.md). A pair for which this is more than a trifle is tried on a finer and
wider grid.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.cells import LEAST_SHARE, closed, half_width, most_in_cells
from takifugu.divergences.line.envelope import Indices
from takifugu.divergences.line.strip import WIDEST, shares_missed
from takifugu.divergences.line.tails import log_tails
from takifugu.laws.mixture import Mixture

# Nodes per width of the narrowest peak there can be, of which the least is taken that is enough for most; and reach as
# a multiple of the first: ever wider grids, tried on what is still in doubt.
_DENSITIES = np.array([2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0])
_REACHES = (1.0, 2.2, 4.3)
_LEAST_REACH = 14.0  # standard deviations beyond the means
_MANY_NODES, _MOST_NODES = 1 << 12, 1 << 15  # for one strip, and at all
_BLOCK = 1 << 14  # components times nodes that are evaluated together: what a processor keeps at hand
_LARGEST_SWING = 350.0
_LONGEST_RUN = 64
# Of a log-density, as a share of its size; of the sum over a run of nodes; and of that over all runs, for each node.
_ROUNDING_OF_LOGS, _ROUNDING_OF_RUNS, _ROUNDING_OF_SUMS = 2.0**-48, 2.0**-40, 2.0**-49
_SMALLEST_SHARE = 1e-200  # of the largest component: below it the sum may have lost parts to underflow


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
    for reach in _REACHES:
        doubt = missing > tolerance
        i, j = np.flatnonzero(doubt.any(axis=1)), np.flatnonzero(doubt.any(axis=0))
        if not len(i):
            break
        part = np.ix_(i, j)
        lead = p.of_rows(i)
        follow = lead if p is q and np.array_equal(i, j) else q.of_rows(j)
        found, lack = _losses_on_grid(lead, follow, alpha, reach * first_reach, tolerance)
        losses[part], missing[part] = np.minimum(losses[part], found), np.minimum(missing[part], lack)
    return losses, missing


class _Sheet(NamedTuple):
    """Two sets of laws and their log-densities on a grid."""

    p: Components
    q: Components
    grid: Array
    step: float
    log_p: Array
    log_q: Array

    @classmethod
    def of(cls, p: Components, q: Components, low: float, high: float, step: float) -> "_Sheet":
        """On equally spaced nodes from one point to another, or a little beyond."""
        grid: Array = low + step * np.arange(float(math.ceil((high - low) / step + 2.0)))
        log_p = _log_densities(p, grid)
        return cls(p, q, grid, step, log_p, log_p if p is q else _log_densities(q, grid))


def _losses_on_grid(p: Components, q: Components, alpha: float, reach: float, tolerance: float) -> tuple[Array, Array]:
    """An upper bound on each loss, and the share of the integral that was added to make it one.

    The step is the longest at which no more than a trifle of most integrals is missed between the nodes, or the
    shortest there is. One strip along the whole grid is tried first, since it takes no look at the nodes.
    """
    enough = max(0.25 * min(tolerance, 0.1), LEAST_SHARE)
    low = float(min((c.means - reach * c.stds).min() for c in (p, q)))
    high = float(max((c.means + reach * c.stds).max() for c in (p, q)))
    steps = _narrowest_peak(p, q, alpha) / _DENSITIES
    nodes = (high - low) / steps + 2.0
    for step in steps[nodes <= _MANY_NODES].tolist():
        missed = shares_missed(p, q, low - step, high + 4.0 * step, step, alpha)
        if 2 * np.count_nonzero(missed <= enough) >= len(missed):
            return _bounds(_Sheet.of(p, q, low, high, step), alpha, missed)
    sheet, log_in_cells = None, np.empty(0)
    for step in steps[nodes <= _MOST_NODES].tolist():
        sheet = _Sheet.of(p, q, low, high, step)
        log_in_cells = _log_in_closed_cells(sheet, alpha, enough)
        if 2 * np.count_nonzero(log_in_cells <= math.log(enough)) >= log_in_cells.size:  # no integral is less than one
            break
    if sheet is None:
        nothing = np.full((len(p.means), len(q.means)), np.inf)
        return nothing, nothing
    return _bounds(sheet, alpha, np.full(len(q.means), enough), log_in_cells)


def _log_in_closed_cells(sheet: _Sheet, alpha: float, share: float) -> Array:
    """ln of a bound on what is in cells where the strip is closed, and on what the rule misses at their ends."""
    edge = half_width(sheet.step, share)
    where = closed(sheet.p, sheet.q, sheet.grid, step=sheet.step, edge=edge, alpha=alpha)
    at_an_end = where[:, [0, -1]].any(axis=1)
    where[:, [0, -1]] = False
    logs = np.full((len(sheet.log_p), len(sheet.log_q)), -np.inf)
    if where.any():
        logs = _log_products(*most_in_cells(*sheet, where, alpha=alpha), alpha)
        logs += math.log(2.0 * sheet.step + 9.0 * edge)  # more than step + 4.04 edges, for rounding
    return np.where(at_an_end, np.inf, logs)


def _bounds(sheet: _Sheet, alpha: float, missed: Array, log_in_cells: Array | float = -math.inf) -> tuple[Array, Array]:
    """The bounds from one grid, given what its sum misses: the share of an integral, and what closed cells hold."""
    p, q, grid, step, log_p, log_q = sheet
    off_p, off_q = (_ROUNDING_OF_LOGS * _size(laws, grid) for laws in (p, q))
    with np.errstate(all="ignore"):
        total = _log_products(log_p, (1.0 - alpha) * log_q, alpha) + math.log(step)
        beyond, shares = np.exp(log_in_cells - total), float(np.expm1(2 * off_q))
        for end, side in ((0, -1.0), (-1, 1.0)):
            ends = log_p[:, end], log_q[:, end], float(grid[end])
            tail = log_tails(p, q, *ends, side=side, alpha=alpha, stretch=2 * WIDEST * step, rounding=shares)
            beyond += np.exp(tail - total)
        added = np.log1p(beyond) - np.log1p(-missed) + alpha * off_p + (alpha - 1.0) * off_q
        added += _ROUNDING_OF_RUNS + _ROUNDING_OF_SUMS * len(grid) * (np.abs(total) + 1.0)
        losses = np.maximum(total + added, 0.0) / (alpha - 1)
    unknown = ~(np.isfinite(losses) & (missed < 0.5) & (added < 0.5) & (max(off_p, off_q) < 0.25))
    return np.where(unknown, np.inf, losses), np.where(unknown, np.inf, np.expm1(added))


def _size(mixtures: Components, grid: Array) -> float:
    """What the rounding of a log-density is a share of: squares of distances, heights, the number of components."""
    narrowest, far = float(mixtures.stds.min()), float(np.abs(grid[[0, -1]]).max())
    z = (float(grid[-1]) - float(grid[0])) / narrowest
    weights = mixtures.log_weights[np.isfinite(mixtures.log_weights)]
    heights = -float(weights.min()) + float(np.abs(np.log(mixtures.stds)).max())
    return z * (z + far / narrowest) + heights + float(mixtures.means.shape[1])


def _narrowest_peak(p: Components, q: Components, alpha: float) -> float:
    """A width that no peak of p^α q^{1−α} falls short of, crossings of q's components apart.

    −(ln p)″ is at most 1/v, v the least variance of p, and −(ln q)″ at least 1/s less what crossings add, s the least
    of q. With noise the two nearly cancel: at high orders a peak is √α times as wide as p^α alone would be.
    """
    curvature = alpha / (p.stds.min(axis=1) ** 2).min() - (alpha - 1.0) / (q.stds.min(axis=1) ** 2).max()
    widest = float(max(p.stds.max(), q.stds.max()))
    return 1.0 / math.sqrt(max(float(curvature), 1.0 / widest**2))


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
    """ln Σ_y exp(α·log_p[i, y] + log_weight[j, y]) for all i, j, run by run: those of one length side by side."""
    log_lead = alpha * log_p
    total: Array = np.full((len(log_p), len(log_weight)), -np.inf)
    with np.errstate(divide="ignore"):
        for start, count, length in _alike(_runs(log_lead, log_weight), max(1, _BLOCK // total.size)):
            nodes = slice(start, start + count * length)
            (lead, top_lead), (follow, top_follow) = (
                _topped(logs[:, nodes].reshape(len(logs), count, length)) for logs in (log_lead, log_weight)
            )
            here = np.log(np.exp(lead) @ np.exp(follow).swapaxes(1, 2)) + top_lead + top_follow.swapaxes(1, 2)
            for run in here:  # in order: sums of logarithms are rounded
                np.logaddexp(total, run, out=total)
    return total


def _topped(logs: Array) -> tuple[Array, Array]:
    """Logarithms of rows × runs × nodes as runs × rows × nodes, less the largest of each row in a run; and those."""
    logs = logs.swapaxes(0, 1)
    top = logs.max(axis=2, keepdims=True)
    return np.subtract(logs, top, order="C"), top


def _alike(runs: list[tuple[int, int]], most: int) -> Iterator[tuple[int, int, int]]:
    """Neighbours of one length, at most so many at a time: where they start, how many they are, and how long each is.

    >>> list(_alike([(0, 64), (64, 128), (128, 131), (131, 134), (134, 137)], 2))
    [(0, 2, 64), (128, 2, 3), (134, 1, 3)]
    """
    first = 0
    for place, (start, stop) in enumerate(runs, start=1):
        length = stop - start
        if place == len(runs) or place - first == most or runs[place][1] - runs[place][0] != length:
            yield runs[first][0], place - first, length
            first = place


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
