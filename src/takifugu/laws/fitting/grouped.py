"""Fitting mixtures to rounded values: a value stands for the interval that rounds to it.

Its likelihood is Φ((v + r/2 − μ)/σ) − Φ((v − r/2 − μ)/σ), the ends of the lattice taking the tails that were clipped to
them. A density at the value itself would reward a component for sitting on a single integer; this does not, so
a rounded normal is found to be one component.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer
from takifugu.laws.fitting.counts import lattice_counts, rounded_normal
from takifugu.laws.fitting.em import Batch, Found, Search, maximise, settle
from takifugu.laws.lattice import Lattice
from takifugu.laws.mixture import Mixture

_LEAST_STD = 0.1  # of a step: all but 6e-7 of such a component rounds to one point
_FIRST_SIZES = 4  # numbers of components tried before more are
_GROUPS = 64  # of neighbouring cells, when cells are too many to race on
_LARGEST = np.finfo(np.float64).max
_NARROW = 1e-5  # of a standard deviation
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class Cells(NamedTuple):
    """Occupied cells of a lattice, on the working scale: middle, weight, and the two ends of each."""

    x: Array
    w: Array
    lower: Array
    upper: Array

    def step(self, batch: Batch, floor: float) -> tuple[Array, Batch]:
        """The log-likelihood of each candidate, and the candidate one EM step further.

        The unseen exact values are the missing data. The M-step needs their first two moments within each cell, about
        the component's mean: σ(φ(a) − φ(b))/P and σ²(1 + (aφ(a) − bφ(b))/P), with a and b the standardised ends. A
        variance clipped at floor² is the constrained maximum, as it is for exact values (proofs/fitting.md).
        """
        sd = np.sqrt(batch.variances)[:, :, None]
        with np.errstate(divide="ignore", under="ignore", over="ignore", invalid="ignore"):
            # Both ends of every cell at once, here and below: on few cells a step costs what its calls cost.
            ends = (np.stack([self.lower, self.upper])[:, None, None, :] - batch.means[:, :, None]) / sd
            log_mass = log_interval(ends)
            share = np.log(batch.weights)[:, :, None] + log_mass
            top = np.maximum.reduce(share, axis=1, keepdims=True)
            top = np.where(np.isfinite(top), top, 0.0)
            share -= top
            np.exp(share, out=share)
            total = np.add.reduce(share, axis=1, keepdims=True)
            value = (np.log(total) + top)[:, 0, :] @ self.w
            share *= self.w / np.where(total > 0, total, 1.0)
            first, second = _moments(ends, log_mass)
            mass = np.add.reduce(share, axis=2)
            moved = np.einsum("skd,skd->sk", share, first) * sd[:, :, 0]
            spread = np.einsum("skd,skd->sk", share, second) * batch.variances
        return value, maximise(batch, mass, moved, spread, floor)

    def condensed(self) -> "Cells":
        """The cells, or where they are many, neighbours taken together: wider cells, and still exact ones."""
        if len(self.x) <= 2 * _GROUPS:
            return self
        rank = np.cumsum(self.w) / self.w.sum()
        place = (self.x - self.x[0]) / (self.x[-1] - self.x[0])
        labels = np.floor(0.5 * (rank + place) * _GROUPS)
        first = np.flatnonzero(np.concatenate([[True], np.diff(labels) != 0]))
        last = np.append(first[1:], len(self.x)) - 1
        w = np.add.reduceat(self.w, first)
        x = np.add.reduceat(self.w * self.x, first) / w
        return Cells(x, w, self.lower[first], self.upper[last])


def _moments(ends: Array, log_mass: Array) -> tuple[Array, Array]:
    """The first two moments of a standard normal within cells: their ends, (2, …), and the logarithm of their mass.

    A mean within the cell and a second moment no less than its square: true in exact arithmetic, and what keeps a cell
    so far out that its mass is lost in rounding from sending a component astray.
    """
    heights = -0.5 * ends
    heights *= ends
    heights -= _HALF_LOG_TAU
    heights -= log_mass
    np.exp(heights, out=heights)
    drop = np.empty_like(ends)
    np.subtract(heights[0], heights[1], out=drop[0])
    heights *= np.where(np.isfinite(ends), ends, 0.0)
    np.subtract(heights[0], heights[1], out=drop[1])
    if not math.isfinite(np.add.reduce(drop, axis=None)):
        drop[np.isnan(drop)] = 0.0
        np.clip(drop[1], -_LARGEST, _LARGEST, out=drop[1])
    first, second = drop
    np.minimum(np.maximum(first, ends[0], out=first), ends[1], out=first)
    second += 1.0
    return first, np.maximum(second, first * first, out=second)


def log_interval(ends: Array) -> Array:
    """ln(Φ(b) − Φ(a)) for the two ends a < b, of shape (2, …), both possibly infinite, however far out.

    >>> float(log_interval(np.array([-np.inf, 0.0]))) == math.log(0.5)
    True
    """
    from scipy.special import log_ndtr

    # On the right half mirror the interval: there both Φ are 1 to the last digit.
    low, high = near = np.where(ends[0] > 0, -ends[::-1], ends)
    log_low, log_high = log_ndtr(near)
    width: Array = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.minimum(log_low - log_high, 0.0)
        found: Array = log_high + np.log1p(-np.exp(ratio))
        if not width.min(initial=np.inf) < _NARROW:
            return found
        # Cells much narrower than the component, where the two Φ agree in all but a few digits: φ at the middle.
        middle = 0.5 * (low + high)
        narrow = np.log(width) - 0.5 * middle * middle - _HALF_LOG_TAU
        small = width * np.maximum(1.0, np.abs(middle)) < _NARROW
    return np.where(small, narrow, found)


@dataclass(frozen=True)
class GroupedFit:
    """A mixture fitted to rounded values, and how the fit went; `masses` is its law on the lattice."""

    mixture: Mixture
    masses: Array
    log_likelihood: float
    bics: tuple[float, ...]
    converged: bool
    hit_limit: bool


def fit_grouped(
    lattice: Lattice, counts: npt.ArrayLike, *, max_components: int = 10, seed: int = 0, n_starts: int = 10
) -> GroupedFit:
    """Fit mixtures of 1 to `max_components` normals to counts on a lattice, and keep the one with the least BIC.

    >>> counts = 500 * rounded_normal(21, mean=9.0, std=3.0)
    >>> len(fit_grouped(Lattice(0, 20, 1), counts).mixture)
    1
    """
    limit = integer("max_components", max_components, least=1)
    c = lattice_counts(lattice, counts)
    seen = np.flatnonzero(c)
    samples = math.fsum(c)
    if len(seen) == 1:
        # What the data say; any width would be an assumption that only makes the secret look safer.
        point = Mixture.gaussian(float(lattice.points[seen[0]]), 0.0)
        return GroupedFit(point, c / samples, 0.0, (2 * math.log(samples),), True, False)
    centre, half = 0.5 * (seen[0] + seen[-1]), 0.5 * (seen[-1] - seen[0])
    cells = _cells(len(lattice), seen, c[seen], centre, half)
    floor = _LEAST_STD / half
    room = max(1, min(len(seen), int(samples * (1 + 1e-12))))
    most, seed = min(limit, room), integer("seed", seed, least=0)
    search = Search(cells, floor, count=n_starts, seed=seed)
    for tried in (min(most, _FIRST_SIZES), most):
        found = search.up_to(tried)
        bics = [_bic(one, size, samples) for size, one in enumerate(found, start=1)]
        size = 1 + int(np.argmin(bics))
        if size < tried - 1:  # two sizes more have not paid: more of them would not
            break
    best = settle(cells, found[size - 1], floor)
    bics[size - 1] = _bic(best, size, samples)
    order = np.argsort(best.means, kind="stable")
    weights = best.weights[order] / math.fsum(best.weights)
    means, stds = centre + half * best.means[order], half * np.sqrt(best.variances[order])  # in steps
    parts = (w * rounded_normal(len(lattice), float(m), float(s)) for w, m, s in zip(weights, means, stds, strict=True))
    masses = np.sum(list(parts), axis=0)
    return GroupedFit(
        mixture=Mixture(weights, lattice.low + lattice.step * means, lattice.step * stds),
        masses=masses / math.fsum(masses),
        log_likelihood=best.log_likelihood,
        bics=tuple(bics),
        converged=best.converged,
        hit_limit=size == limit < room,
    )


def _cells(size: int, seen: npt.NDArray[np.intp], weights: Array, centre: float, half: float) -> Cells:
    """The occupied cells, scaled into [-1, 1]; the ends of the lattice reach to infinity."""
    lower = np.where(seen == 0, -np.inf, (seen - 0.5 - centre) / half)
    upper = np.where(seen == size - 1, np.inf, (seen + 0.5 - centre) / half)
    middles = ((seen - centre) / half).astype(np.float64)
    return Cells(middles, weights, lower, upper)


def _bic(found: Found, size: int, samples: float) -> float:
    return -2 * found.log_likelihood + (3 * size - 1) * math.log(samples)
