"""Which true row each published one came from: by its place, or by columns that name it."""

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._nearest import no_column
from takifugu.audits.column import Column, Objects
from takifugu.errors import InputError
from takifugu.releases.doors.saving import POSITION
from takifugu.tables.table import Table


def in_order(
    out: dict[str, Column], true: dict[str, Column], secrets: Objects, answer: Sequence[Column]
) -> npt.NDArray[np.intp]:
    """Row by row; a release that leaves other secrets out, or rows without a value, is as long as what it kept."""
    here, there = len(next(iter(out.values())).labels), len(secrets)
    hidden = np.array([one is not None for one in secrets], dtype=np.bool_)
    whole = np.ones(there, dtype=np.bool_)
    for column in answer:
        whole &= np.array([value is not None for value in column.labels.tolist()], dtype=np.bool_)
    protected = np.flatnonzero(hidden)
    for kept in (np.ones(there, dtype=np.bool_), hidden, whole, hidden & whole):
        if here == int(kept.sum()):
            return np.flatnonzero(kept)
    raise InputError(
        f"published has {here:,} rows and truth {there:,} ({len(protected):,} of calibrated secrets): nobody can tell "
        f"which row is whose. Name the columns that say so with keys, or give the truth that was published"
    )


def unshuffled(positions: Any, rows: int) -> npt.NDArray[np.intp]:
    """Where in the publication each of its rows stands, in their first order; `positions` may be a path."""
    if isinstance(positions, str | os.PathLike):
        table = Table(positions)
        if POSITION not in table.columns:
            raise InputError(f"{os.fspath(positions)!r} has no column {POSITION!r}: it is no key to a publication")
        positions = table.collect(table.frame)[POSITION]
    found = np.asarray(positions)
    if found.shape != (rows,) or found.dtype.kind not in "iu" or not np.array_equal(np.sort(found), np.arange(rows)):
        raise InputError(
            f"positions must name each of the {rows:,} published rows once: these belong to another publication"
        )
    return np.argsort(found)


def joined(out: dict[str, Column], true: dict[str, Column], names: tuple[str, ...]) -> npt.NDArray[np.intp]:
    """The true row of each published one, by columns that name it."""
    for name in names:
        for role, table in (("published", out), ("truth", true)):
            if name not in table:
                raise InputError(no_column(role, name, table, which=", named in keys"))
    ours, theirs = (_identities(table, names) for table in (out, true))
    for role, found in (("published", ours), ("truth", theirs)):
        if repeated := len(found) - len(set(found)):
            raise InputError(
                f"the keys {', '.join(map(repr, names))} name {repeated:,} rows of {role} a second time: give keys "
                f"that name each row once"
            )
    place = {identity: row for row, identity in enumerate(theirs)}
    if missing := sum(identity not in place for identity in ours):
        raise InputError(
            f"{missing:,} of {len(ours):,} published rows have keys that truth does not have: it is another table"
        )
    return np.array([place[identity] for identity in ours], dtype=np.intp)


def _identities(table: dict[str, Column], names: tuple[str, ...]) -> list[tuple[str, ...]]:
    columns = [table[name] for name in names]
    # A number is named by its value: one file writes 1 and another 1.0.
    spelled = [
        [repr(value) for value in column.numbers.tolist()]
        if column.numbers is not None
        else [str(value) for value in column.labels.tolist()]
        for column in columns
    ]
    return list(zip(*spelled, strict=True))


def refuse_another_order(kept: dict[str, Column], true: dict[str, Column], rows: npt.NDArray[np.intp]) -> None:
    """A column that was kept as it is must agree row by row; where only its values do, the rows were moved."""
    for name, column in kept.items():
        other = true[name].at(rows)
        if not column.agrees(other).all() and Counter(map(str, column.labels)) == Counter(map(str, other.labels)):
            raise InputError(
                f"column {name!r} has the same values in published and in truth, in another order. Where publishing "
                f"shuffled them, give positions; or name the columns that say which row is whose with keys"
            )
