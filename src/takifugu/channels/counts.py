"""Rows of whole numbers that sum to a power of two: checked, and made from probabilities."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError

Integers = npt.NDArray[np.int64]

BITS = 32
MOST_BITS = 62


def checked_counts(given: Any, inputs: int, outputs: int) -> Integers:
    """The counts as a new array, inputs by outputs, whose rows all sum to one power of two; or an error."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise InputError("counts must be a table: every row as long as the first") from None
    if array.dtype.kind not in "iu" and not (
        array.dtype.kind == "O" and all(type(count) is int for count in array.reshape(-1))
    ):
        raise InputError(f"counts must be whole numbers, got an array of type {array.dtype}")
    if array.shape != (inputs, outputs):
        raise InputError(f"counts must have a row per input and a column per output, {(inputs, outputs)}")
    if array.min() < 0 or array.max() > 1 << MOST_BITS:
        raise InputError(f"counts must lie between 0 and 2**{MOST_BITS}")
    counts: Integers = array.astype(np.int64)
    require_one_total(counts, lambda part: part.sum(axis=1))
    return counts


def require_one_total(counts: Integers, summed: Callable[[Integers], Integers]) -> None:
    """Refuse rows that do not all sum to one power of two; `summed` adds up each row."""
    # In two halves, because a row of large counts that does not sum to what it should may overflow an int64.
    high, low = (summed(part).tolist() for part in (counts >> 31, counts & 0x7FFFFFFF))
    totals = {(a << 31) + b for a, b in zip(high, low, strict=True)}
    total = totals.pop()
    if totals or total & (total - 1) or not 0 < total <= 1 << MOST_BITS:
        raise InputError(f"the counts of every input must sum to one power of two, at most 2**{MOST_BITS}")


def whole_rows(matrix: Array, bits: int = BITS) -> Integers:
    """Each row (0 or more, not all 0) in integers that sum to `1 << bits`; a zero stays zero.

    No entry is off by more than one unit, but for the largest of a row, which takes what float64 lost.
    """
    with np.errstate(under="ignore"):
        shares = matrix / matrix.sum(axis=1, keepdims=True)
        ideal = np.ldexp(shares, bits)
    counts: Integers = np.floor(ideal).astype(np.int64)
    # Float64 holds 53 bits: with more asked for, or with a sum that came out a little above one, the remainder
    # may be negative or larger than the row. The largest entry, at least a 1/m of the whole, takes that.
    missing = (1 << bits) - counts.sum(axis=1)
    rank = np.argsort(np.argsort(counts - ideal, axis=1, kind="stable"), axis=1)  # 0: the largest fraction
    fractional = counts < ideal
    up = fractional & (rank < missing[:, None])
    counts += up
    row = np.arange(len(counts))
    counts[row, counts.argmax(axis=1)] += (1 << bits) - counts.sum(axis=1)
    return counts
