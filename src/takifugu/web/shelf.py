"""The tables that the explorer may read: the bundled ones, the one named at the start, those dropped on the page."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from takifugu import datasets
from takifugu.errors import InputError
from takifugu.problems.inspection_findings import SuspectedSentinel
from takifugu.publishing import ledger_beside
from takifugu.releases.ledger import Ledger
from takifugu.tables.inspect import ColumnFacts, look
from takifugu.tables.reading import Reading
from takifugu.tables.table import Secret, Table, plain
from takifugu.web.rereading import on_page
from takifugu.web.uploads import MOST_FILES, Uploads, title_of

MOST_SECRETS = 60  # a column with more distinct values is not offered as a secret
MOST_COLUMNS = 400
_LISTED = ("whole numbers", "numbers", "truth", "labels")  # what a list of values can be made of
_MOST_LABELS = 1_000


@dataclass(frozen=True)
class Entry:
    """A table on the shelf, what it is called on a command line, its ledger, and the question that the page opens with.

    `file` is where it lies; a table that was dropped on the page, or is bundled, lies nowhere.
    A name is never given twice, so that what is remembered about a table is about no other.
    """

    name: str
    title: str
    source: str
    ledger: Path
    kind: str = "file"
    secret: str | None = None
    pair: tuple[str, str] | None = None
    answer: str | None = None
    file: Path | None = None
    reading: Reading = field(default_factory=Reading)

    def book(self) -> Ledger:
        """The ledger, which knows the file, where there is one: what left it through another ledger is noticed."""
        found = Ledger(self.ledger)
        if self.file is not None:
            found.watch(self.file)
        return found


class Shelf:
    """Opens tables by the names on offer, and knows which of their columns can be secrets or answers.

    One thread at a time: an engine's connection is not made for two.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | None = None,
        reading: Reading | None = None,
        *,
        ledger: str | os.PathLike[str] | None = None,
    ) -> None:
        """Open the table named at the start, so that a wrong name is told at once and not on the page."""
        self.lock = RLock()  # held by whoever reads a table
        self.uploads = Uploads()
        self._ledger = None if ledger is None else Path(ledger)
        self._opened: dict[str, Table] = {}
        self._dropped: list[tuple[str, Path]] = []
        self._lies: dict[str, str] = {}  # where each file is read from
        self._names: set[str] = set()
        self.entries: dict[str, Entry] = {}
        if source is not None and str(source) in datasets.names() and not os.path.exists(source):
            self._add_bundled(str(source))
        elif source is not None:
            title = Path(source).name
            given, beside = os.fspath(source), ledger_beside(source)
            self._add(title, Table(source, reading), source=given, ledger=beside, file=Path(source), lies=given)
        for name in datasets.names():
            self._add_bundled(name)
        self.describe = lru_cache(maxsize=16)(self._describe)
        self.secrets = lru_cache(maxsize=256)(self._secrets)

    def _add_bundled(self, name: str) -> None:
        about = datasets.about(name)
        first, second = about.pair
        ledger = self._ledger or Path(f"{name}.ledger")
        entry = Entry(name, about.title, name, ledger, "bundled", about.secret, (str(first), str(second)), about.answer)
        self.entries.setdefault(name, entry)

    def _add(
        self, title: str, table: Table, *, source: str, ledger: Path, lies: str, file: Path | None = None
    ) -> Entry:
        name = f"file:{title}"
        count = 1
        while name in self._names:
            count += 1
            name = f"file:{title} ({count})"
        self._names.add(name)
        self._opened[name], self._lies[name] = table, lies
        entry = Entry(name, title, source, self._ledger or ledger, file=file, reading=table.reading)
        self.entries = {name: entry, **self.entries}
        return entry

    def add_dropped(self, path: Path, given: str) -> Entry:
        """Read a file that was dropped on the page, under the name it has where it comes from."""
        title = title_of(given)
        with self.lock:
            try:
                table = Table(path)
            except InputError as error:
                path.unlink(missing_ok=True)
                raise InputError(str(error).replace(os.fspath(path), title)) from None
            table.name = f"the file {title!r}"  # where it lies here is nobody's concern
            entry = self._add(title, table, source=title, ledger=ledger_beside(title), lies=os.fspath(path))
            self._dropped.append((entry.name, path))
            while len(self._dropped) > MOST_FILES:
                oldest, where = self._dropped.pop(0)
                del self.entries[oldest], self._opened[oldest], self._lies[oldest]
                where.unlink(missing_ok=True)
        return entry

    def read_again(self, name: str, reading: Reading) -> Entry:
        """Read a file in another way, in place of how it was read before; its ledger stays what it is."""
        before = self.entry(name)
        if name not in self._lies:
            raise InputError("a bundled table is read as it is: open a file of your own")
        with self.lock:
            lies = self._lies[name]
            try:
                table = Table(lies, reading)
            except InputError as error:
                raise InputError(str(error).replace(lies, before.title)) from None
            table.name = f"the file {before.title!r}"
            del self.entries[name], self._opened[name], self._lies[name]
            entry = self._add(
                before.title, table, source=before.source, ledger=before.ledger, file=before.file, lies=lies
            )
            self._dropped = [(entry.name if one == name else one, where) for one, where in self._dropped]
        return entry

    def entry(self, name: str) -> Entry:
        """What is known of a table on offer."""
        if name not in self.entries:
            shown = name.removeprefix("file:")[:60]
            raise InputError(f"there is no table {shown!r} here: drop the file on the page, or choose another table")
        return self.entries[name]

    def open(self, name: str) -> Table:
        """The table on offer under a name."""
        self.entry(name)
        with self.lock:
            if name not in self._opened:
                self._opened[name] = Table(datasets.load(name))
            return self._opened[name]

    def _describe(self, name: str) -> dict[str, Any]:
        """The columns that can be secrets, numbers to add noise to, and values to publish from a list.

        What looks like an identifier is named apart: it is never what the page opens with.
        """
        table = self.open(name)
        if len(table.columns) > MOST_COLUMNS:
            raise InputError(f"{table.name} has {len(table.columns)} columns; the explorer takes {MOST_COLUMNS}")
        with self.lock:
            facts = look(table)
        secrets = [one for one in facts if 2 <= one.distinct <= MOST_SECRETS and _can_be_secret(table, one)]
        if not secrets:
            raise InputError(
                f"{table.name} has no column that could be a secret: none has between 2 and {MOST_SECRETS} values"
            )
        identifiers = [one.name for one in facts if one.is_identifier]
        lists = [
            one.name for one in facts if one.kind in _LISTED and (one.is_number or 1 < one.distinct <= _MOST_LABELS)
        ]
        entry = self.entries[name]
        return {
            "secrets": [one.name for one in secrets],
            "secret": entry.secret or _first_secret(secrets),
            "numbers": _identifiers_last(table.numeric, identifiers),
            "lists": _identifiers_last(lists, identifiers),
            "identifiers": identifiers,
            "findings": [on_page(one.sentence) for one in (*table.findings, *_suspected(facts))],
            "suspects": [one.code for one in _suspected(facts)],
            "reading": None if entry.kind == "bundled" else _shown(entry.reading),
        }

    def _secrets(self, name: str, column: str) -> dict[str, tuple[Secret, int]]:
        """The values of a secret column by their spelling, with their rows; the most frequent first."""
        import narwhals as nw

        if column not in self.describe(name)["secrets"]:
            raise InputError(f"column {column[:60]!r} is not among those that can be secrets")
        table = self.open(name)
        with self.lock:
            rows = table.frame.select(table.secret(column).alias("secret"))
            answer = table.collect(rows.group_by("secret").agg(nw.len().alias("rows")).head(MOST_SECRETS + 2))
        found = [(plain(secret), int(count)) for secret, count in zip(answer["secret"], answer["rows"], strict=True)]
        named = [(secret, count) for secret, count in found if secret is not None]
        named.sort(key=lambda one: (-one[1], str(one[0])))
        return {str(secret): (secret, count) for secret, count in named}


def _suspected(facts: Iterable[ColumnFacts]) -> list[SuspectedSentinel]:
    """Codes that stand far from the rest of their column."""
    return [
        SuspectedSentinel(one.name, suspect.value, suspect.rows, suspect.apart)
        for one in facts
        for suspect in one.suspects
        if suspect.apart
    ]


def _shown(reading: Reading) -> dict[str, str]:
    """What was said of a file's form, as the page's fields hold it."""
    lists = {"na": reading.na or (), "sentinels": reading.sentinels}
    plain = {name: getattr(reading, name) or "" for name in ("sep", "decimal", "encoding")}
    return plain | {name: ", ".join(map(str, values)) for name, values in lists.items()}


def _can_be_secret(table: Table, facts: ColumnFacts) -> bool:
    try:
        table.secret(facts.name)
    except InputError:
        return False
    return True


def _first_secret(columns: list[ColumnFacts]) -> str:
    """Of those that can be secrets, the labels with the fewest values; a number only where there are no labels."""
    return min(columns, key=lambda one: (one.is_identifier, one.is_number, one.distinct)).name


def _identifiers_last(columns: list[str], identifiers: list[str]) -> list[str]:
    return sorted(columns, key=lambda name: name in identifiers)
