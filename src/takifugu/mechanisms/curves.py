"""Noise against budget: what a picture needs of a mechanism, cheaply enough to follow a slider."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.problems.problem import Problem

POINTS = 25
_FEW_POINTS = 9  # of a mechanism that takes long


@dataclass(frozen=True)
class NoiseCurve:
    """The noise that a mechanism asks for at each budget, budgets ascending."""

    epsilon: Array
    theta: Array


def calibrated_curve(
    needed: Callable[..., Any], problem: Problem, *, alpha: float, low: float, high: float
) -> NoiseCurve:
    """A mechanism inverted at each budget: for those that are quick.

    From the largest budget down, so that the noise of one is the floor of the next.
    """
    quick = all(law.is_gaussian for belief in problem.beliefs for law in belief.values())
    at = np.geomspace(low, high, POINTS if quick else _FEW_POINTS)
    thetas, variance = [], 0.0
    for epsilon in at[::-1].tolist():
        variance = needed(problem, alpha=alpha, epsilon=epsilon, floor=variance).variance
        thetas.append(math.sqrt(variance))
    return NoiseCurve(at, np.array(thetas[::-1]))


def scaled_curve(theta: float, *, low: float, high: float) -> NoiseCurve:
    """The curve of a rule whose θ² is inversely proportional to ε, from its θ at ε = 1."""
    at = np.geomspace(low, high, POINTS)
    return NoiseCurve(at, theta / np.sqrt(at))


def curve_from_losses(epsilon: Array, theta: Array, *, low: float, high: float) -> NoiseCurve:
    """The losses at some noise, read as budgets: ascending and cut to the range.

    At its upper end stands the least θ that was looked at.
    """
    order = np.lexsort((-theta, epsilon))
    epsilon, theta = epsilon[order], theta[order]
    inside = (epsilon > low) & (epsilon < high)
    ends_at = np.append(epsilon[inside], high)
    beyond = np.flatnonzero(epsilon >= high)
    thetas = np.append(theta[inside], theta[beyond[0]] if beyond.size else theta[-1])
    below = np.flatnonzero((epsilon > 0) & (epsilon <= low))
    if below.size:  # between two points that straddle it, the curve is a power law as good as exactly
        left = below[-1]
        span = math.log(ends_at[0] / epsilon[left])
        share = math.log(low / epsilon[left]) / span if span else 0.0
        ends_at = np.append(low, ends_at)
        thetas = np.append(theta[left] ** (1 - share) * thetas[0] ** share, thetas)
    return NoiseCurve(ends_at, thetas)
