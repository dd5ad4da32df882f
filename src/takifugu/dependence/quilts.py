"""The Markov Quilt Mechanism, and what a release made for independent records says of a chain (proofs/dependence.md).

The state at one time is screened off by two others, one on each side: given those (the quilt), what lies beyond them is
independent of it. So a release tells of it what the quilt tells, e, and what it tells of the b records in between. At
the ends of a chain one side needs no quilt, and the trivial quilt is empty: e = 0 and b is every record.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.dependence.chains import MarkovChain
from takifugu.errors import InputError

_MOST_TIMES = 2_000
_ROUNDING = 2.0**-53
_FAINTEST = 1e-290


class Quilt(NamedTuple):
    """A quilt of the state at a time: how far off it is on either side (None where it has no record there)."""

    time: int
    before: int | None
    after: int | None
    nearby: int
    """How many records lie within it, the one that it is about included."""
    told: float
    """What the quilt itself tells of the state: the largest log-ratio, rounded up."""


@dataclass(frozen=True)
class MarkovQuilt:
    """The quilts of every time of a chain of so many times.

    >>> quilts = MarkovQuilt(MarkovChain([[0.8, 0.2], [0.4, 0.6]]), 24)
    >>> round(quilts.scale(math.log(3)), 9)
    6.892365183
    >>> quilts.epsilon(0.05) < 24 * 0.05  # less than all records together would tell
    True
    """

    chain: MarkovChain
    length: int

    def __post_init__(self) -> None:
        """Refuse what is no number of times."""
        times = check.integer("length", self.length, least=1)
        if times > _MOST_TIMES:
            raise InputError(f"length is at most {_MOST_TIMES:,}, got {self.length!r}: take a coarser step of time")

    def scale(self, epsilon: float) -> float:
        """The scale of Laplace noise on a number that one record changes by 1 at most: the Markov Quilt Mechanism.

        Args:
            epsilon: the logarithm of the factor within which posterior odds of the state at any one time stay.

        Returns:
            max over times of the least b/(ε − e) over quilts, rounded up.
        """
        budget = check.budget(epsilon)
        return max(float(self._scores(time, budget).min()) for time in range(1, self.length + 1)) * (1 + 2.0**-40)

    def quilt(self, time: int, epsilon: float) -> Quilt:
        """The quilt that asks for the least noise at a time."""
        when = check.integer("time", time, least=1)
        if when > self.length:
            raise InputError(f"time is at most {self.length}, got {time!r}")
        scores = self._scores(when, check.budget(epsilon))
        before, after = np.unravel_index(int(scores.argmin()), scores.shape)
        told, nearby = self._told(when), self._nearby(when)
        return Quilt(
            when, int(before) or None, int(after) or None, int(nearby[before, after]), float(told[before, after])
        )

    def epsilon(self, dp_epsilon: float) -> float:
        """The ε that all that is published together promises of the state at any time, if it is differentially private.

        Further releases from the same records pay their own share of `dp_epsilon`, and what a quilt tells once.
        """
        private = check.budget(dp_epsilon)
        return max(
            float((self._told(time) + self._nearby(time) * private).min()) for time in range(1, self.length + 1)
        ) * (1 + 2.0**-40)

    def renyi(self, alpha: float, rho: float) -> float:
        """The D_α that everything published together promises, if it is ρ-zero-concentrated differentially private."""
        order, private = check.order(alpha), check.budget(rho)
        return max(
            float((self._divergence(time, order) + order * private * self._nearby(time) ** 2.0).min())
            for time in range(1, self.length + 1)
        ) * (1 + 2.0**-40)

    def _scores(self, time: int, epsilon: float) -> Array:
        rest = epsilon - self._told(time)
        with np.errstate(divide="ignore"):
            found: Array = np.where(rest > 0, self._nearby(time) / np.where(rest > 0, rest, 1.0), math.inf)
        return found

    def _nearby(self, time: int) -> Array:
        """The records within each quilt: rows by the distance before, columns by that after; 0 stands for none."""
        before = np.arange(time, dtype=float)
        after = np.arange(self.length - time + 1, dtype=float)
        before[0], after[0] = time, self.length - time + 1
        return before[:, None] + after - 1

    def _told(self, time: int) -> Array:
        """The largest log-ratio of each quilt given two states, rounded up."""
        return _largest(self._sides(time, _log_ratios)) + self._rounding

    def _divergence(self, time: int, alpha: float) -> Array:
        """The largest D_α of each quilt given two states, rounded up."""
        return _largest(self._sides(time, lambda laws: _renyi(laws, alpha))) + self._rounding * (1 + 1 / (alpha - 1))

    def _sides(self, time: int, apart: Callable[[Array], Array]) -> tuple[Array, Array]:
        """How far apart the laws of the quilt's record on each side are, by distance and pair of states."""
        states = len(self.chain.states)
        here = self._marginals[time - 1]
        before, after = np.zeros((time, states, states)), np.zeros((self.length - time + 1, states, states))
        for distance in range(1, time):  # P(earlier | now) by Bayes' rule
            joint = self._marginals[time - 1 - distance][:, None] * self._powers[distance]
            before[distance] = apart(np.divide(joint, here, out=np.full_like(joint, math.nan), where=here > 0).T)
        for distance in range(1, self.length - time + 1):
            after[distance] = apart(self._powers[distance])
        impossible = here == 0  # nobody can believe in a state that does not occur then
        for side in (before, after):
            side[:, impossible, :] = 0.0
            side[:, :, impossible] = 0.0
        return before, after

    @cached_property
    def _powers(self) -> Array:
        """P to every power: the law of the state so many times later."""
        return _followed(np.eye(len(self.chain.states)), self._steps, self.length)

    @cached_property
    def _marginals(self) -> Array:
        """The law of the state at every time."""
        start = np.array([[float(p) for p in self.chain.start]])
        return _followed(start, self._steps, self.length)[:, 0, :]

    @cached_property
    def _steps(self) -> Array:
        return np.array([[float(p) for p in row] for row in self.chain.transition])

    @property
    def _rounding(self) -> float:
        """A bound on the error of a log-ratio of both sides: sums of positive numbers keep their relative precision."""
        return 32 * (self.length + 4) * (len(self.chain.states) + 2) * _ROUNDING


def _followed(first: Array, steps: Array, times: int) -> Array:
    """A distribution carried on so many times; what is possible, and too unlikely for a float, is marked by a NaN."""
    found, reached = np.empty((times, *first.shape)), first > 0
    found[0] = first
    for time in range(1, times):
        found[time] = np.nan_to_num(found[time - 1]) @ steps
        reached = (reached.astype(float) @ (steps > 0)) > 0
        found[time][reached & (found[time] < _FAINTEST)] = math.nan
    return found


def _log_ratios(laws: Array) -> Array:
    """For each two states the largest ln P(q|x)/P(q|x'); infinite where only the first makes q possible."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(laws)
        gaps = np.where(laws[:, None, :] == 0, -math.inf, logs[:, None, :] - logs[None, :, :])
    return _known(gaps.max(axis=2))


def _renyi(laws: Array, alpha: float) -> Array:
    """For each two states D_α(P(q|x) ‖ P(q|x'))."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.log(laws)
        terms = alpha * logs[:, None, :] + (1.0 - alpha) * logs[None, :, :]
        terms = np.where(laws[:, None, :] == 0, -math.inf, terms)
        top = terms.max(axis=2, keepdims=True)
        found = (top[..., 0] + np.log(np.exp(terms - top).sum(axis=2))) / (alpha - 1.0)
        found = np.where(np.isposinf(top[..., 0]), math.inf, found)
    return _known(found)


def _known(found: Array) -> Array:
    """What no float tells is infinite; a state against itself tells nothing, and nothing is below that."""
    found = np.maximum(np.where(np.isnan(found), math.inf, found), 0.0)
    np.fill_diagonal(found, 0.0)
    return found


def _largest(sides: tuple[Array, Array]) -> Array:
    """The largest sum over pairs of states, for every distance before and every distance after."""
    before, after = sides
    states = before.shape[1]
    most = np.zeros((len(before), len(after)))
    for x in range(states):
        for other in range(states):
            np.maximum(most, before[:, x, other][:, None] + after[:, x, other], out=most)
    return most
