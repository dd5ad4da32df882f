"""A finite channel of which only the moves that happen are stored: for rows of many columns, thousands on each side.

The best channels are sparse, since a linear program has a solution with few entries. What is proved and drawn is the
same as for a whole table, from the same integers.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array
from takifugu.channels.finite import BITS, MOST_BITS, Integers, require_one_total
from takifugu.channels.listed import ListChannel, values_from
from takifugu.channels.sampling import BitSource, read_exactly
from takifugu.divergences import Extremes, Masses
from takifugu.errors import InputError
from takifugu.laws import Value, key, plain

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
    def constant(cls, inputs: Any, output: Any, *, bits: int = BITS) -> "SparseChannel":
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as what it was made of, so that what is unpickled has been validated again."""
        return type(self), (self.inputs, self.outputs, self.starts, self.targets, self.counts)

    @property
    def _identity(self) -> tuple[Any, ...]:
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
    def table(self) -> Any:
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


def _whole(name: str, given: Any) -> Integers:
    try:
        array = np.asarray(given)
    except ValueError:
        raise InputError(f"{name} must be one list of whole numbers") from None
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array > 1 << MOST_BITS).any():
        raise InputError(f"{name} must be one list of whole numbers up to 2**{MOST_BITS}, and not empty")
    whole: Integers = array.astype(np.int64)
    return whole
