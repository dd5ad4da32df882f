"""The privacy loss of each pair of secrets, computed when asked for."""

import math
from collections.abc import Iterator, Mapping

from takifugu.problems.beliefs import Belief
from takifugu.problems.pairs import Pair, Pairs


class Losses(Mapping[Pair, float]):
    """The privacy loss of each directed pair at the calibrated noise: its largest divergence over the beliefs.

    Computed when asked for: twenty thousand secrets have four hundred million of them.
    """

    __slots__ = ("_alpha", "_beliefs", "_pairs", "_theta")

    def __init__(self, beliefs: tuple[Belief, ...], pairs: Pairs, alpha: float, theta: float) -> None:
        """Remember what the losses follow from."""
        self._beliefs, self._pairs, self._alpha, self._theta = beliefs, pairs, alpha, theta

    def __getitem__(self, pair: Pair) -> float:
        """The loss of the first secret of the pair against the second."""
        from takifugu.divergences.line.general import divergence

        if pair not in self._pairs:
            raise KeyError(pair)
        if math.isinf(self._theta):
            return 0.0
        a, b = pair
        return max(divergence(m[a], m[b], alpha=self._alpha, theta=self._theta) for m in self._beliefs)

    def __iter__(self) -> Iterator[Pair]:
        """Each pair in both orders."""
        return self._pairs.directed()

    def __len__(self) -> int:
        """Two for every pair."""
        return 2 * len(self._pairs)

    def __repr__(self) -> str:
        """The losses while they are few."""
        return repr(dict(self)) if len(self) <= 12 else f"<losses of {len(self):,} directed pairs>"
