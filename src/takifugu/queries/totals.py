"""A row of totals at the end of a table, as spreadsheets have it: it has no secret, and the sums of all the others."""

import math
from collections.abc import Iterable, Sequence

from takifugu.problems.inspection_findings import LooksLikeTotals
from takifugu.tables.inspect import ColumnFacts
from takifugu.tables.table import Table

_MOST = 3  # rows without a secret: of more, one that happens to be a sum is chance
_FEWEST = 10  # rows that are summed: of fewer, too
_CLOSE = 1e-9


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
