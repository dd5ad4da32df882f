"""Which rows are about to be published, as a ledger can recognise them: by an id, or by everything that was read.

Files are renamed, sorted, appended to and exported anew; the records in them are still the same. So a row is known by
the value of an id column, or, where there is none, by the values of all columns that were read of it, as often as they
occur. Numbers without a table (an array, a mean of a group) have no records that could be seen, and are known only as
the very same numbers again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError, no_column
from takifugu.releases.records import Hashes, RowHashes
from takifugu.tables import cut_named

if TYPE_CHECKING:
    import narwhals as nw


_GROWTH = 1 << 21  # rows for which room is made at a time, at most
_BLOCK = 1 << 17  # rows that are compared at a time


@dataclass(frozen=True)
class Identity:
    """The columns by which rows are known: one of ids, or all that were read; none where no rows were seen."""

    columns: tuple[str, ...] = ()
    is_id: bool = False

    @classmethod
    def of_content(cls, names: Iterable[str], available: Iterable[str]) -> "Identity":
        """All of these columns that are there; of one that is cut at edges the column itself."""
        there = set(available)
        cuts = ((name, cut_named(str(name), there - {name})) for name in names)
        plain = {str(name) if cut is None else cut.column for name, cut in cuts}
        return cls(tuple(sorted(plain & there)))

    @property
    def words(self) -> str:
        """What rows are known by, for a sentence."""
        names = ", ".join(map(repr, self.columns))
        return f"the id {names}" if self.is_id else f"the values of {names}"


class Recognition:
    """Hashes of the rows of one release, by each identity that its ledger knows records by."""

    def __init__(self, key: bytes, own: Identity, others: Iterable[Identity] = (), answer: Sequence[str] = ()) -> None:
        """Start with no rows; `answer` are the columns that are published."""
        self.own = own
        self._rows = RowHashes(key)
        self._found = {one: np.empty(0, dtype=np.uint64) for one in dict.fromkeys((own, *others))}
        self._count, self._is_read = 0, False
        self._published = tuple(sorted(answer))
        self._answer = hashlib.blake2b(
            repr(self._published).encode(), key=key, digest_size=32, person=b"takifugu-answer"
        )
        self._sum = 0
        self._sorted: set[Identity] = set()

    @property
    def identities(self) -> tuple[Identity, ...]:
        """By what the rows were hashed."""
        return tuple(self._found)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed of a table."""
        return tuple(dict.fromkeys(name for one in self._found for name in one.columns))

    def look(self, rows: "nw.DataFrame[Any]") -> None:
        """Add the rows of a table; with an id every row must have one."""
        self._sorted.clear()
        if self.own.is_id and (holes := self._rows.count_missing(rows[self.own.columns[0]])):
            raise InputError(
                f"{holes:,} rows have no value in {self.own.columns[0]!r}, the column that tells people apart: nothing "
                f"was released. Give them one, leave these rows out, or name another column with id="
            )
        end = self._count + len(rows)
        for one, found in self._found.items():
            made = self._rows.of(rows, one.columns)
            if self._is_read:  # somebody holds what is to grow
                self._found[one] = found = found.copy()
            if end > len(found):  # where it is: of ten million rows there is no room for two copies
                found.resize(end + min(self._count, _GROWTH), refcheck=False)
            found[self._count : end] = made
            if one == self.own and one.is_id:  # what was read tells the answer too, an id does not
                answer = [name for name in self._published if name in rows.columns]
                mixed = self._rows.of(rows, answer, beside=made)
                self._sum = (self._sum + int(mixed.sum(dtype=np.uint64))) % 2**64  # in whatever order they come
        self._count, self._is_read = end, False

    def look_at_values(self, values: Array) -> None:
        """Add numbers of which no rows are seen: they are known by their order too."""
        whole = np.ascontiguousarray(values, dtype="<f8") + 0.0  # one zero, not two
        self._answer.update(whole.tobytes())

    def hashes(self, identity: Identity) -> Hashes:
        """The hashes of all rows so far: in the order of the rows, until `in_order` was asked for."""
        self._is_read = True
        return self._found[identity][: self._count]

    def in_order(self, identity: Identity) -> Hashes:
        """The same from the least to the greatest, sorted where they are."""
        found = self.hashes(identity)
        if identity not in self._sorted:
            found.sort()
            self._sorted.add(identity)
        return found

    def answer(self) -> str:
        """A digest of what is published about these rows, whatever the order of those of a table."""
        whole = self._answer.copy()
        whole.update(b"%x" % self._sum)
        return whole.hexdigest()


@dataclass(frozen=True)
class Overlap:
    """How many rows of a table a ledger knows, and whether the table has everything that the ledger knows."""

    rows: int
    is_whole: bool


def count_known(ours: Hashes, parts: Iterable[Hashes]) -> tuple["np.ndarray[Any, np.dtype[np.int32]]", int]:
    """How often a ledger has each of our hashes, which are in order, at the first of those alike; and how many it has.

    `parts` are the ledger's, each in order; no more than one is looked at at a time.
    """
    times, total = np.zeros(len(ours), dtype=np.int32), 0
    for part in parts:
        total += len(part)
        if not len(ours):
            continue
        found, counts = np.unique(part, return_counts=True)
        place = np.searchsorted(ours, found)
        place[place == len(ours)] = 0
        same = ours[place] == found
        times[place[same]] += counts[same].astype(np.int32)
    return times, total


def overlap(ours: Hashes, parts: Iterable[Hashes], *, by_id: bool) -> Overlap:
    """How many of our rows a ledger knows: all with an id that it knows, or as many alike as it has."""
    times, total = count_known(ours, parts)
    rows = 0
    for low in range(0, len(ours), _BLOCK):
        some = low + np.flatnonzero(times[low : low + _BLOCK])
        alike = np.searchsorted(ours, ours[some], side="right") - some
        rows += int((alike if by_id else np.minimum(alike, times[some])).sum())
    return Overlap(rows, rows == total)


def unknown_rows(ours: Hashes, parts: Iterable[Hashes], *, by_id: bool) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Which rows, in their own order, a ledger does not know; of more rows alike than it has, the last ones."""
    order = np.argsort(ours, kind="stable")
    sorted_ = ours[order]
    times, _ = count_known(sorted_, parts)
    first = np.searchsorted(sorted_, sorted_)
    known = times[first] > (0 if by_id else np.arange(len(ours)) - first)
    kept = np.empty(len(ours), dtype=bool)
    kept[order] = ~known
    return kept


def most_alike(ordered: Hashes) -> int:
    """How many of these hashes are the same at most."""
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else np.empty(0, dtype=np.int64)
    return int(np.diff(ends, prepend=-1).max(initial=0))


def require_id(name: str, available: Sequence[str]) -> Identity:
    """The identity by an id column, which must be there."""
    if not isinstance(name, str) or not name:
        raise InputError(f"id must be the name of a column that tells people apart, got {name!r}")
    if name not in available:
        raise InputError(no_column("the table", name, available))
    return Identity((name,), is_id=True)
