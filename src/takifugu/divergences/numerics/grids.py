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
from takifugu.divergences.numerics.envelope import Indices
from takifugu.laws import Mixture

# Where along a grid the strip of strip.py is wide enough, and how large p^α q^{1−α} may be where it is not.
#
# Components that hold next to nothing of a law around a node do not count there. So far clusters close the strip only
# where they cross, deep in a valley, and narrow components only near themselves. In a closed cell the integrand is
# bounded by what it and its neighbours are: crude, but negligible in a valley (proofs/exact.md).

LEAST_SHARE = 1e-13  # of an integral that half_width can be asked for, so that the edge is within strip.WIDEST
_GROWTH = 3.0  # of the logarithm of the integrand, from the line to the edge of the strip
_SLACK = 0.02  # of it, for the components that do not count and for rounding
_HALF_TURN_CELLS = 2.8  # of phases: less than π by more than those components can turn
_NEGLIGIBLE = 3000.0  # times α and their number: how much smaller they are than another
_ROUNDING_CELLS = 2.0**-47
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
        growth -= beta * np.log(np.cos(0.5 * np.minimum(edge * follow.turn, _HALF_TURN_CELLS)))
        turn = edge * np.maximum(follow.turn, lead.turn.max(axis=0))
    return np.broadcast_to(
        ~((turn <= _HALF_TURN_CELLS) & (growth <= _GROWTH - _SLACK)), (len(q.means), len(grid))
    ).copy()


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
        found.turn[row] = turn + _ROUNDING_CELLS * np.abs(grid[[0, -1]]).max() * precisions.max()
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


# How far a sum over equally spaced nodes may be from the integral of p^α q^{1−α}: a bound, from a strip of the plane.
#
# The integrand is analytic around the real line, as far out as the components of p, and those of q, cannot cancel.
# The rule errs by the integral along the edge of that strip, over e^{2πa/h}, a its half width and h the step; and
# along the edge the integrand is at most so many times what it is on the line (proofs/exact.md).

WIDEST = 6.0  # steps from the line to the edge: e^{−2π·6} is less than rounding
_HALF_WIDTHS = np.linspace(WIDEST / 48, WIDEST, 48)[:, None]
_HALF_TURN = 3.0  # of phases, a little less than π
_ROUNDING, _ROUNDING_OF_COSINES = 2.0**-47, 2.0**-46


def shares_missed(p: "Components", q: "Components", low: float, high: float, step: float, alpha: float) -> Array:
    """For every column of q, the largest share of an integral from `low` to `high` that the rule may be off by.

    It holds against any row of p; one or more says nothing.
    """
    beta = alpha - 1.0
    with np.errstate(all="ignore"):
        narrowest, widest = 1.0 / p.stds.min() ** 2, 1.0 / q.stds.max(axis=1) ** 2
        curvature = np.maximum(alpha * narrowest - beta * widest, 0.0) + _ROUNDING * alpha * narrowest
        turn = _phases(q, low, high)
        half_width = np.minimum(_HALF_WIDTHS * step, _HALF_TURN / np.maximum(turn, _phases(p, low, high).max()))
        along = 2.0 * math.pi * half_width / step
        growth = 0.5 * curvature * half_width**2
        growth += beta * (_ROUNDING_OF_COSINES - np.log(np.cos(0.5 * half_width * turn)))
        missed: Array = np.fmin.reduce(2.0 * np.exp(growth - along) / -np.expm1(-along))
    return np.nan_to_num(missed, nan=np.inf)


def _phases(laws: "Components", low: float, high: float) -> Array:
    """How fast, off the line, the phases of the components of each law part: the most anywhere between two points.

    At x they are the numbers (x − m)/v. The largest of them less the least is convex in x, so that it is largest at
    an end.
    """
    variances = laws.stds**2
    rounding = _ROUNDING * max(abs(low), abs(high)) / variances.min(axis=1)
    apart = [np.ptp((end - laws.means) / variances, axis=1) for end in (low, high)]
    return np.asarray(np.maximum(*apart) + rounding)


# What lies beyond a grid: a bound on ∫ p^α q^{1−α} from its end on, for all pairs at once (proofs/exact.md).

_SURE = 1e-9  # the share of its terms that a difference is lowered by,
_ROUNDING_TAILS = 2.0**-50  # or this one, of distances measured in the narrowest component


class _Fall(NamedTuple):
    """A density at least (or at most) exp(log − slope·t − ½·curve·t²) at the distance t beyond the end of the grid."""

    log: Array
    slope: Array
    curve: Array


class Edge(NamedTuple):
    """One end of a grid: its place, to which side what is beyond it lies (1 right, −1 left), and the log-densities."""

    place: float
    side: float
    log_p: Array
    log_q: Array


def log_tails(
    p: "Components", q: "Components", edge: Edge, *, alpha: float, stretch: float = 0.0, rounding: float = 0.0
) -> Array:
    """ln of the bound on what lies beyond one end of a grid, infinite where there is none.

    Each log-density falls off at least, or at most, like one parabola, and what is left is the integral of an
    exponential. To it is added what the integrand holds over a `stretch` if it stays as it is at the end. `rounding`
    is how far the components' shares in q may be off.
    """
    end, side, log_p, log_q = edge
    far = max(abs(end), np.abs(p.means).max(), np.abs(q.means).max()) / min(p.stds.min(), q.stds.min())
    beta, sure = alpha - 1.0, max(_SURE, _ROUNDING_TAILS * float(far))
    above = _at_most(p, log_p, end, side)
    best = np.full((len(log_p), len(log_q)), np.inf)
    for below in (_at_least(q, log_q, end, side, rounding), _widest(q, end, side)):
        with np.errstate(all="ignore"):
            slope = alpha * above.slope[:, None] - beta * below.slope
            curve = alpha * above.curve[:, None] - beta * below.curve
            slope -= sure * (alpha * np.abs(above.slope[:, None]) + beta * np.abs(below.slope))
            curve -= sure * (alpha * above.curve[:, None] + beta * below.curve)
            falls = (slope > 0) & (curve > 0)
            bound = alpha * above.log[:, None] - beta * below.log + np.log(1.0 / slope + stretch)
        best = np.minimum(best, np.where(falls, bound, np.inf))
    return best


def _at_most(p: "Components", log_p: Array, end: float, side: float) -> _Fall:
    """p is at most its value at the end, times the slowest fall of any component."""
    there = np.isfinite(p.log_weights)
    slopes = np.where(there, side * (end - p.means) / p.stds**2, np.inf)
    curves = np.where(there, p.stds**-2.0, np.inf)
    return _Fall(log_p, slopes.min(axis=1), curves.min(axis=1))


def _at_least(q: "Components", log_q: Array, end: float, side: float, rounding: float) -> _Fall:
    """q is at least its value at the end times the mean fall, by Jensen: components count as they do at the end."""
    logs = q.log_weights - np.log(q.stds) - 0.5 * np.log(2 * np.pi) - 0.5 * ((end - q.means) / q.stds) ** 2
    with np.errstate(under="ignore"):
        shares = np.exp(logs - log_q[:, None])
    shares /= shares.sum(axis=1, keepdims=True)
    slopes, curves = side * (end - q.means) / q.stds**2, q.stds**-2.0
    slope, curve = ((shares * x).sum(axis=1) + rounding * np.ptp(x, axis=1) for x in (slopes, curves))
    return _Fall(log_q, slope, curve)


def _widest(q: "Components", end: float, side: float) -> _Fall:
    """q is at least its widest component, and of equally wide ones that nearest to this end."""
    rows = np.arange(len(q.means))
    stds = np.where(np.isfinite(q.log_weights), q.stds, 0.0)
    nearest = np.where(stds == stds.max(axis=1, keepdims=True), side * q.means, -np.inf)
    l = nearest.argmax(axis=1)
    s, gap = q.stds[rows, l], end - q.means[rows, l]
    log = q.log_weights[rows, l] - np.log(s) - 0.5 * np.log(2 * np.pi) - 0.5 * (gap / s) ** 2
    return _Fall(log, side * gap / s**2, s**-2.0)


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
            there = Edge(float(grid[end]), side, log_p[:, end], log_q[:, end])
            tail = log_tails(p, q, there, alpha=alpha, stretch=2 * WIDEST * step, rounding=shares)
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
