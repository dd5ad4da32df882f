"""An Excel sheet as a text file in the private folder, so that its cells are read by the same rules as any text.

python-calamine reads cells about ten times as fast as openpyxl, in Rust, and runs no part of the workbook.
"""

import csv
import datetime
from pathlib import Path
from typing import Any, NamedTuple

from takifugu.errors import InputError, MissingExtraError
from takifugu.tables.reading import Reading
from takifugu.tables.secrets import listed
from takifugu.tables.workbook_size import MOST_CELLS, is_too_large


class Sheet(NamedTuple):
    """The sheet that was read, those beside it, and which of these hold a table, as far as they were looked at."""

    name: str
    others: tuple[str, ...]
    tables: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What to say to whoever misses a column or rows; nothing where there is no other sheet.

        >>> Sheet("Notes", ("Stays",)).sentence
        " Its sheet 'Notes' was read, and not 'Stays': give reading=Reading(sheet='Stays') to change that."
        """
        if not self.others:
            return ""
        likely = (self.tables or self.others)[0]
        return (
            f" Its sheet {self.name!r} was read, and not {listed(self.others)}: give reading=Reading(sheet={likely!r}) "
            f"to change that."
        )


def sheet_as_text(path: str, target: Path, reading: Reading) -> Sheet:
    """Write the sheet to `target` as CSV and say which; the first with anything in it, unless one is named.

    Hidden sheets come last: they hold lists of codes and the like, and whoever opens the workbook does not see them.
    """
    try:
        import python_calamine as calamine
    except ImportError:
        raise MissingExtraError("Excel files are read with python-calamine: pip install 'takifugu[excel]'") from None
    where = f"the file {path!r}"
    if is_too_large(path):
        raise InputError(
            f"{where} is too large to be read: a sheet of it spans more than {MOST_CELLS:,} cells, empty ones too, or "
            f"it unpacks to gigabytes. Delete a stray cell far below or beside the table, or save the sheet as CSV"
        )
    chosen: tuple[str, list[list[Any]]] | None = None
    every: list[str] = []
    tables: list[str] = []
    readable = True
    try:
        with calamine.CalamineWorkbook.from_path(path) as book:
            hidden = [one.name for one in book.sheets_metadata if one.visible != calamine.SheetVisibleEnum.Visible]
            every = book.sheet_names
            for name in sorted(_wanted(every, reading.sheet, where), key=hidden.__contains__):
                rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
                filled = sum(any(cell != "" for cell in row) for row in rows)
                if chosen is None and filled:
                    chosen = (name, rows)
                elif filled > 1 and name not in hidden:  # a header and a record; a title alone is no table
                    tables.append(name)
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        readable = False
    if not readable:
        raise InputError(f"{where} cannot be read: it is damaged or locked with a password; save it anew as .xlsx")
    if chosen is None:
        raise InputError(f"{where} is empty: no sheet that was asked for has anything in it")
    name, rows = chosen
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(_unpadded([[_spelled(cell) for cell in row] for row in rows]))
    return Sheet(name, tuple(other for other in every if other != name), tuple(tables))


def _wanted(names: list[str], sheet: str | int | None, where: str) -> list[str]:
    if sheet is None:
        return names
    if sheet in names:
        return [str(sheet)]
    # On the command line every sheet is a text, and a place among them a text of digits.
    place = int(sheet) if isinstance(sheet, str) and sheet.isdecimal() else sheet
    if isinstance(place, int) and not isinstance(place, bool) and 0 <= place < len(names):
        return [names[place]]
    raise InputError(f"{where} has no sheet {sheet!r}; its sheets are {', '.join(map(repr, names))}")


def _unpadded(rows: list[list[str]]) -> list[list[str]]:
    """Without empty rows below the header; titles above the first full row lose the cells that pad them.

    Empty rows among the titles stay: whoever says how many lines to skip has counted them.
    """
    full = next((place for place, row in enumerate(rows) if all(row)), 0)
    return [*map(_stripped, rows[:full]), *(row for row in rows[full:] if any(row))]


def _stripped(row: list[str]) -> list[str]:
    while row and not row[-1]:
        row = row[:-1]
    return row


def _spelled(cell: Any) -> str:
    """A cell as a text file would have it: numbers lose no digit, and a whole one needs no decimal point."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)
