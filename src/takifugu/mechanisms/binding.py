"""The place that binds, decided in ball arithmetic: the last word on how much noise is enough.

A search trusts floats to a few digits of the budget. Where it ends, one pair stands at the limit: that one is proved
before anything is returned or released (proofs/exact.md, "The place that binds").
"""

import math

from takifugu.divergences.line.general import divergence
from takifugu.divergences.proved.certified import decide
from takifugu.divergences.proved.effort import Effort
from takifugu.errors import CalibrationError
from takifugu.mechanisms.additive.exact import Exact
from takifugu.problems.problem import Place, Problem

_LIMIT = 4_000_000  # units of work: seconds, and only for laws of a thousand components
_FIRST_STEP = 2.0**-43  # of θ: the search itself is no closer
_MOST_STEPS = 40
_DOUBT = 1e-6  # the share of the budget left free where balls give up: ten thousand times the error of floats


def proved_noise(problem: Problem, place: Place, *, alpha: float, epsilon: float, theta: float) -> float:
    """The noise `theta`, or a hair more, at which the place is proved to be within the budget.

    Where ball arithmetic meets its limits, noise at which floats leave a millionth of the budget free.
    """
    p, q = problem.ends(place)
    step = _FIRST_STEP
    for _ in range(_MOST_STEPS):
        holds = decide(p, q, alpha=alpha, epsilon=epsilon, theta=theta, effort=Effort(_LIMIT)).holds
        if holds:
            return theta
        if holds is None or theta == 0:
            careful = epsilon * (1 - _DOUBT)
            variance = Exact().least_variance(p, q, alpha=alpha, epsilon=careful, floor=theta * theta)
            larger = max(theta, math.nextafter(math.sqrt(variance), math.inf) if variance > 0 else 0.0)
            if holds is None:
                return larger
            if larger == theta:
                break  # floats see room where balls see none
            theta = larger
        else:
            theta, step = theta * (1 + step), 2 * step
    raise CalibrationError("floats and ball arithmetic disagree about the least noise: please report this case")


def is_enough(problem: Problem, place: Place, *, alpha: float, epsilon: float, theta: float) -> bool:
    """Whether the pair is within the budget, proved; where balls give up, seen with a millionth of it to spare."""
    p, q = problem.ends(place)
    holds = decide(p, q, alpha=alpha, epsilon=epsilon, theta=theta, effort=Effort(_LIMIT)).holds
    if holds is None:
        return divergence(p, q, alpha=alpha, theta=theta) <= epsilon * (1 - _DOUBT / 2)
    return holds
