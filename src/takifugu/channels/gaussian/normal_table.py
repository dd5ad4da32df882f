"""The size of a normal draw from 31 random bits, in four float64 operations with a certified error.

|N| = Q(U) with U uniform on (0, 1) and Q the upper quantile, erfc(Q(u)/√2) = u. The table cuts u > 2⁻¹⁶ into
segments, each an equal part of an octave, and holds a parabola for each. Parabola and error bound are both
made by ball arithmetic when the table is first needed, so nothing rests on a file or on a platform's
logarithm. `proofs/sampler.md` derives every term of the bound.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.proved.precision import working_precision

BITS = 31  # the part of a 32-bit word that chooses the size of the draw; the last bit is its sign
_OCTAVES = 16  # smaller u, one draw in 65,536, are left to ball arithmetic
_CUTS = 7  # each octave has 2⁷ segments
_PRECISION = 128

SHIFT = 52 - _CUTS  # a float64 shifted right by this leaves its exponent and the segment in its octave
OFFSET = ((1023 + BITS - _OCTAVES) << _CUTS) - 1  # so that the first segment is row 1


@dataclass(frozen=True)
class NormalTable:
    """Row by row c₀ + c₁a + c₂a², and how far it is from Q(A·2⁻³¹) for every real A within ½ of a.

    Row 0 is for the u that the table leaves out: its error is infinite.
    """

    c0: Array
    c1: Array
    c2: Array
    error: Array


@lru_cache(maxsize=1)
def normal_table() -> NormalTable:
    """Build the table and certify it, once in a process."""
    rows = [(0.0, 0.0, 0.0, np.inf)]
    with working_precision(_PRECISION):
        for octave in range(BITS - _OCTAVES, BITS):
            width = 2 ** (octave - _CUTS)
            rows.extend(_segment(2**octave + k * width, width) for k in range(2**_CUTS))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    for column in columns:
        column.setflags(write=False)
    return NormalTable(*columns)


def _segment(start: int, width: int) -> tuple[float, float, float, float]:
    """The parabola on [start, start + width] and its certified error."""
    from flint import arb

    slope, _, _, fourth = _derivatives(arb(start))[1:]  # the largest on the segment: all grow towards the tail
    h = arb(width) / 2
    centre = arb(start) + h
    q, q1, q2, q3, _ = _derivatives(centre)
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


def _derivatives(a: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Q(a·2⁻³¹) and its first four derivatives with respect to a, as balls."""
    from flint import arb

    q = (a / 2**BITS).erfcinv() * arb(2).sqrt()
    d = -(arb.pi() / 2).sqrt() * (q * q / 2).exp() / 2**BITS
    return q, d, q * d**2, (1 + 2 * q**2) * d**3, (7 * q + 6 * q**3) * d**4


def _above(ball: Any) -> float:
    """A float64 above every number of the ball, whichever way the conversion rounds."""
    from flint import arb

    return float((ball * (1 + arb(2) ** -40)).upper())
