"""The embedded engine that reads files, and a folder for what must touch the disk that no one else can look into."""

import atexit
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

_ENGINES = {
    *("duckdb", "_duckdb", "pyarrow", "polars", "narwhals"),
    *("ibis", "pyspark", "py4j", "psycopg", "psycopg2"),
}


class Workspace:
    """A DuckDB connection with a folder of its own, which is gone when the workspace is, at the latest at exit.

    The folder takes the engine's spill and rewritten copies of awkward files.
    """

    def __init__(self) -> None:
        """Connect, and make the folder."""
        import duckdb

        _quiet_at_exit()
        self.folder, self._end = private_folder(self, "takifugu-")
        self._files = 0
        self.connection: Any = duckdb.connect(
            config={"temp_directory": os.path.join(self.folder, "spill"), "preserve_insertion_order": True}
        )
        # DuckDB draws its bar on standard output, where the answers of the command line go.
        self.connection.execute("SET enable_progress_bar = false")

    def keep(self, statement: str) -> str:
        """Take what a statement yields into memory, once; the statement that yields it from there, in its order."""
        self.connection.execute(f"CREATE TABLE kept AS {statement}")
        return "SELECT * FROM kept"

    def new_file(self) -> "Path":
        """A path in the private folder that is not taken."""
        from pathlib import Path

        self._files += 1
        return Path(self.folder) / f"{self._files}.csv"


@cache
def _quiet_at_exit() -> None:
    """Let go of the types that narwhals remembers before the interpreter ends, once per process.

    DuckDB's binding reports every object that outlives it as a leak, in forty lines on standard error, where a command
    says one sentence.
    """

    def forget() -> None:
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


def kind_of(dtype: Any) -> str:
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
        if not is_engine_error(error):
            raise
        return None, reason(error)


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


def private_folder(of: object, prefix: str) -> tuple[str, Callable[[], Any]]:
    """A folder for its owner alone, under a name nobody can foresee; gone when `of` is, or with what is returned."""
    folder = tempfile.mkdtemp(prefix=prefix)
    return folder, weakref.finalize(of, _remove, folder, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not empty its parent's folder
        shutil.rmtree(folder, ignore_errors=True)
