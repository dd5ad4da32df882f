"""What a calibration may be used for: its own columns, its own secret, and values that its priors know.

A calibration carries the answer it was made for. Whatever else is handed to a release is refused before anything is
drawn: noise that hides a secret in one column says nothing about another.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, no_cells, no_text
from takifugu.calibration import Calibration
from takifugu.channels import MOST_AXES
from takifugu.errors import InputError, no_column
from takifugu.laws import Mixture, VectorMixture
from takifugu.problems import MEAN, MEAN_BY, MODELS, Answer
from takifugu.tables import Binned, cut_named

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
            "with private counts every row is published, since what is left out tells of whom it belongs to: leave "
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
                f"column {cut.column!r}, which was to be kept, tells the secret {one!r}, which is cut from it: it "
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
            f"values were given. Publishing the numbers of several groups tells which is whose"
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
