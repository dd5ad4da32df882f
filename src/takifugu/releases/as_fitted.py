"""Tables and values in memory mean by a sentinel what it meant when the priors were fitted: that a value is missing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems.answer import Answer
from takifugu.tables.binned import with_cuts
from takifugu.tables.reading import Reading
from takifugu.tables.rows import as_read
from takifugu.tables.table import Table


def as_fitted(frame: Any, answer: Answer, also: Sequence[str]) -> Any:
    """A narwhals table with missing values where the priors saw them, and the cuts among the columns of the answer."""
    if answer.spelling is not None:
        frame = as_read(frame, Reading().spelled_as(answer.spelling))
    return with_cuts(frame, (*answer.drawn, *answer.secret, *also))


def reading_as_fitted(reading: Reading, calibration: Calibration) -> Reading:
    """The reading with the meaning that cells had when the priors were fitted."""
    spelling = None if calibration.answer is None else calibration.answer.spelling
    return reading if spelling is None else reading.spelled_as(spelling)


def require_as_fitted(table: Table, calibration: Calibration) -> None:
    """Refuse a table that was opened with values where the priors saw missing ones: no law is about those rows."""
    fitted = reading_as_fitted(table.read_as, calibration)
    for name in ("na", "sentinels"):
        if (meant := getattr(fitted, name)) != getattr(table.read_as, name):
            raise InputError(
                f"the table of this calibration was read with {name}={meant!r}, and this one was opened without: the "
                f"same cells would mean something else. Nothing was released; open it with {name}, or give its path"
            )


def refuse_sentinels(values: Any, answer: Answer) -> None:
    """Refuse values among which some were left out as missing when the priors were fitted: no law is about those."""
    if answer.spelling is None or not answer.is_of_rows:
        return
    reading = Reading().spelled_as(answer.spelling)
    gone = {_spelled(one) for name in answer.drawn for one in reading.sentinels_of(name)}
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
