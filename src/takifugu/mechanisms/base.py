"""What every mechanism is: a rule for how much noise is enough."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

from takifugu.laws.mixture import Mixture
from takifugu.problems.pairs import Pairs

RPP = "rpp"
APPROXIMATE = "approximate"

Priors = Sequence[Mixture]


class Binding(NamedTuple):
    """A variance, and the directed pair (positions of its secrets) that asked for it, if any asked for more."""

    variance: float
    pair: tuple[int, int] | None


@dataclass(frozen=True)
class Mechanism(ABC):
    """A rule that gives, for one prior against another, a noise variance that keeps the loss within budget.

    A mechanism whose `guarantee` is "rpp" promises D_α ≤ ε; any other word is a weaker promise. Options of a mechanism
    are its dataclass fields. A new mechanism is a file with a subclass and a line in `mechanisms/__init__.py`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    guarantee: ClassVar[str] = RPP

    @abstractmethod
    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance, `floor` or more, that this rule allows for p against q (one direction).

        `math.inf` where no noise satisfies the rule. A caller that already has noise of variance `floor` passes it,
        so that rules which search can stop at once where it is enough.
        """

    def least_variance_over(
        self, priors: Priors, pairs: Pairs, *, alpha: float, epsilon: float, floor: float = 0.0
    ) -> Binding:
        """The least variance for all pairs, both ways; `priors` in the order of `pairs.secrets`."""
        place = {secret: i for i, secret in enumerate(pairs.secrets)}
        found = Binding(floor, None)
        for a, b in pairs.directed():
            i, j = place[a], place[b]
            variance = self.least_variance(priors[i], priors[j], alpha=alpha, epsilon=epsilon, floor=found.variance)
            if not variance <= found.variance:  # a NaN is passed on, for the caller to refuse
                found = Binding(variance, (i, j))
            if not math.isfinite(found.variance):
                break
        return found

    @property
    def options(self) -> dict[str, object]:
        """The options in force."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def at_least(floor: float, variance: float) -> float:
    """The larger of the two; a variance that is no number becomes infinite, never less noise."""
    return math.inf if math.isnan(variance) else max(floor, variance)
