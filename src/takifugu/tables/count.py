"""How often each value occurs with each secret: all that fitting a prior needs to know of a table.

The engine that holds the table does the counting; what comes back has one line per secret and value. A column
with more than `DISTINCT` values is counted on a grid instead, fine where the rows are: see `_on_grid`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.tables.choosing import SECRETS, chosen_secrets
from takifugu.tables.missing import refusal
from takifugu.tables.table import Secret, Table, plain

if TYPE_CHECKING:
    import narwhals as nw

DISTINCT = 65_536  # values per column, over all secrets, beyond which they are counted on a grid
_EASY = 2_000_000  # rows that any engine groups by value in memory, even if no two are equal
_CELLS = 65_536
_HEAVY = 1 / 64  # a cell with this share of its secret's rows is counted again on a grid of its own
_DEEPEST = 4  # 65,536⁴ = 2⁶⁴ cells: no two float64 values share one after that


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


@dataclass(frozen=True)
class Subset:
    """One secret's distinct values, in order, with their counts.

    `width` is 0 where the values are exact. On a grid it is the width of the cells: of the rows in cells
    whose values differ, 99 of 100 lie in one no wider.
    """

    values: Array
    counts: Array
    width: float


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

    pairs = _pairs(table, secret, column, needed)
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


def count(table: Table, secret: str | None, column: str, seen: Overview) -> dict[Secret, Subset]:
    """The value counts of every secret in `seen`, exact up to `DISTINCT` values and on a grid beyond.

    Without a column of secrets, all rows are those of the secret "".
    """
    import narwhals as nw

    valid = _pairs(table, secret, column).filter(~nw.col("secret").is_null(), ~nw.col("value").is_null())
    cells = _exactly(table, valid, seen)
    if cells is None:
        cells = _on_grid(table, valid, seen)
    _check_unchanged(seen, {name: sum(cell[0] for cell in mine) for name, mine in cells.items()})
    return {name: _subset(cells[name]) for name in seen.extents}


def moments(table: Table, secret: str, column: str, seen: Overview) -> dict[Secret, tuple[float, float]]:
    """Mean and sample standard deviation of each secret in `seen`, computed by the engine."""
    import narwhals as nw

    value = nw.col("value")
    pairs = _pairs(table, secret, column).filter(~nw.col("secret").is_null(), ~value.is_null())
    answer = table.collect(
        pairs.group_by("secret").agg(
            nw.len().alias("count"), value.mean().alias("mean"), value.std(ddof=1).alias("std")
        )
    )
    _check_unchanged(seen, {plain(k): n for k, n in zip(answer["secret"], answer["count"], strict=True)})
    found: dict[Secret, tuple[float, float]] = {}
    for key, mean, std in zip(answer["secret"], answer["mean"], answer["std"], strict=True):
        name = plain(key)
        if name in seen.extents:
            extent = seen.extents[name]
            # An engine's rounding must not give a constant a width, or move it.
            same = extent.low == extent.high
            found[name] = (extent.low, 0.0) if same else (float(mean), float(std))
    return {name: found[name] for name in seen.extents}


_EXTENT = ("secret", "rows", "valid", "low", "high")
_CELL = ("secret", "count", "low", "high")
Cell = tuple[float, float, float]  # count, least value, largest value


def _pairs(table: Table, secret: str | None, column: str, needed: Iterable[str] = ()) -> "nw.LazyFrame[Any]":
    import narwhals as nw

    value, key = table.number(column), nw.lit("") if secret is None else table.secret(secret)
    for name in needed:
        value = nw.when(~table.number(name).is_null()).then(value)
    return table.frame.select(key.alias("secret"), value.alias("value"))


def _exactly(table: Table, valid: "nw.LazyFrame[Any]", seen: Overview) -> "dict[Secret, list[Cell]] | None":
    """Counts of the values themselves; None where there are too many rows to try, or too many values."""
    import narwhals as nw

    if sum(extent.valid for extent in seen.extents.values()) > _EASY:
        return None
    grouped = valid.group_by("secret", "value").agg(nw.len().alias("count")).head(DISTINCT + 1)
    answer = table.collect(grouped)
    if len(answer["count"]) > DISTINCT:
        return None
    answer["low"] = answer["high"] = answer["value"]
    return _cells(answer, seen)


def _on_grid(table: Table, valid: "nw.LazyFrame[Any]", seen: Overview) -> "dict[Secret, list[Cell]]":
    """Counts per cell of a grid over the range of all values, and finer ones where the rows crowd.

    The engine keeps at most `_CELLS` groups a secret, however many rows and values there are. Each cell also
    tells its least and largest value; where these agree the cell is exact, so a column of few distinct values
    comes out exact. A cell that holds much of its secret's rows with differing values (all of them, say, but
    for an outlier) is counted again on a grid of its own.
    """
    import narwhals as nw

    extents = seen.extents.values()
    low, high = min(e.low for e in extents), max(e.high for e in extents)
    done: dict[Secret, list[Cell]] = {name: [] for name in seen.extents}
    waiting: list[tuple[nw.LazyFrame[Any], float, float, int]] = [(valid, low, high, 1)]
    while waiting:
        frame, low, high, depth = waiting.pop()
        for name, cells in _cells(_cut(table, frame, low, high), seen).items():
            heavy = _HEAVY * seen.extents[name].valid
            for cell in cells:
                tally, least, largest = cell
                if least < largest and tally > heavy and depth < _DEEPEST:
                    here = (
                        nw.col("secret") == name,
                        nw.col("value") >= least,
                        nw.col("value") <= largest,
                    )
                    waiting.append((valid.filter(*here), least, largest, depth + 1))
                else:
                    done[name].append(cell)
    return done


def _cut(table: Table, frame: "nw.LazyFrame[Any]", low: float, high: float) -> dict[str, list[Any]]:
    import narwhals as nw

    value = nw.col("value")
    place = ((value - low) * (_CELLS / (high - low))).floor() if high > low else value * 0.0
    return table.collect(
        frame.with_columns(place.alias("cell"))
        .group_by("secret", "cell")
        .agg(nw.len().alias("count"), value.min().alias("low"), value.max().alias("high"))
    )


def _cells(answer: dict[str, list[Any]], seen: Overview) -> dict[Secret, list[Cell]]:
    cells: dict[Secret, list[Cell]] = {name: [] for name in seen.extents}
    names: dict[Any, Secret | None] = {}
    for key, tally, low, high in zip(*(answer[part] for part in _CELL), strict=True):
        if key not in names:
            names[key] = plain(key)
        if (name := names[key]) in cells:
            cells[name].append((float(tally), float(low), float(high)))
    return cells


def _subset(cells: list[Cell]) -> Subset:
    counts, low, high = np.array(sorted(cells, key=lambda cell: cell[1]), dtype=np.float64).T
    values = low + 0.5 * (high - low)
    width = 0.0
    mixed = high > low
    if mixed.any():
        spans, tallies = (high - low)[mixed], counts[mixed]
        order = np.argsort(spans)
        share = np.cumsum(tallies[order]) / tallies.sum()
        width = float(spans[order][np.searchsorted(share, 0.99)])
    return Subset(values + 0.0, counts, width)


def _check_unchanged(seen: Overview, tallies: Mapping[Any, float]) -> None:
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
                f"{column!r}, and a prior needs at least 2: collect more, merge it with another secret, "
                f"or leave it out by naming the others in `secrets`"
            )
        if not (math.isfinite(extent.low) and math.isfinite(extent.high)):
            raise InputError(f"column {column!r} is infinite in a row with secret {name!r}: remove such rows")
    low = min(extent.low for extent in extents.values())
    high = max(extent.high for extent in extents.values())
    if low == high:
        raise InputError(
            f"column {column!r} is {low:g} in every row: it tells nothing about any secret and needs no noise"
        )
    if not math.isfinite(high - low):
        raise InputError(f"column {column!r} runs from {low:g} to {high:g}, which is beyond float64: rescale it")
