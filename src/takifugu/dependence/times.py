"""Tables of people in time: one row for each person and time, the times one step apart without gaps."""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.errors import InputError

_SAME_STEP = 1e-9  # of a step, where times are floats


def instants(column: Any) -> npt.NDArray[Any]:
    """The times of a column of narwhals as numbers."""
    found = np.asarray(column.to_list()) if not column.dtype.is_numeric() else np.asarray(column.to_numpy())
    if found.dtype.kind == "O" and len(found) and hasattr(found[0], "isoformat"):
        found = np.array([_of_utc(one).isoformat() for one in found], dtype="datetime64[us]")
    if found.dtype.kind == "M":
        found = found.astype("datetime64[us]").astype(np.int64)
    if found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise InputError("times must be numbers or dates, one step apart")
    return found.astype(np.int64) if found.dtype.kind == "u" else found


def stretches(people: Sequence[object]) -> npt.NDArray[np.intp]:
    """Where each person's rows begin, and the end of the last one's."""
    starts = [k for k, one in enumerate(people) if k == 0 or one != people[k - 1]]
    return np.array([*starts, len(people)], dtype=np.intp)


def require_regular(times: npt.NDArray[np.generic], ends: npt.NDArray[np.intp]) -> None:
    """Refuse gaps, times that stand twice, and steps that differ."""
    steps = np.diff(times)
    inside = np.ones(len(steps), dtype=bool)
    inside[ends[1:-1] - 1] = False
    steps = steps[inside]
    if not len(steps):
        return
    if not (steps > 0).all():
        raise InputError("a time stands twice for one person: there must be one row for each person and time")
    step = steps.min()
    if not (np.abs(steps - step) <= _SAME_STEP * step).all():
        raise InputError(
            "the times of a person must be one step apart, the same step for everybody, without gaps: take a coarser "
            "step of time at which everybody has a value, and number what is of no one length, such as months"
        )


def _of_utc(one: Any) -> Any:
    """A date, or a time without its zone: days that clocks make longer or shorter are not of one length."""
    if getattr(one, "tzinfo", None) is None:
        return one
    return one.astimezone(datetime.UTC).replace(tzinfo=None)
