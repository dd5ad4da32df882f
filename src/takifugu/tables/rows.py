"""The rows of a table that can be published: those with every value they need."""

import os
from collections.abc import Sequence
from typing import Any

from takifugu.errors import InputError
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

    frame = with_cuts(nw.from_native(source), wanted)
    if not isinstance(frame, nw.DataFrame):
        return source  # a lazy table says itself what to do
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
