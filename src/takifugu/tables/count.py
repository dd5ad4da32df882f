"""How often each value occurs with each secret: all that fitting a prior needs to know of a table.

The engine that holds the table does the counting; what comes back has one line per secret and value. A column
with more than `DISTINCT` values is counted on a grid instead, fine where the rows are: see `_on_grid`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.tables.overview import Overview, pairs_of, require_unchanged
from takifugu.tables.table import Secret, Table, plain

if TYPE_CHECKING:
    import narwhals as nw

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
