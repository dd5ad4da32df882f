"""Enclosures: a number known to lie between two floats, and how balls are rounded outwards to one."""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from takifugu.errors import CertificationError

_LARGEST_EXPONENT = 1 << 12  # beyond it a float is 0 or infinite whatever the mantissa
_PLAIN = 1000  # up to it a float has all its digits


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The quantity lies in [lower, upper]; `upper` may be infinite.

    >>> Enclosure(1.0, 1.5).width
    0.5
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """How far apart the ends are; zero where the value is known to be infinite."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower


INFINITE = Enclosure(math.inf, math.inf)
UNKNOWN = Enclosure(0.0, math.inf)  # what is true of every divergence


def dyadic(number: Any) -> Any:
    """A rational number whose denominator is a power of two, as a ball of radius zero."""
    from flint import arb

    return arb((number.numer(), 1 - int(number.denom()).bit_length()))


def outward(divergence: Any) -> Enclosure:
    """A ball or a rational number around a divergence, as floats rounded outwards; it is never negative."""
    from flint import fmpq

    if isinstance(divergence, fmpq):
        value = Fraction(int(divergence.numer()), int(divergence.denom()))
        return Enclosure(_nearest(value, down=True), _nearest(value, down=False))
    if not divergence.is_finite():
        return INFINITE if divergence.is_exact() and divergence > 0 else UNKNOWN
    lower, upper = _rounded(divergence.lower(), down=True), _rounded(divergence.upper(), down=False)
    return Enclosure(max(0.0, lower), max(0.0, upper))


def meet(first: Enclosure, second: Enclosure) -> Enclosure:
    """What two enclosures of the same number prove together."""
    lower, upper = max(first.lower, second.lower), min(first.upper, second.upper)
    if lower > upper:
        raise CertificationError(
            f"{first} and {second} cannot both hold the same divergence: one of them is wrong, and so "
            "nothing is proved; please report the mixtures that led here"
        )
    return Enclosure(lower, upper)


def bits(number: Any) -> float:
    """Roughly log2 of the size of a ball, for choosing a precision; never for a proof."""
    size = abs(number).upper()
    if size.is_zero() or not size.is_finite():
        return -math.inf if size.is_zero() else math.inf
    mantissa, exponent = size.man_exp()
    return float(int(mantissa).bit_length() + int(exponent))


def _rounded(exact: Any, *, down: bool) -> float:
    mantissa, exponent = (int(part) for part in exact.man_exp())
    if mantissa == 0:
        return 0.0
    size = mantissa.bit_length() + exponent
    if abs(size) > _LARGEST_EXPONENT:
        tiny, huge = (0.0, 5e-324), (1.7976931348623157e308, math.inf)
        below, above = tiny if size < 0 else huge
        toward_zero = down == (mantissa > 0)
        return math.copysign(below if toward_zero else above, 1 if mantissa > 0 else -1)
    if abs(size) > _PLAIN:
        return _nearest(Fraction(mantissa) * Fraction(2) ** exponent, down=down)
    beyond = max(0, mantissa.bit_length() - sys.float_info.mant_dig)  # bits that a float has no place for
    shortened = mantissa >> beyond if down else -(-mantissa >> beyond)
    return math.ldexp(shortened, exponent + beyond)


def _nearest(value: Fraction, *, down: bool) -> float:
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if down and near > value:
        return math.nextafter(near, -math.inf)
    if not down and near < value:
        return math.nextafter(near, math.inf)
    return near
