"""How often each value occurs with each secret: all that fitting a prior needs to know of a table.

The engine that holds the table does the counting; what comes back has one line per secret and value. A column
with more than `DISTINCT` values is counted on a grid instead, fine where the rows are: see `_on_grid`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array, no_text
from takifugu.errors import InputError
from takifugu.laws import TOO_LARGE, beyond_digits
from takifugu.tables.columns import Secret, listed, match_secret, plain
from takifugu.tables.reading import refusal
from takifugu.tables.table import Table, combinations

if TYPE_CHECKING:
    import narwhals as nw


# Which values of a column are the secrets to hide, and whether it can be a column of secrets at all.

SECRETS = 1_000  # a column with more distinct values is no list of secrets
_NAMES = 20  # values of which most stand in one row only: they name people; of numbers, any: they were measured
_SHOWN = 20  # secrets that a sentence counts up
LEAVE_OUT = "leave it out, with Reading(leave_out=[...]) in publish or by naming the others in `secrets`"


def chosen_secrets(
    table: Table, secret: str, rows: Mapping[Any, int], wanted: Iterable[object] | None, *, without: int = 0
) -> list[Secret]:
    """The secrets to fit, of those that occur, each with its number of rows; `without` are rows that have none.

    Args:
        table: the rows.
        secret: the column of secrets.
        rows: how many rows each has.
        wanted: the secrets that are asked for; all where left out.
        without: how many rows have none.

    Returns:
        The secrets, sorted.

    Raises:
        InputError: where there are too many to be secrets, or one that is asked for is not there.
    """
    require_some(table, secret, len(rows), without)
    if len(rows) > SECRETS:
        raise InputError(
            f"column {secret!r} has more than {SECRETS} distinct values, too many to be secrets: "
            f"group them into fewer first; numbers are cut at edges where a column is named like 'age:30:60', and of "
            f"dates a column of years can be made"
        )
    advice = (
        ", not groups of them. Name the column to hide, or group its values first; numbers are cut at edges where a "
        "column is named like 'age:30:60'"
    )
    if wanted is None:
        _require_counted(secret, rows)
    require_groups(secret, rows, advice)
    no_text("secrets", wanted, "values")
    if wanted is None:
        return sorted(rows, key=lambda name: (isinstance(name, str), name))
    names = [_there(secret, rows, table.reading.label(given)) for given in wanted]
    if not names:
        raise InputError("secrets is empty: name those to protect, or leave it out for all")
    return list(dict.fromkeys(names))


def require_some(table: Table, secret: str, known: int, without: int) -> None:
    """Refuse a table without rows, and a column in which no secret is known."""
    if not known and not without:
        raise table.no_rows()
    if not known:
        raise InputError(f"column {secret!r} is empty in every one of the {without} rows: no secret is known")


def require_groups(column: str, rows: Mapping[object, int], advice: str) -> None:
    """Refuse a column that names people: most of its values stand in one row only, and none belongs in a message."""
    alone = sum(count == 1 for count in rows.values())
    if len(rows) >= _NAMES and 2 * alone > len(rows):
        raise InputError(
            f"{alone} of the {len(rows)} values of column {column!r} stand in one row each: it names people{advice}"
        )


def _require_counted(column: str, rows: Mapping[Any, int]) -> None:
    """Refuse numbers that were measured: where few share one, each is a person's own and belongs in no message."""
    alone = sum(count == 1 for count in rows.values())
    if len(rows) < _NAMES or not alone or not all(isinstance(x, int | float) for x in rows):
        return
    if 2 * alone > len(rows) and all(float(x).is_integer() for x in rows):
        return  # numbers of people, which no edges make a secret of
    raise InputError(
        f"column {column!r} holds {len(rows)} different numbers, some of them in one row only: these are no groups of "
        f"people. Cut them into groups where the column is named, at edges of your choice: '{column}:EDGE:EDGE', as in "
        f"'age:30:60'"
    )


def _there(secret: str, rows: Mapping[Any, int], given: object) -> Secret:
    found = match_secret(given, rows)
    if found is None:
        common = sorted(rows.items(), key=lambda one: -one[1])[:_SHOWN]
        there = ", ".join(f"{name!r} ({count})" for name, count in common)
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        raise InputError(f"no row has {secret} = {given!r}; those there are, with their rows: {there}{more}")
    return found


# Each secret's rows at a glance: how many, how many with a value, and their range and moments.
#
# A prior can be fitted to nothing else than what is checked here; what the table's values are is for `count`.

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
    secrets: Iterable[object] | None = None,
    *,
    needed: Iterable[str] = (),
) -> Overview:
    """One pass over the table: each secret's extent, checked to be something a prior can be fitted to.

    A row counts as having a value only if none of the columns `needed` is empty in it.

    Args:
        table: the rows.
        secret: the column of secrets.
        column: of numbers.
        secrets: those that are asked for; all where left out.
        needed: other columns that no row may lack.

    Returns:
        For each secret how many rows it has, how many with a value, and the least and largest of those.

    Raises:
        InputError: where a secret has too few values for a prior.
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
    """Mean and sample standard deviation of each secret in `seen`, computed by the engine.

    Args:
        table: the rows.
        secret: the column of secrets.
        column: of numbers.
        seen: the overview of them.

    Returns:
        A pair for each secret. Values are measured from an origin where floats would lose their digits.

    Raises:
        InputError: where the table changed since it was looked at.
    """
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
                f"{column!r}, and a prior needs at least 2: collect more, merge it with another secret, from "
                f"which it is then not hidden, or {LEAVE_OUT}"
            )
        if not (math.isfinite(extent.low) and math.isfinite(extent.high)):
            raise InputError(f"column {column!r} is infinite in a row with secret {name!r}: remove such rows")
    low = min(extent.low for extent in extents.values())
    high = max(extent.high for extent in extents.values())
    if low == high and abs(low) >= TOO_LARGE:  # as floats: they may differ, and tell the secret
        raise beyond_digits(f"the values of {column!r}", low)
    if low == high:
        raise InputError(
            f"column {column!r} is {low:g} in every row: it says nothing about any secret and needs no noise"
        )
    if not math.isfinite(high - low):
        raise InputError(f"column {column!r} runs from {low:g} to {high:g}, which is beyond float64: rescale it")


DISTINCT = 65_536  # values per column, over all secrets, beyond which they are counted on a grid
_EASY = 2_000_000  # rows that any engine groups by value in memory, even if no two are equal
_CELLS = 65_536
_HEAVY = 1 / 64  # a cell with this share of its secret's rows is counted again on a grid of its own
_DEEPEST = 4  # 65,536⁴ = 2⁶⁴ cells: no two float64 values share one after that


@dataclass(frozen=True)
class Subset:
    """One secret's distinct values, in order, with their counts.

    `width` is 0 where the values are exact. On a grid it is the width of the cells: of the rows in cells
    whose values differ, 99 of 100 lie in one no wider.
    """

    values: Array
    counts: Array
    width: float


def count(table: Table, secret: str | None, column: str, seen: Overview) -> dict[Secret, Subset]:
    """The value counts of every secret in `seen`, exact up to `DISTINCT` values and on a grid beyond.

    Without a column of secrets, all rows are those of the secret "".

    Args:
        table: the rows.
        secret: the column of secrets, or None for all rows together.
        column: of numbers.
        seen: the overview of them.

    Returns:
        For each secret its distinct values and their counts.
    """
    import narwhals as nw

    valid = pairs_of(table, secret, column).filter(~nw.col("secret").is_null(), ~nw.col("value").is_null())
    cells = _exactly(table, valid, seen)
    if cells is None:
        cells = _on_grid(table, valid, seen)
    require_unchanged(seen, {name: sum(cell[0] for cell in mine) for name, mine in cells.items()})
    return {name: _subset(cells[name]) for name in seen.extents}


_CELL = ("secret", "count", "low", "high")
Cell = tuple[float, float, float]  # count, least value, largest value


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


def _cut(table: Table, frame: "nw.LazyFrame[Any]", low: float, high: float) -> dict[str, list[object]]:
    import narwhals as nw

    value = nw.col("value")
    place = ((value - low) * (_CELLS / (high - low))).floor() if high > low else value * 0.0
    return table.collect(
        frame.with_columns(place.alias("cell"))
        .group_by("secret", "cell")
        .agg(nw.len().alias("count"), value.min().alias("low"), value.max().alias("high"))
    )


def _cells(answer: dict[str, list[object]], seen: Overview) -> dict[Secret, list[Cell]]:
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


# Several columns of a table at once: joint moments and joint counts for each secret, computed by its engine.


@dataclass(frozen=True)
class Moments:
    """One secret's complete rows: how many, their mean, and the sums of products about it divided by rows − 1."""

    rows: int
    mean: Array
    covariance: Array


def joint_overview(
    table: Table, secret: str, columns: Sequence[str], secrets: Iterable[object] | None
) -> dict[str, Overview]:
    """The overview of each column over the rows that have them all; an error where one cannot be used."""
    if len(set(columns)) < len(columns):
        raise InputError(f"each column must be named once, got {listed(columns)}: a copy tells nothing more")
    if secret in columns:
        raise InputError(f"column {secret!r} is both the secret and an answer: publishing it reveals the secret")
    chosen = None if secrets is None else list(secrets)
    return {
        column: overview(table, secret, column, chosen, needed=[other for other in columns if other != column])
        for column in columns
    }


def joint_moments(
    table: Table, secret: str, columns: Sequence[str], seen: dict[str, Overview]
) -> dict[Secret, Moments]:
    """Mean and sample covariance of each secret's rows.

    Args:
        table: the rows.
        secret: the column of secrets.
        columns: of numbers.
        seen: the overview of each.

    Returns:
        For each secret the number of its rows, their mean and their covariance.
    """
    import narwhals as nw

    rows = _complete(table, secret, columns)
    names = [f"x{k}" for k in range(len(columns))]
    found: dict[Secret, Moments] = {}
    tallies: dict[Secret, int] = {}
    for name, extent in seen[columns[0]].extents.items():
        mine = rows.filter(nw.col("secret") == name)
        first = table.collect(mine.select(nw.len().alias("rows"), *(nw.col(x).mean().alias(x) for x in names)))
        mean = np.array([first[x][0] for x in names], dtype=np.float64)
        # An engine's rounding must not give a constant a width, or move it.
        same = np.array([seen[column].extents[name].low == seen[column].extents[name].high for column in columns])
        mean = np.where(same, [seen[column].extents[name].low for column in columns], mean)
        # About the secret's own mean: sums of plain products would lose the digits of a far mean.
        products = {
            f"p{i}_{j}": ((nw.col(names[i]) - float(mean[i])) * (nw.col(names[j]) - float(mean[j]))).sum()
            for i in range(len(names))
            for j in range(i + 1)
        }
        second = table.collect(mine.select(*(value.alias(key) for key, value in products.items())))
        tallies[name] = int(first["rows"][0])
        covariance = np.zeros((len(names), len(names)))
        for key in products:
            i, j = (int(part) for part in key[1:].split("_"))
            covariance[i, j] = covariance[j, i] = float(second[key][0]) / (extent.valid - 1)
        covariance[same, :] = covariance[:, same] = 0.0
        _require_squares(columns, same, covariance.diagonal())
        found[name] = Moments(extent.valid, mean, covariance)
    require_unchanged(seen[columns[0]], tallies)
    return found


def _require_squares(columns: Sequence[str], same: Array, variances: Array) -> None:
    """A width that is lost, or infinite, because its square is no float is no width to hide anything by."""
    for column, constant, variance in zip(columns, same, variances, strict=True):
        if not constant and not 0 < variance < np.inf:
            raise InputError(f"the squares of column {column!r} are too large or too small: give it in another unit")


def joint_counts(
    table: Table, secret: str, columns: Sequence[str], seen: dict[str, Overview]
) -> dict[Secret, tuple[Array, Array]] | None:
    """Each secret's distinct rows, in order, with their counts; None where there are more than `DISTINCT`.

    Args:
        table: the rows.
        secret: the column of secrets.
        columns: of numbers.
        seen: the overview of each.

    Returns:
        For each secret a matrix of distinct rows, and how often each occurs.
    """
    import narwhals as nw

    names = [f"x{k}" for k in range(len(columns))]
    grouped = _complete(table, secret, columns).group_by("secret", *names).agg(nw.len().alias("count"))
    answer = table.collect(grouped.head(DISTINCT + 1))
    if len(answer["count"]) > DISTINCT:
        return None
    keys = [plain(key) for key in answer["secret"]]
    lines = np.array([answer[x] for x in (*names, "count")], dtype=np.float64).T + 0.0
    found: dict[Secret, tuple[Array, Array]] = {}
    for name in seen[columns[0]].extents:
        mine = lines[[key == name for key in keys]]
        mine = mine[np.lexsort(mine.T[-2::-1])]
        found[name] = (mine[:, :-1], mine[:, -1])
    require_unchanged(seen[columns[0]], {name: int(counts.sum()) for name, (_, counts) in found.items()})
    return found


def _complete(table: Table, secret: str, columns: Sequence[str]) -> "nw.LazyFrame[Any]":
    """Secret and values of the rows that have them all."""
    parts = {"secret": table.secret(secret)} | {f"x{k}": table.number(name) for k, name in enumerate(columns)}
    return combinations(table, parts, complete=parts)
