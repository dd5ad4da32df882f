"""Groups whose members are alike: how many have something, given that one of them has it (proofs/dependence.md).

A household in which illness spreads, a class, a shift: the members are exchangeable, and the number of those who have
it has any law at all. Given one member's status the law of the number follows by counting.
"""

from collections.abc import Sequence
from fractions import Fraction

from takifugu.dependence.chains import Probability, distribution
from takifugu.errors import InputError
from takifugu.laws import Finite
from takifugu.problems import Belief


class Group:
    """A group of exchangeable members, by the probability that none, one, two, … of them have it.

    Args:
        counts: P(0), P(1), …, P(n) for a group of n members.

    >>> flu = Group([0.1, 0.15, 0.5, 0.15, 0.1])
    >>> [round(share, 6) for share in flu.priors()["has it"].weights.tolist()]
    [0.075, 0.5, 0.225, 0.2]
    """

    def __init__(self, counts: Sequence[Probability]) -> None:
        """Read every number as a fraction."""
        self.counts = distribution(counts, "counts")
        if len(self.counts) < 2:
            raise InputError("counts must have two entries or more: the probabilities of none, one, and so on")
        if self.counts[0] == 1 or self.counts[-1] == 1:
            raise InputError("all members or none have it for certain: nobody's status is a secret")

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.counts) - 1

    def __repr__(self) -> str:
        """Its size."""
        return f"<Group of {self.size} members>"

    def priors(self) -> Belief:
        """The law of how many have it, given that one member has it, and given that the same member has not."""
        having = float(sum(k * p for k, p in enumerate(self.counts)) / self.size)
        return Belief(
            {"has it": self._given(range(self.size + 1)), "has not": self._given(range(self.size, -1, -1))},
            shares={"has it": having, "has not": 1 - having},
        )

    def _given(self, shares: Sequence[int]) -> Finite:
        """P(k | status): each count weighted by how many of its members have that status."""
        weights = [Fraction(share) * p for share, p in zip(shares, self.counts, strict=True)]
        whole = sum(weights, Fraction(0))
        kept = {k: float(weight / whole) for k, weight in enumerate(weights) if weight}
        return Finite(list(kept), list(kept.values()))
