"""What a calibration may be used for: its own columns, its own secret, and values that its priors know.

A calibration carries the answer it was made for. Whatever else is handed to a release is refused before anything is
drawn: noise that hides a secret in one column says nothing about another.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, no_cells, no_text
from takifugu.calibration import Calibration
from takifugu.channels import MOST_AXES
from takifugu.errors import InputError, no_column
from takifugu.laws import Mixture, VectorMixture
from takifugu.problems import MEAN, MEAN_BY, MODELS, Answer, Pair
from takifugu.queries import named
from takifugu.tables import (
    SECRETS,
    Binned,
    Coded,
    Reading,
    Table,
    as_float,
    as_read,
    as_text,
    cut_named,
    is_counted_as_text,
    match_secret,
    plain,
    present,
    with_cuts,
)

if TYPE_CHECKING:
    import narwhals as nw

_log = logging.getLogger("takifugu")

# Beyond nine standard deviations of every component a prior holds 10⁻¹⁹ of its mass: no table has such rows.
_REACH = 9.0
_ROUNDED = 1e-9  # of a standard deviation: another way to compute the same mean

NOT_CHECKED = (
    "the priors were made by hand and name no column: that they are the priors of these values was not checked",
)


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are published, which holds the secrets, and which go along as they are."""

    answer: tuple[str, ...]
    secret: tuple[str, ...]
    keep: tuple[str, ...]
    others: str
    known_by: tuple[str, ...] = ()  # columns by which a ledger knows the rows

    @property
    def column(self) -> str:
        """The one column that is published."""
        return self.answer[0]

    @property
    def read(self) -> list[str]:
        """The columns that are needed."""
        return list(dict.fromkeys([*self.secret, *self.published, *self.known_by]))

    @property
    def published(self) -> list[str]:
        """The columns that leave."""
        return list(dict.fromkeys([*self.answer, *self.keep]))


def bound_columns(
    calibration: Calibration,
    available: Sequence[str],
    *,
    column: str | Sequence[str] | None,
    secret: str | Sequence[str] | None,
    keep: Sequence[str],
    others: str,
) -> Columns:
    """The columns that the calibration is for, once what was asked for agrees with it and the table has them."""
    no_text("keep", keep, "columns")
    no_cells("keep", keep)
    keep = tuple(keep)
    if secret is not None and not isinstance(secret, str) and not all(name in available for name in secret):
        raise InputError("for a table, secret is the name of the column of secrets, not the secrets themselves")
    answer = calibration.answer
    if answer is None:
        columns = _by_hand(available, column, secret, others)
    else:
        require_of_rows(answer)
        _require_same("column", column, answer.columns)
        _require_same("secret", secret, answer.secret)
        # Where nobody is left out the secrets are not needed; if they are there, kept columns are held against them.
        looked = others != "release" or secret or all(name in available for name in answer.secret)
        columns = answer.columns, answer.secret if looked else ()
    found = Columns(*columns, tuple(keep), others)
    for name in found.read:
        if name not in available and (name not in found.secret or others != "release"):
            raise InputError(no_column("the table", name, available))
    if keep and answer is not None and answer.private:
        raise InputError(
            f"{keep[0]!r} was to be kept, and private counts are about the published columns alone: nothing would be "
            f"guaranteed to who reads others beside them. Leave keep out, or publish {keep[0]!r} among the columns"
        )
    if others == "drop" and answer is not None and answer.private:
        raise InputError(
            "with private counts every row is published, since what is left out reveals whose it is: leave "
            "others='drop' out"
        )
    if answer is not None and (strange := [name for name in keep if name not in answer.known]):
        _log.warning(
            "kept columns (%s) were no part of this calibration: what they tell together with the answer is not "
            "bounded by it. Name them as known when fitting the priors, and it is",
            ", ".join(strange),
        )
    hidden = {*found.secret, *(() if answer is None else answer.secret)}
    for name in found.published:
        if name in hidden:
            raise InputError(f"{name!r} is the secret: it cannot be published with what is meant to hide it")
    for one in hidden:
        cut = cut_named(one, {*available} - {one})
        if cut is not None and cut.column in keep and _is_cut(cut, calibration):
            raise InputError(
                f"column {cut.column!r}, which was to be kept, reveals the secret {one!r}, which is cut from it: it "
                f"cannot be published with what is meant to hide it. Nothing was released"
            )
    return found


def _is_cut(cut: Binned, calibration: Calibration) -> bool:
    """Whether the secrets are the bins of a cut, and not the values of a column that is called like one."""
    # Of several columns of secrets each is called by its column and its value.
    return any(str(secret).endswith(label) for secret in calibration.pairs.secrets for label in cut.labels)


def _by_hand(
    available: Sequence[str], column: str | Sequence[str] | None, secret: Any, others: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if column is None:
        raise InputError(
            f"column is missing: these priors were made by hand and name none. Name the column to publish, one of "
            f"{', '.join(available)}"
        )
    if secret is None and others != "release":
        raise InputError(
            "secret is missing: name the column of secrets, so that rows of secrets outside the calibrated pairs "
            "are noticed; or give others='release' to publish every row unchecked"
        )
    named = (column,) if isinstance(column, str) else tuple(column)
    if not named or len(set(named)) < len(named):
        raise InputError(f"column must name different columns, in the order of the priors' numbers; got {column!r}")
    return named, () if secret is None else (secret,) if isinstance(secret, str) else tuple(secret)


def _require_same(role: str, given: Any, calibrated: tuple[str, ...]) -> None:
    asked = (given,) if given is None or isinstance(given, str) else tuple(given)
    if len(asked) > MOST_AXES:  # the cells of a column, and not names of columns
        raise InputError(f"{role} must name columns of the table, and {len(asked):,} values were given")
    if given is not None and asked != calibrated:
        raise InputError(
            f"this calibration is for the {role}{'s' * (len(calibrated) > 1)} {', '.join(map(repr, calibrated))}, and "
            f"{role} {given!r} was asked for: what hides a secret in one hides nothing in another. Leave {role} out, "
            f"or calibrate for {given!r}"
        )


def require_of_rows(answer: Answer) -> None:
    """Refuse a table for a calibration of one number about a group."""
    if not answer.is_of_rows:
        raise InputError(
            f"this calibration is for {answer.words}, {how_many(answer)} about {answer.whose}, and its noise is far "
            f"too small for the rows of a table. {_instead(answer)}, or calibrate {_of_rows(answer)} to publish rows"
        )


def _instead(answer: Answer) -> str:
    if answer.query == MEAN and len(answer.secret) == 1:
        return f"Name the value of {answer.secret[0]!r} whose mean is to be published with of=..."
    return "Give release that"


def how_many(answer: Answer) -> str:
    """What is published about a group, counted."""
    return "one number" if len(answer.columns) == 1 else "one vector"


def _of_rows(answer: Answer) -> str:
    if answer.query == MEAN_BY:
        return "a Row of what is averaged"
    return f"Raw({answer.columns[0]!r})" if len(answer.columns) == 1 else f"Row({', '.join(map(repr, answer.columns))})"


def require_one_number(answer: Answer, count: int) -> None:
    """Refuse several numbers for a calibration of one: a list of group means is indexed by the secret."""
    if not answer.is_of_rows and count != 1:
        raise InputError(
            f"this calibration is for {answer.words}: one number about one group whose secret is hidden, and {count} "
            f"values were given. Publishing the numbers of several groups reveals which is whose"
        )


def require_within(values: Array, answer: Answer) -> None:
    """Refuse values beyond a lattice whose ends were read from data: public bounds would clip them, these only hid it.

    The laws know of none that was clipped, so a table that has some is another one, and its laws are others.
    """
    if not answer.is_read or answer.lattice is None:
        return
    beyond = answer.lattice.beyond(values)
    if beyond:
        raise InputError(
            f"{beyond:,} of {values.size:,} values lie beyond the bounds that were read from the table of this "
            f"calibration: this is another column or file, or the table has changed. Nothing was released; calibrate "
            f"with this table, or give Raw public bounds"
        )


def require_seen(values: Array, calibration: Calibration) -> None:
    """Refuse values that the priors give no probability: another column, another file, a table that changed.

    Priors made by hand are not checked: nobody has said what they are the priors of.
    """
    if calibration.answer is None or not values.size:
        return
    laws = [law for belief in calibration.beliefs for law in belief.values()]
    if calibration.answer.query in MODELS:
        _refuse_means(values, laws)
    unseen = _unseen_rows(values, laws) if values.ndim == 2 else _unseen(values, laws)
    if unseen.any():
        raise InputError(
            f"{int(unseen.sum()):,} of {unseen.size:,} values are such that the priors of this calibration could not "
            f"have produced them: this is another column or file, or the table has changed. Nothing was released; "
            f"calibrate with this table"
        )


def _refuse_means(values: Array, laws: Sequence[Any]) -> None:
    """Refuse what a model says itself where a new observation, drawn from it, is what the noise is for.

    People spread around what a model says of them, and the noise counts on that; what it says spreads far less from one
    table to another. A draw meets the mean with probability zero, whoever gives it the mean means it.
    """
    for law in laws:
        std = np.sqrt(np.diagonal(law.covariance)) if law.space == "vector" else law.std
        if np.all(std) and (np.abs(np.ravel(values) - law.mean) <= _ROUNDED * std).all():
            raise InputError(
                "this is the mean of a model's prediction, and the calibration is for a new observation, which the "
                "spread of people helps to hide: its noise may be far too little for the mean. Nothing was released. "
                "Fit the priors with observation=False and calibrate with them, or publish a draw from the "
                "prediction, prior.sample(1)"
            )


def require_near(mean: Array, laws: Sequence[Any]) -> None:
    """Refuse the mean of a group that is far from where all of its own laws put it: the group is another one now."""
    far = _unseen(mean, laws) if len(mean) == 1 else _unseen_rows(mean[None, :], laws)
    if far.any():
        raise InputError(
            "the mean of this group lies far from where the priors of this calibration put it: this is another column "
            "or file, or the table has changed. Nothing was released; calibrate with this table"
        )


def _unseen_rows(rows: Array, laws: Iterable[VectorMixture]) -> Any:
    """Which rows hold a number that no law gives any probability on its axis."""
    axes = np.eye(rows.shape[1])
    return np.any([_unseen(rows[:, k], [law.projected(axis) for law in laws]) for k, axis in enumerate(axes)], axis=0)


def _unseen(values: Array, laws: Iterable[Mixture]) -> Any:
    simple = [law.simplified() for law in laws]
    points = np.unique(np.concatenate([law.means[law.stds == 0] for law in simple]))
    if all(law.is_discrete for law in simple):
        place = np.searchsorted(points, values).clip(max=len(points) - 1)
        return points[place] != values
    low = min(float((law.means - _REACH * law.stds).min()) for law in simple)
    high = max(float((law.means + _REACH * law.stds).max()) for law in simple)
    return (values < low) | (values > high)


# Which rows a calibration protects.


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


_RELEASED = (
    "Calibrate with those secrets, give others='drop' to leave the rows out, or others='release' to publish them "
    "without a guarantee"
)
_PUBLISHED = "Name those secrets in a pair too, or leave the rows out with Reading(leave_out='others')"


def outside(rows: int, of_all: int, known: frozenset[object], advice: str = _RELEASED) -> str:
    """The sentence that meets rows of other secrets than the `known` ones."""
    return (
        f"{rows} of {of_all} rows have a secret outside the calibrated pairs: nothing bounds what their values would "
        f"tell. {advice}. Calibrated are {_listed(known)}"
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
            raise InputError(outside(strange, sum(of_column.values()), known, _PUBLISHED))


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
