"""The closed form at its best order: what is enough for a larger α is enough for α."""

import math
from dataclasses import dataclass
from typing import ClassVar

from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.closed_form import Scaled, closed_form, gaussian_pair
from takifugu.mechanisms.base import Additive, at_least


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
