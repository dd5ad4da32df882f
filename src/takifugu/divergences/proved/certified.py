"""The Rényi divergence with a proof: two floats that hold it, whatever the rounding.

The parameters of the mixtures are taken as the exact numbers their floats are. Whether the divergence is
finite is decided in rational arithmetic; its value is enclosed in ball arithmetic (proofs/certified.md).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from takifugu._validation import budget, noise, order
from takifugu.divergences.proved.balls import UNKNOWN, Enclosure, meet, outward
from takifugu.divergences.proved.effort import Effort, UndecidableError
from takifugu.divergences.proved.precision import alone
from takifugu.divergences.proved.provable import Divergence
from takifugu.divergences.proved.rational import fraction
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture

__all__ = ["Decision", "Effort", "Enclosure", "decide", "enclose", "settle"]

_FIRST_GOAL = 44  # bits of the integral in the first attempt
_MOST_GOAL = 1200  # mixtures that agree to more bits than this are not told apart


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a claim about D holds: True, False, or None where a limit was met first; the reason is a sentence."""

    holds: bool | None
    enclosure: Enclosure
    reason: str


@alone()
def enclose(
    p: Mixture, q: Mixture, *, alpha: float, theta: float, rtol: float = 1e-12, effort: Effort | None = None
) -> Enclosure:
    """Two floats that hold D_α(p + N(0, θ²) ‖ q + N(0, θ²)), refined to a relative width of `rtol`.

    Where a limit on work or precision is met first, what has been proved by then is returned: the
    enclosure is wider, never wrong.

    >>> enclose(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=2, theta=0)
    Enclosure(lower=1.0, upper=1.0)
    """
    if not 0 < rtol < 1:
        raise InputError(f"rtol must be between 0 and 1, got {rtol!r}")
    found, goal = UNKNOWN, max(_FIRST_GOAL, math.ceil(-math.log2(rtol)) + 4)
    try:
        divergence = Divergence(p, q, alpha=order(alpha), theta=noise(theta), effort=effort)
        while goal <= _MOST_GOAL:
            found = meet(found, outward(divergence.ball(goal)))
            if divergence.exact is not None or found.width <= max(rtol * found.lower, math.ulp(found.lower)):
                break
            goal += _missing_bits(found, rtol, goal)
    except UndecidableError:
        pass
    return found


def decide(
    p: Mixture, q: Mixture, *, alpha: float, epsilon: float, theta: float, effort: Effort | None = None
) -> Decision:
    """Refine until D_α(p + N(0, θ²) ‖ q + N(0, θ²)) is proved to be at most `epsilon`, or to be more.

    `effort` is what may be spent, shared with other decisions; by default one decision has its own limit.

    >>> decide(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=2, epsilon=1.0, theta=0).holds
    True
    """
    claim = Enclosure(0.0, budget(epsilon))
    return settle(p, q, claim, alpha=alpha, theta=theta, effort=effort)


@alone()
def settle(
    p: Mixture, q: Mixture, claim: Enclosure, *, alpha: float, theta: float, effort: Effort | None = None
) -> Decision:
    """Refine until D_α(p + N(0, θ²) ‖ q + N(0, θ²)) is proved to lie in `claim`, or outside it."""
    found = UNKNOWN
    try:
        divergence = Divergence(p, q, alpha=order(alpha), theta=noise(theta), effort=effort)
        for value in _values(divergence):
            found = meet(found, outward(value))
            # A comparison with a ball is true only where it holds for every number in the ball.
            lower, upper = _bounds(claim, value)
            if value > upper:
                return Decision(False, found, f"refuted: D is at least {found.lower!r}, above {claim.upper!r}")
            if value < lower:
                return Decision(False, found, f"refuted: D is at most {found.upper!r}, below {claim.lower!r}")
            if value <= upper and (claim.lower == 0 or value >= lower):
                return _proved(found, claim)
    except UndecidableError as limit:
        return Decision(None, found, f"undecided: {limit}; D lies in [{found.lower!r}, {found.upper!r}]")
    reason = f"undecided: {_MOST_GOAL} bits of the integral are not enough"
    return Decision(None, found, f"{reason}; D lies in [{found.lower!r}, {found.upper!r}]")


def _values(divergence: Divergence) -> Iterator[Any]:
    """The divergence where it is exact; otherwise ever smaller balls around it."""
    if divergence.exact is not None:
        yield divergence.exact
        return
    goal = _FIRST_GOAL
    while goal <= _MOST_GOAL:
        yield divergence.ball(goal)
        goal += goal // 2


def _bounds(claim: Enclosure, value: Any) -> tuple[Any, Any]:
    """The ends of the claim as exact numbers that compare with a ball or a rational."""
    from flint import arb, fmpq

    if isinstance(value, fmpq) and math.isfinite(claim.upper):
        return fraction(claim.lower), fraction(claim.upper)
    return arb(claim.lower), arb(claim.upper)


def _proved(found: Enclosure, claim: Enclosure) -> Decision:
    # The ball lies within the claim even where the nearest float outside the ball does not.
    found = meet(found, claim)
    return Decision(True, found, f"proved: D is at most {found.upper!r}, within {claim.upper!r}")


def _missing_bits(found: Enclosure, rtol: float, goal: int) -> int:
    if found.lower == 0 or not math.isfinite(found.upper):
        return goal
    return max(8, math.ceil(math.log2(found.width / found.lower) - math.log2(rtol)) + 4)
