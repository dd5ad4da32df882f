"""One rounded draw in ball arithmetic: the path that is always right, for the values float64 cannot settle.

No quantile is needed. A normal draw lies below a boundary t exactly when its uniform lies above erfc(t/√2),
so the cell of the draw is found by comparing its bits with that number at the two edges of the cell, to as
many digits and with as many fresh bits as it takes.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from takifugu.channels.bits import BitSource, read_exactly
from takifugu.channels.gaussian.normal_table import BITS
from takifugu.divergences.proved.precision import working_precision

_MORE_BYTES = 8
_GUARD_BITS = 64  # digits beyond the bits drawn, so that a straddle is the bits' doing and not the arithmetic's


def rounded_exactly(x: float, word: int, source: BitSource, *, theta: float, granularity: float) -> float:
    """The multiple of `granularity` nearest to x + theta·N, as the nearest float64.

    The 32 bits of `word` (signed) are the sign of N and the first 31 bits of its uniform; `source` gives the
    rest, and is asked only where those leave more than one multiple possible.
    """
    return _nearest_float(exact_multiple(x, word, source, theta=theta, granularity=granularity), granularity)


def exact_multiple(x: float | Fraction, word: int, source: BitSource, *, theta: float, granularity: float) -> int:
    """How many times `granularity` the multiple nearest to x + theta·N is; x may be a fraction over a power of two."""
    sign, size = (-1, ~word) if word < 0 else (1, word)
    problem = _Problem.of(sign * x, theta, granularity)
    known = BITS
    while (cell := _cell(problem, size, known)) is None:
        size = size << 8 * _MORE_BYTES | int.from_bytes(read_exactly(source, _MORE_BYTES), "big")
        known += 8 * _MORE_BYTES
    return sign * cell


@dataclass(frozen=True)
class _Problem:
    """x, theta and the granularity as integers in one common unit, a power of two."""

    x: int
    theta: int
    granularity: int

    @classmethod
    def of(cls, *values: float | Fraction) -> "_Problem":
        ratios = [value.as_integer_ratio() for value in values]
        unit = max(denominator for _, denominator in ratios)
        return cls(*(numerator * (unit // denominator) for numerator, denominator in ratios))


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
        self.deviation: Any = arb(2 * problem.theta) * arb(2).sqrt()
        self.scale: Any = arb(2) ** known

    def side(self, cell: int) -> int:
        """1 where the draw lies above the upper edge of the cell, -1 where below, 0 where that is open."""
        from flint import arb

        edge = (2 * cell + 1) * self.problem.granularity - 2 * self.problem.x
        if edge <= 0:
            return 1  # the size of a draw is never below 0
        level: Any = (arb(edge) / self.deviation).erfc() * self.scale
        if level > self.size + 1:
            return 1
        return -1 if level < self.size else 0


def _guess(problem: _Problem, size: int, known: int) -> int:
    """A multiple near the draw. Nothing rests on it but the number of steps that follow."""
    up, down = _quantile(size, known).as_integer_ratio()
    scale = problem.granularity * down
    return (2 * (problem.x * down + problem.theta * up) + scale) // (2 * scale)


def _quantile(size: int, known: int) -> float:
    half = (2 * size + 1) / 2 ** (known + 2)  # of the probability, at the middle of the interval
    if half > sys.float_info.min:
        return abs(NormalDist().inv_cdf(half))
    logarithm = known * math.log(2) - math.log(size + 1)
    q = math.sqrt(2 * logarithm)
    for _ in range(3):  # u ≈ √(2/π)·exp(-q²/2)/q, far in the tail
        q = math.sqrt(2 * (logarithm - math.log(q) - math.log(math.pi / 2) / 2))
    return q


def _nearest_float(multiple: int, granularity: float) -> float:
    """multiple·granularity rounded once to float64; the largest float64 where there is none."""
    numerator, denominator = granularity.as_integer_ratio()
    try:
        return multiple * numerator / denominator
    except OverflowError:
        return math.copysign(sys.float_info.max, multiple)
