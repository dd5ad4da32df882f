"""Inverting a bound: the least variance at which a loss that falls with the noise meets the budget.

The answer is always a variance at which the loss was evaluated and found within the budget. See proofs/search.md.
"""

import math
from collections.abc import Callable
from functools import cache

from takifugu.errors import CalibrationError
from takifugu.mechanisms.roots import crossing

_GROWTH = 4.0
_TINY = 1e-60
_HUGE = 2.0**1022
_MOST_STEPS = 1100  # doublings enough to cross the whole float64 range


def least_variance(
    loss: Callable[[float], float],
    *,
    epsilon: float,
    floor: float,
    start: float,
    unit: float = 0.0,
    rtol: float,
) -> float:
    """The least z >= floor with loss(z) <= epsilon, from above, to within rtol·(z + unit).

    `loss` must not grow with z; it may be infinite. A NaN counts as too much. The search starts `start` above the
    floor; `unit` is the variance that is there already, next to which less noise makes no difference.
    """

    loss = cache(loss)  # the ends of a bracket are asked for again by each step of the search

    def enough(z: float) -> bool:
        return loss(z) <= epsilon

    if enough(floor):
        return floor
    if epsilon < _TINY and not enough(_HUGE):  # so small that no number may do: that is seen at once, not after all
        return math.inf
    low, high = _bracket(enough, floor, start)
    if math.isinf(high):
        return high
    return _narrow(loss, enough, epsilon, low, high, rtol * (low + unit))


def _bracket(enough: Callable[[float], bool], floor: float, start: float) -> tuple[float, float]:
    """A variance that is not enough and a larger one that is."""
    low, step = floor, start if 0 < start < math.inf else max(floor, 1.0)
    for _ in range(_MOST_STEPS):
        high = floor + step
        if math.isinf(high):
            return low, math.inf
        if enough(high):
            break
        low, step = high, step * _GROWTH
    else:
        return low, math.inf
    if low > floor:
        return low, high
    while True:  # the first step was enough: come down, to start the search close
        step /= _GROWTH**2
        middle = floor + step
        if middle == floor or not enough(middle):
            return max(middle, floor), high
        high = middle


def _narrow(
    loss: Callable[[float], float],
    enough: Callable[[float], bool],
    epsilon: float,
    low: float,
    high: float,
    xtol: float,
) -> float:
    """Where 1/loss, which is close to a straight line in z, meets the budget; then up until it is enough."""

    def room(z: float) -> float:
        value = loss(z)
        if not value < math.inf:  # also catches NaN
            return -1.0
        return min(epsilon / value, 1e6) - 1.0 if value > 0 else 1e6

    xtol = max(xtol, 4 * math.ulp(high))
    z = crossing(room, low, high, xtol=xtol) if room(low) < 0 < room(high) else high
    for _ in range(_MOST_STEPS):
        if z >= high:
            return high
        if enough(z):
            return z
        z += xtol
        xtol *= 2.0
    raise CalibrationError("the search for the least noise did not settle: please report this case")
