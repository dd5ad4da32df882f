"""Before a table is counted: whether its records were published before, which are new, and whether people repeat."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takifugu._validation import one_of
from takifugu.errors import InputError, LedgerError
from takifugu.problems.findings import Finding
from takifugu.problems.inspection_findings import RowsOfOnePerson
from takifugu.releases.beside import Beside, ledger_beside, ledgers_beside
from takifugu.releases.doors.frames import as_frame
from takifugu.releases.ledger import Ledger
from takifugu.releases.recognition import Recognition, most_alike, require_id
from takifugu.tables.reading import Reading
from takifugu.tables.rows import as_read
from takifugu.tables.stream import stream
from takifugu.tables.table import Table, files_behind

REPEATS = ("refuse", "independent")


@dataclass(frozen=True)
class People:
    """How the people of a table are told apart, and which of them are to be published.

    Args:
        id: the column that tells people apart.
        only_new: whether rows that were published before are left out.
        new_people: the holder's word that nobody was published before, where that cannot be seen.
        repeats: what to do where people have several rows: "refuse", or take the holder's word that these are
            "independent" given the secret.
    """

    id: str | None = None
    only_new: bool = False
    new_people: bool = False
    repeats: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        one_of("repeats", self.repeats, REPEATS)
        if self.only_new and self.new_people:
            raise InputError(
                "only_new leaves out who was published before, and new_people says that nobody was: give one"
            )


def default_ledger(table: Table, file: Path, people: People, read: Sequence[str]) -> Path:
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
    people: People,
    *,
    read: Sequence[str],
    answer: Sequence[str],
    reading: Reading | None = None,
    files: Sequence[str | os.PathLike[str]] | None = None,
) -> tuple[Any, list[Finding]]:
    """The table, without the rows that were published before if these are to be left out; and what to say of people.

    Raises what `charge` would raise after hours of work: records that were published, people who repeat. `files` is
    where the table lies, or would, for other ledgers beside it.
    """
    names = _columns(table)
    if names is None:  # a lazy table, which its own door refuses or takes without a ledger
        if people != People():
            raise InputError("id, only_new and new_people are for files and for tables in memory: collect it first")
        return table, []
    beside = Beside(files_behind(table) if files is None else files, ledger, read=read, available=names)
    own = None if ledger is None else ledger.recognise(read, names, answer)
    if own is None and people.id is not None:
        own = Recognition(b"for this look alone", require_id(people.id, names))
    if people.repeats != "refuse" and (own is None or not own.own.is_id):
        raise InputError("repeats is about people with several rows: name the column that tells them apart with id")
    if people.only_new and ledger is None:
        raise InputError("only_new leaves out what a ledger knows: give ledger")
    looking = [*beside.recognitions, *([] if own is None else [own])]
    if not looking:
        return table, []
    _look(table, reading, looking)
    beside.refuse()
    if own is None:
        return table, []
    if ledger is not None and people.only_new:
        new = ledger.new_rows(own)
        table = _rows(table, reading, new)
        findings = _of_people(own, own.hashes(own.own)[new], people)
        return table, findings
    if ledger is not None:
        ledger.refuse_known(own)
    return table, _of_people(own, own.hashes(own.own), people)


def _of_people(seen: Recognition, hashes: Any, people: People) -> list[Finding]:
    if not seen.own.is_id:
        return []
    hashes.sort()
    most = most_alike(hashes)
    if most < 2:
        return []
    if people.repeats == "refuse":
        raise InputError(
            f"people have up to {most:,} rows each by {seen.own.words}, and the guarantee is about one row: what "
            f"the rows of a person tell together may be anything, even where each tells nothing. Nothing was "
            f"published; make one row of each person, with the columns of all their rows side by side, and publish "
            f"these together; or, where the rows of a person are independent of one another given the secret, say so "
            f"with repeats='independent'"
        )
    return [RowsOfOnePerson(seen.own.columns[0], most)]


def _columns(table: Any) -> list[str] | None:
    import narwhals as nw

    if isinstance(table, Table):
        return table.columns
    frame = as_frame(table)
    return frame.columns if isinstance(frame, nw.DataFrame) else None


def _batches(table: Any, reading: Reading | None, columns: Sequence[str]) -> Iterator[Any]:
    if isinstance(table, Table):
        yield from stream(table, columns)
    else:
        frame: Any = as_frame(table)
        yield frame if reading is None else as_read(frame, reading)


def _look(table: Any, reading: Reading | None, looking: Iterable[Recognition]) -> None:
    looking = list(looking)
    columns = list(dict.fromkeys(name for one in looking for name in one.columns))
    for rows in _batches(table, reading, columns):
        for one in looking:
            one.look(rows)
    if isinstance(table, Table):
        table.require_unchanged()


def _rows(table: Any, reading: Reading | None, kept: Any) -> Any:
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
