"""A row of totals at the end of a table, as spreadsheets have it: it has the sums of all the others.

Mostly it has no secret, and is out of the way. Where it has one, or none is asked for, its number stands among those of
people, and makes every list of them a thousand times too long.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from takifugu.problems.inspection_findings import LooksLikeTotals
from takifugu.tables.count import Subset
from takifugu.tables.inspect import ColumnFacts, label_counts
from takifugu.tables.missing import with_secrets
from takifugu.tables.table import Table

_MOST = 3  # rows without a secret: of more, one that happens to be a sum is chance
_FEWEST = 10  # rows that are summed: of fewer, too
_MANY = 20  # numbers other than 0 that are summed where the sum stands among them: of fewer, a large one is chance
_CLOSE = 1e-9
_MOST_AMOUNTS = 100_000  # different ones of a column that are looked at
_MARKS = ".,"  # of decimals: amounts are tried with either, and a sum that fits proves which it is


def summed(table: Table, facts: Sequence[ColumnFacts]) -> tuple[str, ...]:
    """The columns of numbers, or of amounts with a currency sign, in which one row has the sum of all the others."""
    return tuple(one.name for one in facts if any(map(_holds_its_sum, _readings(table, one).values())))


def _readings(table: Table, one: ColumnFacts) -> dict[str, Subset]:
    """The numbers of a column with their counts; of amounts, by the decimal mark that they may have."""
    if one.numbers is not None:
        return {"": one.numbers}
    if one.form != "amounts":
        return {}
    counts = label_counts(table, one.name, most=_MOST_AMOUNTS) if one.labels is None else one.labels
    return {mark: subset for mark in _MARKS if (subset := _as_amounts(counts, mark)) is not None}


def _as_amounts(counts: Mapping[Any, int], decimal: str) -> Subset | None:
    read = [(number, rows) for label, rows in counts.items() if (number := amount(label, decimal)) is not None]
    if not read:
        return None
    values, where = np.unique([number for number, _ in read], return_inverse=True)
    return Subset(values, np.bincount(where, [rows for _, rows in read]).astype(np.float64), 0.0)


def amount(text: Any, decimal: str) -> float | None:
    """The number of an amount with a currency sign and this decimal mark; None where it is none.

    >>> amount("€ 1.234,50", ","), amount("1,234.50 EUR", "."), amount("-$5", "."), amount("Total", ".")
    (1234.5, 1234.5, -5.0, None)
    """
    other = "," if decimal == "." else "."
    digits = re.sub(r"[^0-9.,+-]", "", str(text)).replace(other, "").replace(decimal, ".").strip(".")
    try:
        return float(digits)
    except ValueError:
        return None


def _holds_its_sum(numbers: Subset) -> bool:
    """Whether the largest number, or the least, is of one row and the sum of the rest.

    >>> import numpy as np
    >>> _holds_its_sum(Subset(np.array([1.0, 2, 60]), np.array([20.0, 20, 1]), 0.0))
    True
    """
    values, counts = numbers.values, numbers.counts
    if numbers.width or counts[values != 0].sum() <= _MANY:
        return False
    rest = float(values @ counts)
    return any(
        counts[end] == 1 and values[end] != 0 and math.isclose(values[end], rest - values[end], rel_tol=_CLOSE)
        for end in (0, -1)
    )


def totals(table: Table, secret: str, facts: Sequence[ColumnFacts], without: int) -> Iterable[LooksLikeTotals]:
    """Whether a row without a secret holds sums; `facts` are of the rows that have one."""
    if not 0 < without <= _MOST:
        return
    held = with_secrets(table, [secret])
    read = {
        one.name: {mark: float(numbers.values @ numbers.counts) for mark, numbers in _readings(held, one).items()}
        for one in facts
        if one.distinct > 1 and one.rows >= _FEWEST and (one.numbers is None or not one.numbers.width)
    }
    sums = {name: by_mark for name, by_mark in read.items() if by_mark}
    if not sums:
        return
    asked = [_value(table, name, by_mark).alias(f"x{place}") for place, (name, by_mark) in enumerate(sums.items())]
    rest = table.collect(table.frame.filter(table.secret(secret).is_null()).select(*asked))
    found = [
        name
        for place, (name, by_mark) in enumerate(sums.items())
        if any(_is_sum(x, total, mark) for x in rest[f"x{place}"] for mark, total in by_mark.items())
    ]
    if found:
        yield LooksLikeTotals(tuple(found))


def _value(table: Table, name: str, by_mark: Mapping[str, float]) -> Any:
    return table.number(name) if "" in by_mark else table.secret(name)


def _is_sum(cell: Any, total: float, mark: str) -> bool:
    number = amount(cell, mark) if mark and cell is not None else cell
    return number is not None and math.isclose(number, total, rel_tol=_CLOSE)
