"""How narrow a component may be, read off the data: rounding leaves a step, samples leave gaps."""

import math

import numpy as np

from takifugu._validation import Array

_COMPANY = 5  # the fewest samples that speak for a component
_BY_CHANCE = 1.1  # samples per distinct value below which repeats are coincidences


def rounding_of(values: Array) -> Array:
    """How far apart neighbours, of at least two distinct values in order, may be for reasons of arithmetic alone.

    Of each gap by itself: a code such as 1e20 among ages is no reason to think that these are known to 1e4 alone.
    """
    size = np.abs(values)
    return 2 * np.finfo(np.float64).eps * np.maximum(size[:-1], size[1:])


def least_std(x: Array, w: Array, *, repeats: bool, rounding: Array | float) -> tuple[float, float | None]:
    """The default floor of the standard deviation, and the step of the values where they repeat.

    `x` holds at least two distinct values in order and `w` the number of samples at each. Gaps of at
    most `rounding`, one number or one for each gap, come from floating-point arithmetic (0.1 + 0.2 against 0.3) and are
    not taken for the step of the data. Where values repeat only here and there, that is chance and not rounding:
    the samples lie further apart than the step, and the gaps between them set the floor.
    """
    floor, step = float(np.min(rounding)), None
    if repeats:
        gaps = np.diff(x)
        real = gaps[gaps > rounding]
        step = float((real if real.size else gaps[gaps > 0]).min(initial=2.0))
        floor = step / math.sqrt(12)
    if not repeats or w.sum() < _BY_CHANCE * len(x):
        floor = max(floor, narrowest_window(x, w))
    return floor, step


def narrowest_window(x: Array, w: Array) -> float:
    """The least standard deviation of five consecutive values (of all, where there are fewer).

    Why five: among n samples of a smooth density, the narrowest run of m has a width of order
    n^(−m/(m−1)). A component put there gains about m/(m−1)·ln n of log-likelihood, and BIC charges
    1.5·ln n for it. So for m above 3 it does not pay to give a chance cluster its own component, with
    some room at m = 5. A component that holds many samples is far wider than its five closest ones, so
    this floor leaves it alone.
    """
    size = min(_COMPANY, len(x))
    runs = np.lib.stride_tricks.sliding_window_view(x, size)
    loads = np.lib.stride_tricks.sliding_window_view(w, size)
    total = loads.sum(axis=1)
    offsets = runs - runs[:, :1]  # about the first value of each run: no digits are lost to a far centre
    mean = (loads * offsets).sum(axis=1) / total
    variance = (loads * (offsets - mean[:, None]) ** 2).sum(axis=1) / total
    return math.sqrt(float(variance.min()))
