"""Fit a mixture to data: weighted EM on the line, the number of components by BIC.

>>> ages = [21, 22, 22, 23, 23, 23, 24, 61, 62, 62, 63, 63, 64]
>>> found = fit(ages)
>>> len(found.mixture), found.resolution, found.converged
(2, 1.0, True)
"""

import math
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer, real
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import lattice_counts, rounded_normal
from takifugu.laws.fitting.em import Batch, Data, Found, Search, maximise, settle
from takifugu.laws.lattice import Lattice
from takifugu.laws.mixture import Mixture, merge

# How narrow a component may be, read off the data: rounding leaves a step, samples leave gaps.

_COMPANY = 5  # the fewest samples that speak for a component
_BY_CHANCE = 1.1  # samples per distinct value below which repeats are coincidences


def rounding_of(values: Array) -> Array:
    """How far apart neighbours, of at least two distinct values in order, may be for reasons of arithmetic alone.

    Of each gap by itself: a code such as 1e20 among ages is no reason to think that these are known to 1e4 alone.
    """
    size = np.abs(values)
    return 2 * np.finfo(np.float64).eps * np.maximum(size[:-1], size[1:])


def least_std(x: Array, w: Array, *, repeats: bool, rounding: Array | float) -> tuple[float, float | None]:
    """The default floor of the standard deviation, and the step of the values where they repeat.

    `x` holds at least two distinct values in order and `w` the number of samples at each. Gaps of at
    most `rounding`, one number or one for each gap, come from floating-point arithmetic (0.1 + 0.2 against 0.3) and are
    not taken for the step of the data. Where values repeat only here and there, that is chance and not rounding:
    the samples lie further apart than the step, and the gaps between them set the floor.
    """
    floor, step = float(np.min(rounding)), None
    if repeats:
        gaps = np.diff(x)
        real = gaps[gaps > rounding]
        step = float((real if real.size else gaps[gaps > 0]).min(initial=2.0))
        floor = step / math.sqrt(12)
    if not repeats or w.sum() < _BY_CHANCE * len(x):
        floor = max(floor, narrowest_window(x, w))
    return floor, step


def narrowest_window(x: Array, w: Array) -> float:
    """The least standard deviation of five consecutive values (of all, where there are fewer).

    Why five: among n samples of a smooth density, the narrowest run of m has a width of order
    n^(−m/(m−1)). A component put there gains about m/(m−1)·ln n of log-likelihood, and BIC charges
    1.5·ln n for it. So for m above 3 it does not pay to give a chance cluster its own component, with
    some room at m = 5. A component that holds many samples is far wider than its five closest ones, so
    this floor leaves it alone.
    """
    size = min(_COMPANY, len(x))
    runs = np.lib.stride_tricks.sliding_window_view(x, size)
    loads = np.lib.stride_tricks.sliding_window_view(w, size)
    total = loads.sum(axis=1)
    offsets = runs - runs[:, :1]  # about the first value of each run: no digits are lost to a far centre
    mean = (loads * offsets).sum(axis=1) / total
    variance = (loads * (offsets - mean[:, None]) ** 2).sum(axis=1) / total
    return math.sqrt(float(variance.min()))


EXTREME = 1e100  # times the data's span, or that part of it: squares of wider ratios would overflow


@dataclass(frozen=True)
class Fit:
    """A fitted mixture, and how the fit went.

    Attributes:
        mixture: the fit, components in order of their means.
        log_likelihood: natural logarithm of the likelihood of all samples; `inf` for a point mass.
        bic: −2·log_likelihood + (3K − 1)·ln(samples), the least over the numbers of components tried.
        bics: the same for each number of components tried, from 1 up.
        samples: the number of samples (the sum of the counts).
        converged: whether EM settled, for the number of components chosen.
        iterations: EM steps taken for the number of components chosen, all starts side by side.
        min_std: the least standard deviation a component could take.
        resolution: the step of the values, where they repeat; otherwise None.
        hit_limit: whether `max_components` alone stopped the fit from trying more than it chose.
    """

    mixture: Mixture
    log_likelihood: float
    bic: float
    bics: tuple[float, ...]
    samples: float
    converged: bool
    iterations: int
    min_std: float
    resolution: float | None
    hit_limit: bool


class _Frame(NamedTuple):
    """The working scale: original = 2**outer · (centre + 2**inner · scaled), scaled in [-1, 1].

    Powers of two make the scaling exact. It comes before the centring so that no difference
    overflows, and the centre is one of the values so that differences from it near by are exact.
    """

    outer: int
    centre: float
    inner: int

    @property
    def exponent(self) -> int:
        """The binary logarithm of the original length of one scaled unit."""
        return self.outer + self.inner

    def lengths(self, scaled: float | Array) -> Array:
        """Lengths on the original scale; the largest float where they are beyond it."""
        with np.errstate(over="ignore", under="ignore"):
            return np.minimum(np.ldexp(scaled, self.exponent), sys.float_info.max)

    def places(self, scaled: Array) -> Array:
        """Positions on the original scale."""
        with np.errstate(under="ignore"):
            original: Array = np.ldexp(self.centre + np.ldexp(scaled, self.inner), self.outer)
        return original


def fit(
    values: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    max_components: int = 10,
    min_std: float | None = None,
    seed: int = 0,
    n_starts: int = 10,
) -> Fit:
    """Fit mixtures of 1 to `max_components` normals and keep the one with the least BIC.

    Equal values are merged first, so the cost grows with the number of distinct values and not with the
    number of rows. The same arguments always give the same fit.

    Args:
        values: the samples, in any order.
        weights: how often each value was seen. They need not be whole numbers: the number of samples is
            their sum. Weights that sum to less than the number of distinct values cannot be counts; they
            are taken as proportions of the rows given.
        max_components: the most components tried. The number of samples and the number of
            distinct values limit it as well.
        min_std: the least standard deviation of a component, above 0. Without one, a component
            could shrink onto a value that occurs twice and make the likelihood infinite. By default, where
            values repeat they are taken as rounded to their smallest gap, and the floor is that gap
            divided by √12: the standard deviation of rounding, below which the data say nothing. Where
            no value repeats, or only here and there, it is at least the standard deviation of the five
            consecutive values that lie closest together: a narrower component would hold fewer samples.
            On rounded samples this default bounds the likelihood but still rewards a component on a
            single value: the density of one that narrow, summed over the steps, exceeds 1. So BIC may
            choose many. At three quarters of the step (`min_std=0.75` for whole numbers) the
            sum is 1 within 1e-4, and a rounded normal is found to be one component.
        seed: of the random starts.
        n_starts: starts for each number of components, apart from those grown from the best fit with one
            component fewer.

    A column with one distinct value and no `min_std` gives a point mass. That is what the data say;
    any width would be an assumption about the adversary that only makes the secret look safer.

    >>> fit([7.0, 7.0, 7.0]).mixture
    Mixture.gaussian(mean=7, std=0)
    """
    limit = integer("max_components", max_components, least=1)
    count = integer("n_starts", n_starts, least=1)
    seed = integer("seed", seed, least=0)
    if min_std is not None and real("min_std", min_std, "None or a finite number above 0") <= 0:
        raise InputError(f"min_std must be None or a finite number above 0, got {min_std!r}")
    points, mass, repeats = _samples(values, weights)
    if len(points) == 1:
        return _constant(float(points[0]), float(mass[0]), min_std)
    frame, x = _rescale(points)
    floor, step = _floor(points, x, mass, frame, min_std, repeats=repeats)
    data = Data(x, mass)
    samples = math.fsum(mass)
    room = max(1, min(len(x), int(samples * (1 + 1e-12))))
    found = Search(data, floor, count=count, seed=seed).up_to(min(limit, room))
    bics = [_bic(one, size, samples, frame) for size, one in enumerate(found, start=1)]
    size = 1 + int(np.argmin(bics))
    best = settle(data, found[size - 1], floor)
    bics[size - 1] = _bic(best, size, samples, frame)
    return Fit(
        mixture=_mixture(best, frame, floor),
        log_likelihood=_original(best.log_likelihood, samples, frame),
        bic=bics[size - 1],
        bics=tuple(bics),
        samples=samples,
        converged=best.converged,
        iterations=best.steps,
        min_std=float(frame.lengths(floor)),
        resolution=None if step is None else float(frame.lengths(step)),
        hit_limit=size == limit < room,
    )


def _samples(values: npt.ArrayLike, weights: npt.ArrayLike | None) -> tuple[Array, Array, bool]:
    """Distinct values, how many samples each stands for, and whether any value was seen twice."""
    points, mass = merge(values, weights)
    if weights is None:
        return points, mass, bool(mass.max() > 1)
    given = np.asarray(weights, dtype=np.float64)
    rows = int(np.count_nonzero(given))
    total = math.fsum(mass)
    if total < len(points) * (1 - 1e-9):
        mass = mass * (rows / total)
    counts = bool((given == np.floor(given)).all())
    return points, mass, rows > len(points) or (counts and bool(mass.max() > 1))


def _rescale(points: Array) -> tuple[_Frame, Array]:
    outer = math.frexp(float(np.abs(points).max()))[1]
    with np.errstate(under="ignore"):
        shrunk = np.ldexp(points, -outer)
        centre = float(shrunk[len(shrunk) // 2])
        shifted = shrunk - centre
        inner = math.frexp(float(np.abs(shifted).max()))[1]
        return _Frame(outer, centre, inner), np.ldexp(shifted, -inner)


def _floor(
    points: Array, x: Array, mass: Array, frame: _Frame, min_std: float | None, *, repeats: bool
) -> tuple[float, float | None]:
    """The least standard deviation on the working scale, and the step of the values."""
    with np.errstate(under="ignore"):
        rounding = rounding_of(np.ldexp(points, -frame.exponent))
    floor, step = least_std(x, mass, repeats=repeats, rounding=rounding)
    if min_std is not None:
        with np.errstate(over="ignore", under="ignore"):
            floor = float(np.ldexp(float(min_std), -frame.exponent))
        if floor > EXTREME:
            span = float(frame.lengths(x[-1] - x[0]))
            raise InputError(f"min_std is {min_std!r} but the values span only {span}: check its unit")
    return max(floor, 1 / EXTREME), step


def _original(log_likelihood: float, samples: float, frame: _Frame) -> float:
    """The log-likelihood in the units of the data: densities shrink as lengths grow."""
    return log_likelihood - samples * frame.exponent * math.log(2)


def _bic(found: Found, size: int, samples: float, frame: _Frame) -> float:
    """A mixture of K normals has K means, K widths and K − 1 free weights."""
    return -2 * _original(found.log_likelihood, samples, frame) + (3 * size - 1) * math.log(samples)


def _mixture(found: Found, frame: _Frame, floor: float) -> Mixture:
    stds = np.maximum(np.sqrt(found.variances), floor)
    order = np.lexsort((stds, found.means))
    weights = found.weights / math.fsum(found.weights)
    return Mixture(weights[order], frame.places(found.means[order]), frame.lengths(stds[order]))


def _constant(value: float, samples: float, min_std: float | None) -> Fit:
    """One value: a point mass, or a normal of the width asked for."""
    std = 0.0 if min_std is None else float(min_std)
    peak = -math.log(std) - 0.5 * math.log(2 * math.pi) if std > 0 else math.inf
    bic = -2 * samples * peak + 2 * math.log(samples)
    return Fit(
        mixture=Mixture.gaussian(value, std),
        log_likelihood=samples * peak,
        bic=bic,
        bics=(bic,),
        samples=samples,
        converged=True,
        iterations=0,
        min_std=std,
        resolution=None,
        hit_limit=False,
    )


# Fitting mixtures to rounded values: a value stands for the interval that rounds to it.
#
# Its likelihood is Φ((v + r/2 − μ)/σ) − Φ((v − r/2 − μ)/σ), the ends of the lattice taking the tails that were clipped
# to them. A density at the value itself would reward a component for sitting on a single integer; this does not, so a
# rounded normal is found to be one component.


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
        bics = [_grouped_bic(one, size, samples) for size, one in enumerate(found, start=1)]
        size = 1 + int(np.argmin(bics))
        if size < tried - 1:  # two sizes more have not paid: more of them would not
            break
    best = settle(cells, found[size - 1], floor)
    bics[size - 1] = _grouped_bic(best, size, samples)
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


def _grouped_bic(found: Found, size: int, samples: float) -> float:
    return -2 * found.log_likelihood + (3 * size - 1) * math.log(samples)
