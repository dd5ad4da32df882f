"""One interface to any table: a file, a dataframe or a query in an engine, read where it lives.

A path is handed to DuckDB, embedded; whatever narwhals understands (pandas, Polars, PyArrow, DuckDB
relations, ibis tables, PySpark dataframes) stays in its own engine. Nothing here brings rows home: `collect`
is called on the result of a group-by, whose size `takifugu.tables.count` and `takifugu.tables.sample` keep in bounds.
"""

import glob
import math
import os
import tempfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from takifugu._nearest import suggestion
from takifugu.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

Secret = str | int | float | bool

CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
_ACCEPTED = (
    "a path to CSV or Parquet files, a pandas, Polars or PyArrow table, a DuckDB relation, an ibis table, "
    "or a PySpark dataframe"
)


class Table:
    """A table in whatever engine holds it, with the few questions that fitting asks.

    >>> import pandas as pd
    >>> Table(pd.DataFrame({"sex": ["f", "m"], "age": [30, 40]})).numeric
    ['age']
    """

    def __init__(self, source: Any) -> None:
        """Open `source`; nothing is read beyond what tells the columns and their types."""
        self.name = f"the file {os.fspath(source)!r}" if isinstance(source, str | os.PathLike) else "the table"
        self.frame: nw.LazyFrame[Any] = _open(source)
        self.schema = dict(self.frame.collect_schema())
        if not self.schema:
            raise InputError(f"{self.name} has no columns")

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    @property
    def numeric(self) -> list[str]:
        """The columns that hold numbers."""
        return [name for name, dtype in self.schema.items() if dtype.is_numeric()]

    def require(self, column: Any) -> None:
        """Raise, naming the nearest, unless there is such a column."""
        if column not in self.schema:
            raise InputError(
                f"{self.name} has no column {column!r}.{suggestion(column, self.schema)} "
                f"Its columns are {listed(self.columns)}."
            )

    def number(self, column: str) -> "nw.Expr":
        """The column as float64, null where it holds no number; an error where it holds something else."""
        import narwhals as nw

        self.require(column)
        dtype = self.schema[column]
        if dtype == nw.Boolean:
            value = nw.col(column).cast(nw.Int32).cast(nw.Float64)  # PostgreSQL casts truth to int4 alone
        elif dtype.is_numeric():
            value = nw.col(column).cast(nw.Float64)
        else:
            raise self._no_numbers(column)
        return nw.when(~value.is_null() & ~value.is_nan()).then(value)

    def secret(self, column: str) -> "nw.Expr":
        """The column of secrets, null where there is none."""
        import narwhals as nw

        self.require(column)
        dtype, value = self.schema[column], nw.col(column)
        if dtype.is_float() or dtype.is_decimal():
            value = value.cast(nw.Float64)
            return nw.when(~value.is_null() & ~value.is_nan()).then(value)
        if dtype in (nw.Categorical, nw.Enum, nw.Object):
            # A cast of its own would spell the missing ones "None" or "nan".
            return nw.when(~value.is_null()).then(value.cast(nw.String))
        if dtype in (nw.String, nw.Boolean) or dtype.is_integer():
            return value
        raise InputError(
            f"column {column!r} holds {dtype}, and a secret is text, a number or a truth value: convert it to text"
        )

    def _no_numbers(self, column: str) -> InputError:
        """Why a column is no column of numbers: an empty one has no type of its own in a CSV file or an object."""
        import narwhals as nw

        answer = self.collect(self.frame.select(nw.len().alias("rows"), nw.col(column).count().alias("values")))
        (rows,), (values,) = answer["rows"], answer["values"]
        if not rows:
            return InputError(f"{self.name} has no rows")
        if not values:
            return InputError(f"column {column!r} has no value in any of the {rows} rows")
        dtype = self.schema[column]
        kind = "text" if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) else str(dtype)
        return InputError(
            f"column {column!r} holds {kind}, and numbers are needed: convert it, or name one of "
            f"{listed(self.numeric) or 'those with numbers (there is none)'}"
        )

    def collect(self, frame: "nw.LazyFrame[Any]") -> dict[str, list[Any]]:
        """Run the query in the engine and bring its (small) result here, column by column."""
        try:
            # DuckDB's answers come by way of pandas, so that PyArrow stays optional.
            result = frame.collect("pandas" if frame.implementation.is_duckdb() else None)
        except Exception as error:
            if _is_duckdb_error(error):
                raise InputError(f"{self.name} cannot be read: {_first_line(error)}") from error
            raise
        return {name: result.get_column(name).to_list() for name in result.columns}


def plain(value: Any) -> Secret | None:
    """A secret as the plain Python value that people write, None where there is none.

    >>> import numpy as np
    >>> plain(np.int64(3)), plain("a"), plain(float("nan"))
    (3, 'a', None)
    """
    if hasattr(value, "item"):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType":
        return None  # pandas' NA is told by its type, so that pandas need not be there
    return value if isinstance(value, bool | int | float) else str(value)


def match_secret(given: Any, known: Iterable[Secret]) -> Secret | None:
    """The known secret that `given` stands for: 1, 1.0 and the text '1' are one; None where there is none.

    >>> match_secret("1", [1, 2]), match_secret(1.0, ["1", "2"]), match_secret("3", [1, 2])
    (1, '1', None)
    """
    known = list(known)
    for candidate in known:
        if candidate == given:
            return candidate
    spelled = _spelling(given)
    return next((candidate for candidate in known if _spelling(candidate) == spelled), None)


def listed(items: Iterable[Any], most: int = 20) -> str:
    """Items for a sentence: the first few, and how many more there are."""
    items = list(items)
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def _spelling(value: Any) -> str:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return repr(number) if math.isfinite(number) else str(value)


def _open(source: Any) -> "nw.LazyFrame[Any]":
    import narwhals as nw

    if isinstance(source, str | os.PathLike):
        return _open_file(os.fspath(source))
    try:
        frame: Any = nw.from_native(source)
    except TypeError:
        raise InputError(f"table must be {_ACCEPTED}; got {type(source).__name__}") from None
    return frame.lazy()  # type: ignore[no-any-return]


def _open_file(path: str) -> "nw.LazyFrame[Any]":
    import duckdb
    import narwhals as nw

    lower = path.lower()
    if not lower.endswith(CSV + PARQUET):
        raise InputError(f"cannot tell the format of {path!r}: its name must end in {', '.join(CSV + PARQUET)}")
    if "://" not in path and not os.path.exists(path) and not glob.glob(path, recursive=True):
        wanted = "no file matches" if glob.has_magic(path) else "there is no file"
        raise InputError(f"{wanted} {path!r}, looked up from {os.getcwd()!r}")
    if os.path.isfile(path) and not os.path.getsize(path):
        raise InputError(f"the file {path!r} is empty")
    # Should a query outgrow memory, its spill belongs with the other temporary files, not beside the data.
    connection = duckdb.connect(config={"temp_directory": os.path.join(tempfile.gettempdir(), "takifugu-spill")})
    # DuckDB draws its bar on standard output, where the answers of the command line go.
    connection.execute("SET enable_progress_bar = false")
    try:
        relation = connection.read_parquet(path) if lower.endswith(PARQUET) else _read_csv(connection, path)
    except duckdb.Error as error:
        raise InputError(f"the file {path!r} cannot be read: {_first_line(error)}") from error
    frame: nw.LazyFrame[Any] = nw.from_native(relation)
    return frame


def _read_csv(connection: Any, path: str) -> Any:
    """The file with the types of its columns, decided by all its rows.

    A sample would take the first decimal point for an error. DuckDB takes "yes" and "no" for truth values, but people
    name a secret as the file spells it: such columns stay text.
    """
    relation = connection.read_csv(path, header=True, sample_size=-1)
    truths = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "BOOLEAN"]
    if not truths:
        return relation
    spelled = connection.read_csv(path, header=True, sample_size=-1, dtype=dict.fromkeys(truths, "VARCHAR"))
    texts = []
    for name in truths:
        quoted = '"' + name.replace('"', '""') + '"'
        if spelled.filter(f"lower({quoted}) NOT IN ('true', 'false')").limit(1).fetchall():
            texts.append(name)
    return connection.read_csv(path, header=True, sample_size=-1, dtype=dict.fromkeys(texts, "VARCHAR"))


def _is_duckdb_error(error: Exception) -> bool:
    return any(base.__name__ == "Error" and "duckdb" in base.__module__ for base in type(error).__mro__)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
