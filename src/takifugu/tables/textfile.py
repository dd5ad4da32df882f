"""A text file as SQL: every cell first as text, then as what all the cells of its column turned out to be.

One statement serves every door, whether it counts in the engine or streams the rows out: what one reads, all read.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from takifugu.errors import InputError
from takifugu.problems.findings import Finding
from takifugu.tables.decisions import Decided, check_header, findings_of
from takifugu.tables.decoding import as_text, head, survey
from takifugu.tables.engine import Workspace, attempt, exactly, text
from takifugu.tables.engine import name as quoted
from takifugu.tables.formats import compression
from takifugu.tables.layout import Layout, broken_line, find_layout
from takifugu.tables.reading import Reading
from takifugu.tables.scan import Cells, among, scan, trimmed
from takifugu.tables.shapes import Column, column_of, file_decimal

_MOST_KEPT = 1 << 29  # bytes of memory, about
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


@dataclass(frozen=True)
class TextTable:
    """The statement that yields the table, what was decided on the way, and the decisions as a `Reading`.

    `is_small` where all cells fit in little memory: to read them there is quicker than to make them out of text again
    for every question.
    """

    sql: str
    findings: list[Finding]
    reading: Reading
    is_small: bool


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
    small = _CELL * seen.rows * len(names) + sum(map(_size, parts)) <= _MOST_KEPT
    return TextTable(sql, findings_of(decided, reading), resolved, small)


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
        return Part(path, path, layout.lines, seen.encoding, layout)
    # The engine is given UTF-8 with one kind of line end and nothing above the header, or a copy that is so: what it
    # makes of titles, of a header of several lines or of mixed line ends need not be known then.
    copy = space.new_file()
    with as_text(path, seen.encoding) as source, copy.open("w", encoding="utf-8", newline="\n") as target:
        for _ in range(layout.lines):
            source.readline()
        shutil.copyfileobj(source, target, 1 << 20)
    return Part(path, str(copy), 0, seen.encoding, layout)


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
    # A line with nothing in it is no row. The engine skips it, but not where it could be the one field of a row.
    filled = " WHERE c0 IS NOT NULL" if width == 1 else ""
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
