"""Rows to train a model on: a bounded number per secret, the same from every engine.

A model needs rows where a prior of raw values needs only counts. Equal rows come as one line with a count; a
secret with many more lines than training rows is thinned inside its engine first. What is left is put in
order and drawn from with a seed: the sample depends on the data alone, not on the order an engine gives.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array, real
from takifugu.errors import InputError, suggestion
from takifugu.problems import Diagnostic
from takifugu.tables.columns import Secret, listed
from takifugu.tables.counting import Overview, overview
from takifugu.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

_LINES = 20  # distinct rows brought home for each row to train on, at most


@dataclass(frozen=True)
class Sample:
    """One secret's training rows, the answers to them and the input to predict at, inputs standardised.

    `at` is one input, or a table with an input a row.
    """

    inputs: Array
    answers: Array
    at: Array


@dataclass(frozen=True)
class Training:
    """The training rows of every secret, and what there is to say about them."""

    samples: dict[Secret, Sample]
    seen: Overview
    columns: tuple[str, ...]
    findings: list[Diagnostic]


@dataclass(frozen=True)
class _Summary:
    """Range and mean of the target and the features, over the rows that have them all."""

    low: Array
    high: Array
    mean: Array


def prepare(
    table: Table,
    secret: str,
    target: str,
    *,
    features: Sequence[str] | None,
    at: object,
    secrets: Iterable[object] | None,
    most: int,
    seed: int,
) -> Training:
    """Check the columns, draw at most `most` rows per secret and standardise them.

    Features are centred and scaled by the mean and standard deviation of the secret's own training rows;
    one that does not vary among them is ignored for that secret.

    Args:
        table: the rows.
        secret: the column of secrets.
        target: the column to be predicted.
        features: those that predict it; all other columns of numbers where left out.
        at: the input, or inputs, at which it is predicted.
        secrets: those that are asked for; all where left out.
        most: how many rows of a secret a model is trained on.

    Returns:
        A sample for each secret, and remarks.

    Raises:
        InputError: for columns that are no numbers, and inputs that do not fit the features.
    """
    import narwhals as nw

    names = _features(table, secret, target, features)
    seen = overview(table, secret, target, secrets, needed=names)
    rows = _complete(table, secret, target, names)
    summary = _summarise(table, rows, (target, *names))
    varies = summary.high[1:] > summary.low[1:]
    if not varies.any():
        raise InputError(f"every feature is the same in every row: {target!r} cannot be predicted from them")
    findings: list[Diagnostic] = [
        Diagnostic("constant-feature", column=n) for n, v in zip(names, varies, strict=True) if not v
    ]
    point = _points(at, names, summary.mean[1:])
    drawn: dict[Secret, Array] = {}
    for name, extent in seen.extents.items():
        mine = rows.filter(nw.col("secret") == name)
        lines = _lines(table, mine, extent.valid, most=most, summary=summary, seed=seed)
        drawn[name] = _subsample(lines, most, seed)
        if len(drawn[name]) < extent.valid:
            findings.append(Diagnostic("subsampled", secret=name, rows=extent.valid, used=len(drawn[name])))
    samples = {name: _standardise(sample, point) for name, sample in drawn.items()}
    return Training(samples, seen, (target, *names), findings)


def _standardise(sample: Array, point: Array) -> Sample:
    """By the secret's own rows, so that its prior does not hang on the other secrets asked for."""
    inputs = sample[:, 1:]
    varies = inputs.max(axis=0) > inputs.min(axis=0)
    if not varies.any():
        varies[0] = True  # a model of a single constant: it learns the answers' mean and spread alone
    inputs, point = inputs[:, varies], point[..., varies]
    centre, spread = centre_and_spread(inputs)
    spread[spread == 0] = 1.0
    return Sample((inputs - centre) / spread, sample[:, 0], (point - centre) / spread)


def centre_and_spread(values: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of the rows, in units in which no square leaves the range of floats.

    >>> centre_and_spread(np.array([1e-200, 3e-200]))[1].tolist()
    1e-200
    """
    # A power of two rounds nothing: numbers of ordinary size have the mean that they had.
    unit = np.ldexp(1.0, np.clip(np.frexp(np.abs(values).max(axis=0))[1], -1000, 1000))
    return np.mean(values / unit, axis=0) * unit, np.std(values / unit, axis=0) * unit


def _features(table: Table, secret: str, target: str, given: Sequence[str] | None) -> tuple[str, ...]:
    table.require(secret)
    table.number(target)
    if given is None:
        names = tuple(name for name in table.numeric if name not in (secret, target))
        if not names:
            raise InputError(f"{table.name} has no numeric column to predict {target!r} from")
        return names
    names = tuple(given)
    for name in names:
        table.number(name)
    for name, role in ((secret, "the secret"), (target, "the target")):
        if name in names:
            raise InputError(f"feature {name!r} is {role}: leave it out of the features")
    if len(set(names)) < len(names):
        raise InputError(f"each feature must be named once, got {listed(names)}")
    return names


def _complete(table: Table, secret: str, target: str, names: tuple[str, ...]) -> "nw.LazyFrame[Any]":
    """Secret, target and features of the rows that have them all, under names that cannot clash."""
    import narwhals as nw

    columns = {"secret": table.secret(secret)}
    columns |= {f"x{place}": table.number(name) for place, name in enumerate((target, *names))}
    rows = table.frame.select(*(column.alias(name) for name, column in columns.items()))
    return rows.filter(*(~nw.col(name).is_null() for name in columns))


def _summarise(table: Table, rows: "nw.LazyFrame[Any]", names: tuple[str, ...]) -> _Summary:
    import narwhals as nw

    asked: dict[str, nw.Expr] = {}
    for place in range(len(names)):
        column = nw.col(f"x{place}")
        asked |= {f"low{place}": column.min(), f"high{place}": column.max(), f"mean{place}": column.mean()}
    answer = table.collect(rows.select(*(question.alias(name) for name, question in asked.items())))
    low, high, mean = (
        np.array([answer[f"{part}{place}"][0] for place in range(len(names))], dtype=np.float64)
        for part in ("low", "high", "mean")
    )
    for name, least, largest in zip(names, low, high, strict=True):
        if not np.isfinite(largest) or not np.isfinite(least):
            raise InputError(f"column {name!r} holds an infinite value: remove such rows")
    return _Summary(low, high, mean)


def several(at: object) -> bool:
    """Whether `at` lists inputs, rather than the numbers of one."""
    return isinstance(at, Sequence) and not isinstance(at, str) and bool(at) and not isinstance(at[0], Real | str)


def _points(at: Any, names: tuple[str, ...], mean: Array) -> Array:
    """One input, or several as the rows of a table."""
    if not several(at):
        return _point(at, names, mean)
    return np.array([_point(one, names, mean) for one in at])


def _point(at: object, names: tuple[str, ...], mean: Array) -> Array:
    """The input to predict at, in the order of the features; what is not given is the mean."""
    point = mean.copy()
    if at is None:
        return point
    if not isinstance(at, Mapping):
        if isinstance(at, str) or not isinstance(at, Iterable) or len(values := list(at)) != len(names):
            raise InputError(
                f"at must give a value for each of the {len(names)} features, in the order {listed(names)}, "
                f"or be a dictionary from feature to value; got {at!r}"
            )
        at = dict(zip(names, values, strict=True))
    for name, value in at.items():
        if name not in names:
            raise InputError(f"at names {name!r}, which is no feature.{suggestion(name, names)}")
        point[names.index(name)] = real(f"at[{name!r}]", value, "a finite number")
    return point


def _lines(table: Table, mine: "nw.LazyFrame[Any]", valid: int, *, most: int, summary: _Summary, seed: int) -> Array:
    """Distinct rows of one secret, target first, with how often each occurs in the last column."""
    import narwhals as nw

    columns = [f"x{place}" for place in range(len(summary.low))]
    limit = _LINES * most

    def grouped(frame: "nw.LazyFrame[Any]") -> Array:
        answer = table.collect(frame.group_by(*columns).agg(nw.len().alias("count")).head(limit + 1))
        lines = np.array([answer[c] for c in (*columns, "count")], dtype=np.float64).T + 0.0
        return lines[np.lexsort(lines.T[::-1])]

    if valid <= limit:
        return grouped(mine)
    rate = 0.5 * limit / valid
    lottery = _lottery(summary, seed)
    while True:
        thinned = grouped(mine.filter(lottery < rate))
        # Few lines in the lottery mean few distinct rows altogether: then all of them can come, with counts.
        if len(thinned) < 0.5 * rate * limit and len(every := grouped(mine)) <= limit:
            return every
        if len(thinned) >= most or rate >= 1:
            return thinned
        rate = min(1.0, 2 * rate)


def _lottery(summary: _Summary, seed: int) -> "nw.Expr":
    """A number from 0 to 1 for each row, with no order in it, that every engine computes to the same bit.

    Sums, products and floors of float64 are the same everywhere; an engine's own random numbers or hashes
    are not.
    """
    import narwhals as nw

    rng = np.random.default_rng(seed)
    ticket: Any = None
    for place, (low, high) in enumerate(zip(summary.low, summary.high, strict=True)):
        if high > low:
            term = (nw.col(f"x{place}") - float(low)) * (float(rng.uniform(1e3, 1e4)) / float(high - low))
            ticket = term if ticket is None else ticket + term
    for factor in (1.0, *rng.uniform(1e3, 1e4, size=2)):
        ticket = ticket * float(factor)
        ticket = ticket - ticket.floor()
    return ticket  # type: ignore[no-any-return]


def _subsample(lines: Array, most: int, seed: int) -> Array:
    """Rows drawn without replacement, or all where there are no more than `most`."""
    ends = np.cumsum(lines[:, -1])
    total = int(ends[-1])
    drawn = np.arange(total)
    if total > most:
        drawn = np.sort(np.random.default_rng(seed).choice(total, size=most, replace=False))
    return lines[np.searchsorted(ends, drawn, side="right"), :-1]
