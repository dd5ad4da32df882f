"""What is asked for beyond the rows there are: confidence, a band."""

from dataclasses import dataclass, field, replace

from takifugu import _validation as check
from takifugu.calibration.backwards import HALVINGS, HALVINGS_OF_ALL
from takifugu.calibration.kinds import expected_loss
from takifugu.errors import InputError
from takifugu.mechanisms.assurance import Band, assured
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.draws import APART, draws_needed
from takifugu.mechanisms.evidence import Confidence, Shared, confident
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

_FAR = 64 * APART  # between the seeds of channels that are found one after another: each uses up to 30


def own_seed(seed: int, number: int) -> int:
    """The seed of one of several channels, each of which is judged by draws that none before it has seen."""
    return seed + number * _FAR


@dataclass(frozen=True)
class Population:
    """What is asked for beyond the rows there are, and what calibrations that ask alike share."""

    confidence: float | None = None
    assurance: str | None = None
    seed: int = 0
    shared: Shared = field(default_factory=Shared)
    halvings: int = 0

    def tried(self, number: int, problem: Problem) -> "Population":
        """The same for one of 2ʰ promises of which one will be chosen: draws of its own, h halvings more strictly.

        A model keeps some draws of its parameters and there are no others: each promise would be judged by nearly the
        same ones, whatever its seed, so they are the same and h is larger.
        """
        if any(belief.drawn for belief in problem.beliefs):
            return replace(self, shared=Shared(), halvings=HALVINGS_OF_ALL)
        return replace(self, seed=own_seed(self.seed, number), shared=Shared(), halvings=HALVINGS)

    def __post_init__(self) -> None:
        """Before any work, whether these can be asked for at all."""
        object.__setattr__(self, "seed", check.integer("seed", self.seed, least=0))
        if self.assurance not in (None, "band"):
            raise InputError(f"assurance must be None or 'band', got {self.assurance!r}")
        if self.assurance is None and self.confidence is not None:
            draws_needed(self.confidence)

    def covered(
        self, rule: Mechanism, problem: Problem, asked: Renyi, found: Found
    ) -> tuple[Found, Confidence | Band | None]:
        """What a rule found for the sample, or what is enough for the population too."""
        if self.assurance is None and self.confidence is None:
            return found, None
        without = expected_loss(rule, problem, found.channel)
        if self.assurance is not None:
            level = 0.95 if self.confidence is None else self.confidence
            return assured(rule, problem, asked, level=level, found=found, without=without)
        return confident(
            rule,
            problem,
            asked,
            level=float(self.confidence or 0),
            seed=self.seed,
            found=found,
            without=without,
            shared=self.shared,
            halvings=self.halvings,
        )
