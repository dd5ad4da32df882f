"""What a reader should know about how a file was read: one remark for each decision that a plain file does not need.

No remark shows a value of a record; names of columns and the texts that mean "missing" are all that is quoted.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from takifugu.problems.findings import Finding
from takifugu.problems.findings.base import some


@dataclass(frozen=True)
class OfReading(Finding):
    """A remark on how a table was read."""


@dataclass(frozen=True)
class ReadAs(OfReading):
    """How a file was read where that is not what a plain CSV file in UTF-8 would have got."""

    separator: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    beside: tuple[str, ...] = ()  # other sheets that hold a table

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        parts = []
        if self.separator is not None:
            parts.append(f"with {_SEPARATORS.get(self.separator, repr(self.separator))} between its fields")
        if self.encoding is not None:
            parts.append(f"in the encoding {self.encoding}")
        if self.sheet is not None:
            parts.append(f"from the sheet {self.sheet!r}")
        told = f"the file was read {' and '.join(parts)}"
        if not self.beside:
            return told
        there = ", ".join(map(repr, self.beside))
        return f"{told}, and not from {there}: give reading=Reading(sheet={self.beside[0]!r}) to change that"


@dataclass(frozen=True)
class TitleLines(OfReading):
    """Lines above the header that belong to no record."""

    says = "{lines} line{lines:plural} above the header {lines:were} skipped"
    lines: int


@dataclass(frozen=True)
class UnnamedColumns(OfReading):
    """Columns that the header leaves without a name."""

    places: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return f"columns without a name are called by their place: {some([f'column{p}' for p in self.places])}"


@dataclass(frozen=True)
class DecimalCommas(OfReading):
    """Columns whose numbers are written with a decimal comma."""

    says = "commas were read as decimal marks in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class GroupedDigits(OfReading):
    """Columns whose numbers have marks between groups of three digits."""

    says = "marks between groups of three digits were dropped in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Percentages(OfReading):
    """Columns of percentages, read as the number before the sign."""

    says = "percent signs were dropped in {columns:some}: 12 % is 12 there"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class KeptAsText(OfReading):
    """Columns of digits that are names rather than numbers: with zeros in front, or too long."""

    says = "digits with zeros in front, or more than 18 of them, were kept as text in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class SpacesDropped(OfReading):
    """Columns of text in which every cell begins with a space, as where separators are followed by one."""

    says = "the space before each value was dropped in {columns:some}"
    columns: tuple[str, ...]


@dataclass(frozen=True)
class AmbiguousNumbers(OfReading):
    """Columns whose numbers could be a thousand times larger or smaller, and nothing in them tells."""

    level = "warning"
    columns: tuple[str, ...]
    decimal: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        mark = "point" if self.decimal == "." else "comma"
        return (
            f"nothing in {some(self.columns)} tells a decimal mark from one between thousands: the decimal {mark} "
            f"was assumed; give reading=Reading(decimal=...) to be sure"
        )


@dataclass(frozen=True)
class MissingTexts(OfReading):
    """Texts such as NA that were read as missing values."""

    says = (
        "column {column!r} says {texts:either} in {cells:rows}, read as missing: give reading=Reading(na=[...]) to "
        "change that"
    )
    column: str
    texts: tuple[str, ...]
    cells: int


@dataclass(frozen=True)
class SentinelsTreated(OfReading):
    """Values that were declared to mean a missing one."""

    says = "{cells:rows} had a declared sentinel in {column!r}, read as missing"
    column: str
    cells: int


@dataclass(frozen=True)
class SentinelsUnseen(OfReading):
    """Declared sentinels that no cell has: perhaps the table writes them in another way."""

    says = "no cell has the declared sentinel {sentinels:either}: see how the table writes it"
    sentinels: tuple[str, ...]


def about(findings: Iterable[Finding], columns: Container[str]) -> tuple[Finding, ...]:
    """What of it concerns these columns, or the file as a whole: what was decided about others changes nothing.

    >>> about([DecimalCommas(("dose", "weight")), MissingTexts("age", ("NA",), 3)], ["dose"])
    (DecimalCommas(columns=('dose',)),)
    """
    found: list[Finding] = []
    for one in findings:
        if isinstance(one, MissingTexts | SentinelsTreated):
            found.extend([one] if one.column in columns else [])
        elif isinstance(one, _OF_COLUMNS):
            named = tuple(name for name in one.columns if name in columns)
            found.extend([replace(one, columns=named)] if named else [])
        else:
            found.append(one)
    return tuple(found)


_OF_COLUMNS = DecimalCommas | GroupedDigits | Percentages | KeptAsText | SpacesDropped | AmbiguousNumbers
_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
