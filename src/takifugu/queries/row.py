"""A person's own values of one or several columns, each from a finite list."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from takifugu._nearest import suggestion
from takifugu._validation import Array, real
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.fitting.smoothing import Smoothing, smoothing
from takifugu.laws.values import Value
from takifugu.mechanisms.optimal.losses import column_loss
from takifugu.mechanisms.optimal.mechanism import MOST_VALUES
from takifugu.problems.answer import Answer
from takifugu.problems.domain import Choices
from takifugu.problems.findings import FewRows, Finding, NoSecret, NoValue, Smoothed
from takifugu.queries.about import about_codes, naming
from takifugu.queries.cells import Key, cell_beliefs, checked_known
from takifugu.queries.few_rows import FEW, about_left_out, about_scarce, check_roles
from takifugu.queries.priors import Beliefs, ColumnWeights, Priors
from takifugu.queries.row_counts import Lines, count_rows
from takifugu.queries.row_domains import given_domain, read_domain, require_labels, with_other
from takifugu.queries.row_support import own_row, support_of, values_of
from takifugu.queries.work import require_feasible, require_few_columns
from takifugu.tables.missing import with_secrets
from takifugu.tables.secrets import listed
from takifugu.tables.table import Secret, Table

HELD_OUT = "held-out"


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
        require_few_columns(columns)
        if twice := next((name for k, name in enumerate(columns) if name in columns[:k]), None):
            raise InputError(f"column {twice!r} stands twice among those to publish: name each once")
        if domain is not None and not isinstance(domain, Mapping):
            if len(columns) > 1:
                raise InputError("domain must say which column each list is for: {'age': [20, 40], 'ward': ['A', 'B']}")
            domain = {columns[0]: domain}
        for name in domain or {}:
            if name not in columns:
                raise InputError(
                    f"domain has a list for {name!r}, which is not among the columns to publish."
                    f"{suggestion(name, columns)} They are {listed(columns)}"
                )
        self.columns = columns
        self.loss = loss
        self.smoothing = _smoothing(smoothing)
        lists = {name: given_domain(name, values) for name, values in (domain or {}).items()}
        # One value for all is meant for labels: numbers go to the nearest.
        labels = [name for name, one in lists.items() if len(columns) == 1 or not one.is_numeric]
        others = other if isinstance(other, Mapping) else dict.fromkeys(labels, other)
        if other is not None and not (others and others.keys() <= lists.keys()):
            raise InputError(
                "other is what labels on no list of `domain` become, and there is no such list: give one, with other= "
                "among its values, or leave other out"
            )
        self.domain = {name: with_other(name, one, others.get(name)) for name, one in lists.items()}

    def __repr__(self) -> str:
        """The columns."""
        return f"Row({', '.join(map(repr, self.columns))})"

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """One law on rows per secret, from the engine's counts."""
        first, *_ = self._fitted(table, secret, secrets, ())
        return first

    def beliefs(self, table: Table, secret: str, secrets: Iterable[Any] | None, known: Sequence[str]) -> Beliefs:
        """The laws without knowledge, and those of every cell of every subset of the known columns."""
        known = checked_known(secret, self.columns, known)
        first, cells, alone = self._fitted(table, secret, secrets, known)
        values = next(law.values for law in first.values() if isinstance(law, Finite))
        more, findings = cell_beliefs(
            known, cells, first.pseudo, alone=alone, make=lambda masses: Finite(values, masses)
        )
        return Beliefs([first, *more], findings=[*first.findings, *findings])

    def _fitted(
        self, table: Table, secret: str, secrets: Iterable[Any] | None, known: Sequence[str]
    ) -> tuple[Priors, dict[tuple[Key, Secret], Array], Callable[[Array], Array]]:
        """The priors where nothing is known, the counts of every cell, and what makes pseudo-counts of counts."""
        for name in self.columns:
            check_roles(secret, name)
            table.require(name)
        findings: list[Finding] = []
        lines = count_rows(table, secret, self.columns, known)
        # A row that is not published has no say in the lists: one of totals at the end would widen every bin.
        held = with_secrets(table, [secret]) if lines.without else table
        domain = tuple(self.domain.get(name) or _list_of(held, name, findings) for name in self.columns)
        for name, own, one in zip(self.columns, domain, lines.values, strict=True):
            if own.is_read and not own.is_numeric:
                require_labels(name, one, lines.tallies)
        findings.extend(self._about_columns(table, lines))
        rows, without, missing = lines.rows(table, secret, secrets)
        places = np.stack(
            [
                one.places(lines.values[k], name, lines.tallies)
                for k, (one, name) in enumerate(zip(domain, self.columns, strict=True))
            ]
        )
        support, where = support_of(places, domain)
        require_feasible(len(support), len(rows), self.columns, [len(one.values) for one in domain])
        counts = {name: np.zeros(len(support)) for name in rows}
        cells: dict[tuple[Key, Secret], Array] = {}
        for line, (who, tally, key) in enumerate(zip(lines.secrets, lines.tallies, lines.keys, strict=True)):
            if who in counts:
                counts[who][where[line]] += tally
                if known:
                    cells.setdefault((key, who), np.zeros(len(support)))[where[line]] += tally
        values = values_of(support, domain)
        if without:
            findings.append(NoSecret(secret, without))
        if missing:
            findings.append(NoValue(self.columns, missing))
            findings.extend(about_left_out(lines.lacking(rows)))
        findings.extend(FewRows(name, int(c.sum())) for name, c in counts.items() if c.sum() < FEW)
        findings.extend(one for name, c in counts.items() for one in about_scarce(name, c))
        answer = Answer("row", self.columns, (secret,), known=tuple(str(one) for one in known), domain=domain)
        add = self._smoother(support, domain)
        smooth = {} if add is None else {name: add(c) for name, c in counts.items()}

        def alone(seen: Array) -> Array:
            return own_row(seen, support, domain) if add is None else add(seen).pseudo

        laws, pseudo = counts, {name: smooth[name].pseudo if smooth else alone(c) for name, c in counts.items()}
        if smooth:
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
        return made, cells, alone

    def _about_columns(self, table: Table, lines: Lines) -> Iterable[Finding]:
        """Columns that single people out where values go out as they are, and codes that may mean a missing value."""
        for k, name in enumerate(self.columns):
            if name not in self.domain:
                yield from naming(name, lines.values[k], lines.tallies)
            if table.schema[name].is_numeric():
                yield from about_codes(table, name, *lines.counted(k))

    def _smoother(
        self, support: list[tuple[int, ...]], domain: tuple[Choices, ...]
    ) -> Callable[[Array], Smoothing] | None:
        """What adds rows to those of a secret, all of them or a cell's; None where the rows stand for themselves."""
        asked = self.smoothing
        if asked is None and len(domain) > 1 and len(support) > MOST_VALUES:
            asked = HELD_OUT
        if asked is None or asked == 0 or len(domain) == 1:
            return None
        places, sizes = np.array(support, dtype=np.intp), [len(one.values) for one in domain]
        number = None if isinstance(asked, str) else asked
        return lambda counts: smoothing(counts, places, sizes, number)

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


def _list_of(table: Table, name: str, findings: list[Finding]) -> Choices:
    """The bins of a column that is cut, which are as public as the edges; of others what the data hold."""
    return Choices(table.cuts[name].labels) if name in table.cuts else read_domain(table, name, findings)


def _smoothing(given: Any) -> float | str | None:
    if given is None or given == HELD_OUT:
        found: float | str | None = given
        return found
    number = real("smoothing", given, '"held-out", or a number of rows, 0 or more')
    if number < 0:
        raise InputError(f'smoothing must be "held-out", or a number of rows, 0 or more; got {given!r}')
    return number
