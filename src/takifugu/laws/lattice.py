"""The values that may be published: equally spaced points between public bounds.

What is published starts from round(clip(x)), so a law is a list of masses on the points: it has no tail that nobody
saw, and nothing below the step is told.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array, real
from takifugu.errors import InputError

MOST_POINTS = 1_000
_ROUND = (1, 2, 5)
_TRANSFORMS = (None, "log")


@dataclass(frozen=True)
class Lattice:
    """The points low, low + step, …, high.

    The three numbers are read as the decimals that they print as: a step of 0.1 is a tenth, and the point at 0.3 is the
    float that prints as 0.3 wherever it is computed. With `transform="log"` the points are logarithms, and `snap`
    takes the logarithm of a value first.

    >>> Lattice(0, 1, 0.1).points.tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    """

    low: float
    high: float
    step: float
    transform: str | None = None

    def __post_init__(self) -> None:
        """Check that the step divides the range, in exact arithmetic."""
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, real(name, getattr(self, name), "a finite number") + 0.0)
        if self.transform not in _TRANSFORMS:
            raise InputError(f"transform must be None or 'log', got {self.transform!r}")
        if not self.low < self.high:
            raise InputError(
                f"bounds must be a lower and a higher number, got ({self.low:g}, {self.high:g}): turn them round"
            )
        if not self.step > 0:
            raise InputError(f"step must be a number above 0, got {self.step:g}")
        count = self._exact_span / exact(self.step)
        if count.denominator != 1:
            raise InputError(
                f"a step of {self.step:g} does not divide the range from {self.low:g} to {self.high:g}: "
                f"choose bounds that lie a whole number of steps apart"
            )
        if is_beyond_digits(self.step, self.low, self.high):
            raise InputError(
                f"a step of {self.step:g} is beyond the digits of numbers near {self.high:g}: use a coarser one"
            )
        if count >= MOST_POINTS:
            wider = round_step(self._exact_span, MOST_POINTS - 1)
            raise InputError(
                f"{int(count) + 1:,} points are more than {MOST_POINTS:,}: use a step of {float(wider):g} or more"
            )

    def to_state(self) -> dict[str, object]:
        """As plain values for JSON."""
        return {
            "kind": "lattice",
            "low": self.low,
            "high": self.high,
            "step": self.step,
            "transform": self.transform,
        }

    @classmethod
    def from_state(cls, state: object, where: str) -> "Lattice":
        """What `to_state` gave, every field checked."""
        content = form.fields(state, ("kind", "low", "high", "step", "transform"), where)
        low, high, step = (form.number(content[key], f"{where}.{key}") for key in ("low", "high", "step"))
        return cls(low, high, step, transform=content["transform"])

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the points: arrays that are unpickled could be changed."""
        return type(self), (self.low, self.high, self.step, self.transform)

    @property
    def _exact_span(self) -> Fraction:
        return exact(self.high) - exact(self.low)

    def __len__(self) -> int:
        """The number of points."""
        return int(self._exact_span / exact(self.step)) + 1

    @cached_property
    def points(self) -> Array:
        """Each point, as the float nearest to the exact decimal; read-only."""
        low, step = exact(self.low), exact(self.step)
        return _frozen(float(low + k * step) for k in range(len(self)))

    @cached_property
    def edges(self) -> Array:
        """The middles between neighbouring points, as the nearest floats; read-only."""
        low, step = exact(self.low), exact(self.step)
        return _frozen(float(low + k * step + step / 2) for k in range(len(self) - 1))

    def index(self, values: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """The place of the point that each value goes to; a value halfway goes to the higher one.

        Values beyond a bound go to the bound. NaN is refused: a missing value has no place.

        Args:
            values: numbers; with `transform="log"` positive ones.

        Returns:
            A place from 0 to the number of points less 1, for each value.

        Raises:
            InputError: where a value is missing. It is not shown.
        """
        # Comparing with edges that are floats once and for all leaves nothing to the rounding of a division.
        return np.searchsorted(self.edges, self._transformed(numbers(values)), side="right")

    def snap(self, values: npt.ArrayLike) -> Array:
        """round(clip(x)): the point that each value goes to, a value halfway to the higher one; NaN stays NaN.

        Args:
            values: numbers of any size.

        Returns:
            The point each value is published from. Guarantees hold for what is snapped, whatever was given.

        >>> Lattice(0, 20, 1).snap([3.4, 3.5, -7.0, 99.0]).tolist()
        [3.0, 4.0, 0.0, 20.0]
        """
        x = np.asarray(values, dtype=np.float64)
        missing = np.isnan(x)  # which would sort behind every edge, and be published as the highest value
        snapped: Array = self.points[self.index(np.where(missing, 0.0, x))]
        return np.where(missing, np.nan, snapped)

    def count(self, values: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Array:
        """How many of the values go to each point.

        Args:
            values: numbers.
            counts: how many rows have each; 1 where left out.

        Returns:
            An array with a count for each point of the lattice.

        >>> Lattice(0, 2, 1).count([0.2, 0.4, 5.0]).tolist()
        [2.0, 0.0, 1.0]
        """
        where = self.index(values)
        weights = None if counts is None else np.asarray(counts, dtype=np.float64)
        return np.bincount(where, weights=weights, minlength=len(self)).astype(np.float64)

    def outside(self, values: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> int:
        """How many of the values lie beyond a bound, and are clipped to it.

        Args:
            values: numbers.
            counts: how many rows have each; 1 where left out.

        Returns:
            The number of rows.

        >>> Lattice(0, 2, 1).outside([-0.1, 1.0, 5.0])
        2
        """
        x = self._transformed(numbers(values))
        beyond = (x < self.low) | (x > self.high)
        return int(np.sum(beyond if counts is None else np.asarray(counts)[beyond]))

    def beyond(self, values: npt.ArrayLike) -> int:
        """How many of the values lie more than a step beyond a bound.

        Args:
            values: numbers.

        Returns:
            How many there are: many of them say that the bounds are those of another column.
        """
        x = self._transformed(numbers(values))
        return int(np.sum((x < self.low - self.step) | (x > self.high + self.step)))

    def _transformed(self, x: Array) -> Array:
        if self.transform is None:
            return x
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(x > 0, np.log(np.maximum(x, 0.0)), -np.inf)  # what has no logarithm is below every bound

    @classmethod
    def logarithmic(cls, low: float, high: float, step: float) -> "Lattice":
        """Points for the logarithms of values from `low` to `high`; the bounds move outwards to whole steps.

        Args:
            low: the least value, above 0.
            high: the largest.
            step: between logarithms of neighbouring points.

        Returns:
            A lattice with `transform="log"`.
        """
        low, high = (real(n, v, "a finite number above 0") for n, v in (("low", low), ("high", high)))
        if not 0 < low < high:
            raise InputError(
                f"bounds of a logarithm must be two numbers above 0, the lower first, got ({low:g}, {high:g})"
            )
        unit = exact(real("step", step, "a finite number above 0"))
        if unit <= 0:
            raise InputError(f"step must be a number above 0, got {step!r}")
        first = math.floor(Fraction(math.log(low)) / unit)
        last = max(first + 1, math.ceil(Fraction(math.log(high)) / unit))
        return cls(float(first * unit), float(last * unit), float(step), "log")

    @classmethod
    def read(
        cls,
        values: npt.ArrayLike,
        *,
        bounds: tuple[float, float] | None = None,
        step: float | None = None,
        transform: str | None = None,
    ) -> "Reading":
        """The lattice asked for, with what was not said read from the values: see `takifugu.laws.lattice`.

        Args:
            values: the column.
            bounds: the least and the largest point; those of the values where left out.
            step: between points; the values' own where left out.
            transform: "log" for a lattice of logarithms.

        Returns:
            The lattice with what the data decided of it, which is no public knowledge.
        """

        return read(values, bounds=bounds, step=step, transform=transform)


def numbers(values: npt.ArrayLike) -> Array:
    """The values as floats, none of them NaN; the error shows none of them."""
    x = np.asarray(values)
    if x.dtype.kind not in "fiu":
        raise InputError(f"values must be numbers, got {x.dtype}")
    x = x.astype(np.float64)
    if np.isnan(x).any():
        raise InputError("values must be numbers, and some are missing: leave those rows out")
    return x


def is_beyond_digits(step: float | Fraction, low: float, high: float) -> bool:
    """Whether floats of this size lie too far apart for such a step.

    Args:
        step: between points.
        low: the least of them.
        high: the largest.

    Returns:
        True where neighbouring points could be one float, so that nothing on such a lattice would be exact.
    """
    return bool(step < 8 * math.ulp(max(abs(low), abs(high))))


def exact(number: float) -> Fraction:
    """The decimal that a float prints as.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def round_step(span: Fraction, most: int) -> Fraction:
    """The least of 1, 2 or 5 times a power of ten that goes at most `most` times into the span.

    Args:
        span: how far it reaches.
        most: how many steps may cover it.

    Returns:
        The step, as an exact fraction.

    >>> round_step(Fraction(73), 10)
    Fraction(10, 1)
    """
    size = span / most
    # Logarithms of whole numbers: the quotient itself may be below the least float.
    power = math.floor(math.log10(size.numerator) - math.log10(size.denominator)) - 1
    while True:
        for digit in _ROUND:
            unit = digit * Fraction(10) ** power
            if span / unit <= most:
                return unit
        power += 1


def _frozen(values: Iterable[float | Fraction]) -> Array:
    array = np.array(list(values), dtype=np.float64) + 0.0
    array.setflags(write=False)
    return array


# Reading a lattice off data, where bounds or step are not given.
#
# Bounds that follow the data tell something about its extremes, so they are moved outwards to round numbers; a reader
# should still be told (`takifugu.problems.diagnostics.LatticeRead`).

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

    Args:
        values: the column, none of it missing.
        bounds: the least and the largest point; those of the values where left out.
        step: between points; the largest that leads to every value where left out.
        transform: "log" to measure bounds and steps in logarithms.

    Returns:
        The lattice, and which of its numbers the values decided.

    Raises:
        InputError: for bounds that are no range, a step that does not divide it, or values without a logarithm.

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


def _logarithmic(values: npt.ArrayLike, bounds: object, step: float | None) -> Reading:
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


def _ends(bounds: object) -> tuple[float, float]:
    if isinstance(bounds, str) or not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != 2:
        raise InputError(f"bounds must be two numbers (low, high), got {bounds!r}")
    low, high = (real(name, end, "a finite number") for name, end in zip(("low", "high"), bounds, strict=True))
    if not low < high:
        raise InputError(f"bounds must be a lower and a higher number, got ({low:g}, {high:g}): turn them round")
    return low, high


def _step(step: object) -> Fraction:
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


def spacing(values: npt.ArrayLike) -> tuple[float, float] | None:
    """The largest step that leads from each number to each other, and where a multiple of it begins; None for no such.

    The numbers are read as the decimals that they print as. Steps that make more points than a lattice has are none:
    any two numbers with a few digits share one of those.

    >>> spacing([3, 0.5, 8])
    (2.5, 0.5)
    """
    x = np.unique(np.asarray(values, dtype=np.float64))
    if len(x) < 2 or not np.isfinite(x).all():
        return None
    step = _common_step(x)
    if step is None or (exact(float(x[-1])) - exact(float(x[0]))) / step >= MOST_POINTS:
        return None
    offset = exact(float(x[0])) % step
    if is_beyond_digits(step, float(x[0]), float(x[-1])) or exact(float(offset)) != offset:
        return None
    return float(step), float(offset)


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
