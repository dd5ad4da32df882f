"""Where nothing needs hiding, nothing needs changing: the channel that costs least if nothing were promised."""

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.program import Mask, Program
from takifugu.mechanisms.optimal.promise import violation
from takifugu.mechanisms.optimal.wishes import shortfall


def free_channel(program: Program, allowed: Mask) -> Array | None:
    """Every input to the output it costs least at, if that keeps promise and wishes; None if not.

    It is looked for first: where it exists the best cost is often zero, which no relative gap ever reaches.
    """
    n, m = program.size
    matrix = np.zeros((n, m))
    matrix[np.arange(n), cheapest(program, allowed)] = 1.0
    if violation(program, matrix) > 0 or shortfall(program, matrix) > 1e-12:
        return None
    return matrix


def cheapest(program: Program, allowed: Mask) -> Array:
    """For every input the output it costs least at; of several, itself."""
    costs = np.where(allowed, program.loss, np.inf)
    best = costs.argmin(axis=1)
    if costs.shape[0] == costs.shape[1]:
        own = np.arange(len(costs))
        best = np.where(costs[own, own] <= costs[own, best], own, best)
    return np.asarray(best)


def negligible(program: Program) -> float:
    """A cost too small to matter: 1e-9 of what it costs to publish the same for everyone."""
    return 1e-9 * float(program.cost.sum(axis=0).min())


def hardly_changed(program: Program, allowed: Mask) -> Array:
    """A channel that changes next to nothing: what it gives away the most is hardest to hide."""
    n, m = program.size
    change = np.full((n, m), 0.01 / m)
    change[np.arange(n), cheapest(program, allowed)] += 0.99
    return change
