"""Gaussian noise as a channel: one number, the standard deviation."""

import math
from dataclasses import dataclass
from typing import ClassVar

from takifugu import _validation as check
from takifugu.divergences.line.general import divergence
from takifugu.divergences.proved.certified import Decision, decide
from takifugu.divergences.proved.effort import Effort
from takifugu.laws.mixture import Mixture


@dataclass(frozen=True)
class GaussianNoise:
    """Adds an independent N(0, θ²) to each value; θ = 0 publishes it as it is.

    >>> round(GaussianNoise(2.0).apply(Mixture.gaussian(0, 1)).variance, 9)
    5.0
    """

    kind: ClassVar[str] = "gaussian"

    theta: float

    def __post_init__(self) -> None:
        """Refuse what is no standard deviation."""
        object.__setattr__(self, "theta", check.noise(self.theta))

    @property
    def variance(self) -> float:
        """θ², the mean square error that the noise costs a published value."""
        return self.theta * self.theta

    def apply(self, law: Mixture) -> Mixture:
        """The law of value plus noise."""
        return law.with_noise(self.theta)

    def loss(self, p: Mixture, q: Mixture, *, alpha: float) -> float:
        """D_α(p + N ‖ q + N); infinite at α = ∞ unless the laws agree, since a bell's tails know no bound."""
        if math.isinf(alpha):
            return 0.0 if p.simplified() == q.simplified() else math.inf
        return divergence(p, q, alpha=alpha, theta=self.theta)

    def decide(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, effort: Effort | None = None) -> Decision:
        """Whether the loss is `epsilon` at most, in ball arithmetic."""
        return decide(p, q, alpha=alpha, epsilon=epsilon, theta=self.theta, effort=effort)
