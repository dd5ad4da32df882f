"""A person's own values of one or several columns, each from a finite list."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real
from takifugu.errors import InputError, suggestion
from takifugu.laws import Finite, Smoothing, Value, beyond_digits, merge, round_step, rounded_normal, smoothing
from takifugu.mechanisms import MOST_VALUES, Size, about
from takifugu.problems import (
    Answer,
    Choices,
    Diagnostic,
)
from takifugu.queries.priors import (
    FEW,
    Beliefs,
    ColumnWeights,
    Priors,
    about_codes,
    about_left_out,
    about_scarce,
    check_roles,
    naming,
)
from takifugu.queries.side_information import Key, cell_beliefs, checked_known
from takifugu.tables import (
    LEAVE_OUT,
    Secret,
    Table,
    awkward_form,
    chosen_secrets,
    listed,
    notes_among_numbers,
    notes_in,
    plain,
    require_groups,
    require_some,
    tally,
)

if TYPE_CHECKING:
    import narwhals as nw


# How often each row occurs, for each secret and each cell of what is known: one pass in the engine.


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
        self.empty: dict[object, Counter[str]] = {}  # how many rows of each secret lack a value in each column
        self.without = 0.0
        self.seen: list[dict[Secret, None]] = [{} for _ in columns]  # all values of each column in rows with a secret
        whole = []
        for line, row in enumerate(zip(*values, strict=True)):
            if secrets[line] is not None:
                for there, x in zip(self.seen, row, strict=True):
                    if x is not None:
                        there[x] = None
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
        """The distinct finite numbers of a column in order, and how many rows have each.

        Args:
            column: its place among the columns of the row.

        Returns:
            Two arrays of one length.
        """
        values, tallies = np.array(self.values[column], dtype=np.float64), np.array(self.tallies)
        here = np.isfinite(values)
        return merge(values[here], tallies[here]) if here.any() else (values[here], tallies[here])

    def rows(self, table: Table, secret: str, wanted: Iterable[object] | None) -> tuple[list[Secret], int, int]:
        """The secrets to fit, in order; rows without a secret; and rows of theirs that lack a value.

        Args:
            table: where they come from.
            secret: the column of secrets.
            wanted: the secrets that are asked for; all where left out.

        Returns:
            The secrets, and the two numbers of rows that will not be published.

        Raises:
            InputError: where there is no whole row, or a secret that is asked for has none.
        """
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
                f"{told}{every}, and a prior needs at least 2: merge it with another secret, from which it "
                f"is then not hidden, or {LEAVE_OUT}"
            )
        totals = ". Remove a row that is not a person's, such as one of totals" if rows == 1 else ""
        raise InputError(
            f"{told}{self._emptiest([name], 'its ')}: none of them would be published, and whoever is missing there "
            f"would be known to have it. Fill the values in, give what is missing a value of its own in the table, "
            f"such as 'unknown', or publish other columns; if nobody with this secret is to be in what is published, "
            f"{LEAVE_OUT}{totals}"
        )

    def _emptiest(self, names: Iterable[object], whose: str = "") -> str:
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
    """One pass in the engine: rows by secret, known values and values.

    Args:
        table: the table.
        secret: the column of secrets.
        columns: those that are published.
        known: those that an adversary may know beside them.

    Returns:
        How often each combination occurs. Only combinations leave the engine, not rows.
    """
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


# The list of values that a column of a row is published from: as given, or read from the data.

MOST_NUMBERS = 64  # distinct numbers that are published one by one; more are put into bins
_MOST_LABELS = 1_000


def given_domain(name: str, values: object) -> Choices:
    """A list that the caller gave.

    Args:
        name: the column.
        values: its list, public knowledge.

    Returns:
        The list, checked.

    Raises:
        InputError: for what is no list of distinct numbers or labels.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"the domain of {name!r} must be a list of values, got one {type(values).__name__}")
    try:
        return Choices(tuple(values))
    except InputError as error:  # which does not know whose list it is
        raise InputError(f"the list for {name!r}: {error}") from None


def with_other(name: str, choices: Choices, other: object) -> Choices:
    """The list of a column with what labels on no list become, which must be on it."""
    try:
        return replace(choices, other=other)
    except InputError:  # which does not know whose list it is
        raise InputError(f"other={other!r} must be one of the values of the domain of {name!r}: add it") from None


def read_domain(table: Table, name: str, seen: Iterable[Secret], findings: list[Diagnostic]) -> Choices:
    """A domain from the data: the values that were `seen` there, or bins of a round width where they are many.

    A row that is not published has no say in it: one of totals at the end would widen every bin.

    Args:
        table: the table.
        name: the column.
        seen: the values that the rows to be published have there.
        findings: the remarks, to which it is added that the list is no public knowledge.

    Returns:
        A list that was read from the data.

    Raises:
        InputError: for columns of nearly as many labels as people.
    """
    numeric = table.schema[name].is_numeric()
    found: list[Any] = list(seen)
    if not found:
        raise InputError(f"column {name!r} has no value in any row")
    if numeric and len(found) > MOST_NUMBERS:
        low, high = float(min(found)), float(max(found))
        _require_finite(name, (low, high))
        found, step = bins(low, high)
        findings.append(Diagnostic("domain-read", column=name, values=len(found), step=step))
    else:
        if len(found) > _MOST_LABELS:
            raise InputError(
                f"column {name!r} has more than {_MOST_LABELS:,} distinct labels, too many for a channel: if it names "
                f"people, leave it out; else give a public list of labels (domain=) and what the rest becomes (other=)"
            )
        if numeric:
            _require_finite(name, found)
            found = [int(x) if isinstance(x, float) and x.is_integer() else x for x in sorted(found)]
        findings.append(Diagnostic("domain-read", column=name, values=len(found), step=None))
    try:
        return Choices(tuple(sorted(found, key=lambda v: (isinstance(v, str), v))), is_read=True)
    except InputError:  # which speaks of positions in a list that nobody gave
        if numeric:
            raise beyond_digits(f"the values of {name!r}", found[-1]) from None
        raise InputError(Diagnostic("unclear-labels", column=name).sentence) from None


def _require_finite(name: str, numbers: Iterable[float]) -> None:
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"column {name!r} is infinite in a row: remove such rows")


def require_labels(column: str, values: list[Any], tallies: list[float]) -> None:
    """Refuse labels most of which are one person's each: names are published by no channel."""
    rows: Counter[Any] = Counter()
    for value, times in zip(values, tallies, strict=True):
        rows[value] += int(times)
    advice = (
        ", and is not to be published. Leave it out, or give a public list of fewer values (domain=) and what the rest "
        "becomes (other=)"
    )
    try:
        require_groups(column, rows, advice)
    except InputError:
        if (form := awkward_form({str(value): tally for value, tally in rows.items()})) is None:
            raise
        told = Diagnostic(
            "numbers-in-text", column=column, form=form
        ).sentence  # they name nobody, and are no use as labels
        raise InputError(
            f"{told}, or give a public list of values (domain=) and what the rest becomes (other=)"
        ) from None
    if notes := notes_among_numbers(rows):
        raise InputError(
            f"{notes_in(column, notes)}. Name them as missing (na=), take them out, or give a public list of values "
            f"(domain=) and what the rest becomes (other=)"
        )


def bins(low: float, high: float) -> tuple[list[int | float], float]:
    """At most `MOST_NUMBERS` multiples of a round step that span a range, and the step.

    >>> bins(17, 90)[0][:3], bins(17, 90)[1]
    ([16, 18, 20], 2.0)
    """
    step = round_step(Fraction(high) - Fraction(low), MOST_NUMBERS - 2)
    first = math.floor(Fraction(low) / step)
    points = [float(k * step) for k in range(first, math.ceil(Fraction(high) / step) + 1)]
    return [int(p) if p.is_integer() else p for p in points], float(step)


def _off_list(
    columns: Sequence[str], domain: Sequence[Choices], lines: Lines, hidden: npt.NDArray[np.bool_]
) -> Iterator[Diagnostic]:
    """How many cells become a value of a given list before the channel: no share of changed cells counts them."""
    tallies = np.where(hidden, lines.tallies, 0.0).tolist()
    rows = int(sum(tallies))
    for name, one, values in zip(columns, domain, lines.values, strict=True):
        if not one.is_read and (cells := one.off_list(values, tallies)):
            other = None if one.other is None else str(one.other)
            yield Diagnostic("off-list", column=name, cells=cells, rows=rows, other=other)


# The rows that occur, as places in the domains of their columns, and one pseudo-row over them.

_LEAST_STD = 0.3  # of a step: the narrowest normal that a pseudo-row is taken from


def _that_occur(
    domain: tuple[Choices, ...], places: npt.NDArray[np.intp], hidden: npt.NDArray[np.bool_], read: Sequence[bool]
) -> tuple[tuple[Choices, ...], npt.NDArray[np.intp]]:
    """Lists that were read from the rows, without the bins that no row to be hidden is in.

    Of such a bin nothing is known for any secret, and what a draw of the laws gives it is next to nothing: a channel
    may then publish it as it is, and the one person who comes to be in it is told.
    """
    found, kept = [], places.copy()
    for k, one in enumerate(domain):
        used = np.unique(places[k][hidden])
        if read[k] and one.is_read and 0 < len(used) < len(one.values):
            one = Choices(tuple(one.values[place] for place in used), is_read=True)
            kept[k] = np.searchsorted(used, places[k]).clip(max=len(used) - 1)  # of other rows nothing is counted
        found.append(one)
    return tuple(found), kept


def support_of(places: Any, domain: tuple[Choices, ...]) -> tuple[list[tuple[int, ...]], Any]:
    """The rows that occur, in order, and which of them each line is; of one column, its whole domain.

    Args:
        places: for each column, where the value of each line stands on its list.
        domain: the lists.

    Returns:
        The distinct rows as places, and for each line the number of its row.
    """
    if len(domain) == 1:
        return [(k,) for k in range(len(domain[0].values))], places[0]
    rows, where = np.unique(places.T, axis=0, return_inverse=True)
    return [tuple(row) for row in rows.tolist()], where.reshape(-1)


def values_of(support: list[tuple[int, ...]], domain: tuple[Choices, ...]) -> tuple[Value, ...]:
    """The rows of the support as values of a law: tuples, or the values themselves of one column."""
    if len(domain) == 1:
        return domain[0].values
    rows: Any = tuple(tuple(one.values[p] for one, p in zip(domain, row, strict=True)) for row in support)
    found: tuple[Value, ...] = rows
    return found


def own_row(counts: Array, support: list[tuple[int, ...]], domain: tuple[Choices, ...]) -> Array:
    """One pseudo-row of a secret, from its own rows alone: the product of its columns' own smooth laws.

    A column of numbers has a rounded normal over the places of its domain, one of labels its shares with one label
    more of each kind. Never anything of another secret's: that would hide the very difference that is to be hidden.

    Args:
        counts: how many of the secret's rows have each row of the support.
        support: the rows, as places on the lists.
        domain: the lists.

    Returns:
        Masses that add up to 1, none of them 0 where a column of its own allows the value.
    """
    rows = np.array(support)
    factors = np.ones(rows.shape[::-1])
    for column, one in enumerate(domain):
        seen = np.bincount(rows[:, column], weights=counts, minlength=len(one.values))
        if one.is_numeric and len(one.values) > 1:
            shares, at = seen / seen.sum(), np.arange(len(seen))
            mean = float(shares @ at)
            own = rounded_normal(len(seen), mean, max(math.sqrt(float(shares @ (at - mean) ** 2)), _LEAST_STD))
        else:
            own = (seen + 1.0) / (seen.sum() + len(seen))
        factors[column] = own[rows[:, column]]
    masses = np.prod(np.sort(factors, axis=0), axis=0)  # the same, to the last bit, in any order of columns and rows
    row: Array = masses / math.fsum(masses)
    return row


# Searches that would not end while somebody waits are refused before anything is built for them.

MOST_COLUMNS = 64  # together: nearly every row of more is the only one of its kind
MOST_PROBABILITIES = 100_000  # of all secrets, by columns: of more nobody has measured how long it takes
_MOST_SECONDS = 3 * 3_600.0


def require_feasible(values: int, secrets: int, columns: Sequence[str], sizes: Sequence[int]) -> None:
    """Refuse a search that would not end while somebody waits, before anything is built for it.

    Args:
        values: how many different rows a channel would have.
        secrets: how many secrets there are.
        columns: the columns, for the error.
        sizes: how many values each has, for its advice.

    Raises:
        InputError: with what would make it smaller.
    """
    whole = Size(values, secrets, has_confidence=True)
    many, time = whole.by_columns and values * secrets > MOST_PROBABILITIES, whole.seconds
    if not many and time <= _MOST_SECONDS:
        return
    of = "values" if len(columns) == 1 else f"combinations of {len(columns)} columns"
    size, widest = max(zip(sizes, columns, strict=True))
    why = f"a channel is found for {MOST_PROBABILITIES:,} probabilities at most"
    raise InputError(
        f"{values:,} {of} for {secrets:,} secrets are too many: "
        f"{why if many else f'to find the channel would take {about(time)}'}. Publish fewer columns "
        f"together, give coarser domains ({widest!r} takes the most values, {size:,}), or merge secrets in the table"
    )


def require_few_columns(columns: Sequence[str]) -> None:
    """Refuse more columns in one row than anybody can be hidden in."""
    if len(columns) > MOST_COLUMNS:
        raise InputError(
            f"{len(columns):,} columns are too many to publish together, and {MOST_COLUMNS} at most can be: nearly "
            f"every row would be the only one of its kind. Publish fewer columns together"
        )


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

    Raises:
        InputError: for no column or one that is named twice, and a domain, loss or other label that is not about them.

    >>> Row("age", "ward", domain={"ward": ["A", "B"]})
    Row('age', 'ward')
    """

    def __init__(
        self,
        *columns: str,
        domain: Mapping[str, Sequence[Any]] | Sequence[Any] | None = None,
        other: object = None,
        loss: object = None,
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

    def counted_on(self, answer: Answer) -> "Row":
        """The same on the lists that an answer has: what another table is to be counted on.

        Args:
            answer: of the priors that the other table's are to stand beside.

        Returns:
            A query about the same columns.
        """
        if not answer.lists:
            return self
        made = Row(*self.columns, loss=self.loss)
        made.domain = dict(zip(self.columns, answer.lists, strict=True))
        return made

    def priors(self, table: Table, secret: str, secrets: Iterable[object] | None) -> Priors:
        """One law on rows per secret, from the engine's counts.

        Args:
            table: the rows.
            secret: the column of secrets.
            secrets: those that are to be hidden from one another; all where left out.

        Returns:
            For each secret the share of its rows that have each value, with one pseudo-row of its own beside them.
        """
        first, *_ = self._fitted(table, secret, secrets, ())
        return first

    def beliefs(self, table: Table, secret: str, secrets: Iterable[object] | None, known: Sequence[str]) -> Beliefs:
        """The laws without knowledge, and those of every cell of every subset of the known columns.

        Args:
            table: the rows.
            secret: the column of secrets.
            secrets: those that are to be hidden from one another; all where left out.
            known: columns that an adversary may know of a person. Every subset of them is a way of knowing.

        Returns:
            One set of priors for each cell, the first for an adversary who knows none.
        """
        known = checked_known(secret, self.columns, known)
        first, cells, alone = self._fitted(table, secret, secrets, known)
        values = next(law.values for law in first.values() if law.space == "values")
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
        findings: list[Diagnostic] = []
        lines = count_rows(table, secret, self.columns, known)
        given = {name: one.spelled(table.reading.label) for name, one in self.domain.items()}
        domain = tuple(
            given.get(name) or _list_of(table, name, seen, findings)
            for name, seen in zip(self.columns, lines.seen, strict=True)
        )
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
        hidden = np.array([who in rows for who in lines.secrets])
        read = [name not in self.domain for name in self.columns]  # here, and not with the table of one's own
        findings.extend(_off_list(self.columns, domain, lines, hidden))
        domain, places = _that_occur(domain, places, hidden, read)
        support, where = support_of(places, domain)
        require_feasible(len(support), len(rows), self.columns, [len(one.values) for one in domain])
        counts = {name: np.zeros(len(support)) for name in rows}
        cells: dict[tuple[Key, Secret], Array] = {}
        for line, (who, times, key) in enumerate(zip(lines.secrets, lines.tallies, lines.keys, strict=True)):
            if who in counts:
                counts[who][where[line]] += times
                if known:
                    cells.setdefault((key, who), np.zeros(len(support)))[where[line]] += times
        values = values_of(support, domain)
        if without:
            findings.append(Diagnostic("no-secret", column=secret, rows=without))
        if missing:
            findings.append(Diagnostic("no-value", columns=self.columns, rows=missing))
            findings.extend(about_left_out(lines.lacking(rows)))
        findings.extend(
            Diagnostic("few-rows", secret=name, rows=int(c.sum())) for name, c in counts.items() if c.sum() < FEW
        )
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
            findings.append(
                Diagnostic(
                    "smoothed", added=tuple((n, int(counts[n].sum()), s.rows, s.shape) for n, s in smooth.items())
                )
            )
        made = Priors(
            {name: Finite(values, law) for name, law in laws.items()},
            answer=answer,
            findings=findings,
            rows={name: int(c.sum()) for name, c in counts.items()},
            counts=counts,
            pseudo=pseudo,
        )
        made.loss = self._loss()
        made.is_smoothed = bool(smooth)
        return made, cells, alone

    def _about_columns(self, table: Table, lines: Lines) -> Iterable[Diagnostic]:
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
        named = sorted(range(len(domain)), key=lambda k: self.columns[k])  # any order of columns adds the same
        places, sizes = np.array(support, dtype=np.intp)[:, named], [len(domain[k].values) for k in named]
        number = None if isinstance(asked, str) else asked
        return lambda counts: smoothing(counts, places, sizes, number)

    def _loss(self) -> object:
        """The loss for `calibrate`: of columns that count by weights, the weights."""
        if not isinstance(self.loss, Mapping):
            return self.loss
        for name in self.loss:
            if name not in self.columns:
                raise InputError(f"loss has a weight for {name!r}, which is not among the columns of this Row")
        return ColumnWeights(
            real(f"loss[{name!r}]", self.loss.get(name, 1.0), "a number, 0 or more") for name in self.columns
        )


def _list_of(table: Table, name: str, seen: Iterable[Secret], findings: list[Diagnostic]) -> Choices:
    """The bins of a column that is cut, which are as public as the edges; of others what the data hold."""
    return Choices(table.cuts[name].labels) if name in table.cuts else read_domain(table, name, seen, findings)


def _smoothing(given: object) -> float | str | None:
    if given is None or given == HELD_OUT:
        found: float | str | None = given
        return found
    number = real("smoothing", given, '"held-out", or a number of rows, 0 or more')
    if number < 0:
        raise InputError(f'smoothing must be "held-out", or a number of rows, 0 or more; got {given!r}')
    return number
