"""How many different values columns have, beside whatever else is asked of a table in the same pass."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import narwhals as nw

    from takifugu.tables.table import Table


def answers(
    table: "Table", frame: "nw.LazyFrame[Any]", asked: "Mapping[str, nw.Expr]", distinct: Mapping[str, str]
) -> dict[str, Any]:
    """One number for each name that is asked for, and for each of `distinct` how many values its column has.

    What is missing counts as one of them. Through ibis each column is a question of its own: in one it would have
    PostgreSQL make a small number of a truth, which that refuses.
    """
    import narwhals as nw

    here = {} if frame.implementation.is_ibis() else {name: nw.col(of).n_unique() for name, of in distinct.items()}
    together = dict(asked) | here
    found = table.collect(frame.select(*(what.alias(name) for name, what in together.items()))) if together else {}
    for name in distinct.keys() - here.keys():
        found |= table.collect(frame.select(distinct[name]).unique().select(nw.len().alias(name)))
    return {name: column[0] for name, column in found.items()}
