"""One pass over many pairs: a cheap bound dismisses most of them, the exact search serves the few that are left.

At the noise found so far a block of pairs is bounded from above. What the bound clears is done with, since more noise
never hurts; of what it does not clear the worst is searched, which raises the noise for all that follows. Every pair
ends cleared, or seen to be within the budget, or searched (proofs/exact.md). What was only seen, by a quadrature, is
told: whoever has the last word proves it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.general import divergence
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.base import Additive, Binding
from takifugu.problems.pairs import Indices, Pairs

Block = tuple[Indices, Indices]


class Screen(ABC):
    """Upper bounds on the losses of many pairs of one kind of law."""

    few: int  # pairs for which looking at each is cheaper than a bound on all
    by_quadrature: bool  # whether the loss of a pair is an integral taken in floats, or a formula
    clear: float  # the loss up to which a bound clears a pair

    @abstractmethod
    def bounds(self, i: Indices, j: Indices, variance: float) -> Array:
        """A bound on the loss of i against j with noise of this variance, infinite or NaN where in doubt.

        The indices broadcast, and the variances never fall from one call to the next.
        """

    @abstractmethod
    def blocks(self, pairs: Pairs) -> Iterator[Block]:
        """All directed pairs, as indices that broadcast, first those that will ask for much noise."""


def least_variance_with(
    screen: Screen,
    exact: Additive,
    priors: Sequence[Mixture],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    accept: float,
    floor: float,
) -> Binding:
    """The least variance for all pairs; `accept` is the loss up to which a pair needs no search."""
    found = Binding(floor, None)
    settled: set[tuple[int, int]] = set()  # blocks overlap, and what was enough for a pair stays enough

    def require(i: int, j: int) -> None:
        nonlocal found
        if (i, j) in settled:
            return
        settled.add((i, j))
        p, q = priors[i], priors[j]
        if math.isinf(found.variance):  # no number is enough for another pair
            return
        # The search begins with this look itself; before any noise was found that is all there is to save.
        if found.variance > 0 and divergence(p, q, alpha=alpha, theta=math.sqrt(found.variance)) <= accept:
            return
        variance = exact.least_variance(p, q, alpha=alpha, epsilon=epsilon, floor=found.variance)
        if variance > found.variance:
            found = Binding(variance, (i, j))

    for i, j in screen.blocks(pairs):
        left = np.broadcast(i, j).size
        while left > screen.few:
            i, j = _not_cleared(i, j, screen.bounds(i, j, found.variance), screen.clear)
            if not len(i):
                break
            before = found
            require(int(i[0]), int(j[0]))
            i, j = i[1:], j[1:]
            left = len(i)
            if found == before:
                break  # the same noise would clear the same pairs
        i, j = np.broadcast_arrays(i, j)
        for pair in zip(i.ravel().tolist(), j.ravel().tolist(), strict=True):
            require(*pair)
    return found._replace(close=_close(screen, settled, found))


def _close(screen: Screen, looked_at: set[tuple[int, int]], found: Binding) -> tuple[tuple[int, int], ...]:
    """Of the pairs that a quadrature looked at, those that the bound does not clear at the noise found in the end."""
    if not looked_at or not screen.by_quadrature or not math.isfinite(found.variance):
        return ()
    i, j = (np.array(side, dtype=np.intp) for side in zip(*sorted(looked_at), strict=True))
    left = ~(screen.bounds(i, j, found.variance) <= screen.clear) & (i != j)
    return tuple(zip(i[left].tolist(), j[left].tolist(), strict=True))


def _not_cleared(i: Indices, j: Indices, bounds: Array, clear: float) -> Block:
    """The pairs that a bound does not clear, those certain to raise the noise most first."""
    if bounds.max() <= clear:  # False for NaN
        nothing = np.empty(0, dtype=np.intp)
        return nothing, nothing
    stopped = np.nonzero(~(bounds <= clear))
    i, j = (np.broadcast_to(x, bounds.shape)[stopped] for x in (i, j))
    # A finite bound is known to be near the truth; the infinite ones, in doubt, come after it.
    known = np.where(np.isfinite(bounds[stopped]), bounds[stopped], -1.0)
    order = np.argsort(-known, kind="stable")
    order = order[(i != j)[order]]
    return i[order], j[order]
