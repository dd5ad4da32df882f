"""Gaussian noise as a channel: one number, the standard deviation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.channels.noise import Noise, log_density
from takifugu.channels.rounded_draws import NORMAL, Shape
from takifugu.divergences import Decision, Effort, decide, divergence
from takifugu.laws import Mixture


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Adds an independent N(0, θ²) to each value; θ = 0 publishes it as it is.

    >>> round(GaussianNoise(2.0).apply(Mixture.gaussian(0, 1)).variance, 9)
    5.0
    """

    kind: ClassVar[str] = "gaussian"
    parameter: ClassVar[str] = "theta"
    symbol: ClassVar[str] = "θ"
    size_is: ClassVar[str] = "standard deviation"
    shape: ClassVar[Shape] = NORMAL
    bounds_odds: ClassVar[bool] = False
    is_gaussian: ClassVar[bool] = True
    excess_kurtosis: ClassVar[float] = 0.0

    theta: float

    def __post_init__(self) -> None:
        """Refuse what is no standard deviation."""
        object.__setattr__(self, "theta", check.noise(self.theta))

    @property
    def size(self) -> float:
        """θ."""
        return self.theta

    @classmethod
    def of_size(cls, size: float) -> "GaussianNoise":
        """See `Noise`."""
        return cls(size)

    @property
    def std(self) -> float:
        """θ."""
        return self.theta

    def apply(self, law: Mixture) -> Mixture:
        """The law of value plus noise."""
        self.require_law(law)
        return law.with_noise(self.theta)

    def loss(self, p: Mixture, q: Mixture, *, alpha: float) -> float:
        """D_α(p + N ‖ q + N); infinite at α = ∞ unless the laws agree, since a normal's tails know no bound."""
        if math.isinf(alpha):
            return 0.0 if p.simplified() == q.simplified() else math.inf
        return divergence(p, q, alpha=alpha, theta=self.theta)

    def decide(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, effort: Effort | None = None) -> Decision:
        """Whether the loss is `epsilon` at most, in ball arithmetic."""
        return decide(p, q, alpha=alpha, epsilon=epsilon, theta=self.theta, effort=effort)

    def density(self, law: Mixture, at: Array) -> Array:
        """See `Noise`."""
        return self.apply(law).pdf(at)

    def log_likelihood(
        self, law: Mixture, published: Sequence[npt.NDArray[np.float64]], *, weaker: bool = False
    ) -> Array:
        """See `Channel`; also where the density is below every float."""
        return log_density(law, np.stack(published, axis=1), (0.25 if weaker else 1.0) * self.noise_covariance)

    def below(self, gaps: Array) -> Array:
        """See `Noise`."""
        from scipy.special import ndtr

        found: Array = ndtr(gaps / self.theta) if self.theta > 0 else (gaps >= 0).astype(float)
        return found

    def beyond(self, last: float, before: float, gap: float) -> float:
        """The logarithm of a density after noise curves downwards by 1/θ² at most (proofs/estimates.md)."""
        if self.theta == 0:
            return 0.0
        return last * last / before * math.exp(-min((gap / self.theta) ** 2, 700.0))

    def exceeds(self, p: Mixture, q: Mixture, *, epsilon: float) -> float:
        """See `Noise`."""
        from takifugu.divergences import hockey_stick_after

        return hockey_stick_after(p, q, epsilon=epsilon, theta=self.theta)

    @staticmethod
    def precision(size: float) -> tuple[int, int]:
        """1/θ²: releases with θ₁, θ₂, … tell as much as one with 1/θ² = Σ 1/θᵢ² (proofs/ledger.md)."""
        up, down = float(size).as_integer_ratio()
        return down * down, up * up
