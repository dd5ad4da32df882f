"""Gaussian noise, rounded exactly: how it is drawn, and what repeating it costs."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array, noise, real
from takifugu.divergences import Decision, Effort, decide, divergence
from takifugu.errors import InputError
from takifugu.laws import Mixture

# Gaussian noise as a channel: one number, the standard deviation.


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


# How much of a budget a release takes, in integers that only ever round against the one who spends.
#
# Releases of one answer with noise θ₁, θ₂, … tell as much as one release with 1/θ² = Σ 1/θᵢ² (`proofs/ledger.md`). A
# budget that allows the noise θ therefore has room while Σ θ²/θᵢ² ≤ 1, and θ²/θᵢ² is the share that a release takes.

WHOLE = 2**128  # shares are counted in 2^-128 of the budget, rounded up


def share(theta: float, *, budget: float) -> int:
    """The share of a budget of noise `budget` that a release with noise `theta` takes, rounded up.

    >>> share(2.0, budget=1.0) == WHOLE // 4
    True
    """
    if budget == 0:
        return 0  # nothing needs hiding: the answer itself may be published
    if theta == 0:
        raise InputError("theta is 0: an answer without noise takes more than any budget holds")
    up, down = float(budget).as_integer_ratio()
    own_up, own_down = float(theta).as_integer_ratio()
    numerator, denominator = (up * own_down) ** 2 * WHOLE, (down * own_up) ** 2
    return -(-numerator // denominator)


def least_theta(left: int, *, budget: float) -> float:
    """The least noise whose share fits into what is left; infinite where nothing is.

    >>> least_theta(WHOLE // 4, budget=1.0)
    2.0
    """
    if budget == 0:
        return 0.0
    if left <= 0:
        return math.inf
    theta = budget * math.sqrt(WHOLE / left)
    while not math.isinf(theta) and share(theta, budget=budget) > left:
        theta = math.nextafter(theta, math.inf)
    while share(below := math.nextafter(theta, 0.0), budget=budget) <= left:
        theta = below
    return theta


def effective_theta(spent: int, *, budget: float) -> float:
    """The noise of the one release that would tell as much, rounded down; infinite before the first.

    >>> effective_theta(WHOLE // 4, budget=1.0)
    2.0
    """
    if budget == 0:
        return 0.0
    if spent <= 0:
        return math.inf
    theta = budget * math.sqrt(WHOLE / spent)
    while not math.isinf(theta) and share(theta, budget=budget) < spent:
        theta = math.nextafter(theta, 0.0)
    return theta


# The multiples of Λ, a power of two, on which a release lands.

_FINENESS = 10  # the default lies between θ/2¹¹ and θ/2¹⁰: rounding adds less than 10⁻⁷ of the noise's variance
_SMALLEST_EXPONENT = -1074  # every float64 is a multiple of 2^-1074


def default_granularity(theta: float) -> float:
    """The granularity of a release that names none: θ/1024, rounded down to a power of two.

    >>> default_granularity(1.0) == 1 / 1024
    True
    """
    theta = noise(theta)
    if theta == 0:
        raise InputError("theta is 0: without noise there is no granularity to choose")
    return math.ldexp(1.0, max(math.frexp(theta)[1] - 1 - _FINENESS, _SMALLEST_EXPONENT))


class Grid:
    """The multiples of one power of two."""

    def __init__(self, granularity: float) -> None:
        """Check that the granularity is a power of two; others cannot be divided by exactly."""
        number = real("granularity", granularity, "a positive power of two, such as 0.25")
        significand, exponent = math.frexp(number)
        if significand != 0.5:
            raise InputError(f"granularity must be a positive power of two, such as 0.25, got {granularity!r}")
        self.granularity = number
        self.exponent = exponent - 1
        # 1/Λ can be too large for a float64; its two factors never are.
        self._inverse = (
            math.ldexp(1.0, -(self.exponent // 2)),
            math.ldexp(1.0, self.exponent // 2 - self.exponent),
        )

    def split(self, x: Array, offset: Array, base: Array) -> None:
        """Write x as base + offset·Λ: base the nearest multiple of Λ, |offset| at most a half.

        Both are exact but for an offset below 2^-1021, whose error is less than that (`proofs/sampler.md`,
        lemma 1).
        """
        np.multiply(x, self._inverse[0], out=offset)
        offset *= self._inverse[1]
        np.rint(offset, out=base)
        offset -= base
        base *= self.granularity
        beyond = np.abs(x) >= 2.0**53 * self.granularity
        if beyond.any():  # such an x is a multiple of Λ already, and x/Λ may not be a float64
            offset[beyond] = 0.0
            base[beyond] = x[beyond]
