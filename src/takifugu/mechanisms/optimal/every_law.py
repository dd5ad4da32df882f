"""A promise for every law within bounds, and so for the population's: looked at in floats, proved in whole numbers.

For each output the law that publishes it most often, and the one that does least, are found exactly; no law within the
bounds publishes more or less (proofs/bounds.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu._validation import Array
from takifugu.channels.counts import checked_counts
from takifugu.divergences.finite import divergence
from takifugu.divergences.proved.finite import Counts, Masses, holds, within_odds
from takifugu.errors import InputError
from takifugu.laws.bounds import UNIT, Bounds, extremes, shares_of
from takifugu.mechanisms.optimal.program import Indices


@dataclass(frozen=True, eq=False, kw_only=True)
class EveryLaw:
    """For each (i, j) in `pairs`: what any law within bounds i publishes is within the limits of any within bounds j.

    `order` has the inputs as the bounds have them (numbers ascend). `shares` holds a law within each of the bounds, for
    what is mixed in by a repair. `epsilon` bounds D_α, and for α = ∞ the logarithm of every ratio; `odds` every ratio.
    """

    bounds: Sequence[Bounds]
    shares: Array
    order: Indices
    pairs: Sequence[tuple[int, int]]
    alpha: float
    epsilon: float
    odds: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse what promises nothing, or is about lists of different lengths."""
        size = len(self.bounds[0].lower) if self.bounds else 0
        if not self.pairs or {len(one.lower) for one in self.bounds} != {size}:
            raise InputError("a promise for every law needs a pair of bounds at least, all about the same values")
        if max(map(max, self.pairs)) >= len(self.bounds) or not self.alpha > 1 or not 0 < self.epsilon < math.inf:
            raise InputError("a promise for every law needs bounds for each of its pairs, alpha and epsilon")
        if self.shares.shape != (len(self.bounds), size) or sorted(self.order.tolist()) != list(range(size)):
            raise InputError("a promise for every law needs a law for each of the bounds, and each input once")

    def envelopes(self, matrix: Array) -> tuple[Array, Array]:
        """The most and the least that each output is published with, a row for each of the bounds, in floats."""
        rows = matrix[self.order]
        above, below = ((shares_of(laws) * rows.T).sum(axis=2) for laws in extremes(self.bounds, rows))
        return above, below

    def seems_kept(self, matrix: Array) -> bool:
        """Whether a channel keeps it as far as float64 can tell."""
        above, below = self.envelopes(matrix)
        first, second = np.array(self.pairs).T
        p, q = above[first], below[second]
        if not (divergence(p, q, alpha=self.alpha) <= self.epsilon).all():
            return False
        return self.odds is None or bool((p <= float(self.odds) * q).all())

    def is_kept(self, counts: Counts) -> bool:
        """Whether a channel of whole numbers is proved to keep it."""
        counts = checked_counts(counts, len(self.bounds[0].lower), np.shape(counts)[-1])
        denominator, counts = int(counts[0].sum()) * UNIT, counts[self.order]
        named, weights = sorted({k for pair in self.pairs for k in pair}), counts.T.astype(object)
        above, below = (
            {
                k: Masses(tuple(int(x) for x in (law.astype(object) * weights).sum(axis=1)), denominator)
                for k, law in zip(named, laws, strict=True)
            }
            for laws in extremes([self.bounds[k] for k in named], counts)
        )
        return all(self._holds(above[i], below[j]) for i, j in self.pairs)

    def _holds(self, p: Masses, q: Masses) -> bool:
        if self.odds is not None and not within_odds(p, q, odds=self.odds):
            return False
        return holds(p, q, alpha=self.alpha, epsilon=self.epsilon)
