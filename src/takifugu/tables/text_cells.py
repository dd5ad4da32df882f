"""The shape of every cell of a text column, found by the engine in one pass, and what the shapes make of the column.

A cell has exactly one shape; a column's shapes are the bits of one number, the bitwise or over all its cells. What a
column is depends on that number alone, so on all the cells, and on none of their order.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from takifugu.tables.engine import text


class Shape(IntEnum):
    """What a cell looks like once spaces around it and a percent sign are off."""

    WHOLE = 0  # 12
    POINT_OR_GROUP = 1  # 1.234: with a decimal comma it is 1234
    POINT = 2  # 3.5
    SCIENTIFIC = 3  # 1e5, inf: the same in every country
    COMMA_OR_GROUP = 4  # 1,234: with a decimal point it is 1234
    COMMA = 5  # 3,5
    COMMA_GROUPS = 6  # 1,234,567
    COMMA_GROUPS_POINT = 7  # 1,234.5
    POINT_GROUPS = 8  # 1.234.567
    POINT_GROUPS_COMMA = 9  # 1.234,5
    SPACED = 10  # 1 234 or 1'234
    SPACED_POINT = 11
    SPACED_COMMA = 12
    LEADING_ZERO = 13  # 00123, an identifier
    LONG = 14  # more digits than a whole number of 64 bits has: an identifier
    TRUTH = 15  # true, False
    TEXT = 16


OTHER = 17  # the bit of a shape that was not expected
_PERCENT = 32  # the bit of a shape with a percent sign is this much higher
_SIGN = "[+-]?"
_GROUP = "[1-9][0-9]{0,2}"
_SPACES = " \u00a0\u2009\u202f"  # the plain one, and those that typesetters put between digits
_SPACE = f"[{_SPACES}'\u2019]"
_ORDERED = (  # as tried: the common ones first, so that most cells cost one match
    (Shape.WHOLE, f"{_SIGN}(?:0|[1-9][0-9]{{0,17}})"),
    (Shape.POINT_OR_GROUP, rf"{_SIGN}{_GROUP}\.[0-9]{{3}}"),
    (Shape.POINT, rf"{_SIGN}(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)"),
    (Shape.COMMA_OR_GROUP, f"{_SIGN}{_GROUP},[0-9]{{3}}"),
    (Shape.COMMA, f"{_SIGN}(?:(?:0|[1-9][0-9]*),[0-9]*|,[0-9]+)"),
    (Shape.SCIENTIFIC, rf"(?i){_SIGN}(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)e[+-]?[0-9]{{1,4}}|inf(?:inity)?)"),
    (Shape.COMMA_GROUPS, f"{_SIGN}{_GROUP}(?:,[0-9]{{3}}){{2,5}}"),
    (Shape.COMMA_GROUPS_POINT, rf"{_SIGN}{_GROUP}(?:,[0-9]{{3}})+\.[0-9]*"),
    (Shape.POINT_GROUPS, rf"{_SIGN}{_GROUP}(?:\.[0-9]{{3}}){{2,5}}"),
    (Shape.POINT_GROUPS_COMMA, rf"{_SIGN}{_GROUP}(?:\.[0-9]{{3}})+,[0-9]*"),
    (Shape.SPACED, f"{_SIGN}{_GROUP}(?:{_SPACE}[0-9]{{3}}){{1,5}}"),
    (Shape.SPACED_POINT, rf"{_SIGN}{_GROUP}(?:{_SPACE}[0-9]{{3}})+\.[0-9]*"),
    (Shape.SPACED_COMMA, f"{_SIGN}{_GROUP}(?:{_SPACE}[0-9]{{3}})+,[0-9]*"),
    (Shape.LEADING_ZERO, f"{_SIGN}0[0-9]+(?:[.,][0-9]*)?"),
    (Shape.LONG, f"{_SIGN}[1-9][0-9]{{18,}}"),
    (Shape.TRUTH, "(?i)true|false"),
)

_POINTED = {Shape.POINT, Shape.COMMA_GROUPS, Shape.COMMA_GROUPS_POINT, Shape.SPACED_POINT}
_COMMAED = {Shape.COMMA, Shape.POINT_GROUPS, Shape.POINT_GROUPS_COMMA, Shape.SPACED_COMMA}
_EITHER = {Shape.POINT_OR_GROUP, Shape.COMMA_OR_GROUP}
_NUMERIC = {Shape.WHOLE, Shape.SCIENTIFIC, Shape.SPACED} | _POINTED | _COMMAED | _EITHER
_IDENTIFIER = {Shape.LEADING_ZERO, Shape.LONG}
_BY_COMMA = {Shape.COMMA_OR_GROUP, Shape.COMMA_GROUPS, Shape.COMMA_GROUPS_POINT}
_BY_POINT = {Shape.POINT_OR_GROUP, Shape.POINT_GROUPS, Shape.POINT_GROUPS_COMMA}
_BY_SPACE = {Shape.SPACED, Shape.SPACED_POINT, Shape.SPACED_COMMA}
_REAL = {  # shapes with something after the decimal mark
    ".": {Shape.POINT, Shape.POINT_OR_GROUP, Shape.SCIENTIFIC, Shape.COMMA_GROUPS_POINT, Shape.SPACED_POINT},
    ",": {Shape.COMMA, Shape.COMMA_OR_GROUP, Shape.SCIENTIFIC, Shape.POINT_GROUPS_COMMA, Shape.SPACED_COMMA},
}

Kind = Literal["whole", "real", "truth", "text"]


@dataclass(frozen=True)
class Shapes:
    """The shapes that occur in a column, with and without a percent sign."""

    bare: frozenset[Shape]
    percent: frozenset[Shape]

    @classmethod
    def of(cls, bits: int | None) -> "Shapes":
        """Unpack the engine's number; None stands for a column without a value."""
        bits = bits or 0
        return cls(
            frozenset(shape for shape in Shape if bits >> shape & 1),
            frozenset(shape for shape in Shape if bits >> (shape + _PERCENT) & 1),
        )

    @staticmethod
    def surprising(bits: int | None) -> bool:
        """Whether the engine met a shape that it was not told to expect."""
        return bool((bits or 0) & (1 << OTHER | 1 << OTHER + _PERCENT))

    @property
    def all(self) -> frozenset[Shape]:
        """Those with a percent sign and those without."""
        return self.bare | self.percent

    @property
    def numeric(self) -> bool:
        """Whether every cell is a number in some country's spelling, and all or none has a percent sign."""
        one_unit = not (self.bare and self.percent)
        return bool(self.all) and one_unit and self.all <= _NUMERIC and not (self._pointed and self._commaed)

    @property
    def identifiers(self) -> bool:
        """Whether the cells would be numbers but for zeros in front, or for their length."""
        return bool(self.all & _IDENTIFIER) and self.all <= _NUMERIC | _IDENTIFIER

    @property
    def decimal(self) -> Literal[".", ",", None]:
        """The decimal mark that the cells prove, None where they are silent."""
        if not self.numeric:
            return None
        return "." if self._pointed else "," if self._commaed else None

    @property
    def _pointed(self) -> bool:
        return bool(self.all & _POINTED)

    @property
    def _commaed(self) -> bool:
        return bool(self.all & _COMMAED)

    @property
    def ambiguous(self) -> bool:
        """Whether a cell is one number with a decimal point and another with a decimal comma."""
        return self.numeric and self.decimal is None and bool(self.all & _EITHER)


@dataclass(frozen=True)
class Column:
    """What a column of text is read as."""

    kind: Kind
    decimal: str = "."
    percent: bool = False
    grouped: bool = False

    def missing(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Of the texts that mean a missing value, those that are no number: in a column of numbers, a number among
        them is compared as one later, however it is spelled."""
        return tuple(token for token in tokens if self.kind not in ("whole", "real") or not _is_number(token))

    def sql(self, cell: str) -> str:
        """The SQL of the value in a cell from which spaces around it are off; NULL stays NULL.

        The casts are strict: a cell that is not what the whole column was found to be is an error, never a NULL.
        """
        if self.kind == "text":
            return cell
        if self.kind == "truth":
            return f"CAST(lower({cell}) AS BOOLEAN)"
        marks = "," if self.decimal == "," else ""
        others = (_SPACES + "'\u2019" + ("," if self.decimal == "." else ".")) if self.grouped else ""
        others += "%" + _SPACES if self.percent else ""
        if marks or others:  # `translate` drops what has no counterpart
            cell = f"translate({cell}, {text(marks + others)}, {text('.' * len(marks))})"
        return f"CAST({cell} AS {'BIGINT' if self.kind == 'whole' else 'DOUBLE'})"


def bare_sql(cell: str) -> str:
    """The SQL of a cell without its percent sign."""
    return f"CASE WHEN suffix({cell}, '%') THEN rtrim(rtrim({cell}, '%'), {text(_SPACES)}) ELSE {cell} END"


def shape_sql(cell: str, bare: str, expected: Iterable[Shape] = tuple(Shape)) -> str:
    """The SQL of the bit of a cell's shape, given its `bare_sql` too; NULL where that is.

    A cell of none of the shapes that are expected gets the bit `OTHER`. The patterns of two shapes have no cell in
    common but for 1.234 and 1,234, whose own shapes are tried before the general ones.
    """
    wanted = set(expected)
    wanted |= {Shape.POINT_OR_GROUP} if Shape.POINT in wanted else set()
    wanted |= {Shape.COMMA_OR_GROUP} if Shape.COMMA in wanted else set()
    left = Shape.TEXT if Shape.TEXT in wanted else OTHER
    tried = " ".join(f"WHEN regexp_full_match({bare}, {text(p)}) THEN {1 << s}" for s, p in _ORDERED if s in wanted)
    higher = f"CASE WHEN suffix({cell}, '%') THEN {1 << _PERCENT} ELSE 1 END"
    return f"CASE WHEN {bare} IS NULL THEN NULL {tried} ELSE {1 << left} END * {higher}"


def column_of(shapes: Shapes, *, decimal: str, thousands: str | None) -> Column:
    """What the column is, where numbers are written with this decimal mark; the column's own proof comes first."""
    if shapes.all == {Shape.TRUTH} and not shapes.percent:
        return Column("truth")
    if not shapes.numeric or (shapes.decimal or decimal) != decimal:
        return Column("text")
    grouping = _BY_SPACE | (_BY_COMMA if decimal == "." else _BY_POINT)
    if thousands is not None and shapes.all & (grouping - _allowed(thousands)):
        return Column("text")
    kind: Kind = "real" if shapes.percent or shapes.all & _REAL[decimal] else "whole"
    return Column(kind, decimal, bool(shapes.percent), bool(shapes.all & grouping))


def file_decimal(columns: Iterable[Shapes], sep: str) -> str:
    """The decimal mark of the columns that do not prove their own.

    What the other columns prove decides. Where all are silent, "1,234" in a file of semicolons is 1.234: such files
    come from countries whose comma was taken; elsewhere it is 1234.
    """
    columns = list(columns)
    proofs = {shapes.decimal for shapes in columns} - {None}
    if proofs:
        return "," if proofs == {","} else "."
    commas = any(Shape.COMMA_OR_GROUP in shapes.all and shapes.ambiguous for shapes in columns)
    return "," if commas and sep == ";" else "."


def _is_number(token: str) -> bool:
    try:
        return not math.isnan(float(token))
    except ValueError:
        return False


def _allowed(thousands: str) -> set[Shape]:
    return {"": set(), ",": _BY_COMMA, ".": _BY_POINT}.get(thousands, _BY_SPACE)


# One look at every cell of a text table: shapes, indents, and the texts that mean a missing value.

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
