"""Sums of two floats that keep what rounding takes away.

A component near zero seen from an origin eight million away loses the last thirty bits of its mean, and with them the
distance to its neighbours: a divergence then comes out too small. So a moved mean is two floats, the nearest float and
the rest. Nothing is lost in either function, short of overflow.
"""

from typing import NamedTuple

from takifugu._validation import Array


class Split(NamedTuple):
    """high + low, of which `high` is the float nearest to the sum."""

    high: Array
    low: Array

    def minus(self, high: Array, low: Array) -> Array:
        """The difference to another such sum, to the last digits of the difference itself."""
        return (self.high - high) + (self.low - low)


def exact_sum(a: Array, b: Array) -> Split:
    """a + b with no rounding error at all (Knuth's TwoSum; any order of sizes)."""
    high = a + b
    back = high - a
    return Split(high, (a - (high - back)) + (b - back))
