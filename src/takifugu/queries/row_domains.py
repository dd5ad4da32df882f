"""The list of values that a column of a row is published from: as given, or read from the data."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from takifugu.errors import InputError
from takifugu.laws.lattice import round_step
from takifugu.laws.reading import beyond_digits
from takifugu.problems.domain import Choices
from takifugu.problems.findings import DomainRead, Finding
from takifugu.problems.inspection_findings import NumbersInText, UnclearLabels
from takifugu.queries.row_counts import value_of
from takifugu.tables.choosing import require_groups
from takifugu.tables.inspect import awkward_form
from takifugu.tables.suspects import notes_among_numbers, notes_in
from takifugu.tables.table import Table, plain

MOST_NUMBERS = 64  # distinct numbers that are published one by one; more are put into bins
_MOST_LABELS = 1_000


def given_domain(name: str, values: Any) -> Choices:
    """A list that the caller gave."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"the domain of {name!r} must be a list of values, got one {type(values).__name__}")
    try:
        return Choices(tuple(values))
    except InputError as error:  # which does not know whose list it is
        raise InputError(f"the list for {name!r}: {error}") from None


def with_other(name: str, choices: Choices, other: Any) -> Choices:
    """The list of a column with what labels on no list become, which must be on it."""
    try:
        return replace(choices, other=other)
    except InputError:  # which does not know whose list it is
        raise InputError(f"other={other!r} must be one of the values of the domain of {name!r}: add it") from None


def read_domain(table: Table, name: str, findings: list[Finding]) -> Choices:
    """A domain from the data: its own values, or bins of a round width where they are many."""
    import narwhals as nw

    numeric = table.schema[name].is_numeric()
    value = value_of(table, name).alias("x")
    limit = (MOST_NUMBERS if numeric else _MOST_LABELS) + 2
    distinct = table.collect(table.frame.select(value).filter(~nw.col("x").is_null()).unique().head(limit))["x"]
    found: list[Any] = [plain(x) for x in distinct if plain(x) is not None]
    if not found:
        raise InputError(f"column {name!r} has no value in any row")
    if numeric and len(found) > MOST_NUMBERS:
        extent = table.collect(
            table.frame.select(value).select(nw.col("x").min().alias("low"), nw.col("x").max().alias("high"))
        )
        low, high = float(extent["low"][0]), float(extent["high"][0])
        _require_finite(name, (low, high))
        found, step = bins(low, high)
        findings.append(DomainRead(name, len(found), step))
    else:
        if len(found) > _MOST_LABELS:
            raise InputError(
                f"column {name!r} has more than {_MOST_LABELS:,} distinct labels, too many for a channel: if it names "
                f"people, leave it out; else give a public list of labels (domain=) and what the rest becomes (other=)"
            )
        if numeric:
            _require_finite(name, found)
            found = [int(x) if isinstance(x, float) and x.is_integer() else x for x in sorted(found)]
        findings.append(DomainRead(name, len(found), None))
    try:
        return Choices(tuple(sorted(found, key=lambda v: (isinstance(v, str), v))), is_read=True)
    except InputError:  # which speaks of positions in a list that nobody gave
        if numeric:
            raise beyond_digits(f"the values of {name!r}", found[-1]) from None
        raise InputError(UnclearLabels(name).sentence) from None


def _require_finite(name: str, numbers: Iterable[float]) -> None:
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"column {name!r} is infinite in a row: remove such rows")


def require_labels(column: str, values: list[Any], tallies: list[float]) -> None:
    """Refuse labels most of which are one person's each: names are published by no channel."""
    rows: Counter[Any] = Counter()
    for value, tally in zip(values, tallies, strict=True):
        rows[value] += int(tally)
    advice = (
        ", and is not to be published. Leave it out, or give a public list of fewer values (domain=) and what the rest "
        "becomes (other=)"
    )
    try:
        require_groups(column, rows, advice)
    except InputError:
        if (form := awkward_form({str(value): tally for value, tally in rows.items()})) is None:
            raise
        told = NumbersInText(column, form).sentence  # they name nobody, and are no use as labels
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
