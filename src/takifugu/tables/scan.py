"""One look at every cell of a text table: shapes, indents, and the texts that mean a missing value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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


class Scanned(NamedTuple):
    """What the cells of every column are, and the number of rows."""

    columns: list[Cells]
    rows: int


@dataclass(frozen=True)
class _Seen:
    """What the rows that were looked at show of one column."""

    shapes: Shapes
    indented: bool
    has_missing: bool  # some cell has a text that means a missing value


def scan(connection: Any, raw: str, tokens: Sequence[tuple[str, ...]]) -> Scanned:
    """What is in the columns c0, c1, … of the statement `raw`, where these texts mean a missing value."""
    rows, seen = _first_rows(connection, raw, tokens)
    if rows == _SAMPLE:
        rows, seen = _all_rows(connection, raw, tokens, seen)
    counts: dict[int, list[int]] = {}
    for chosen in _portions([place for place, column in seen.items() if column.has_missing]):
        # Each text is counted only where there is any: a histogram by the engine takes gigabytes.
        texts = [[f"count(*) FILTER (WHERE {trimmed(p)} = {text(token)})" for token in tokens[p]] for p in chosen]
        counts |= dict(zip(chosen, _ask(connection, raw, texts), strict=True))
    cells = [
        Cells(
            column.shapes,
            column.indented,
            Counter({t: n for t, n in zip(tokens[place], counts.get(place, ()), strict=False) if n}),
        )
        for place, column in seen.items()
    ]
    return Scanned(cells, rows)


def trimmed(place: int) -> str:
    """The SQL of a cell without the spaces around it."""
    return f"trim(c{place})"


def among(value: str, tokens: Sequence[str]) -> str:
    """The SQL of whether a value is one of the texts."""
    return f"{value} IN ({', '.join(map(text, tokens))})"


def _first_rows(connection: Any, raw: str, tokens: Sequence[tuple[str, ...]]) -> tuple[int, dict[int, _Seen]]:
    """How many of the first rows there are, and what is in every column of them.

    With every cell in a row of its own: an engine makes a pattern ready once for each place where it stands.
    """
    every = range(len(tokens))
    texts = ", ".join(f"c{place}" for place in every)
    cells = ", ".join(_present(place, tokens) for place in every)
    numbers = ", ".join(map(str, every))
    rows = f"SELECT * FROM ({raw}) LIMIT {_SAMPLE}"
    long = f"SELECT unnest([{numbers}]) AS place, unnest([{texts}]) AS c, unnest([{cells}]) AS t FROM ({rows})"
    bare = f"SELECT *, {bare_sql('t')} AS n FROM ({long})"
    asked = f"bit_or({shape_sql('t', 'n')}), bool_and(prefix(c, ' ')), bool_or(t IS NULL AND c IS NOT NULL), count(*)"
    answers = connection.execute(f"SELECT place, {asked} FROM ({bare}) GROUP BY place").fetchall()
    of = {place: answer for place, *answer in answers}
    nothing = [None, None, None, 0]
    found = [of.get(place, nothing) for place in every]
    seen = {
        place: _Seen(Shapes.of(bits), bool(indented), bool(missing))
        for place, (bits, indented, missing, _) in enumerate(found)
    }
    return found[0][-1], seen


def _all_rows(
    connection: Any, raw: str, tokens: Sequence[tuple[str, ...]], first: Mapping[int, _Seen]
) -> tuple[int, dict[int, _Seen]]:
    """The number of rows, and what is in every column, from all its cells.

    The first rows show which columns are plainly text: no further row can make them numbers. All rows are asked
    about the others, but only whether they have the shapes seen so far: to try all shapes is dear, and done again
    for the few columns that have a surprise further down.
    """
    shapes = {place: column.shapes for place, column in first.items()}
    unsettled = [place for place in shapes if Shape.TEXT not in shapes[place].all]
    bits = _expected_shapes(connection, raw, tokens, {place: shapes[place].all | _COMMON for place in unsettled})
    surprised = dict.fromkeys((place for place in bits if Shapes.surprising(bits[place])), frozenset(Shape))
    bits |= _expected_shapes(connection, raw, tokens, surprised)
    shapes |= {place: Shapes.of(number) for place, number in bits.items()}
    found: dict[int, _Seen] = {}
    rows = 0
    for chosen in _portions(list(shapes)):
        asked = [[f"bool_and(prefix(c{p}, ' '))", f"bool_or({_is_missing(p, tokens)})"] for p in chosen]
        ((rows,), *answers) = _ask(connection, raw, [["count(*)"], *asked])
        for place, (indented, missing) in zip(chosen, answers, strict=True):
            found[place] = _Seen(shapes[place], bool(indented), bool(missing))
    return rows, found


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
