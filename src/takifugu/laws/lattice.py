"""The values that may be published: equally spaced points between public bounds.

What is published starts from round(clip(x)), so a law is a list of masses on the points: it has no tail that nobody
saw, and nothing below the step is told.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real
from takifugu.errors import InputError

if TYPE_CHECKING:
    from takifugu.laws.reading import Reading

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

    def __reduce__(self) -> tuple[Any, ...]:
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
        """
        # Comparing with edges that are floats once and for all leaves nothing to the rounding of a division.
        return np.searchsorted(self.edges, self._transformed(numbers(values)), side="right")

    def snap(self, values: npt.ArrayLike) -> Array:
        """round(clip(x)): the point that each value goes to, a value halfway to the higher one; NaN stays NaN.

        >>> Lattice(0, 20, 1).snap([3.4, 3.5, -7.0, 99.0]).tolist()
        [3.0, 4.0, 0.0, 20.0]
        """
        x = np.asarray(values, dtype=np.float64)
        missing = np.isnan(x)  # which would sort behind every edge, and be published as the highest value
        snapped: Array = self.points[self.index(np.where(missing, 0.0, x))]
        return np.where(missing, np.nan, snapped)

    def count(self, values: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> Array:
        """How many of the values go to each point."""
        where = self.index(values)
        weights = None if counts is None else np.asarray(counts, dtype=np.float64)
        return np.bincount(where, weights=weights, minlength=len(self)).astype(np.float64)

    def outside(self, values: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> int:
        """How many of the values lie beyond a bound, and are clipped to it."""
        x = self._transformed(numbers(values))
        beyond = (x < self.low) | (x > self.high)
        return int(np.sum(beyond if counts is None else np.asarray(counts)[beyond]))

    def beyond(self, values: npt.ArrayLike) -> int:
        """How many of the values lie more than a step beyond a bound."""
        x = self._transformed(numbers(values))
        return int(np.sum((x < self.low - self.step) | (x > self.high + self.step)))

    def _transformed(self, x: Array) -> Array:
        if self.transform is None:
            return x
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(x > 0, np.log(np.maximum(x, 0.0)), -np.inf)  # what has no logarithm is below every bound

    @classmethod
    def logarithmic(cls, low: float, high: float, step: float) -> "Lattice":
        """Points for the logarithms of values from `low` to `high`; the bounds move outwards to whole steps."""
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
        """The lattice asked for, with what was not said read from the values: see `takifugu.laws.reading`."""
        from takifugu.laws.reading import read

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
    """Whether floats of this size lie too far apart for such a step."""
    return bool(step < 8 * math.ulp(max(abs(low), abs(high))))


def exact(number: float) -> Fraction:
    """The decimal that a float prints as.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def round_step(span: Fraction, most: int) -> Fraction:
    """The least of 1, 2 or 5 times a power of ten that goes at most `most` times into the span.

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


def _frozen(values: Any) -> Array:
    array = np.array(list(values), dtype=np.float64) + 0.0
    array.setflags(write=False)
    return array
