"""Which rows a calibration protects."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems import Answer, Pair
from takifugu.queries import named
from takifugu.tables import (
    SECRETS,
    Coded,
    Reading,
    Table,
    as_float,
    as_read,
    as_text,
    is_counted_as_text,
    match_secret,
    plain,
    present,
    with_cuts,
)

if TYPE_CHECKING:
    import narwhals as nw


OTHERS = ("error", "drop", "release")


def protected_secrets(calibration: Calibration) -> frozenset[Any]:
    """The secrets that stand in at least one of the pairs."""
    pairs = calibration.pairs
    if pairs.is_every:
        return frozenset(pairs.secrets)
    return frozenset(secret for pair in pairs for secret in pair)


def protected_pairs(common: Iterable[object], calibration: Calibration) -> Iterator[Pair]:
    """The calibrated pairs among these secrets."""
    pairs = calibration.pairs
    secrets = [secret for secret in common if secret in protected_secrets(calibration)]
    chosen = None if pairs.is_every else {frozenset(pair) for pair in pairs}
    for pair in combinations(secrets, 2):
        if chosen is None or frozenset(pair) in chosen:
            yield pair


def as_called(secrets: Any, column: str, *, of: Collection[str]) -> Any:
    """One column's secrets as the priors call them: those of several columns are told apart by their column."""
    if len(of) == 1:
        return secrets
    if isinstance(secrets, Coded):
        return secrets.map(lambda secret: secret if secret is None else named(column, plain(secret)))
    return [secret if secret is None else named(column, plain(secret)) for secret in secrets]


def has_pairs(calibration: Calibration, column: str) -> bool:
    """Whether any secret of this column, one of several, stands in the pairs: of another, nothing was promised."""
    return has_any(protected_secrets(calibration), column)


def has_any(known: Iterable[object], column: str) -> bool:
    """Whether any of these secrets is of this column, one of several."""
    return any(str(secret).startswith(named(column, "")) for secret in known)


def as_counted(frame: "nw.DataFrame[Any]", calibration: Calibration) -> "nw.DataFrame[Any]":
    """The table with its secrets as they were counted: categories, and objects of any type, are texts; decimals floats.

    To Python the decimal 0.1 is not the float 0.1, by which its rows were counted.
    """
    names = () if calibration.answer is None else calibration.answer.secret
    there = [name for name in names if name in frame.columns]
    kinds = {name: frame.schema[name] for name in there if frame.schema[name].is_decimal()}
    decimals = [as_float(name, kind, frame.implementation) for name, kind in kinds.items()]
    texts = [as_text(name) for name in there if are_texts(calibration) and is_counted_as_text(frame.schema[name])]
    return frame.with_columns(*decimals, *texts)


def are_texts(calibration: Calibration) -> bool:
    """Whether every secret is a text: then others may be written in another way, and none is a number."""
    return all(isinstance(secret, str) for secret in calibration.pairs.secrets)


def protected_rows(secrets: Any, calibration: Calibration, others: str) -> npt.NDArray[np.bool_] | None:
    """The rows to keep, None for all; an error where a row is of another secret and `others` is "error".

    `secrets` is a `Coded` column, one of narwhals, or a list.
    """
    if others == "release":
        return None
    known = protected_secrets(calibration)
    column = secrets if isinstance(secrets, Coded) else None
    if column is None and not isinstance(secrets, list):
        column = Coded.of(secrets)
    rows = secrets if column is None else [cell for cell, n in zip(column.cells, column.tallies, strict=True) if n]
    try:
        if known.issuperset(rows):
            return None
        cells = column.cells.tolist() if column is not None else rows
        kept = np.fromiter(map(known.__contains__, cells), dtype=np.bool_, count=len(cells))
    except TypeError:  # a list, or something with one in it, is nobody's secret
        whole = Coded.of_list(rows) if column is None else column
        scalars = whole.map(lambda cell: cell if isinstance(cell, str | int | float) else None)
        return protected_rows(scalars, calibration, others)
    if column is not None:
        kept = kept[column.codes]
    if others == "drop":
        return kept
    raise InputError(outside(int((~kept).sum()), len(kept), known))


def outside(rows: int, of_all: int, known: frozenset[object]) -> str:
    """The sentence that meets rows of other secrets than the `known` ones."""
    return (
        f"{rows} of {of_all} rows have a secret outside the calibrated pairs: nothing bounds what their values would "
        f"tell. Calibrate with those secrets, give others='drop' to leave the rows out, or others='release' to publish "
        f"them without a guarantee. Calibrated are {_listed(known)}"
    )


def refuse_fewer(secrets: Any, kept: npt.NDArray[np.bool_], calibration: Calibration) -> None:
    """Of several secrets, refuse to leave out rows that were counted: the laws of the others are not those of the rest.

    Rows that lack one of the secrets were not counted, nor were those of a secret that the priors do not know.
    """
    counted = calibration.beliefs[0].keys()
    column = secrets if isinstance(secrets, Coded) else Coded.of_list(secrets)
    left_out = np.unique(column.codes[~kept])
    if any(one in counted for one in column.cells[left_out].tolist()):
        raise InputError(
            "rows with one of their secrets in none of the calibrated pairs cannot be left out: the laws of the other "
            "secrets were counted with them. Remove those rows first, and calibrate with the table that is left"
        )


def _listed(secrets: frozenset[object]) -> str:
    names = sorted(map(repr, secrets))
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


# Whether every row to publish has a secret that is hidden: asked before the work, and not when all of it is done.


def require_inside(
    table: Table, secrets: Sequence[str], needed: Sequence[str], hidden: Iterable[object], *, typed: bool = False
) -> None:
    """Before hours of work, whether rows have a secret that is not `hidden`: `protected_rows` would refuse them.

    Rows that lack one of the `needed` values are not published, and none of them counts. Of secrets as somebody `typed`
    them, one that no row has may be a slip, which has an error of its own when priors are fitted.
    """
    wanted = list(map(table.reading.label, hidden))
    looked_at = [name for name in secrets if len(secrets) == 1 or has_any(wanted, name)]
    counts = _counts(table, secrets, needed, looked_at)
    every = [one for of_column in counts for one in of_column]
    if typed and any(match_secret(one, every) is None for one in wanted):
        return
    for of_column in counts:
        known = frozenset(found for one in wanted if (found := match_secret(one, of_column)) is not None)
        if strange := sum(rows for one, rows in of_column.items() if one not in known):
            raise InputError(outside(strange, sum(of_column.values()), known))


def _counts(
    table: Table, secrets: Sequence[str], needed: Sequence[str], looked_at: Iterable[str]
) -> list[dict[Any, int]]:
    """For each column of secrets, the whole rows of each secret, called as the priors call it."""
    import narwhals as nw

    complete = list(dict.fromkeys([*secrets, *needed]))
    for name in complete:
        table.require(name)
    whole = table.frame.filter(present(table, complete))
    found = []
    for name in looked_at:
        keys = whole.select(table.secret(name).alias("secret"))
        answer = table.collect(keys.group_by("secret").agg(nw.len().alias("rows")).head(SECRETS + 1))
        called = as_called([plain(one) for one in answer["secret"]], name, of=secrets)
        found.append(dict(zip(called, map(int, answer["rows"]), strict=True)))
    return found


# Tables and values in memory mean by a sentinel what it meant when the priors were fitted: that a value is missing.


def as_fitted(frame: object, answer: Answer) -> Any:
    """A narwhals table with missing values where the priors saw them, and the cuts among the columns of the answer."""
    if answer.spelling is not None:
        frame = as_read(frame, Reading().spelled_as(answer.spelling))
    return with_cuts(frame, (*answer.columns, *answer.secret))


def reading_as_fitted(reading: Reading, calibration: Calibration) -> Reading:
    """The reading with the meaning that cells had when the priors were fitted."""
    spelling = None if calibration.answer is None else calibration.answer.spelling
    return reading if spelling is None else reading.spelled_as(spelling)


def require_as_fitted(table: Table, calibration: Calibration) -> None:
    """Refuse a table that was opened with values where the priors saw missing ones: no law is about those rows."""
    fitted = reading_as_fitted(table.read_as, calibration)
    for name in ("na", "sentinels", "tidy", "merge"):
        if (meant := getattr(fitted, name)) != getattr(table.read_as, name):
            raise InputError(
                f"the table of this calibration was read with {name}={meant!r}, and this one was opened without: the "
                f"same cells would mean something else. Nothing was released; open it with {name}, or give its path"
            )


def refuse_sentinels(values: object, answer: Answer) -> None:
    """Refuse values among which some were left out as missing when the priors were fitted: no law is about those."""
    if answer.spelling is None or not answer.is_of_rows:
        return
    reading = Reading().spelled_as(answer.spelling)
    gone = {_spelled(one) for name in answer.columns for one in reading.sentinels_of(name)}
    gone |= {_spelled(text) for text in reading.na or ()}
    if not gone:
        return
    entries = values.to_list() if hasattr(values, "to_list") else np.asarray(values, dtype=object).ravel().tolist()
    if found := sum(_spelled(one) in gone for one in entries):
        raise InputError(
            f"{found:,} of {len(entries):,} values are such as stood for a missing one when the priors of this "
            f"calibration were fitted: leave them out, or calibrate with them as values. Nothing was released"
        )


def _spelled(one: Any) -> float | str:
    """A number by its value, a text by its letters."""
    try:
        return float(one)
    except (TypeError, ValueError, OverflowError):
        return str(one)
