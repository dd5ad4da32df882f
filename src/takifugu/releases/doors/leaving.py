"""Drawn and kept columns as the table that leaves, with nothing of its source beside the values."""

from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.releases.binding import Columns
from takifugu.releases.doors.traces import without_traces
from takifugu.releases.kept import harmless
from takifugu.releases.plan import Plan
from takifugu.tables.floats import as_float
from takifugu.tables.table import as_text, is_counted_as_text

if TYPE_CHECKING:
    import narwhals as nw

INSECURE = " (insecure seed)"  # added to the name of a column that came from a seed


def leaving(rows: "nw.DataFrame[Any]", paid: Array, plan: Plan, columns: Columns) -> Any:
    """The table that leaves, drawn for rows that `ready` checked and the ledger knows.

    It is in its own library, the drawn columns in their places, beside the kept ones. What a library stores beside the
    values of a column does not leave: categories of rows that were left out, an index, the metadata of a source.
    """
    made = [
        series(name, values, plan, rows.implementation)
        for name, values in zip(columns.answer, plan.drawn(paid), strict=True)
    ]
    chosen = [name for name in rows.columns if name in columns.published]
    kept = [_as_counted(rows[name], plan) for name in chosen if name not in columns.answer]
    published = rows.with_columns(*made, *(one for one in kept if one is not None)).select(chosen)
    return without_traces(published.rename({name: named(name, plan) for name in columns.answer}).to_native())


def _as_counted(column: "nw.Series[Any]", plan: Plan) -> "nw.Expr | None":
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


def series(name: str, values: Any, plan: Plan, backend: Any) -> "nw.Series[Any]":
    """Drawn values as a column of a library, of the type that all of them have."""
    import narwhals as nw

    if plan.drawing.takes_labels:
        # Of one type however few rows a batch of a file has; only pandas has columns of several types.
        dtype: Any = {"b": nw.Boolean, "i": nw.Int64, "f": nw.Float64}.get(values.dtype.kind)
        listed = values.tolist()
        if dtype is None and not backend.is_pandas_like():
            dtype, listed = nw.String, [str(value) for value in listed]
        return nw.new_series(name, listed, dtype, backend=backend)
    if plan.drawing.is_whole:  # beyond the range of whole numbers the nearest end of it stands
        values = values.clip(-(2.0**63), 2.0**63 - 1024).astype(np.int64)
    return nw.new_series(name, values, nw.Int64 if plan.drawing.is_whole else nw.Float64, backend=backend)


def for_spreadsheets(native: Any) -> Any:
    """A PyArrow table whose texts, the names of its columns among them, no spreadsheet runs."""
    import pyarrow as pa

    for place, field in enumerate(native.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = [harmless(text) for text in native.column(place).to_pylist()]
            native = native.set_column(place, field, pa.array(texts, field.type))
    return native.rename_columns([harmless(name) for name in native.column_names])


def named(name: str, plan: Plan) -> str:
    """The name of the published column: a seed is written into it."""
    return f"{name}{INSECURE}" if plan.insecure else name
