"""Where EM sets out from: quantiles, k-means clusters, scattered seeds, and splits of a smaller fit."""

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.laws.fitting.em import Batch, Samples

_LLOYD_ROUNDS = 100  # on the line k-means settles within a few


def fresh_starts(data: Samples, size: int, floor: float, *, count: int, seed: int) -> Batch:
    """`count` starts with `size` components, the same for the same seed.

    The first cuts the values at their quantiles. The others grow from k-means++ seeds: half of them
    settled by k-means, which finds clusters, half left as seeds with one common width, from where EM
    can find components that overlap.
    """
    rng = np.random.default_rng((seed, size))
    sums = _running_sums(data)
    cuts = np.searchsorted(sums[0, 1:], sums[0, -1] * np.arange(1, size) / size)
    found = [_from_cuts(sums, np.clip(cuts, 1, len(data.x) - 1), floor)]
    for turn in range(1, count):
        seeds = _scatter(data, size, rng)
        found.append(_lloyd(data, sums, seeds, floor) if turn % 2 else _common_width(data, seeds, floor))
    return Batch(*(np.stack(parts) for parts in zip(*found, strict=True)))


def splits(fit: Batch, floor: float) -> Batch:
    """Each component of one fit in turn as two: side by side, and one narrow inside one wide."""
    found = []
    for k in range(fit.weights.shape[1]):
        weight, mean, variance = (float(part[0, k]) for part in fit)
        rest = Batch(*(np.delete(part, k, axis=1) for part in fit))
        aside = 0.7 * variance**0.5
        for means, variances in (
            ([mean - aside, mean + aside], [0.5 * variance, 0.5 * variance]),
            ([mean, mean], [0.2 * variance, 1.8 * variance]),
        ):
            found.append(
                (
                    np.append(rest.weights[0], [0.5 * weight, 0.5 * weight]),
                    np.clip(np.append(rest.means[0], means), -1.0, 1.0),
                    np.maximum(np.append(rest.variances[0], variances), floor * floor),
                )
            )
    return Batch(*(np.stack(parts) for parts in zip(*found, strict=True)))


def merges(fit: Batch) -> Batch:
    """One fit with each component in turn left out, and with each two neighbours made one."""
    order = np.argsort(fit.means[0], kind="stable")
    fit = Batch(*(part[:, order] for part in fit))
    size = fit.weights.shape[1]
    found = [_without(fit, k) for k in range(size) if fit.weights[0, k] < 1]
    for k in range(size - 1):
        weights, means, variances = (part[0, k : k + 2] for part in fit)
        weight = weights.sum()
        share = weights / weight if weight > 0 else np.array([0.5, 0.5])
        mean = share @ means
        variance = share @ (variances + (means - mean) ** 2)
        rest = Batch(*(np.delete(part, [k, k + 1], axis=1) for part in fit))
        pair = (weight, mean, variance)
        found.append(Batch(*(np.append(part, [[one]], axis=1) for part, one in zip(rest, pair, strict=True))))
    return Batch(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _without(fit: Batch, k: int) -> Batch:
    """One fit less one component."""
    weights, means, variances = (np.delete(part, k, axis=1) for part in fit)
    return Batch(weights / max(weights.sum(), np.finfo(float).tiny), means, variances)


def _running_sums(data: Samples) -> Array:
    """Weight, first and second moment up to each value, from 0: a cluster's moments are differences."""
    moments = np.stack([data.w, data.w * data.x, data.w * data.x**2])
    return np.concatenate([np.zeros((3, 1)), np.cumsum(moments, axis=1)], axis=1)


def _from_cuts(sums: Array, cuts: npt.NDArray[np.intp], floor: float) -> Batch:
    """One component per cluster of consecutive values, with the cluster's weight, mean and variance."""
    edges = np.concatenate([[0], np.sort(cuts), [sums.shape[1] - 1]])
    mass, first, second = np.diff(sums[:, edges], axis=1)
    alive = mass > 0
    safe = np.where(alive, mass, 1.0)
    overall = sums[1, -1] / sums[0, -1]
    means = np.where(alive, first / safe, overall)
    variances = np.maximum(second / safe - means**2, floor * floor)
    return Batch(mass / mass.sum(), np.clip(means, -1.0, 1.0), variances)


def _scatter(data: Samples, size: int, rng: np.random.Generator) -> Array:
    """k-means++ seeds: each next one likely to be far from those before it, in order."""
    chance = data.w
    nearest = np.full(len(data.x), np.inf)
    seeds: list[float] = []
    for _ in range(size):
        ladder = np.cumsum(chance)
        place = min(int(np.searchsorted(ladder, rng.random() * ladder[-1], side="right")), len(data.x) - 1)
        seeds.append(float(data.x[place]))
        nearest = np.minimum(nearest, (data.x - seeds[-1]) ** 2)
        chance = data.w * nearest
        if not chance.any():  # fewer values can be told apart than seeds are wanted
            chance = data.w
    return np.sort(np.array(seeds))


def _lloyd(data: Samples, sums: Array, centres: Array, floor: float) -> Batch:
    """k-means on the line: clusters are intervals, so a round costs one binary search per centre."""
    cuts = np.searchsorted(data.x, 0.5 * (centres[1:] + centres[:-1]))
    for _ in range(_LLOYD_ROUNDS):
        means = np.sort(_from_cuts(sums, cuts, floor).means)
        moved = np.searchsorted(data.x, 0.5 * (means[1:] + means[:-1]))
        if np.array_equal(moved, cuts):
            break
        cuts = moved
    return _from_cuts(sums, cuts, floor)


def _common_width(data: Samples, centres: Array, floor: float) -> Batch:
    mean = np.average(data.x, weights=data.w)
    variance = np.average((data.x - mean) ** 2, weights=data.w) / len(centres) ** 2
    each = np.ones_like(centres)
    return Batch(each / len(centres), centres, each * max(variance, floor * floor))
