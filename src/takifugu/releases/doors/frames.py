"""Columns and tables of any dataframe library, through narwhals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.releases.plan import Plan
from takifugu.releases.secret_rows import protected_rows

if TYPE_CHECKING:
    import narwhals as nw

INSECURE = " (insecure seed)"  # added to the name of a column that came from a seed


@dataclass(frozen=True)
class Columns:
    """Which column of a table is published, which holds the secrets, and which go along as they are."""

    column: str
    secret: str | None
    keep: tuple[str, ...]
    others: str

    @classmethod
    def of(cls, available: Sequence[str], *, column: Any, secret: Any, keep: Sequence[str], others: str) -> "Columns":
        """Check the names against those of the table."""
        if column is None:
            raise InputError(f"column is missing: name the column to publish, one of {', '.join(available)}")
        if secret is None and others != "release":
            raise InputError(
                "secret is missing: name the column of secrets, so that rows of secrets outside the calibrated pairs "
                "are noticed; or give others='release' to publish every row unchecked"
            )
        if isinstance(keep, str):
            raise InputError(f"keep must be a list of columns, got the text {keep!r}")
        for name in (column, *([] if secret is None else [secret]), *keep):
            if name not in available:
                raise InputError(f"the table has no column {name!r}; its columns are {', '.join(available)}")
        if secret is not None and secret in (column, *keep):
            raise InputError(f"{secret!r} is the secret: it cannot be published with what is meant to hide it")
        return cls(column, secret, tuple(keep), others)

    @property
    def read(self) -> list[str]:
        """The columns that are needed."""
        return self.published if self.secret is None else [self.secret, *self.published]

    @property
    def published(self) -> list[str]:
        """The columns that leave."""
        return list(dict.fromkeys([self.column, *self.keep]))


def as_frame(values: Any) -> "nw.DataFrame[Any] | nw.LazyFrame[Any] | nw.Series[Any] | None":
    """What narwhals makes of it; None for anything that is no column and no table."""
    import narwhals as nw

    wrapped = nw.from_native(values, allow_series=True, pass_through=True)
    return wrapped if isinstance(wrapped, nw.DataFrame | nw.LazyFrame | nw.Series) else None


def release_series(column: "nw.Series[Any]", plan: Plan, kept: Any) -> Any:
    """The column with noise, of the same library and name."""
    import narwhals as nw

    rows = column if kept is None else column.filter(kept.tolist())
    noisy = publish(numbers(rows), plan)
    made = nw.new_series(named(rows.name, plan), noisy, nw.Float64, backend=rows.implementation).to_native()
    if rows.implementation.is_pandas_like():
        made.index = rows.to_native().index  # row labels are part of the table, not of the answer
    return made


def release_frame(frame: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> Any:
    """The table with its column published, and of the others only those to be kept."""
    rows = protected(frame, plan, columns)
    return assembled(rows, publish(numbers(rows[columns.column]), plan), plan, columns)


def protected(frame: "nw.DataFrame[Any]", plan: Plan, columns: Columns) -> "nw.DataFrame[Any]":
    """The rows that may be published, or an error."""
    if columns.secret is None:
        return frame
    _refuse_telling_index(frame, columns.secret)
    kept = protected_rows(frame[columns.secret].to_list(), plan.calibration, columns.others)
    return frame if kept is None else frame.filter(kept.tolist())


def _refuse_telling_index(frame: "nw.DataFrame[Any]", secret: str) -> None:
    """A pandas table hands over its index too, which must not be the column of secrets again."""
    if not frame.implementation.is_pandas_like() or not len(frame):
        return
    index = frame.to_native().index
    if secret in index.names or list(index) == frame[secret].to_list():
        raise InputError(
            f"the index of the table holds the secret {secret!r} and would be published: reset_index(drop=True)"
        )


def assembled(frame: "nw.DataFrame[Any]", noisy: Array, plan: Plan, columns: Columns) -> Any:
    """The table that leaves, in its own library: the noisy column in its place, and the kept ones."""
    import narwhals as nw

    made = nw.new_series(columns.column, noisy, nw.Float64, backend=frame.implementation)
    chosen = [name for name in frame.columns if name == columns.column or name in columns.keep]
    published = frame.with_columns(made).select(chosen)
    return published.rename({columns.column: named(columns.column, plan)}).to_native()


def publish(values: Any, plan: Plan) -> Array:
    """Check, then charge, then draw: in this order, so that nothing leaves unpaid and nothing is paid in vain."""
    ready = plan.checked(values)
    if plan.ledger is not None:
        digest = plan.ledger.answer_digest()
        digest.update(ready)
        plan.charge(digest.hexdigest(), ready.size)
    return plan.noised(ready)


def numbers(column: "nw.Series[Any]") -> Array:
    """A column as float64; missing values are an error, since a hole in a release tells who is missing."""
    if not column.dtype.is_numeric():
        raise InputError(f"column {column.name!r} holds {column.dtype}, and numbers are needed: convert it")
    missing = int(column.is_null().sum())
    if missing:
        raise InputError(
            f"column {column.name!r} has {missing} missing values: drop or fill those rows before publishing"
        )
    return np.asarray(column.to_numpy(), dtype=np.float64)


def named(name: str, plan: Plan) -> str:
    """The name of the published column: a seed is written into it."""
    return f"{name}{INSECURE}" if plan.insecure else name
