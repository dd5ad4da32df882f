"""Tables without what their library stores beside the values: notes of a source, and cells of rows that stayed at home.

A table that is handed on in memory, pickled or written in its library's own format takes all of that along.
"""

from typing import Any

import numpy as np


def without_traces(native: Any) -> Any:
    """A table of pandas, Polars or PyArrow that holds the values of its own cells, its names, and nothing else."""
    if hasattr(native, "replace_schema_metadata"):
        return _of_arrow(native)
    if type(native).__module__.partition(".")[0] == "polars":
        return _of_polars(native)
    return _of_pandas(native) if hasattr(native, "reset_index") else native


def _of_pandas(frame: Any) -> Any:
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


def _of_polars(frame: Any) -> Any:
    """Texts of Polars are views into those of the table they were taken from: all of its rows, in its order.

    Beneath a missing value lies what was there before.
    """
    import polars as pl

    whole = (pl.String, pl.Binary, pl.List, pl.Array, pl.Struct)
    held = [one for one in frame.get_columns() if isinstance(one.dtype, whole) or one.null_count()]
    return frame.with_columns(_polars_copy(one.cast(_polars_type(one.dtype))) for one in held)


def _polars_copy(column: Any) -> Any:
    """The values anew, one by one; of dates and times the numbers behind them, since Python's have fewer digits."""
    import polars as pl

    if "Decimal" in str(column.dtype):  # whose numbers lack the point
        return pl.Series(column.name, column.to_list(), dtype=column.dtype)
    numbers = column.to_physical()
    return pl.Series(column.name, numbers.to_list(), dtype=numbers.dtype).cast(column.dtype)


def _polars_type(dtype: Any) -> Any:
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


def _of_arrow(table: Any) -> Any:
    """PyArrow carries notes of the writer along, beside the table and beside each field, which may name other columns.

    A slice holds all of the table that it was cut from.
    """
    import pyarrow as pa

    columns = [_arrow_copy(column, _arrow_type(column.type)) for column in table.columns]
    fields = [pa.field(name, column.type) for name, column in zip(table.column_names, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


def _arrow_copy(column: Any, plain: Any) -> Any:
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


def _arrow_type(kind: Any) -> Any:
    """The type with values in place of labels and views, and with no notes: not beside its fields, nor in a type."""
    import pyarrow as pa

    def field(one: Any) -> Any:
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
