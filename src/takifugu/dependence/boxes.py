"""A box of chains: every transition between two bounds, so that what holds for it holds between its points too.

What is said of a box is said of every chain in it, and of chains whose transitions change from one time to the next
within it: bounds on the probability of getting from one state to another follow step by step, each by the row of the
box that is worst (Hartfiel's set-chains). Every step is rounded outwards (proofs/dependence.md, claim 13).
"""

import os
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.dependence.chains import Answer, MarkovChain, Probability, decimal, decimals
from takifugu.dependence.imprecise import BoxPriors
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
        """Every chain whose transitions are within `by` of this one's, stationary; what is impossible stays so."""
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
        """Whether a chain is in it."""
        rows = zip(self.rows, chain.transition, strict=True)
        return len(chain.states) == len(self.states) and all(
            a <= p <= b for (low, high), row in rows for a, p, b in zip(low, row, high, strict=True)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `takifugu depend --chain` takes."""
        from takifugu.dependence.influence import save_chains

        save_chains([self], path)

    def priors(self, length: int, answer: Answer) -> BoxPriors:
        """The laws of an answer of some chains of the box; `calibrate` holds its guarantee for all of them.

        Args:
            length: the number of times; for a count of two states some 60 at most.
            answer: `Count(state)`, or `Total({state: number})`.
        """
        return BoxPriors(self, length, answer)

    def bounds(self, length: int) -> Bounds:
        """From below and above, every step rounded outwards."""
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
