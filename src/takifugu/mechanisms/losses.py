"""The privacy loss of each pair of secrets, computed when asked for."""

from collections.abc import Iterator, Mapping

from takifugu.channels.base import Channel
from takifugu.problems.pairs import Pair
from takifugu.problems.problem import Problem


class Losses(Mapping[Pair, float]):
    """The privacy loss of each directed pair through a channel: its largest divergence over the beliefs.

    Computed when asked for: twenty thousand secrets have four hundred million of them.
    """

    __slots__ = ("_alpha", "_channel", "_problem")

    def __init__(self, problem: Problem, channel: Channel, alpha: float) -> None:
        """Remember what the losses follow from."""
        self._problem, self._channel, self._alpha = problem, channel, alpha

    def __getitem__(self, pair: Pair) -> float:
        """The loss of the first secret of the pair against the second."""
        if pair not in self._problem.pairs:
            raise KeyError(pair)
        a, b = pair
        return max(self._channel.loss(m[a], m[b], alpha=self._alpha) for m in self._problem.beliefs)

    def __iter__(self) -> Iterator[Pair]:
        """Each pair in both orders."""
        return self._problem.pairs.directed()

    def __len__(self) -> int:
        """Two for every pair."""
        return 2 * len(self._problem.pairs)

    def __repr__(self) -> str:
        """The losses while they are few."""
        return repr(dict(self)) if len(self) <= 12 else f"<losses of {len(self):,} directed pairs>"
