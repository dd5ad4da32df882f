"""Answers of every chain in a box: bounds on the probability of what is published, given the state at each time.

Bounds are those of an imprecise Markov chain: at every time, and whatever was counted before, nature takes the row of
the box that makes an output likeliest, or least likely. That holds for every chain in the box, between any points of it
that were looked at, and for those that change over time (proofs/dependence.md, claim 15).
"""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, overload

import numpy as np

from takifugu._validation import Array
from takifugu.dependence.chains import Answer, Counting, MarkovChain
from takifugu.errors import InputError
from takifugu.problems import Belief

if TYPE_CHECKING:
    from takifugu.dependence.boxes import Box, ChainBox

_UNIT = 2.0**-53
_MOST_CORNERS = 16
_MOST_WORK = 1_500_000_000  # numbers of all steps to all times: a minute or so
_ROUNDS = 40
_CLOSE = 1e-9  # of a bound, beyond where the search for it ends


class BoxPriors(Sequence[Belief]):
    """The beliefs of some chains of a box, one for each time of each, and bounds for all of them."""

    def __init__(self, box: "ChainBox", length: int, answer: Answer) -> None:
        """Of its corners, or of those that lean furthest to one state, and of one in the middle."""
        self.box, self.length = box, length
        chains = [_chain(box, leaning) for leaning in _leanings(len(box.states))]
        self._counting = Counting(chains[0], length, answer)
        if self.length**2 * len(self._counting.values) ** 2 * len(box.states) ** 2 > _MOST_WORK:
            raise InputError(
                f"an answer over {length} times is too long to be bounded for a whole box of chains: take fewer times, "
                f"several chains in place of the box, or the noise of MarkovQuilt"
            )
        self._beliefs = [belief for chain in chains for belief in Counting(chain, length, answer).beliefs()]
        # How the first state may be distributed: as given, or stationary, from bounds that are rounded outwards.
        rare, often = box.bounds(length).marginals
        self._start = rare[0], often[0]
        self._rows = [tuple(np.array([float(p) for p in side]) for side in row) for row in box.rows]

    @overload
    def __getitem__(self, index: int) -> Belief: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Belief]: ...
    def __getitem__(self, index: int | slice) -> Belief | Sequence[Belief]:
        """That of a time, chain by chain."""
        return self._beliefs[index]

    def __len__(self) -> int:
        """One for each time of each chain that is looked at."""
        return len(self._beliefs)

    @property
    def values(self) -> Sequence[int | float]:
        """What the answer may be."""
        return self._counting.values

    def of_box(self, through: Array) -> Iterator[tuple[Array, Array]]:
        """For each time, bounds from below and above on P(output | state there), by state and output.

        Args:
            through: what becomes of each value of the answer, 0 or above: values by outputs.
        """
        later = [self._later(through, up) for up in (False, True)]
        for time in range(self.length):
            sides = [
                np.stack([self._given(later[up][time][state], state, time, up) for state in range(len(self._rows))])
                for up in (False, True)
            ]
            yield sides[0], sides[1]

    def _later(self, through: Array, up: bool) -> list[Array]:
        """For each time the bound on P(output | state, count so far): states by counts by outputs."""
        now = np.repeat(through[None], len(self._rows), axis=0)
        found = [now]
        for _ in range(self.length - 1):
            ahead = self._ahead(now)
            now = np.stack([(_row(row, ahead, up) * ahead).sum(axis=0) for row in self._rows])
            found.append(now)
        slack = 8 * (self.length + 2) * (len(self._rows) + 4) * _UNIT
        return [one * (1 + slack if up else 1 - slack) for one in reversed(found)]

    def _ahead(self, now: Array) -> Array:
        """For each next state what is worth getting there; counts that cannot be reached are worth nothing."""
        ahead = np.zeros_like(now)
        for state, power in enumerate(self._counting.powers):
            ahead[state, : now.shape[1] - power] = now[state, power:]
        return ahead

    def _given(self, worth: Array, state: int, time: int, up: bool) -> Array:
        """The bound on the mean of what is then worth something, counts by outputs, given the state at a time.

        The bound μ is where the largest mean of (worth − μ) over paths that are in this state then is 0 (generalised
        Bayes' rule); Dinkelbach's rounds find it, and a last pass makes sure of it with room for rounding.
        """
        largest = worth.max(axis=0)
        bound = np.full(largest.shape, 0.0) if up else largest.copy()
        for _ in range(_ROUNDS):
            _, mean, reached = self._earlier(worth, bound, state, time, up)
            better = np.where(reached > 0, mean / np.where(reached > 0, reached, 1.0), bound)
            better = np.maximum(better, bound) if up else np.minimum(better, bound)
            if (np.abs(better - bound) <= _CLOSE * better).all():
                break
            bound = better
        rounding = 16 * (time + 2) * (len(self._rows) + 4) * _UNIT
        for room in (1e-8, 1e-6, 1e-4, 1e-2):
            safe = np.minimum(bound * (1 + room), largest) if up else bound * (1 - room)
            left, _, _ = self._earlier(worth, safe, state, time, up)
            is_sure = (left <= -rounding * largest) if up else (left >= rounding * largest)
            if (is_sure | (up & (safe >= largest))).all():
                return safe
        return largest if up else np.zeros_like(largest)

    def _earlier(self, worth: Array, bound: Array, state: int, time: int, up: bool) -> tuple[Array, Array, Array]:
        """The largest (or least) mean of (worth − bound) where the state is this one; and both parts of it."""
        size = len(self._rows)
        parts = np.zeros((3, size, *worth.shape))
        parts[0, state], parts[1, state], parts[2, state] = worth - bound, worth, 1.0
        for _ in range(time):
            ahead = np.stack([self._ahead(part) for part in parts])
            taken = [_row(row, ahead[0], up) for row in self._rows]
            parts = np.stack([(one * ahead).sum(axis=1) for one in taken], axis=1)
        first = np.stack([parts[:, s, power] for s, power in enumerate(self._counting.powers)], axis=1)
        begun = _row(self._start, first[0], up)
        left, mean, reached = (begun * first).sum(axis=1)
        return left, mean, reached


def _row(row: tuple[Array, ...], worth: Array, up: bool) -> Array:
    """The distribution between two bounds with the largest mean of what each state is worth, or the least."""
    low, high = row
    if len(low) == 2:
        takes = (worth[1] > worth[0]) == up
        second = np.where(takes, min(high[1], 1 - low[0]), max(low[1], 1 - high[0]))
        return np.stack([1 - second, second])
    order = np.argsort(-worth if up else worth, axis=0, kind="stable")
    room = (high - low)[order]
    before = np.cumsum(room, axis=0) - room
    taken = np.clip(1 - low.sum() - before, 0.0, room)
    found = np.empty_like(worth)
    np.put_along_axis(found, order, taken, axis=0)
    widened: Array = found + low.reshape(-1, *[1] * (worth.ndim - 1))
    return widened


def _leanings(states: int) -> list[tuple[int | None, ...]]:
    """To which state each row of a chain leans as far as it may; to none in the middle."""
    middle: tuple[int | None, ...] = (None,) * states
    corners = list(itertools.product(range(states), repeat=states)) if states**states <= _MOST_CORNERS else []
    return [middle, *(corners or [(state,) * states for state in range(states)])]


def _chain(box: "ChainBox", leaning: tuple[int | None, ...]) -> MarkovChain:
    rows = [_point(row, to) for row, to in zip(box.rows, leaning, strict=True)]
    start = None if box.start is None else _point(box.start, leaning[0])
    return MarkovChain(rows, start=start, states=box.states)


def _point(row: "Box", to: int | None) -> list[Fraction]:
    """A distribution between the bounds, with as much on one state as may be; or in the middle."""
    low, high = row
    left = 1 - sum(low)
    room = [b - a for a, b in zip(low, high, strict=True)]
    if not left:
        return list(low)
    if to is not None:
        first = min(left, room[to])
        others = sum(room) - room[to]
        rest = left - first
        return [
            a + (first if k == to else rest * (r / others if others else 0))
            for k, (a, r) in enumerate(zip(low, room, strict=True))
        ]
    return [a + left * r / sum(room) for a, r in zip(low, room, strict=True)]
