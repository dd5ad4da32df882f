"""A text file as SQL: every cell first as text, then as what all the cells of its column turned out to be.

One statement serves every door, whether it counts in the engine or streams the rows out: what one reads, all read.
"""

import csv
import io
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple

from takifugu.errors import InputError
from takifugu.problems import Diagnostic
from takifugu.tables.engine import Workspace, attempt, exactly, text
from takifugu.tables.engine import name as quoted
from takifugu.tables.files import as_text, compression, head, survey
from takifugu.tables.reading import SEPARATORS, Reading
from takifugu.tables.text_cells import Cells, Column, among, column_of, file_decimal, scan, trimmed

# The layout of a text file: its separator, the lines above its header, and the names of its columns.
#
# Decided from the first half million characters. What is decided here is proved or refuted by the rest of the file:
# every further line must have as many fields as the header, or the file is refused.

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


# What was decided about a text table, told as findings; and the refusal to take a record for a header.


@dataclass(frozen=True)
class Decided:
    """The layouts and encodings of the files, and what became of each column."""

    layouts: tuple[Layout, ...]
    encodings: tuple[str, ...]
    columns: tuple[Column, ...]
    cells: tuple[Cells, ...]
    sheet: str | None
    tabs: bool  # the name of the file promises tabs

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.layouts[0].names

    @property
    def decimal(self) -> str | None:
        """The one decimal mark of all columns of numbers with one, None where they differ."""
        marks = {column.decimal for column in self.columns if column.kind == "real" or column.grouped}
        return marks.pop() if len(marks) == 1 else None


def check_header(decided: Decided, reading: Reading, shown: str) -> None:
    """Refuse to call columns by the values of a record, which every sentence that lists columns would show."""
    if reading.header is not None:
        return
    numbers = [n for n, column in zip(decided.names, decided.columns, strict=True) if column.kind in ("whole", "real")]
    if numbers and all(map(is_numeral, numbers)) and not _counts_up(numbers):
        raise InputError(
            f"the first line of {shown} looks like a record, not like the names of the columns: say header=False if "
            f"it is a record, header=True if these are the names"
        )
    titles = max(layout.titles for layout in decided.layouts)
    proofs = [
        column.kind != "text" and not is_numeral(name)
        for name, column in zip(decided.names, decided.columns, strict=True)
    ]
    if titles and reading.skip is None and not any(proofs):
        raise InputError(
            f"{shown} seems to begin with {titles} line{'s' * (titles > 1)} above its header, but nothing below tells "
            f"the header from a record: say how many lines to skip, with skip=, or name the separator, with sep="
        )


def _counts_up(names: list[str]) -> bool:
    """Years do name columns, and so do the numbers of questions or weeks."""
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return False
    years = all(1900 <= number <= 2100 for number in numbers)
    follow = len(numbers) > 1 and all(b == a + 1 for a, b in pairwise(numbers))
    return follow or (years and all(a < b for a, b in pairwise(numbers)))


def findings_of(decided: Decided, reading: Reading) -> list[Diagnostic]:
    """Everything that was decided and is not what a plain file would have got."""
    found: list[Diagnostic] = []
    separators = {layout.sep for layout in decided.layouts if layout.width > 1} - {"\t" if decided.tabs else ","}
    encodings = set(decided.encodings) - {"utf-8", "utf-8-sig", "ascii"}
    separator = None if reading.sep is not None or decided.sheet is not None else _listed(separators)
    encoding = None if reading.encoding is not None else _listed(encodings)
    sheet = None if reading.sheet is not None else decided.sheet
    if separator is not None or encoding is not None or sheet is not None:
        found.append(Diagnostic("read-as", separator=separator, encoding=encoding, sheet=sheet, beside=()))
    titles = max(layout.titles for layout in decided.layouts)
    if titles and reading.skip is None:
        found.append(Diagnostic("title-lines", lines=titles))
    if decided.layouts[0].unnamed:
        found.append(
            Diagnostic("unnamed-columns", names=tuple(f"column{place}" for place in decided.layouts[0].unnamed))
        )
    found.extend(_about_numbers(decided, reading))
    for name, column, cells in zip(decided.names, decided.columns, decided.cells, strict=True):
        tokens = cells.tokens
        usual = {token: count for token, count in tokens.items() if token in reading.missing_texts and token}
        declared = sum(tokens[token] for token in column.missing(tokens) if token and token not in usual)
        if usual and reading.na is None:
            found.append(
                Diagnostic("missing-texts", column=name, texts=tuple(sorted(usual)), cells=sum(usual.values()))
            )
        if declared:
            found.append(Diagnostic("sentinels-treated", column=name, cells=declared))
    return found


def _about_numbers(decided: Decided, reading: Reading) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    named = list(zip(decided.names, decided.columns, decided.cells, strict=True))
    numbers = [(name, column, cells) for name, column, cells in named if column.kind in ("whole", "real")]
    marked = [(n, c) for n, c, cells in numbers if cells.shapes.decimal is not None or cells.shapes.ambiguous]
    if commas := tuple(name for name, column in marked if column.decimal == "," and column.kind == "real"):
        found.append(Diagnostic("decimal-commas", columns=commas))
    if groups := tuple(name for name, column, _ in numbers if column.grouped):
        found.append(Diagnostic("grouped-digits", columns=groups))
    if percents := tuple(name for name, column, _ in numbers if column.percent):
        found.append(Diagnostic("percentages", columns=percents))
    if indents := tuple(name for name, column, cells in named if column.kind == "text" and cells.indented):
        found.append(Diagnostic("spaces-dropped", columns=indents))
    if identifiers := tuple(name for name, _, cells in named if cells.shapes.identifiers):
        found.append(Diagnostic("kept-as-text", columns=identifiers))
    if reading.decimal is None and reading.thousands is None:
        # "1.234" in a file of commas is as common as it is plain; any other guess is worth a warning.
        plain = decided.layouts[0].sep == ","
        guessed = [(n, c) for n, c, cells in numbers if cells.shapes.ambiguous and (c.grouped or not plain)]
        for mark in (".", ","):
            if names := tuple(name for name, column in guessed if column.decimal == mark):
                found.append(Diagnostic("ambiguous-numbers", columns=names, decimal=mark))
    return found


def _listed(values: set[str]) -> str | None:
    return " or ".join(sorted(values)) or None


_KEPT_NOW, _MOST_KEPT = 1 << 24, 1 << 29  # bytes of memory, about
_CELL = 16  # bytes that a cell takes at most, but for long texts
_UNPACKED = 8  # times the size of a compressed file


@dataclass(frozen=True)
class Part:
    """One file, and how the engine reads it: in place, or from a copy in UTF-8 that begins with the records."""

    path: str
    read: str
    skip: int
    encoding: str
    layout: Layout
    hollow: bool


@dataclass(frozen=True)
class TextTable:
    """The statement that yields the table, what was decided on the way, and the decisions as a `Reading`.

    `kept` says when its cells are taken into memory, where to read them is quicker than to make them out of text again:
    of a small table now, of a larger one once it is asked about again, of one that fills the memory never.
    """

    sql: str
    findings: list[Diagnostic]
    reading: Reading
    kept: Literal["now", "later", "never"]
    rows: int


def read_text(space: Workspace, paths: Sequence[str], reading: Reading, *, shown: str, sheet: str | None) -> TextTable:
    """Decide how the files are to be read. `shown` names them in sentences; `sheet` is where they were copied from."""
    parts = [_part(space, path, reading, shown if len(paths) == 1 else f"the file {path!r}") for path in paths]
    names = parts[0].layout.names
    for part in parts[1:]:
        if part.layout.names != names:
            raise InputError(
                f"the files {paths[0]!r} and {part.path!r} do not have the same columns in the same order: name only "
                f"those that do"
            )
    raw = _raw(parts)
    seen, why = attempt(lambda: scan(space.connection, raw, [_tokens(reading, column) for column in names]))
    if seen is None:
        raise InputError(_broken(parts, shown, is_sheet=sheet is not None) or f"{shown} cannot be read: {why}")
    cells = seen.columns
    by_default = file_decimal((found.shapes for found in cells), parts[0].layout.sep)
    forced = reading.decimal or {",": ".", ".": ","}.get(reading.thousands or "")
    columns = [
        column_of(found.shapes, decimal=forced or found.shapes.decimal or by_default, thousands=reading.thousands)
        for found in cells
    ]
    decided = Decided(
        layouts=tuple(part.layout for part in parts),
        encodings=tuple(part.encoding for part in parts),
        columns=tuple(columns),
        cells=tuple(cells),
        sheet=sheet,
        tabs=paths[0].lower().endswith((".tsv", ".tsv.gz")),
    )
    check_header(decided, reading, shown)
    layout = parts[0].layout
    resolved = replace(
        reading,
        sep=layout.sep if layout.width > 1 else reading.sep,
        encoding=parts[0].encoding,
        skip=reading.skip if reading.header is False else layout.lines - layout.header_lines,
        decimal=forced or decided.decimal,
    )
    sql = _typed(raw, names, columns, cells)
    size = _CELL * seen.rows * len(names) + sum(map(_size, parts))
    kept: Literal["now", "later", "never"] = "never" if size > _MOST_KEPT else "now" if size <= _KEPT_NOW else "later"
    return TextTable(sql, findings_of(decided, reading), resolved, kept, seen.rows)


def _size(part: Part) -> int:
    """About how many bytes of text a file holds."""
    packed = part.read == part.path and compression(part.path) != "none"
    return os.path.getsize(part.read) * (_UNPACKED if packed else 1)


def _part(space: Workspace, path: str, reading: Reading, where: str) -> Part:
    seen = survey(path, reading.encoding)
    start, complete = head(path, seen.encoding)
    layout = find_layout(start, complete=complete, reading=reading, where=where)
    plain = seen.encoding in ("utf-8", "utf-8-sig", "ascii") and seen.uniform
    if plain and layout.lines == (reading.header is not False):
        return Part(path, path, layout.lines, seen.encoding, layout, seen.hollow)
    # The engine is given UTF-8 with one kind of line end and nothing above the header, or a copy that is so: what it
    # makes of titles, of a header of several lines or of mixed line ends need not be known then.
    copy = space.new_file()
    with as_text(path, seen.encoding) as source, copy.open("w", encoding="utf-8", newline="\n") as target:
        for _ in range(layout.lines):
            source.readline()
        shutil.copyfileobj(source, target, 1 << 20)
    return Part(path, str(copy), 0, seen.encoding, layout, seen.hollow)


def _raw(parts: list[Part]) -> str:
    """All cells as text, under the names c0, c1, …; consecutive files of one layout in one statement."""
    runs: list[tuple[tuple[Any, ...], list[str]]] = []
    for part in parts:
        how = (part.layout.sep, part.skip, "none" if part.read != part.path else compression(part.path))
        if not runs or runs[-1][0] != how:
            runs.append((how, []))
        runs[-1][1].append(text(exactly(part.read)))
    width = parts[0].layout.width
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(width))
    # A line with nothing in it, or separators alone, is no row. The engine skips the first, but not where it could be
    # the one field of a row. To ask it of every file would have all columns read where one is counted.
    cells = ", ".join(f"c{place}" for place in range(width))
    filled = f" WHERE coalesce({cells}) IS NOT NULL" if width == 1 or any(part.hollow for part in parts) else ""
    return " UNION ALL ".join(
        f"SELECT * FROM read_csv([{', '.join(files)}], columns = {{{columns}}}, auto_detect = false, header = false, "
        f"skip = {skip}, delim = {text(sep)}, quote = '\"', escape = '\"', strict_mode = true, null_padding = false, "
        f"ignore_errors = false, compression = {text(packed)}){filled}"
        for (sep, skip, packed), files in runs
    )


def _typed(raw: str, names: Sequence[str], columns: Sequence[Column], cells: Sequence[Cells]) -> str:
    """The statement that yields every column under its name and of its type."""
    made = []
    for place, (name, column, found) in enumerate(zip(names, columns, cells, strict=True)):
        whole = f"ltrim(c{place})" if found.indented else f"c{place}"
        value = column.sql(whole if column.kind == "text" else trimmed(place))
        if missing := column.missing(found.tokens):
            value = f"CASE WHEN {among(trimmed(place), missing)} THEN NULL ELSE {value} END"
        made.append(f"{value} AS {quoted(name)}")
    return f"SELECT {', '.join(made)} FROM ({raw})"


def _tokens(reading: Reading, column: str) -> tuple[str, ...]:
    """All texts that count as missing while the type of the column is being decided."""
    return tuple(dict.fromkeys([*reading.missing_texts, *(str(s).strip() for s in reading.sentinels_of(column))]))


def _broken(parts: Sequence[Part], shown: str, *, is_sheet: bool) -> str | None:
    """The sentence for the first line that does not fit: its number, and nothing of what it holds."""
    for part in parts:
        with as_text(part.path, part.encoding) as file:
            line = broken_line(file, part.layout)
        if line is not None:
            where = shown if len(parts) == 1 else f"the file {part.path!r}"
            width = part.layout.width
            fields = f"{width} field{'s' * (width > 1)} like the header"
            if is_sheet:  # whose cells are told apart without a separator, and without quotes
                return (
                    f"{where} cannot be read: line {line} does not have {fields}. Mend it, or say how many lines stand "
                    f"above the header (skip=); it is not shown, for it is a record"
                )
            return (
                f"{where} cannot be read: line {line} does not have {fields}, a quote in it does not end where the "
                f"field does, or it is too long. Mend that line, or name another separator (sep=); it is not shown, "
                f"for it is a record"
            )
    return None
