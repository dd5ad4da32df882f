"""The Rényi divergence with a proof: two floats that hold it, whatever the rounding.

The parameters of the mixtures are taken as the exact numbers their floats are. Whether the divergence is
finite is decided in rational arithmetic; its value is enclosed in ball arithmetic (proofs/certified.md).
"""

import math
from dataclasses import dataclass

from takifugu._validation import budget, noise, order
from takifugu.divergences.balls import UNKNOWN, Enclosure, meet, outward
from takifugu.divergences.effort import Effort, UndecidableError
from takifugu.divergences.provable import Divergence
from takifugu.divergences.rational import fraction
from takifugu.errors import InputError
from takifugu.priors.mixture import Mixture

__all__ = ["Decision", "Enclosure", "decide", "enclose"]

_FIRST_GOAL = 44  # bits of the integral in the first attempt
_MOST_GOAL = 1200  # mixtures that agree to more bits than this are not told apart


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether D <= epsilon: True, False, or None where a limit was met first; the reason is a sentence."""

    holds: bool | None
    enclosure: Enclosure
    reason: str


def enclose(p: Mixture, q: Mixture, *, alpha: float, theta: float, rtol: float = 1e-12) -> Enclosure:
    """Two floats that hold D_α(p + N(0, θ²) ‖ q + N(0, θ²)), refined to a relative width of `rtol`.

    Where a limit on work or precision is met first, what has been proved by then is returned: the
    enclosure is wider, never wrong.

    >>> enclose(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=2, theta=0)
    Enclosure(lower=1.0, upper=1.0)
    """
    if not 0 < rtol < 1:
        raise InputError(f"rtol must be between 0 and 1, got {rtol!r}")
    divergence = Divergence(p, q, alpha=order(alpha), theta=noise(theta))
    if divergence.exact is not None:
        return outward(divergence.exact)
    found, goal = UNKNOWN, max(_FIRST_GOAL, math.ceil(-math.log2(rtol)) + 4)
    while goal <= _MOST_GOAL:
        try:
            found = meet(found, outward(divergence.ball(goal)))
        except UndecidableError:
            return found
        if found.width <= max(rtol * found.lower, math.ulp(found.lower)):
            return found
        goal += _missing_bits(found, rtol, goal)
    return found


def decide(
    p: Mixture, q: Mixture, *, alpha: float, epsilon: float, theta: float, effort: Effort | None = None
) -> Decision:
    """Refine until D_α(p + N(0, θ²) ‖ q + N(0, θ²)) is proved to be at most `epsilon`, or to be more.

    `effort` is what may be spent, shared with other decisions; by default one decision has its own limit.

    >>> decide(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=2, epsilon=1.0, theta=0).holds
    True
    """
    epsilon = budget(epsilon)
    divergence = Divergence(p, q, alpha=order(alpha), theta=noise(theta), effort=effort)
    if divergence.exact is not None:
        return _verdict(outward(divergence.exact), epsilon, holds=bool(divergence.exact <= fraction(epsilon)))
    found, goal = UNKNOWN, _FIRST_GOAL
    while goal <= _MOST_GOAL:
        try:
            ball = divergence.ball(goal)
        except UndecidableError as limit:
            return Decision(None, found, f"undecided: {limit}; D lies in {_shown(found)}")
        found = meet(found, outward(ball))
        # Comparisons of balls are true only where they hold for all numbers in the ball.
        if ball <= epsilon or ball > epsilon:
            return _verdict(found, epsilon, holds=bool(ball <= epsilon))
        goal += goal // 2
    reason = f"undecided: {_MOST_GOAL} bits of the integral are not enough; D lies in {_shown(found)}"
    return Decision(None, found, reason)


def _verdict(found: Enclosure, epsilon: float, *, holds: bool) -> Decision:
    if holds:  # the ball said so, even where its nearest float above is past epsilon
        found = Enclosure(min(found.lower, epsilon), min(found.upper, epsilon))
        return Decision(True, found, f"proved: D is at most {found.upper!r}, within epsilon = {epsilon!r}")
    return Decision(False, found, f"refuted: D is at least {found.lower!r}, above epsilon = {epsilon!r}")


def _missing_bits(found: Enclosure, rtol: float, goal: int) -> int:
    if found.lower == 0 or not math.isfinite(found.upper):
        return goal
    return max(8, math.ceil(math.log2(found.width / found.lower) - math.log2(rtol)) + 4)


def _shown(found: Enclosure) -> str:
    return f"[{found.lower!r}, {found.upper!r}]"
