"""Baselines: how much Laplace noise the couplings of the literature ask for under bounded odds."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from takifugu.channels import LaplaceNoise
from takifugu.errors import MechanismError, NoAnswerError
from takifugu.laws import Mixture
from takifugu.mechanisms.base import Found, Mechanism, on_the_line, require_numbers
from takifugu.mechanisms.closed_form import least_variance
from takifugu.mechanisms.transport import monotone_plan, wasserstein_infinity
from takifugu.problems import Guarantee, Problem

_UP = 1 + 2**-40


@dataclass(frozen=True)
class CoupledLaplace(Mechanism):
    """A rule for how large the scale of Laplace noise must be for one law against another; proofs/coupled-laplace.md.

    Every answer is checked by the proved divergence afterwards, as those of all mechanisms are.
    """

    @abstractmethod
    def least_scale(self, p: Mixture, q: Mixture, *, epsilon: float) -> float:
        """The least scale that this rule allows for p against q (one direction); infinite where none does.

        Args:
            p: the law under one secret.
            q: that under the other.
            epsilon: the logarithm of the factor that odds may change by.

        Returns:
            The scale, rounded up.
        """

    def suited(self, problem: Problem) -> Problem:
        """See `Mechanism`."""
        return on_the_line(problem)

    def require(self, asked: Guarantee) -> None:
        """The couplings bound odds, and nothing else here."""
        if len(asked.parts) != 1 or asked.most_odds is None:
            raise MechanismError(
                f"{self.name!r} is a rule for bounded odds, and {asked} was asked for: give odds alone, or use 'exact'"
            )

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """Noise of the scale that the worst place asks for.

        Args:
            problem: laws of numbers.
            asked: bounded odds.

        Returns:
            Laplace noise of the largest scale that any directed pair asks for under any belief.

        Raises:
            NoAnswerError: where no scale satisfies the rule, as where two laws have unbounded distance.
        """
        require_numbers(problem, self.name)
        scale, binding = 0.0, None
        for place in problem.places():
            needed = self.least_scale(*problem.ends(place), epsilon=asked.epsilon)
            if not needed < math.inf:
                raise NoAnswerError(
                    f"no finite noise satisfies {self.name!r} for {problem.words(place)}: equal quantiles of the two "
                    f"laws lie arbitrarily far apart. Use 'laplace', which always has an answer"
                )
            if needed > scale:
                scale, binding = needed, place
        return Found(LaplaceNoise(scale), binding)


@dataclass(frozen=True)
class WassersteinLaplace(CoupledLaplace):
    """b = W∞/ε, W∞ the largest distance between equal quantiles (Song, Wang and Chaudhuri, 2017)."""

    name: ClassVar[str] = "wasserstein-laplace"
    label: ClassVar[str] = "Wasserstein, Laplace noise"
    summary: ClassVar[str] = (
        "The Wasserstein mechanism of Song et al., a baseline under odds: Laplace noise for the largest distance "
        "between quantiles."
    )

    def least_scale(self, p: Mixture, q: Mixture, *, epsilon: float) -> float:
        """W∞/ε, rounded up.

        If two coupled answers never lie further apart than W∞, noise of scale W∞/ε changes the density by e^ε at most
        wherever it is looked at (proofs/coupled-laplace.md).
        """
        return wasserstein_infinity(p, q) / epsilon * _UP


@dataclass(frozen=True)
class Kantorovich(WassersteinLaplace):
    """b = max |x − x'|/ε over an optimal transport plan for |x − x'| (Ding, 2022).

    On the line the plan that keeps the order is optimal, and no plan has a smaller largest distance: W∞ again.
    """

    name: ClassVar[str] = "kantorovich"
    label: ClassVar[str] = "Kantorovich"
    summary: ClassVar[str] = (
        "The Kantorovich mechanism of Ding, a baseline under odds: on the line the same as 'wasserstein-laplace'."
    )


@dataclass(frozen=True)
class KantorovichRelaxed(CoupledLaplace):
    """The least b with Σ π(x|x') e^{|x − x'|/b} <= e^ε at each x', π the plan that keeps the order (2601.06385).

    A mean over the partners of each x' in place of the farthest. Where a law has a density each x' has one partner,
    and the rule is W∞/ε.
    """

    name: ClassVar[str] = "kantorovich-relaxed"
    label: ClassVar[str] = "Kantorovich, relaxed"
    summary: ClassVar[str] = (
        "The relaxed Kantorovich mechanism, a baseline under odds: for points it averages over the distances of each "
        "from its partners."
    )

    def least_scale(self, p: Mixture, q: Mixture, *, epsilon: float) -> float:
        """The scale at which the worst x' meets the budget, from above.

        The sum falls as b grows. It is never more than W∞/ε, at which every term is within the
        budget, so that the search has a bracket; its safe end is rounded up.
        """
        p, q = p.simplified(), q.simplified()
        largest = wasserstein_infinity(p, q) / epsilon * _UP
        if not (p.is_discrete and q.is_discrete and 0 < largest < math.inf):
            return largest
        i, j, mass = monotone_plan(p, q)
        gaps, shares = np.abs(p.means[i] - q.means[j]), mass / np.bincount(j, mass)[j]

        def loss(scale: float) -> float:
            if scale == 0:
                return math.inf
            heights = gaps / scale
            top = np.zeros(len(q))
            np.maximum.at(top, j, heights)  # the farthest partner of each, so that nothing overflows
            means = np.bincount(j, shares * np.exp(heights - top[j]), minlength=len(q))
            with np.errstate(divide="ignore"):
                return float((top + np.log(means)).max())

        return min(largest, least_variance(loss, epsilon=epsilon, floor=0.0, start=largest, rtol=1e-12) * _UP)
