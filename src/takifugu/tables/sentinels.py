"""Declared sentinels in a table that is open: numbers by their value, texts by their letters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from takifugu.problems.findings import Finding
from takifugu.problems.reading_findings import SentinelsTreated, SentinelsUnseen
from takifugu.tables.floats import as_float
from takifugu.tables.missing import how_many
from takifugu.tables.reading import Reading

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


def unseen(reading: Reading, findings: Sequence[Finding]) -> list[SentinelsUnseen]:
    """A remark on the sentinels of a reading that no column had, told by the findings of all that had some.

    >>> [str(one) for one in unseen(Reading(sentinels=("age=99", 999)), [SentinelsTreated("stay", 3)])]
    ["no cell has the declared sentinel 'age=99': see how the table writes it"]
    """
    seen = {one.column for one in findings if isinstance(one, SentinelsTreated)}
    named = [f"{column}={value}" for column, value in reading.named_sentinels if value and column not in seen]
    general = [] if seen else [str(one) for one in reading.sentinels if "=" not in str(one)]
    return [SentinelsUnseen((*general, *named))] if general or named else []


def _number(sentinel: str | int | float) -> float | None:
    try:
        return float(sentinel)
    except (ValueError, OverflowError):
        return None
