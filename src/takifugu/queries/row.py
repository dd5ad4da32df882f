"""A person's own values of one or several columns, each from a finite list."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array, real
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.fitting.counts import rounded_normal
from takifugu.laws.lattice import round_step
from takifugu.laws.values import Value
from takifugu.mechanisms.optimal.losses import column_loss
from takifugu.mechanisms.optimal.mechanism import MOST_VALUES
from takifugu.mechanisms.sparse.mechanism import MOST_CELLS
from takifugu.problems.answer import Answer
from takifugu.problems.domain import Choices
from takifugu.problems.findings import DomainRead, FewRows, Finding, NoSecret, NoValue, Smoothed
from takifugu.queries.binned import Binned
from takifugu.queries.cells import Key, cell_beliefs, checked_known, known_key
from takifugu.queries.priors import FEW, Beliefs, ColumnWeights, Priors, check_roles
from takifugu.queries.smoothing import Smoothing, smoothing
from takifugu.tables.count import chosen_secrets
from takifugu.tables.table import Secret, Table, plain

if TYPE_CHECKING:
    import narwhals as nw

HELD_OUT = "held-out"
MOST_NUMBERS = 64  # distinct numbers that are published one by one; more are put into bins
_MOST_LABELS = 1_000
_GROUPS = 1_000_000  # lines of counts that are brought home
_LEAST_STD = 0.3  # of a step: the narrowest normal that a pseudo-row is taken from


class Row:
    """Publish a person's values of `columns`, each from a finite list, as one row through one channel.

    Args:
        columns: one column or several.
        domain: the list of each column, such as {"age": [20, 40, 60], "ward": ["A", "B"]}, or for one column the list
            itself. Numbers go to the nearest; labels that are not on the list are refused, or become `other`. Lists
            should be public. What is not given is read from the data, and a finding says so: numbers with more than 64
            distinct values are then put into bins of a round width.
        other: for columns of labels, what a label that is not on the list becomes: one value, or one per column.
        loss: "square", "absolute" or "change"; a matrix over the rows; or the weight of each column, such as
            {"age": 2, "ward": 1}.
        smoothing: "held-out" adds rows of each secret's own columns to its rows, as many as predict its rows best, one
            left out at a time; a number adds so many, of columns taken as independent; 0 adds none. By default
            "held-out" beyond 2,000 combinations of values, where most are shared by hardly anybody. A finding
            says what was assumed.

    >>> Row("age", "ward", domain={"ward": ["A", "B"]})
    Row('age', 'ward')
    """

    def __init__(
        self,
        *columns: str,
        domain: Mapping[str, Sequence[Any]] | Sequence[Any] | None = None,
        other: Any = None,
        loss: Any = None,
        smoothing: float | str | None = None,
    ) -> None:
        """Check what can be checked without a table."""
        if not columns or not all(isinstance(name, str) for name in columns):
            raise InputError("Row takes the names of columns, such as Row('age', 'ward')")
        if len(set(columns)) < len(columns):
            raise InputError("a column stands twice in Row: name each once")
        if domain is not None and not isinstance(domain, Mapping):
            if len(columns) > 1:
                raise InputError("domain must say which column each list is for: {'age': [20, 40], 'ward': ['A', 'B']}")
            domain = {columns[0]: domain}
        for name in domain or {}:
            if name not in columns:
                raise InputError(f"domain has a list for {name!r}, which is not among the columns of this Row")
        self.columns = columns
        self.loss = loss
        self.smoothing = _smoothing(smoothing)
        lists = {name: _given(name, values) for name, values in (domain or {}).items()}
        # One value for all is meant for labels: numbers go to the nearest.
        labels = [name for name, one in lists.items() if len(columns) == 1 or not one.is_numeric]
        others = other if isinstance(other, Mapping) else dict.fromkeys(labels, other)
        self.domain = {name: replace(one, other=others.get(name)) for name, one in lists.items()}

    def __repr__(self) -> str:
        """The columns."""
        return f"Row({', '.join(map(repr, self.columns))})"

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """One law on rows per secret, from the engine's counts."""
        first, *_ = self._fitted(table, secret, secrets, ())
        return first

    def beliefs(
        self, table: Table, secret: str, secrets: Iterable[Any] | None, known: Sequence[str | Binned]
    ) -> Beliefs:
        """The laws without knowledge, and those of every cell of every subset of the known columns."""
        known = checked_known(secret, self.columns, known)
        first, cells, values = self._fitted(table, secret, secrets, known)
        more, findings = cell_beliefs(known, cells, first.pseudo, make=lambda masses: Finite(values, masses))
        return Beliefs([first, *more], findings=[*first.findings, *findings])

    def _fitted(
        self, table: Table, secret: str, secrets: Iterable[Any] | None, known: Sequence[str | Binned]
    ) -> tuple[Priors, dict[tuple[Key, Secret], Array], tuple[Value, ...]]:
        for name in self.columns:
            check_roles(secret, name)
            table.require(name)
        findings: list[Finding] = []
        domain = tuple(self.domain.get(name) or _read(table, name, findings) for name in self.columns)
        lines = _count(table, secret, self.columns, known)
        rows, without, missing = lines.rows(table, secret, secrets)
        places = np.stack(
            [one.places(lines.values[k], name) for k, (one, name) in enumerate(zip(domain, self.columns, strict=True))]
        )
        support, where = _support(places, domain)
        if len(support) > MOST_CELLS:
            widest = max(range(len(domain)), key=lambda k: len(domain[k].values))
            raise InputError(
                f"the columns take {len(support):,} combinations of values together, and a channel is found for "
                f"{MOST_CELLS:,} at most: publish fewer columns together, or give coarser domains; "
                f"{self.columns[widest]!r} takes the most values, {len(domain[widest].values):,}"
            )
        counts = {name: np.zeros(len(support)) for name in rows}
        cells: dict[tuple[Key, Secret], Array] = {}
        for line, (who, tally, key) in enumerate(zip(lines.secrets, lines.tallies, lines.keys, strict=True)):
            if who in counts:
                counts[who][where[line]] += tally
                if known:
                    cells.setdefault((key, who), np.zeros(len(support)))[where[line]] += tally
        values = _values(support, domain)
        if without:
            findings.append(NoSecret(secret, without))
        if missing:
            findings.append(NoValue(self.columns, missing))
        findings.extend(FewRows(name, int(c.sum())) for name, c in counts.items() if c.sum() < FEW)
        answer = Answer("row", self.columns, (secret,), known=tuple(str(one) for one in known), domain=domain)
        laws, pseudo = counts, {name: _own(c, support, domain) for name, c in counts.items()}
        smooth = self._smoothed(counts, support, domain)
        if smooth:
            pseudo = {name: one.pseudo for name, one in smooth.items()}
            # Weighed as the rows that were seen: what a secret counts for among all people stays the same.
            laws = {name: (c + pseudo[name]) * (c.sum() / (c + pseudo[name]).sum()) for name, c in counts.items()}
            findings.append(Smoothed(tuple((n, int(counts[n].sum()), s.rows, s.shape) for n, s in smooth.items())))
        made = Priors(
            {name: Finite(values, law) for name, law in laws.items()},
            answer=answer,
            findings=findings,
            rows={name: int(c.sum()) for name, c in counts.items()},
            counts=counts,
            pseudo=pseudo,
        )
        made.loss = self._loss(values, np.sum(list(counts.values()), axis=0))
        made.is_smoothed = bool(smooth)
        return made, cells, values

    def _smoothed(
        self, counts: dict[Secret, Array], support: list[tuple[int, ...]], domain: tuple[Choices, ...]
    ) -> dict[Secret, Smoothing]:
        """What is added to the rows of each secret; nothing where the rows stand for themselves."""
        asked = self.smoothing
        if asked is None and len(domain) > 1 and len(support) > MOST_VALUES:
            asked = HELD_OUT
        if asked is None or asked == 0 or len(domain) == 1:
            return {}
        places, sizes = np.array(support, dtype=np.intp), [len(one.values) for one in domain]
        number = None if isinstance(asked, str) else asked
        return {name: smoothing(c, places, sizes, number) for name, c in counts.items()}

    def _loss(self, values: tuple[Value, ...], mass: Array) -> Any:
        """The loss for `calibrate`: weights of columns become a matrix."""
        if not isinstance(self.loss, Mapping):
            return self.loss
        for name in self.loss:
            if name not in self.columns:
                raise InputError(f"loss has a weight for {name!r}, which is not among the columns of this Row")
        weights = [real(f"loss[{name!r}]", self.loss.get(name, 1.0), "a number, 0 or more") for name in self.columns]
        if len(values) > MOST_VALUES:  # a matrix over all of them would not fit
            return ColumnWeights(weights)
        rows = [value if isinstance(value, tuple) else (value,) for value in values]
        return sum(
            weight * column_loss(None, column, column, mass, relative=True)
            for weight, column in zip(weights, zip(*rows, strict=True), strict=True)
        )


def _smoothing(given: Any) -> float | str | None:
    if given is None or given == HELD_OUT:
        found: float | str | None = given
        return found
    number = real("smoothing", given, '"held-out", or a number of rows, 0 or more')
    if number < 0:
        raise InputError(f'smoothing must be "held-out", or a number of rows, 0 or more; got {given!r}')
    return number


def _given(name: str, values: Any) -> Choices:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"the domain of {name!r} must be a list of values, got one {type(values).__name__}")
    return Choices(tuple(values))


class _Lines:
    """One line per secret, known values and row: how often they occur together."""

    def __init__(self, answer: dict[str, list[Any]], columns: int, known: int) -> None:
        self.secrets = [plain(name) for name in answer["secret"]]
        self.tallies = [float(tally) for tally in answer["count"]]
        self.values = [answer[f"x{k}"] for k in range(columns)]
        self.keys: list[Key] = [
            tuple(plain(answer[f"known{k}"][line]) for k in range(known)) for line in range(len(self.tallies))
        ]
        whole = [all(_there(column[line]) for column in self.values) for line in range(len(self.tallies))]
        self.missing: dict[Any, float] = {}
        for line, is_whole in enumerate(whole):
            if not is_whole:
                self.missing[self.secrets[line]] = self.missing.get(self.secrets[line], 0.0) + self.tallies[line]
        kept = [line for line, is_whole in enumerate(whole) if is_whole]
        self.secrets = [self.secrets[line] for line in kept]
        self.tallies = [self.tallies[line] for line in kept]
        self.keys = [self.keys[line] for line in kept]
        self.values = [[plain(column[line]) for line in kept] for column in self.values]

    def rows(self, table: Table, secret: str, wanted: Iterable[Any] | None) -> tuple[list[Secret], int, int]:
        """The secrets to fit, in order; rows without a secret; and rows of theirs that lack a value."""
        totals: dict[Any, int] = {}
        for who, tally in zip(self.secrets, self.tallies, strict=True):
            totals[who] = totals.get(who, 0) + int(tally)
        without = totals.pop(None, 0) + int(self.missing.pop(None, 0))
        names = chosen_secrets(table, secret, totals, wanted)
        for name in names:
            if totals[name] < 2:
                raise InputError(
                    f"secret {name!r} has {totals[name]} row{'s' * (totals[name] != 1)} with a value in every column, "
                    f"and a prior needs at least 2: merge it with another secret, or leave it out by naming the others"
                )
        return names, without, int(sum(self.missing.get(name, 0) for name in names))


def _count(table: Table, secret: str, columns: Sequence[str], known: Sequence[str | Binned]) -> _Lines:
    """One pass in the engine: rows by secret, known values and values."""
    import narwhals as nw

    parts = {"secret": table.secret(secret)}
    parts |= {f"x{k}": _value(table, name) for k, name in enumerate(columns)}
    parts |= {f"known{k}": known_key(table, one) for k, one in enumerate(known)}
    frame = table.frame.select(*(part.alias(name) for name, part in parts.items()))
    answer = table.collect(frame.group_by(*parts).agg(nw.len().alias("count")).head(_GROUPS + 1))
    if len(answer["count"]) > _GROUPS:
        raise InputError(
            f"the columns take more than {_GROUPS:,} combinations of values: round the numbers in the table first, or "
            f"publish fewer columns"
        )
    if not answer["count"]:
        raise InputError(f"{table.name} has no rows")
    return _Lines(answer, len(columns), len(known))


def _value(table: Table, name: str) -> "nw.Expr":
    return table.number(name) if table.schema[name].is_numeric() else table.secret(name)


def _there(value: Any) -> bool:
    return plain(value) is not None


def _read(table: Table, name: str, findings: list[Finding]) -> Choices:
    """A domain from the data: its own values, or bins of a round width where they are many."""
    import narwhals as nw

    numeric = table.schema[name].is_numeric()
    value = _value(table, name).alias("x")
    limit = (MOST_NUMBERS if numeric else _MOST_LABELS) + 2
    distinct = table.collect(table.frame.select(value).filter(~nw.col("x").is_null()).unique().head(limit))["x"]
    found: list[Any] = [plain(x) for x in distinct if _there(x)]
    if not found:
        raise InputError(f"column {name!r} has no value in any row")
    if numeric and len(found) > MOST_NUMBERS:
        extent = table.collect(
            table.frame.select(value).select(nw.col("x").min().alias("low"), nw.col("x").max().alias("high"))
        )
        low, high = float(extent["low"][0]), float(extent["high"][0])
        if not (math.isfinite(low) and math.isfinite(high)):
            raise InputError(f"column {name!r} is infinite in a row: remove such rows")
        found, step = bins(low, high)
        findings.append(DomainRead(name, len(found), step))
    else:
        if len(found) > _MOST_LABELS:
            raise InputError(
                f"column {name!r} has more than {_MOST_LABELS:,} distinct labels, too many for a channel: give it a "
                f"domain, Row({name!r}, domain=[...], other=...)"
            )
        if numeric:
            found = [int(x) if isinstance(x, float) and x.is_integer() else x for x in sorted(found)]
        findings.append(DomainRead(name, len(found), None))
    return Choices(tuple(sorted(found, key=lambda v: (isinstance(v, str), v))), is_read=True)


def bins(low: float, high: float) -> tuple[list[int | float], float]:
    """At most `MOST_NUMBERS` multiples of a round step that span a range, and the step.

    >>> bins(17, 90)[0][:3], bins(17, 90)[1]
    ([16, 18, 20], 2.0)
    """
    step = round_step(Fraction(high) - Fraction(low), MOST_NUMBERS - 2)
    first = math.floor(Fraction(low) / step)
    points = [float(k * step) for k in range(first, math.ceil(Fraction(high) / step) + 1)]
    return [int(p) if p.is_integer() else p for p in points], float(step)


def _support(places: Any, domain: tuple[Choices, ...]) -> tuple[list[tuple[int, ...]], Any]:
    """The rows that occur, in order, and which of them each line is; of one column, its whole domain."""
    if len(domain) == 1:
        return [(k,) for k in range(len(domain[0].values))], places[0]
    rows, where = np.unique(places.T, axis=0, return_inverse=True)
    return [tuple(row) for row in rows.tolist()], where.reshape(-1)


def _values(support: list[tuple[int, ...]], domain: tuple[Choices, ...]) -> tuple[Value, ...]:
    """The rows of the support as values of a law: tuples, or the values themselves of one column."""
    if len(domain) == 1:
        return domain[0].values
    rows: Any = tuple(tuple(one.values[p] for one, p in zip(domain, row, strict=True)) for row in support)
    found: tuple[Value, ...] = rows
    return found


def _own(counts: Array, support: list[tuple[int, ...]], domain: tuple[Choices, ...]) -> Array:
    """One pseudo-row of a secret, from its own rows alone: the product of its columns' own smooth laws.

    A column of numbers has a rounded normal over the places of its domain, one of labels its shares with one label
    more of each kind. Never anything of another secret's: that would hide the very difference that is to be hidden.
    """
    rows = np.array(support)
    masses = np.ones(len(support))
    for column, one in enumerate(domain):
        seen = np.bincount(rows[:, column], weights=counts, minlength=len(one.values))
        if one.is_numeric and len(one.values) > 1:
            shares, at = seen / seen.sum(), np.arange(len(seen))
            mean = float(shares @ at)
            own = rounded_normal(len(seen), mean, max(math.sqrt(float(shares @ (at - mean) ** 2)), _LEAST_STD))
        else:
            own = (seen + 1.0) / (seen.sum() + len(seen))
        masses = masses * own[rows[:, column]]
    own_row: Array = masses / masses.sum()
    return own_row
