"""Columns that go along as they are: whether one of them gives the secret away, and what a spreadsheet would run."""

from collections import defaultdict
from typing import Any

from takifugu.errors import InputError

_MOST = 10_000  # distinct pairs of a kept value and a secret beyond which a column is no other name for the secret
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Telling:
    """Watches, batch by batch, whether a kept column says the same as the secret."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Watch these columns."""
        self._seen: dict[str, dict[Any, set[Any]]] = {name: defaultdict(set) for name in names}
        self._rows = 0

    def look(self, secrets: list[Any], columns: dict[str, list[Any]]) -> None:
        """One more batch of rows."""
        self._rows += len(secrets)
        for name in list(self._seen):
            seen = self._seen[name]
            for value, secret in set(zip(columns[name], secrets, strict=True)):
                seen[value].add(secret)
            if len(seen) > _MOST:
                del self._seen[name]

    def refuse(self) -> None:
        """Raise where a column's values, each of several rows, always go with one secret."""
        for name, seen in self._seen.items():
            secrets = set().union(*seen.values()) if seen else set()
            alone = all(len(found) == 1 for found in seen.values())
            if alone and len(secrets) > 1 and 2 * len(seen) <= self._rows:
                raise InputError(
                    f"column {name!r}, which was to be kept, says in every row what the secret is: it cannot be "
                    f"published with what is meant to hide it. Nothing was released"
                )


def harmless(text: Any) -> Any:
    """Text that a spreadsheet takes for text: what would run as a formula gets an apostrophe in front.

    >>> harmless("=1+1"), harmless("ward 3")
    ("'=1+1", 'ward 3')
    """
    return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA) else text
