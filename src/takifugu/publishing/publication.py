"""The main job in one call: a table in, a table out that keeps a secret, with its proof, report and ledger."""

import datetime
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu._display import Drawing
from takifugu._work import step
from takifugu.calibration import Calibration
from takifugu.certificates import Certificate, ChannelCertificate, Statement, certify
from takifugu.errors import InputError
from takifugu.estimates import Comparison, Estimates, compared_tables, described
from takifugu.problems import Adversary, Diagnostic, Pair, Utility, warn, warn_ahead
from takifugu.publishing.best_channel import CONFIDENCE, Asked, calibrated, require_merged
from takifugu.publishing.recognised import refuse_elsewhere, refuse_kept_order, to_publish
from takifugu.queries import PrivateCounts
from takifugu.releases import (
    INSECURE,
    Ledger,
    Plan,
    as_frame,
    bits_of,
    collected,
    protected,
    refuse_lazy,
    released,
    require_place,
)
from takifugu.reports import Publication, told
from takifugu.tables import Reading, Table, complete_rows

if TYPE_CHECKING:
    from takifugu.audits import Audit


# What `publish` returns: the table for the public, and everything that goes with it.


@dataclass(frozen=True, repr=False)
class Published:
    """What was published, and all that goes with it. Only `table`, `statement` and `counts` are for the public.

    >>> import takifugu as tk
    >>> pupils = tk.datasets.load("student-por")
    >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3)
    >>> list(made.table.columns), made.calibration.guarantee.most_odds.__round__(6)
    (['G3'], 3.0)
    """

    table: Any = field(repr=False)
    calibration: Calibration = field(repr=False)
    certificate: Certificate | ChannelCertificate = field(repr=False)
    findings: tuple[Diagnostic, ...] = field(repr=False)
    date: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date(), compare=False)
    counts: PrivateCounts | None = field(default=None, repr=False)
    _positions: npt.NDArray[np.intp] | None = field(default=None, repr=False, compare=False)
    _true: Any = field(default=None, repr=False, compare=False)  # the rows that left, as they were

    def __getstate__(self) -> dict[str, object]:
        """Everything but the positions and the true rows: no file holds them that was not asked for."""
        return {**self.__dict__, "_positions": None, "_true": None}

    @property
    def summary(self) -> Publication:
        """What was hidden from whom, what changed, and what an adversary can still guess, in figures."""
        return told(self.calibration)

    @property
    def statement(self) -> Statement:
        """What may be told to anybody, in plain words and as a file that `takifugu.verify` reads; save it."""
        import narwhals as nw

        rows = nw.from_native(self.table).lazy()
        if any(name.endswith(INSECURE) for name in rows.collect_schema().names()):
            raise InputError(
                "this table was drawn from a seed, which is for tests, and there is nothing to state of it"
            )
        count = rows.select(rows=nw.len()).collect()["rows"]
        return Statement.of(self.certificate, rows=int(count[0]), date=self.date)

    @property
    def estimate(self) -> Estimates:
        """What the published table still says: `mean`, `histogram`, `regression` and `bounds`, with standard errors.

        It needs the probabilities of the channel, which are mostly private: `takifugu.estimate` is what analysts can do
        with the public file, and figures that they cannot make can be handed out.
        """
        return Estimates(self.table, described(self.calibration), None, None)

    def compare(self) -> Comparison:
        """What survives in the published table: averages, shares, relations and slopes, before, after and corrected.

        Print it, `.plot()` it, or ask `.changed` for the figures of which sign or size is another. It describes the
        true rows: keep it private.

        Raises:
            InputError: the true rows are no longer there, as after unpickling, or were never in memory.

        >>> import takifugu as tk
        >>> pupils = tk.datasets.load("student-por")
        >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3", "failures"], odds=3)
        >>> found = made.compare().figures[0]
        >>> found.kind, found.name, round(found.before, 3)
        ('mean', 'failures', 0.222)
        """
        if self._true is None:
            raise InputError(
                "the true rows are not at hand: compare is for what `publish` returned of a table in memory or a file, "
                "before it was stored; of a table of Spark's, collect it first"
            )
        return compared_tables({name: self._true[name].to_list() for name in self._true.columns}, self.estimate)

    def __repr__(self) -> str:
        """What was published, in a line; print it for the page."""
        answer = self.calibration.answer
        columns = "" if answer is None else f" of {', '.join(answer.columns)}"
        return f"Published({len(self.table):,} rows{columns}, {self.calibration.guarantee})"

    def __str__(self) -> str:
        """One page of plain words."""
        return "\n".join(self.summary.sentences)

    def _repr_html_(self) -> str:
        """The same for a notebook, with the channel."""
        from takifugu.reports import publication

        return publication(self.summary.sentences, self.calibration)

    def plot(self) -> Drawing:
        """What became of each value: see `Calibration.plot`."""
        return self.calibration.plot()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table, which is for the public, as CSV or Parquet; a file that is there is not written over.

        Args:
            path: ending in .csv or .parquet.

        Raises:
            InputError: where the file is there already.
        """
        from takifugu.releases import save_table

        save_table(self.table, path)

    def save_positions(self, path: str | os.PathLike[str]) -> None:
        """Write which row of the source stands where in the table, as CSV or Parquet: a key for an auditor.

        Rows were shuffled so that their places tell nothing; whoever has this file and the rows can undo that. Rows of
        the source that were not published are not counted.

        Args:
            path: ending in .csv or .parquet; only its owner can read the file.

        Raises:
            InputError: where the positions are no longer known, as after unpickling.
        """
        from takifugu.releases import save_positions

        save_positions(self._positions, path)

    def audit(self, truth: object, **options: Any) -> "Audit":
        """Attack the table as an adversary would, beside the truth that it was made from.

        `takifugu.audit` of the published table and its calibration, with the positions of the rows, which nothing but
        this object knows until `save_positions`.

        Args:
            truth: the table that was published, with its secrets.
            **options: as for `takifugu.audit`: `secret`, `seed`, `level`, `reading` and `progress`.

        Returns:
            All attacks, with bounds on what each shows.

        Raises:
            InputError: where `truth` is not the table that was published.

        >>> import takifugu as tk
        >>> pupils = tk.datasets.load("student-por")
        >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3)
        >>> made.audit(pupils, level=1e-6).contradicted
        False
        """
        from takifugu.audits import audit

        return audit(self.table, truth, self.calibration, positions=self._positions, **options)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file. It describes the priors: keep it private.

        Args:
            path: the name of the file; only its owner can read it.
        """
        from takifugu.reports import report

        report(self.calibration, path, certificate=self.certificate)


# From a table to what is published.


def publish(
    table: object,
    *,
    secret: str | Sequence[str],
    columns: Sequence[str],
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    confidence: float | None = CONFIDENCE,
    pairs: Iterable[Pair] | None = None,
    keep: Sequence[str] = (),
    domain: Mapping[str, Sequence[object]] | Sequence[object] | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    id: str | None = None,
    order: str = "shuffle",
    private_fit: float | PrivateCounts | None = None,
    insecure_seed: int | None = None,
    adversary: Adversary | None = None,
    utility: Utility | None = None,
    reading: Reading | None = None,
) -> Published:
    """Publish columns of a table so that nothing published moves the odds of anyone's secret by more than a factor.

    Counts what goes with each secret, finds the channel that changes the values least among all that keep the
    guarantee, proves it, and draws. Nothing leaves unless all of it succeeds.

    Args:
        table: a path, or a table of any dataframe library, as for `fit_priors`.
        secret: the column to hide, or several.
        columns: the columns to publish, together in one row.
        odds: the factor, 3 by default; or give `alpha` and `epsilon`, or a price (`Utility(error=)`), or a best guess
            (`Adversary(best_guess=)`).
        alpha: the Rényi order, above 1, with `epsilon`.
        epsilon: the budget in nats, above 0, with `alpha`.
        confidence: the guarantee is for the population: see `calibrate`. None guarantees it for the sample alone.
        pairs: the pairs of secrets to hide from one another; every pair by default. A row of any other secret is
            refused, unless `Reading(leave_out=)` says that it does not go out.
        keep: columns to publish unchanged, which the adversary is then taken to know.
        domain: the list of values of each column, as for `Row`; what is not given is read from the table.
        ledger: a `Ledger`, or the path of one: it lets each record out once.
        id: a column that tells people apart, by which the ledger knows records; by default all that is read of a row.
            It is not published. An id that repeats is refused: the guarantee is about one row, and so about one person
            only where everybody has one.
        order: the rows are shuffled, since where a row stands may tell its secret; `audit` of what is returned knows
            which row is which all the same. "keep" is your own statement that their order is random already: report
            and certificate repeat it, and a table that is plainly sorted is refused.
        private_fit: what `private_counts` may cost, such as 0.2, or the counts that were drawn before. The channel is
            fitted to nothing else, and the guarantee is for everything together, also against who knows every other
            row. `domain` then gives the public list of the secret and of each column. Of a few thousand rows little is
            left.
        insecure_seed: for tests alone.
        adversary: what the adversary may know and believe, and how sure the guarantee is to hold.
        utility: what is to survive. By default the joint distribution of the columns, for up to 2,000 rows of a list
            where that can be, without `private_fit` and further constraints (unbiased, diagonal, forbidden).
        reading: how the table is to be read, which secrets do not go out, and what a label on no list becomes. The
            tables of `Adversary(beliefs=)` are read in the same way.

    Returns:
        A `Published`: the table, its calibration, certificate and statement, and what there is to say about them.

    Raises:
        InputError: an argument that nobody could mean, or a table that cannot be published so.
        MechanismError: no channel keeps such a guarantee.
        NoAnswerError: the search has no solution.
        CalibrationError: what was found does not keep the guarantee.
        CertificationError: it could not be proved.
        LedgerError: records were published before, or a ledger beside the table knows some of them.

    >>> import takifugu as tk
    >>> pupils = tk.datasets.load("student-por")
    >>> made = tk.publish(
    ...     pupils, secret="schoolsup", columns=["G3"], odds=3, adversary=tk.Adversary(known=["sex"])
    ... )
    >>> len(made.table)
    649
    """
    book = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
    asked = Asked(
        secret,
        columns,
        odds,
        alpha,
        epsilon,
        confidence,
        pairs,
        keep,
        domain,
        id,
        order,
        private_fit,
        adversary,
        utility,
        reading,
        only_new=book is not None and book.only_new,
    )
    return published(table, asked, book, insecure_seed=insecure_seed)


def published(table: object, asked: Asked, ledger: Ledger | None, *, insecure_seed: int | None = None) -> Published:
    """What `publish` does, once all that is asked for is known to make sense."""
    import narwhals as nw

    repeats = asked.by.repeats
    if ledger is not None:
        ledger = ledger.about(asked.id, repeats=repeats)
        repeats = ledger.repeats
        require_place(ledger.path)
    reading = asked.read_as
    if isinstance(table, str | os.PathLike):
        table = Table(table, reading)  # once: to decide how every cell is read takes a look at them all
    table, is_lazy = made_once(table)
    _refuse_late(table, has_ledger=ledger is not None, is_seeded=insecure_seed is not None)
    # With private counts nothing is to be seen of the rows.
    if asked.private_fit is None and reading is not None and reading.merges and _is_here(table):
        require_merged(Table(table, reading), asked.secrets, asked.columns)
    refuse_kept_order(table, order=asked.order, columns=[*asked.secrets, *asked.columns], reading=reading)
    step("Looking whether these records were published before")
    table, of_people = to_publish(
        table, ledger, read=asked.read, answer=asked.columns, id=asked.id, repeats=repeats, reading=reading
    )
    told: list[Diagnostic] = []

    def ahead(findings: Sequence[Diagnostic]) -> None:
        told.extend(findings)
        warn_ahead(findings)

    counts: list[PrivateCounts] = []
    bits = None if insecure_seed is None else bits_of(insecure_seed)
    ahead([one for one in of_people if one.code == "stated-new"])
    made = calibrated(table, asked, ledger=ledger, bits=bits, drawn=counts.append, ahead=ahead)
    for finding in (*stated(asked), *of_people):
        made = made.with_finding(finding)
    step("Proving that it keeps the guarantee")
    certificate = certify(made)
    step("Drawing what is published")
    drops = getattr(reading, "missing", "drop") == "drop"
    source = _rows_to_draw(table, made, reading, keep=[*asked.keep, *_known_by(table, ledger, asked.read)])
    if isinstance(table, Table):
        table.require_unchanged()  # its rows are in memory now
    frame = as_frame(source)
    plan = Plan.of(
        made,
        ledger=ledger,
        order=asked.order,
        insecure_seed=insecure_seed,
        by=Adversary(drift=asked.by.drift),
        to=Utility(allow_no_noise=asked.to.allow_no_noise),
        elsewhere=partial(refuse_elsewhere, table, ledger, asked.read, reading),
    )
    leaving, places = released(
        source,
        plan,
        keep=asked.keep,
        others=asked.others,
        missing="drop" if isinstance(frame, nw.LazyFrame) and drops else "refuse",  # of others they are gone already
    )
    of_rows: list[Diagnostic] = []
    if isinstance(frame, nw.DataFrame) and len(leaving) < len(frame):
        of_rows.append(Diagnostic("others-left-out", rows=len(frame) - len(leaving)))
    warn(one for one in made.findings if one not in told)
    done = Published(
        leaving.lazy() if is_lazy else leaving,
        made,
        certificate,
        (*made.findings, *of_rows),
        counts=counts[0] if counts else None,
        _positions=places,
        _true=_true_rows(frame, made, asked),
    )
    if insecure_seed is not None or is_lazy or not isinstance(frame, nw.DataFrame):
        return done  # of rows that nobody has counted, or of none that may be published, nothing is stated here
    return replace(done, certificate=done.statement.sealed_in(certificate))


def stated(asked: Asked) -> list[Diagnostic]:
    """What whoever publishes states of the rows."""
    return [Diagnostic("order-kept")] if asked.order == "keep" else []


def _true_rows(frame: object, made: Calibration, asked: Asked) -> Any:
    """The columns that left, of the rows that did, as they were; None of what is not in memory."""
    import narwhals as nw

    if not isinstance(frame, nw.DataFrame) or made.answer is None:
        return None
    return protected(frame, made, made.answer.secret, asked.others).select([*made.answer.columns, *asked.keep])


def _is_here(table: object) -> bool:
    import narwhals as nw

    return isinstance(table, Table) or isinstance(as_frame(table), nw.DataFrame)


def made_once(table: object) -> tuple[object, bool]:
    """A lazy table of Polars collected, and whether it was one: read for every count, it might be another each time.

    So might a table of Spark's, which then is made where it lies.

    Args:
        table: a table of any library.

    Returns:
        The table that everything is counted on and drawn from.
    """
    import narwhals as nw

    frame = None if isinstance(table, Table) else as_frame(table)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_pyspark():
        from takifugu.releases import made_once as made_where_it_lies

        return made_where_it_lies(table), False
    if not isinstance(frame, nw.LazyFrame) or not frame.implementation.is_polars():
        return table, False
    return collected(frame).to_native(), True


def _refuse_late(table: object, *, has_ledger: bool, is_seeded: bool) -> None:
    """Refuse before the search for a channel what `release` would refuse of a lazy table after it."""
    import narwhals as nw

    frame = None if isinstance(table, Table) else as_frame(table)
    if not isinstance(frame, nw.LazyFrame):
        return
    refuse_lazy(frame)
    from takifugu.releases import refuse_of_spark

    refuse_of_spark(has_ledger=has_ledger, is_seeded=is_seeded)


def _known_by(table: object, ledger: Ledger | None, read: Sequence[str]) -> Sequence[str]:
    """The columns by which the ledger knows the rows of a file; a table in memory has them all."""
    return ledger.recognise(read, table.columns).columns if ledger is not None and isinstance(table, Table) else ()


def _rows_to_draw(table: object, made: Calibration, reading: Reading | None, *, keep: Sequence[str]) -> Any:
    """The rows to publish; those without a needed value are left out, as was counted, but of private counts."""
    answer = made.answer
    needed = [] if answer is None else list(dict.fromkeys([*answer.columns, *answer.secret]))
    dropped = [] if answer is not None and answer.private else needed
    return complete_rows(table, needed=dropped, columns=[*needed, *keep], reading=reading)
