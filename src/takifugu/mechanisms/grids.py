"""Noise and channels on a coarse grid: what is published then follows less closely from the rows that made it.

This is hygiene. Nothing is proved by it, and nothing is lost by it but some accuracy: noise is only ever rounded up.
"""

import math
from typing import Any

from takifugu._validation import real
from takifugu.errors import InputError


def grid_step(grid: Any) -> float:
    """A grid as it may be asked for: 0 for none, or a share up to 1."""
    number = real("grid", grid, "a number from 0.001 to 1, such as 0.05")
    if number != 0 and not 0.001 <= number <= 1:
        raise InputError(f"grid must be a number from 0.001 to 1, such as 0.05 for steps of 5 %; got {grid!r}")
    return number


def on_grid(theta: float, grid: float) -> float:
    """The least power of 1 + grid that is θ or more; 0 stays 0.

    >>> on_grid(1.02, 0.05), on_grid(0.0, 0.05)
    (1.05, 0.0)
    """
    if not theta or not grid:
        return theta
    exponent = math.floor(math.log(theta) / math.log1p(grid)) - 1
    while (1 + grid) ** exponent < theta:  # a logarithm may be rounded to the wrong side of a whole number
        exponent += 1
    return float((1 + grid) ** exponent)
