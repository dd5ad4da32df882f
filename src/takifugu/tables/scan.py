"""One look at every cell of a text table: shapes, indents, and the texts that mean a missing value."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from takifugu.tables.engine import text
from takifugu.tables.shapes import Shape, Shapes, shape_sql

_SAMPLE = 20_000  # rows that show which columns are plainly text, before all rows are asked about the others
_AT_ONCE = 100  # columns in one statement
BLANK = " \t\r\n\f\v\u00a0\u2009\u202f"


@dataclass(frozen=True)
class Cells:
    """What the cells of one column are."""

    shapes: Shapes
    indented: bool  # every cell with something in it begins with a space
    tokens: Counter[str]  # how often each text that means a missing value stands there, the empty one left out


def scan(connection: Any, raw: str, tokens: Sequence[tuple[str, ...]]) -> list[Cells]:
    """What is in the columns c0, c1, … of the statement `raw`, where these texts mean a missing value.

    A first look at some rows shows which columns are plainly text: no further row can make them numbers, so all rows
    are asked only about the others.
    """
    every = range(len(tokens))
    ((rows,),) = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM ({raw}) LIMIT {_SAMPLE})").fetchall()
    first = _tally(connection, f"SELECT * FROM ({raw}) LIMIT {_SAMPLE}", tokens, dict.fromkeys(every))
    if rows < _SAMPLE:
        return first
    settled = {place: first[place].shapes for place in every if Shape.TEXT in first[place].shapes.all}
    return _tally(connection, raw, tokens, {place: settled.get(place) for place in every})


def trimmed(place: int) -> str:
    """The SQL of a cell without the spaces around it."""
    return f"trim(c{place}, {text(BLANK)})"


def among(value: str, tokens: Sequence[str]) -> str:
    """The SQL of whether a value is one of the texts."""
    return f"{value} IN ({', '.join(map(text, tokens))})"


def _tally(
    connection: Any, rows: str, tokens: Sequence[tuple[str, ...]], settled: dict[int, Shapes | None]
) -> list[Cells]:
    """Columns whose shapes are settled are asked about the rest alone."""
    found: list[Cells] = []
    places = list(settled)
    for start in range(0, len(places), _AT_ONCE):
        chosen = places[start : start + _AT_ONCE]
        inner = ", ".join(f"c{place}, {trimmed(place)} AS t{place}" for place in chosen)
        asked = ", ".join(_questions(place, tokens[place], settled[place]) for place in chosen)
        (answers,) = connection.execute(f"SELECT {asked} FROM (SELECT {inner} FROM ({rows}))").fetchall()
        for number, place in enumerate(chosen):
            bits, indented, named = answers[3 * number : 3 * number + 3]
            found.append(Cells(settled[place] or Shapes.of(bits), bool(indented), Counter(named or {})))
    return found


def _questions(place: int, tokens: Sequence[str], settled: Shapes | None) -> str:
    cell, raw = f"t{place}", f"c{place}"
    value = f"CASE WHEN {among(cell, tokens)} THEN NULL ELSE {cell} END"
    bits = f"bit_or({shape_sql(value)})" if settled is None else "0"
    named = f"{cell} <> '' AND {among(cell, tokens)}"  # a histogram of a dozen texts at most
    return f"{bits}, bool_and(prefix({raw}, ' ')), histogram({cell}) FILTER (WHERE {named})"
