"""Gaussian noise as a channel: one number, the standard deviation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.channels.noise import Noise, log_density
from takifugu.channels.rounded_draws import NORMAL, Shape
from takifugu.divergences import (
    Decision,
    Density,
    NormalDensity,
    decide,
    decide_hockey_stick,
    divergence,
    hockey_stick_after,
    register,
)
from takifugu.laws import Mixture
from takifugu.problems import HockeyStick, PartialRenyi, RenyiDivergence


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Adds an independent N(0, θ²) to each value; θ = 0 publishes it as it is.

    See `takifugu.calibrate` for the least `theta` that keeps a guarantee, and `takifugu.release` to draw from it. After
    Gaussian noise of any size the odds of two laws are unbounded far in a tail, but for laws that agree there: it keeps
    Rényi and (ε, δ) guarantees, and for `Odds` there is `LaplaceNoise`.

    Args:
        theta: the standard deviation θ, 0 or more.

    Raises:
        InputError: for what is no deviation.

    >>> round(GaussianNoise(2.0).apply(Mixture.gaussian(0, 1)).variance, 9)
    5.0
    """

    kind: ClassVar[str] = "gaussian"
    parameter: ClassVar[str] = "theta"
    symbol: ClassVar[str] = "θ"
    size_is: ClassVar[str] = "standard deviation"
    shape: ClassVar[Shape] = NORMAL

    theta: float

    def __post_init__(self) -> None:
        """Refuse what is no standard deviation."""
        object.__setattr__(self, "theta", check.noise(self.theta))

    @property
    def size(self) -> float:
        """θ."""
        return self.theta

    @property
    def excess_kurtosis(self) -> float:
        """See `Noise`."""
        return 0.0

    @property
    def std(self) -> float:
        """θ."""
        return self.theta

    def apply(self, law: Mixture) -> Mixture:
        """The law of value plus noise."""
        self.require_law(law)
        return law.with_noise(self.theta)

    def normals_after(self, law: Mixture) -> Mixture:
        """See `Noise`: normals become wider."""
        return self.apply(law)

    def smoothed(self, law: Mixture, beside: Mixture) -> Density:
        """See `Noise`."""
        return NormalDensity(law, self.theta)

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

    @staticmethod
    def precision(size: float) -> tuple[int, int]:
        """1/θ²: releases with θ₁, θ₂, … tell as much as one with 1/θ² = Σ 1/θᵢ² (proofs/ledger.md)."""
        up, down = float(size).as_integer_ratio()
        return down * down, up * up


def _only_held(found: Decision) -> Decision:
    """What is more than a bound on it allows is not refuted by the bound."""
    return found if found.holds else replace(found, holds=None)


register(
    "gaussian",
    RenyiDivergence,
    lambda p, q, of, noise: divergence(p, q, alpha=of.alpha, theta=noise.theta),
    lambda p, q, of, budget, noise, effort: decide(
        p, q, alpha=of.alpha, epsilon=budget, theta=noise.theta, effort=effort
    ),
)
register(  # what leaves a share of the cases out is no more than what leaves out none
    "gaussian",
    PartialRenyi,
    lambda p, q, of, noise: divergence(p, q, alpha=of.alpha, theta=noise.theta),
    lambda p, q, of, budget, noise, effort: _only_held(
        decide(p, q, alpha=of.alpha, epsilon=budget, theta=noise.theta, effort=effort)
    ),
)
register(
    "gaussian",
    HockeyStick,
    lambda p, q, of, noise: hockey_stick_after(p, q, epsilon=of.epsilon, theta=noise.theta),
    lambda p, q, of, budget, noise, effort: decide_hockey_stick(
        p, q, epsilon=of.epsilon, delta=budget, theta=noise.theta, effort=effort
    ),
)
