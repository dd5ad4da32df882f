"""Expectation-maximisation for mixtures on the line, over weighted values and many starts at once."""

import math
from typing import NamedTuple, Protocol

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
