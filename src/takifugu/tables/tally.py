"""How often combinations of values occur: one pass in the engine, with a limit on what is brought home."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError
from takifugu.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

_MOST = 1_000_000  # lines of counts that are brought home


def combinations(table: Table, parts: Mapping[str, "nw.Expr"], *, complete: Iterable[str] = ()) -> "nw.LazyFrame[Any]":
    """The rows' values of `parts`, those alone that have all of `complete`, under names that cannot clash."""
    import narwhals as nw

    rows = table.frame.select(*(part.alias(name) for name, part in parts.items()))
    needed = [~nw.col(name).is_null() for name in complete]
    return rows.filter(*needed) if needed else rows


def tally(
    table: Table, parts: Mapping[str, "nw.Expr"], *, whose: str, advice: str, complete: Iterable[str] = ()
) -> dict[str, list[Any]]:
    """A column for each of the parts, with every combination that occurs, and how many rows have it in `count`.

    `whose` and `advice` are the two ends of what is said where there are too many.
    """
    import narwhals as nw

    rows = combinations(table, parts, complete=complete)
    answer = table.collect(rows.group_by(*parts).agg(nw.len().alias("count")).head(_MOST + 1))
    if len(answer["count"]) > _MOST:
        raise InputError(f"{whose} take more than {_MOST:,} combinations of values: {advice}")
    return answer
