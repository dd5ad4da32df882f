"""Before a table is counted: whether its records were published before, which are new, and whether people repeat."""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError, LedgerError, Message, PublishedOnceError
from takifugu.problems import Diagnostic
from takifugu.releases import (
    KEEP,
    Arrangement,
    Beside,
    Ledger,
    Recognition,
    as_frame,
    batches,
    ledger_beside,
    ledgers_beside,
    require_id,
    require_one_row,
)
from takifugu.tables import Coded, Reading, Table, files_behind, how_many, stream

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def default_ledger(table: Table, file: Path, read: Sequence[str]) -> Path:
    """The ledger of a table for which none is named: the one beside it, or the one that knows its records."""
    beside = ledgers_beside([file])
    if len(beside) < 2:
        return beside[0] if beside else ledger_beside(file)
    looking = Beside([file], None, read=read, available=table.columns)
    _look(table, None, looking.recognitions)
    knowing = looking.knowing
    if len(knowing) == 1:
        return knowing[0].path
    raise LedgerError(
        f"several ledgers lie beside {file} ({', '.join(one.name for one in beside)}), and {len(knowing)} of them know "
        f"records of this table: nothing was published. Name the one to use with `ledger`"
    )


def to_publish(
    table: Any,
    ledger: Ledger | None,
    *,
    read: Sequence[str],
    answer: Sequence[str],
    id: str | None = None,
    repeats: str = "refuse",
    reading: Reading | None = None,
    files: Sequence[str | os.PathLike[str]] | None = None,
) -> tuple[Any, list[Diagnostic]]:
    """The table, without the rows that were published before if these are to be left out; and what to say of people.

    Raises what `charge` would raise after hours of work: records that were published, people who repeat. `files` is
    where the table lies, or would, for other ledgers beside it; those beside its own ledger are asked too.

    Args:
        table: a table of any library, or an open file.
        ledger: which records are asked for; None for none.
        read: all columns that are read of a row.
        answer: those that are published.
        id: the column that tells people apart.
        repeats: what to do with an id of several rows.
        reading: how a table in memory is to be read.
        files: where the table lies.

    Returns:
        The rows that may be published, and remarks on people with several of them.

    Raises:
        PublishedOnceError: where none is new.
        LedgerError: where records were published before.
        InputError: where an id repeats, or is to be published.
    """
    names = _columns(table)
    if names is None:  # a lazy table, which its own door refuses or takes without a ledger
        if id is not None or repeats != "refuse" or (ledger is not None and (ledger.only_new or ledger.new_people)):
            raise InputError("id, only_new and new_people are for files and for tables in memory: collect it first")
        return table, []
    if not set(read) & set(names):  # no row could be known by any of them: say which column is meant
        opened = table if isinstance(table, Table) else Table(table, reading)
        for name in read:
            opened.require(name)
    near = [*(files_behind(table) if files is None else files), *([] if ledger is None else [ledger.path])]
    beside = Beside(near, ledger, read=read, available=names)
    own = None if ledger is None else ledger.recognise(read, names, answer)
    if own is None and id is not None:
        own = Recognition(b"for this look alone", require_id(id, names))
    if repeats != "refuse" and (own is None or not own.own.is_id):
        raise InputError("repeats is about people with several rows: name the column that identifies them with id")
    if own is not None and own.own.is_id and own.own.columns[0] in read:
        raise InputError(
            f"{own.own.columns[0]!r} tells people apart, and is never published, kept, known or hidden beside "
            f"their rows: leave it out of the columns that are named"
        )
    looking = [*beside.recognitions, *([] if own is None else [own])]
    if not looking:
        return table, []
    _look(table, reading, looking)
    beside.refuse()
    if own is None:
        return table, []
    if ledger is not None and ledger.only_new:
        new = ledger.new_rows(own)
        table = _rows(table, reading, new)
        _require_complete(table, read, reading)
        findings = _of_people(own, own.hashes(own.own)[new], repeats)
        return table, findings
    if ledger is not None:
        ledger.refuse_known(own)
    word = [] if ledger is None else ledger.of_new_people(own)
    return table, [*word, *_of_people(own, own.hashes(own.own), repeats)]


def refuse_kept_order(table: object, *, order: str, columns: Sequence[str], reading: Reading | None) -> None:
    """Refuse an order that is to be kept and plainly goes with a column, as a release would after hours of work.

    Args:
        table: a table of any library, or an open file.
        order: what is to become of the order.
        columns: the secrets, and what is published.
        reading: how a table in memory is to be read.

    Raises:
        InputError: where the rows are not in random order.
    """
    if order != KEEP or not set(columns) <= set(_columns(table) or ()):
        return
    seen = Arrangement(columns)
    for rows in batches(table, reading, columns):
        seen.look({name: Coded.of(rows[name]) for name in seen.names})
    seen.refuse()


def _require_complete(table: object, needed: Sequence[str], reading: Reading | None) -> None:
    """Refuse rows none of which can be published: those that lack a value are new again every time."""
    import narwhals as nw

    opened = Table(table, reading)
    there = nw.all_horizontal(*(~opened.secret(name).is_null() for name in needed), ignore_nulls=True)
    found = opened.collect(opened.frame.select(nw.len().alias("rows"), how_many(there).alias("complete")))
    (rows,), (complete,) = found["rows"], found["complete"]
    if not int(complete or 0):
        raise PublishedOnceError(
            Message(
                "nothing new is there to publish: of the {rows:rows} that were not published before none has a value "
                "in every column that is named. Nothing was released",
                rows=int(rows),
            )
        )


def refuse_elsewhere(table: object, ledger: Ledger | None, read: Sequence[str], reading: Reading | None) -> None:
    """Refuse rows that another ledger beside the table or its own ledger has come to know by now."""
    names = _columns(table)
    near: list[str | os.PathLike[str]] = [*files_behind(table), *([] if ledger is None else [ledger.path])]
    if names is not None and near:
        beside = Beside(near, ledger, read=read, available=names)
        beside.refuse_among(partial(batches, table, reading))
        if isinstance(table, Table):
            table.require_unchanged()


def _of_people(seen: Recognition, hashes: "npt.NDArray[np.uint64]", repeats: str) -> list[Diagnostic]:
    if not seen.own.is_id:
        return []
    hashes.sort()
    most = require_one_row(seen.own, hashes, repeats)
    return [] if most < 2 else [Diagnostic("rows-of-one-person", column=seen.own.columns[0], most=most)]


def _columns(table: object) -> list[str] | None:
    import narwhals as nw

    if isinstance(table, Table):
        return table.columns
    frame = as_frame(table)
    return frame.columns if isinstance(frame, nw.DataFrame) else None


def _look(table: object, reading: Reading | None, looking: Iterable[Recognition]) -> None:
    looking = list(looking)
    columns = list(dict.fromkeys(name for one in looking for name in one.columns))
    for rows in batches(table, reading, columns):
        for one in looking:
            one.look(rows)
    if isinstance(table, Table):
        table.require_unchanged()


def _rows(table: object, reading: Reading | None, kept: "npt.NDArray[np.bool_]") -> object:
    """Some rows of a table, in memory."""
    if not isinstance(table, Table):
        frame: Any = as_frame(table)
        return frame.filter(kept.tolist()).to_native()
    import pyarrow as pa

    parts, done = [], 0
    for rows in stream(table):
        parts.append(rows.to_native().filter(pa.array(kept[done : done + len(rows)])))
        done += len(rows)
    table.require_unchanged()
    return table.holding(pa.concat_tables(parts))
