"""Exact rounded noise: float-safe draws of any symmetric shape, tens of millions of values a second.

What comes out is x + θN, the exact real sum with N a true draw of the shape (a standard normal, a Laplace variable),
rounded to a multiple of Λ. Rounding is post-processing, so the guarantee of θ is untouched, and no trace of a float64
addition is left to read. `proofs/sampler.md` proves the distribution; nothing but IEEE additions, products and
comparisons decides a value here.
"""

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, noise, real
from takifugu.channels.sampling import BitSource, OsBits, read_exactly
from takifugu.divergences import working_precision
from takifugu.errors import InputError

if TYPE_CHECKING:
    from flint import arb

# The size of a draw from 31 random bits, in four float64 operations with a certified error.
#
# |N| = Q(U) with U uniform on (0, 1) and Q the upper quantile: the size is above Q(u) with probability u. The table
# cuts u > 2⁻¹⁶ into segments, each an equal part of an octave, and holds a parabola for each. Parabola and error bound
# are both made by ball arithmetic when the table is first needed, so nothing rests on a file or on a platform's
# logarithm.
# `proofs/sampler.md` derives every term of the bound.

BITS = 31  # the part of a 32-bit word that chooses the size of the draw; the last bit is its sign
_OCTAVES = 16  # smaller u, one draw in 65,536, are left to ball arithmetic
_CUTS = 7  # each octave has 2⁷ segments
_PRECISION = 128

SHIFT = 52 - _CUTS  # a float64 shifted right by this leaves its exponent and the segment in its octave
OFFSET = ((1023 + BITS - _OCTAVES) << _CUTS) - 1  # so that the first segment is row 1


class Shape(ABC):
    """The law of a symmetric noise of size 1, by the upper quantile Q of its absolute value."""

    @abstractmethod
    def derivatives(self, a: "arb") -> "tuple[arb, arb, arb, arb, arb]":
        """Q(a·2⁻³¹) and its first four derivatives with respect to a, as balls.

        Those but the value must grow in size towards small a, so that a segment's left end bounds them.
        """

    @abstractmethod
    def survival(self, size: "arb") -> "arb":
        """The probability that a draw is larger in size, for a ball that is above 0."""

    @abstractmethod
    def quantile(self, size: int, known: int) -> float:
        """About Q at the middle of [size, size + 1]·2^-known. Nothing rests on it but how long a search takes."""


class Normal(Shape):
    """The standard normal: the size is above t with probability erfc(t/√2)."""

    def derivatives(self, a: "arb") -> "tuple[arb, arb, arb, arb, arb]":
        """See `Shape`."""
        from flint import arb

        q = (a / 2**BITS).erfcinv() * arb(2).sqrt()
        d = -(arb.pi() / 2).sqrt() * (q * q / 2).exp() / 2**BITS
        return q, d, q * d**2, (1 + 2 * q**2) * d**3, (7 * q + 6 * q**3) * d**4

    def survival(self, size: "arb") -> "arb":
        """See `Shape`."""
        from flint import arb

        return (size / arb(2).sqrt()).erfc()

    def quantile(self, size: int, known: int) -> float:
        """See `Shape`."""
        half = (2 * size + 1) / 2 ** (known + 2)  # of the probability, at the middle of the interval
        if half > sys.float_info.min:
            return abs(NormalDist().inv_cdf(half))
        logarithm = known * math.log(2) - math.log(size + 1)
        q = math.sqrt(2 * logarithm)
        for _ in range(3):  # u ≈ √(2/π)·exp(-q²/2)/q, far in the tail
            q = math.sqrt(2 * (logarithm - math.log(q) - math.log(math.pi / 2) / 2))
        return q


NORMAL = Normal()


@dataclass(frozen=True)
class DrawTable:
    """Row by row c₀ + c₁a + c₂a², and how far it is from Q(A·2⁻³¹) for every real A within ½ of a.

    Row 0 is for the u that the table leaves out: its error is infinite.
    """

    c0: Array
    c1: Array
    c2: Array
    error: Array

    def rows(self, a: Array) -> npt.NDArray[np.int64]:
        """The row for each a; 0 for what the table leaves out."""
        found: npt.NDArray[np.int64] = (a.view(np.int64) >> SHIFT) - OFFSET
        return found.clip(min=0)


@lru_cache(maxsize=8)
def table_of(shape: Shape) -> DrawTable:
    """Build the table and certify it, once in a process for each shape."""
    rows = [(0.0, 0.0, 0.0, np.inf)]
    with working_precision(_PRECISION):
        for octave in range(BITS - _OCTAVES, BITS):
            width = 2 ** (octave - _CUTS)
            rows.extend(_segment(shape, 2**octave + k * width, width) for k in range(2**_CUTS))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    for column in columns:
        column.setflags(write=False)
    return DrawTable(*columns)


def _segment(shape: Shape, start: int, width: int) -> tuple[float, float, float, float]:
    """The parabola on [start, start + width] and its certified error."""
    from flint import arb

    slope, _, _, fourth = shape.derivatives(arb(start))[1:]  # the largest on the segment: all grow towards the tail
    h = arb(width) / 2
    centre = arb(start) + h
    q, q1, q2, q3, _ = shape.derivatives(centre)
    # Taylor's cubic with t³ replaced by ¾h²t, its best parabola, at most h³/4 away
    b0, b1, b2 = q, q1 + q3 / 6 * (h * h) * 3 / 4, q2 / 2
    exact = (b0 - b1 * centre + b2 * centre**2, b1 - 2 * b2 * centre, b2)  # in powers of a itself
    c0, c1, c2 = (float(c.mid()) for c in exact)
    end = arb(start + width)
    stored = sum((abs(c - s) * end**k for k, (c, s) in enumerate(zip(exact, (c0, c1, c2), strict=True))), arb(0))
    size = sum((abs(arb(s)) * end**k for k, s in enumerate((c0, c1, c2))), arb(0))
    error = (
        abs(slope) / 2  # the bits not yet drawn
        + abs(q3) / 6 * h**3 / 4  # the cubic term
        + abs(fourth) / 24 * h**4  # Taylor's remainder
        + stored  # coefficients rounded to float64
        + size * arb(2) ** -50  # Horner's rule in float64
    )
    return c0, c1, c2, _above(error)


def _above(ball: "arb") -> float:
    """A float64 above every number of the ball, whichever way the conversion rounds."""
    from flint import arb

    return float((ball * (1 + arb(2) ** -40)).upper())


# One rounded draw in ball arithmetic: the path that is always right, for the values float64 cannot settle.
#
# No quantile is needed. A draw lies below a boundary t exactly when its uniform lies above the survival at t, so the
# cell of the draw is found by comparing its bits with that number at the two edges of the cell, to as many digits and
# with as many fresh bits as it takes.

_MORE_BYTES = 8
_GUARD_BITS = 64  # digits beyond the bits drawn, so that a straddle is the bits' doing and not the arithmetic's


def rounded_exactly(
    x: float, word: int, source: BitSource, *, theta: float, granularity: float, shape: Shape = NORMAL
) -> float:
    """The multiple of `granularity` nearest to x + theta·N, as the nearest float64.

    The 32 bits of `word` (signed) are the sign of N and the first 31 bits of its uniform; `source` gives the
    rest, and is asked only where those leave more than one multiple possible.
    """
    multiple = exact_multiple(x, word, source, theta=theta, granularity=granularity, shape=shape)
    return _nearest_float(multiple, granularity)


def exact_multiple(
    x: float | Fraction, word: int, source: BitSource, *, theta: float, granularity: float, shape: Shape = NORMAL
) -> int:
    """How many times `granularity` the multiple nearest to x + theta·N is; x may be a fraction over a power of two."""
    sign, size = (-1, ~word) if word < 0 else (1, word)
    problem = _Problem.of(shape, sign * x, theta, granularity)
    known = BITS
    while (cell := _cell(problem, size, known)) is None:
        size = size << 8 * _MORE_BYTES | int.from_bytes(read_exactly(source, _MORE_BYTES), "big")
        known += 8 * _MORE_BYTES
    return sign * cell


@dataclass(frozen=True)
class _Problem:
    """x, theta and the granularity as integers in one common unit, a power of two."""

    shape: Shape
    x: int
    theta: int
    granularity: int

    @classmethod
    def of(cls, shape: Shape, *values: float | Fraction) -> "_Problem":
        ratios = [value.as_integer_ratio() for value in values]
        unit = max(denominator for _, denominator in ratios)
        return cls(shape, *(numerator * (unit // denominator) for numerator, denominator in ratios))


def _cell(problem: _Problem, size: int, known: int) -> int | None:
    """The one multiple that every U in [size, size + 1]·2^-known leads to, or None where there are more."""
    if size == 0:
        return None  # U may still be as small as it likes, and the draw as large
    with working_precision(known + _GUARD_BITS):
        cell, draw = _guess(problem, size, known), _Draw(problem, size, known)
        while (side := draw.side(cell)) > 0:
            cell += 1
        if side == 0:
            return None
        while (side := draw.side(cell - 1)) < 0:
            cell -= 1
        return cell if side > 0 else None


class _Draw:
    """A draw of which the first bits are known, at the precision in force."""

    def __init__(self, problem: _Problem, size: int, known: int) -> None:
        from flint import arb

        self.problem, self.size = problem, size
        self.deviation = arb(2 * problem.theta)
        self.scale = arb(2) ** known

    def side(self, cell: int) -> int:
        """1 where the draw lies above the upper edge of the cell, -1 where below, 0 where that is open."""
        from flint import arb

        edge = (2 * cell + 1) * self.problem.granularity - 2 * self.problem.x
        if edge <= 0:
            return 1  # the size of a draw is never below 0
        level = self.problem.shape.survival(arb(edge) / self.deviation) * self.scale
        if level > self.size + 1:
            return 1
        return -1 if level < self.size else 0


def _guess(problem: _Problem, size: int, known: int) -> int:
    """A multiple near the draw. Nothing rests on it but the number of steps that follow."""
    up, down = problem.shape.quantile(size, known).as_integer_ratio()
    scale = problem.granularity * down
    return (2 * (problem.x * down + problem.theta * up) + scale) // (2 * scale)


def _nearest_float(multiple: int, granularity: float) -> float:
    """multiple·granularity rounded once to float64; the largest float64 where there is none."""
    numerator, denominator = granularity.as_integer_ratio()
    try:
        return multiple * numerator / denominator
    except OverflowError:
        return math.copysign(sys.float_info.max, multiple)


# The multiples of Λ, a power of two, on which a release lands.

_FINENESS = 10  # the default lies between θ/2¹¹ and θ/2¹⁰: rounding adds less than 10⁻⁷ of the noise's variance
_SMALLEST_EXPONENT = -1074  # every float64 is a multiple of 2^-1074


def default_granularity(theta: float) -> float:
    """The granularity of a release that names none: θ/1024, rounded down to a power of two.

    >>> default_granularity(1.0) == 1 / 1024
    True
    """
    theta = noise(theta)
    if theta == 0:
        raise InputError("theta is 0: without noise there is no granularity to choose")
    return math.ldexp(1.0, max(math.frexp(theta)[1] - 1 - _FINENESS, _SMALLEST_EXPONENT))


class Grid:
    """The multiples of one power of two."""

    def __init__(self, granularity: float) -> None:
        """Check that the granularity is a power of two; others cannot be divided by exactly."""
        number = real("granularity", granularity, "a positive power of two, such as 0.25")
        significand, exponent = math.frexp(number)
        if significand != 0.5:
            raise InputError(f"granularity must be a positive power of two, such as 0.25, got {granularity!r}")
        self.granularity = number
        self.exponent = exponent - 1
        # 1/Λ can be too large for a float64; its two factors never are.
        self._inverse = (
            math.ldexp(1.0, -(self.exponent // 2)),
            math.ldexp(1.0, self.exponent // 2 - self.exponent),
        )

    def split(self, x: Array, offset: Array, base: Array) -> None:
        """Write x as base + offset·Λ: base the nearest multiple of Λ, |offset| at most a half.

        Both are exact but for an offset below 2^-1021, whose error is less than that (`proofs/sampler.md`,
        lemma 1).
        """
        np.multiply(x, self._inverse[0], out=offset)
        offset *= self._inverse[1]
        np.rint(offset, out=base)
        offset -= base
        base *= self.granularity
        beyond = np.abs(x) >= 2.0**53 * self.granularity
        if beyond.any():  # such an x is a multiple of Λ already, and x/Λ may not be a float64
            offset[beyond] = 0.0
            base[beyond] = x[beyond]


_FARTHEST = 40  # how far from θ a granularity may be, as an exponent of two
CHUNK = 16_384  # values at a time, so that the working arrays stay in the processor's cache
_REACH = 64.0  # room for the noise below the largest float64
_SLACK = 2.0**-48  # more than float64 loses after the table, per unit of θ/Λ


def rounded_gaussian(
    x: npt.ArrayLike,
    *,
    theta: float,
    granularity: float | None = None,
    source: BitSource | None = None,
    exact_only: bool = False,
) -> Array:
    """`rounded` with standard normals.

    >>> y = rounded_gaussian([1.0, 2.0], theta=0.5, granularity=0.25)
    >>> bool((y % 0.25 == 0).all())
    True
    """
    return rounded(x, NORMAL, theta=theta, granularity=granularity, source=source, exact_only=exact_only)


def rounded(
    x: npt.ArrayLike,
    shape: Shape,
    *,
    theta: float,
    granularity: float | None = None,
    source: BitSource | None = None,
    exact_only: bool = False,
) -> Array:
    """Λ·round((x + θN)/Λ) for each x, with N independent draws of the shape: a new array of the shape of `x`.

    `granularity` is Λ, a power of two within a factor 2⁴⁰ of θ; see `default_granularity`. Above 2⁵³Λ some
    multiples are no float64, and the nearest float64 stands for them: a function of the multiple alone. With
    θ = 0 nothing is drawn, and x comes back as it is, or rounded to the granularity where one is given.
    Values that noise could carry out of float64's range are refused before a bit is drawn. `source` gives the
    bits, by default the operating system. `exact_only` settles every value in ball arithmetic: the same
    values from the same bits, a thousand times slower.
    """
    theta = noise(theta)
    values, grid = checked(x, theta=theta, granularity=granularity)
    if grid is None:
        return values + 0.0  # a copy, without negative zeros
    flat = values.reshape(-1)
    out = np.empty_like(flat)
    drawing = None if theta == 0 else Drawing(theta, grid, OsBits() if source is None else source, exact_only, shape)
    with np.errstate(all="ignore"):  # overflow and underflow here are foreseen; see the proof
        for start in range(0, len(flat), CHUNK):
            part = slice(start, start + CHUNK)
            if drawing is None:
                grid.split(flat[part], np.empty_like(out[part]), out[part])
            else:
                drawing.fill(flat[part], out[part])
    out += 0.0  # a negative zero would tell where it came from
    return out.reshape(values.shape)


def checked(x: npt.ArrayLike, *, theta: float, granularity: float | None = None) -> tuple[Array, Grid | None]:
    """The values as float64 and the grid they will land on, or an error: all that can be refused, before a draw.

    The grid is None where nothing is drawn and nothing rounded.
    """
    values, theta = _finite(x), noise(theta)
    if theta == 0 and granularity is None:
        return values, None
    grid = Grid(default_granularity(theta) if granularity is None else granularity)
    far = abs(math.frexp(theta)[1] - 1 - grid.exponent) > _FARTHEST
    if theta > 0 and far:
        raise InputError(
            f"granularity={grid.granularity!r} is too far from theta={theta!r}: it must lie within a "
            f"factor 2⁴⁰ of it; leave it out to use {default_granularity(theta)!r}"
        )
    top = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(2 * (top + _REACH * theta + grid.granularity)):
        raise InputError(
            f"values this large with theta={theta:g} and granularity={grid.granularity:g} could "
            f"overflow: give them in a larger unit"
        )
    return values, grid


class Drawing:
    """One call's constants and working arrays."""

    def __init__(self, theta: float, grid: Grid, source: BitSource, exact_only: bool, shape: Shape = NORMAL) -> None:
        """Prepare for noise of size `theta` on a grid; `exact_only` leaves nothing settled by float64."""
        self.theta, self.grid, self.source, self.shape = theta, grid, source, shape
        self.tau = math.ldexp(theta, -grid.exponent)
        if not self.tau > 0:  # a processor set to drop subnormal numbers would publish the bare values
            raise InputError(f"theta={theta!r} is lost in this process's arithmetic: give values in a smaller unit")
        self.table = table_of(shape)
        # How far from its multiple a sum may lie and still be known to round there; negative: never known.
        self.safe = 0.5 - self.tau * self.table.error * (1 + 2.0**-40) - _SLACK * (self.tau + 1)
        if exact_only:
            self.safe = np.full_like(self.safe, -1.0)
        self.work = np.empty((4, CHUNK))
        self.rows = np.empty(CHUNK, dtype=np.int64)

    def fill(self, x: Array, out: Array) -> None:
        """Draw for each of at most `CHUNK` values."""
        n = len(x)
        words = np.frombuffer(read_exactly(self.source, 4 * n), dtype="<i4")
        g, a, y, t = self.work[:, :n]
        rows = self.rows[:n]
        g[:] = words
        g += 0.5  # the middle of what the bits not yet drawn leave open
        self._draw(g, a, y, t, rows)
        offset, base = g, a  # the same memory, now free
        self.grid.split(x, offset, base)
        y *= self.tau
        y += offset
        np.rint(y, out=t)
        np.multiply(t, self.grid.granularity, out=out)
        out += base
        y -= t
        np.abs(y, out=y)
        np.take(self.safe, rows, out=t, mode="clip")
        for i in np.flatnonzero(~(y <= t)):
            out[i] = rounded_exactly(
                float(x[i]),
                int(words[i]),
                self.source,
                theta=self.theta,
                granularity=self.grid.granularity,
                shape=self.shape,
            )

    def steps(self, words: npt.NDArray[np.int32], offset: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The multiple of Λ that a draw ends on, counted from one that lies `offset` below the value.

        Also whether that is settled; where not, `exact_multiple` must be asked. The offset, in units of Λ, is at most a
        half and may be off by 2⁻⁵⁴ (`proofs/vector-sampler.md`). At most `CHUNK` values at a time.
        """
        n = len(words)
        g, a, y, t = self.work[:, :n]
        rows = self.rows[:n]
        g[:] = words
        g += 0.5
        self._draw(g, a, y, t, rows)
        y *= self.tau
        y += offset
        ends = np.rint(y)
        y -= ends
        np.abs(y, out=y)
        np.take(self.safe, rows, out=t, mode="clip")
        return ends, y <= t

    def _draw(self, g: Array, a: Array, y: Array, t: Array, rows: npt.NDArray[np.int64]) -> None:
        """Write to y the draw that the table gives for g, and to rows the rows that gave it."""
        np.abs(g, out=a)
        np.right_shift(a.view(np.int64), SHIFT, out=rows)
        rows -= OFFSET  # what is not in the table is clipped to row 0 by every take
        np.take(self.table.c2, rows, out=y, mode="clip")
        y *= a
        np.take(self.table.c1, rows, out=t, mode="clip")
        y += t
        y *= a
        np.take(self.table.c0, rows, out=t, mode="clip")
        y += t
        np.copysign(y, g, out=y)


def _finite(x: npt.ArrayLike) -> Array:
    if isinstance(x, np.ma.MaskedArray):
        raise InputError("a masked array holds values it hides: give x.compressed(), or x.filled(value)")
    try:
        given = np.asarray(x)
    except ValueError as error:
        raise InputError(f"the values do not form an array: {error}") from None
    if given.dtype.kind not in "fiu":
        raise InputError(f"the values must be numbers, got an array of type {given.dtype}: convert them to float")
    values: Array = np.ascontiguousarray(given, dtype=np.float64).reshape(given.shape)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"the values must be finite, got {values.reshape(-1)[bad[0]]} at position {int(bad[0])}: "
            f"remove such values before publishing"
        )
    return values
