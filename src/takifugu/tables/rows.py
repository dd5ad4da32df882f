"""The rows of a table that can be published: those with every value they need."""

import os
from collections.abc import Sequence
from typing import Any

from takifugu.errors import InputError
from takifugu.tables.arrow import in_usual_types
from takifugu.tables.binned import with_cuts
from takifugu.tables.missing import refusal
from takifugu.tables.reading import Reading
from takifugu.tables.stream import stream
from takifugu.tables.table import Table


def complete_rows(source: Any, *, needed: Sequence[str], columns: Sequence[str], reading: Reading | None = None) -> Any:
    """The rows that lack nothing they need, in their own library; a file becomes a PyArrow table.

    What is left out was counted when the priors were fitted; with `missing="refuse"` nothing is.
    """
    wanted = list(dict.fromkeys(columns))
    if isinstance(source, str | os.PathLike | Table):
        import pyarrow as pa

        parts = [batch.to_native() for batch in stream(source, wanted, reading=reading, needed=needed)]
        if not parts:
            raise InputError("the file has no rows: there is nothing to publish")
        return pa.concat_tables(parts)
    import narwhals as nw

    frame = nw.from_native(in_usual_types(source))
    if not isinstance(frame, nw.DataFrame):
        return source  # a lazy table says itself what to do
    # A sentinel is missing before it is cut: afterwards it would stand in a bin like any number.
    frame = with_cuts(frame if reading is None else as_read(frame, reading), wanted)
    whole = None
    for name in needed:
        column = frame[name]
        here = ~column.is_null()
        if column.dtype.is_float():
            here = here & ~column.is_nan()
        whole = here if whole is None else whole & here
    if whole is None or bool(whole.all()):
        return frame.to_native()
    if reading is not None and reading.missing == "refuse":
        raise InputError(refusal(int((~whole).sum()), tuple(needed)))
    return frame.filter(whole.to_list()).to_native()


def as_read(frame: Any, reading: Reading) -> Any:
    """A narwhals table with missing values in place of the sentinels and texts that stand for them in a reading."""
    import narwhals as nw

    sentinels = reading.about(frame.collect_schema()).sentinels
    if not sentinels and reading.na is None:
        return frame
    found = Table(frame.to_native(), Reading(na=reading.na, sentinels=sentinels)).frame
    return found.collect() if isinstance(frame, nw.DataFrame) else found
