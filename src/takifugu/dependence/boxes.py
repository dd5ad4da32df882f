"""A box of chains: every transition between two bounds, so that what holds for it holds between its points too.

What is said of a box is said of every chain in it, and of chains whose transitions change from one time to the next
within it: bounds on the probability of getting from one state to another follow step by step, each by the row of the
box that is worst (Hartfiel's set-chains). Every step is rounded outwards (proofs/dependence.md, claim 13).
"""

import itertools
import os
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.dependence.chains import Answer, BeliefsInTime, Counting, MarkovChain, Probability, decimal, decimals
from takifugu.errors import InputError

_UNIT = 2.0**-53
_FAINTEST = 1e-290
_UNTIL = 200  # steps after which bounds on what is stationary hardly tighten

Box = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


class Bounds(NamedTuple):
    """What a chain, or each of a box, does: probabilities from below and from above, which of one chain agree.

    `steps` hold the probabilities from each state (rows) to each other, so many times later; `marginals` those of each
    state at each time. A NaN marks what is possible, and too unlikely for a float.
    """

    steps: tuple[Array, Array]
    marginals: tuple[Array, Array]


class ChainBox:
    """Every Markov chain whose transitions lie between two bounds, and every one that changes over time within them.

    Args:
        low: the least probability of each transition, one row for each state.
        high: the largest.
        start: the least and the largest probabilities of the first state; by default each chain starts stationary.
        states: the names of the states; by default 0, 1, 2, ….

    Raises:
        InputError: where the bounds hold no chain, or say too little of what is stationary.

    >>> box = ChainBox([[0.75, 0.15], [0.35, 0.55]], [[0.85, 0.25], [0.45, 0.65]])
    >>> box.holds(MarkovChain([[0.8, 0.2], [0.4, 0.6]]))
    True
    """

    def __init__(
        self,
        low: Sequence[Sequence[Probability]],
        high: Sequence[Sequence[Probability]],
        start: tuple[Sequence[Probability], Sequence[Probability]] | None = None,
        states: Sequence[Hashable] | None = None,
    ) -> None:
        """Read every number as a fraction."""
        if not len(low) or len(low) != len(high):
            raise InputError("low and high must have one row for each state")
        self.rows: tuple[Box, ...] = tuple(
            _between(a, b, len(low), f"row {k} of the box") for k, (a, b) in enumerate(zip(low, high, strict=True))
        )
        self.states: tuple[Hashable, ...] = tuple(range(len(low)) if states is None else states)
        if len(self.states) != len(self.rows) or len(set(self.states)) != len(self.rows):
            raise InputError(f"states must name each of the {len(self.rows)} states once, got {self.states!r}")
        self.start: Box | None = None
        if start is not None:
            if len(start) != 2:
                raise InputError("start must be the least and the largest probabilities of the first state")
            self.start = _between(start[0], start[1], len(low), "start")

    @classmethod
    def around(cls, chain: MarkovChain, by: Probability) -> "ChainBox":
        """Every chain whose transitions are within `by` of this one's, stationary; what is impossible stays so.

        Args:
            chain: in the middle.
            by: how far each probability may be off.

        Returns:
            The box.

        >>> ChainBox.around(MarkovChain([[0.5, 0.5], [0.5, 0.5]]), 0.1).holds(MarkovChain([[0.55, 0.45], [0.5, 0.5]]))
        True
        """
        width = decimal(by, "by")
        if not 0 <= width < 1:
            raise InputError(f"by must be a number from 0 to below 1, got {by!r}")
        low = [[max(Fraction(0), p - width) for p in row] for row in chain.transition]
        high = [[min(Fraction(1), p + width) if p else p for p in row] for row in chain.transition]
        return cls(low, high, states=chain.states)

    def __repr__(self) -> str:
        """How many states it has."""
        return f"<ChainBox of {len(self.states)} states>"

    def holds(self, chain: MarkovChain) -> bool:
        """Whether a chain is in it.

        Args:
            chain: over the same number of states.

        Returns:
            True or False, in exact arithmetic.
        """
        rows = zip(self.rows, chain.transition, strict=True)
        return len(chain.states) == len(self.states) and all(
            a <= p <= b for (low, high), row in rows for a, p, b in zip(low, row, high, strict=True)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `takifugu depend --chain` takes."""
        from takifugu.dependence.influence import save_chains

        save_chains([self], path)

    def priors(self, length: int, answer: Answer) -> "BoxPriors":
        """The laws of an answer of some chains of the box; `calibrate` holds its guarantee for all of them.

        Args:
            length: the number of times; for a count of two states some 60 at most.
            answer: `Count(state)`, or `Total({state: number})`.
        """
        return BoxPriors(self, length, answer)

    def bounds(self, length: int) -> Bounds:
        """From below and above, every step rounded outwards.

        Args:
            length: how many times.

        Returns:
            Bounds on the probabilities of all numbers of steps and of all marginals, for every chain in the box.
        """
        rows = [_outwards(row) for row in self.rows]
        size = len(rows)
        steps = np.empty((2, max(length, _UNTIL if self.start is None else 1), size, size))
        steps[:, 0] = np.eye(size)
        leads = np.array([[q > 0 for q in high] for _, high in self.rows])
        reached = np.eye(size, dtype=bool)
        for time in range(1, steps.shape[1]):
            reached = leads @ reached
            below, above = _least(rows, steps[0, time - 1]), np.minimum(_most(rows, steps[1, time - 1]), 1.0)
            steps[0, time] = np.where(below < _FAINTEST, 0.0, below)
            steps[1, time] = np.where(reached, np.maximum(above, _FAINTEST), 0.0)
        if self.start is None:
            # What is stationary is a mean of the rows of every power, whatever the weights.
            at = steps[0].min(axis=1).max(axis=0), steps[1].max(axis=1).min(axis=0)
            low, high = (np.repeat(one[None, :], length, axis=0) for one in at)
        else:
            first = [_outwards(self.start)]
            low = np.stack([_least(first, one)[0] for one in steps[0, :length]])
            high = np.minimum(np.stack([_most(first, one)[0] for one in steps[1, :length]]), 1.0)
        return Bounds((steps[0, :length], steps[1, :length]), (low, high))


def _between(low: Sequence[Probability], high: Sequence[Probability], size: int, name: str) -> Box:
    a, b = decimals(low, name), decimals(high, name)
    if len(a) != size or len(b) != size:
        raise InputError(f"{name} must have one probability for each of {size} states")
    if not all(0 <= p <= q <= 1 for p, q in zip(a, b, strict=True)) or not sum(a) <= 1 <= sum(b):
        raise InputError(f"{name} holds no distribution: low must not be above high, nor one of their sums beyond 1")
    # What the others leave room for, and no more: a bound that no distribution reaches is no bound.
    above, below = sum(b), sum(a)
    return (
        tuple(max(p, 1 - (above - q)) for p, q in zip(a, b, strict=True)),
        tuple(min(q, 1 - (below - p)) for p, q in zip(a, b, strict=True)),
    )


def _outwards(box: Box) -> tuple[Array, Array]:
    low = np.array([float(p) for p in box[0]]) * (1 - 4 * _UNIT)
    high = np.array([float(p) for p in box[1]]) * (1 + 4 * _UNIT)
    return low, high


def _most(rows: Sequence[tuple[Array, Array]], values: Array) -> Array:
    """The largest mean of each column of `values` under each row of a box, rounded up."""
    return _mean(rows, values, np.argsort(-values, axis=0, kind="stable"), 1.0)


def _least(rows: Sequence[tuple[Array, Array]], values: Array) -> Array:
    """The least mean, rounded down."""
    return _mean(rows, values, np.argsort(values, axis=0, kind="stable"), -1.0)


def _mean(rows: Sequence[tuple[Array, Array]], values: Array, order: npt.NDArray[np.intp], up: float) -> Array:
    """What is left of 1 beside the least probabilities goes to the states that come first, as far as there is room.

    It is taken a little too large where the mean is to be large and too small where it is to be small; values are 0 or
    above, so that sums of them keep their relative precision.
    """
    size = values.shape[0]
    slack = up * 4 * (size + 2) * _UNIT
    sorted_values = np.take_along_axis(values, order, axis=0)
    found = np.empty((len(rows), values.shape[1]))
    for k, (low, high) in enumerate(rows):
        left = max(0.0, 1.0 - float(low.sum()) + slack)
        room = (high - low)[order]
        before = np.cumsum(room, axis=0) - room
        taken = np.clip(left - before * (1 - slack), 0.0, room)
        found[k] = (low @ values + (taken * sorted_values).sum(axis=0)) * (1 + slack)
    return np.maximum(found, 0.0)


# Answers of every chain in a box: bounds on the probability of what is published, given the state at each time.
#
# Bounds are those of an imprecise Markov chain: at every time, and whatever was counted before, nature takes the row
# of the box that makes an output likeliest, or least likely. That holds for every chain in the box, between any
# points of it that were looked at, and for those that change over time (proofs/dependence.md, claim 15).


_MOST_CORNERS = 16
_MOST_WORK = 1_500_000_000  # numbers of all steps to all times: a minute or so
_ROUNDS = 40
_CLOSE = 1e-9  # of a bound, beyond where the search for it ends


class BoxPriors(BeliefsInTime):
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
