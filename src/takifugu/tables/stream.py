"""Rows of a table in order, a batch at a time, in memory that does not grow with it beyond half a gigabyte.

The batches come from the same statement that counting uses, so a cell is the same value through both. PyArrow's own
reader of CSV would be a second opinion about every cell, and it reads ahead: from 10⁶ to 1.2·10⁸ rows its memory grew
from 260 to 960 MB.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError, MissingExtraError
from takifugu.tables.engine import attempt
from takifugu.tables.missing import lacking, present, refusal
from takifugu.tables.reading import Reading
from takifugu.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

_ROWS = 1 << 16  # a batch


def stream(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    reading: Reading | None = None,
    needed: Sequence[str] = (),
) -> "Iterator[nw.DataFrame[Any]]":
    """The rows of a file, or of a `Table` made of one, as PyArrow tables under narwhals.

    Args:
        source: a path, a pattern of paths or an open `Table`.
        columns: the columns that are wanted, by default all.
        reading: as for `takifugu.tables.open.open_table`.
        needed: columns without whose values a row is no use. Rows that lack one are dropped, or refused with their
            number before the first batch, as `reading.missing` says; `takifugu.tables.missing.lacking` counts them.
    """
    table = Table(source, reading)
    chosen = table.columns if columns is None else list(columns)
    for name in (*chosen, *needed):
        table.require(name)
    refuse = table.reading.missing == "refuse"
    if refuse and needed and (told := lacking(table, needed)):
        raise InputError(refusal(told.rows, tuple(needed)))
    return _batches(table, chosen, needed)


def _batches(table: Table, columns: list[str], needed: Sequence[str]) -> "Iterator[nw.DataFrame[Any]]":
    import narwhals as nw

    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("rows are handed over with PyArrow: pip install 'takifugu[files]'") from None
    frame = table.frame.filter(present(table, needed)) if needed else table.frame
    for batch in _arrow(table, frame.select(columns)):
        for start in range(0, batch.num_rows, _ROWS):
            rows = pa.Table.from_batches([batch.slice(start, _ROWS)])
            yield nw.from_native(rows, eager_only=True)


def _arrow(table: Table, frame: "nw.LazyFrame[Any]") -> Iterator[Any]:
    """Arrow batches out of the engine, whose failures on the way become sentences."""
    if not frame.implementation.is_duckdb():
        yield from frame.collect("pyarrow").to_native().to_batches(_ROWS)
        return
    relation: Any = frame.to_native()
    if table.space is not None:
        # On a connection of its own: a stream that is not finished must not stand in the way of a question.
        connection = table.space.connection.cursor()  # held by its name: a relation may outlive its connection
        relation = connection.sql(relation.sql_query())
    # DuckDB renamed it; only what the class has is asked for, since a relation takes other names for its columns.
    name = "to_arrow_reader" if hasattr(type(relation), "to_arrow_reader") else "fetch_arrow_reader"
    start = getattr(relation, name)
    reader: Any = None
    reader, why = attempt(lambda: start(_ROWS))
    batch: Any = None
    while why is None:
        batch, why = attempt(lambda: next(reader, None))
        if batch is None:
            break
        yield batch
    if why is not None:
        raise InputError(f"{table.name} cannot be read: {why}")
