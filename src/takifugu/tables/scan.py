"""One look at every cell of a text table: shapes, indents, and the texts that mean a missing value."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from takifugu.tables.engine import text
from takifugu.tables.shapes import Shape, Shapes, bare_sql, shape_sql

_SAMPLE = 20_000  # rows that show which columns are plainly text, before all rows are asked about the others
_AT_ONCE = 100  # columns in one statement


@dataclass(frozen=True)
class Cells:
    """What the cells of one column are."""

    shapes: Shapes
    indented: bool  # every cell with something in it begins with a space
    tokens: Counter[str]  # how often each text that means a missing value stands there; the empty one is a blank


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
    return f"trim(c{place})"


def among(value: str, tokens: Sequence[str]) -> str:
    """The SQL of whether a value is one of the texts."""
    return f"{value} IN ({', '.join(map(text, tokens))})"


def _tally(
    connection: Any, rows: str, tokens: Sequence[tuple[str, ...]], settled: dict[int, Shapes | None]
) -> list[Cells]:
    """Columns whose shapes are settled are asked about the rest alone."""
    found: list[Cells] = []
    for chosen in _portions(list(settled)):
        answers = _ask(connection, rows, chosen, [_questions(p, tokens[p], settled[p]) for p in chosen], tokens)
        missing = [place for place, (_, _, count) in zip(chosen, answers, strict=True) if count]
        # Each text is counted only where there is any: a histogram by the engine takes gigabytes.
        texts = [[f"count(*) FILTER (WHERE t{p} = {text(token)})" for token in tokens[p]] for p in missing]
        counts = dict(zip(missing, _ask(connection, rows, missing, texts, tokens) if missing else [], strict=True))
        for place, (bits, indented, _) in zip(chosen, answers, strict=True):
            tally = Counter({t: n for t, n in zip(tokens[place], counts.get(place, ()), strict=False) if n})
            found.append(Cells(settled[place] or Shapes.of(bits), bool(indented), tally))
    return found


def _questions(place: int, tokens: Sequence[str], settled: Shapes | None) -> list[str]:
    bits = f"bit_or({shape_sql(f't{place}', f'n{place}')})" if settled is None else "0"
    return [bits, f"bool_and(prefix(c{place}, ' '))", f"count(*) FILTER (WHERE {among(f't{place}', tokens)})"]


def _ask(
    connection: Any,
    rows: str,
    places: Sequence[int],
    questions: Sequence[Sequence[str]],
    tokens: Sequence[tuple[str, ...]],
) -> list[list[Any]]:
    """One answer to each question about each column, in one pass.

    The questions may speak of c, a cell; t, the cell without spaces around it; and n, that without a percent sign,
    NULL where it is missing.
    """
    inner = ", ".join(f"c{place}, {trimmed(place)} AS t{place}" for place in places)
    bare = ", ".join(
        f"CASE WHEN {among(f't{p}', tokens[p])} THEN NULL ELSE {bare_sql(f't{p}')} END AS n{p}" for p in places
    )
    asked = ", ".join(question for mine in questions for question in mine)
    ((*answers,),) = connection.execute(
        f"SELECT {asked} FROM (SELECT *, {bare} FROM (SELECT {inner} FROM ({rows})))"
    ).fetchall()
    return [[answers.pop(0) for _ in mine] for mine in questions]


def _portions(places: Sequence[int]) -> list[Sequence[int]]:
    return [places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE)]
