"""The tables that the explorer may read: the bundled ones, and the one named when it was started. No others."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from takifugu import datasets
from takifugu.errors import InputError
from takifugu.tables.table import Secret, Table, plain

MOST_SECRETS = 60  # a column with more distinct values is not offered as a secret
MOST_COLUMNS = 400
_OWN = "table"  # the name of the table given at the start; no bundled one has it


@dataclass(frozen=True)
class Entry:
    """A table on the shelf, and the question that the page opens with."""

    name: str
    title: str
    secret: str | None = None
    pair: tuple[str, str] | None = None
    answer: str | None = None


class Shelf:
    """Opens tables by the names on offer, and knows which of their columns can be secrets or answers.

    One thread at a time: an engine's connection is not made for two.
    """

    def __init__(self, source: str | os.PathLike[str] | None = None) -> None:
        """Open the table named at the start, so that a wrong name is told at once and not on the page."""
        self._lock = RLock()
        self._source = source
        self._opened: dict[str, Table] = {}
        self.entries: dict[str, Entry] = {}
        if source is not None and str(source) in datasets.names():
            self._add_bundled(str(source))
        elif source is not None:
            self._opened[_OWN] = Table(source)
            self.entries[_OWN] = Entry(_OWN, Path(source).name)
        for name in datasets.names():
            self._add_bundled(name)
        self.describe = lru_cache(maxsize=16)(self._describe)
        self.secrets = lru_cache(maxsize=256)(self._secrets)

    def _add_bundled(self, name: str) -> None:
        about = datasets.about(name)
        first, second = about.pair
        self.entries.setdefault(name, Entry(name, about.title, about.secret, (str(first), str(second)), about.answer))

    @property
    def lock(self) -> RLock:
        """Held by whoever reads a table."""
        return self._lock

    def open(self, name: str) -> Table:
        """The table on offer under a name."""
        if name not in self.entries:
            raise InputError(f"there is no table {name[:60]!r}; those on offer are {', '.join(self.entries)}")
        with self._lock:
            if name not in self._opened:
                self._opened[name] = Table(datasets.load(name))
            return self._opened[name]

    def _describe(self, name: str) -> dict[str, Any]:
        """The columns that can be secrets, with how many values each has, and those that can be answers."""
        table = self.open(name)
        if len(table.columns) > MOST_COLUMNS:
            raise InputError(f"{table.name} has {len(table.columns)} columns; the explorer takes {MOST_COLUMNS}")
        with self._lock:
            distinct = _distinct(table)
        secrets = [column for column, values in distinct.items() if 2 <= values <= MOST_SECRETS]
        if not secrets:
            raise InputError(
                f"{table.name} has no column that could be a secret: none has between 2 and {MOST_SECRETS} values"
            )
        answers = table.numeric
        if not answers:
            raise InputError(f"{table.name} has no column of numbers to publish")
        return {"secrets": secrets, "answers": answers}

    def _secrets(self, name: str, column: str) -> dict[str, tuple[Secret, int]]:
        """The values of a secret column by their spelling, with their rows; the most frequent first."""
        import narwhals as nw

        if column not in self.describe(name)["secrets"]:
            raise InputError(f"column {column[:60]!r} is not among those that can be secrets")
        table = self.open(name)
        with self._lock:
            rows = table.frame.select(table.secret(column).alias("secret"))
            answer = table.collect(rows.group_by("secret").agg(nw.len().alias("rows")).head(MOST_SECRETS + 2))
        found = [(plain(secret), int(count)) for secret, count in zip(answer["secret"], answer["rows"], strict=True)]
        named = [(secret, count) for secret, count in found if secret is not None]
        named.sort(key=lambda one: (-one[1], str(one[0])))
        return {str(secret): (secret, count) for secret, count in named}


def _distinct(table: Table) -> dict[str, int]:
    """How many values each column has, up to a few more than matter; columns no secret can be made of have none."""
    found = {}
    for column in table.columns:
        try:
            secret = table.secret(column)
        except InputError:
            continue
        rows = table.frame.select(secret.alias("secret"))
        answer = table.collect(rows.unique().head(MOST_SECRETS + 2))
        found[column] = sum(plain(value) is not None for value in answer["secret"])
    return found
