"""Expectation-maximisation for mixtures on the line, over weighted values and many starts at once."""

import math
from typing import NamedTuple, Protocol, TypedDict

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array

_BLOCK = 1 << 16  # elements of one (starts, components, values) block: small enough to stay in cache
_GROUPS = 1024  # groups by rank and as many by place, when values are too many to race on
_LEAST_SHARE = 0.1  # an extrapolated weight keeps at least this share of the one EM itself proposes


class Samples(Protocol):
    """What EM climbs on: values in order, the weight of each, and what an EM step does with them."""

    @property
    def x(self) -> Array:
        """Distinct values in order, scaled into [-1, 1]."""
        ...

    @property
    def w(self) -> Array:
        """The weight (count) of each."""
        ...

    def step(self, batch: "Batch", floor: float) -> "tuple[Array, Batch]":
        """The log-likelihood of each candidate, and the candidate one EM step further."""
        ...

    def condensed(self) -> "Samples":
        """Themselves, or where they are many, fewer that stand for them while many starts race."""
        ...


class Data(NamedTuple):
    """Distinct values in order, scaled into [-1, 1], and the weight (count) of each: each is known exactly."""

    x: Array
    w: Array

    def step(self, batch: "Batch", floor: float) -> "tuple[Array, Batch]":
        """See `Samples.step`."""
        return step(self, batch, floor)

    def condensed(self) -> "Data":
        """The data, or where there are many values, their means in groups close in rank and in place.

        Only the race runs on groups: what is returned in the end is settled on all the values.
        """
        if len(self.x) <= 2 * _GROUPS:
            return self
        rank = np.cumsum(self.w) / self.w.sum()
        place = (self.x - self.x[0]) / (self.x[-1] - self.x[0])
        labels = np.floor(rank * _GROUPS) * (_GROUPS + 1) + np.floor(place * _GROUPS)
        first = np.flatnonzero(np.concatenate([[True], np.diff(labels) != 0]))
        w = np.add.reduceat(self.w, first)
        return Data(np.add.reduceat(self.w * self.x, first) / w, w)


class Batch(NamedTuple):
    """Parameters of several candidate mixtures of one size, each of shape (starts, components)."""

    weights: Array
    means: Array
    variances: Array

    def pick(self, rows: npt.NDArray[np.intp]) -> "Batch":
        """Some of the candidates."""
        return Batch(*(part[rows] for part in self))

    def join(self, other: "Batch") -> "Batch":
        """These candidates and those."""
        return Batch(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    def where(self, chosen: npt.NDArray[np.bool_], other: "Batch") -> "Batch":
        """Candidate by candidate, this one where `chosen` and the other elsewhere."""
        return Batch(*(np.where(chosen[:, None], mine, its) for mine, its in zip(self, other, strict=True)))


class Climb(NamedTuple):
    """Where a climb ended: the candidates, their log-likelihoods, whether each settled, steps taken."""

    batch: Batch
    log_likelihood: Array
    converged: npt.NDArray[np.bool_]
    steps: int


def step(data: Data, batch: Batch, floor: float) -> tuple[Array, Batch]:
    """The log-likelihood of each candidate, and the candidate one EM step further.

    The M-step maximises over variances of at least `floor`². For one component with responsibilities
    of total n, mean m and variance S, it maximises −(n/2)·(ln v + (S + (m − μ)²)/v). Whatever v is, μ = m
    is best; what is left, −ln v − S/v, rises up to v = S and falls after it, so over v ≥ floor² its
    maximum is at max(S, floor²). Clipping is therefore the exact constrained M-step, and the
    likelihood never decreases (proofs/fitting.md).
    """
    starts, size = batch.weights.shape
    value = np.zeros(starts)
    mass, first, second = (np.zeros((starts, size)) for _ in range(3))
    with np.errstate(divide="ignore", under="ignore"):
        height = (np.log(batch.weights) - 0.5 * np.log(2 * math.pi * batch.variances))[:, :, None]
    curve = (-0.5 / batch.variances)[:, :, None]
    length = max(1, _BLOCK // (starts * size))
    for begin in range(0, len(data.x), length):
        x, w = data.x[begin : begin + length], data.w[begin : begin + length]
        gap = x - batch.means[:, :, None]
        square = gap * gap
        share = curve * square
        share += height
        top = share.max(axis=1, keepdims=True)
        share -= top
        with np.errstate(under="ignore"):
            np.exp(share, out=share)
            total = share.sum(axis=1, keepdims=True)
            value += (np.log(total) + top)[:, 0, :] @ w
            share *= w / total
            mass += share.sum(axis=2)
            first += np.einsum("skd,skd->sk", share, gap)
            second += np.einsum("skd,skd->sk", share, square)
    return value, maximise(batch, mass, first, second, floor)


def maximise(batch: Batch, mass: Array, first: Array, second: Array, floor: float) -> Batch:
    """The M-step, from moments about the old means (which is where they lose no digits)."""
    alive = mass > 0
    safe = np.where(alive, mass, 1.0)
    shift = first / safe
    spread = np.maximum(second / safe - shift * shift, floor * floor)
    return Batch(
        mass / mass.sum(axis=1, keepdims=True),
        batch.means + shift,
        np.where(alive, spread, batch.variances),
    )


def climb(data: Samples, batch: Batch, floor: float, *, tolerance: float, cycles: int) -> Climb:
    """EM with squared extrapolation (SQUAREM, Varadhan and Roland 2008), until no candidate gains.

    A cycle is two EM steps, an extrapolation through them, and one EM step from there. Where the
    extrapolated point is worse than what plain EM has reached, it is thrown away: a cycle never loses
    likelihood. A candidate has settled when a whole cycle gains at most `tolerance` per unit of weight.
    """
    enough = tolerance * float(data.w.sum())
    everyone = np.arange(len(batch.weights))
    result, best = batch, np.full(len(everyone), -np.inf)
    converged = np.zeros(len(everyone), dtype=bool)
    active, here, steps = everyone, batch, 0
    for cycle in range(cycles + 1):
        value, one = data.step(here, floor)
        steps += 1
        settled = value - best[active] <= enough
        improved = value >= best[active]
        result = _put(result, active[improved], here.pick(np.flatnonzero(improved)))
        best[active[improved]] = value[improved]
        converged[active[settled]] = True
        going = np.flatnonzero(~settled)
        if going.size == 0 or cycle == cycles:
            break
        if going.size < active.size:
            active, here, one = active[going], here.pick(going), one.pick(going)
        here, extra = _cycle(data, here, one, floor)
        steps += extra
    return Climb(result, best, converged, steps)


def _cycle(data: Samples, zero: Batch, one: Batch, floor: float) -> tuple[Batch, int]:
    value, two = data.step(one, floor)
    guess = _extrapolate(zero, one, two, floor)
    guessed, three = data.step(guess, floor)
    return three.where(guessed >= value, two), 2


def _extrapolate(zero: Batch, one: Batch, two: Batch, floor: float) -> Batch:
    """Squared extrapolation, variances on the log scale, brought back to where values in [-1, 1] allow."""
    points = [np.concatenate([b.weights, b.means, np.log(b.variances)], axis=1) for b in (zero, one, two)]
    velocity = points[1] - points[0]
    bend = points[2] - points[1] - velocity
    size, curvature = (np.sqrt((part * part).sum(axis=1)) for part in (velocity, bend))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        stride = np.where(curvature > 0, size / curvature, 1.0)
    # Steps shorter than EM's own are pointless; endless ones only waste the step that rejects them.
    stride = np.clip(stride, 1.0, 1e4)[:, None]
    k = zero.weights.shape[1]
    ahead = points[0] + 2 * stride * velocity + stride**2 * bend
    weights, means, logs = ahead[:, :k], ahead[:, k : 2 * k], ahead[:, 2 * k :]
    weights = np.maximum(weights, _LEAST_SHARE * two.weights)
    low = 2 * math.log(floor)
    return Batch(
        weights / weights.sum(axis=1, keepdims=True),
        np.clip(means, -1.0, 1.0),
        np.maximum(np.exp(np.clip(logs, low, max(low, 0.0))), floor * floor),
    )


def _put(batch: Batch, rows: npt.NDArray[np.intp], new: Batch) -> Batch:
    parts = []
    for old, fresh in zip(batch, new, strict=True):
        part = old.copy()
        part[rows] = fresh
        parts.append(part)
    return Batch(*parts)


# Where EM sets out from: quantiles, k-means clusters, scattered seeds, and splits of a smaller fit.

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


# The best mixture of each size: many starts race for a few cycles, the leaders run to the end.

_FINALISTS = 3  # starts worth following to the end


class _Effort(TypedDict):
    tolerance: float
    cycles: int


# Log-likelihood per sample that a whole cycle must gain, and how many cycles at most. Sizes that BIC
# will not choose climb long flat ridges: they are compared well before they have settled.
_BRIEFLY: _Effort = {"tolerance": 1e-7, "cycles": 10}
_COMPARABLY: _Effort = {"tolerance": 1e-9, "cycles": 100}
_FULLY: _Effort = {"tolerance": 1e-11, "cycles": 2000}


class Found(NamedTuple):
    """The best mixture of one size, on the working scale."""

    weights: Array
    means: Array
    variances: Array
    log_likelihood: float
    converged: bool
    steps: int

    @property
    def batch(self) -> Batch:
        """As the only candidate of a batch."""
        return Batch(self.weights[None], self.means[None], self.variances[None])


class Search:
    """The best mixtures of 1, 2, … components for some data, found one after the other and remembered.

    One sweep goes up, with fresh starts and splits of the fit before; one goes down, with merges of the
    fit above. After the second, a fit that wastes a component is matched by the one below it, so BIC
    never keeps a component without data. That matters: an empty component could be the widest one and
    decide how much noise is needed.
    """

    def __init__(self, data: Samples, floor: float, *, count: int, seed: int) -> None:
        """Search among variances of at least `floor`², from `count` fresh starts for each size."""
        self._data, self._small, self._floor = data, data.condensed(), floor
        self._count, self._seed = count, seed
        self._upwards: list[Found] = []

    def up_to(self, most: int) -> list[Found]:
        """The best mixture found with each number of components, from 1 to `most`."""
        small, floor = self._small, self._floor
        for size in range(len(self._upwards) + 1, most + 1):
            batch = fresh_starts(small, size, floor, count=self._count, seed=self._seed)
            if self._upwards:
                batch = batch.join(splits(self._upwards[-1].batch, floor))
            self._upwards.append(_race(small, batch, floor))
        found = self._upwards[:most]
        for size in range(most - 1, 0, -1):
            again = _race(small, merges(found[size].batch), floor)
            if again.log_likelihood > found[size - 1].log_likelihood:
                found[size - 1] = again
        if small is not self._data:
            found = [_climb_on(self._data, one, floor, _BRIEFLY) for one in found]
        return found


def settle(data: Samples, found: Found, floor: float) -> Found:
    """Climb from a fit to the very top, on all the data."""
    return _climb_on(data, found, floor, _FULLY)


def _climb_on(data: Samples, found: Found, floor: float, effort: _Effort) -> Found:
    climbed = climb(data, found.batch, floor, **effort)
    return _best(climbed, found.steps + climbed.steps)


def _race(data: Samples, batch: Batch, floor: float) -> Found:
    """The best of the starts: all run a few cycles, the leaders run on."""
    heat = climb(data, batch, floor, **_BRIEFLY)
    leaders = heat.batch.pick(_leaders(heat.log_likelihood))
    final = climb(data, leaders, floor, **_COMPARABLY)
    return _best(final, heat.steps + final.steps)


def _leaders(values: Array) -> npt.NDArray[np.intp]:
    """The best few starts, each at a summit of its own as far as the likelihood can tell."""
    order = np.argsort(-values, kind="stable")
    apart = np.ones(len(order), dtype=bool)
    ranked = values[order]
    apart[1:] = ranked[:-1] - ranked[1:] > 1e-7 * np.abs(ranked[1:])
    return order[apart][:_FINALISTS]


def _best(climbed: Climb, steps: int) -> Found:
    row = int(np.argmax(climbed.log_likelihood))
    weights, means, variances = (part[row] for part in climbed.batch)
    return Found(weights, means, variances, float(climbed.log_likelihood[row]), bool(climbed.converged[row]), steps)
