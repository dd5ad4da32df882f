"""Columns that go along as they are: whether one of them gives the secret away, and what a spreadsheet would run."""

from collections import defaultdict
from collections.abc import Hashable
from numbers import Number
from typing import Any

from takifugu.errors import InputError

MOST = 10_000  # distinct pairs of a kept value and a secret beyond which a column is no other name for the secret
_MISSING = ("NAType", "NaTType")  # pandas', told by their names, so that pandas need not be there
_SCALARS = frozenset((str, int, float, bool, type(None)))
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Telling:
    """Watches, batch by batch, whether a kept column says the same as the secret."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Watch these columns."""
        self._seen: dict[str, dict[Any, set[Any]]] = {name: defaultdict(set) for name in names}
        self._same = dict.fromkeys(names, True)
        self._secrets: set[Any] = set()
        self._rows = 0

    def look(self, secrets: list[Any], columns: dict[str, list[Any]]) -> None:
        """One more batch of rows."""
        if not self._same:
            return
        secrets = [hashable(secret) for secret in secrets]
        self._rows += len(secrets)
        if len(self._secrets) < 2:
            self._secrets.update(secrets)
        for name, same in self._same.items():
            # Written in another way, a secret is still the same: 1 and "1", or "yes" and "YES ".
            self._same[name] = same and all(map(_alike, columns[name], secrets))
        for name in list(self._seen):
            seen = self._seen[name]
            for value, secret in set(zip(map(hashable, columns[name]), secrets, strict=True)):
                seen[value].add(secret)
            if len(seen) > MOST:
                del self._seen[name]

    def stand_for(self, rows: int) -> None:
        """Say how many rows the pairs that were looked at, each once, stand for."""
        self._rows = rows

    def refuse(self) -> None:
        """Raise where a column is the secret, or where its values, each of several rows, always go with one secret."""
        for name in self._same:
            if self.finds(name):
                raise InputError(
                    f"column {name!r}, which was to be kept, says in every row what the secret is: it cannot be "
                    f"published with what is meant to hide it. Nothing was released"
                )

    def finds(self, name: str) -> bool:
        """Whether the column tells the secret of every row."""
        if self._same[name] and len(self._secrets) > 1:
            return True
        seen = self._seen.get(name, {})
        secrets = set().union(*seen.values()) if seen else set()
        alone = all(len(found) == 1 for found in seen.values())
        return alone and len(secrets) > 1 and 2 * len(seen) <= self._rows


def _alike(value: Any, secret: Any) -> bool:
    return value is secret or str(value).strip().casefold() == str(secret).strip().casefold()


def hashable(value: Any) -> Any:
    """A cell as a key: all that is missing is one, and what has no key is told by how it is written."""
    if type(value) in _SCALARS:  # nearly all are, and asking what a value can do takes ten times as long
        return value if value == value else None  # noqa: PLR0124  of missing values each is another one to Python
    if type(value).__name__ in _MISSING or (isinstance(value, Number) and value != value):  # noqa: PLR0124
        return None
    return value if isinstance(value, Hashable) and not isinstance(value, tuple) else repr(value)


def harmless(text: Any) -> Any:
    """Text that a spreadsheet takes for text: what would run as a formula gets an apostrophe in front.

    >>> harmless("=1+1"), harmless("ward 3")
    ("'=1+1", 'ward 3')
    """
    return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA) else text
