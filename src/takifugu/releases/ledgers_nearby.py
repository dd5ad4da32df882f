"""The ledgers beside a table: each may know its records, whatever the table was called when they were published."""

import glob
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.errors import LedgerError
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledger_file import is_ledger
from takifugu.releases.records import Recognition
from takifugu.tables import Table, files_behind, stream

if TYPE_CHECKING:
    import narwhals as nw


def ledger_beside(path: str | os.PathLike[str]) -> Path:
    """Where a first ledger is started unless another is named: beside the table, under its name.

    >>> ledger_beside("data/people.csv").as_posix()
    'data/people.ledger'
    """
    where = Path(path)
    if not where.exists() and (found := sorted(glob.glob(os.fspath(path), recursive=True))):  # a pattern of several
        name = "".join(letter for letter in where.name if letter not in "*?[]")
        where = Path(found[0]).parent / (f"tables{name}" if not name or name.startswith(".") else name)
    stem = where.name
    for suffix in reversed(where.suffixes):
        if suffix.lower() in (".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".pq", ".xlsx"):
            stem = stem.removesuffix(suffix)
    return where.parent / f"{stem or where.name}.ledger"


def ledgers_beside(files: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """All ledgers, whatever they are called, in the folders of these files and of those that links among them lead to.

    A few bytes of each file there tell.
    """
    given = [
        name for file in files for name in (sorted(glob.glob(os.fspath(file), recursive=True)) or [os.fspath(file)])
    ]
    folders = dict.fromkeys(folder for name in given for folder in (Path(name).parent, Path(name).resolve().parent))
    files_there = (one for folder in folders if folder.is_dir() for one in sorted(folder.iterdir()) if one.is_file())
    return list({one.resolve(): one for one in files_there if is_ledger(one)}.values())


_OTHERS = (
    ", or, if these are other people, whose rows are only alike, say so with new_people=True in a ledger of their own"
)


class Beside:
    """The ledgers beside a table, other than its own, while they look at its rows."""

    def __init__(
        self,
        files: Iterable[str | os.PathLike[str]],
        ledger: Ledger | None,
        *,
        read: Iterable[str],
        available: Iterable[str],
    ) -> None:
        """Find them; nothing is read yet."""
        own = None if ledger is None else ledger.path.resolve()
        others = [Ledger(path, new_people=bool(ledger and ledger.new_people)) for path in ledgers_beside(files)]
        names = list(read), list(available)
        self._looking = [(one, one.recognise(*names)) for one in others if one.path.resolve() != own]

    @property
    def recognitions(self) -> list[Recognition]:
        """What is to be shown all rows."""
        return [rows for _, rows in self._looking]

    @property
    def knowing(self) -> list[Ledger]:
        """Those that know some of the rows, once all were shown."""
        return [ledger for ledger, rows in self._looking if ledger.known_rows(rows)]

    def refuse_among(self, batches: "Callable[[list[str]], Iterable[nw.DataFrame[Any]]]") -> None:
        """Show them these rows, of the columns that they need, and raise where one of them knows some."""
        columns = list(dict.fromkeys(name for one in self.recognitions for name in one.columns))
        for rows in batches(columns) if columns else ():
            for one in self.recognitions:
                one.look(rows)
        self.refuse()

    def refuse(self) -> None:
        """Raise where one of them knows some of the rows: another ledger, or none, would not count what went out."""
        for ledger in self.knowing:
            rows = next(rows for one, rows in self._looking if one is ledger)
            is_plain = Ledger(ledger.path, new_people=True).known_rows(rows) > 0
            raise LedgerError(
                f"the ledger {ledger.path} knows some of these records: a release without it would not be counted. "
                f"Nothing was released; name it as `ledger`" + (_OTHERS if not is_plain else "")
            )


def refuse_known_elsewhere(table: Table, ledger: Ledger | None, read: Iterable[str]) -> None:
    """Raise where another ledger beside a file knows some of its rows, of which something is to leave."""
    Beside(files_behind(table), ledger, read=read, available=table.columns).refuse_among(partial(stream, table))
