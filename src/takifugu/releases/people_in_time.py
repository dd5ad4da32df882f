"""Releases of series: one number at each of several times in a row, for each person of a table."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels import BitSource
from takifugu.dependence import SeriesCalibration, instants, require_regular, stretches
from takifugu.errors import InputError
from takifugu.releases.frames import INSECURE, as_frame, collected, numbers, without_traces

_LARGEST = 1e6  # a total over `within`: its rounding is below what the noise has to spare (SPARE of a series)


def release_people(
    table: object,
    calibration: SeriesCalibration,
    source: BitSource,
    *,
    value: str,
    time: str,
    by: str | None,
    insecure: bool,
) -> Any:
    """The table of person, time and published value, sorted by both; of means and totals one row a person.

    Every series has its times in a row, one step apart, the same step for all: a gap is no stretch of the series that
    the noise was made for, and two values of one time are two releases of it. Who is in the table, and when, is
    published as it is.
    """
    import narwhals as nw

    calibration.require_kept()
    frame = as_frame(table)
    if isinstance(frame, nw.LazyFrame):
        frame = collected(frame)
    if not isinstance(frame, nw.DataFrame):
        raise InputError("a release of series needs a table with the columns that value and time name")
    names = [name for name in (by, time, value) if name is not None]
    if missing := [name for name in names if name not in frame.columns]:
        raise InputError(f"the table has no column {', '.join(map(repr, missing))}")
    if len(set(names)) < len(names):
        raise InputError("value, time and by must name different columns")
    frame = frame.select(names)
    if not len(frame) or any(frame[name].is_null().any() for name in names):
        raise InputError("the table has no rows, or cells without a value: a series with a gap is not published")
    frame = frame.sort([name for name in names if name != value])
    values, times = numbers(frame[value]), instants(frame[time])
    ends = stretches(frame[by].to_list() if by is not None else [None] * len(frame))
    require_regular(times, ends)
    _require_lengths(np.diff(ends), calibration)
    drawn, rows = _drawn(values, ends, calibration, source)
    kept = frame.select([name for name in names if name != value])[rows]
    if calibration.series.answer != "values":
        kept = kept.drop(time)
    name = f"{value}{INSECURE}" if insecure else value
    column = nw.new_series(name, drawn.tolist(), nw.Float64, backend=frame.implementation)
    made = kept.with_columns(column) if kept.columns else column.to_frame()
    return without_traces(made.to_native())


def _require_lengths(lengths: npt.NDArray[np.generic], calibration: SeriesCalibration) -> None:
    longest = calibration.series.length
    if lengths.max() > longest:
        raise InputError(f"a series has {lengths.max()} times, and the noise was made for {longest} at most")
    if calibration.series.answer == "mean" and lengths.min() < longest:
        raise InputError(
            f"a series has {lengths.min()} times, and the mean was calibrated for {longest}: of fewer times each "
            f"counts for more"
        )


def _drawn(
    values: Array, ends: npt.NDArray[np.intp], calibration: SeriesCalibration, source: BitSource
) -> tuple[Array, list[int]]:
    """What is published, and the row of each."""
    starts, lengths = ends[:-1], np.diff(ends)
    if calibration.series.answer != "values":
        sums = np.array([math.fsum(values[a:b].tolist()) for a, b in pairwise(ends.tolist())])
        if not np.abs(sums).max() <= _LARGEST * calibration.series.within:
            raise InputError(
                "a total is so large beside `within` that its last digits would be lost: subtract a constant"
            )
        if calibration.series.answer == "mean":
            sums = sums / calibration.series.length
        return np.asarray(calibration.channel.publish(sums, source=source)), starts.tolist()
    drawn = np.empty(len(values))
    for n in sorted({int(one) for one in lengths}):
        places = starts[lengths == n][:, None] + np.arange(n)
        drawn[places] = calibration.channel.draw(values[places], source=source)
    return drawn, list(range(len(values)))
