"""A row of totals at the end of a table, as spreadsheets have it: it has the sums of all the others.

Mostly it has no secret, and is out of the way. Where it has one, or none is asked for, its number stands among those of
people, and makes every list of them a thousand times too long.
"""

import math
from collections.abc import Iterable, Sequence

from takifugu.problems.inspection_findings import LooksLikeTotals
from takifugu.tables.count import Subset
from takifugu.tables.inspect import ColumnFacts
from takifugu.tables.table import Table

_MOST = 3  # rows without a secret: of more, one that happens to be a sum is chance
_FEWEST = 10  # rows that are summed: of fewer, too
_MANY = 20  # numbers other than 0 that are summed where the sum stands among them: of fewer, a large one is chance
_CLOSE = 1e-9


def summed(facts: Sequence[ColumnFacts]) -> tuple[str, ...]:
    """The columns of numbers in which one row has the sum of all the others."""
    return tuple(one.name for one in facts if one.numbers is not None and _holds_its_sum(one.numbers))


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
    sums = {
        one.name: float(one.numbers.values @ one.numbers.counts)
        for one in facts
        if one.numbers is not None and not one.numbers.width and one.distinct > 1 and one.rows >= _FEWEST
    }
    if not 0 < without <= _MOST or not sums:
        return
    asked = [table.number(name).alias(f"x{place}") for place, name in enumerate(sums)]
    rest = table.collect(table.frame.filter(table.secret(secret).is_null()).select(*asked))
    found = [
        name
        for place, (name, total) in enumerate(sums.items())
        if any(math.isclose(x, total, rel_tol=_CLOSE) for x in rest[f"x{place}"] if x is not None)
    ]
    if found:
        yield LooksLikeTotals(tuple(found))
