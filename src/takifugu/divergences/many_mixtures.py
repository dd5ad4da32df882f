"""The divergence of all pairs of many mixtures at once, by a matrix product on a shared grid.

Each density is evaluated once per secret. The integral of p^α q^{1−α} for every pair is then a product of two matrices
with the grid as the inner dimension. The factors span thousands of orders of magnitude, so the grid is cut into runs
on which no factor varies by more than e^350, each run is scaled by its largest entries, and the runs are added in
logarithms: nothing over- or underflows to a wrong answer.

The trapezoidal rule on an analytic integrand converges exponentially, and comparing it with the rule of twice the step
tells whether it has; tails beyond the grid are bounded by Gaussian tails (proofs/exact.md). A pair for which either is
in doubt is reported as infinite, which sends it to the adaptive quadrature.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.envelope import Indices
from takifugu.priors.mixture import Mixture

# Nodes per standard deviation (times √α) and reach beyond the means in standard deviations: ever finer and wider grids,
# tried on what is still in doubt.
_LEVELS = ((1.5, 14.0), (4.0, 30.0), (12.0, 60.0))
_MOST_NODES = 1 << 15
_LARGEST_SWING = 350.0
_LONGEST_RUN = 64
_STEP_DOUBT = 1e-5  # relative difference to twice the step; the error itself is about its square
_TAIL_DOUBT = 1e-6


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


def rough_losses(rows: Components, columns: Components, *, alpha: float, theta: float) -> Array:
    """The matrix of D_α of row against column, to about 1e-6 of the integral; infinite where that is in doubt."""
    origin = float(rows.means[0, 0])
    p, q = (side.with_noise(theta).seen_from(origin) for side in (rows, columns))
    losses = np.full((len(p.means), len(q.means)), np.inf)
    if min(p.stds.min(), q.stds.min()) == 0:
        return losses
    for density, reach in _LEVELS:
        doubt = np.isinf(losses)
        i, j = np.flatnonzero(doubt.any(axis=1)), np.flatnonzero(doubt.any(axis=0))
        if not len(i):
            break
        part = np.ix_(i, j)
        losses[part] = np.minimum(losses[part], _losses_on_grid(p.of_rows(i), q.of_rows(j), alpha, density, reach))
    return losses


def _losses_on_grid(p: Components, q: Components, alpha: float, density: float, reach: float) -> Array:
    step = float(min(p.stds.min(), q.stds.min())) / (density * math.sqrt(alpha))
    grid = _grid(p, q, step=step, reach=reach)
    if grid is None:
        return np.full((len(p.means), len(q.means)), np.inf)
    log_p, log_q = _log_densities(p, grid), _log_densities(q, grid)
    log_step = math.log(step)
    even = _log_products(log_p[:, ::2], log_q[:, ::2], alpha)
    odd = _log_products(log_p[:, 1::2], log_q[:, 1::2], alpha)
    with np.errstate(all="ignore"):
        total = np.logaddexp(even, odd) + log_step
        doubt = np.abs(np.expm1(even + math.log(2) + log_step - total)) > _STEP_DOUBT
        doubt |= ~(_log_tails(p, q, grid, alpha) <= total + math.log(_TAIL_DOUBT))
        losses = np.maximum(total + 2 * _TAIL_DOUBT, 0.0) / (alpha - 1)
    return np.where(doubt | ~np.isfinite(losses), np.inf, losses)


def _grid(p: Components, q: Components, *, step: float, reach: float) -> Array | None:
    """Equally spaced nodes over all components and `reach` standard deviations beyond; none if they are too many."""
    low = float(min((c.means - reach * c.stds).min() for c in (p, q)))
    high = float(max((c.means + reach * c.stds).max() for c in (p, q)))
    nodes = (high - low) / step + 2
    if not nodes <= _MOST_NODES:
        return None
    grid: Array = low + step * np.arange(2.0 * math.ceil(nodes / 2))
    return grid


def _log_densities(mixtures: Components, grid: Array) -> Array:
    """The log-density of each secret at each node."""
    out = np.empty((len(mixtures.means), len(grid)))
    heights = mixtures.log_weights - np.log(mixtures.stds) - 0.5 * math.log(2 * math.pi)
    for row, (height, means, stds) in enumerate(zip(heights, mixtures.means, mixtures.stds, strict=True)):
        z = (grid - means[:, None]) / stds[:, None]
        logs = height[:, None] - 0.5 * z * z
        top = logs.max(axis=0)
        out[row] = top + np.log(np.exp(logs - top).sum(axis=0))
    return out


def _log_products(log_p: Array, log_q: Array, alpha: float) -> Array:
    """ln Σ_y exp(α·log_p[i, y] − (α − 1)·log_q[j, y]) for all i, j, run by run."""
    total = np.full((len(log_p), len(log_q)), -np.inf)
    for start, stop in _runs(log_p, log_q, alpha):
        lead, follow = alpha * log_p[:, start:stop], (1.0 - alpha) * log_q[:, start:stop]
        top_lead, top_follow = lead.max(axis=1), follow.max(axis=1)
        product = np.exp(lead - top_lead[:, None]) @ np.exp(follow - top_follow[:, None]).T
        np.logaddexp(total, np.log(product) + top_lead[:, None] + top_follow, out=total)
    return total


def _runs(log_p: Array, log_q: Array, alpha: float) -> list[tuple[int, int]]:
    """Runs of nodes on which no secret's α·log-density swings by more than the limit."""
    swing = alpha * np.maximum(*(np.abs(np.diff(x, axis=1)).max(axis=0, initial=0.0) for x in (log_p, log_q)))
    runs, start, used = [], 0, 0.0
    for node, change in enumerate(swing.tolist(), start=1):
        used += change
        if used > _LARGEST_SWING or node - start >= _LONGEST_RUN:
            runs.append((start, node))
            start, used = node, 0.0
    runs.append((start, log_p.shape[1]))
    return runs


def _log_tails(p: Components, q: Components, grid: Array, alpha: float) -> Array:
    """ln of a bound on what lies beyond the grid: p^α <= Σ w N^α (Jensen) and q >= its widest component."""
    beta = alpha - 1.0
    rows = np.arange(len(q.means))
    widest = np.where(np.isfinite(q.log_weights), q.stds, 0.0).argmax(axis=1)
    s, m, w = q.stds[rows, widest], q.means[rows, widest], q.log_weights[rows, widest]
    total = np.full((len(p.means), len(q.means)), -np.inf)
    for log_weight, mean, v in zip(p.log_weights.T, p.means.T, p.stds.T, strict=True):
        v, mean, log_weight = v[:, None], mean[:, None], log_weight[:, None]
        margin = alpha * s**2 - beta * v**2
        gap = mean - m
        with np.errstate(all="ignore"):
            centre = mean + beta * v**2 * gap / margin
            width = v * s / np.sqrt(margin)
            log_mass = log_weight - beta * w + alpha * np.log(s / v) + np.log(width / s)
            log_mass = log_mass + 0.5 * alpha * beta * gap**2 / margin
            left, right = (grid[0] - centre) / width, (centre - grid[-1]) / width
            log_tail = log_mass + np.logaddexp(_log_normal_tail(left), _log_normal_tail(right))
        log_tail = np.where(margin > 0, log_tail, np.inf)
        total = np.logaddexp(total, np.where(np.isneginf(log_weight), -np.inf, log_tail))
    return total


def _log_normal_tail(x: Array) -> Array:
    """An upper bound on ln Φ(x): −x²/2 − ln 2 for x <= 0, and 0 beyond."""
    return np.where(x <= 0, -0.5 * x * x - math.log(2), 0.0)
