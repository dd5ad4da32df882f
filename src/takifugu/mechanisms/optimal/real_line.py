"""For squared error: a bound over every real output, not only those on the grid.

Between two neighbouring outputs the average of their tangent planes is a tangent plane too, and squared error bends
below the average of its ends by exactly q·s(1−s) (proofs/optimal.md). So the least in between has a closed form.
"""

from dataclasses import replace

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.optimal.lower_bound import bracket, lower_bound, proved_tangents, total
from takifugu.mechanisms.optimal.program import Program

_UNIT = 2.0**-53


def reaches_every_real(program: Program) -> bool:
    """Whether the bound over every real output applies: squared error between numbers, and no move forbidden."""
    if program.inputs is None or program.outputs is None or program.forbidden is not None:
        return False
    return bool(np.array_equal(program.loss, (program.inputs[:, None] - program.outputs) ** 2))


def lower_bound_on_the_line(program: Program, duals: Duals) -> float:
    """A proved lower bound on the cost of every channel to real numbers that keeps the promise and the wishes.

    Zero, which proves nothing, where the loss is not squared error between numbers.
    """
    if not reaches_every_real(program) or program.inputs is None or program.outputs is None:
        return 0.0
    if program.keep == "marginal":
        # What is published has the law of the inputs, which sits on the grid: there are no other outputs.
        return lower_bound(program, duals)
    tangents = proved_tangents(program, duals.checked(program))
    with np.errstate(all="ignore"):
        at = bracket(program, duals, tangents)
    order = np.argsort(program.outputs, kind="stable")
    grid = program.outputs[order]
    below = (at.value - at.error)[:, order]
    least = below.min(axis=1)
    if program.diagonal is not None:  # the promised share sits on grid points alone; beside them it pays nothing
        below = (at.value + np.diag(duals.diagonal * program.pooled) - at.error)[:, order] - _UNIT * 8 * (
            np.abs(at.value[:, order]) + duals.diagonal
        )
    with np.errstate(all="ignore"):
        least = np.minimum(least, _between(below, grid, program.pooled))
        least = np.minimum(least, _beyond(program, at.law_part[:, order], at.error[:, order], at.tilt, grid))
    return total(least, at.constant)


def _between(below: Array, grid: Array, mass: Array) -> Array:
    """Per input, the least over all outputs strictly between two neighbours of the grid."""
    if grid.size < 2:
        return np.full(len(below), np.inf)
    t0, t1 = below[:, :-1], below[:, 1:]
    bend = mass[:, None] * np.diff(grid) ** 2 * (1.0 + (len(below) + 8) * _UNIT)
    inside = (np.abs(t0 - t1) <= bend) & (bend > 0)
    # (1−s)T₀ + sT₁ − q s(1−s) at its stationary point; elsewhere an end is the least, and ends are on the grid.
    middle = t0 - (bend + t0 - t1) ** 2 / (4.0 * np.where(bend > 0, bend, 1.0))
    # Where the test of `inside` was decided by rounding, s is next to an end and the ends are as low, up to this.
    middle = np.where(inside, middle, np.minimum(t0, t1))
    return np.asarray((middle - 16.0 * _UNIT * (np.abs(t0) + np.abs(t1) + bend)).min(axis=1))


def _beyond(program: Program, law_part: Array, error: Array, tilt: Array, grid: Array) -> Array:
    """Per input, the least over all outputs below the first of the grid or above its last, with that one's plane."""
    assert program.inputs is not None
    x, mass, slope = program.inputs, program.pooled, tilt[:, 0]
    steps = (len(x) + 16) * _UNIT
    least = np.full(len(x), np.inf)
    for end, sign in ((0, -1.0), (-1, 1.0)):
        # m(x − y)² + slope·y is least at y = x − slope/2m; inside the grid it is not beyond it.
        shift = np.where(slope == 0.0, 0.0, slope / (2.0 * mass))
        room = steps * 4.0 * (np.abs(x) + np.abs(shift) + abs(grid[end]))
        outside = ~(sign * (x - shift - grid[end]) < -room)
        value = law_part[:, end] + slope * x - np.where(slope == 0.0, 0.0, slope * slope / (4.0 * mass))
        size = np.abs(law_part[:, end]) + np.abs(slope * x) + np.abs(slope * shift)
        value = value - error[:, end] - steps * 4.0 * size
        value = np.where(np.isnan(value), -np.inf, value)
        # At the end itself the bracket counts; beyond it, where the parabola still falls, its vertex.
        least = np.minimum(least, np.where(outside, value, np.inf))
    return least


def refined(program: Program, parts: int) -> Program:
    """The same program with every gap between neighbouring outputs cut into `parts`: squared error, any output.

    Multipliers for the outputs of a program prove little about outputs between them, because the tangent planes are
    averaged over the whole gap; those of the refined program prove the more the finer it is, as 1/parts².
    """
    if not reaches_every_real(program) or program.inputs is None or program.outputs is None:
        raise InputError("only squared error between numbers, with no move forbidden, can be refined")
    if program.keep == "marginal" or program.diagonal is not None:
        raise InputError(
            "a kept marginal or a promised diagonal ties the outputs to the inputs: there is no finer grid"
        )
    ends = np.unique(program.outputs)
    steps = ends[:-1, None] + np.diff(ends)[:, None] * (np.arange(parts) / parts)
    grid = np.unique(np.append(steps.ravel(), ends))
    return replace(program, outputs=grid, loss=(program.inputs[:, None] - grid) ** 2)
