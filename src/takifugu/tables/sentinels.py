"""Declared sentinels in a table that is open: numbers by their value, texts by their letters."""

from typing import TYPE_CHECKING, Any

from takifugu.problems.reading_findings import SentinelsTreated
from takifugu.tables.floats import as_float
from takifugu.tables.missing import how_many

if TYPE_CHECKING:
    import narwhals as nw

    from takifugu.tables.table import Table


def without_sentinels(table: "Table", texts: tuple[str, ...]) -> "tuple[nw.LazyFrame[Any], list[SentinelsTreated]]":
    """The table with missing values in place of its sentinels and of `texts`, and how many there were."""
    import narwhals as nw

    hits: dict[str, nw.Expr] = {}
    for column, dtype in table.schema.items():
        declared = table.reading.sentinels_of(column)
        if dtype == nw.Boolean:
            continue
        if dtype.is_numeric():
            numbers = sorted({number for sentinel in declared if (number := _number(sentinel)) is not None})
            if numbers:
                hits[column] = as_float(column, dtype, table.frame.implementation).is_in(numbers)
        elif dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
            spelled = sorted({str(sentinel) for sentinel in (*declared, *texts)})
            if spelled:
                hits[column] = nw.col(column).cast(nw.String).is_in(spelled)
    if not hits:
        return table.frame, []
    tallies = table.collect(table.frame.select(*(how_many(hit).alias(name) for name, hit in hits.items())))
    told = [SentinelsTreated(name, int(tallies[name][0])) for name in hits if tallies[name][0]]
    cleared = (nw.when(~hit | hit.is_null()).then(nw.col(name)).alias(name) for name, hit in hits.items())
    return table.frame.with_columns(*cleared), told


def _number(sentinel: str | int | float) -> float | None:
    try:
        return float(sentinel)
    except (ValueError, OverflowError):
        return None
