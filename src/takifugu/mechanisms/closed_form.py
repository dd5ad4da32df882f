"""Rules for how much Gaussian noise is enough: one bound a file."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from takifugu.errors import MechanismError
from takifugu.laws import Mixture
from takifugu.mechanisms.base import Additive, at_least

# The paper's closed form for two Gaussians (Theorem 3.5).

_UP = 1 + 2**-48  # more than the rounding of the few operations below
_DOWN = 1 - 2**-48
_SMALLEST = 2.0**-1022  # a variance that had to be smaller is rounded up to this


@dataclass(frozen=True)
class ClosedForm(Additive):
    """The sufficient variance of the paper's Theorem 3.5; proofs/closed-form.md."""

    name: ClassVar[str] = "closed-form"
    label: ClassVar[str] = "The paper's closed form"
    summary: ClassVar[str] = (
        "The paper's formula for single Gaussians: sufficient, immediate, more noise than needed "
        "when the variances differ."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """θ² = (α/4ε)(a + √(a² + 8εδ²/(α−1))) − σᵢ², never below 0."""
        gap, std_p, std_q = gaussian_pair(p, q, self.name)
        return at_least(floor, closed_form(gap, std_p, std_q, alpha=alpha, epsilon=epsilon))


def closed_form(gap: float, std_p: float, std_q: float, *, alpha: float, epsilon: float) -> float:
    """Equation 6 of the paper, written so that nothing cancels and rounded up.

    With A = Δ/4ε − δ/2 and B = |δ|/√(2ε(α−1)) it is α(A + √(A² + B²)) − σᵢ².
    """
    pair = Scaled.of(gap, std_p, std_q, epsilon)
    A, B = pair.lead, abs(pair.delta) / (math.sqrt(2) * math.sqrt(epsilon) * math.sqrt(alpha - 1))
    root = math.hypot(A, B)
    total = A + root if A >= 0 else B * (B / (root - A))
    return pair.variance(alpha * total)


class Scaled(NamedTuple):
    """Two Gaussians in a unit of length in which nothing over- or underflows; what cancels is computed exactly."""

    lead: float  # Δ/4ε − δ/2, that is a/4ε in the paper's notation
    delta: float  # σ_q² − σ_p²
    std_p: float
    exponent: int

    @classmethod
    def of(cls, gap: float, std_p: float, std_q: float, epsilon: float) -> "Scaled":
        """`gap` may have been rounded once: its square is taken a little larger."""
        exponent = math.frexp(max(abs(gap), std_p, std_q))[1]
        unit = Fraction(2) ** exponent
        g, s, t = (Fraction(x) / unit for x in (gap, std_p, std_q))
        delta = t * t - s * s
        lead = g * g * (1 + Fraction(1, 2**51)) / (4 * Fraction(epsilon)) - delta / 2
        try:
            return cls(float(lead), float(delta), float(s), exponent)
        except OverflowError:  # a budget so small that no float64 noise would do
            return cls(math.inf, float(delta), float(s), exponent)

    def variance(self, total: float) -> float:
        """total − σ_p² back in the unit of the priors, rounded up and never below 0."""
        noise = total * _UP - self.std_p * self.std_p * _DOWN
        if noise <= 0:
            return 0.0
        try:
            return max(math.ldexp(noise, 2 * self.exponent), _SMALLEST)  # a NaN stays one
        except OverflowError:
            return math.inf


def gaussian_pair(p: Mixture, q: Mixture, mechanism: str) -> tuple[float, float, float]:
    """The gap of the means and the two standard deviations, or an error that says which mechanisms would do."""
    p, q = p.simplified(), q.simplified()
    for prior in (p, q):
        if len(prior) > 1:
            raise MechanismError(
                f"{mechanism!r} is for priors that are one Gaussian each, and one here has {len(prior)} "
                f"components: use 'exact' (the least noise) or 'gmm-transport' (the paper's bound for mixtures)"
            )
    return float(p.means[0] - q.means[0]), float(p.stds[0]), float(q.stds[0])


# The closed form at its best order: what is enough for a larger α is enough for α.


@dataclass(frozen=True)
class ClosedFormEnvelope(Additive):
    """The least value of the paper's closed form over all orders α' >= α; proofs/closed-form-envelope.md."""

    name: ClassVar[str] = "closed-form-envelope"
    label: ClassVar[str] = "Closed form, improved"
    summary: ClassVar[str] = (
        "The closed form taken at the order α' >= α that asks for the least noise: never more than closed-form."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The closed form at max(α, α*), or its limit for infinite order."""
        gap, std_p, std_q = gaussian_pair(p, q, self.name)
        return at_least(floor, envelope(gap, std_p, std_q, alpha=alpha, epsilon=epsilon))


def envelope(gap: float, std_p: float, std_q: float, *, alpha: float, epsilon: float) -> float:
    """min over α' >= α of the closed form: with c = √(2ε)|δ| its minimum is at α* = 1 + c/(a + c).

    Any order from α up is sound, so rounding in α* costs at most a little noise.
    """
    pair = Scaled.of(gap, std_p, std_q, epsilon)
    A, C = pair.lead, abs(pair.delta) / math.sqrt(8) / math.sqrt(epsilon)  # a/4ε and c/4ε
    if A + C > 0:
        best = max(alpha, 1 + C / (A + C))  # α where the quotient is no number
        if math.isfinite(best):
            return closed_form(gap, std_p, std_q, alpha=best, epsilon=epsilon)
    if A >= 0:
        return closed_form(gap, std_p, std_q, alpha=alpha, epsilon=epsilon)
    return pair.variance(pair.delta * (pair.delta / (-4 * A)) / epsilon)
