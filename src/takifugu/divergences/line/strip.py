"""How far a sum over equally spaced nodes may be from the integral of p^α q^{1−α}: a bound, from a strip of the plane.

The integrand is analytic around the real line, as far out as the components of p, and those of q, cannot cancel. The
rule errs by the integral along the edge of that strip, over e^{2πa/h}, a its half width and h the step; and along the
edge the integrand is at most so many times what it is on the line (proofs/exact.md).
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from takifugu._validation import Array

if TYPE_CHECKING:
    from takifugu.divergences.line.many_mixtures import Components

WIDEST = 6.0  # steps from the line to the edge: e^{−2π·6} is less than rounding
_HALF_WIDTHS = np.linspace(WIDEST / 48, WIDEST, 48)[:, None]
_HALF_TURN = 3.0  # of phases, a little less than π
_ROUNDING, _ROUNDING_OF_COSINES = 2.0**-47, 2.0**-46


def shares_missed(p: "Components", q: "Components", low: float, high: float, step: float, alpha: float) -> Array:
    """For every column of q, the largest share of an integral from `low` to `high` that the rule may be off by.

    It holds against any row of p; one or more says nothing.
    """
    beta = alpha - 1.0
    with np.errstate(all="ignore"):
        narrowest, widest = 1.0 / p.stds.min() ** 2, 1.0 / q.stds.max(axis=1) ** 2
        curvature = np.maximum(alpha * narrowest - beta * widest, 0.0) + _ROUNDING * alpha * narrowest
        turn = _phases(q, low, high)
        half_width = np.minimum(_HALF_WIDTHS * step, _HALF_TURN / np.maximum(turn, _phases(p, low, high).max()))
        along = 2.0 * math.pi * half_width / step
        growth = 0.5 * curvature * half_width**2
        growth += beta * (_ROUNDING_OF_COSINES - np.log(np.cos(0.5 * half_width * turn)))
        missed: Array = np.fmin.reduce(2.0 * np.exp(growth - along) / -np.expm1(-along))
    return np.nan_to_num(missed, nan=np.inf)


def _phases(laws: "Components", low: float, high: float) -> Array:
    """How fast, off the line, the phases of the components of each law part: the most anywhere between two points.

    At x they are the numbers (x − m)/v. The largest of them less the least is convex in x, so that it is largest at
    an end.
    """
    variances = laws.stds**2
    rounding = _ROUNDING * max(abs(low), abs(high)) / variances.min(axis=1)
    apart = [np.ptp((end - laws.means) / variances, axis=1) for end in (low, high)]
    return np.asarray(np.maximum(*apart) + rounding)
