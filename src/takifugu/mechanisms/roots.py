"""Where a function of one number changes its sign: as few looks as Brent takes, without loading all of SciPy."""

import math
from collections.abc import Callable

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
