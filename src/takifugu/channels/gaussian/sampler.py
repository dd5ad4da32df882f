"""The exact rounded Gaussian: float-safe noise, tens of millions of values a second.

What comes out is x + θN, the exact real sum with N a true standard normal, rounded to a multiple of Λ.
Rounding is post-processing, so the guarantee of θ is untouched, and no trace of a float64 addition is left to
read. `proofs/sampler.md` proves the distribution; nothing but IEEE additions, products and comparisons
decides a value here.
"""

import math

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, noise
from takifugu.channels.bits import BitSource, OsBits, read_exactly
from takifugu.channels.gaussian.exact_rounding import rounded_exactly
from takifugu.channels.gaussian.grid import Grid, default_granularity
from takifugu.channels.gaussian.normal_table import OFFSET, SHIFT, normal_table
from takifugu.errors import InputError

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
    """Λ·round((x + θN)/Λ) for each x, with N independent standard normals: a new array of the shape of `x`.

    `granularity` is Λ, a power of two within a factor 2⁴⁰ of θ; see `default_granularity`. Above 2⁵³Λ some
    multiples are no float64, and the nearest float64 stands for them: a function of the multiple alone. With
    θ = 0 nothing is drawn, and x comes back as it is, or rounded to the granularity where one is given.
    Values that noise could carry out of float64's range are refused before a bit is drawn. `source` gives the
    bits, by default the operating system. `exact_only` settles every value in ball arithmetic: the same
    values from the same bits, a thousand times slower.

    >>> y = rounded_gaussian([1.0, 2.0], theta=0.5, granularity=0.25)
    >>> bool((y % 0.25 == 0).all())
    True
    """
    theta = noise(theta)
    values, grid = checked(x, theta=theta, granularity=granularity)
    if grid is None:
        return values + 0.0  # a copy, without negative zeros
    flat = values.reshape(-1)
    out = np.empty_like(flat)
    drawing = None if theta == 0 else Drawing(theta, grid, OsBits() if source is None else source, exact_only)
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

    def __init__(self, theta: float, grid: Grid, source: BitSource, exact_only: bool) -> None:
        """Prepare for noise `theta` on a grid; `exact_only` leaves nothing settled by float64."""
        self.theta, self.grid, self.source = theta, grid, source
        self.tau = math.ldexp(theta, -grid.exponent)
        if not self.tau > 0:  # a processor set to drop subnormal numbers would publish the bare values
            raise InputError(f"theta={theta!r} is lost in this process's arithmetic: give values in a smaller unit")
        self.table = normal_table()
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
                float(x[i]), int(words[i]), self.source, theta=self.theta, granularity=self.grid.granularity
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
