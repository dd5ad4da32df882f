"""The Rényi divergence of two laws on points: a finite sum, with all the digits of a float64 and never too small."""

from collections.abc import Mapping
from typing import Any

from takifugu.divergences.proved.finite import Masses, enclose


def point_divergence(p: Mapping[Any, float], q: Mapping[Any, float], *, alpha: float) -> float:
    """D_α of two laws given as the weight of each point, 1 < α ≤ ∞; +∞ where p has a point that q has not.

    The weights are taken as the exact numbers their floats are, each law's divided by their sum. Floats alone would
    know no digit of a divergence of 1e-24, nor how large one is whose shares are below the least float.

    >>> round(point_divergence({"a": 1, "b": 3}, {"a": 1, "b": 1}, alpha=float("inf")), 9)
    0.405465108
    """
    points = list(dict.fromkeys([*p, *q]))
    first, second = (Masses.of([law.get(point, 0.0) for point in points]) for law in (p, q))
    return enclose(first, second, alpha=alpha).upper
