"""How often each row occurs, for each secret and each cell of what is known: one pass in the engine."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws.weights import merge
from takifugu.queries.cells import Key
from takifugu.tables.choosing import LEAVE_OUT, chosen_secrets, require_some
from takifugu.tables.table import Secret, Table, plain
from takifugu.tables.tally import tally

if TYPE_CHECKING:
    import narwhals as nw


class Lines:
    """One line per secret, known values and row: how often they occur together."""

    def __init__(self, answer: dict[str, list[Any]], columns: Sequence[str], known: int) -> None:
        """Keep the lines with a value in every column, and count the rows of the others for each secret.

        Of rows that have no secret at all only the number is kept: they are not published.
        """
        secrets = [plain(who) for who in answer["secret"]]
        tallies = [float(rows) for rows in answer["count"]]
        values = [[plain(value) for value in answer[f"x{k}"]] for k in range(len(columns))]
        keys = [[plain(value) for value in answer[f"known{k}"]] for k in range(known)]
        self.missing: dict[Any, float] = {}
        self.empty: dict[Any, Counter[str]] = {}  # how many rows of each secret lack a value in each column
        self.without = 0.0
        whole = []
        for line, row in enumerate(zip(*values, strict=True)):
            if secrets[line] is None:
                self.without += tallies[line]
            elif None in row:
                self.missing[secrets[line]] = self.missing.get(secrets[line], 0.0) + tallies[line]
                lacked = {name: int(tallies[line]) for name, x in zip(columns, row, strict=True) if x is None}
                self.empty.setdefault(secrets[line], Counter()).update(lacked)
            else:
                whole.append(line)
        self.secrets: list[Any] = [secrets[line] for line in whole]
        self.tallies: list[float] = [tallies[line] for line in whole]
        self.keys: list[Key] = [tuple(one[line] for one in keys) for line in whole]
        self.values = [[column[line] for line in whole] for column in values]

    def counted(self, column: int) -> tuple[Array, Array]:
        """The distinct finite numbers of a column in order, and how many rows have each."""
        values, tallies = np.array(self.values[column], dtype=np.float64), np.array(self.tallies)
        here = np.isfinite(values)
        return merge(values[here], tallies[here]) if here.any() else (values[here], tallies[here])

    def rows(self, table: Table, secret: str, wanted: Iterable[Any] | None) -> tuple[list[Secret], int, int]:
        """The secrets to fit, in order; rows without a secret; and rows of theirs that lack a value."""
        # Rows without a value count as their secret's here: one that has no others is not to vanish unsaid.
        rows = self.lacking([*self.secrets, *self.missing])
        if not self.secrets:
            where = f"in every column{self._emptiest(rows)}"
            raise InputError(f"no row has a value {where}: publish fewer columns together")
        names = chosen_secrets(table, secret, {name: of_all for name, (_, of_all) in rows.items()}, wanted)
        for name in names:
            self._require_enough(name, *rows[name])
        return names, int(self.without), sum(rows[name][0] for name in names)

    def _require_enough(self, name: Secret, lacking: int, rows: int) -> None:
        """Refuse a secret with fewer than two rows to count; one that no row would be published of is told by that."""
        if (whole := rows - lacking) >= 2:
            return
        told = f"secret {name!r} has {whole} row{'s' * (whole != 1)} with a value in every column"
        if whole:
            every = self._emptiest([*self.secrets, *self.missing])
            raise InputError(
                f"{told}{every}, and a prior needs at least 2: merge it with another secret, or {LEAVE_OUT}"
            )
        totals = ". Remove a row that is no person's, such as one of totals" if rows == 1 else ""
        raise InputError(
            f"{told}{self._emptiest([name], 'its ')}: none of them would be published, and whoever is missing there "
            f"would be known to have it. Fill the values in, give what is missing a value of its own in the table, "
            f"such as 'unknown', or publish other columns; if nobody with this secret is to be in what is published, "
            f"{LEAVE_OUT}{totals}"
        )

    def _emptiest(self, names: Iterable[Any], whose: str = "") -> str:
        """The column that lacks most values in these secrets' rows, for a sentence about too few that have all."""
        rows = self.lacking(names)
        empty: Counter[str] = Counter()
        for name in rows:
            empty.update(self.empty.get(name, {}))
        if not empty:
            return ""
        (column, count), *_ = empty.most_common(1)
        return f" ({column!r} is empty in {count:,} of {whose}{sum(every for _, every in rows.values()):,} rows)"

    def lacking(self, names: Iterable[Any]) -> dict[Secret, tuple[int, int]]:
        """How many rows of each secret lack a value, and how many it has."""
        found = {name: (int(self.missing.get(name, 0)), int(self.missing.get(name, 0))) for name in names}
        for who, rows in zip(self.secrets, self.tallies, strict=True):
            if who in found:
                found[who] = found[who][0], found[who][1] + int(rows)
        return found


def count_rows(table: Table, secret: str, columns: Sequence[str], known: Sequence[str]) -> Lines:
    """One pass in the engine: rows by secret, known values and values."""
    parts = {"secret": table.secret(secret)}
    parts |= {f"x{k}": value_of(table, name) for k, name in enumerate(columns)}
    parts |= {f"known{k}": table.secret(one) for k, one in enumerate(known)}
    advice = "round the numbers in the table first, or publish fewer columns"
    answer = tally(table, parts, whose="the columns", advice=advice)
    named = sum(plain(who) is not None for who in answer["secret"])
    require_some(table, secret, named, int(sum(answer["count"])))
    return Lines(answer, columns, len(known))


def value_of(table: Table, name: str) -> "nw.Expr":
    """A column's numbers or labels, as the engine reads them."""
    return table.number(name) if table.schema[name].is_numeric() else table.secret(name)
