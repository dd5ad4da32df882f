"""Rows that lack a needed value: one rule for every door, whether they are dropped and counted or refused."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from takifugu.problems.findings import NoValue

if TYPE_CHECKING:
    import narwhals as nw

    from takifugu.tables.table import Table


def lacking(table: "Table", needed: Sequence[str]) -> NoValue | None:
    """How many rows lack a needed value, as a finding; None where no row does."""
    import narwhals as nw

    if not needed:
        return None
    there = how_many(present(table, needed))
    answer = table.collect(table.frame.select(nw.len().alias("rows"), there.alias("complete")))
    (rows,), (good,) = answer["rows"], answer["complete"]
    missing = int(rows) - int(good or 0)
    return NoValue(tuple(needed), missing) if missing else None


def refusal(rows: int, needed: Sequence[str]) -> str:
    """The sentence that meets missing values where they are to be refused."""
    names = ", ".join(repr(name) for name in needed)
    return (
        f"{rows} row{'s' * (rows != 1)} ha{'ve' if rows != 1 else 's'} no value in {names}, and missing values are to "
        f"be refused: fill or remove those rows, or drop them with missing='drop'"
    )


def present(table: "Table", needed: Sequence[str]) -> "nw.Expr":
    """Whether a row has all its needed values; NaN is none."""
    import narwhals as nw

    tests = []
    for name in needed:
        value = nw.col(name)
        tests.append(~value.is_null())
        if table.schema[name].is_float():
            tests.append(~value.is_nan())
    return nw.all_horizontal(*tests, ignore_nulls=True)  # what is null fails its own test before it


def how_many(truths: "nw.Expr") -> "nw.Expr":
    """How many are true: PostgreSQL makes a number of 32 bits of a truth, and no other."""
    import narwhals as nw

    return truths.cast(nw.Int32).cast(nw.Int64).sum()


def with_secrets(table: "Table", columns: Sequence[str]) -> "Table":
    """The rows that have a secret in each column: no other is ever published, so no other has a say in what is."""
    import narwhals as nw

    from takifugu.tables.table import Table

    here = nw.all_horizontal(*(~table.secret(name).is_null() for name in columns), ignore_nulls=True)
    other = Table(table)
    other.frame = table.frame.filter(here)
    return other
