"""Columns and tables of any dataframe library, through narwhals."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.atomic import draft, open_to_readers
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.releases.binding import Columns, as_called, as_counted, has_pairs, protected_rows, refuse_fewer
from takifugu.releases.drift import refuse_drift
from takifugu.releases.ledgers_nearby import Beside
from takifugu.releases.passed_through import Watch, harmless
from takifugu.releases.plan import SHUFFLE, Places, Plan, shuffled
from takifugu.tables import (
    SAME_NAME,
    Coded,
    Reading,
    Table,
    as_float,
    as_read,
    as_text,
    attempt,
    in_usual_types,
    is_counted_as_text,
    kind_of,
    plain,
    stream,
)

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from narwhals.typing import IntoDataFrame, IntoLazyFrame, IntoSeries
    from polars.datatypes import DataTypeClass

    NativeTable: TypeAlias = pd.DataFrame | pl.DataFrame | pa.Table
    PolarsType: TypeAlias = pl.DataType | DataTypeClass

# Tables without what their library stores beside the values: notes of a source, and cells of rows that stayed at
# home.
#
# A table that is handed on in memory, pickled or written in its library's own format takes all of that along.


def without_traces(native: "NativeTable", made: Collection[str] = ()) -> "NativeTable":
    """A table of pandas, Polars or PyArrow that holds the values of its own cells, its names, and nothing else.

    Columns of PyArrow that were `made` a moment ago, row by row, have nothing beside their values.
    """
    if hasattr(native, "replace_schema_metadata"):
        return _of_arrow(native, made)
    if type(native).__module__.partition(".")[0] == "polars":
        return _of_polars(native)
    return _of_pandas(native) if hasattr(native, "reset_index") else native


def _of_pandas(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The index of a table which was sorted, filtered or mixed says where each row once stood.

    What its columns are called together is often the name of one that was left behind, and columns of pandas' own types
    hold a value beneath each that is missing: what was there before. A table that was not changed is a view into the
    one that it was taken from, whose true values lie beside its own. And a text may be of a class that carries more
    than its letters: one that was cut out of a web page brings the page along.
    """
    import pandas as pd

    frame = frame.reset_index(drop=True).rename_axis(columns=None).copy()
    frame.attrs.clear()
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.ArrowDtype):
            held = column.array.__arrow_array__()
            frame[name] = pd.arrays.ArrowExtensionArray(_arrow_copy(held, _arrow_type(held.type)))
        elif pd.api.types.is_extension_array_dtype(column.dtype):
            has_holes = column.isna().any()
            # A copy of what lies in PyArrow is the same memory; what is taken from it is not.
            frame[name] = (
                pd.array(list(column), dtype=column.dtype) if has_holes else column.array.take(np.arange(len(column)))
            )
        elif column.dtype == object:
            plain = np.empty(len(column), dtype=object)
            plain[:] = [str.__str__(one) if isinstance(one, str) else one for one in column]
            frame[name] = pd.Series(plain, dtype=object)
    return frame


def _of_polars(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Texts of Polars are views into those of the table they were taken from: all of its rows, in its order.

    Beneath a missing value lies what was there before.
    """
    import polars as pl

    whole = (pl.String, pl.Binary, pl.List, pl.Array, pl.Struct)
    held = [one for one in frame.get_columns() if isinstance(one.dtype, whole) or one.null_count()]
    return frame.with_columns(_polars_copy(one.cast(_polars_type(one.dtype))) for one in held)


def _polars_copy(column: "pl.Series") -> "pl.Series":
    """The values anew, one by one; of dates and times the numbers behind them, since Python's have fewer digits."""
    import polars as pl

    if "Decimal" in str(column.dtype):  # whose numbers lack the point
        return pl.Series(column.name, column.to_list(), dtype=column.dtype)
    if column.dtype == pl.String and (copied := _through_arrow(column)) is not None:
        return copied
    numbers = column.to_physical()
    return pl.Series(column.name, numbers.to_list(), dtype=numbers.dtype).cast(column.dtype)


def _through_arrow(column: "pl.Series") -> "pl.Series | None":
    """A column of texts as one whose memory has the letters of its own cells alone; None without PyArrow."""
    try:
        import polars as pl
        import pyarrow as pa
    except ImportError:
        return None
    return pl.Series(column.name, _arrow_copy(pa.chunked_array([column.to_arrow()]), pa.large_string()))


def _polars_type(dtype: "PolarsType") -> "PolarsType":
    """The type with texts in place of labels, which it lists whether or not a row has them."""
    import polars as pl

    if isinstance(dtype, pl.Categorical | pl.Enum):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_polars_type(dtype.inner))
    if isinstance(dtype, pl.Array):
        return pl.Array(_polars_type(dtype.inner), dtype.size)
    if isinstance(dtype, pl.Struct):
        return pl.Struct([pl.Field(field.name, _polars_type(field.dtype)) for field in dtype.fields])
    return dtype


def _of_arrow(table: "pa.Table", made: Collection[str]) -> "pa.Table":
    """PyArrow carries notes of the writer along, beside the table and beside each field, which may name other columns.

    A slice holds all of the table that it was cut from.
    """
    import pyarrow as pa

    columns = [
        column if name in made else _arrow_copy(column, _arrow_type(column.type))
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    fields = [pa.field(name, column.type) for name, column in zip(table.column_names, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


def _arrow_copy(column: "pa.ChunkedArray", plain: "pa.DataType") -> "pa.ChunkedArray":
    """The values anew: an array of labels inside a structure lists those of rows that were left out, views hold them.

    Beneath a missing value lies what was there before, so that only the others are taken.
    """
    import pyarrow as pa

    while isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([one.storage for one in column.chunks], column.type.storage_type)
    if pa.types.is_nested(plain) or not plain.equals(column.type):
        return pa.chunked_array([pa.array(column.to_pylist(), plain)])
    valid = np.asarray(column.is_valid())
    return column.drop_null().take(pa.array(np.cumsum(valid) - 1, mask=~valid))


def _arrow_type(kind: "pa.DataType") -> "pa.DataType":
    """The type with values in place of labels and views, and with no notes: not beside its fields, nor in a type."""
    import pyarrow as pa

    def field(one: "pa.Field") -> "pa.Field":
        return pa.field(one.name, _arrow_type(one.type), one.nullable)

    if isinstance(kind, pa.BaseExtensionType):  # somebody's own, with whatever it says of itself
        return _arrow_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _arrow_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field(kind.field(k)) for k in range(kind.num_fields)])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(field(kind.value_field), kind.list_size)
    for is_kind, made in ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list)):
        if is_kind(kind):
            return made(field(kind.value_field))
    return {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(kind), kind)


# Drawn and kept columns as the table that leaves, with nothing of its source beside the values.

INSECURE = " (insecure seed)"  # added to the name of a column that came from a seed


def leaving(
    rows: "nw.DataFrame[IntoDataFrame]", drawn: Sequence[Coded | npt.NDArray[np.generic]], plan: Plan, columns: Columns
) -> "NativeTable":
    """The table that leaves: these columns, drawn for rows that `ready` checked and the ledger knows, in their places.

    It is in its own library, with the kept columns beside them. What a library stores beside the values of a column
    does not leave: categories of rows that were left out, an index, the metadata of a source.
    """
    made = [series(name, values, plan, rows.implementation) for name, values in zip(columns.answer, drawn, strict=True)]
    chosen = [name for name in rows.columns if name in columns.published]
    kept = [_as_counted(rows[name], plan) for name in chosen if name not in columns.answer]
    published = rows.with_columns(*made, *(one for one in kept if one is not None)).select(chosen)
    renamed = {name: named(name, plan) for name in columns.answer}
    return without_traces(published.rename(renamed).to_native(), renamed.values())


def _as_counted(column: "nw.Series[IntoSeries]", plan: Plan) -> "nw.Expr | None":
    """A kept column without what its cells were counted without; None where it is that already.

    Two zeros are one number, what is missing is missing however it is written (NaN, None), digits beyond a float's
    were not looked at, and beside a text "1" the number 1 is one cell: a difference that nobody counted could tell the
    secret.
    """
    import narwhals as nw

    value, answer = nw.col(column.name), plan.calibration.answer
    dtype: Any = column.dtype
    counted = answer is not None and column.name in answer.known
    if is_counted_as_text(dtype) and (counted or dtype != nw.Object):
        return as_text(column.name)
    if dtype in (nw.String, nw.Object):
        # Only pandas writes a missing text in several ways; of lists and the like narwhals knows no more than that.
        return nw.when(~value.is_null()).then(value) if column.implementation.is_pandas_like() else None
    if dtype.is_decimal() and counted:
        value, dtype = as_float(column.name, dtype, column.implementation), nw.Float64
    if not dtype.is_float():
        return None
    known = ~value.is_null() & ~value.is_nan()
    return nw.when(known).then(nw.when(value == 0).then(nw.lit(0.0).cast(dtype)).otherwise(value)).alias(column.name)


def series(name: str, values: Coded | npt.NDArray[np.generic], plan: Plan, backend: Any) -> "nw.Series[IntoSeries]":
    """Drawn values as a column of a library, of the type that all of them have."""
    import narwhals as nw

    if isinstance(values, Coded):
        # Of one type however few rows a batch of a file has; only pandas has columns of several types.
        dtype: Any = {"b": nw.Boolean, "i": nw.Int64, "f": nw.Float64}.get(values.cells.dtype.kind)
        listed = values.cells.tolist()
        if dtype is None and not backend.is_pandas_like():
            dtype, listed = nw.String, [str(value) for value in listed]
        drawn: nw.Series[IntoSeries] = nw.new_series(name, listed, dtype, backend=backend)[values.codes]
        if not backend.is_pandas_like():
            return drawn
        labelled: pd.Series = drawn.to_native()
        return nw.from_native(labelled.reset_index(drop=True), series_only=True)  # or the codes would leave
    if plan.drawing.takes_labels:  # codes, which `decoded` makes values of
        return nw.new_series(name, values, nw.Int32, backend=backend)
    if plan.drawing.is_whole:  # beyond the range of whole numbers the nearest end of it stands
        values = values.clip(-(2.0**63), 2.0**63 - 1024).astype(np.int64)
    return nw.new_series(name, values, nw.Int64 if plan.drawing.is_whole else nw.Float64, backend=backend)


def decoded(native: "pa.Table", cells: Mapping[str, npt.NDArray[np.generic]]) -> "pa.Table":
    """A PyArrow table with values in place of the codes in these columns."""
    import pyarrow as pa

    for name, column in cells.items():
        values = column.tolist() if column.dtype.kind in "bif" else [str(value) for value in column.tolist()]
        place = native.column_names.index(name)
        native = native.set_column(
            place, name, pa.chunked_array([pa.array(values).take(native.column(place).combine_chunks())])
        )
    return native


def for_spreadsheets(native: "pa.Table") -> "pa.Table":
    """A PyArrow table whose texts, the names of its columns among them, no spreadsheet runs."""
    import pyarrow as pa

    for place, field in enumerate(native.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = [harmless(text) for text in native.column(place).to_pylist()]
            native = native.set_column(place, field, pa.array(texts, field.type))
        elif "binary" in str(field.type):  # written as texts are
            cells = native.column(place).to_pylist()
            texts = [None if one is None else harmless(one.decode("utf-8", "surrogateescape")) for one in cells]
            encoded = [None if one is None else one.encode("utf-8", "surrogateescape") for one in texts]
            native = native.set_column(place, field.name, pa.array(encoded, pa.binary()))
    return native.rename_columns([harmless(name) for name in native.column_names])


def named(name: str, plan: Plan) -> str:
    """The name of the published column: a seed is written into it."""
    return f"{name}{INSECURE}" if plan.insecure else name


def as_frame(
    values: object,
) -> "nw.DataFrame[IntoDataFrame] | nw.LazyFrame[IntoLazyFrame] | nw.Series[IntoSeries] | None":
    """What narwhals makes of it; None for anything that is no column and no table."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(in_usual_types(values), allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InputError(SAME_NAME) from None
    return wrapped if isinstance(wrapped, nw.DataFrame | nw.LazyFrame | nw.Series) else None


def batches(table: object, reading: Reading | None, columns: Sequence[str]) -> "Iterator[nw.DataFrame[IntoDataFrame]]":
    """The rows of an opened file as they are read, or those of a table in memory at once.

    Args:
        table: an open `Table`, or a table in memory.
        reading: how the latter is to be read.
        columns: those that are wanted of a file.

    Returns:
        Tables under narwhals.
    """
    if isinstance(table, Table):
        yield from stream(table, columns)
    else:
        frame: Any = as_frame(table)
        yield frame if reading is None else as_read(frame, reading)


def collected(frame: "nw.LazyFrame[IntoLazyFrame]") -> "nw.DataFrame[IntoDataFrame]":
    """A lazy table, made; the engine's own error is let go of, since it may quote a record."""
    whole, why = attempt(frame.collect)
    if whole is None:
        raise InputError(f"the table cannot be read: {why}. Nothing was released")
    return whole


def release_series(
    column: "nw.Series[IntoSeries]", plan: Plan, kept: npt.NDArray[np.bool_] | None, called: list[list[object]]
) -> Any:
    """The published column, of the same library and name; of a vector about a group, its numbers in their order."""
    answer = plan.calibration.answer
    one = answer is not None and answer.is_of_rows and len(answer.columns) == 1
    if answer is not None and one and column.name and answer.columns != (column.name,):
        raise InputError(
            f"this calibration is for {', '.join(map(repr, answer.columns))}, and the column given is called "
            f"{column.name!r}: what hides a secret in one hides nothing in another"
        )
    rows = column if kept is None else column[np.flatnonzero(kept)]
    _require_same_labels(rows, plan)
    values = _entries(rows, plan)
    made = publish(values, plan, kept, called)
    if answer is None or answer.is_of_rows:
        if plan.drawing.takes_labels:
            made = Coded.of_array(made)
        return series(named(rows.name, plan), made, plan, rows.implementation).to_native()
    # Of numbers about a group no label leaves but what they are: pandas names a group's means by the group itself.
    name = rows.name if rows.name in answer.columns else ""
    native: pd.Series = series(named(name, plan), made, plan, rows.implementation).to_native()
    if rows.implementation.is_pandas_like() and len(native) > 1:
        native.index = list(answer.columns)
    return native


def _require_same_labels(rows: "nw.Series[IntoSeries]", plan: Plan) -> None:
    """Numbers about a group that pandas labels with the names of columns must stand in the calibrated order."""
    answer = plan.calibration.answer
    if answer is None or answer.is_of_rows or len(answer.columns) == 1 or not rows.implementation.is_pandas_like():
        return
    labelled: pd.Series = rows.to_native()
    labels = list(labelled.index)
    if all(isinstance(label, str) for label in labels) and tuple(labels) != answer.columns:
        raise InputError(
            f"these numbers are labelled {', '.join(labels)}, and the calibration is for {', '.join(answer.columns)}: "
            f"give them in that order"
        )


def release_frame(frame: "nw.DataFrame[IntoDataFrame]", plan: Plan, columns: Columns) -> "tuple[NativeTable, Places]":
    """The table with its column published, and of the others only those to be kept; and which row stands where."""
    rows = protected(frame, plan.calibration, columns.secret, columns.others)
    values, watch = ready(rows, plan, columns), Watch(columns, plan)
    recognition = plan.recognise(columns, frame.columns)
    watch.look(rows, values)
    watch.refuse()
    if recognition is not None and len(rows):  # who publishes nothing pays nothing
        recognition.look(rows)
        if plan.elsewhere is None:
            plan = replace(plan, elsewhere=partial(refuse_known_nearby, rows, plan, plan.reads(columns)))
        plan.charge(recognition, len(rows))
    places = np.arange(len(rows)) if plan.order != SHUFFLE else shuffled(len(rows), plan.source)
    if plan.order == SHUFFLE:
        rows, values = rows[places], values[places]
    return leaving(rows, plan.drawn(values), plan, columns), places


def refuse_known_nearby(rows: "nw.DataFrame[IntoDataFrame]", plan: Plan, read: Sequence[str]) -> None:
    """Raise where another ledger in the folder of this one knows some of the rows: a table in memory has no other."""
    near = [] if plan.ledger is None else [plan.ledger.path]
    Beside(near, plan.ledger, read=read, available=rows.columns).refuse_among(lambda _: [rows])


def ready(rows: "nw.DataFrame[IntoDataFrame]", plan: Plan, columns: Columns) -> Array:
    """What is to be published of these rows, checked: an array with an entry or a row for each."""
    return plan.drawing.check_columns([_entries(rows[name], plan) for name in columns.answer], columns.answer)


def _entries(column: "nw.Series[IntoSeries]", plan: Plan) -> Coded | npt.NDArray[np.generic]:
    if not plan.drawing.takes_labels:
        return numbers(column)
    _refuse_missing(column, _holes(column))
    if column.dtype.is_numeric():
        return _array(column)
    values, answer = Coded.of(column).map(plain), plan.calibration.answer
    domain = None if answer is None else answer.domain_of(column.name)
    if domain is not None and all(isinstance(value, str) for value in domain.values):
        return values.map(str)  # categories and objects of any type are counted as texts
    return values


def protected(
    frame: "nw.DataFrame[IntoDataFrame]", calibration: Calibration, secret: Sequence[str], others: str
) -> "nw.DataFrame[IntoDataFrame]":
    """The rows that may be published, or an error."""
    kept: npt.NDArray[np.bool_] | None = None
    frame = as_counted(frame, calibration)
    several = len(secret) > 1
    columns = {name: Coded.of(frame[name]) for name in secret}
    lacks = np.zeros(len(frame), dtype=bool)
    for name in secret if several else ():
        lacks |= _holes(frame[name]).to_numpy().astype(bool)
    for name in secret:
        if several and not has_pairs(calibration, name):
            continue
        secrets = as_called(columns[name], name, of=secret)
        if several:  # a row that lacks any of its secrets was counted for none
            secrets = secrets.without(lacks)
        here = protected_rows(secrets, calibration, others)
        if here is None:
            continue
        if several:
            refuse_fewer(secrets, here, calibration)
        kept = here if kept is None else kept & here
    return frame if kept is None else frame[np.flatnonzero(kept)]


def publish(values: Any, plan: Plan, kept: npt.NDArray[np.bool_] | None, called: list[list[object]]) -> Any:
    """Check, then charge, then draw: in this order, so that nothing leaves unpaid and nothing is paid in vain.

    `called` are the secrets of all rows, for each column of secrets, and `kept` says which rows the values are.
    """
    ready = plan.drawing.check(values)
    if called and (drift := plan.drift_watch()) is not None:
        for secrets in called:
            stay = secrets if kept is None else [one for one, stays in zip(secrets, kept, strict=True) if stays]
            drift.look(stay, ready)
        refuse_drift(drift.told())
    return plan.drawing.gathered(plan.drawn(charged(ready, plan)), like=values)


def charged(ready: Array, plan: Plan) -> Array:
    """The same numbers, of which no rows are seen, once they are in the ledger."""
    if plan.ledger is not None and ready.size:
        plan.charge(plan.ledger.recognise_values(ready), len(ready) if ready.ndim else 1)
    return ready


def numbers(column: "nw.Series[IntoSeries]") -> Array:
    """A column as float64; missing values are an error, since a hole in a release tells who is missing."""
    if not column.dtype.is_numeric():
        raise InputError(f"column {column.name!r} holds {kind_of(column.dtype)}, and numbers are needed: convert it")
    _refuse_missing(column, column.is_null())
    return np.asarray(_array(column), dtype=np.float64)


def _holes(column: "nw.Series[IntoSeries]") -> "nw.Series[IntoSeries]":
    holes = column.is_null()
    if column.dtype.is_float():
        holes = holes | column.is_nan().fill_null(True)  # in pandas both say the same
    return holes


def _refuse_missing(column: "nw.Series[IntoSeries]", holes: "nw.Series[IntoSeries]") -> None:
    if missing := int(holes.sum()):
        raise InputError(
            f"column {column.name!r} has {missing} missing values: fill those rows, or drop them with "
            f"Reading(missing='drop')"
        )


def _array(column: "nw.Series[IntoSeries]") -> npt.NDArray[np.generic]:
    """A column of numbers as an array; not every library can make one of whole numbers of 128 bits."""
    found, why = attempt(column.to_numpy)
    if found is None:
        raise InputError(f"column {column.name!r} cannot be read: {why}. Convert it to float64")
    return found


# Published tables as files, whichever library holds them: written by one writer, CSV or Parquet.


POSITION = "position"  # the column of a file of positions
_GROUP = 1 << 16  # rows of a group in a Parquet file


def save_table(table: object, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV or Parquet, all of it or nothing; a file that is there is not written over."""
    import narwhals as nw

    goal, frame = Path(path), as_frame(table)
    check_format(goal)
    if not isinstance(frame, nw.DataFrame):
        raise InputError("this table lives in an engine of its own, or is none: write it with that engine")
    if goal.exists():
        raise InputError(f"{os.fspath(path)!r} exists already: what was published is not written over")
    made = frame.to_arrow()
    with draft(goal) as unfinished:
        with writer(unfinished, goal.suffix) as write:
            write(made)
        appear(unfinished, goal)


def require_name(path: str | os.PathLike[str], target: Path | None = None) -> None:
    """Refuse a name for the positions of rows that cannot be written to, before anything is drawn."""
    goal = Path(path)
    check_format(goal)
    if target is not None and goal.resolve() == target.resolve():
        raise InputError(f"{os.fspath(path)!r} is to be published: the positions of its rows need a file of their own")
    if goal.exists():
        raise InputError(f"{os.fspath(path)!r} exists already: a key to what was published is not written over")
    with draft(goal):
        pass


def save_positions(places: npt.NDArray[np.intp] | None, path: str | os.PathLike[str]) -> None:
    """Write which row stands where, for the owner's eyes: row k of what was published was row `position` of the source.

    Rows of the source that were not published are not counted.
    """
    if places is None:
        raise InputError("which row stands where is known of tables in memory and of files alone: this is neither")
    require_name(path)
    with positions_writer(path) as write:
        write(places)


@contextmanager
def positions_writer(path: str | os.PathLike[str]) -> Iterator[Callable[[npt.ArrayLike], None]]:
    """A function that appends positions to a file that only its owner can read; it appears when all are written."""
    import pyarrow as pa

    goal = Path(path)
    with draft(goal) as unfinished:
        with writer(unfinished, goal.suffix) as write:
            yield lambda places: write(pa.table({POSITION: places}))
        os.rename(unfinished, goal)


@contextmanager
def writer(path: Path, suffix: str) -> Iterator[Callable[["pa.Table"], None]]:
    """A function that appends tables to the file; the format follows the suffix.

    In a CSV file no text is one that a spreadsheet would run. A Parquet file is made of groups of rows, all of one size
    but for the last: groups that followed the batches of the source would tell how many rows of each were left out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    kind = csv.CSVWriter if suffix == ".csv" else pq.ParquetWriter
    writer: csv.CSVWriter | pq.ParquetWriter | None = None
    waiting: list[pa.Table] = []

    def write(table: "pa.Table") -> None:
        nonlocal writer
        table = for_spreadsheets(table) if suffix == ".csv" else table
        if writer is None:
            writer = kind(str(path), table.schema)
        waiting.append(table)
        if sum(one.num_rows for one in waiting) >= _GROUP:
            rows = pa.concat_tables(waiting).combine_chunks()  # or pages would follow the batches
            whole = rows.num_rows - rows.num_rows % _GROUP
            for start in range(0, whole, _GROUP):
                writer.write_table(rows.slice(start, _GROUP))
            waiting[:] = [rows.slice(whole)]

    try:
        yield write
        if writer is None:
            raise InputError("the file has no rows: there is nothing to publish")
        if rest := [one for one in waiting if one.num_rows]:
            writer.write_table(pa.concat_tables(rest).combine_chunks())
    finally:
        if writer is not None:
            writer.close()


def check_format(path: Path) -> None:
    """Refuse a name that says neither CSV nor Parquet."""
    if path.suffix not in (".parquet", ".pq", ".csv"):
        raise InputError(f"{path.name} is neither Parquet nor CSV: its name must end in .parquet, .pq or .csv")


def appear(finished: Path, goal: Path) -> None:
    """Give the finished draft its name, unless somebody took that name in the meantime."""
    open_to_readers(finished)
    try:
        os.link(finished, goal)
    except FileExistsError:
        raise InputError(f"{goal} appeared in the meantime: a release does not replace a file") from None
    except OSError:  # a file system without links
        os.rename(finished, goal)
