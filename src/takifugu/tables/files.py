"""Which files a name means, and of which format each is."""

import codecs
import csv
import datetime
import glob
import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, NamedTuple

from takifugu.errors import InputError, MissingExtraError
from takifugu.tables.columns import listed
from takifugu.tables.reading import Reading

TEXT = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx",)
ENDINGS = TEXT + PARQUET + EXCEL

# First bytes that tell a format whatever the name says.
_MAGIC = {
    b"PAR1": ("a Parquet file", PARQUET),
    b"PK\x03\x04": ("an Excel file or another zip archive", EXCEL),
    b"\x1f\x8b": ("compressed with gzip", (".gz",)),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", (".zst",)),
    b"\xd0\xcf\x11\xe0": ("an old Office file", ()),
    b"%PDF": ("a PDF document", ()),
    b"SQLite format 3": ("an SQLite database", ()),
}


@dataclass(frozen=True)
class Files:
    """The files behind a name, all of one format, in the order in which they are read."""

    kind: Literal["text", "parquet", "excel"]
    paths: tuple[str, ...]


def files_of(source: str) -> Files:
    """The files that a path or a pattern means. A path that exists is that file, whatever characters it has."""
    if os.path.isdir(source):
        raise InputError(
            f"{source!r} is a folder: name a file in it, or all of one kind with {source.rstrip('/')}/*.csv"
        )
    if os.path.exists(source):
        kind = _kind(source)
        _check_content(source)
        return Files(kind, (source,))
    if source.lower().startswith("file:"):
        raise InputError(f"{source!r} is a file of this machine: give its path, without 'file:'")
    if "://" in source:
        if _kind(source) != "parquet":
            raise InputError(
                f"{source!r} is not on this machine, and only Parquet is read from elsewhere: fetch it first"
            )
        return Files("parquet", (source,))
    _kind(source)
    found = sorted(path for path in glob.glob(source, recursive=True) if os.path.isfile(path))
    if not found:
        wanted = "no file matches" if glob.has_magic(source) else "there is no file"
        raise InputError(f"{wanted} {source!r}, looked up from {os.getcwd()!r}")
    kinds = {_kind(path) for path in found}
    if len(kinds) > 1:
        raise InputError(f"{source!r} matches files of different formats: name those of one")
    for path in found:
        _check_content(path)
    return Files(kinds.pop(), tuple(found))


def compression(path: str) -> Literal["gzip", "zstd", "none"]:
    """How a text file is packed, by its name.

    >>> compression("a.CSV.gz"), compression("a.tsv")
    ('gzip', 'none')
    """
    lower = path.lower()
    return "gzip" if lower.endswith(".gz") else "zstd" if lower.endswith(".zst") else "none"


def _kind(path: str) -> Literal["text", "parquet", "excel"]:
    lower = path.lower()
    if lower.endswith(PARQUET):
        return "parquet"
    if lower.endswith(EXCEL):
        return "excel"
    if lower.endswith(TEXT):
        return "text"
    raise InputError(f"cannot tell the format of {path!r}: its name must end in {', '.join(ENDINGS)}")


def _check_content(path: str) -> None:
    """The first bytes must not belong to another format than the name."""
    reason = None
    try:
        with open(path, "rb") as file:
            start = file.read(16)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    if reason is not None:
        raise InputError(f"the file {path!r} cannot be read: {reason}")
    if not start:
        raise InputError(f"the file {path!r} is empty")
    lower = path.lower()
    for magic, (what, endings) in _MAGIC.items():
        if start.startswith(magic):
            if endings and lower.endswith(endings):
                return
            remedy = f"give it a name that ends in {endings[0]}" if endings else "save it as CSV, Parquet or .xlsx"
            raise InputError(f"the file {path!r} cannot be read: by its content it is {what}; {remedy}")
    kinds = {".gz": "a gzip", ".zst": "a zstd", ".xlsx": "an Excel"} | dict.fromkeys(PARQUET, "a Parquet")
    for ending, what in kinds.items():
        if lower.endswith(ending):
            raise InputError(f"the file {path!r} cannot be read: its content is not that of {what} file")


# Whether a file is still the one that was counted: what is calibrated for one table must not publish another.

Stamp = tuple[int, ...] | None


def stamps_of(paths: Iterable[str]) -> dict[str, Stamp]:
    """What tells each file from a changed one, without a look inside; of one that is not there, nothing."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    # Who writes into a file may set its time of change back, but not that of its entry.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


# From bytes to text: which encoding a file is in, and whether it is text at all, decided by every byte of it.

_CHUNK = 1 << 20
HEAD = 1 << 19  # characters that are looked at to find the separator and the header
_NEVER = b"\x00\x1f"  # no text has them but in UTF-16; the second stands for a separator in `layout`
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a"))  # beside bytes that are no UTF-8, these mean it is no text
_MARKS = (  # the longer first: a UTF-32 mark begins like one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


_HOLLOW = re.compile(rb"[\r\n][;,|\t]+(?:[\r\n]|\Z)")
_LINE = 1 << 10  # bytes of such a line that are looked for across chunks


@dataclass(frozen=True)
class Survey:
    """What all the bytes of a text file say: its encoding, whether its lines end in one way only, and hold anything."""

    encoding: str
    marked: bool  # it begins with a byte-order mark
    uniform: bool  # all line ends are \\n, or all are \\r\\n
    hollow: bool  # a line may hold separators alone, as spreadsheets have them below a table


def survey(path: str, forced: str | None) -> Survey:
    """Read the whole file once; an error where it is not text or breaks off."""
    with _bytes(path) as file:
        start = file.read(4)
    mark = next((name for bom, name in _MARKS if start.startswith(bom)), None)
    guess = _named(forced, mark) if forced is not None else mark or "utf-8"
    wide = guess.lower().replace("_", "-").startswith(("utf-16", "utf-32"))
    ends = _LineEnds()
    valid, hollow, before = True, wide, b""
    decoder = codecs.getincrementaldecoder(guess)()
    with _bytes(path) as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            if not wide and any(byte in chunk for byte in _NEVER):
                raise InputError(_no_text(path))
            ends.see(chunk)
            hollow = hollow or _HOLLOW.search(before + chunk) is not None
            before = chunk[-_LINE:]
            valid = valid and _decodes(decoder, chunk)
    valid = valid and _decodes(decoder, b"", final=True)
    if valid:
        return Survey(guess, mark is not None, ends.uniform and not wide, hollow)
    if forced is not None or mark is not None:
        raise InputError(
            f"the file {path!r} cannot be read: it is not a text in {guess}, name another encoding (encoding=)"
        )
    holes = False  # a byte that cp1252 leaves undefined
    with _bytes(path) as file:
        for chunk in iter(lambda: file.read(_CHUNK), b""):
            if len(chunk.translate(None, _CONTROL)) != len(chunk):  # one that steers a terminal
                raise InputError(_no_text(path))
            holes = holes or any(byte in chunk for byte in b"\x81\x8d\x8f\x90\x9d")
    return Survey("latin-1" if holes else "cp1252", False, False, hollow)


def head(path: str, encoding: str) -> tuple[str, bool]:
    """The first characters of a file, and whether they are all of it; line ends become \\n."""
    with as_text(path, encoding) as file:
        found = file.read(HEAD)
        return found, not file.read(1)


@contextmanager
def as_text(path: str, encoding: str) -> Iterator[IO[str]]:
    """The file as text, unpacked and decoded, with \\n at the end of each line."""
    with _bytes(path) as file, io.TextIOWrapper(io.BufferedReader(_Raw(file)), encoding=encoding) as wrapped:
        yield wrapped


class _Raw(io.RawIOBase):
    """Any readable thing as a raw stream, so that the text layer can lie on gzip, zstd and plain files alike."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _LineEnds:
    """Counts line ends over chunks, one of which may begin with the second half of a \\r\\n."""

    def __init__(self) -> None:
        self._returns = self._feeds = self._both = 0
        self._last = b""

    def see(self, chunk: bytes) -> None:
        self._feeds += chunk.count(b"\n")
        if b"\r" in chunk:
            self._returns += chunk.count(b"\r")
            self._both += chunk.count(b"\r\n")
        self._both += self._last == b"\r" and chunk[:1] == b"\n"
        self._last = chunk[-1:]

    @property
    def uniform(self) -> bool:
        return self._returns == self._both and self._feeds in ((self._both,) if self._both else (self._feeds,))


def _no_text(path: str) -> str:
    return (
        f"the file {path!r} cannot be read: it holds bytes that no text has. Save it as CSV in UTF-8, or name its "
        f"encoding if it is a text in UTF-16"
    )


def _named(forced: str, mark: str | None) -> str:
    """A forced UTF-8 tolerates its mark; every other name is taken as it is."""
    return "utf-8-sig" if mark == "utf-8-sig" and codecs.lookup(forced).name == "utf-8" else codecs.lookup(forced).name


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeError:
        return False
    return True


@contextmanager
def _bytes(path: str) -> Iterator[Any]:
    """The file's bytes, unpacked; what is packed badly becomes a sentence."""
    import gzip
    import zlib

    packed = compression(path)
    failure: str | None = None
    try:
        if packed == "gzip":
            with gzip.open(path, "rb") as unpacked:
                yield unpacked
        elif packed == "zstd":
            with _zstd(path) as unpacked:
                yield unpacked
        else:
            with open(path, "rb") as plain:
                yield plain
    except (EOFError, zlib.error, gzip.BadGzipFile):
        failure = "it is packed with gzip and breaks off or is damaged; fetch or pack it again"
    except OSError as error:
        if packed != "zstd" and error.strerror is not None:
            failure = error.strerror
        else:
            failure = f"it is packed with {packed} and breaks off or is damaged; fetch or pack it again"
    if failure is not None:
        raise InputError(f"the file {path!r} cannot be read: {failure}")


def _zstd(path: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("files packed with zstd are read with PyArrow: pip install 'takifugu[files]'") from None
    return pa.CompressedInputStream(pa.OSFile(path), "zstd")


# How large a workbook is once it is unpacked, found before it is: a file of a few kilobytes can take all memory.
#
# A sheet is read with all the cells between its first and its last, empty ones too, so one stray cell in the far
# corner makes seventeen billion of them; and what is packed may be a thousand times as long as the file.

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


# An Excel sheet as a text file in the private folder, so that its cells are read by the same rules as any text.
#
# python-calamine reads cells about ten times as fast as openpyxl, in Rust, and runs no part of the workbook.


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
        raise InputError(f"{where} is empty: none of the requested sheets has anything in it")
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


def _spelled(cell: object) -> str:
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
