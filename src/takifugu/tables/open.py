"""The one way in: a path, a pattern of paths or a table of any library, opened and decided upon once for every door."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError
from takifugu.problems import Diagnostic
from takifugu.tables.engine import Workspace, attempt, exactly, in_usual_types, is_engine_error, text
from takifugu.tables.files import Stamp, files_of, stamps_of
from takifugu.tables.reading import Reading, idle_words
from takifugu.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

    from takifugu.tables.files import Sheet


SAME_NAME = "two columns of the table have the same name: rename one of them"  # where narwhals would say it its own way


@dataclass(frozen=True)
class Opened:
    """A lazy frame, the workspace that it lives in if it is a file, and what was decided."""

    frame: "nw.LazyFrame[Any]"
    space: Workspace | None
    read_as: Reading
    findings: list[Diagnostic]
    is_text: bool
    aside: str = ""  # what to add where a column is missed, or rows are: they may be on another sheet
    stamps: dict[str, Stamp] = field(default_factory=dict)  # of files that every question reads anew
    rows: int | None = None  # of a text file, all of which was looked at


def open_table(source: object, *, reading: Reading | None = None) -> Table:
    """Open a table for calibration, release and every other door.

    Args:
        source: a path to CSV, TSV, text, Parquet or Excel files, or a pattern of paths (a path that exists is that
            file, whatever characters its name has); a pandas, Polars or PyArrow table, a DuckDB relation, an ibis
            table or a PySpark dataframe.
        reading: what is known of it beforehand; the rest is decided from all of it, and told in `findings`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "stays.csv"
    ...     _ = path.write_text("ward;days\\nA;3,5\\nB;12,25\\n")
    ...     table = open_table(path)
    ...     print(table.numeric, [str(finding) for finding in table.findings])
    ['days'] ['the file was read with semicolons between its fields', "commas were read as decimal marks in 'days'"]
    """
    return Table(source, reading)


def opened(source: object, reading: Reading, *, shown: str, accepted: str) -> Opened:
    """What `Table` is made of.

    Args:
        source: a path, or a table of any library.
        reading: what is known of its form.
        shown: what it is called in errors.
        accepted: what may be given, for the error.

    Returns:
        A lazy frame with what keeps it alive, and remarks on how it was read.

    Raises:
        InputError: for what is no table, or cannot be read.
    """
    import narwhals as nw

    if isinstance(source, str) and not os.path.exists(source):
        from takifugu import datasets

        if source in datasets.names():
            source = datasets.load(source)
    if isinstance(source, str | os.PathLike):
        return _file(os.fspath(source), reading, shown)
    try:
        frame: Any = nw.from_native(in_usual_types(source)).lazy()
        frame.collect_schema()
    except nw.exceptions.DuplicateError:
        raise InputError(SAME_NAME) from None
    except (TypeError, AttributeError):
        raise InputError(f"table must be {accepted}; got {type(source).__name__}") from None
    except ValueError as error:  # a type that narwhals has no name for, such as numeric(40, 0) of a database
        if is_engine_error(error) or isinstance(error, InputError):
            raise
        raise InputError(
            "a column of the table has a type that cannot be read here, such as whole numbers of more than 38 digits: "
            "leave it out of what is given, or convert it to text or float64"
        ) from None
    return Opened(frame, None, reading, [], False)


def _file(source: str, reading: Reading, shown: str) -> Opened:
    import narwhals as nw

    files = files_of(source)
    _refuse_idle(files.kind, reading, shown)
    stamps = stamps_of(files.paths) if files.kind != "excel" else {}  # of that there is a copy
    space = Workspace(files.paths)
    read_as, findings, aside, kept, rows = reading, [], "", "never", None
    if files.kind == "parquet":
        sql = parquet_sql(space, files.paths, shown=shown)
    else:
        from takifugu.tables.text_file import read_text

        if files.kind == "excel":
            paths, first, how = _sheets(space, files.paths, reading)
            aside = first.sentence
            with _beside(aside):
                found = read_text(space, paths, how, shown=shown, sheet=first.name)
            found = replace(found, reading=replace(found.reading, sep=None, encoding=None))  # those of our copy
            findings = [one.but(beside=first.tables) if one.code == "read-as" else one for one in found.findings]
        else:
            found = read_text(space, files.paths, reading, shown=shown, sheet=None)
            findings = found.findings
        sql, read_as, kept, rows = found.sql, found.reading, found.kept, found.rows
    how_kept: dict[str, Callable[[str], str]] = {"now": space.keep, "later": space.keep_later, "never": str}
    relation, why = attempt(lambda: space.connection.sql(how_kept[kept](sql)))
    if relation is None:
        raise InputError(f"{shown} cannot be read: {why}")
    again = {} if kept == "now" else stamps
    return Opened(nw.from_native(relation), space, read_as, findings, files.kind != "parquet", aside, again, rows)


def _refuse_idle(kind: str, reading: Reading, shown: str) -> None:
    """Refuse what would be passed over without a word: whoever says it takes the file for one of another kind."""
    if idle := idle_words(kind, reading):
        what = {"text": "a text file", "excel": "an Excel file", "parquet": "a Parquet file"}[kind]
        said = f"header={reading.header}" if idle[0] == "header" else f"`{idle[0]}`"
        raise InputError(f"{shown} is {what}, of which {said} says nothing: leave it out")


def reading_beside(source: object, reading: Reading | None) -> Reading | None:
    """How one table is read, for another beside it: of a file of another kind, and not of a table that is open."""
    if isinstance(source, Table):
        return source.reading
    if reading is None or not isinstance(source, str | os.PathLike):
        return reading
    unsaid: dict[str, Any] = dict.fromkeys(idle_words(files_of(os.fspath(source)).kind, reading))
    return replace(reading, **unsaid)


@contextmanager
def _beside(aside: str) -> Iterator[None]:
    """Whoever hears that a sheet is no table learns which it was: it may be a cover."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{str(error).rstrip('.')}.{aside}" if aside else str(error)) from None


def _sheets(space: Workspace, paths: tuple[str, ...], reading: Reading) -> "tuple[tuple[str, ...], Sheet, Reading]":
    """Sheets as text files; how those are written is ours to know and not the reader's to decide."""
    from takifugu.tables.files import sheet_as_text

    copies, sheets = [], []
    for path in paths:
        copy = space.new_file()
        sheets.append(sheet_as_text(path, copy, reading))
        copies.append(str(copy))
    return tuple(copies), sheets[0], replace(reading, sep=",", encoding="utf-8")


# Parquet files as SQL: their own types, one schema for all of them.


def parquet_sql(space: Workspace, paths: Sequence[str], *, shown: str) -> str:
    """The statement that yields the rows of the files, in order. No column is made of the names of folders."""
    first: list[tuple[str, str]] | None = None
    for path in paths:
        where = shown if len(paths) == 1 else f"the file {path!r}"
        columns = _columns(space, path, where)
        if first is not None and columns != first:
            raise InputError(
                f"the files {paths[0]!r} and {path!r} do not have the same columns of the same types in the same "
                f"order: name only those that do"
            )
        first = columns
    return _read(paths)


def _read(paths: Sequence[str]) -> str:
    files = ", ".join(text(path if "://" in path else exactly(path)) for path in paths)
    return f"SELECT * FROM read_parquet([{files}], hive_partitioning = false, union_by_name = false)"


def _columns(space: Workspace, path: str, where: str) -> list[tuple[str, str]]:
    """Names and types. The engine renames names that differ in capitals alone, so those of the file are looked at."""
    pattern = text(path if "://" in path else exactly(path))
    nodes, why = attempt(
        lambda: space.connection.execute(f"SELECT name, num_children FROM parquet_schema({pattern})").fetchall()
    )
    told, again = attempt(lambda: space.connection.execute(f"DESCRIBE {_read([path])}").fetchall())
    if nodes is None or told is None:
        raise InputError(f"{where} cannot be read: {why or again}")
    from takifugu.tables.text_file import check_names

    check_names(_top(nodes), where)
    return [(name, kind) for name, kind, *_ in told]


def _top(nodes: list[tuple[str, int | None]]) -> list[str]:
    """The names right below the root of a schema that is told depth first."""
    names, place = [], 1
    while place < len(nodes):
        names.append(nodes[place][0])
        waiting = 1
        while waiting:
            waiting += (nodes[place][1] or 0) - 1
            place += 1
    return names
