"""Which files a name means, and of which format each is."""

import glob
import os
from dataclasses import dataclass
from typing import Literal

from takifugu.errors import InputError

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
