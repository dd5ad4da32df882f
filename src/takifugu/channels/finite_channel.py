"""A finite channel: a table of whole numbers that says how likely each value is published as each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array
from takifugu.channels.listed import ListChannel, values_from
from takifugu.channels.sampling import AliasTables, BitSource, read_exactly
from takifugu.divergences import Extremes, Masses
from takifugu.errors import InputError
from takifugu.laws import Finite, Value, key, plain

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Rows of whole numbers that sum to a power of two: checked, and made from probabilities.

Integers = npt.NDArray[np.int64]

BITS = 32
MOST_BITS = 62


def checked_counts(given: object, inputs: int, outputs: int) -> Integers:
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


@dataclass(frozen=True, eq=False, repr=False)
class FiniteChannel(ListChannel):
    """P(y given x) = counts[x, y]/denominator, exactly: the rows sum to one power of two, up to 2**62.

    >>> channel = FiniteChannel(inputs=("a", "b"), outputs=("a", "b"), counts=[[3, 1], [1, 3]])
    >>> channel.denominator
    4
    >>> channel.apply(Finite(["a"], [1.0])).probabilities.tolist()
    [0.75, 0.25]
    """

    kind: ClassVar[str] = "finite"
    is_table: ClassVar[bool] = True

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    counts: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        """Validate, copy and freeze."""
        self._freeze_lists()
        counts = checked_counts(self.counts, len(self.inputs), len(self.outputs))
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def identity(cls, values: Sequence[object], *, bits: int = BITS) -> "FiniteChannel":
        """The channel that publishes every value as it is, and hides nothing."""
        inputs = plain(values)
        return cls(inputs, inputs, np.eye(len(inputs), dtype=np.int64) << bits)

    @classmethod
    def constant(cls, inputs: Sequence[object], law: Finite, *, bits: int = BITS) -> "FiniteChannel":
        """The channel that publishes a draw from `law` (rounded to the denominator) whatever the value is."""
        row, values = whole_rows(law.probabilities[None, :], bits), plain(inputs, name="inputs")
        return cls(values, law.values, np.repeat(row, len(values), axis=0))

    def as_table(self) -> "FiniteChannel":
        """See `ListChannel`."""
        return self

    def to_state(self) -> dict[str, object]:
        """See `Channel`."""
        inputs, outputs = (form.values_to(side) for side in (self.inputs, self.outputs))
        return {"kind": self.kind, "inputs": inputs, "outputs": outputs, "counts": self.counts.tolist()}

    @classmethod
    def from_state(cls, state: object) -> "FiniteChannel":
        """See `Channel`."""
        content = form.fields(state, ("kind", "inputs", "outputs", "counts"), "'channel'")
        inputs, outputs = values_from(content, "inputs"), values_from(content, "outputs")
        rows = form.exactly(content["counts"], "channel.counts", len(inputs))
        counts = [form.indices(row, "channel.counts", most=len(outputs)) for row in rows]
        return cls(inputs, outputs, checked_counts(counts, len(inputs), len(outputs)))

    @property
    def denominator(self) -> int:
        """What every row sums to, a power of two."""
        return int(self.counts[0].sum())

    @cached_property
    def matrix(self) -> Array:
        """The probabilities as float64, inputs by outputs."""
        matrix: Array = self.counts / self.denominator
        matrix.setflags(write=False)
        return matrix

    @property
    def _identity(self) -> tuple[object, ...]:
        return tuple(map(key, self.inputs)), tuple(map(key, self.outputs)), self.counts.tobytes()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as what it was made of, so that what is unpickled has been validated again."""
        return type(self), (self.inputs, self.outputs, self.counts)

    @cached_property
    def extremes(self) -> Extremes:
        """See `ListChannel.extremes`."""
        return Extremes.of(self.counts, self.denominator)

    def through(self, laws: Array) -> Array:
        """See `ListChannel.through`."""
        published: Array = laws @ self.matrix
        return published

    def exactly(self, law: Masses) -> Masses:
        """See `ListChannel.exactly`."""
        return law.through(self.counts, self.denominator)

    @property
    def table(self) -> Array:
        """See `ListChannel.table`."""
        return self.matrix

    @property
    def entries(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
        """See `ListChannel.entries`."""
        sources, targets = np.nonzero(self.counts)
        return sources, targets, self.matrix[sources, targets]

    def row(self, place: int) -> tuple[npt.NDArray[np.intp], Array]:
        """See `ListChannel.row`."""
        return np.arange(len(self.outputs)), self.matrix[place]

    def expected_loss(self, mass: Finite | npt.ArrayLike, loss: npt.ArrayLike) -> float:
        """The average of `loss[x, y]` over inputs weighed by `mass` and what they are published as."""
        costs = np.asarray(loss, dtype=np.float64)
        if costs.shape != self.counts.shape or not np.isfinite(costs).all():
            raise InputError(f"loss must be a matrix of finite numbers, inputs by outputs {self.counts.shape}")
        return float(self.shares_of(mass) @ (self.matrix * costs).sum(axis=1))

    @property
    def kept(self) -> npt.NDArray[np.int64]:
        """See `ListChannel.kept`."""
        return np.where(self._stays >= 0, self.counts[np.arange(len(self.inputs)), self._stays], 0)

    def _drawn(self, rows: npt.NDArray[np.int64], source: BitSource) -> npt.NDArray[np.int64]:
        return self._tables.draw(rows, source)

    @cached_property
    def _tables(self) -> AliasTables:
        return AliasTables(self.counts, self.denominator.bit_length() - 1)


# A finite channel of which only the moves that happen are stored: for rows of many columns, thousands on each side.
#
# The best channels are sparse, since a linear program has a solution with few entries. What is proved and drawn is the
# same as for a whole table, from the same integers.


_MOVES = ("starts", "targets", "counts")
_MOST_MOVES = 2_000_000  # in a file


@dataclass(frozen=True, eq=False, repr=False)
class SparseChannel(ListChannel):
    """Input x becomes output targets[k] with probability counts[k]/denominator, for k from starts[x] to starts[x + 1].

    >>> channel = SparseChannel(("a", "b"), ("a", "b"), starts=[0, 2, 3], targets=[0, 1, 1], counts=[3, 1, 4])
    >>> channel.denominator
    4
    >>> channel.sentences()
    ['of 100 people with a, 75 stay, 25 become b', 'of 100 people with b, all stay']
    """

    kind: ClassVar[str] = "sparse"

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    starts: Integers
    targets: Integers
    counts: Integers

    def __post_init__(self) -> None:
        """Validate, copy and freeze."""
        self._freeze_lists()
        starts, targets, counts = (_whole(name, getattr(self, name)) for name in _MOVES)
        if len(starts) != len(self.inputs) + 1 or starts[0] != 0 or starts[-1] != len(targets):
            raise InputError("starts must have one entry per input and one more, from 0 to the number of targets")
        if len(counts) != len(targets) or (np.diff(starts) < 1).any():
            raise InputError("every input needs at least one target, and every target a count")
        if targets.min() < 0 or targets.max() >= len(self.outputs):
            raise InputError(f"targets must lie between 0 and {len(self.outputs) - 1}")
        if counts.min() < 1 or counts.max() > 1 << MOST_BITS:
            raise InputError(f"counts must lie between 1 and 2**{MOST_BITS}: leave out moves that never happen")
        inside = np.ones(len(targets), dtype=bool)
        inside[starts[:-1]] = False
        if (np.diff(targets)[inside[1:]] <= 0).any():
            raise InputError("the targets of an input must be distinct, in order")
        require_one_total(counts, lambda part: np.add.reduceat(part, starts[:-1]))
        for name, array in (("starts", starts), ("targets", targets), ("counts", counts)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def constant(cls, inputs: object, output: object, *, bits: int = BITS) -> "SparseChannel":
        """The channel that publishes one value whatever the input is, and tells nothing."""
        values = plain(inputs, name="inputs")
        n = len(values)
        return cls(values, plain([output]), np.arange(n + 1), np.zeros(n, dtype=np.int64), np.full(n, 1 << bits))

    def to_state(self) -> dict[str, object]:
        """See `Channel`."""
        inputs, outputs = (form.values_to(side) for side in (self.inputs, self.outputs))
        moves = {name: getattr(self, name).tolist() for name in _MOVES}
        return {"kind": self.kind, "inputs": inputs, "outputs": outputs, **moves}

    @classmethod
    def from_state(cls, state: object) -> "SparseChannel":
        """See `Channel`."""
        content = form.fields(state, ("kind", "inputs", "outputs", *_MOVES), "'channel'")
        starts, targets, counts = (
            np.array(form.indices(content[name], f"channel.{name}", least=1, most=_MOST_MOVES), dtype=np.int64)
            for name in _MOVES
        )
        return cls(values_from(content, "inputs"), values_from(content, "outputs"), starts, targets, counts)

    @property
    def denominator(self) -> int:
        """See `ListChannel.denominator`."""
        return sum(self.counts[: self.starts[1]].tolist())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as what it was made of, so that what is unpickled has been validated again."""
        return type(self), (self.inputs, self.outputs, self.starts, self.targets, self.counts)

    @property
    def _identity(self) -> tuple[object, ...]:
        lists = (tuple(map(key, self.inputs)), tuple(map(key, self.outputs)))
        return (*lists, self.starts.tobytes(), self.targets.tobytes(), self.counts.tobytes())

    @cached_property
    def sources(self) -> Integers:
        """The input of every entry."""
        sources = np.repeat(np.arange(len(self.inputs)), np.diff(self.starts))
        sources.setflags(write=False)  # what is proved rests on them
        return sources

    @cached_property
    def shares(self) -> Array:
        """The probability of every entry, in float64."""
        shares: Array = self.counts / self.denominator
        shares.setflags(write=False)
        return shares

    @cached_property
    def extremes(self) -> Extremes:
        """See `ListChannel.extremes`: an output that some input never becomes has a least count of 0."""
        high, least = np.zeros(len(self.outputs), dtype=np.int64), np.full(len(self.outputs), 1 << MOST_BITS)
        np.maximum.at(high, self.targets, self.counts)
        np.minimum.at(least, self.targets, self.counts)
        reached = np.bincount(self.targets, minlength=len(self.outputs))
        low = np.where(reached == len(self.inputs), least, 0)
        return Extremes(tuple(low.tolist()), tuple(high.tolist()), self.denominator)

    def through(self, laws: Array) -> Array:
        """See `ListChannel.through`."""
        given = np.asarray(laws, dtype=np.float64)
        flat = given.reshape(-1, given.shape[-1])
        published = np.empty((len(flat), len(self.outputs)))
        for one, into in zip(flat, published, strict=True):
            into[:] = np.bincount(self.targets, weights=one[self.sources] * self.shares, minlength=len(self.outputs))
        return published.reshape(*given.shape[:-1], len(self.outputs))

    def exactly(self, law: Masses) -> Masses:
        """See `ListChannel.exactly`."""
        return law.through_entries(
            self.sources, self.targets, self.counts, outputs=len(self.outputs), denominator=self.denominator
        )

    @property
    def table(self) -> "csr_array":
        """See `ListChannel.table`."""
        from scipy.sparse import csr_array

        return csr_array((self.shares, self.targets, self.starts), (len(self.inputs), len(self.outputs)))

    @property
    def entries(self) -> tuple[Integers, Integers, Array]:
        """See `ListChannel.entries`."""
        return self.sources, self.targets, self.shares

    def row(self, place: int) -> tuple[npt.NDArray[np.intp], Array]:
        """See `ListChannel.row`."""
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.targets[part].astype(np.intp), self.shares[part]

    @cached_property
    def kept(self) -> Integers:
        """See `ListChannel.kept`."""
        found = np.zeros(len(self.inputs), dtype=np.int64)
        same = self.targets == self._stays[self.sources]
        found[self.sources[same]] = self.counts[same]
        return found

    def _drawn(self, rows: Integers, source: BitSource) -> Integers:
        """One word a row, of which log2(denominator) bits are taken; the entry whose counts they fall among."""
        words = np.frombuffer(read_exactly(source, 8 * len(rows)), dtype="<u8") & np.uint64(self.denominator - 1)
        low, high = self.starts[rows], self.starts[rows + 1] - 1
        units = words.astype(np.int64)
        # By bisection within each row: `below` is what the entries before an entry of the same row add up to.
        while (low < high).any():
            middle = (low + high + 1) >> 1
            above = units >= self._below[middle]
            low, high = np.where(above, middle, low), np.where(above, high, middle - 1)
        return self.targets[low]

    @cached_property
    def _below(self) -> Integers:
        before = np.empty_like(self.counts)
        for place in range(len(self.inputs)):  # row by row, for a sum over all rows may overflow
            part = slice(int(self.starts[place]), int(self.starts[place + 1]))
            before[part] = np.cumsum(self.counts[part]) - self.counts[part]
        return before


def _whole(name: str, given: object) -> Integers:
    try:
        array = np.asarray(given)
    except ValueError:
        raise InputError(f"{name} must be one list of whole numbers") from None
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array > 1 << MOST_BITS).any():
        raise InputError(f"{name} must be one list of whole numbers up to 2**{MOST_BITS}, and not empty")
    whole: Integers = array.astype(np.int64)
    return whole


# Columns of one row, some published now and some before, each part through a channel of its own: both as one channel.
#
