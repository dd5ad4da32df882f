"""A publication beside the truth it came from, row by row: joined by keys, or refused where nobody can tell."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.errors import InputError, no_column
from takifugu.laws import key
from takifugu.queries import named
from takifugu.releases import INSECURE, POSITION, how_many, protected_secrets
from takifugu.tables import Reading, Table, cut_named, match_secret, plain

# One column of a table that is audited.

Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Column:
    """One column: numbers with NaN where there is none, or labels with None."""

    numbers: Array | None
    labels: Objects

    @classmethod
    def of(cls, values: Sequence[object]) -> "Column":
        """Of plain values: numbers where every value there is a number."""
        labels = np.empty(len(values), dtype=object)
        labels[:] = [plain(value) for value in values]
        there = [value for value in labels.tolist() if value is not None]
        if there and all(isinstance(value, int | float) and not isinstance(value, bool) for value in there):
            return cls(np.array([np.nan if value is None else value for value in labels.tolist()], np.float64), labels)
        return cls(None, labels)

    def at(self, rows: Any) -> "Column":
        """The column at some rows."""
        return Column(None if self.numbers is None else self.numbers[rows], self.labels[rows])

    def agrees(self, other: "Column") -> npt.NDArray[np.bool_]:
        """Where two columns of the same length say the same; a number and its text are the same."""
        if self.numbers is not None and other.numbers is not None:
            same: npt.NDArray[np.bool_] = self.numbers == other.numbers
            return same | (np.isnan(self.numbers) & np.isnan(other.numbers))
        pairs = zip(self.labels.tolist(), other.labels.tolist(), strict=True)
        return np.array([a == b or str(a) == str(b) for a, b in pairs], dtype=np.bool_)


# Which true row each published one came from: by its place, or by columns that name it.


def in_order(
    out: dict[str, Column], true: dict[str, Column], secrets: Objects, answer: Sequence[Column]
) -> npt.NDArray[np.intp]:
    """Row by row; a release that leaves other secrets out, or rows without a value, is as long as what it kept.

    Args:
        out: the published columns.
        true: the true ones.
        secrets: of the true rows.
        answer: the true columns that were published.

    Returns:
        For each published row the place of its true one.

    Raises:
        InputError: where the two tables do not have as many rows, so that nobody knows which is which.
    """
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
        f"published has {here:,} rows and truth {there:,} ({len(protected):,} of calibrated secrets): it is not known "
        f"which row is whose. Name the columns that say so with keys, or give the truth that was published"
    )


def unshuffled(positions: object, rows: int) -> npt.NDArray[np.intp]:
    """Where in the publication each of its rows stands, in their first order; `positions` may be a path.

    Args:
        positions: a list, or the file that a release wrote for its owner.
        rows: how many there are.

    Returns:
        A permutation.

    Raises:
        InputError: for what is none.
    """
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
    """The true row of each published one, by columns that name it.

    Args:
        out: the published columns.
        true: the true ones.
        names: the columns by which rows are told apart in both.

    Returns:
        For each published row the place of its true one.

    Raises:
        InputError: where a column is missing, a row is named twice, or one is named that is not there.
    """
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


@dataclass(frozen=True)
class Rows:
    """What was published and what is true, row by row; `place` is the row's place in the publication."""

    published: dict[str, Column]
    truth: dict[str, Column]
    secrets: Objects
    place: Array
    keys: tuple[str, ...]
    answer: tuple[str, ...]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.secrets)

    def of(self, secret: object) -> npt.NDArray[np.intp]:
        """The rows of a secret."""
        return np.flatnonzero(self.secrets == secret)

    @property
    def added(self) -> tuple[str, ...]:
        """The columns that were published and that the calibration is not about."""
        return tuple(name for name in self.published if name not in self.answer and name not in self.keys)


def listed_rows(rows: Rows, calibration: Calibration) -> tuple[list[object], list[object]]:
    """The true rows as values of the public lists, numbers at the nearest, and the published ones."""
    lists = () if calibration.answer is None else calibration.answer.lists
    columns = [rows.truth[name] for name in rows.answer]
    if lists:
        true = [
            np.array(one.values, dtype=object)[one.places(c.labels if c.numbers is None else c.numbers, name)].tolist()
            for one, c, name in zip(lists, columns, rows.answer, strict=True)
        ]
    else:
        true = [column.labels.tolist() for column in columns]
    return _entries(true), _entries([rows.published[name].labels.tolist() for name in rows.answer])


def _entries(columns: list[list[object]]) -> list[object]:
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))


def read_rows(
    published: object,
    truth: object,
    calibration: Calibration,
    *,
    secret: str | None,
    keys: Sequence[str] | str | None,
    positions: object = None,
    reading: Reading | None = None,
) -> Rows:
    """Read both tables and put them side by side; rows of secrets that are not calibrated are left out.

    `positions` undo a shuffle: row k of the publication was its row `positions[k]` before.
    """
    _require_of_rows(calibration)
    true = _read(truth, "truth", _as_calibrated(reading, calibration), _cut(calibration))
    out = _together(published, calibration)
    hidden = _secret(calibration, secret, list(true))
    answer = _answer(calibration, out, true, hidden)
    names = (keys,) if isinstance(keys, str) else tuple(keys or ())
    secrets = _matched(true[hidden], calibration, hidden)
    place = np.arange(len(next(iter(out.values())).labels))
    if names and positions is not None:
        raise InputError("keys and positions both say which row is whose: give one of them")
    if names:
        rows = joined(out, true, names)
    else:
        if positions is not None:
            place = unshuffled(positions, len(place))
            out = {name: column.at(place) for name, column in out.items()}
        rows = in_order(out, true, secrets, [true[name] for name in answer if name in true])
        refuse_another_order({n: c for n, c in out.items() if n in true and n not in answer}, true, rows)
    mine = secrets[rows]
    kept = np.flatnonzero([one is not None for one in mine])
    if not len(kept):
        raise InputError(
            f"no row of the publication has a secret of the calibrated pairs in {hidden!r}: the truth is another table"
        )
    return Rows(
        published={name: column.at(kept) for name, column in out.items()},
        truth={name: column.at(rows[kept]) for name, column in true.items()},
        secrets=mine[kept],
        place=place[kept].astype(np.float64),
        keys=names,
        answer=answer,
    )


def _together(published: object, calibration: Calibration) -> dict[str, Column]:
    """The columns of what was published; of a tuple of tables, which are of the same rows, those of all of them.

    A column that was published twice is another one the second time: both together may tell what none tells alone.
    """
    out: dict[str, Column] = {}
    for number, one in enumerate(published if isinstance(published, tuple) else (published,), start=1):
        found = _read(_framed(one, calibration), "published")
        if out and len(next(iter(found.values())).labels) != len(next(iter(out.values())).labels):
            raise InputError("published are tables of different lengths: give those of the same rows, in one order")
        for name, column in found.items():
            plain = name.removesuffix(INSECURE)
            out[plain if plain not in out else f"{plain} ({number})"] = column
    return out


def _require_of_rows(calibration: Calibration) -> None:
    answer = calibration.answer
    if answer is not None and not answer.is_of_rows:
        raise InputError(
            f"this calibration is for {answer.words}, {how_many(answer)} about {answer.whose}, and an audit attacks "
            f"the rows of a table: there are none to attack. What hides it is proved by `certify` and `verify`"
        )


def _cut(calibration: Calibration) -> tuple[str, ...]:
    """The names in the answer of which some may stand for columns that are cut at edges."""
    answer = calibration.answer
    return () if answer is None else (*answer.columns, *answer.secret, *answer.known)


def _as_calibrated(reading: Reading | None, calibration: Calibration) -> Reading:
    """The reading that leaves out the rows that were left out when the priors were fitted, unless it says otherwise.

    Marks in numbers are left to the file: the truth may come as another file than the one that was calibrated on.
    """
    given, answer = reading or Reading(), calibration.answer
    if answer is None or answer.spelling is None:
        return given
    cuts = (cut_named(name) for name in _cut(calibration))
    needed = {*_cut(calibration), *(cut.column for cut in cuts if cut is not None)}
    before = Reading().spelled_as(answer.spelling).about(needed)
    na = before.na if given.na is None else given.na
    labels: dict[str, Any] = {"tidy": given.tidy or before.tidy, "merge": given.merges or before.merges}
    return replace(given, na=na, sentinels=given.sentinels or before.sentinels, **labels)


def _read(source: object, role: str, reading: Reading | None = None, cut: Sequence[str] = ()) -> dict[str, Column]:
    table = Table(source, reading)
    table.cut(cut)
    columns = {name: Column.of(values) for name, values in table.collect(table.frame).items()}
    if not len(next(iter(columns.values())).labels):
        raise InputError(f"{role} has no rows")
    return columns


def _framed(published: object, calibration: Calibration) -> object:
    """An array of published values as a table of one column."""
    if not isinstance(published, np.ndarray | list):
        return published
    import pandas as pd

    values = np.asarray(published)
    if values.ndim != 1:
        raise InputError(f"published must be a table or one column, got an array of shape {values.shape}")
    answer = calibration.answer
    return pd.DataFrame({answer.columns[0] if answer is not None else "published": values})


def _secret(calibration: Calibration, given: str | None, available: list[str]) -> str:
    own = () if calibration.answer is None else calibration.answer.secret
    if given is None and not own:
        raise InputError(
            "secret is missing: these priors were made by hand and name none. Name the column of secrets in truth"
        )
    if given is not None and own and given not in own:
        raise InputError(f"this calibration hides {', '.join(map(repr, own))}, and not {given!r}: leave secret out")
    name = own[0] if given is None else given
    if name not in available:
        raise InputError(no_column("truth", name, available, which=", which holds the secrets"))
    return name


def _answer(calibration: Calibration, out: dict[str, Column], true: dict[str, Column], hidden: str) -> tuple[str, ...]:
    """The published columns that the calibration is about; for priors made by hand, the only one it can be."""
    if calibration.answer is None:
        likely = [name for name, column in out.items() if name != hidden and _fits(column, calibration)]
        return (likely[0],) if len(likely) == 1 else ()
    lacking = [repr(name) for name in calibration.answer.columns if name not in out]
    if 0 < len(lacking) < len(calibration.answer.columns):  # as where columns were published one after another
        raise InputError(
            f"published lacks {', '.join(lacking)}, and this calibration is for all its columns together: put those "
            f"that were published apart into one table, row beside row"
        )
    for name in calibration.answer.columns:
        for role, table in (("published", out), ("truth", true)):
            if name not in table:
                raise InputError(no_column(role, name, table, which=", which this calibration is for"))
    return calibration.answer.columns


def _fits(column: Column, calibration: Calibration) -> bool:
    """Whether a channel could have published this column: numbers, or a value of its list in some row."""
    if calibration.channel.publishes != "values":
        return column.numbers is not None
    listed = calibration.channel.as_list().outputs
    return not {key(value) for value in column.labels.tolist()}.isdisjoint(map(key, listed))


def _matched(column: Column, calibration: Calibration, hidden: str) -> Objects:
    """The calibrated secret of each row, None where it has another."""
    known = list(protected_secrets(calibration))
    several = calibration.answer is not None and len(calibration.answer.secret) > 1
    found = {}
    for value in set(column.labels.tolist()):
        if value is not None:  # of several columns of secrets, each is named with its column
            found[value] = match_secret(named(hidden, plain(value)) if several else value, known)
    secrets = np.empty(len(column.labels), dtype=object)
    secrets[:] = [found.get(value) for value in column.labels.tolist()]
    return secrets
