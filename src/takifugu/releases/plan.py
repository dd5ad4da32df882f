"""Everything about a release but its values: decided, checked, and then applied to the batches, shuffled."""

import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, one_of
from takifugu.calibration import Calibration
from takifugu.channels import BitSource, InsecureSeededBits, OsBits, read_exactly
from takifugu.errors import CalibrationError, InputError
from takifugu.problems import Adversary, Utility, frames_within, has_code, refuse_beyond, warn_ahead, with_short_forms
from takifugu.releases.binding import Columns
from takifugu.releases.drawing import Drawing, drawing_of
from takifugu.releases.drift import Drift
from takifugu.releases.ledger import Ledger
from takifugu.releases.records import Recognition


class InsecureReleaseWarning(UserWarning):
    """A release was made from a seed. It hides nothing from whoever knows the seed."""


class NoNoiseWarning(UserWarning):
    """Values leave as they are, or nearly so, because the priors said that nothing had to be hidden."""


@dataclass(frozen=True)
class Plan:
    """The way through the channel, the source of bits, and the ledger that is charged."""

    calibration: Calibration
    drawing: Drawing
    source: BitSource
    insecure: bool
    ledger: Ledger | None
    order: str
    drift: str = "refuse"
    elsewhere: Callable[[], None] | None = None  # refuses rows that another ledger has come to know

    @classmethod
    def of(
        cls,
        calibration: Calibration,
        *,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        order: str = "shuffle",
        insecure_seed: int | None = None,
        numbers: Mapping[str, object] | None = None,
        by: Adversary | None = None,
        to: Utility | None = None,
        elsewhere: Callable[[], None] | None = None,
    ) -> "Plan":
        """Check every option; nothing is drawn or charged. `numbers` are `theta`, `clip` and `round_to`."""
        one_of("order", order, ORDERS)
        by, to = _of_releases(by, to)
        require_kept(calibration, by.weaker == "allow")
        if order == KEEP and calibration.answer is not None and calibration.answer.private:
            raise InputError(
                "rows that are published with private counts are shuffled, since where one stands may tell: leave "
                "order out"
            )
        drawing = drawing_of(calibration, {**(numbers or {}), "granularity": to.granularity})
        if not to.allow_no_noise and (words := drawing.bare):
            warnings.warn(words, NoNoiseWarning, stacklevel=frames_within())
        source = bits_of(insecure_seed)
        if ledger is not None and not isinstance(ledger, Ledger):
            ledger = Ledger(ledger)
        if ledger is not None and ledger.budget is not None:
            # What it allows is worth no more than its own promise.
            require_kept(ledger.budget, by.weaker == "allow")
        return cls(calibration, drawing, source, insecure_seed is not None, ledger, order, by.drift, elsewhere)

    @property
    def theta(self) -> float | None:
        """The standard deviation of noise on numbers; None where there is none such."""
        return self.drawing.stated.get("theta")

    @property
    def is_private(self) -> bool:
        """Whether the channel was fitted to private counts, so that nothing else may follow from the rows."""
        return self.calibration.answer is not None and self.calibration.answer.private > 0

    def drift_watch(self) -> Drift | None:
        """Whatever sees that rows are not those of the priors; None where that was allowed, or cannot be said."""
        answer = self.calibration.answer
        if self.drift == "allow" or (answer is not None and (answer.private or not answer.secret)):
            return None  # whether a release is refused must not tell what private counts hide
        return Drift.of(self.calibration, self.drawing.whole)

    def reads(self, columns: Columns) -> tuple[str, ...]:
        """Everything that is read of a row, by which the row may be known again."""
        answer = self.calibration.answer
        return (*columns.read, *(() if answer is None else answer.known))

    def recognise(self, columns: Columns, available: Sequence[str]) -> Recognition | None:
        """What will know the rows of a table for the ledger; None where there is no ledger."""
        if self.ledger is None:
            return None
        found = self.ledger.recognise(self.reads(columns), available, columns.answer)
        found.kept = columns.keep
        return found

    def charge(self, rows: Recognition | None, count: int) -> None:
        """Write the release of these rows into the ledger, if there is one, or refuse.

        Of two processes that publish the same people through two ledgers at the same moment each has written its own
        when it looks for a second time, so that one at least sees the other's. Nothing is drawn before that.
        """
        look = self.elsewhere or (lambda: None)
        look()
        if self.ledger is not None and rows is not None:
            word = [] if has_code("stated-new", self.calibration.findings) else self.ledger.of_new_people(rows)
            self.ledger.charge(
                rows,
                self.calibration,
                through=self.drawing.whole,
                count=count,
                granularity=self.drawing.granularity or 0.0,
            )
            look()
            warn_ahead(word)

    def drawn(self, ready: Array) -> list[Any]:
        """What is published, column by column. Only what was checked and charged may go through here."""
        return self.drawing.draw(ready, self.source)


def _of_releases(adversary: Adversary | None, utility: Utility | None) -> tuple[Adversary, Utility]:
    """What a release heeds of the two; all else was settled when the calibration was made."""
    by, to = with_short_forms(adversary, Adversary), with_short_forms(utility, Utility)
    settled = "was settled when the calibration was made: leave it out here"
    refuse_beyond(by, ("drift", "weaker"), settled)
    refuse_beyond(to, ("granularity", "allow_no_noise"), settled)
    return by, to


def bits_of(insecure_seed: int | None) -> BitSource:
    """The system's random bits; or those of a seed, with a warning."""
    if insecure_seed is None:
        return OsBits()
    warnings.warn(
        "this release comes from a seed: whoever knows it can remove the noise. Do not publish it",
        InsecureReleaseWarning,
        stacklevel=frames_within(),
    )
    return InsecureSeededBits(insecure_seed)


def require_kept(calibration: object, is_weaker_allowed: bool) -> None:
    """Refuse a calibration that is not seen to keep its promise, or that promises too little."""
    if not isinstance(calibration, Calibration):
        raise InputError(
            f"a release needs a Calibration, got {type(calibration).__name__}: make one with takifugu.calibrate"
        )
    if not calibration.guarantee.is_provable and not is_weaker_allowed:
        raise CalibrationError(
            f"{calibration.mechanism!r} gives a weaker guarantee, {calibration.guarantee}: for a share of the cases it "
            f"says nothing. Nothing was released; calibrate with 'exact', or give Adversary(weaker='allow')"
        )
    if not calibration.meets_budget():
        raise CalibrationError(
            "the channel does not meet the budget that this calibration states: it, or its file, was changed. Nothing "
            "was released; calibrate again"
        )


# What a release hands back for an array: the values, with what may be said about them.


class Released(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of published values that states its noise and granularity.

    `theta` and `granularity` (None where nothing was rounded) may be published with the values. Of vectors `covariance`
    is that of the noise, and `theta` no number. `unchecked` says in sentences what could not be checked. `insecure` is
    True where a seed was used: such values are for tests. Slices keep the statement; what is computed from the values
    is a plain array.
    """

    theta: float
    granularity: float | None
    insecure: bool
    unchecked: tuple[str, ...]
    covariance: Array | None

    def __new__(
        cls,
        values: Array,
        *,
        theta: float = np.nan,
        granularity: float | None,
        insecure: bool,
        unchecked: tuple[str, ...] = (),
        covariance: Array | None = None,
    ) -> Self:
        """Wrap the values, without a copy."""
        self = np.asarray(values, dtype=np.float64).view(cls)
        self.theta, self.granularity, self.insecure, self.unchecked = theta, granularity, insecure, unchecked
        self.covariance = covariance
        return self

    def __array_finalize__(self, obj: object) -> None:
        """Carry the statement over to views."""
        self.theta = getattr(obj, "theta", np.nan)
        self.granularity = getattr(obj, "granularity", None)
        self.insecure = getattr(obj, "insecure", False)
        self.unchecked = getattr(obj, "unchecked", ())
        self.covariance = getattr(obj, "covariance", None)

    def __array_wrap__(self, array: object, context: object = None, return_scalar: bool = False) -> Any:
        """Results of arithmetic are not releases."""
        plain = np.asarray(array)
        return plain[()] if return_scalar or plain.ndim == 0 else plain  # NumPy 1 does not say which it wants

    def __reduce__(self) -> Any:
        """Pickle the statement with the values."""
        told = (self.theta, self.granularity, self.insecure, self.unchecked, self.covariance)
        return _rebuilt, (np.asarray(self), *told)

    def __repr__(self) -> str:
        """The values and the statement; a seed is not left unsaid."""
        seeded = ", insecure=True" if self.insecure else ""
        noise = f"theta={self.theta:.6g}, granularity={self.granularity}"
        if self.covariance is not None:
            noise = f"covariance={self.covariance.tolist()}"
        return f"Released({np.asarray(self)!r}, {noise}{seeded})"


def _rebuilt(
    values: Array,
    theta: float,
    granularity: float | None,
    insecure: bool,
    unchecked: tuple[str, ...],
    covariance: Array | None = None,
) -> Released:
    return Released(
        values,
        theta=theta,
        granularity=granularity,
        insecure=insecure,
        unchecked=unchecked,
        covariance=covariance,
    )


# Rows in an order that tells nothing: a uniform permutation, in memory or by way of the disk (proofs/shuffling.md).
#
# Where a row stands is published with it, and no test on the rows can show that an order tells nothing. So every table
# and every file is shuffled as it leaves. `order="keep"` is the publisher's own
# statement that the order is random.


_log = logging.getLogger("takifugu")

SHUFFLE, KEEP = "shuffle", "keep"
ORDERS = (SHUFFLE, KEEP)
HELD = "held"  # kept for whoever transforms records, and holds them beside what comes out
AT_ONCE = 1 << 23  # cells that are held in memory to be shuffled; of more there are several buckets on the disk
_MOST_BUCKETS = 256  # one byte a row chooses among them

Places = npt.NDArray[np.intp]


def shuffled(rows: int, source: BitSource) -> Places:
    """A uniform permutation: the order of random words of 64 bits, no two of which are the same."""
    while True:
        words = np.frombuffer(read_exactly(source, 8 * rows), dtype="<u8")
        order: Places = np.argsort(words)
        ordered = words[order]
        if not np.any(ordered[1:] == ordered[:-1]):  # of five million words two agree once in a million times
            return order


class Shuffle:
    """PyArrow tables of any number of rows, shuffled together: each row into a random bucket, each bucket in memory.

    Buckets are files that have no name, in `folder`: nobody else can open them, and they are gone when the process is.
    """

    def __init__(self, rows: int, columns: int, folder: Path, source: BitSource) -> None:
        """Choose how many buckets there are: as many as keep one of them small."""
        self.buckets = 1
        while self.buckets < _MOST_BUCKETS and rows * columns > self.buckets * AT_ONCE:
            self.buckets *= 2
        self._folder, self._source = folder, source
        self._waiting: list[object] = []
        self._files: list[Any] = []
        self._writers: list[Any] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Nothing is opened before the first row."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the buckets, and so delete them."""
        self._stack.close()

    def add(self, table: Any) -> None:
        """The next rows."""
        import pyarrow as pa

        if self.buckets == 1:
            self._waiting.append(table)
            return
        if not self._files:
            for _ in range(self.buckets):
                self._files.append(self._stack.enter_context(TemporaryFile(dir=self._folder)))  # noqa: SIM115
            self._writers = [pa.ipc.new_stream(file, table.schema) for file in self._files]
        # A power of two: the low bits of a random byte are as random.
        chosen = np.frombuffer(read_exactly(self._source, table.num_rows), dtype=np.uint8) & (self.buckets - 1)
        for bucket, writer in enumerate(self._writers):
            if len(mine := np.flatnonzero(chosen == bucket)):
                writer.write_table(table.take(pa.array(mine)))

    def tables(self) -> Iterator[Any]:
        """All rows in their new order, bucket by bucket."""
        import pyarrow as pa

        for file, writer in zip(self._files, self._writers, strict=True):
            writer.close()
            file.seek(0)
            yield self._mixed(pa.ipc.open_stream(file).read_all())
        if self._waiting:
            yield self._mixed(pa.concat_tables(self._waiting))

    def _mixed(self, table: Any) -> object:
        import pyarrow as pa

        return table.take(pa.array(shuffled(table.num_rows, self._source)))


@cache
def warn_of_order() -> None:
    """Say once in a process that values without rows of their own keep their places."""
    _log.warning(
        "values of an array or of one column are published in the order in which they were given, since whoever gives "
        "them holds the rows beside them: where that order goes with the secret or with the values, it tells the "
        "secret. Give a table, whose rows are shuffled, or shuffle first; where the order is random, say so with "
        "order='keep'. This is said once"
    )
