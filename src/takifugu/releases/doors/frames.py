"""Columns and tables of any dataframe library, through narwhals."""

from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.releases.binding import Columns
from takifugu.releases.kept import Telling, harmless, tells
from takifugu.releases.plan import Plan
from takifugu.releases.secret_rows import protected_rows
from takifugu.tables.table import plain

if TYPE_CHECKING:
    import narwhals as nw

INSECURE = " (insecure seed)"  # added to the name of a column that came from a seed


def as_frame(values: Any) -> "nw.DataFrame[Any] | nw.LazyFrame[Any] | nw.Series[Any] | None":
    """What narwhals makes of it; None for anything that is no column and no table."""
    import narwhals as nw

    wrapped = nw.from_native(values, allow_series=True, pass_through=True)
    return wrapped if isinstance(wrapped, nw.DataFrame | nw.LazyFrame | nw.Series) else None


def release_series(column: "nw.Series[Any]", plan: Plan, kept: Any) -> Any:
    """The column as it is published, of the same library and name."""
    rows = column if kept is None else column.filter(kept.tolist())
    if plan.theta is None:
        (drawn,) = plan.drawn_rows(charged(plan.checked_rows([values_of(rows)], [rows.name]), plan))
        series = _from_list(named(rows.name, plan), drawn, rows.implementation)
    else:
        series = _series(named(rows.name, plan), publish(numbers(rows), plan), plan, rows.implementation)
    made = series.to_native()
    if rows.implementation.is_pandas_like():
        made.index = rows.to_native().index  # row labels are part of the table; `refuse_telling_index` saw them
    return made


def release_frame(frame: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> Any:
    """The table with its column published, and of the others only those to be kept."""
    rows = protected(frame, plan, columns)
    if columns.secret is not None and columns.keep:
        telling = Telling(columns.keep)
        look(telling, rows, columns)
        telling.refuse()
    return leaving(rows, charged(ready(rows, plan, columns), plan), plan, columns)


def ready(rows: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> Array:
    """What is to be published of these rows, checked: numbers, or places in the list of a finite channel."""
    if plan.theta is None:
        return plan.checked_rows([values_of(rows[name]) for name in columns.answer], columns.answer)
    return plan.checked(numbers(rows[columns.column]))


def leaving(rows: "nw.DataFrame[Any]", paid: Array, plan: Plan, columns: Columns) -> Any:
    """The table that leaves, drawn for rows that `ready` checked and the ledger knows."""
    if plan.theta is None:
        return assembled_rows(rows, plan.drawn_rows(paid), plan, columns)
    return assembled(rows, plan.noised(paid), plan, columns)


def protected(frame: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> "nw.DataFrame[Any]":
    """The rows that may be published, or an error."""
    if columns.secret is None:
        return frame
    refuse_telling_index(frame, columns.secret, frame[columns.secret].to_list())
    kept = protected_rows(frame[columns.secret].to_list(), plan.calibration, columns.others)
    return frame if kept is None else frame.filter(kept.tolist())


def refuse_telling_index(rows: Any, secret: str | None, secrets: list[Any]) -> None:
    """A pandas column or table hands over its index too, which must not say again what the secrets are."""
    if not rows.implementation.is_pandas_like() or not len(rows):
        return
    index = rows.to_native().index
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return
    levels = (index.get_level_values(level).tolist() for level in range(index.nlevels))
    if (secret is not None and secret in index.names) or any(tells(level, secrets) for level in levels):
        raise InputError(
            "the index of the table tells the secret of each row and would be published: reset_index(drop=True)"
        )


def look(telling: Telling, rows: "nw.DataFrame[Any]", columns: Columns) -> None:
    """Show a batch of rows to the watch over kept columns."""
    if columns.secret is not None:
        telling.look(rows[columns.secret].to_list(), {name: rows[name].to_list() for name in columns.keep})


def assembled(frame: "nw.DataFrame[Any]", noisy: Array, plan: Plan, columns: Columns) -> Any:
    """The table that leaves, in its own library: the noisy column in its place, and the kept ones.

    What a library stores beside the values of a column does not leave: categories of rows that were left out, an
    index, the metadata of a source.
    """
    return _leaving(frame, [_series(columns.column, noisy, plan, frame.implementation)], plan, columns)


def _leaving(frame: "nw.DataFrame[Any]", made: "list[nw.Series[Any]]", plan: Plan, columns: Columns) -> Any:
    import narwhals as nw

    chosen = [name for name in frame.columns if name in columns.published]
    kept = [frame[name] for name in chosen if name not in columns.answer]
    texts = [column.cast(nw.String) for column in kept if column.dtype in (nw.Categorical, nw.Enum)]
    published = frame.with_columns(*made, *texts).select(chosen)
    return _without_traces(published.rename({name: named(name, plan) for name in columns.answer}).to_native())


def _series(name: str, values: Array, plan: Plan, backend: Any) -> "nw.Series[Any]":
    import narwhals as nw

    if plan.is_whole:  # beyond the range of whole numbers the nearest end of it stands
        values = values.clip(-(2.0**63), 2.0**63 - 1024).astype(np.int64)
    return nw.new_series(name, values, nw.Int64 if plan.is_whole else nw.Float64, backend=backend)


def _without_traces(native: Any) -> Any:
    """PyArrow and pandas carry notes of the writer along: they may name columns that were left behind."""
    if hasattr(native, "replace_schema_metadata"):
        import pyarrow as pa

        native = native.cast(pa.schema([field.remove_metadata() for field in native.schema]))
    attributes = getattr(native, "attrs", None)
    if isinstance(attributes, dict):
        attributes.clear()
    return native


def for_spreadsheets(native: Any) -> Any:
    """A PyArrow table whose texts no spreadsheet runs."""
    import pyarrow as pa

    for place, field in enumerate(native.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            texts = [harmless(text) for text in native.column(place).to_pylist()]
            native = native.set_column(place, field, pa.array(texts, field.type))
    return native


def publish(values: Any, plan: Plan) -> Array:
    """Check, then charge, then draw: in this order, so that nothing leaves unpaid and nothing is paid in vain."""
    return plan.noised(charged(plan.checked(values), plan))


def charged(ready: Array, plan: Plan) -> Array:
    """The same values, once they are in the ledger."""
    if plan.ledger is not None and ready.size:  # who publishes nothing pays nothing
        digest = plan.ledger.answer_digest()
        digest.update(ready)
        plan.charge(digest.hexdigest(), ready.size)
    return ready


def values_of(column: "nw.Series[Any]") -> Any:
    """A column of numbers or labels as an array; missing values are an error."""
    missing = int(column.is_null().sum())
    if column.dtype.is_float():
        missing += int(column.is_nan().sum())
    if missing:
        raise InputError(
            f"column {column.name!r} has {missing} missing values: drop or fill those rows before publishing"
        )
    if column.dtype.is_numeric():
        return column.to_numpy()
    return np.array([plain(value) for value in column.to_list()], dtype=object)


def assembled_rows(frame: "nw.DataFrame[Any]", made: list[Any], plan: Plan, columns: Columns) -> Any:
    """The table that leaves: the drawn columns in their places, and the kept ones."""
    series = [_from_list(name, values, frame.implementation) for name, values in zip(columns.answer, made, strict=True)]
    return _leaving(frame, series, plan, columns)


def _from_list(name: str, values: Any, backend: Any) -> "nw.Series[Any]":
    """A column of values from a channel's list, of one type however few rows a batch of a file has."""
    import narwhals as nw

    dtype: Any = {"b": nw.Boolean, "i": nw.Int64, "f": nw.Float64}.get(values.dtype.kind)
    listed = values.tolist()
    if dtype is None and not backend.is_pandas_like():  # labels: only pandas has columns of several types
        dtype, listed = nw.String, [str(value) for value in listed]
    return nw.new_series(name, listed, dtype, backend=backend)


def numbers(column: "nw.Series[Any]") -> Array:
    """A column as float64; missing values are an error, since a hole in a release tells who is missing."""
    if not column.dtype.is_numeric():
        raise InputError(f"column {column.name!r} holds {column.dtype}, and numbers are needed: convert it")
    missing = int(column.is_null().sum())
    if missing:
        raise InputError(
            f"column {column.name!r} has {missing} missing values: drop or fill those rows before publishing"
        )
    return np.asarray(column.to_numpy(), dtype=np.float64)


def named(name: str, plan: Plan) -> str:
    """The name of the published column: a seed is written into it."""
    return f"{name}{INSECURE}" if plan.insecure else name
