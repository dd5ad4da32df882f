"""Releasing files larger than memory: Parquet and CSV, batch by batch, to a temporary name and then renamed."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, one_of
from takifugu._work import heed, undisturbed
from takifugu.atomic import draft, synchronise
from takifugu.calibration import Calibration
from takifugu.errors import InputError
from takifugu.problems import (
    Adversary,
    Diagnostic,
    Utility,
)
from takifugu.releases.binding import NOT_CHECKED, OTHERS, Columns, bound_columns, reading_as_fitted, require_as_fitted
from takifugu.releases.frames import (
    POSITION,
    appear,
    check_format,
    decoded,
    leaving,
    named,
    positions_writer,
    protected,
    ready,
    require_name,
    writer,
)
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledger_file import require_place
from takifugu.releases.ledgers_nearby import refuse_known_elsewhere
from takifugu.releases.passed_through import Watch
from takifugu.releases.plan import SHUFFLE, Plan, Shuffle
from takifugu.releases.records import Recognition
from takifugu.releases.releasing import is_of_table, refuse_beside_a_mean, write_one_number
from takifugu.tables import PARQUET, Coded, Reading, Table, lacking, stream

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class FileRelease:
    """What was published, in numbers that may be published too."""

    path: Path
    rows: int
    theta: float | None
    granularity: float | None
    insecure: bool
    unchecked: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


def release_file(
    source: str | os.PathLike[str] | Table,
    target: str | os.PathLike[str],
    calibration: Calibration,
    *,
    column: str | Sequence[str] | None = None,
    secret: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    others: str = "error",
    of: object = None,
    order: str = "shuffle",
    positions: str | os.PathLike[str] | None = None,
    theta: npt.ArrayLike | None = None,
    clip: tuple[float, float] | None = None,
    round_to: float | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    insecure_seed: int | None = None,
    progress: Progress | None = None,
    adversary: Adversary | None = None,
    utility: Utility | None = None,
    reading: Reading | None = None,
) -> FileRelease:
    """Release what a calibration is for from one file into another, Parquet or CSV, in less than a gigabyte of memory.

    The rows are gone through twice: whatever is to be refused is refused, and the release is written into the ledger,
    before a value is drawn. `target` appears when it is complete; until then it is a draft beside it that only its
    owner can read. The rows are shuffled, however many there are: of more than fit in memory each goes into a random
    one of some files without a name in the folder of `target`, which are shuffled one by one.

    Args:
        source: a file that `fit_priors` takes, or a table that was opened.
        target: the file to write, which must not exist.
        calibration: from `takifugu.calibrate`.
        column: as for `takifugu.release`, and so is all that is not told here.
        secret: the column of secrets, which a calibration from `fit_priors` knows.
        keep: columns to publish unchanged.
        others: what to do with rows whose secret stands in none of the calibrated pairs.
        of: of the calibration of a mean, the value of the secret whose rows are averaged.
        order: "keep" is your own statement that the order of the rows is random.
        positions: where to write which row stands where: a private key, CSV or Parquet, for `takifugu.audit`. Whoever
            has it and the rows' secrets can undo the shuffle.
        theta: more noise than was calibrated.
        clip: the lowest and the highest value of the column's domain.
        round_to: the step of the column's domain.
        ledger: a `Ledger`, or the path of one.
        insecure_seed: for tests alone.
        progress: called with the number of rows done and of all rows, as far as that is known: a row that was looked at
            is a third of one that is done, and one that is drawn and waits to be written two thirds.
        adversary: `drift` and `weaker` of `Adversary`.
        utility: `allow_no_noise` and `granularity` of `Utility`.
        reading: what is known of the file, as for `fit_priors`; without it missing values are refused, but of a mean
            (`of`), which is taken over those that are there.

    Returns:
        A `FileRelease`: the path, how many rows were published, the noise and its grid, and what there is to say.

    Raises:
        InputError: a file that the calibration is not for, or an argument that contradicts another.
        CalibrationError: the calibration is not seen to keep its guarantee.
        BudgetError: less noise than was calibrated, or more than the ledger has left.
        CompositionError: another answer about these records was published before.
        LedgerError: the ledger cannot be used, or one beside the file knows these records.

    >>> import tempfile, takifugu as tk
    >>> made = tk.calibrate(tk.fit_priors("heart", secret="slope", query=tk.Row("sex")), odds=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tk.datasets.load("heart").to_csv(f"{folder}/heart.csv", index=False)
    ...     release_file(f"{folder}/heart.csv", f"{folder}/out.csv", made, utility=tk.Utility(allow_no_noise=True)).rows
    303
    """
    one_of("others", others, OTHERS)
    plan = Plan.of(
        calibration,
        ledger=ledger,
        order=order,
        insecure_seed=insecure_seed,
        numbers={"theta": theta, "clip": clip, "round_to": round_to},
        by=adversary,
        to=utility,
    )
    origin, goal = source if isinstance(source, Table) else Path(source), Path(target)
    check_format(goal)
    if plan.ledger is not None and plan.ledger.path.resolve() == goal.resolve():
        raise InputError(f"{goal} is the ledger, and cannot be what is published too: choose another name")
    if plan.ledger is not None:
        require_place(plan.ledger.path)
    if goal.exists():
        raise InputError(f"{goal} exists already: a release does not replace a file; choose another name")
    if positions is not None:
        require_name(positions, goal)
    if of is not None or is_of_table(calibration):
        refuse_beside_a_mean(column, secret, keep)
        if (answer := calibration.answer) is not None:
            table = Table(origin, None if isinstance(origin, Table) else reading)
            refuse_known_elsewhere(table, plan.ledger, [*answer.columns, *answer.secret])
        write_one_number(origin, reading, goal, plan, of)
        return FileRelease(goal, 1, plan.theta, plan.drawing.granularity, plan.insecure)
    # A hole in a release tells who is missing, so nobody's row is dropped unless that was asked for.
    given = Reading(missing="refuse") if reading is None else reading
    given = replace(given, missing="refuse") if plan.is_private else given
    # Decides once how the file is read, for both times that it is.
    reader = _Reader(origin, reading_as_fitted(given, calibration), plan)
    columns = bound_columns(calibration, reader.names, column=column, secret=secret, keep=keep, others=others)
    rows_known, read = plan.recognise(columns, reader.names), plan.reads(columns)
    plan = replace(plan, elsewhere=partial(refuse_known_elsewhere, reader.table, plan.ledger, read))
    with draft(goal) as unfinished, ExitStack() as undo:  # before the ledger is opened: there is a place to write to
        told = _Told(progress, reader.rows)
        paid, count = _first_reading(reader, plan, columns, rows_known, told)
        told.of = count
        plan.charge(rows_known, count)
        watch = Watch(columns, plan)
        with ExitStack() as files:
            write = files.enter_context(writer(unfinished, goal.suffix))
            if positions is not None:  # which are no key to what does not appear
                undo.callback(Path(positions).unlink, missing_ok=True)
            key = None if positions is None else files.enter_context(positions_writer(positions))
            shuffle = files.enter_context(Shuffle(count, len(columns.published), goal.parent, plan.source))
            drawn, done, left_out = _draw(reader, plan, columns, watch, shuffle, write, key, told)
        _refuse_changed(reader, watch, is_same=drawn == paid)
        synchronise(unfinished)
        with undisturbed(beginning=True):
            appear(unfinished, goal)
            undo.pop_all()
    synchronise(goal.parent)
    unchecked = NOT_CHECKED if calibration.answer is None else ()
    noise = plan.theta, plan.drawing.granularity
    findings = [*reader.findings(columns), *([Diagnostic("others-left-out", rows=left_out)] if left_out else [])]
    findings += [Diagnostic("order-kept")] if plan.order != SHUFFLE else []
    findings += [Diagnostic("others-published")] if others == "release" else []
    return FileRelease(goal, done, *noise, plan.insecure, unchecked, tuple(findings))


def _draw(
    reader: "_Reader",
    plan: Plan,
    columns: Columns,
    watch: Watch,
    shuffle: Shuffle,
    write: Callable[["pa.Table"], None],
    key: Callable[[npt.ArrayLike], None] | None,
    told: "_Told",
) -> tuple[bytes, int, int]:
    """Draw and write all rows; the digest of what was drawn for, how many there are, and how many were left out.

    Their positions go along as one more column, and into the key.
    """
    import pyarrow as pa

    drawn, done, left_out = _digest(), 0, 0
    cells: dict[str, npt.NDArray[np.generic]] = {}  # of a list's values the codes are shuffled

    def publish(made: "pa.Table") -> None:
        made = decoded(made, cells)
        if key is not None:
            key(made.column(made.num_columns - 1))
            made = made.remove_column(made.num_columns - 1)
        write(made)
        told.add(made.num_rows)

    for rows, values, others_here in _values(reader, plan, columns):
        left_out += others_here
        # Once more: nobody fingerprints the kept columns, and a file can change.
        watch.look(rows, values)
        found = plan.drawn(values)
        cells |= {
            named(name, plan): one.cells
            for name, one in zip(columns.answer, found, strict=True)
            if isinstance(one, Coded)
        }
        codes = [one.codes.astype(np.int32) if isinstance(one, Coded) else one for one in found]
        made: pa.Table = leaving(rows, codes, plan, columns)
        if key is not None:
            made = made.append_column(POSITION, pa.array(np.arange(done, done + len(values))))
        (publish if plan.order != SHUFFLE else shuffle.add)(made)
        drawn.update(np.ascontiguousarray(values).tobytes())
        done += len(values)
        told.add(len(values))
    for made in shuffle.tables():
        publish(made)
    return drawn.digest(), done, left_out


def _values(reader: "_Reader", plan: Plan, columns: Columns) -> Iterator[tuple[Any, Array, int]]:
    """The rows that may be published, batch by batch, with their checked values; and how many others there were."""
    for batch in reader.batches(columns):
        rows = protected(batch, plan.calibration, columns.secret, columns.others)
        yield rows, ready(rows, plan, columns), len(batch) - len(rows)


def _digest() -> "hashlib.blake2b":
    """Of the values in their order: whether a file is the same the second time."""
    return hashlib.blake2b()


def _refuse_changed(reader: "_Reader", watch: Watch, *, is_same: bool) -> None:
    """Refuse a file that was another one the second time; of its kept columns nobody has a fingerprint."""
    changed = f"{reader.table.name} changed while it was read: nothing was published, and a charge stands"
    if not is_same:
        raise InputError(changed)
    watch.refuse()
    if reader.table.is_changed:
        raise InputError(changed)


def _first_reading(
    reader: "_Reader", plan: Plan, columns: Columns, rows_known: Recognition | None, told: "_Told"
) -> tuple[bytes, int]:
    """Refuse what is to be refused, and have the rows known; a digest of all values, and how many there are."""
    digest, count, watch = _digest(), 0, Watch(columns, plan)
    needed = columns if rows_known is None else replace(columns, known_by=rows_known.columns)
    for rows, values, _ in _values(reader, plan, needed):
        watch.look(rows, values)
        if rows_known is not None:
            rows_known.look(rows)
        digest.update(np.ascontiguousarray(values).tobytes())
        count += len(values)
        told.add(len(values))
    watch.refuse()
    reader.table.require_unchanged()
    if count == 0:
        raise InputError("the file has no rows: there is nothing to publish")
    return digest.digest(), count


@dataclass
class _Told:
    """Tells how many rows are done, each of which is looked at, drawn and written."""

    to: Progress | None
    of: int | None
    thirds: int = 0

    def add(self, rows: int) -> None:
        """So many are a step further."""
        heed()
        self.thirds += rows
        if self.to is not None:
            self.to(self.thirds // 3, self.of)


class _Reader:
    """The names of the columns, the number of rows where it is told beforehand, and the rows in batches."""

    def __init__(self, source: Path | Table, reading: Reading, plan: Plan) -> None:
        self.table = Table(source, None if isinstance(source, Table) else reading)
        self._is_private = plan.is_private
        require_as_fitted(self.table, plan.calibration)
        if (answer := plan.calibration.answer) is not None:
            self.table.cut((*answer.columns, *answer.secret))
        self.names = self.table.columns
        is_parquet = any(str(one).lower().endswith(PARQUET) for one in self.table.files)
        self.rows = self.table.row_count() if is_parquet or not self.table.files else self.table.rows_read

    def batches(self, columns: Columns) -> Iterator[Any]:
        """Tables of the columns that are needed, some ten thousand rows at a time."""
        return stream(self.table, columns.read, needed=self._needed(columns))

    def findings(self, columns: Columns) -> tuple[Diagnostic, ...]:
        """How the file was read, and the rows that were left out for want of a value."""
        needed = self._needed(columns)
        dropped = lacking(self.table, needed) if needed else None
        return (*self.table.findings, *([] if dropped is None else [dropped]))

    def _needed(self, columns: Columns) -> list[str]:
        # Where missing values are refused, `ready` and `protected` do that as they come, without another pass.
        needed = [*columns.answer, *columns.secret]
        return needed if self.table.reading.missing == "drop" and not self._is_private else []
