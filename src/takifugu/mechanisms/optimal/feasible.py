"""Whether wishes can be kept at all, and under which promise: what an error tells of who asked for too much."""

from dataclasses import replace

import numpy as np

from takifugu._validation import Array
from takifugu.errors import MechanismError
from takifugu.mechanisms.optimal.free import free_channel
from takifugu.mechanisms.optimal.interior_point import interior_point
from takifugu.mechanisms.optimal.linear import linear
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.promise import violation
from takifugu.mechanisms.optimal.wishes import allowed_moves, shortfall

_MISSED = 1e-6  # wishes missed by more than this were not to be had
_TIMES = (1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e5)  # budgets to try where wishes cannot be kept
_LARGEST = 30.0  # beyond this ε, odds of 10¹³, a promise says nothing
_HALVINGS, _QUICK = 5, 2_500  # then between two of them, for programs of so many entries


def is_fine(program: Program, matrix: Array) -> bool:
    """Whether a channel keeps the promise in floats, and the wishes up to what rounding may miss."""
    return violation(program, matrix) <= 0 and shortfall(program, matrix) <= _MISSED


def least_budget(program: Program) -> str | None:
    """About the least budget at which the wishes can be kept, in words; None if there is none."""
    times = next((times for times in _TIMES if _can_be_kept(_relaxed(program, times))), None)
    if times is None:
        return None
    low, high = max((other for other in (1.0, *_TIMES) if other < times), default=1.0), times
    # Only what was seen to be kept is told, so the search may stop anywhere.
    for _ in range(_HALVINGS if program.loss.size <= _QUICK else 0):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if _can_be_kept(_relaxed(program, middle)) else (middle, high)
    weaker = _relaxed(program, high)
    if np.isinf(weaker.alpha):  # a promise about odds is told as one
        return f"odds={_up(weaker.factor):g}"
    parts = [f"epsilon={_up(weaker.epsilon):g}"] if np.isfinite(weaker.epsilon) else []
    return " and ".join(parts + ([] if weaker.odds is None else [f"odds={_up(weaker.odds):g}"]))


def _relaxed(program: Program, times: float) -> Program:
    """The same program with a budget that is this many times as large, odds to that power."""
    odds = None if program.odds is None else float(np.exp(min(np.log(program.odds) * times, _LARGEST)))
    limit = max(program.epsilon, _LARGEST)
    return replace(program, epsilon=min(program.epsilon * times, limit), odds=odds)


def _can_be_kept(program: Program) -> bool:
    """Whether a channel that keeps promise and wishes is found without much effort."""
    try:
        allowed = allowed_moves(program)
    except MechanismError:
        return False
    free = free_channel(program, allowed)
    if free is not None and is_fine(program, free):
        return True
    if is_fine(program, interior_point(program, allowed, goal=1e-3, enough=1.0).matrix):
        return True
    stricter = linear(replace(program, alpha=np.inf), allowed)
    return stricter is not None and is_fine(program, stricter.matrix)


def _up(value: float) -> float:
    """Three digits, rounded up: what is told must be enough."""
    step = 10.0 ** (np.floor(np.log10(value)) - 2)
    return float(f"{np.ceil(value / step) * step:.3g}")
