"""How large a workbook is once it is unpacked, found before it is: a file of a few kilobytes can take all memory.

A sheet is read with all the cells between its first and its last, empty ones too, so one stray cell in the far corner
makes seventeen billion of them; and what is packed may be a thousand times as long as the file.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator

MOST_CELLS = 50_000_000  # of a sheet, empty ones too: they take a few gigabytes
MOST_BYTES = 1 << 32  # of all parts together, unpacked
_AT_ONCE = 1 << 20  # bytes
_ROWS = 1_100_000  # a little above the 1,048,576 that a sheet may have
# The letters of every place of a cell, `r="B12"`; of a row, `r="12"`, there are none. With them the digits of rows that
# no sheet has; a place that begins in another way, such as with letters written as numbers, no program writes.
_COLUMN = re.compile(rb"\br\s*=\s*[\"']([A-Za-z&]{0,4}(?:[2-9]\d{6}|1[1-9]\d{5}|0\d{6}|\d{8})?)")
_ROW = re.compile(rb"\br\s*=\s*[\"'][A-Za-z]*(\d{1,7})")


def is_too_large(path: str) -> bool:
    """Whether a workbook is too large to be read; what is none is for its reader to tell."""
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(path) as book:
            for part in book.infolist():
                is_sheet, columns = False, set[bytes]()
                for text in _elements(book, part):
                    left -= len(text)
                    is_sheet = is_sheet or b"sheetData" in text
                    columns.update(_COLUMN.findall(text) if is_sheet else ())
                    if left < 0:
                        return True
                width = _width(columns)
                if width * _ROWS > MOST_CELLS and width * _height(book, part) > MOST_CELLS:
                    return True
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        return False
    return False


def _elements(book: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """What is in a part, piece by piece; none ends within an element, unless that is longer than a piece."""
    rest = b""
    with book.open(part) as file:
        while piece := file.read(_AT_ONCE):
            whole = rest + piece
            end = whole.rfind(b"<")
            if end <= 0:
                end = 0 if len(whole) < 2 * _AT_ONCE else len(whole)
            rest = whole[end:]
            yield whole[:end]
    yield rest


def _width(columns: set[bytes]) -> int:
    """The number of the last column, A being the first; more than any sheet has where a place is none of a sheet."""
    most = 0
    for name in columns:
        if name and (not name.isalpha() or len(name) > 3):
            return MOST_CELLS + 1
        number = 0
        for letter in name.upper():
            number = 26 * number + letter - 64
        most = max(most, number)
    return most


def _height(book: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """The number of the last row."""
    return max((int(row) for text in _elements(book, part) for row in _ROW.findall(text)), default=1)
