"""Several columns of a table at once: joint moments and joint counts for each secret, computed by its engine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.tables.count import DISTINCT
from takifugu.tables.overview import Overview, overview, require_unchanged
from takifugu.tables.table import Secret, Table, listed, plain
from takifugu.tables.tally import combinations

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True)
class Moments:
    """One secret's complete rows: how many, their mean, and the sums of products about it divided by rows − 1."""

    rows: int
    mean: Array
    covariance: Array


def joint_overview(
    table: Table, secret: str, columns: Sequence[str], secrets: Iterable[Any] | None
) -> dict[str, Overview]:
    """The overview of each column over the rows that have them all; an error where one cannot be used."""
    if len(set(columns)) < len(columns):
        raise InputError(f"each column must be named once, got {listed(columns)}: a copy tells nothing more")
    if secret in columns:
        raise InputError(f"column {secret!r} is both the secret and an answer: publishing it tells the secret")
    chosen = None if secrets is None else list(secrets)
    return {
        column: overview(table, secret, column, chosen, needed=[other for other in columns if other != column])
        for column in columns
    }


def joint_moments(
    table: Table, secret: str, columns: Sequence[str], seen: dict[str, Overview]
) -> dict[Secret, Moments]:
    """Mean and sample covariance of each secret's rows."""
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
    """Each secret's distinct rows, in order, with their counts; None where there are more than `DISTINCT`."""
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
