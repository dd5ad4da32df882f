"""Columns that go along as they are: whether one of them gives the secret away, and what a spreadsheet would run."""

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems import OWN_ROWS, belief_names, named_belief
from takifugu.releases.binding import Columns, as_called, protected_secrets
from takifugu.releases.drift import Arrangement, Drift, refuse_drift
from takifugu.releases.plan import KEEP, Plan
from takifugu.tables import Coded, cell_in_words, pairs_of, reads_as_more

if TYPE_CHECKING:
    import narwhals as nw


MOST = 10_000  # distinct pairs of a kept value and a secret beyond which a column is no other name for the secret
_MISSING = ("NAType", "NaTType")  # pandas', told by their names, so that pandas need not be there
_SCALARS = frozenset((str, int, float, bool, type(None)))
# At the start of a text, or behind what ends a cell or a line in a country that writes commas into its numbers.
_FORMULA = re.compile(r"(?:\A|(?<=[;|\t\r\n]))(?=[-=+@\t\r\n\uff0b\uff0d\uff1d\uff20])")


class Telling:
    """Watches, batch by batch, whether a kept column says the same as the secret."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Watch these columns."""
        self._seen: dict[str, dict[object, set[object]]] = {name: defaultdict(set) for name in names}
        self._same = dict.fromkeys(names, True)
        self._secrets: set[object] = set()
        self._rows = 0

    def look(self, secrets: Coded, columns: dict[str, Coded]) -> None:
        """One more batch of rows."""
        if not self._same:
            return
        secrets = secrets.map(hashable)
        self._rows += len(secrets)
        if len(self._secrets) < 2:
            self._secrets.update(secrets.cells[secrets.tallies > 0].tolist())
        for name in self._same:
            pairs = list(zip(*pairs_of(columns[name], secrets), strict=True))
            # Written in another way, a secret is still the same: 1 and "1", or "yes" and "YES ".
            self._same[name] = self._same[name] and all(_alike(value, secret) for value, secret in pairs)
            if name not in self._seen:
                continue
            seen = self._seen[name]
            for value, secret in pairs:
                seen[hashable(value)].add(secret)
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


def _alike(value: object, secret: object) -> bool:
    return value is secret or str(value).strip().casefold() == str(secret).strip().casefold()


def hashable(value: object) -> object:
    """A cell as a key: all that is missing is one, and what has no key is told by how it is written."""
    if type(value) in _SCALARS:  # nearly all are, and asking what a value can do takes ten times as long
        return value if value == value else None  # noqa: PLR0124  of missing values each is another one to Python
    if type(value).__name__ in _MISSING or (isinstance(value, Number) and value != value):  # noqa: PLR0124
        return None
    return value if isinstance(value, Hashable) and not isinstance(value, tuple) else repr(value)


def harmless(text: object) -> Any:
    """Text that a spreadsheet takes for text: what would run as a formula gets an apostrophe in front.

    >>> harmless("=1+1"), harmless("ward 3"), harmless("ward;=1+1")
    ("'=1+1", 'ward 3', "ward;'=1+1")
    """
    return _FORMULA.sub("'", text) if isinstance(text, str) else text


# Kept columns that the adversary was said to know: whether what they hold was counted, cell by cell.
#
# The promise to who reads such a column is made by a belief for each of its cells. A cell that no belief is about, or
# in which the answer goes with the secret in another way now, would leave with nothing to bound what it tells.

_MOST = 1_000  # cells in which the rows are held against the promise: with more there are few rows in each

Cell = tuple[Any, ...]


class KnownCells:
    """Watches, batch by batch, the cells of the columns that were counted as known and are kept."""

    def __init__(self, plan: Plan, kept: Sequence[str]) -> None:
        """Watch those of the kept columns; of one that is cut, the calibration knows the cut alone."""
        answer = plan.calibration.answer
        self._known = () if answer is None else answer.known
        self.names = tuple(name for name in self._known if name in kept)
        self._plan, self._labels = plan, _labels(plan.calibration)
        self._hidden = protected_secrets(plan.calibration)
        self._counted: dict[Cell, bool] = {}
        self._uncounted = self._rows = 0
        self._drifts: dict[Cell, Drift] = {}

    def look(self, columns: Sequence[Coded], secrets: dict[str, Coded], ready: Array) -> None:
        """One more batch: the kept columns of `names`, the secrets as the priors call them, and what is drawn for.

        Without secrets it is only seen whether the cells were counted.
        """
        if not self.names:
            return
        promised = self._promised(secrets, len(columns[0]))
        counted = [_as_counted(name, one, self._labels) for name, one in zip(self.names, columns, strict=True)]
        for cell, every in _rows_of_cells(counted):
            rows = every[promised[every]]
            self._rows += len(rows)
            self._uncounted += 0 if self._is_counted(cell) else len(rows)
            if secrets and len(rows) and (drift := self._drift_of(cell)) is not None:
                for called in secrets.values():
                    drift.look(called.taken(rows), ready[rows])

    def _promised(self, secrets: dict[str, Coded], rows: int) -> npt.NDArray[np.bool_]:
        """The rows that anything is promised about: of those with other secrets, which may go along, nothing is."""
        promised = np.full(rows, not secrets)
        for called in secrets.values():
            hidden = [hashable(cell) in self._hidden for cell in called.cells.tolist()]
            promised |= np.array(hidden, dtype=bool)[called.codes]
        return promised

    def refuse(self) -> None:
        """Raise where a cell was not counted."""
        if self._uncounted:
            raise InputError(
                f"{self._uncounted:,} of {self._rows:,} rows have in {' and '.join(map(repr, self.names))}, which is "
                "published unchanged, what no row had when the priors were fitted: nothing bounds what they tell to "
                "who reads it. Nothing was released; calibrate with this table"
            )

    def told(self) -> str | None:
        """How far the rows of a cell are beyond the promise, as `Drift.told` says it; None where that is not plain."""
        for drift in self._drifts.values():
            drift.among = 1 + len(self._drifts)
            if said := drift.told():
                return f"among those with the same {' and '.join(map(repr, self.names))}, {said}"
        return None

    def _is_counted(self, cell: Cell) -> bool:
        if cell not in self._counted:
            # A text that reads as two columns' values was not counted: priors are not fitted with such.
            mixed = any(reads_as_more(name, value, self._known) for name, value in zip(self.names, cell, strict=True))
            ways = [_ways(value) for value in cell]
            self._counted[cell] = not mixed and _is_among(ways, self.names, self._labels)
        return self._counted[cell]

    def _drift_of(self, cell: Cell) -> Drift | None:
        if cell not in self._drifts and len(self._drifts) < _MOST and (made := self._plan.drift_watch()) is not None:
            made.of_all = False  # of a cell's law some rows are those of other cells
            self._drifts[cell] = made
        return self._drifts.get(cell)


def _labels(calibration: Calibration) -> frozenset[str]:
    """What the beliefs are about; those of others, which have a name, count where the table has none of its own."""
    own, others = [], []
    for belief in calibration.beliefs:
        if belief.label.endswith(OWN_ROWS):  # the second about its cell
            continue
        (name,) = belief_names([belief])
        if name is None:
            own.append(belief.label)
        else:
            others.append(belief.label.removeprefix(named_belief(name)).removeprefix(", "))
    return frozenset(own or others)


def _rows_of_cells(columns: Sequence[Coded]) -> Iterator[tuple[Cell, npt.NDArray[np.intp]]]:
    """Every combination of the columns' cells that some row has, with the places of its rows."""
    whole = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:  # codes of their combinations so far, as few as there are combinations
        whole = np.unique(whole * len(column.cells) + column.codes, return_inverse=True)[1]
    order = np.argsort(whole, kind="stable")
    ends = np.flatnonzero(np.diff(whole[order], append=-1))
    for rows in np.split(order, ends[:-1] + 1) if len(order) else ():
        yield tuple(column.cells[column.codes[rows[0]]] for column in columns), rows


def _as_counted(name: str, column: Coded, labels: frozenset[str]) -> Coded:
    """Kept values as their cells were counted, and as they leave: a difference that nobody counted does not.

    Digits of a decimal beyond a float's are such a difference, and beside texts that of the number 1 from the text "1".
    """
    counted = column.map(hashable)
    if any(isinstance(value, str) for value in counted.cells.tolist()):
        counted = counted.map(lambda value: None if value is None else str(value))
    else:
        counted = counted.map(lambda value: _decimal(name, value, labels) if isinstance(value, Decimal) else value)
    return counted.merged()


def _decimal(name: str, value: Decimal, labels: frozenset[str]) -> str | float:
    """A decimal as the text it was counted as, where pandas held it as an object, and as a number elsewhere."""
    text = str(value)
    return text if cell_in_words(name, text) in labels else float(value)


def _ways(value: object) -> list[object]:
    """The ways in which a cell may have been written: another reader has whole numbers as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value % 1:
        return [value]
    # A float that stands for several whole numbers is none of them: their last digits were not counted.
    same = [way for way in (int(value), float(value)) if way == value]
    return [*same, *([0.0, -0.0] if value == 0 else [])]  # engines write either zero


def _is_among(ways: Sequence[Sequence[object]], names: Sequence[str], labels: frozenset[str]) -> bool:
    """Whether a belief is about the cell, in any of the ways to write it."""
    found = [""]
    for name, of_column in zip(names, ways, strict=True):
        told = [cell_in_words(name, value) for value in of_column]
        found = [f"{before}, {one}" if before else one for before in found for one in told]
    return any(label in labels for label in found)


# What is looked at in every row that is published: kept columns, and drift.


class Watch:
    """Whether a kept column or a kept order tells a secret, and whether these are the rows of the priors."""

    def __init__(self, columns: Columns, plan: Plan) -> None:
        """Watch the kept columns, for each column of secrets."""
        self._columns, self._plan = columns, plan
        self._telling = {secret: Telling(columns.keep) for secret in columns.secret}
        self._drift = plan.drift_watch()
        self._known = KnownCells(plan, columns.keep)
        self._order = Arrangement([*columns.secret, *columns.answer] if plan.order == KEEP else [])

    def look(self, rows: "nw.DataFrame[Any]", ready: Array) -> None:
        """One more batch of rows, and what of it goes into the channel."""
        kept = {name: Coded.of(rows[name]) for name in self._columns.keep}
        called: dict[str, Coded] = {}
        for name in self._columns.secret:
            secrets = Coded.of(rows[name])
            called[name] = as_called(secrets, name, of=self._columns.secret)
            self._telling[name].look(secrets, kept)
            if self._drift is not None:
                self._drift.look(called[name], ready)
        self._order.look({name: Coded.of(rows[name]) for name in self._order.names})
        self._known.look([kept[name] for name in self._known.names], called, ready)

    def refuse(self) -> None:
        """Raise where a kept column tells a secret, or where the rows are not those of the priors."""
        for telling in self._telling.values():
            telling.refuse()
        self._known.refuse()
        self._order.refuse()
        if self._drift is not None:
            refuse_drift(self._drift.told() or self._known.told())
