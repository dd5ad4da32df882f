"""Inverting a loss that falls with the noise: the least noise at which it meets a budget, from above."""

import math
from collections.abc import Callable
from functools import cache

from takifugu.errors import CalibrationError

# Where a function of one number changes its sign: as few looks as Brent takes, without loading all of SciPy.

_MOST_STEPS = 300


def crossing(f: Callable[[float], float], low: float, high: float, *, xtol: float) -> float:
    """The upper end of an interval no longer than xtol at whose ends f has opposite signs: f(low) < 0 <= f(high).

    What is no number counts as below.

    T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function
    without using derivatives", Advances in Engineering Software 28 (1997): inverse quadratic interpolation where the
    last three points make it sure to converge, bisection elsewhere.

    >>> crossing(lambda x: x * x - 2.0, 0.0, 2.0, xtol=1e-12)  # doctest: +ELLIPSIS
    1.41421356237...
    """
    a, b = high, low
    fa, fb = f(a), f(b)
    t = 0.5
    for _ in range(_MOST_STEPS):
        x = a + t * (b - a)
        fx = f(x)
        if (fx >= 0) == (fa >= 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        width = abs(b - a)
        if width <= xtol or fa == 0:
            break
        t = 0.5
        if fc != fb:
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            if phi * phi < xi and (1 - phi) ** 2 < 1 - xi:
                t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        # Half the tolerance from either end at least, so that the interval is closed from both sides.
        least = min(0.5 * xtol / width, 0.5)
        t = min(max(t, least), 1.0 - least) if math.isfinite(t) else 0.5
    return a if fa >= 0 else b


# Inverting a bound: the least variance at which a loss that falls with the noise meets the budget.
#
# The answer is always a variance at which the loss was evaluated and found within the budget. See proofs/search.md.

_GROWTH = 4.0
_TINY = 1e-60
_HUGE = 2.0**1022
_MOST_DOUBLINGS = 1100  # doublings enough to cross the whole float64 range


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
    for _ in range(_MOST_DOUBLINGS):
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
    for _ in range(_MOST_DOUBLINGS):
        if z >= high:
            return high
        if enough(z):
            return z
        z += xtol
        xtol *= 2.0
    raise CalibrationError("the search for the least noise did not settle: please report this case")
