"""Columns of one row, some published now and some before, each part through a channel of its own: both as one channel.

Given the row the two draws are independent, so the probability of both is the product, exactly, in whole numbers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu.channels.finite import MOST_BITS, FiniteChannel
from takifugu.errors import InputError
from takifugu.laws import Value, key

MOST_ENTRIES = 4_000_000  # of a channel that holds everything published so far


class Split(NamedTuple):
    """The two factors of a channel of rows."""

    first: FiniteChannel
    second: FiniteChannel


def entries(value: Value) -> tuple[Any, ...]:
    """The columns of a value: of one that is no row, itself."""
    return value if isinstance(value, tuple) else (value,)


def row_of(columns: Sequence[Any]) -> Value:
    """The value that has these columns: a row, or of one column the entry itself."""
    return columns[0] if len(columns) == 1 else tuple(columns)


def product(first: FiniteChannel, second: FiniteChannel, rows: Sequence[Value], *, width: int) -> FiniteChannel:
    """The channel of rows whose first `width` columns go through `first` and the others through `second`.

    >>> one = FiniteChannel((1, 2), (1, 2), [[3, 1], [1, 3]])
    >>> both = product(one, FiniteChannel(("a",), ("a",), [[1]]), [(1, "a"), (2, "a")], width=1)
    >>> both.outputs, both.counts.tolist()
    (((1, 'a'), (2, 'a')), [[3, 1], [1, 3]])
    """
    if first.denominator * second.denominator > 1 << MOST_BITS:
        raise InputError(f"the two channels together have more than {MOST_BITS} bits: round the second to fewer")
    left = first.counts[places(first, [row_of(entries(row)[:width]) for row in rows])]
    right = second.counts[places(second, [row_of(entries(row)[width:]) for row in rows])]
    used, new = np.flatnonzero(left.any(axis=0)), np.flatnonzero(right.any(axis=0))
    require_room(len(rows), len(used) * len(new))
    counts = (left[:, used, None] * right[:, None, new]).reshape(len(rows), -1)
    outputs = tuple(row_of((*entries(first.outputs[a]), *entries(second.outputs[b]))) for a in used for b in new)
    return FiniteChannel(tuple(rows), outputs, counts)


def split(channel: FiniteChannel, *, width: int) -> Split:
    """The factors of a channel that `product` made; an error for a channel that has none.

    Neither holds outputs that are never drawn, and both have the smallest denominators they can have.
    """
    sides = (slice(width), slice(width, None))
    firsts, seconds = (_parts([entries(value)[side] for value in channel.inputs]) for side in sides)
    before, after = (_parts([entries(value)[side] for value in channel.outputs]) for side in sides)
    left = _reduced(_summed(channel.counts, before.places, len(before.values)), firsts.places)
    right = _reduced(_summed(channel.counts, after.places, len(after.values)), seconds.places)
    bits = [channel.denominator.bit_length() - 1, *(int(side[0].sum()).bit_length() - 1 for side in (left, right))]
    rest = bits[0] - bits[1] - bits[2]
    if rest >= 0:
        whole = (left[firsts.places][:, before.places] * right[seconds.places][:, after.places]) << rest
        if np.array_equal(whole, channel.counts):
            return Split(
                FiniteChannel(firsts.values, before.values, left), FiniteChannel(seconds.values, after.values, right)
            )
    raise InputError("the channel does not publish its columns independently of one another given the row")


def same_draws(one: FiniteChannel, other: FiniteChannel) -> bool:
    """Whether two channels publish alike: the same probabilities, whatever the denominator and what is never drawn."""
    if {key(v) for v in one.inputs} != {key(v) for v in other.inputs}:
        return False
    told = [
        {key(v): k for k, v in enumerate(channel.outputs) if channel.counts[:, k].any()} for channel in (one, other)
    ]
    if told[0].keys() != told[1].keys():
        return False
    first = one.counts[:, list(told[0].values())]
    second = other.counts[places(other, one.inputs)][:, [told[1][name] for name in told[0]]]
    shift = one.denominator.bit_length() - other.denominator.bit_length()
    return bool(np.array_equal(first << max(0, -shift), second << max(0, shift)))


def places(channel: FiniteChannel, values: Sequence[Value]) -> npt.NDArray[np.intp]:
    """Where each value stands among the channel's inputs."""
    where = {key(value): k for k, value in enumerate(channel.inputs)}
    try:
        return np.array([where[key(value)] for value in values], dtype=np.intp)
    except KeyError:
        raise InputError("a row has values that the channel of what was published before does not know") from None


def require_room(rows: int, outputs: int) -> None:
    """Refuse more than can be proved as one."""
    if rows * outputs > MOST_ENTRIES:
        raise InputError(
            f"everything published together would take {outputs:,} values for {rows:,} kinds of rows, more than can be "
            f"proved at once: open the account with coarser domains, or with fewer columns"
        )


class _Parts(NamedTuple):
    values: tuple[Value, ...]
    places: npt.NDArray[np.intp]


def _parts(columns: Sequence[tuple[Any, ...]]) -> _Parts:
    """The distinct parts in the order in which they come, and which of them each row has."""
    seen: dict[Any, int] = {}
    values: list[Value] = []
    found = np.empty(len(columns), dtype=np.intp)
    for line, part in enumerate(columns):
        value = row_of(part)
        if key(value) not in seen:
            seen[key(value)] = len(values)
            values.append(value)
        found[line] = seen[key(value)]
    return _Parts(tuple(values), found)


def _summed(counts: npt.NDArray[np.int64], where: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.int64]:
    total = np.zeros((len(counts), size), dtype=np.int64)
    np.add.at(total.T, where, counts.T)
    return total


def _reduced(counts: npt.NDArray[np.int64], where: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """One row for each part, the first that has it, without the twos that all entries share."""
    first = np.unique(where, return_index=True)[1]
    kept = counts[first]
    bits = int(np.bitwise_or.reduce(kept, axis=None))
    reduced: npt.NDArray[np.int64] = kept >> ((bits & -bits).bit_length() - 1)
    return reduced
