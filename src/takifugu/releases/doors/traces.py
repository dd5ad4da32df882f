"""Tables without what their library stores beside the values: notes of a source, and cells of rows that stayed at home.

A table that is handed on in memory, pickled or written in its library's own format takes all of that along.
"""

from typing import Any


def without_traces(native: Any) -> Any:
    """A table of pandas, Polars or PyArrow that holds the values of its own cells, its names, and nothing else."""
    if hasattr(native, "replace_schema_metadata"):
        return _of_arrow(native)
    if type(native).__module__.partition(".")[0] == "polars":
        return _of_polars(native)
    if hasattr(native, "reset_index"):
        # The index of a table which was sorted, filtered or mixed says where each row once stood, and what its columns
        # are called together is often the name of one that was left behind.
        native = native.reset_index(drop=True).rename_axis(columns=None)
    attributes = getattr(native, "attrs", None)
    if isinstance(attributes, dict):
        attributes.clear()
    return native


def _of_polars(frame: Any) -> Any:
    """Texts of Polars are views into those of the table they were taken from: all of its rows, in its order."""
    import polars as pl

    whole = (pl.String, pl.Binary, pl.List, pl.Array, pl.Struct)
    held = [column for column in frame.get_columns() if isinstance(column.dtype, whole)]
    return frame.with_columns(pl.Series(one.name, one.to_list(), dtype=_polars_type(one.dtype)) for one in held)


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

    An array of labels inside a structure lists those of rows that were left out, and views of texts hold them.
    """
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        plain = _arrow_type(field.type)
        if not plain.equals(field.type, check_metadata=True):
            table = table.set_column(place, field.name, pa.array(table.column(place).to_pylist(), plain))
    return table.cast(pa.schema([field.remove_metadata() for field in table.schema]))


def _arrow_type(kind: Any) -> Any:
    """The type with values in place of labels and views, and with no notes beside its fields."""
    import pyarrow as pa

    def field(one: Any) -> Any:
        return pa.field(one.name, _arrow_type(one.type), one.nullable)

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
