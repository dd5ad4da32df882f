"""Whether people have several rows: every row keeps the promise by itself, and of two the odds may move twice.

A column that names people is told by this: its values repeat, and each of them goes with one value of the secret, far
more often than chance would have it. A code that is finer than the secret looks the same, so nothing is refused.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from takifugu.problems.inspection_findings import SeveralRows
from takifugu.tables.distinct import answers
from takifugu.tables.missing import how_many
from takifugu.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

_LOOKED_AT = 100_000  # rows: people who come twice mostly do so among these
_MOST_COLUMNS = 60
_LEAST_VALUES = 20
_LEAST_REPEATED = 10
_MOST_ROWS_EACH = 20
_NEARLY_ALL = 0.98
_CHANCE = 1e-9  # that values which have nothing to do with the secret each go with one


def several_rows(table: Table, secrets: Sequence[str]) -> list[SeveralRows]:
    """The columns that may name people who have several rows, each with a secret that is theirs in all of them."""
    found: list[SeveralRows] = []
    if table.frame.implementation.is_spark_like():  # a job for every column would take longer than the release
        return found
    # By a secret that is the same in every row nothing can be told.
    telling = {secret: alike for secret in secrets if (alike := _alike(table, secret)) < 1}
    if not telling:
        return found
    columns = [name for name in table.columns if name not in secrets and _can_name(table, name)][:_MOST_COLUMNS]
    columns = _of_many_values(table, columns)
    for secret, alike in telling.items():
        found += [SeveralRows(name, secret) for name in columns if _names_people(table, name, secret, alike)]
    return found


def _can_name(table: Table, column: str) -> bool:
    """Whether a column is of whole numbers or texts: measurements and truth values name nobody."""
    import narwhals as nw

    dtype = table.schema[column]
    return bool(dtype.is_integer()) or dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _of_many_values(table: Table, columns: list[str]) -> list[str]:
    """Those with as many values as names have at least: one question for all, where each of the rest asks its own."""
    if not columns:
        return columns
    names = {f"c{place}": column for place, column in enumerate(columns)}
    frame = table.frame.head(_LOOKED_AT).select(*(table.secret(column).alias(name) for name, column in names.items()))
    counts = answers(table, frame, {}, {name: name for name in names})
    return [column for name, column in names.items() if int(counts[name]) >= _LEAST_VALUES]


def _alike(table: Table, secret: str) -> float:
    """How often two rows have the same secret by chance."""
    import narwhals as nw

    rows = _rows(table, secret).filter(~nw.col("secret").is_null())
    counts = table.collect(rows.group_by("secret").agg(nw.len().alias("rows")))["rows"]
    total = float(sum(counts))
    return sum((count / total) ** 2 for count in counts) if total else 1.0


def _names_people(table: Table, column: str, secret: str, alike: float) -> bool:
    import narwhals as nw

    there = _rows(table, secret, column).filter(~nw.col("secret").is_null(), ~nw.col("key").is_null())
    of_one = there.group_by("key").agg(
        nw.len().alias("rows"), nw.col("secret").min().alias("low"), nw.col("secret").max().alias("high")
    )
    twice = nw.col("rows") > 1
    counts = table.collect(
        of_one.select(
            nw.len().alias("values"),
            nw.col("rows").sum().alias("rows"),
            how_many(twice).alias("repeated"),
            how_many(twice & (nw.col("low") == nw.col("high"))).alias("same"),
        )
    )
    values, total, repeated, same = (int(counts[name][0] or 0) for name in ("values", "rows", "repeated", "same"))
    return (
        values >= _LEAST_VALUES
        and repeated >= _LEAST_REPEATED
        and total <= _MOST_ROWS_EACH * values
        and same >= _NEARLY_ALL * repeated
        and repeated * math.log(1 / alike) > math.log(1 / _CHANCE)
    )


def _rows(table: Table, secret: str, column: str | None = None) -> "nw.LazyFrame[Any]":
    import narwhals as nw

    # As text: not every engine knows the least of two truth values.
    parts = [table.secret(secret).cast(nw.String).alias("secret")]
    parts += [] if column is None else [table.secret(column).alias("key")]
    return table.frame.head(_LOOKED_AT).select(*parts)
