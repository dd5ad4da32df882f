"""What a finite channel has to keep: every directed pair of laws within the order and budget, the odds, or both.

It is asked in two ways: in floats, to steer a search, and exactly, which alone is believed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, budget, integer, reals
from takifugu.channels.counts import checked_counts
from takifugu.channels.listed import ListChannel
from takifugu.divergences.finite import divergence, lowered, order_or_odds, raised
from takifugu.divergences.proved.finite import Counts, Extremes, Masses, exact_odds, holds, within_odds
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.groups import components

_MANY_PAIRS = 24  # from which one look at all of them is cheaper
_AT_ONCE = 4_000_000  # entries of pairs times outputs that are held in memory together


@dataclass(frozen=True, eq=False, kw_only=True)
class Promise:
    """For each (i, j) in `pairs`: what law i publishes is within the limits of what law j publishes.

    `laws` has a row of weights over the inputs per law (one for each secret of each belief), taken as exact and divided
    by its exact sum. `epsilon` bounds D_α, and for α = ∞ the logarithm of every ratio; `odds` bounds every ratio
    itself, as the exact number given. One of the two is needed; an infinite epsilon is none. `radius` has an entry per
    law and extends the promise to every prior within that total variation of it.
    """

    laws: Array
    pairs: Sequence[tuple[int, int]]
    alpha: float = math.inf
    epsilon: float | None = None
    odds: float | Fraction | None = None
    radius: Array | None = None

    def __post_init__(self) -> None:
        """Refuse what promises nothing."""
        laws = _laws(self.laws)
        pairs = tuple((integer("pairs", i, least=0), integer("pairs", j, least=0)) for i, j in self.pairs)
        if not pairs or max(map(max, pairs)) >= len(laws):
            raise InputError(f"pairs must name at least one pair of laws, each between 0 and {len(laws) - 1}")
        order_or_odds(self.alpha)
        epsilon = None if self.epsilon is None or self.epsilon == math.inf else budget(self.epsilon)
        odds = None if self.odds is None else exact_odds(self.odds)
        if epsilon is None and odds is None:
            raise InputError("a promise needs epsilon, odds, or both")
        radius = np.zeros(len(laws)) if self.radius is None else reals("radius", self.radius).copy()
        if radius.shape != (len(laws),) or not ((radius >= 0) & np.isfinite(radius)).all():
            raise InputError(f"radius must have one finite number, 0 or more, for each of the {len(laws)} laws")
        checked = {"laws": laws, "pairs": pairs, "epsilon": epsilon, "odds": odds, "radius": radius}
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @cached_property
    def shares(self) -> Array:
        """The laws as rows of probabilities, in float64."""
        rows = self.laws / self.laws.max(axis=1, keepdims=True)  # weights near the largest float have no sum
        shares: Array = rows / rows.sum(axis=1, keepdims=True)
        return shares

    def seems_kept(self, matrix: Array) -> bool:
        """Whether a channel keeps it as far as float64 can tell."""
        published, low, high = self.shares @ matrix, matrix.min(axis=0), matrix.max(axis=0)
        reach = np.asarray(self.radius)[:, None]
        above, below = raised(published, reach, low, high), lowered(published, reach, low, high)
        pairs, step = np.array(self.pairs), max(1, _AT_ONCE // matrix.shape[1])
        for start in range(0, len(pairs), step):
            first, second = pairs[start : start + step].T
            p, q = above[first], below[second]
            if self.epsilon is not None and not (divergence(p, q, alpha=self.alpha) <= self.epsilon).all():
                return False
            if self.odds is not None and not (p <= float(self.odds) * q).all():
                return False
        return True

    def is_kept(self, counts: Counts) -> bool:
        """Whether a channel of whole numbers is proved to keep it (proofs/finite-channels.md).

        The rows must sum to one power of two: what is no channel is refused, because the proof speaks of channels.
        """
        counts = checked_counts(counts, self.laws.shape[1], np.shape(counts)[-1])
        denominator = int(counts[0].sum())
        return self._is_kept(lambda law: law.through(counts, denominator), Extremes.of(counts, denominator))

    def is_kept_by(self, channel: ListChannel) -> bool:
        """The same for a channel, whose inputs are in the order of the laws' weights."""
        if len(channel.inputs) != self.laws.shape[1]:
            raise InputError(f"the channel must have {self.laws.shape[1]} inputs, one for each weight of the laws")
        return self._is_kept(channel.exactly, channel.extremes)

    def _is_kept(self, through: Callable[[Masses], Masses], extremes: Extremes) -> bool:
        published = {i: through(self._law(i)) for i in {i for pair in self.pairs for i in pair}}
        reach = np.asarray(self.radius).tolist()
        above = {i: law.raised(reach[i], extremes) for i, law in published.items()}
        below = {i: law.lowered(reach[i], extremes) for i, law in published.items()}
        return all(self._holds(above[i], below[j]) for i, j in self._not_clear_at_once(above, below))

    def _not_clear_at_once(self, above: dict[int, Masses], below: dict[int, Masses]) -> Sequence[tuple[int, int]]:
        """The pairs to look at: of bounded ratios none where the largest of all is within the limits of the least."""
        if len(self.pairs) <= _MANY_PAIRS or not (self.alpha == math.inf or self.epsilon is None):
            return self.pairs
        left, right = np.array(self.pairs, dtype=np.intp).T
        component = components(left, right, len(self.laws))[left]
        open_: list[tuple[int, int]] = []
        for name in np.unique(component):
            pairs = [self.pairs[k] for k in np.flatnonzero(component == name).tolist()]
            firsts, seconds = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
            largest, least = Masses.largest([above[i] for i in firsts]), Masses.least([below[j] for j in seconds])
            if not self._holds(largest, least):
                # One that fails ends it, and of a million pairs it is most likely one of these.
                suspects = _extreme({i: above[i] for i in firsts}, {j: below[j] for j in seconds})
                open_ += sorted(pairs, key=lambda pair: pair not in suspects)
        return open_

    def _holds(self, p: Masses, q: Masses) -> bool:
        if self.odds is not None and not within_odds(p, q, odds=self.odds):
            return False
        return self.epsilon is None or holds(p, q, alpha=self.alpha, epsilon=self.epsilon)

    def _law(self, row: int) -> Masses:
        return Masses.of(self.laws[row])


def _extreme(above: dict[int, Masses], below: dict[int, Masses]) -> set[tuple[int, int]]:
    """For each output, which of some laws shows it the most and which of others the least, as floats see it."""
    high, low = (
        np.array([[x / law.denominator for x in law.numerators] for law in laws.values()]) for laws in (above, below)
    )
    firsts, seconds = (np.array(list(laws)) for laws in (above, below))
    most, fewest = firsts[high.argmax(axis=0)], seconds[low.argmin(axis=0)]
    return set(zip(most.tolist(), fewest.tolist(), strict=True))


def _laws(given: Any) -> Array:
    laws: npt.NDArray[np.float64] = reals("laws", given).copy()  # what was proved must not change under the proof
    if laws.ndim != 2 or laws.size == 0:
        raise InputError(f"laws must be a table with a row of weights per law, got shape {laws.shape}")
    if not (np.isfinite(laws).all() and (laws >= 0).all() and (laws > 0).any(axis=1).all()):
        raise InputError("the weights of every law must be finite, 0 or more and not all 0")
    return laws
