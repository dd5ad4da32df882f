"""The embedded engine that reads files, and a folder for what must touch the disk that no one else can look into."""

import atexit
import os
import secrets
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb
    import narwhals as nw
    import pyarrow as pa

    from takifugu.tables.table import Table


T = TypeVar("T")

_ENGINES = {
    *("duckdb", "_duckdb", "pyarrow", "polars", "narwhals"),
    *("ibis", "pyspark", "py4j", "psycopg", "psycopg2"),
}

# Engines whose workspaces are gone: to start one takes longer than to read a small file. One that was for larger files
# is ended instead, since that alone frees all its memory. None lives on in a fork, where its threads do not.
_idle: "list[duckdb.DuckDBPyConnection]" = []
_MOST_IDLE = 2  # what is published is often held against what it was made of
_SMALL = 1 << 20  # bytes of files, packed or not
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_idle.clear)
_ASKED_AGAIN = 3  # the question before which a table is kept: a count and one reading are done before that is worth it
_numbers = count(1)


class Workspace:
    """A DuckDB connection with a folder of its own, which is gone when the workspace is, at the latest at exit.

    The folder takes the engine's spill and rewritten copies of awkward files. No two workspaces share an engine, but
    where one for small files is gone, and what it kept, the next goes on with its engine.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """Connect, and make the folder, for questions about these files."""
        _quiet_at_exit()
        self.folder, self._end = private_folder(self, "takifugu-")
        self._files = 0
        self._kept: list[str] = []
        self._later: tuple[str, str] | None = None
        self._questions = 0
        self._lock = Lock()
        self._is_small = _are_small(paths)
        self._owner = os.getpid()
        with heeding_ctrl_c():
            self.connection = _engine(os.path.join(self.folder, "spill"))

    def keep(self, statement: str) -> str:
        """Take what a statement yields into memory, once; the statement that yields it from there, in its order."""
        kept = f"kept_{next(_numbers)}"  # under a name of its own: no question about another table is answered with it
        self.connection.execute(f"CREATE TABLE {kept} AS {statement}")
        self._kept.append(kept)
        return f"SELECT * FROM {kept}"

    def keep_later(self, statement: str) -> str:
        """The statement that yields the same; what it yields is taken into memory when it is asked for once more."""
        view = f"view_{next(_numbers)}"
        self.connection.execute(f"CREATE VIEW {view} AS {statement}")
        self._later = view, statement
        return f"SELECT * FROM {view}"

    def question(self) -> None:
        """Say that a question about the table comes: one reads the file, and more of them read what was kept."""
        with self._lock:
            self._questions += 1
            if self._later is None or self._questions < _ASKED_AGAIN:
                return
            view, statement = self._later
            self._later = None
            self.connection.execute(f"CREATE OR REPLACE VIEW {view} AS {self.keep(statement)}")

    def new_file(self) -> "Path":
        """A path in the private folder that is not taken."""
        from pathlib import Path

        self._files += 1
        return Path(self.folder) / f"{self._files}.csv"

    def __del__(self) -> None:
        """Leave the engine to the next, unless enough are waiting or this is a copy in a forked process."""
        if not hasattr(self, "connection") or not self._is_small or self._owner != os.getpid():
            return
        with suppress(Exception):  # an engine that fails is not used again
            for kept in self._kept:
                self.connection.execute(f"DROP TABLE {kept}")
            if len(_idle) < _MOST_IDLE and not sys.is_finalizing():
                _idle.append(self.connection)


def _are_small(paths: Iterable[str]) -> bool:
    try:
        return sum(map(os.path.getsize, paths)) <= _SMALL
    except OSError:  # of files elsewhere nothing is known
        return False


def _engine(spill: str) -> "duckdb.DuckDBPyConnection":
    """The engine that waits, if it can put its spill there, or else a new one."""
    import duckdb

    with suppress(IndexError, duckdb.Error):  # one that has spilled before has its place for good
        waiting = _idle.pop()
        waiting.execute(f"SET temp_directory = {text(spill)}")
        return waiting
    started = duckdb.connect(config={"temp_directory": spill, "preserve_insertion_order": True})
    # DuckDB draws its bar on standard output, where the answers of the command line go.
    started.execute("SET enable_progress_bar = false")
    return started


@cache
def _quiet_at_exit() -> None:
    """Let go of the types that narwhals remembers, and of idle engines, before the interpreter ends.

    DuckDB's binding reports every object that outlives it as a leak, in forty lines on standard error, where a command
    says one sentence.
    """

    def forget() -> None:
        _idle.clear()
        for module in [module for name, module in sys.modules.items() if name.startswith("narwhals")]:
            for member in list(vars(module).values()):
                if hasattr(member, "cache_clear"):
                    member.cache_clear()

    atexit.register(forget)


def text(value: str) -> str:
    """An SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """An SQL name."""
    return '"' + value.replace('"', '""') + '"'


def exactly(path: str) -> str:
    """A pattern that means this path alone: DuckDB takes every name for a pattern."""
    import glob

    return glob.escape(path)


def is_engine_error(error: Exception) -> bool:
    """Whether an error came out of an engine, whose messages quote the lines of a file or the values of a column."""
    modules = {base.__module__.partition(".")[0] for base in type(error).__mro__}
    return bool(modules & _ENGINES)


def kind_of(dtype: object) -> str:
    """The name of a column's type alone: in full, that of labels lists all of them, and that of a structure its fields.

    >>> kind_of("Enum(categories=['common', 'of one person'])"), kind_of("Date")
    ('text', 'Date')
    """
    kind = str(dtype).partition("(")[0]
    return "text" if kind in ("String", "Categorical", "Enum", "Object") else kind


def attempt(work: Callable[[], T]) -> tuple[T | None, str | None]:
    """What the work returns, or why an engine could not do it.

    The engine's own error is let go of: its message may quote a record, and so would a traceback that holds it.
    """
    try:
        return work(), None
    except Exception as error:
        if _is_interrupted(error):
            raise KeyboardInterrupt from None
        if not is_engine_error(error):
            raise
        return None, reason(error)


def _is_interrupted(error: Exception) -> bool:
    """Whether somebody pressed Ctrl-C, which DuckDB tells in ways of its own."""
    is_told = type(error) is RuntimeError and str(error) == "Query interrupted"
    return is_told or type(error).__name__ == "InterruptException"


@contextmanager
def heeding_ctrl_c() -> Iterator[None]:
    """Work of an engine that ends with Ctrl-C as all other work does."""
    try:
        yield
    except Exception as error:
        if _is_interrupted(error):
            raise KeyboardInterrupt from None
        raise


def reason(error: Exception) -> str:
    """What went wrong inside an engine, in words that show nothing of the file.

    >>> reason(MemoryError())
    'it does not fit in memory'
    """
    kind = type(error).__name__
    if "Memory" in kind:
        return "it does not fit in memory"
    if isinstance(error, OSError) or kind in ("IOException", "HTTPException", "PermissionException"):
        return "it is damaged, unfinished or not of the format its name says, or the disk failed"
    if kind in ("ConversionException", "OutOfRangeException", "ArrowInvalid"):
        return "a value is not of the type of its column; it may have changed while it was read"
    if kind == "InvalidInputException":
        return "its lines do not fit the columns, or it changed while it was read"
    return f"its engine reports a {kind}"


def private_folder(of: object, prefix: str) -> tuple[str, Callable[[], object]]:
    """A folder for its owner alone, under a name nobody can foresee; gone when `of` is, or with what is returned."""
    folder = os.path.join(tempfile.gettempdir(), prefix + secrets.token_hex(8))
    end = weakref.finalize(of, _remove, folder, os.getpid())  # before it is there: Ctrl-C may come the moment after
    os.mkdir(folder, 0o700)
    return folder, end


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not empty its parent's folder
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except KeyboardInterrupt:
            shutil.rmtree(folder, ignore_errors=True)
            raise


# Cells as floats, the same ones in every engine: this is where a number in a table becomes a number of ours.

_HALF = 2**32


def as_float(column: str, dtype: "nw.dtypes.DType", engine: "nw.Implementation") -> "nw.Expr":
    """A column of numbers as float64, each the nearest.

    Decimals go by way of their digits: read as text each becomes the nearest float, where PyArrow's own cast misses it
    by the last bit once in eight times. A number would then be another one in another engine, or on the other side of
    an edge. Whole numbers beyond 2⁵³ it does not cast at all, and quotes one of them: an identifier, somebody's.

    There is one zero. Rounding makes negative ones, which PyArrow and Polars count as values of their own, and no list
    of values can hold both. Adding zero is not enough: Polars leaves that out.
    """
    import narwhals as nw

    value = nw.col(column)
    has_arrow = engine.is_pyarrow() or engine.is_pandas_like()
    if dtype == nw.Int64 and has_arrow:
        high = value // _HALF  # it and the rest are exact, and so is what a power of two makes of it
        return high.cast(nw.Float64) * float(_HALF) + (value - high * _HALF).cast(nw.Float64)
    if dtype.is_decimal() or (has_arrow and dtype in (nw.UInt64, nw.Int128, nw.UInt128)):
        value = value.cast(nw.String)
    value = value.cast(nw.Float64)
    return value if dtype.is_integer() else nw.when(value == 0).then(value.abs()).otherwise(value).alias(column)


# PyArrow's rarer types, of which its own functions know little, as the types that all of them know.


def in_usual_types(native: Any) -> Any:
    """A table or a column of PyArrow with texts in place of views of them, and floats in place of halves.

    Every value stays what it is. Whatever is not PyArrow's is handed back as it came.
    """
    if type(native).__module__.partition(".")[0] != "pyarrow":
        return native
    if hasattr(native, "schema") and hasattr(native, "column_names"):
        usual = {place: _usual(field.type) for place, field in enumerate(native.schema)}
        for place, kind in usual.items():
            if kind is not None:
                name = native.column_names[place]
                native = native.set_column(place, name, _cast(native.column(place), kind))
        return native
    kind = _usual(getattr(native, "type", None))
    return native if kind is None else _cast(native, kind)


def _cast(column: "pa.ChunkedArray", kind: "pa.DataType") -> "pa.ChunkedArray":
    import pyarrow as pa

    try:
        return column.cast(kind)
    except pa.ArrowNotImplementedError:  # older versions do not cast halves
        return pa.array([None if one is None else float(one) for one in column.to_pylist()], kind)


def _usual(kind: object) -> "pa.DataType | None":
    import pyarrow as pa

    return {"string_view": pa.string(), "binary_view": pa.binary(), "halffloat": pa.float32()}.get(str(kind))


# How many different values columns have, beside whatever else is asked of a table in the same pass.


def answers(
    table: "Table", frame: "nw.LazyFrame[Any]", asked: "Mapping[str, nw.Expr]", distinct: Mapping[str, str]
) -> dict[str, Any]:
    """One number for each name that is asked for, and for each of `distinct` how many values its column has.

    What is missing counts as one of them. Through ibis each column is a question of its own: in one it would have
    PostgreSQL make a small number of a truth, which that refuses.
    """
    import narwhals as nw

    here = {} if frame.implementation.is_ibis() else {name: nw.col(of).n_unique() for name, of in distinct.items()}
    together = dict(asked) | here
    found = table.collect(frame.select(*(what.alias(name) for name, what in together.items()))) if together else {}
    for name in distinct.keys() - here.keys():
        found |= table.collect(frame.select(distinct[name]).unique().select(nw.len().alias(name)))
    return {name: column[0] for name, column in found.items()}
