"""How often each value of each column goes with each secret, for a first look at all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.problems.domain import Choices
from takifugu.tables.choosing import SECRETS, chosen_secrets
from takifugu.tables.count import count
from takifugu.tables.overview import Extent, Overview
from takifugu.tables.sentinels import without_sentinels
from takifugu.tables.table import Secret, Table, plain
from takifugu.tables.tally import tally


class BySecret:
    """The rows of each secret, in order, those without one, and the counts of any column on a list of values."""

    def __init__(self, table: Table, secret: str, numbers: Sequence[str], labels: Sequence[str] = ()) -> None:
        """One pass: the rows of each secret, how many have a value in each column, and the range of `numbers`."""
        import narwhals as nw

        self._table, self._secret, self._numbers = table, secret, list(numbers)
        self._columns = [*self._numbers, *labels]
        asked = {"rows": nw.len()}
        for place in range(len(self._columns)):
            own = nw.col(f"x{place}")
            asked[f"{place}:values"] = own.count()
            if place < len(self._numbers):
                asked |= {f"{place}:low": own.min(), f"{place}:high": own.max()}
        parts = [table.secret(secret).alias("secret")]
        parts += [
            (table.number(name) if place < len(self._numbers) else table.secret(name)).alias(f"x{place}")
            for place, name in enumerate(self._columns)
        ]
        grouped = table.frame.select(*parts).group_by("secret").agg(*(e.alias(name) for name, e in asked.items()))
        answer = table.collect(grouped.head(SECRETS + 2))
        keys = [plain(key) for key in answer["secret"]]
        rows = {key: int(n) for key, n in zip(keys, answer["rows"], strict=True) if key is not None}
        self.without = sum(int(n) for key, n in zip(keys, answer["rows"], strict=True) if key is None)
        self.rows: dict[Secret, int] = {}
        if rows:
            self.rows = {name: rows[name] for name in chosen_secrets(table, secret, rows, None)}
        self._answer = {key: {what: answer[what][line] for what in asked} for line, key in enumerate(keys)}

    def lacking(self, column: str) -> dict[Secret, tuple[int, int]]:
        """How many rows of each secret lack a value in one of the columns, and how many it has."""
        valued = f"{self._columns.index(column)}:values"
        return {name: (rows - int(self._answer[name][valued]), rows) for name, rows in self.rows.items()}

    def counts(self, column: str, choices: Choices) -> dict[Secret, Array]:
        """Each secret's counts on the list; only of secrets with a value in the column."""
        return self._of_numbers(column, choices) if column in self._numbers else self._of_labels(column, choices)

    def _of_numbers(self, column: str, choices: Choices) -> dict[Secret, Array]:
        place = self._numbers.index(column)
        extents = {}
        for name in self.rows:
            told = self._answer[name]
            if valid := int(told[f"{place}:values"]):
                ends = float(told[f"{place}:low"]), float(told[f"{place}:high"])
                extents[name] = Extent(int(told["rows"]), valid, *ends)
        subsets = count(self._table, self._secret, column, Overview(extents, 0)) if extents else {}
        counts: dict[Secret, Array] = {}
        for name, found in subsets.items():
            counts[name] = np.zeros(len(choices.values))
            np.add.at(counts[name], choices.places(found.values), found.counts)
        return counts

    def _of_labels(self, column: str, choices: Choices) -> dict[Secret, Array]:
        parts = {"secret": self._table.secret(self._secret), "value": self._table.secret(column)}
        names = f"{self._secret!r} and {column!r}"
        answer = tally(self._table, parts, complete=parts, whose=names, advice="group the labels into fewer first")
        lines = list(zip(map(plain, answer["secret"]), map(plain, answer["value"]), answer["count"], strict=True))
        places = choices.places([value for _, value, _ in lines], column)
        found: dict[Any, Array] = {}
        for (name, _, rows), place in zip(lines, places.tolist(), strict=True):
            found.setdefault(name, np.zeros(len(choices.values)))[place] += rows
        return {name: found[name] for name in self.rows if name in found}


def treated(table: Table, sentinels: Sequence[str]) -> Table:
    """The table with further sentinels read as missing values."""
    if not sentinels:
        return table
    other = Table(table)
    other.reading = replace(table.reading, sentinels=(*table.reading.sentinels, *sentinels))
    other.frame, _ = without_sentinels(other, texts=())
    return other
