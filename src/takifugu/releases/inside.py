"""Whether every row to publish has a secret that is hidden: asked before the work, and not when all of it is done."""

from collections.abc import Iterable, Sequence
from typing import Any

from takifugu.errors import InputError
from takifugu.releases.secret_rows import as_called, has_any, outside
from takifugu.tables.choosing import SECRETS
from takifugu.tables.missing import present
from takifugu.tables.table import Table, match_secret, plain


def require_inside(
    table: Table, secrets: Sequence[str], needed: Sequence[str], hidden: Iterable[Any], *, typed: bool = False
) -> None:
    """Before hours of work, whether rows have a secret that is not `hidden`: `protected_rows` would refuse them.

    Rows that lack one of the `needed` values are not published, and none of them counts. Of secrets as somebody `typed`
    them, one that no row has may be a slip, which has an error of its own when priors are fitted.
    """
    wanted = list(hidden)
    looked_at = [name for name in secrets if len(secrets) == 1 or has_any(wanted, name)]
    counts = _counts(table, secrets, needed, looked_at)
    every = [one for of_column in counts for one in of_column]
    if typed and any(match_secret(one, every) is None for one in wanted):
        return
    for of_column in counts:
        known = frozenset(found for one in wanted if (found := match_secret(one, of_column)) is not None)
        if strange := sum(rows for one, rows in of_column.items() if one not in known):
            raise InputError(outside(strange, sum(of_column.values()), known))


def _counts(
    table: Table, secrets: Sequence[str], needed: Sequence[str], looked_at: Iterable[str]
) -> list[dict[Any, int]]:
    """For each column of secrets, the whole rows of each secret, called as the priors call it."""
    import narwhals as nw

    complete = list(dict.fromkeys([*secrets, *needed]))
    for name in complete:
        table.require(name)
    whole = table.frame.filter(present(table, complete))
    found = []
    for name in looked_at:
        keys = whole.select(table.secret(name).alias("secret"))
        answer = table.collect(keys.group_by("secret").agg(nw.len().alias("rows")).head(SECRETS + 1))
        called = as_called([plain(one) for one in answer["secret"]], name, of=secrets)
        found.append(dict(zip(called, map(int, answer["rows"]), strict=True)))
    return found
