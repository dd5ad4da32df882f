"""A column cut at edges."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from takifugu._validation import real
from takifugu.errors import InputError
from takifugu.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw


_WRITTEN = re.compile(r"Binned\(column=(?P<column>.+), edges=(?P<edges>\(.*\))\)")


@dataclass(frozen=True)
class Binned:
    """A column of numbers, of which only the bin matters: below the first edge, between two, or from the last on."""

    column: str
    edges: tuple[float, ...]

    def place(self, table: Table) -> "nw.Expr":
        """The number of edges at or below each value; null where there is none."""
        import narwhals as nw

        value = table.number(self.column)
        place = value * 0.0
        for edge in self.edges:
            place = place + nw.when(value >= edge).then(1.0).otherwise(0.0)
        return nw.when(~value.is_null()).then(place)

    @property
    def words(self) -> str:
        """The column and its edges, for a sentence.

        >>> binned("age", [30, 45]).words
        'age (cut at 30, 45)'
        """
        return f"{self.column} (cut at {', '.join(f'{edge:g}' for edge in self.edges)})"

    def label(self, place: int) -> str:
        """The bin in words.

        >>> [binned("age", [30, 45]).label(place) for place in range(3)]
        ['age below 30', 'age from 30 to 45', 'age from 45']
        """
        if place == 0:
            return f"{self.column} below {self.edges[0]:g}"
        if place == len(self.edges):
            return f"{self.column} from {self.edges[-1]:g}"
        return f"{self.column} from {self.edges[place - 1]:g} to {self.edges[place]:g}"


def binned(column: str, edges: Sequence[float]) -> Binned:
    """A column cut at edges, to be named where a column is: a value at an edge belongs to the bin above it.

    >>> binned("age", [30, 45, 60])
    Binned(column='age', edges=(30.0, 45.0, 60.0))
    """
    if not isinstance(column, str):
        raise InputError(f"column must be the name of a column, got {column!r}")
    if isinstance(edges, str) or not isinstance(edges, Sequence) or not edges:
        raise InputError(f"edges must be a list of numbers, such as [30, 45, 60]; got {edges!r}")
    cuts: list[Any] = [real("an edge", edge, "a finite number") for edge in edges]
    if any(low >= high for low, high in pairwise(cuts)):
        raise InputError(f"edges must grow from one to the next, got {list(edges)}")
    return Binned(column, tuple(cuts))


def parsed(name: str) -> str | Binned:
    """A column that the adversary may know, as an `Answer` holds its name: a binned one is written out there.

    >>> parsed("age"), parsed(str(binned("age", [30]))).words
    ('age', 'age (cut at 30)')
    """
    match = _WRITTEN.fullmatch(name)
    if match is None:
        return name
    return Binned(ast.literal_eval(match["column"]), tuple(ast.literal_eval(match["edges"])))
