"""The layout of a text file: its separator, the lines above its header, and the names of its columns.

Decided from the first half million characters. What is decided here is proved or refuted by the rest of the file:
every further line must have as many fields as the header, or the file is refused.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from takifugu.errors import InputError
from takifugu.tables.reading import SEPARATORS, Reading

NO_SEPARATOR = "\x1f"  # for a file of one column: no text holds it, see `decoding.survey`
_TITLES = 20  # lines above a header, at most
_NUMERAL = re.compile(r"[+-]?[0-9.,][0-9.,' ]*%?")


@dataclass(frozen=True)
class Layout:
    """Where the table begins, and of how many columns it is."""

    sep: str
    width: int
    titles: int  # lines of text above the header
    header_lines: int  # lines that the header itself takes, 0 where there is none
    lines: int  # lines up to the end of the header, all told: the records begin after them
    names: tuple[str, ...]
    unnamed: tuple[int, ...]  # positions, from 1, of columns that the header leaves without a name


class _Record(NamedTuple):  # of which there are tens of thousands
    fields: list[str]
    first: int  # the line it begins on, from 0
    end: int  # the line after it

    @property
    def blank(self) -> bool:
        return not "".join(self.fields).strip()


@dataclass(frozen=True)
class _Candidate:
    sep: str
    width: int
    header: int  # its place among the records
    titles: int
    share: float  # of the records below the header, those as wide as it


def find_layout(text: str, *, complete: bool, reading: Reading, where: str) -> Layout:
    """The layout of the file that begins with `text`."""
    separators = SEPARATORS if reading.sep is None else (reading.sep,)
    best: tuple[tuple[bool, int, int, float], _Candidate, list[_Record]] | None = None
    for sep in separators:
        if reading.sep is None and sep not in text:
            continue  # every record would be one field
        records = _records(text, sep, complete, reading.skip or 0)
        candidate = _candidate(records, sep, reading) if records else None
        if candidate is None or (candidate.width < 2 and reading.sep is None):
            continue
        # A separator that fits every line, needs no titles to explain itself and makes most columns.
        score = (candidate.share == 1, -candidate.titles, candidate.width, candidate.share)
        if best is None or score > best[0]:
            best = (score, candidate, records)
    if best is None:
        records = _records(text, NO_SEPARATOR, complete, reading.skip or 0)
        alone = _candidate(records, NO_SEPARATOR, reading) if records else None
        if alone is None:
            raise InputError(f"{where} is empty: it has no line with anything in it")
        best = ((True, 0, 0, 0.0), alone, records)
    if reading.sep is not None and best[1].width == 1:
        _refuse_wrong_separator(text, complete, reading, where)
    return _layout(best[1], best[2], reading, where)


def _refuse_wrong_separator(text: str, complete: bool, reading: Reading, where: str) -> None:
    """Refuse a separator that separates nothing where another one separates every line alike, the header too."""
    for sep in SEPARATORS:
        records = [record for record in _records(text, sep, complete, reading.skip or 0) if not record.blank]
        widths = {len(record.fields) for record in records}
        if sep != reading.sep and len(records) > 1 and len(widths) == 1 and max(widths) > 1:
            raise InputError(
                f"{where} has nothing to separate by {reading.sep!r}, and {sep!r} stands in each of its lines alike: "
                f"give sep={sep!r}, or leave sep out"
            )


def broken_line(file: Iterable[str], layout: Layout) -> int | None:
    """The number, from 1, of the first line that does not fit the layout; None where all do."""
    reader = csv.reader(file, delimiter=layout.sep, strict=True)
    line = 0
    try:
        for fields in reader:
            extra = fields[layout.width :]
            if line >= layout.lines and fields and (len(fields) < layout.width or any(extra)):
                return line + 1
            line = reader.line_num
    except csv.Error:  # a quote that does not end, or a field beyond the limit of `csv.field_size_limit`
        return line + 1
    return None


def is_numeral(text: str) -> bool:
    """Whether a text could be a number in any country's spelling.

    >>> is_numeral("1.234,5"), is_numeral("age"), is_numeral("")
    (True, False, False)
    """
    return _NUMERAL.fullmatch(text.strip()) is not None


def _records(text: str, sep: str, complete: bool, skip: int) -> list[_Record]:
    lines = io.StringIO(text)
    for _ in range(skip):
        lines.readline()
    reader = csv.reader(lines, delimiter=sep)
    records, line = [], skip
    try:
        for fields in reader:
            records.append(_Record(fields, line, skip + reader.line_num))
            line = skip + reader.line_num
    except csv.Error:  # a quote that never ends: what came before it tells the layout
        complete = True
    return records if complete or len(records) < 2 else records[:-1]  # the last may be cut short


def _candidate(records: list[_Record], sep: str, reading: Reading) -> _Candidate | None:
    widths = Counter(len(record.fields) for record in records if not record.blank)
    if not widths:
        return None
    width = max(widths, key=lambda w: (widths[w], w))
    if reading.skip is not None or reading.header is False:
        header = next(place for place, record in enumerate(records) if not record.blank)
        width = len(records[header].fields)
    else:
        header = _header(records, width)
    below = [len(record.fields) == width for record in records[header:] if record.fields]
    titles = sum(not record.blank for record in records[:header])
    if titles > _TITLES or (titles and all(is_numeral(field) for field in records[header].fields)):
        return None
    return _Candidate(sep, width, header, titles, sum(below) / len(below))


def _header(records: list[_Record], width: int) -> int:
    """The first record as wide as the table that is no title padded with empty fields.

    Where narrower lines and then an empty one stand above, the table begins after the empty line: "Made on Monday,
    by hand" is as wide as a table of two columns.
    """
    wide = (place for place, record in enumerate(records) if len(record.fields) == width and not record.blank)
    first = next(wide)
    header = next((place for place in chain([first], wide) if _fits(records[place], width)), first)
    if header == 0:
        return 0
    for place in range(header, min(len(records), _TITLES) - 1):
        if records[place].blank and _fits(records[place + 1], width):
            return place + 1
    return header


def _fits(record: _Record, width: int) -> bool:
    filled = sum(bool(field.strip()) for field in record.fields)
    return len(record.fields) == width and (filled > 1 or (width < 3 and filled > 0))


def _layout(found: _Candidate, records: list[_Record], reading: Reading, where: str) -> Layout:
    if reading.header is False:
        names = [""] * found.width
        lines = records[found.header].first
    else:
        names = [field.strip() for field in records[found.header].fields]
        lines = records[found.header].end
    unnamed = tuple(place for place, name in enumerate(names, 1) if not name)
    names = [name or f"column{place}" for place, name in enumerate(names, 1)]
    check_names(names, where, remedy="say header=False if its first line is a record")
    own = lines - records[found.header].first
    return Layout(found.sep, found.width, found.titles, own, lines, tuple(names), unnamed)


def check_names(names: list[str], where: str, *, remedy: str | None = None) -> None:
    """Refuse names that cannot be told apart; the engines that read files do not tell "Age" from "age".

    `remedy` is what else may help where the names look like numbers.
    """
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        other = seen.setdefault(name.casefold(), place)
        if other != place:
            more = f"; or {remedy}" if remedy is not None and is_numeral(name) else ""
            raise InputError(
                f"{where} has one name, or names that differ in capitals alone, for its columns {other} and {place}: "
                f"rename one of them, for which column is meant would be a guess{more}"
            )
