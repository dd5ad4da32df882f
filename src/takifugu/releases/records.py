"""Keyed hashes of rows: the same values hash alike, whichever library, type or file they come from.

A ledger keeps these in place of the rows. Where two spellings may be one value they hash alike (`canonical`): mistaking
a new record for an old one costs a refusal, mistaking an old one for new would publish it twice. Rows with the same
values always have the same hash; two others share one with a chance of 2⁻⁶⁴, as for random numbers, since SipHash-2-4
(Aumasson and Bernstein 2012) with a secret key is a pseudorandom function.
"""

import datetime
import hashlib
import math
import re
import struct
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import InputError, no_column, rows_of
from takifugu.tables import AS_READ, Coded, Codes, cut_named, is_narrow

if TYPE_CHECKING:
    import narwhals as nw

Hashes = npt.NDArray[np.uint64]

_MASK = (1 << 64) - 1
_PAIR = struct.Struct("<QQ")
_WHOLE, _FRACTION, _MISSING = 0x57484F4C45, 0x4652414354, 0x4D495353  # the second word of what is no text
_EXACT = float(1 << 53)
_BLOCK = 1 << 14  # rows that are hashed together: their words stay in the processor's cache
_REMEMBERED = 1 << 15  # cells whose words are kept, so that a category is spelled once

_BLANKS = " \t\n\r\v\f\x1c\x1d\x1e\x1f\0"  # what `strip` takes off, and what fills up a field of fixed width
_BEFORE = "'" + _BLANKS  # an apostrophe says that no spreadsheet is to run a cell
_UNSEEN = dict.fromkeys(map(ord, "\0\N{SOFT HYPHEN}\N{ZERO WIDTH SPACE}\N{WORD JOINER}\ufeff\u200c\u200d"))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")


class _Words(NamedTuple):
    """The two words of each cell of a column, and which cell each row has; None where each row has its own."""

    words: tuple[Hashes, Hashes]
    codes: Codes | None

    def at(self, rows: "npt.NDArray[np.int64] | slice") -> tuple[Hashes, Hashes]:
        """The words of some rows."""
        where = rows if self.codes is None else self.codes[rows]
        return self.words[0][where], self.words[1][where]


class RowHashes:
    """Hashes rows under one secret key.

    >>> import narwhals as nw, pandas as pd
    >>> rows = RowHashes(b"a secret")
    >>> numbers, texts = (nw.from_native(pd.DataFrame({"x": x}), eager_only=True) for x in ([1, 2.0], ["1", " 2"]))
    >>> bool((rows.of(numbers, ["x"]) == rows.of(texts, ["x"])).all())
    True
    """

    def __init__(self, key: bytes) -> None:
        """Derive one key for texts and one for rows."""
        self._texts = hashlib.blake2b(key=key, digest_size=32, person=b"takifugu-text").digest()
        self._rows = hashlib.blake2b(key=key, digest_size=16, person=b"takifugu-rows").digest()
        self._known: dict[object, bytes] = {}

    def of(self, rows: "nw.DataFrame[Any]", columns: Sequence[str], beside: Hashes | None = None) -> Hashes:
        """The hash of each row of these columns, in this order, and of a number beside it where one is given."""
        found = [self._words(rows[name]) for name in columns]
        if beside is None and (alike := _alike(found, len(rows))) is not None:
            first, codes = alike  # few rows are different ones, and those alone are hashed
            return siphash(self._rows, [word for one in found for word in one.at(first)], len(first))[codes]
        words = [word for one in found for word in one.at(slice(None))]
        return siphash(self._rows, words if beside is None else [beside, *words], len(rows))

    def count_missing(self, column: "nw.Series[Any]") -> int:
        """How many cells have no value."""
        return int((self._words(column).at(slice(None))[1] == _MISSING).sum())

    def _words(self, column: "nw.Series[Any]") -> "_Words":
        import narwhals as nw

        kind = column.dtype
        if kind == nw.Boolean:
            column, kind = column.cast(nw.Int8), nw.Int8()
        if not (kind.is_integer() or kind.is_float()) or kind in (nw.Int128, nw.UInt128):
            return self._labels(column)
        missing = column.is_null().to_numpy()
        values = column.fill_null(0).to_numpy()
        if values.dtype.kind not in "iuf":  # a column of no values
            return self._labels(column)
        if values.dtype.kind == "u" and values.size and int(values.max()) >= 1 << 63:
            return self._labels(column)
        if not missing.any() and is_narrow(values):
            coded = Coded.of_array(values)
            return _Words(self._numbers(coded.cells, np.zeros(len(coded.cells), dtype=np.bool_)), coded.codes)
        return _Words(self._numbers(values, missing), None)

    def _labels(self, column: "nw.Series[Any]") -> "_Words":
        coded = Coded.of(column)
        return _Words(self._each(coded.cells.tolist()), coded.codes)

    def _numbers(self, values: npt.NDArray[np.generic], missing: npt.NDArray[np.bool_]) -> tuple[Hashes, Hashes]:
        if values.dtype.kind == "f":
            return self._floats(values.astype(np.float64), missing)
        first = values.astype(np.int64).view(np.uint64)
        return np.where(missing, 0, first).astype(np.uint64), np.where(missing, _MISSING, _WHOLE).astype(np.uint64)

    def _floats(self, values: npt.NDArray[np.float64], missing: npt.NDArray[np.bool_]) -> tuple[Hashes, Hashes]:
        missing = missing | np.isnan(values)
        values = np.where(missing, 0.0, values)
        exact = np.abs(values) < _EXACT
        whole = exact & (values == np.floor(values))
        with np.errstate(over="ignore", invalid="ignore"):
            fraction = values.astype(np.float32).view(np.uint32).astype(np.uint64)
        first = np.where(whole, np.where(whole, values, 0.0).astype(np.int64).view(np.uint64), fraction)
        second = np.where(whole, _WHOLE, _FRACTION).astype(np.uint64)
        second[missing] = _MISSING
        for place in np.flatnonzero(~exact):  # beyond 2⁵³: rare, and spelled as whole numbers are
            first[place], second[place] = _PAIR.unpack(self._word(float(values[place])))
        return first, second

    def _each(self, values: list[object]) -> tuple[Hashes, Hashes]:
        known, found = self._known, []
        for value in values:
            try:
                word = known.get(value)
                if word is None:
                    word = known[value] = self._word(value)
            except TypeError:  # a list, which no dictionary holds
                word = self._word(value)
            found.append(word)
        if len(known) > _REMEMBERED:
            known.clear()
        words = np.frombuffer(b"".join(found), dtype="<u8").reshape(-1, 2).astype(np.uint64)
        return words[:, 0], words[:, 1]

    def _word(self, value: object) -> bytes:
        """The two words of a cell, as bytes."""
        plain = _of_text(value) if type(value) is str else canonical(value)
        if isinstance(plain, int) and -(1 << 63) <= plain < 1 << 63:
            return _PAIR.pack(plain & _MASK, _WHOLE)
        if isinstance(plain, float):
            with np.errstate(over="ignore"):
                return _PAIR.pack(int(np.float64(plain).astype(np.float32).view(np.uint32)), _FRACTION)
        if plain is None:
            return _PAIR.pack(0, _MISSING)
        text = str(plain).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._texts, digest_size=16).digest()


def canonical(value: object) -> int | float | str | None:
    """One form for all spellings of a value: None where it is missing, a whole number, another number, or a text.

    >>> [canonical(one) for one in (1, 1.0, True, " 1 ", "1.0", "true", Decimal("1.00"))]
    [1, 1, 1, 1, 1, 1, 1]
    >>> canonical(datetime.date(2024, 1, 31)) == canonical("2024-01-31 00:00:00") == "2024-01-31"
    True
    >>> canonical(-0.0), canonical(float("nan")), canonical("  "), canonical("Ward  B")
    (0, None, None, 'ward b')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas, which may not be there
        return None
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, bytes | bytearray | memoryview):  # a text that a file does not say is one
        value = bytes(value).decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float | Decimal):
        return _of_number(value)
    if isinstance(value, datetime.datetime):
        return _of_instant(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _of_number(value: float | Decimal) -> int | float | str | None:
    if value.is_nan() if isinstance(value, Decimal) else math.isnan(value):
        return None
    if not math.isfinite(value):
        return str(float(value))
    return int(value) if value == int(value) else float(value)


def _of_text(text: str) -> int | float | str | None:
    if text.isascii():
        text = text.strip(_BLANKS)
    else:  # capitals once more: some fold into what is composed in another way
        text = unicodedata.normalize("NFKC", text).translate(_UNSEEN).strip()
        text = unicodedata.normalize("NFKC", text.casefold())
    text = text.lstrip(_BEFORE)
    if not text:
        return None
    if text[0] in "0123456789+-." and text.isascii():
        if _NUMBER.fullmatch(text):
            whole = text if text.lstrip("+-").isdigit() else text.rstrip("0").removesuffix(".") if "." in text else ""
            # Digits of an id are exact; of 3.7e16 those are meant that a float of this name has.
            return int(whole) if whole.lstrip("+-").isdigit() and len(whole) < 4_000 else canonical(float(text))
        if _INSTANT.fullmatch(text):
            try:
                return _of_instant(datetime.datetime.fromisoformat(text))
            except ValueError:
                return text
    text = " ".join(text.lower().split())  # as tidying has it
    return {"true": 1, "false": 0}.get(text, text) if len(text) < 6 else text


def _of_instant(when: datetime.datetime) -> str:
    if when.tzinfo is not None:
        when = when.astimezone(datetime.UTC).replace(tzinfo=None)
    # The method of the class above: a time of pandas would add what it knows below a millionth of a second.
    told = datetime.datetime.isoformat(when, sep=" ", timespec="microseconds")
    return told.removesuffix(" 00:00:00.000000")


def _alike(columns: Sequence[_Words], rows: int) -> tuple[npt.NDArray[np.int64], Codes] | None:
    """A row of each kind, and of which kind every row is; None where there could be as many kinds as rows."""
    codes, most = np.zeros(rows, dtype=np.int64), 1
    for one in columns:
        most *= len(one.words[0])
        if one.codes is None or most > max(rows, _BLOCK):
            return None
        codes = codes * len(one.words[0]) + one.codes
    if not rows:
        return None
    first = np.full(most, -1, dtype=np.int64)
    first[codes] = np.arange(rows)
    there = np.flatnonzero(first >= 0)
    place = np.empty(most, dtype=np.int64)
    place[there] = np.arange(len(there))
    return first[there], place[codes]


def siphash(key: bytes, words: Sequence[Hashes], rows: int) -> Hashes:
    """SipHash-2-4 of each row of these words, each of 64 bits, as of a message of their bytes, little end first."""
    first, second = (int.from_bytes(key[k : k + 8], "little") for k in (0, 8))
    starts = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    last = (8 * len(words) & 0xFF) << 56
    made = np.empty(rows, dtype=np.uint64)
    for low in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - low)
        keys = (first, second, first, second)
        v = [np.full(size, start ^ one, dtype=np.uint64) for start, one in zip(starts, keys, strict=True)]
        for word in (*(one[low : low + size] for one in words), np.full(size, last, dtype=np.uint64)):
            v[3] ^= word
            _rounds(v, 2)
            v[0] ^= word
        v[2] ^= np.uint64(0xFF)
        _rounds(v, 4)
        made[low : low + size] = v[0] ^ v[1] ^ v[2] ^ v[3]
    return made


def _rounds(v: list[Hashes], count: int) -> None:
    for _ in range(count):
        for a, b, turn in ((0, 1, 13), (2, 3, 16)):
            _mix(v, a, b, turn)
        v[0] = _turned(v[0], 32)
        for a, b, turn in ((2, 1, 17), (0, 3, 21)):
            _mix(v, a, b, turn)
        v[2] = _turned(v[2], 32)


def _mix(v: list[Hashes], a: int, b: int, turn: int) -> None:
    v[a] += v[b]
    v[b] = _turned(v[b], turn)
    v[b] ^= v[a]


def _turned(words: Hashes, bits: int) -> Hashes:
    made: Hashes = words << np.uint64(bits)
    made |= words >> np.uint64(64 - bits)
    return made


# Which rows are about to be published, as a ledger can recognise them: by an id, or by everything that was read.
#
# Files are renamed, sorted, appended to and exported anew; the records in them are still the same. So a row is known by
# the value of an id column, or, where there is none, by the values of all columns that were read of it, as often as
# they occur. Numbers without a table (an array, a mean of a group) have no records that could be seen, and are known
# only as the very same numbers again.


_GROWTH = 1 << 21  # rows for which room is made at a time, at most
_COMPARED = 1 << 17  # rows that are compared at a time
_FEWEST_ONCE = 20  # records that occurred once, of fewer of which chance could bring back most


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
        self.kept: tuple[str, ...] = ()  # columns that are handed over as they are, beside the answer
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
        """The columns that are needed of a table; with an id the answer's too, which tell it from another."""
        answer = self._published if self.own.is_id else ()
        return tuple(dict.fromkeys((*(name for one in self._found for name in one.columns), *answer)))

    def look(self, rows: "nw.DataFrame[Any]") -> None:
        """Add the rows of a table; with an id every row must have one."""
        self._sorted.clear()
        if self.own.is_id and (holes := self._rows.count_missing(rows[self.own.columns[0]])):
            raise InputError(
                f"{rows_of(holes)} without a value in {self.own.columns[0]!r}, the column that tells people apart: "
                f"nothing was released. Give each one, leave such rows out, or name another column with id="
            )
        if self.own.is_id and _has_lost_digits(rows[self.own.columns[0]]):
            raise InputError(
                f"{self.own.columns[0]!r}, the column that tells people apart, holds numbers of more digits than a "
                f"float has, so that several people may share one: nothing was released. Read it as whole numbers"
            )
        end = self._count + len(rows)
        for one, found in self._found.items():
            made = self._rows.of(rows, [_as_read(name, rows.columns) for name in one.columns])
            if self._is_read:  # somebody holds what is to grow
                self._found[one] = found = found.copy()
            if end > len(found):  # where it is: of ten million rows there is no room for two copies
                found.resize(end + min(self._count, _GROWTH), refcheck=False)
            found[self._count : end] = made
            if one == self.own and one.is_id:  # what was read tells the answer too, an id does not
                answer = [_as_read(name, rows.columns) for name in self._published if name in rows.columns]
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


def _as_read(name: str, available: Sequence[str]) -> str:
    """The column that holds what was read, where labels were tidied or merged since."""
    return name + AS_READ if name + AS_READ in available else name


def _has_lost_digits(column: "nw.Series[Any]") -> bool:
    """Whether floats stand for whole numbers of which they do not hold every digit."""
    return column.dtype.is_float() and bool((np.abs(column.to_numpy().astype(np.float64)) >= _EXACT).any())


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
    rows = _known(ours, times, by_id=by_id)
    return Overlap(rows, rows == total)


def _known(ours: Hashes, times: "np.ndarray[Any, np.dtype[np.int32]]", *, by_id: bool) -> int:
    rows = 0
    for low in range(0, len(ours), _COMPARED):
        some = low + np.flatnonzero(times[low : low + _COMPARED])
        alike = np.searchsorted(ours, ours[some], side="right") - some
        rows += int((alike if by_id else np.minimum(alike, times[some])).sum())
    return rows


@dataclass(frozen=True)
class Reappearance:
    """What a table has of one earlier batch: how many records occurred once there, and how many of them do here too.

    Of other people, drawn independently, a record occurs once with a probability of (1 − 1/n)ⁿ⁻¹ at most, some 37 %,
    however frequent it is (proofs/ledger.md).
    """

    once: int
    again: int
    kinds: int  # different records of the batch
    added: int  # rows of the table beyond as many as the batch has
    rows: int  # that both have, those alike as often as in either
    is_whole: bool
    is_same: bool

    @property
    def is_plain(self) -> bool:
        """Whether these are the same records, whatever anybody states."""
        is_little = self.kinds >= _FEWEST_ONCE and self.added**2 <= self.rows * self.kinds
        few_alike = self.once >= _FEWEST_ONCE
        return (
            self.is_same or (self.is_whole and (is_little or few_alike)) or (few_alike and 2 * self.again > self.once)
        )

    @property
    def sentence(self) -> str:
        """Why they are."""
        if self.is_same:
            return "these are all rows of an earlier release, and no others"
        if self.is_whole:
            return f"all {self.rows:,} rows of an earlier release are among them"
        return (
            f"{self.again:,} of {self.once:,} records that occurred once in an earlier release occur once here too, "
            f"where of other people some 37 % would at most"
        )

    @property
    def advice(self) -> str:
        """What may be published instead."""
        if self.is_same:
            return "next time publish all columns that may ever go out together, in one call"
        if self.is_whole:
            return "publish with Ledger(..., only_new=True) what was appended since"
        return "publish a table without those who were published before"


def reappearance(ours: Hashes, parts: Iterable[Hashes]) -> Reappearance:
    """What a table, whose hashes are in order, has of one batch, whose parts are in order one after the other."""
    once, kinds, last, run = 0, 0, np.empty(0, dtype=np.uint64), 0

    def looked_at() -> Iterable[Hashes]:
        nonlocal once, kinds, last, run
        for part in parts:
            found, counts = np.unique(part, return_counts=True)
            kinds += len(found)
            if len(last) and len(found) and last[0] == found[0]:  # records alike lie on both sides of the cut
                counts[0] += run
                kinds -= 1
            elif run == 1:
                once += 1
            if len(found):
                once += int((counts[:-1] == 1).sum())
                last, run = found[-1:].copy(), int(counts[-1])
            yield part
        once += run == 1

    times, total = count_known(ours, looked_at())
    some = np.flatnonzero(times == 1)
    after = np.minimum(some + 1, len(ours) - 1)
    again = int(((after == some) | (ours[after] != ours[some])).sum())
    rows = _known(ours, times, by_id=False)
    return Reappearance(once, again, kinds, len(ours) - total, rows, rows == total > 0, rows == total == len(ours) > 0)


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


def require_one_row(own: Identity, ordered: Hashes, repeats: str) -> int:
    """Refuse people who have several rows, unless these are said to be independent; how many rows one has at most."""
    most = most_alike(ordered) if own.is_id else 1
    if most > 1 and repeats == "refuse":
        raise InputError(
            f"people have up to {most:,} rows each by {own.words}, and the guarantee is about one row: together the "
            f"rows of a person may reveal anything, even where each alone reveals nothing. Nothing was "
            f"published; make one row of each person, with the columns of all their rows side by side, and publish "
            f"these together; or, where the rows of a person are independent of one another given the secret, say so "
            f"with repeats='independent'"
        )
    return most


def require_id(name: str, available: Sequence[str]) -> Identity:
    """The identity by an id column, which must be there."""
    if not isinstance(name, str) or not name:
        raise InputError(f"id must be the name of a column that tells people apart, got {name!r}")
    if name not in available:
        raise InputError(no_column("the table", name, available))
    return Identity((name,), is_id=True)
