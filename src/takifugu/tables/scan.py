"""One look at every cell of a text table: shapes, indents, and the texts that mean a missing value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from takifugu.tables.engine import text
from takifugu.tables.shapes import Shape, Shapes, bare_sql, shape_sql

_SAMPLE = 20_000  # rows that show which columns are plainly text, before all rows are asked about the others
_COMMON = frozenset({Shape.WHOLE, Shape.POINT, Shape.SCIENTIFIC})  # a very small number is no surprise
_AT_ONCE = 100  # columns in one statement


@dataclass(frozen=True)
class Cells:
    """What the cells of one column are."""

    shapes: Shapes
    indented: bool  # every cell with something in it begins with a space
    tokens: Counter[str]  # how often each text that means a missing value stands there; the empty one is a blank


def scan(connection: Any, raw: str, tokens: Sequence[tuple[str, ...]]) -> list[Cells]:
    """What is in the columns c0, c1, … of the statement `raw`, where these texts mean a missing value."""
    every = range(len(tokens))
    shapes = _shapes(connection, raw, tokens)
    found: list[Cells] = []
    for chosen in _portions(every):
        asked = [[f"bool_and(prefix(c{p}, ' '))", f"count(*) FILTER (WHERE {_is_missing(p, tokens)})"] for p in chosen]
        answers = _ask(connection, raw, asked)
        missing = [place for place, (_, count) in zip(chosen, answers, strict=True) if count]
        # Each text is counted only where there is any: a histogram by the engine takes gigabytes.
        texts = [[f"count(*) FILTER (WHERE {trimmed(p)} = {text(token)})" for token in tokens[p]] for p in missing]
        counts = dict(zip(missing, _ask(connection, raw, texts) if missing else [], strict=True))
        for place, (indented, _) in zip(chosen, answers, strict=True):
            tally = Counter({t: n for t, n in zip(tokens[place], counts.get(place, ()), strict=False) if n})
            found.append(Cells(shapes[place], bool(indented), tally))
    return found


def trimmed(place: int) -> str:
    """The SQL of a cell without the spaces around it."""
    return f"trim(c{place})"


def among(value: str, tokens: Sequence[str]) -> str:
    """The SQL of whether a value is one of the texts."""
    return f"{value} IN ({', '.join(map(text, tokens))})"


def _shapes(connection: Any, raw: str, tokens: Sequence[tuple[str, ...]]) -> dict[int, Shapes]:
    """The shapes in every column, from all its cells.

    The first rows show which columns are plainly text: no further row can make them numbers. All rows are asked
    about the others, but only whether they have the shapes seen so far: to try all shapes is dear, and done again
    for the few columns that have a surprise further down.
    """
    ((rows,),) = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM ({raw}) LIMIT {_SAMPLE})").fetchall()
    every = range(len(tokens))
    found = _all_shapes(connection, f"SELECT * FROM ({raw}) LIMIT {_SAMPLE}", tokens, every)
    if rows < _SAMPLE:
        return found
    unsettled = [place for place in every if Shape.TEXT not in found[place].all]
    bits = _expected_shapes(connection, raw, tokens, {place: found[place].all | _COMMON for place in unsettled})
    surprised = dict.fromkeys((place for place in bits if Shapes.surprising(bits[place])), frozenset(Shape))
    bits |= _expected_shapes(connection, raw, tokens, surprised)
    return found | {place: Shapes.of(number) for place, number in bits.items()}


def _expected_shapes(
    connection: Any, raw: str, tokens: Sequence[tuple[str, ...]], expected: Mapping[int, frozenset[Shape]]
) -> dict[int, int | None]:
    """The bits of the shapes in some columns, where those that are expected are tried."""
    found: dict[int, int | None] = {}
    for chosen in _portions(list(expected)):
        inner = ", ".join(f"{_present(place, tokens)} AS t{place}" for place in chosen)
        bare = ", ".join(f"{bare_sql(f't{place}')} AS n{place}" for place in chosen)
        asked = ", ".join(f"bit_or({shape_sql(f't{place}', f'n{place}', expected[place])})" for place in chosen)
        statement = f"SELECT {asked} FROM (SELECT *, {bare} FROM (SELECT {inner} FROM ({raw})))"
        (answers,) = connection.execute(statement).fetchall()
        found |= dict(zip(chosen, answers, strict=True))
    return found


def _all_shapes(
    connection: Any, rows: str, tokens: Sequence[tuple[str, ...]], places: Sequence[int]
) -> dict[int, Shapes]:
    """With every cell in a row of its own: an engine makes a pattern ready once for each place where it stands."""
    cells = ", ".join(_present(place, tokens) for place in places)
    numbers = ", ".join(map(str, places))
    long = f"SELECT unnest([{numbers}]) AS place, unnest([{cells}]) AS t FROM ({rows})"
    bare = f"SELECT place, t, {bare_sql('t')} AS n FROM ({long})"
    answers = connection.execute(f"SELECT place, bit_or({shape_sql('t', 'n')}) FROM ({bare}) GROUP BY place").fetchall()
    bits = dict(answers)
    return {place: Shapes.of(bits.get(place)) for place in places}


def _is_missing(place: int, tokens: Sequence[tuple[str, ...]]) -> str:
    return among(trimmed(place), tokens[place])


def _present(place: int, tokens: Sequence[tuple[str, ...]]) -> str:
    """The SQL of a cell without spaces around it, NULL where its text means a missing value."""
    return f"CASE WHEN {_is_missing(place, tokens)} THEN NULL ELSE {trimmed(place)} END"


def _ask(connection: Any, rows: str, questions: Sequence[Sequence[str]]) -> list[list[Any]]:
    """One answer to each question about each column, in one pass."""
    asked = ", ".join(question for mine in questions for question in mine)
    ((*answers,),) = connection.execute(f"SELECT {asked} FROM ({rows})").fetchall()
    return [[answers.pop(0) for _ in mine] for mine in questions]


def _portions(places: Sequence[int]) -> list[Sequence[int]]:
    return [places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE)]
