"""Reading a lattice off data, where bounds or step are not given.

Bounds that follow the data tell something about its extremes, so they are moved outwards to round numbers; a reader
should still be told (`takifugu.problems.findings.LatticeRead`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real
from takifugu.errors import InputError
from takifugu.laws.lattice import MOST_POINTS, Lattice, exact, is_beyond_digits, numbers, round_step

_DIGITS = 15  # decimals that survive a float: 0.1 + 0.2 is read as 0.3
_FINEST = 10**9  # steps in the range beyond which values share no step worth the name
_MARGIN = 20  # round bounds lie at most about a twentieth of the range from the data


@dataclass(frozen=True)
class Reading:
    """A lattice, and which part of it the data decided.

    `finer` is the step that was asked for, or that the values have, where it would make too many points; `inf` digits
    (values that share no step at all) count as 0.
    """

    lattice: Lattice
    bounds_read: bool
    step_read: bool
    finer: float | None = None

    @property
    def changes_values(self) -> bool:
        """Whether snapping moves values that were not asked to move: a coarser step than they have."""
        return self.finer is not None


def read(
    values: npt.ArrayLike,
    *,
    bounds: tuple[float, float] | None = None,
    step: float | None = None,
    transform: str | None = None,
) -> Reading:
    """The lattice of these bounds and this step; what is None is decided by the values.

    The step is the largest that leads to every value (and to both bounds), in decimals; where that makes more than
    1,000 points, a round one that is coarser.

    >>> read([17, 45, 90]).lattice.low, read([0.1, 0.3, 0.4]).lattice.step
    (15.0, 0.1)
    """
    if transform == "log":
        return _logarithmic(values, bounds, step)
    unit = None if step is None else _step(step)
    if bounds is None:
        x = _distinct(values)
        low, high = exact(float(x[0])), exact(float(x[-1]))
        natural = _common_step(x)
        wanted = natural if unit is None else unit
        taken = _affordable(high - low, wanted)
        anchor = low if unit is None and taken == natural else Fraction(0)
        low, high = _round_bounds(low, high, taken, anchor)
    else:
        low, high = (exact(end) for end in _ends(bounds))
        if unit is None:
            x = _distinct(np.append(np.clip(numbers(values), float(low), float(high)), [float(low), float(high)]))
            wanted = _common_step(x)
        else:
            wanted = unit
        taken = _dividing(high - low, wanted)
    if step is None and is_beyond_digits(taken, float(low), float(high)):  # a coarser one would be no use to anybody
        raise beyond_digits("these numbers", float(high))
    finer = None if wanted == taken else float(wanted or 0)
    return Reading(Lattice(float(low), float(high), float(taken)), bounds is None, step is None, finer)


def beyond_digits(what: str, near: float) -> InputError:
    """Why numbers that floats may not tell apart are refused, and what to do."""
    return InputError(
        f"{what} reach {near:g}, where floats no longer tell neighbours apart: subtract a constant from all of them, "
        f"or take a larger unit; if they number people, leave the column out"
    )


def _logarithmic(values: npt.ArrayLike, bounds: Any, step: float | None) -> Reading:
    """Logarithms of values share no step; by default they get the finest round one that bounds allow."""
    ends = _ends(bounds) if bounds is not None else None
    if ends is None:
        x = _distinct(values)
        if x[0] <= 0:
            raise InputError("the logarithm needs values above 0, and some are not: give bounds, which clip them")
        ends = float(x[0]), float(x[-1])
    if not 0 < ends[0] < ends[1]:
        raise InputError(f"bounds of a logarithm must be two numbers above 0, the lower first, got {ends}")
    span = exact(math.log(ends[1]) - math.log(ends[0]))
    finest = round_step(span, MOST_POINTS - 3)  # the ends move outwards to whole steps
    wanted = finest if step is None else _step(step)
    taken = max(wanted, finest)
    lattice = Lattice.logarithmic(*ends, float(taken))
    return Reading(lattice, bounds is None, step is None, None if wanted == taken else float(wanted))


def _ends(bounds: Any) -> tuple[float, float]:
    if isinstance(bounds, str) or not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != 2:
        raise InputError(f"bounds must be two numbers (low, high), got {bounds!r}")
    low, high = (real(name, end, "a finite number") for name, end in zip(("low", "high"), bounds, strict=True))
    if not low < high:
        raise InputError(f"bounds must be a lower and a higher number, got ({low:g}, {high:g}): turn them round")
    return low, high


def _step(step: Any) -> Fraction:
    number = real("step", step, "a finite number above 0")
    if number <= 0:
        raise InputError(f"step must be a finite number above 0, got {step!r}")
    return exact(number)


def _distinct(values: npt.ArrayLike) -> Array:
    x = np.unique(numbers(values))
    if len(x) < 2 or not np.isfinite(x).all():
        raise InputError("a lattice is read from at least two distinct finite values: give bounds and a step")
    return np.unique([float(f"{value:.{_DIGITS}g}") for value in x]) if x.size else x


def _common_step(x: Array) -> Fraction | None:
    """The largest step that leads from the least value to every other; None where they share none."""
    first = exact(float(x[0]))
    step = Fraction(0)
    finest = (exact(float(x[-1])) - first) / _FINEST
    for value in x[1:]:
        gap = exact(float(value)) - first
        # The greatest common divisor of two fractions.
        common = math.gcd(step.numerator * gap.denominator, gap.numerator * step.denominator)
        step = Fraction(common, step.denominator * gap.denominator)
        if step < finest:
            return None
    return step if exact(float(step)) == step else None  # a step must be a float that prints as itself


def _affordable(span: Fraction, wanted: Fraction | None) -> Fraction:
    """The step wanted, or the least round one that leaves room for bounds to move outwards."""
    if wanted is not None and span / wanted < MOST_POINTS:
        return wanted
    return round_step(span, MOST_POINTS - 3)


def _dividing(span: Fraction, wanted: Fraction | None) -> Fraction:
    """The step wanted, or the least round one that divides the range into few enough parts."""
    if wanted is not None and span / wanted < MOST_POINTS:
        return wanted
    most = MOST_POINTS - 1
    while most >= 1:
        unit = round_step(span, most)
        if (span / unit).denominator == 1:
            return unit
        most = math.ceil(span / unit) - 1
    raise InputError(
        f"no round step divides the range of {float(span):g} into fewer than {MOST_POINTS:,} parts: "
        f"give round bounds, or a step"
    )


def _round_bounds(low: Fraction, high: Fraction, step: Fraction, anchor: Fraction) -> tuple[Fraction, Fraction]:
    """Round numbers just outside [low, high], a whole number of steps from the anchor."""
    unit = max(step, round_step(high - low, _MARGIN))
    if (unit / step).denominator == 1 and (anchor / step).denominator == 1:
        wide = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
        if (wide[1] - wide[0]) / step < MOST_POINTS:
            return wide
    return anchor + math.floor((low - anchor) / step) * step, anchor + math.ceil((high - anchor) / step) * step
