"""What was decided about a text table, told as findings; and the refusal to take a record for a header."""

from dataclasses import dataclass
from itertools import pairwise

from takifugu.errors import InputError
from takifugu.problems.findings import Finding
from takifugu.problems.reading_findings import (
    AmbiguousNumbers,
    DecimalCommas,
    GroupedDigits,
    KeptAsText,
    MissingTexts,
    Percentages,
    ReadAs,
    SentinelsTreated,
    SpacesDropped,
    TitleLines,
    UnnamedColumns,
)
from takifugu.tables.layout import Layout, is_numeral
from takifugu.tables.reading import Reading
from takifugu.tables.scan import Cells
from takifugu.tables.shapes import Column


@dataclass(frozen=True)
class Decided:
    """The layouts and encodings of the files, and what became of each column."""

    layouts: tuple[Layout, ...]
    encodings: tuple[str, ...]
    columns: tuple[Column, ...]
    cells: tuple[Cells, ...]
    sheet: str | None
    tabs: bool  # the name of the file promises tabs

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.layouts[0].names

    @property
    def decimal(self) -> str | None:
        """The one decimal mark of all columns of numbers with one, None where they differ."""
        marks = {column.decimal for column in self.columns if column.kind == "real" or column.grouped}
        return marks.pop() if len(marks) == 1 else None


def check_header(decided: Decided, reading: Reading, shown: str) -> None:
    """Refuse to call columns by the values of a record, which every sentence that lists columns would show."""
    if reading.header is not None:
        return
    numbers = [n for n, column in zip(decided.names, decided.columns, strict=True) if column.kind in ("whole", "real")]
    if numbers and all(map(is_numeral, numbers)) and not _counts_up(numbers):
        raise InputError(
            f"the first line of {shown} looks like a record, not like the names of the columns: say header=False if "
            f"it is a record, header=True if these are the names"
        )
    titles = max(layout.titles for layout in decided.layouts)
    proofs = [
        column.kind != "text" and not is_numeral(name)
        for name, column in zip(decided.names, decided.columns, strict=True)
    ]
    if titles and reading.skip is None and not any(proofs):
        raise InputError(
            f"{shown} seems to begin with {titles} line{'s' * (titles > 1)} above its header, but nothing below tells "
            f"the header from a record: say how many lines to skip, with skip=, or name the separator, with sep="
        )


def _counts_up(names: list[str]) -> bool:
    """Years do name columns, and so do the numbers of questions or weeks."""
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return False
    years = all(1900 <= number <= 2100 for number in numbers)
    follow = len(numbers) > 1 and all(b == a + 1 for a, b in pairwise(numbers))
    return follow or (years and all(a < b for a, b in pairwise(numbers)))


def findings_of(decided: Decided, reading: Reading) -> list[Finding]:
    """Everything that was decided and is not what a plain file would have got."""
    found: list[Finding] = []
    separators = {layout.sep for layout in decided.layouts if layout.width > 1} - {"\t" if decided.tabs else ","}
    encodings = set(decided.encodings) - {"utf-8", "utf-8-sig", "ascii"}
    separator = None if reading.sep is not None or decided.sheet is not None else _listed(separators)
    encoding = None if reading.encoding is not None else _listed(encodings)
    sheet = None if reading.sheet is not None else decided.sheet
    if separator is not None or encoding is not None or sheet is not None:
        found.append(ReadAs(separator=separator, encoding=encoding, sheet=sheet))
    titles = max(layout.titles for layout in decided.layouts)
    if titles and reading.skip is None:
        found.append(TitleLines(titles))
    if decided.layouts[0].unnamed:
        found.append(UnnamedColumns(decided.layouts[0].unnamed))
    found.extend(_about_numbers(decided, reading))
    for name, column, cells in zip(decided.names, decided.columns, decided.cells, strict=True):
        tokens = cells.tokens
        usual = {token: count for token, count in tokens.items() if token in reading.missing_texts and token}
        declared = sum(tokens[token] for token in column.missing(tokens) if token and token not in usual)
        if usual and reading.na is None:
            found.append(MissingTexts(name, tuple(sorted(usual)), sum(usual.values())))
        if declared:
            found.append(SentinelsTreated(name, declared))
    return found


def _about_numbers(decided: Decided, reading: Reading) -> list[Finding]:
    found: list[Finding] = []
    named = list(zip(decided.names, decided.columns, decided.cells, strict=True))
    numbers = [(name, column, cells) for name, column, cells in named if column.kind in ("whole", "real")]
    if commas := tuple(name for name, column, _ in numbers if column.decimal == "," and column.kind == "real"):
        found.append(DecimalCommas(commas))
    if groups := tuple(name for name, column, _ in numbers if column.grouped):
        found.append(GroupedDigits(groups))
    if percents := tuple(name for name, column, _ in numbers if column.percent):
        found.append(Percentages(percents))
    if indents := tuple(name for name, column, cells in named if column.kind == "text" and cells.indented):
        found.append(SpacesDropped(indents))
    if identifiers := tuple(name for name, _, cells in named if cells.shapes.identifiers):
        found.append(KeptAsText(identifiers))
    if reading.decimal is None and reading.thousands is None:
        # "1.234" in a file of commas is as common as it is plain; any other guess is worth a warning.
        plain = decided.layouts[0].sep == ","
        guessed = [(n, c) for n, c, cells in numbers if cells.shapes.ambiguous and (c.grouped or not plain)]
        for mark in (".", ","):
            if names := tuple(name for name, column in guessed if column.decimal == mark):
                found.append(AmbiguousNumbers(names, mark))
    return found


def _listed(values: set[str]) -> str | None:
    return " or ".join(sorted(values)) or None
