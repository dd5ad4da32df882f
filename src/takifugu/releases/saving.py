"""Published tables as files, whichever library holds them: written by one writer, CSV or Parquet."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.atomic import draft, open_to_readers
from takifugu.errors import InputError
from takifugu.releases.frames import as_frame, for_spreadsheets

POSITION = "position"  # the column of a file of positions
_GROUP = 1 << 16  # rows of a group in a Parquet file


def save_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV or Parquet, all of it or nothing; a file that is there is not written over."""
    import narwhals as nw

    goal, frame = Path(path), as_frame(table)
    check_format(goal)
    if not isinstance(frame, nw.DataFrame):
        raise InputError("this table lives in an engine of its own, or is none: write it with that engine")
    if goal.exists():
        raise InputError(f"{os.fspath(path)!r} exists already: what was published is not written over")
    made = frame.to_arrow()
    with draft(goal) as unfinished:
        with writer(unfinished, goal.suffix) as write:
            write(made)
        appear(unfinished, goal)


def require_name(path: str | os.PathLike[str], target: Path | None = None) -> None:
    """Refuse a name for the positions of rows that cannot be written to, before anything is drawn."""
    goal = Path(path)
    check_format(goal)
    if target is not None and goal.resolve() == target.resolve():
        raise InputError(f"{os.fspath(path)!r} is to be published: the positions of its rows need a file of their own")
    if goal.exists():
        raise InputError(f"{os.fspath(path)!r} exists already: a key to what was published is not written over")
    with draft(goal):
        pass


def save_positions(places: npt.NDArray[np.intp] | None, path: str | os.PathLike[str]) -> None:
    """Write which row stands where, for the owner's eyes: row k of what was published was row `position` of the source.

    Rows of the source that were not published are not counted.
    """
    if places is None:
        raise InputError("which row stands where is known of tables in memory and of files alone: this is neither")
    require_name(path)
    with positions_writer(path) as write:
        write(places)


@contextmanager
def positions_writer(path: str | os.PathLike[str]) -> Iterator[Callable[[Any], None]]:
    """A function that appends positions to a file that only its owner can read; it appears when all are written."""
    import pyarrow as pa

    goal = Path(path)
    with draft(goal) as unfinished:
        with writer(unfinished, goal.suffix) as write:
            yield lambda places: write(pa.table({POSITION: places}))
        os.rename(unfinished, goal)


@contextmanager
def writer(path: Path, suffix: str) -> Iterator[Callable[[Any], None]]:
    """A function that appends tables to the file; the format follows the suffix.

    In a CSV file no text is one that a spreadsheet would run. A Parquet file is made of groups of rows, all of one size
    but for the last: groups that followed the batches of the source would tell how many rows of each were left out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv

    kind = csv.CSVWriter if suffix == ".csv" else pq.ParquetWriter
    writer: Any = None
    waiting: list[Any] = []

    def write(table: Any) -> None:
        nonlocal writer
        table = for_spreadsheets(table) if suffix == ".csv" else table
        if writer is None:
            writer = kind(str(path), table.schema)
        waiting.append(table)
        if sum(one.num_rows for one in waiting) >= _GROUP:
            rows = pa.concat_tables(waiting).combine_chunks()  # or pages would follow the batches
            whole = rows.num_rows - rows.num_rows % _GROUP
            for start in range(0, whole, _GROUP):
                writer.write_table(rows.slice(start, _GROUP))
            waiting[:] = [rows.slice(whole)]

    try:
        yield write
        if writer is None:
            raise InputError("the file has no rows: there is nothing to publish")
        if rest := [one for one in waiting if one.num_rows]:
            writer.write_table(pa.concat_tables(rest).combine_chunks())
    finally:
        if writer is not None:
            writer.close()


def check_format(path: Path) -> None:
    """Refuse a name that says neither CSV nor Parquet."""
    if path.suffix not in (".parquet", ".pq", ".csv"):
        raise InputError(f"{path.name} is neither Parquet nor CSV: its name must end in .parquet, .pq or .csv")


def appear(finished: Path, goal: Path) -> None:
    """Give the finished draft its name, unless somebody took that name in the meantime."""
    open_to_readers(finished)
    try:
        os.link(finished, goal)
    except FileExistsError:
        raise InputError(f"{goal} appeared in the meantime: a release does not replace a file") from None
    except OSError:  # a file system without links
        os.rename(finished, goal)
