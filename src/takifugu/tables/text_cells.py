"""The shape of every cell of a text column, found by the engine in one pass, and what the shapes make of the column.

A cell has exactly one shape; a column's shapes are the bits of one number, the bitwise or over all its cells. What a
column is depends on that number alone, so on all the cells, and on none of their order.
"""

import math
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple

from takifugu.tables.engine import text

if TYPE_CHECKING:
    import duckdb


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

_SAMPLE = 20_000  # rows that show which columns are plainly text, and which have a cell of its own in most rows
_ONCE = (
    0.75  # of these rows: where more have a cell that no other has, cells are not gathered before they are looked at
)
_AT_ONCE = 50  # columns in one statement
_numbers = count(1)


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

    cells: Cells
    rows: int
    once: int  # how many of them have a cell that no other has


def scan(connection: object, raw: str, tokens: Sequence[tuple[str, ...]]) -> Scanned:
    """What is in the columns c0, c1, … of the statement `raw`, where these texts mean a missing value.

    The first rows tell which columns are plainly text, since no further row can make them numbers, and which have few
    distinct cells: those are gathered first, and each is looked at once. One pass does it for all columns but those
    with a cell of its own in nearly every row, which are looked at in a second one.
    """
    every = range(len(tokens))
    long = f"unnest([{', '.join(map(str, every))}]) AS place, unnest([{', '.join(map('c{}'.format, every))}]) AS c"
    first = f"SELECT {long} FROM (SELECT * FROM ({raw}) LIMIT {_SAMPLE})"
    seen = _seen(connection, f"SELECT place, c, count(*) AS n FROM ({first}) GROUP BY ALL", tokens, every, every)
    if seen[0].rows == _SAMPLE:
        texts = {place for place in every if Shape.TEXT in seen[place].cells.shapes.all}
        alone = [place for place in every if seen[place].once > _ONCE * _SAMPLE]
        for chosen in _portions([place for place in every if place not in alone]):
            seen |= _seen(connection, _gathered(raw, chosen), tokens, chosen, [p for p in chosen if p not in texts])
        for chosen in _portions(alone):
            seen |= _one_by_one(connection, raw, tokens, chosen, texts)
        text_alone = Shapes.of(1 << Shape.TEXT)
        seen |= {p: replace(seen[p], cells=replace(seen[p].cells, shapes=text_alone)) for p in texts}
    return Scanned([seen[place].cells for place in every], seen[0].rows)


def trimmed(place: int) -> str:
    """The SQL of a cell without the spaces around it."""
    return f"trim(c{place})"


def among(value: str, tokens: Sequence[str]) -> str:
    """The SQL of whether a value is one of the texts."""
    return f"{value} IN ({', '.join(map(text, tokens))})"


def _gathered(raw: str, places: Sequence[int]) -> str:
    """The distinct cells of each of these columns, in one pass, and how many rows have each."""
    columns = ", ".join(f"c{place}" for place in places)
    sets = ", ".join(f"(c{place})" for place in places)
    which = " ".join(f"WHEN grouping(c{place}) = 0 THEN {place}" for place in places)
    cell = " ".join(f"WHEN {place} THEN c{place}" for place in places)
    inner = f"SELECT {columns}, CASE {which} END AS place, count(*) AS n FROM ({raw}) GROUP BY GROUPING SETS ({sets})"
    return f"SELECT place, CASE place {cell} END AS c, n FROM ({inner})"


def _seen(
    connection: "duckdb.DuckDBPyConnection",
    cells: str,
    tokens: Sequence[tuple[str, ...]],
    places: Sequence[int],
    unsettled: Iterable[int],
) -> dict[int, _Seen]:
    """What is in these columns, of which a statement yields the cells `c`, each with its `place` and its rows `n`.

    Shapes are asked of those that are `unsettled` alone. Cells of all columns stand below one another: an engine makes
    a pattern ready once for each place where it stands.
    """
    held = f"cells_{next(_numbers)}"
    connection.execute(f"CREATE TEMP TABLE {held} AS {cells}")
    try:
        ways = dict.fromkeys(tokens[place] for place in places)
        means = " ".join(
            f"WHEN place IN ({', '.join(str(p) for p in places if tokens[p] == way)}) THEN {among('trim(c)', way)}"
            for way in ways
        )
        said = f"SELECT *, CASE {means} END AS missing, trim(c) AS trimmed FROM {held}"
        asked = f"CASE WHEN missing OR place NOT IN ({', '.join(map(str, unsettled)) or -1}) THEN NULL ELSE trimmed END"
        bare = f"SELECT *, {bare_sql('t')} AS b FROM (SELECT *, {asked} AS t FROM ({said}))"
        answers = f"bit_or({shape_sql('t', 'b')}), bool_and(prefix(c, ' ')), sum(n), sum(n) FILTER (n = 1)"
        found = connection.execute(f"SELECT place, {answers} FROM ({bare}) GROUP BY place").fetchall()
        texts = f"SELECT place, trimmed, sum(n) FROM ({said}) WHERE missing GROUP BY ALL"
        counts: dict[int, Counter[str]] = {place: Counter() for place in places}
        for place, token, rows in connection.execute(texts).fetchall():
            counts[place][token] = int(rows)
    finally:
        connection.execute(f"DROP TABLE {held}")
    of = {place: answer for place, *answer in found}
    seen = {}
    for place in places:
        bits, indented, rows, once = of.get(place, (None, None, 0, 0))
        seen[place] = _Seen(Cells(Shapes.of(bits), bool(indented), counts[place]), int(rows), int(once or 0))
    return seen


def _one_by_one(
    connection: "duckdb.DuckDBPyConnection",
    raw: str,
    tokens: Sequence[tuple[str, ...]],
    places: Sequence[int],
    settled: Container[int],
) -> dict[int, _Seen]:
    """What is in these columns, in one pass that holds none of their cells."""
    inner = ", ".join(
        f"c{p}, CASE WHEN {among(trimmed(p), tokens[p])} THEN NULL ELSE {trimmed(p)} END AS t{p}" for p in places
    )
    bare = ", ".join(f"{bare_sql(f't{p}')} AS b{p}" for p in places)
    shapes = {p: "NULL::BIGINT" if p in settled else f"bit_or({shape_sql(f't{p}', f'b{p}')})" for p in places}
    asked = ", ".join(
        f"{shapes[p]}, bool_and(prefix(c{p}, ' ')), bool_or(t{p} IS NULL AND c{p} IS NOT NULL)" for p in places
    )
    statement = f"SELECT count(*), {asked} FROM (SELECT *, {bare} FROM (SELECT {inner} FROM ({raw})))"
    ((rows, *answers),) = connection.execute(statement).fetchall()
    seen = {}
    for place, (bits, indented, has_missing) in zip(
        places, zip(answers[::3], answers[1::3], answers[2::3], strict=True), strict=True
    ):
        found: Counter[str] = Counter()
        if has_missing:
            there = f"SELECT {trimmed(place)} AS t FROM ({raw}) WHERE {among(trimmed(place), tokens[place])}"
            found.update(dict(connection.execute(f"SELECT t, count(*) FROM ({there}) GROUP BY t").fetchall()))
        seen[place] = _Seen(Cells(Shapes.of(bits), bool(indented), found), rows, 0)
    return seen


def _portions(places: Sequence[int]) -> list[Sequence[int]]:
    return [places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE)]
