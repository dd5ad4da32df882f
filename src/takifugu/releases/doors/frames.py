"""Columns and tables of any dataframe library, through narwhals."""

from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.releases.binding import Columns
from takifugu.releases.doors.leaving import leaving, named, series
from takifugu.releases.drawing.lists import Listed
from takifugu.releases.drift import refuse_drift
from takifugu.releases.plan import Plan
from takifugu.releases.secret_rows import as_called, as_counted, has_pairs, protected_rows, refuse_fewer
from takifugu.releases.shuffling import Places, shuffled
from takifugu.releases.watching import Watch
from takifugu.tables.arrow import in_usual_types
from takifugu.tables.engine import attempt, kind_of
from takifugu.tables.open import SAME_NAME
from takifugu.tables.table import plain

if TYPE_CHECKING:
    import narwhals as nw


def as_frame(values: Any) -> "nw.DataFrame[Any] | nw.LazyFrame[Any] | nw.Series[Any] | None":
    """What narwhals makes of it; None for anything that is no column and no table."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(in_usual_types(values), allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InputError(SAME_NAME) from None
    return wrapped if isinstance(wrapped, nw.DataFrame | nw.LazyFrame | nw.Series) else None


def collected(frame: "nw.LazyFrame[Any]") -> "nw.DataFrame[Any]":
    """A lazy table, made; the engine's own error is let go of, since it may quote a record."""
    whole, why = attempt(frame.collect)
    if whole is None:
        raise InputError(f"the table cannot be read: {why}. Nothing was released")
    return whole


def release_series(column: "nw.Series[Any]", plan: Plan, kept: Any, called: list[list[Any]]) -> Any:
    """The published column, of the same library and name; of a vector about a group, its numbers in their order."""
    answer = plan.calibration.answer
    one = answer is not None and answer.is_of_rows and len(answer.drawn) == 1
    if answer is not None and one and column.name and answer.drawn != (column.name,):
        raise InputError(
            f"this calibration is for {', '.join(map(repr, answer.drawn))}, and the column given is called "
            f"{column.name!r}: what hides a secret in one hides nothing in another"
        )
    rows = column if kept is None else column.filter(kept.tolist())
    _require_same_labels(rows, plan)
    values = _entries(rows, plan)
    made = publish(values, plan, kept, called)
    if answer is None or answer.is_of_rows:
        return series(named(rows.name, plan), made, plan, rows.implementation).to_native()
    # Of numbers about a group no label leaves but what they are: pandas names a group's means by the group itself.
    name = rows.name if rows.name in answer.columns else ""
    native = series(named(name, plan), made, plan, rows.implementation).to_native()
    if rows.implementation.is_pandas_like() and len(native) > 1:
        native.index = list(answer.columns)
    return native


def _require_same_labels(rows: "nw.Series[Any]", plan: Plan) -> None:
    """Numbers about a group that pandas labels with the names of columns must stand in the calibrated order."""
    answer = plan.calibration.answer
    if answer is None or answer.is_of_rows or len(answer.columns) == 1 or not rows.implementation.is_pandas_like():
        return
    labels = list(rows.to_native().index)
    if all(isinstance(label, str) for label in labels) and tuple(labels) != answer.columns:
        raise InputError(
            f"these numbers are labelled {', '.join(labels)}, and the calibration is for {', '.join(answer.columns)}: "
            f"give them in that order"
        )


def release_frame(frame: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> tuple[Any, Places]:
    """The table with its column published, and of the others only those to be kept; and which row stands where."""
    rows = protected(frame, plan, columns)
    values, watch = ready(rows, plan, columns), Watch(columns, plan)
    recognition = plan.recognise(columns, frame.columns)
    watch.look(rows, together(rows, values, plan))
    watch.refuse()
    if recognition is not None and len(rows):  # who publishes nothing pays nothing
        recognition.look(rows)
        plan.charge(recognition, len(rows))
    places = np.arange(len(rows)) if plan.order == "keep" else shuffled(len(rows), plan.source)
    if plan.order != "keep":
        rows, values = rows[places.tolist()], values[places]
    return leaving(rows, values, plan, columns), places


def ready(rows: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> Array:
    """What is to be published of these rows, checked: an array with an entry or a row for each."""
    for name in columns.also:
        _refuse_missing(rows[name], _holes(rows[name]))
    return plan.drawing.check_columns([_entries(rows[name], plan) for name in columns.answer], columns.answer)


def together(rows: "nw.DataFrame[Any]", ready: Array, plan: Plan) -> Array:
    """What of these rows goes into everything that is published: whole rows, where columns went before these.

    A column may go with the secret as it did, and with what was published before in another way.
    """
    answer = plan.calibration.answer
    if answer is None or not answer.before or not isinstance(plan.drawing, Listed) or plan.drift == "allow":
        return ready
    return plan.drawing.check_together([_entries(rows[name], plan) for name in answer.columns], answer.columns)


def _entries(column: "nw.Series[Any]", plan: Plan) -> Any:
    if not plan.drawing.takes_labels:
        return numbers(column)
    values, answer = values_of(column), plan.calibration.answer
    domain = None if answer is None else answer.domain_of(column.name)
    if values.dtype == object and domain is not None and all(isinstance(value, str) for value in domain.values):
        # Categories and objects of any type are counted as texts.
        values = np.array([str(value) for value in values.tolist()], dtype=object)
    return values


def protected(frame: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> "nw.DataFrame[Any]":
    """The rows that may be published, or an error."""
    kept: Any = None
    frame = as_counted(frame, plan.calibration)
    several = len(columns.secret) > 1
    lacks = [_holes(frame[name]).to_list() for name in columns.secret] if several else []
    whole = [not any(here) for here in zip(*lacks, strict=True)]
    for name in columns.secret:
        if several and not has_pairs(plan.calibration, name):
            continue
        secrets = as_called(frame[name], name, of=columns.secret)
        if several:  # a row that lacks any of its secrets was counted for none
            secrets = [one if has_all else None for one, has_all in zip(secrets, whole, strict=True)]
        here = protected_rows(secrets, plan.calibration, columns.others)
        if here is None:
            continue
        if several:
            refuse_fewer(secrets, here, plan.calibration)
        kept = here if kept is None else kept & here
    return frame if kept is None else frame.filter(kept.tolist())


def publish(values: Any, plan: Plan, kept: Any, called: list[list[Any]]) -> Any:
    """Check, then charge, then draw: in this order, so that nothing leaves unpaid and nothing is paid in vain.

    `called` are the secrets of all rows, for each column of secrets, and `kept` says which rows the values are.
    """
    ready = plan.drawing.check(values)
    if called and (drift := plan.drift_watch()) is not None:
        for secrets in called:
            stay = secrets if kept is None else [one for one, stays in zip(secrets, kept, strict=True) if stays]
            drift.look(stay, ready)
        refuse_drift(drift.told())
    return plan.drawing.gathered(plan.drawn(charged(ready, plan)), like=values)


def charged(ready: Array, plan: Plan) -> Array:
    """The same numbers, of which no rows are seen, once they are in the ledger."""
    if plan.ledger is not None and ready.size:
        plan.charge(plan.ledger.recognise_values(ready), len(ready) if ready.ndim else 1)
    return ready


def values_of(column: "nw.Series[Any]") -> Any:
    """A column of numbers or labels as an array; missing values are an error."""
    _refuse_missing(column, _holes(column))
    if column.dtype.is_numeric():
        return _array(column)
    return np.array([plain(value) for value in column.to_list()], dtype=object)


def numbers(column: "nw.Series[Any]") -> Array:
    """A column as float64; missing values are an error, since a hole in a release tells who is missing."""
    if not column.dtype.is_numeric():
        raise InputError(f"column {column.name!r} holds {kind_of(column.dtype)}, and numbers are needed: convert it")
    _refuse_missing(column, column.is_null())
    return np.asarray(_array(column), dtype=np.float64)


def _holes(column: "nw.Series[Any]") -> "nw.Series[Any]":
    holes = column.is_null()
    if column.dtype.is_float():
        holes = holes | column.is_nan().fill_null(True)  # in pandas both say the same
    return holes


def _refuse_missing(column: "nw.Series[Any]", holes: "nw.Series[Any]") -> None:
    if missing := int(holes.sum()):
        raise InputError(
            f"column {column.name!r} has {missing} missing values: fill those rows, or drop them with missing='drop'"
        )


def _array(column: "nw.Series[Any]") -> Any:
    """A column of numbers as an array; not every library can make one of whole numbers of 128 bits."""
    found, why = attempt(column.to_numpy)
    if found is None:
        raise InputError(f"column {column.name!r} cannot be read: {why}. Convert it to float64")
    return found
