"""The paper's closed form for two Gaussians (Theorem 3.5)."""

import math
from dataclasses import dataclass
from typing import ClassVar

from takifugu.errors import MechanismError
from takifugu.mechanisms.base import Mechanism
from takifugu.priors.mixture import Mixture

_UP = 1 + 2**-48  # more than the rounding of the few operations below
_DOWN = 1 - 2**-48


@dataclass(frozen=True)
class ClosedForm(Mechanism):
    """The sufficient variance of the paper's Theorem 3.5; proofs/closed-form.md."""

    name: ClassVar[str] = "closed-form"
    summary: ClassVar[str] = (
        "The paper's formula for single Gaussians: sufficient, immediate, more noise than needed "
        "when the variances differ."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """θ² = (α/4ε)(a + √(a² + 8εδ²/(α−1))) − σᵢ², never below 0."""
        gap, std_p, std_q = gaussian_pair(p, q, self.name)
        return max(floor, closed_form(gap, std_p, std_q, alpha=alpha, epsilon=epsilon))


def closed_form(gap: float, std_p: float, std_q: float, *, alpha: float, epsilon: float) -> float:
    """Equation 3 of the paper, written so that nothing cancels and rounded up."""
    delta = (std_q - std_p) * (std_q + std_p)
    a = gap * gap - 2 * epsilon * delta
    b = 8 * epsilon * delta * delta / (alpha - 1)
    root = math.sqrt(a * a + b)
    summed = a + root if a >= 0 else (b / (root - a) if root > a else 0.0)
    return max(0.0, alpha / (4 * epsilon) * summed * _UP - std_p * std_p * _DOWN)


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
