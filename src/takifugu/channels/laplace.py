"""Laplace noise as a channel: one number, the scale. It bounds odds, which Gaussian noise of no size does."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.channels.noise import Noise
from takifugu.channels.rounded_draws import BITS, Shape
from takifugu.divergences import (
    Density,
    LaplaceDensity,
    LogLaplace,
    NormalDensity,
    cleared_after_laplace,
    cleared_renyi_after_laplace,
    decide_hockey_stick,
    decide_odds_after_laplace,
    decide_renyi_after_laplace,
    hockey_stick_after,
    odds_after_laplace,
    register,
    renyi_after_laplace,
    screen_odds_after_laplace,
    screen_renyi_after_laplace,
)
from takifugu.errors import InputError
from takifugu.laws import Mixture
from takifugu.problems import HockeyStick, MaxDivergence, RenyiDivergence

if TYPE_CHECKING:
    from flint import arb


class Exponential(Shape):
    """The absolute value of a Laplace variable of scale 1: above t with probability e^−t."""

    def derivatives(self, a: "arb") -> "tuple[arb, arb, arb, arb, arb]":
        """Of −ln(a·2⁻³¹): all but the value grow in size towards small a."""
        from flint import arb

        d = 1 / arb(a)
        return -(arb(a) / 2**BITS).log(), -d, d**2, -2 * d**3, 6 * d**4

    def survival(self, size: "arb") -> "arb":
        """See `Shape`."""
        return (-size).exp()

    def quantile(self, size: int, known: int) -> float:
        """See `Shape`."""
        return (known + 1) * math.log(2) - math.log(2 * size + 1)


@dataclass(frozen=True)
class LaplaceNoise(Noise):
    """Adds an independent Lap(b), of density e^(−|y|/b)/2b, to each value.

    After it the odds of any two laws that lie Δ apart at most change by e^(Δ/b) at most, however far out the published
    value is.

    Args:
        scale: b, 0 or more; the standard deviation is √2 times as much.

    Raises:
        InputError: for what is no scale.

    >>> LaplaceNoise(0.5).variance
    0.5
    """

    kind: ClassVar[str] = "laplace"
    parameter: ClassVar[str] = "scale"
    symbol: ClassVar[str] = "b"
    size_is: ClassVar[str] = "scale"
    shape: ClassVar[Shape] = Exponential()

    scale: float

    def __post_init__(self) -> None:
        """Refuse what is no scale."""
        number = check.real("scale", self.scale, "a finite number, at least 0")
        if number < 0:
            raise InputError(f"scale must be a finite number, at least 0, got {self.scale!r}")
        object.__setattr__(self, "scale", number)

    @property
    def size(self) -> float:
        """The scale b."""
        return self.scale

    @property
    def excess_kurtosis(self) -> float:
        """See `Noise`."""
        return 3.0

    @property
    def std(self) -> float:
        """√2·b."""
        return math.sqrt(2.0) * self.scale

    @property
    def variance(self) -> float:
        """2b²."""
        return 2.0 * self.scale * self.scale

    def smoothed(self, law: Mixture, beside: Mixture) -> Density:
        """See `Noise`."""
        return LaplaceDensity(law, self.scale) if self.scale > 0 else NormalDensity(law)

    def density(self, law: Mixture, at: Array) -> Array:
        """See `Noise`."""
        if self.scale == 0:
            return law.pdf(at)
        found: Array = np.exp(LogLaplace(law, self.scale)(at)) / (2.0 * self.scale)
        return found

    def below(self, gaps: Array) -> Array:
        """See `Noise`."""
        if self.scale == 0:
            return (gaps >= 0).astype(float)
        half = 0.5 * np.exp(-np.abs(gaps) / self.scale)
        found: Array = np.where(gaps < 0, half, 1.0 - half)
        return found

    def beyond(self, last: float, before: float, gap: float) -> float:
        """The logarithm of a density after noise falls by 1/b a unit at most (proofs/laplace.md)."""
        return last * math.exp(-min(gap / self.scale, 700.0)) if self.scale > 0 else 0.0

    @staticmethod
    def precision(size: float) -> tuple[int, int]:
        """1/b: releases of one answer with b₁, b₂, … are worth one with 1/b = Σ 1/bᵢ (proofs/laplace.md)."""
        up, down = float(size).as_integer_ratio()
        return down, up


register(
    "laplace",
    MaxDivergence,
    lambda p, q, of, noise: odds_after_laplace(p, q, scale=noise.size),
    lambda p, q, of, budget, noise, effort: decide_odds_after_laplace(
        p, q, scale=noise.size, epsilon=budget, effort=effort
    ),
    lambda laws, of, noise, budget: screen_odds_after_laplace(laws, scale=noise.size, epsilon=budget),
    lambda laws, of, noise, budget, effort: cleared_after_laplace(
        laws, scale=noise.size, epsilon=budget, effort=effort
    ),
)
register(
    "laplace",
    RenyiDivergence,
    lambda p, q, of, noise: renyi_after_laplace(p, q, alpha=of.alpha, scale=noise.size),
    lambda p, q, of, budget, noise, effort: decide_renyi_after_laplace(
        p, q, alpha=of.alpha, epsilon=budget, scale=noise.size, effort=effort
    ),
    lambda laws, of, noise, budget: screen_renyi_after_laplace(laws, alpha=of.alpha, scale=noise.size, epsilon=budget),
    clear=lambda laws, of, noise, budget, effort: cleared_renyi_after_laplace(
        laws, alpha=of.alpha, scale=noise.size, epsilon=budget, effort=effort
    ),
)
register(
    "laplace",
    HockeyStick,
    lambda p, q, of, noise: hockey_stick_after(p, q, epsilon=of.epsilon, scale=noise.size),
    lambda p, q, of, budget, noise, effort: decide_hockey_stick(
        p, q, epsilon=of.epsilon, delta=budget, scale=noise.size, effort=effort
    ),
)
