"""Each secret's rows at a glance: how many, how many with a value, and their range and moments.

A prior can be fitted to nothing else than what is checked here; what the table's values are is for `count`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError
from takifugu.laws.reading import beyond_digits
from takifugu.laws.values import TOO_LARGE
from takifugu.tables.choosing import LEAVE_OUT, SECRETS, chosen_secrets
from takifugu.tables.missing import refusal
from takifugu.tables.table import Secret, Table, plain

if TYPE_CHECKING:
    import narwhals as nw

_LEAST_SIZE, _MOST_SIZE, _NARROW = 1e-100, 1e100, 1e-9
_FARTHEST = 1000  # of the powers of two that a unit is one of, so that it and its inverse are floats
_EXTENT = ("secret", "rows", "valid", "low", "high")


@dataclass(frozen=True)
class Extent:
    """One secret's rows: how many, how many with a value, and the range of those values."""

    rows: int
    valid: int
    low: float
    high: float


@dataclass(frozen=True)
class Overview:
    """The extents of all secrets, and the rows that have no secret."""

    extents: dict[Secret, Extent]
    without_secret: int


def overview(
    table: Table,
    secret: str,
    column: str,
    secrets: Iterable[Any] | None = None,
    *,
    needed: Iterable[str] = (),
) -> Overview:
    """One pass over the table: each secret's extent, checked to be something a prior can be fitted to.

    A row counts as having a value only if none of the columns `needed` is empty in it.
    """
    import narwhals as nw

    pairs = pairs_of(table, secret, column, needed)
    value = nw.col("value")
    answer = table.collect(
        pairs.group_by("secret")
        .agg(
            nw.len().alias("rows"),
            value.count().alias("valid"),
            value.min().alias("low"),
            value.max().alias("high"),
        )
        .head(SECRETS + 2)
    )
    extents: dict[Secret, Extent] = {}
    without = 0
    for key, rows, valid, low, high in zip(*(answer[name] for name in _EXTENT), strict=True):
        name = plain(key)
        if name is None:
            without += int(rows)
        else:
            extents[name] = Extent(int(rows), int(valid), _number(low), _number(high))
    rows_of = {name: extent.rows for name, extent in extents.items()}
    chosen = {name: extents[name] for name in chosen_secrets(table, secret, rows_of, secrets, without=without)}
    lacking = without + sum(extent.rows - extent.valid for extent in chosen.values())
    if lacking and table.reading.missing == "refuse":
        raise InputError(refusal(lacking, (secret, column, *needed)))
    _check_values(column, chosen)
    return Overview(chosen, without)


def moments(table: Table, secret: str, column: str, seen: Overview) -> dict[Secret, tuple[float, float]]:
    """Mean and sample standard deviation of each secret in `seen`, computed by the engine."""
    import narwhals as nw

    origin, unit = measured(seen)
    value = nw.col("value")
    pairs = pairs_of(table, secret, column).filter(~nw.col("secret").is_null(), ~value.is_null())
    if (origin, unit) != (0.0, 1.0):
        pairs = pairs.select(nw.col("secret"), (value * unit - origin * unit).alias("value"))
    answer = table.collect(
        pairs.group_by("secret").agg(
            nw.len().alias("count"), value.mean().alias("mean"), value.std(ddof=1).alias("std")
        )
    )
    require_unchanged(seen, {plain(k): n for k, n in zip(answer["secret"], answer["count"], strict=True)})
    found: dict[Secret, tuple[float, float]] = {}
    for key, mean, std in zip(answer["secret"], answer["mean"], answer["std"], strict=True):
        name = plain(key)
        if name in seen.extents:
            extent = seen.extents[name]
            # An engine's rounding must not give a constant a width, or move it.
            same = extent.low == extent.high
            found[name] = (extent.low, 0.0) if same else (float(mean) / unit + origin, float(std) / unit)
    return {name: found[name] for name in seen.extents}


def measured(seen: Overview) -> tuple[float, float]:
    """From where and in which unit an engine is to take moments: 0 and 1, unless its own roundings would show.

    Squares of 1e-200 or 1e200 are no floats, and of values that agree to nine digits and more a mean and a deviation
    lose as many. The unit is a power of two, so what is measured anew is measured without rounding.
    """
    low = min(extent.low for extent in seen.extents.values())
    size = max(abs(low), *(abs(extent.high) for extent in seen.extents.values()))
    narrow = max(extent.high for extent in seen.extents.values()) - low < _NARROW * size
    if _LEAST_SIZE < size < _MOST_SIZE and not narrow:
        return 0.0, 1.0
    exponent = math.frexp(size)[1]
    return low, 2.0 ** -min(max(exponent, -_FARTHEST), _FARTHEST)


def pairs_of(table: Table, secret: str | None, column: str, needed: Iterable[str] = ()) -> "nw.LazyFrame[Any]":
    """The secret and the value of every row; where one of the columns `needed` is empty, no value."""
    import narwhals as nw

    value, key = table.number(column), nw.lit("") if secret is None else table.secret(secret)
    for name in needed:
        value = nw.when(~table.number(name).is_null()).then(value)
    return table.frame.select(key.alias("secret"), value.alias("value"))


def require_unchanged(seen: Overview, tallies: Mapping[Any, float]) -> None:
    """A table in use may change between two queries; a prior of half the old and half the new is of neither."""
    if any(tallies.get(name) != extent.valid for name, extent in seen.extents.items()):
        raise InputError("the table changed while it was being read: try again, or read a snapshot of it")


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _check_values(column: str, extents: dict[Secret, Extent]) -> None:
    if not any(extent.valid for extent in extents.values()):
        rows = sum(extent.rows for extent in extents.values())
        raise InputError(f"column {column!r} has no value in any of the {rows} rows")
    for name, extent in extents.items():
        if extent.valid < 2:
            raise InputError(
                f"secret {name!r} has {extent.valid} row{'s' * (extent.valid != 1)} with a value in "
                f"{column!r}, and a prior needs at least 2: collect more, merge it with another secret, or {LEAVE_OUT}"
            )
        if not (math.isfinite(extent.low) and math.isfinite(extent.high)):
            raise InputError(f"column {column!r} is infinite in a row with secret {name!r}: remove such rows")
    low = min(extent.low for extent in extents.values())
    high = max(extent.high for extent in extents.values())
    if low == high and abs(low) >= TOO_LARGE:  # as floats: they may differ, and tell the secret
        raise beyond_digits(f"the values of {column!r}", low)
    if low == high:
        raise InputError(
            f"column {column!r} is {low:g} in every row: it tells nothing about any secret and needs no noise"
        )
    if not math.isfinite(high - low):
        raise InputError(f"column {column!r} runs from {low:g} to {high:g}, which is beyond float64: rescale it")
