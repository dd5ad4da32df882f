"""The problem that a calibration solves: who may believe what, what is to be hidden, and in which answer."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from takifugu.laws import Law
from takifugu.problems.answer import Answer
from takifugu.problems.beliefs import Belief, beliefs_from
from takifugu.problems.findings import Finding
from takifugu.problems.pairs import Pair, Pairs


class Place(NamedTuple):
    """Where a loss is measured: a belief, and the positions of two secrets, the first against the second."""

    belief: int
    first: int
    second: int


@dataclass(frozen=True)
class Problem:
    """Beliefs, the pairs of secrets to hide from one another, and the answer they are about.

    `answer` is None for priors made by hand: nobody has said what they are the priors of. `findings` are what there
    is to say about the data behind the beliefs; they do not make two problems differ.
    """

    beliefs: tuple[Belief, ...] = field(repr=False)
    pairs: Pairs = field(repr=False)
    answer: Answer | None = None
    findings: tuple[Finding, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def of(cls, priors: Any, pairs: Iterable[Pair] | None = None) -> "Problem":
        """The problem of the priors as `fit_priors` gave them, or of mappings made by hand."""
        if isinstance(priors, Problem):
            return (
                priors
                if pairs is None
                else cls(priors.beliefs, Pairs(priors.pairs.secrets, pairs), priors.answer, priors.findings)
            )
        beliefs = beliefs_from(priors)
        return cls(
            beliefs,
            Pairs(beliefs[0], getattr(priors, "pairs", None) if pairs is None else pairs),
            getattr(priors, "answer", None),
            tuple(getattr(priors, "findings", ())),
        )

    def laws(self, belief: int) -> list[Law]:
        """The laws of one belief, in the order of `pairs.secrets`."""
        given = self.beliefs[belief]
        return [given[secret] for secret in self.pairs.secrets]

    def ends(self, place: Place) -> tuple[Law, Law]:
        """The two laws that a place compares."""
        belief = self.beliefs[place.belief]
        first, second = self.names(place)
        return belief[first], belief[second]

    def names(self, place: Place) -> tuple[Hashable, Hashable]:
        """The two secrets that a place compares."""
        return self.pairs.secrets[place.first], self.pairs.secrets[place.second]

    def places(self) -> Iterator[Place]:
        """Every pair in both directions under every belief."""
        position = {secret: i for i, secret in enumerate(self.pairs.secrets)}
        for belief in range(len(self.beliefs)):
            for a, b in self.pairs.directed():
                yield Place(belief, position[a], position[b])

    @property
    def size(self) -> int:
        """The number of places."""
        return 2 * len(self.pairs) * len(self.beliefs)

    def words(self, place: Place) -> str:
        """A place for a sentence: the secrets, and the belief where there are several."""
        a, b = self.names(place)
        return f"{a!r} against {b!r}{self.under(place)}"

    def under(self, place: Place) -> str:
        """' where …', naming the belief of a place; nothing where there is only one, and it has no name."""
        label = self.beliefs[place.belief].label
        if label:
            return f" where {label}"
        return "" if len(self.beliefs) == 1 else f" under belief {place.belief + 1} of {len(self.beliefs)}"
