"""The main job: from a table to a table that keeps a secret."""

import datetime
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from takifugu._display import Drawing
from takifugu._validation import no_cells, no_text, one_of
from takifugu.calibration import Calibration, calibrate
from takifugu.certificates import Certificate, ChannelCertificate, Statement, certify
from takifugu.channels import BitSource
from takifugu.errors import CalibrationError, InputError, LedgerError, MechanismError, PublishedOnceError
from takifugu.estimates import Comparison, Estimates, compared_tables, described
from takifugu.messages import Message
from takifugu.problems import Diagnostic, Pair, asked_for, warn, warn_ahead
from takifugu.queries import (
    PrivateCounts,
    Row,
    about,
    named_pairs,
    priors_asked_for,
    refuse_notes,
    require_no_codes,
    several_rows,
    told_by_kept,
)
from takifugu.releases import (
    DRIFTS,
    INSECURE,
    ORDERS,
    OTHERS,
    REPEATS,
    Beside,
    Ledger,
    Plan,
    Recognition,
    as_frame,
    bits_of,
    collected,
    ledger_beside,
    ledgers_beside,
    privately_calibrated,
    protected,
    refuse_beside_private_counts,
    refuse_lazy,
    released,
    require_id,
    require_inside,
    require_one_row,
    require_place,
)
from takifugu.reports import Publication, told
from takifugu.tables import Reading, Table, as_read, complete_rows, files_behind, how_many, stream, with_secrets

if TYPE_CHECKING:
    from takifugu.audits import Audit


# The calibration behind `publish`: rows of columns, through the best channel, for the population.

Step = Callable[[str], None]
Warn = Callable[[Sequence[Diagnostic]], None]

CONFIDENCE = 0.95
ODDS = 3.0  # what is guaranteed where nothing else is asked for
AUTO = "auto"
_WISHES = {"diagonal", "forbidden", "unbiased"}


def calibrated(
    table: object,
    *,
    secret: str | Sequence[str],
    columns: Sequence[str],
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    best_guess: float | None = None,
    error: float | None = None,
    confidence: float | None = CONFIDENCE,
    known: Sequence[str] | None = None,
    beliefs: Mapping[str, object] | None = None,
    own: bool = True,
    keep: Sequence[str] = (),
    pairs: Iterable[Pair] | None = None,
    secrets: Iterable[Hashable] | None = None,
    leave_out: Sequence[Hashable] = (),
    others: str = "error",
    domain: Any = None,
    other: Any = None,
    reading: Reading | None = None,
    preserve: str | None = AUTO,
    seed: int = 0,
    step: Step = lambda what: None,
    beforehand: Warn = lambda findings: None,
    ledger: Ledger | None = None,
    assurance: str | None = None,
    loss: Any = None,
    diagonal: float | None = None,
    forbidden: Sequence[tuple[Any, Any]] | None = None,
    unbiased: bool | None = None,
    radius: Any = None,
    private_fit: float | PrivateCounts | None = None,
    id: str | None = None,
    bits: BitSource | None = None,
    drawn: Callable[[PrivateCounts], None] = lambda counts: None,
) -> Calibration:
    """The calibration that `publish` makes: rows of the columns, through the best channel, for the population.

    Whoever reads the kept columns knows them, so they are among what is known: two harmless ones may tell the secret
    together. What they tell by themselves is a finding. With `others="error"` rows of secrets that are not hidden are
    refused before the search for the channel, as `release` would refuse them after it. `beforehand` is told, before the
    search too, what may be reason enough not to wait for it: a column of dates, a code for what is missing. With
    `private_fit` private counts are drawn, with these `bits`, and `drawn` is called with them; nothing else is
    then seen of the rows.
    """
    no_text("columns", columns, "columns")
    no_text("known", known, "columns")
    for name, given in {"secret": secret, "columns": columns, "known": known}.items():
        no_cells(name, given)
    if both := next((name for name in keep if name in columns), None):
        raise InputError(f"column {both!r} is in both columns and keep: it leaves changed or as it is, not both ways")
    if both := next((name for name in keep if name in _names(secret)), None):
        raise InputError(
            f"column {both!r} is the secret, and cannot leave beside what hides it: leave it out of `keep`"
        )
    wishes = {"loss": loss, "diagonal": diagonal, "forbidden": forbidden, "unbiased": unbiased, "radius": radius}
    options = _asked_for(wishes, preserve)
    promise = odds_by_default(odds=odds, alpha=alpha, epsilon=epsilon, best_guess=best_guess, error=error)
    if private_fit is not None:
        others_rows = {"secrets": secrets, "leave_out": leave_out, "others": others}
        known_too = {"known": known, "keep": keep, "beliefs": beliefs, "own": own}
        refuse_beside_private_counts(private_fit, others_rows | known_too | {"assurance": assurance})
        step("Drawing private counts, and finding the channel that changes least")
        more = {"confidence": confidence, "seed": seed, "keep": None if preserve == AUTO else preserve}
        return privately_calibrated(
            table,
            private_fit,
            asked={"secret": secret, "columns": columns, "domain": domain, "other": other},
            promise=promise,
            options=options | more,
            pairs=pairs,
            id=id,
            ledger=ledger,
            reading=reading,
            source=bits,
            drawn=drawn,
        )
    if leave_out:
        secrets = _without(leave_out, table, secret, reading, secrets is not None or pairs is not None)
    pairs = None if pairs is None else list(pairs)
    secrets = secrets if secrets is None or isinstance(secrets, str) else list(secrets)
    hidden = secrets if pairs is None else [one for pair in pairs for one in pair]

    def require_hidden(found: Iterable[Any], *, typed: bool = False) -> None:
        if others == "error":
            require_inside(Table(table, reading), _names(secret), columns, found, typed=typed)

    if hidden is not None:
        require_hidden(hidden, typed=True)
    source = Table(table, reading)
    if keep:
        refuse_notes(source, keep)
    lists = Row(*columns, domain=domain).domain
    looked_at = [*_names(secret), *columns, *keep, *(known or ())]
    require_no_codes(with_secrets(source, _names(secret)), looked_at, lists)
    known = known_with(known, keep)
    query = Row(*columns, domain=domain, other=other)
    step("Counting what goes with each secret")
    asked: dict[str, Any] = {"secret": secret, "query": query, "secrets": secrets, "known": known, "reading": reading}
    priors = priors_asked_for(table, asked, beliefs=beliefs, own=own)
    pairs = None if pairs is None else named_pairs(pairs, priors)
    if not own:  # there may be secrets that others do not know
        require_hidden((priors if isinstance(priors, Mapping) else priors[0]) if hidden is None else hidden)
    people = several_rows(Table(table, reading), _names(secret))
    beforehand(_warnings([*priors.findings, *people]))
    step(_long_step(priors, columns))
    made = preserving(
        lambda kept: calibrate(
            priors,
            **promise,
            step=step,
            confidence=confidence,
            assurance=assurance,
            pairs=pairs,
            seed=seed,
            keep=kept,
            **options,
        ),
        preserve,
        wishes=options,
    )
    return _told(made, table, keep, reading, own=own, people=people)


Sought = TypeVar("Sought")


def _asked_for(wishes: Mapping[str, object], preserve: str | None) -> dict[str, Any]:
    """The wishes that there are, beside what is preserved."""
    if preserve not in (AUTO, "marginal", "mean", None):
        raise InputError(f'preserve must be "marginal", "mean" or None, got {preserve!r}')
    return {name: value for name, value in wishes.items() if value is not None}


def preserving(search: Callable[[str | None], Sought], preserve: str | None, *, wishes: Mapping[str, object]) -> Sought:
    """What preserves the joint distribution of the columns where that is to be had, and what does not where it is not.

    Beside other wishes it is one wish too many, more often than not: who has some says so of this one too.
    """
    if preserve != AUTO:
        return search(preserve)
    if wishes.keys() & _WISHES:
        return search(None)
    try:
        return search(AUTO)  # beyond one program for the whole channel, to preserve it takes minutes
    except (MechanismError, CalibrationError):
        return search(None)


def _names(secret: str | Sequence[str]) -> list[str]:
    if not secret:
        raise InputError(f"secret must be a column, or a list of columns, got {secret!r}")
    return [secret] if isinstance(secret, str) else list(secret)


def _warnings(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [one for one in findings if one.level == "warning"]


def _long_step(priors: Any, columns: Sequence[str]) -> str:
    """What is done now, with how long it may take, and what would make it quicker."""
    what = "Finding the channel that changes least"
    beliefs = [priors] if isinstance(priors, Mapping) else list(priors)
    values, secrets = max(len(law.values) for one in beliefs for law in one.values()), len(beliefs[0])
    if (time := about(values, secrets)) is None:
        return what
    of = "values" if len(columns) == 1 else f"combinations of {len(columns)} columns"
    fewer = "" if len(columns) == 1 else " or fewer columns"
    return f"{what}, for {values:,} {of} and {secrets} secrets: {time}; coarser lists{fewer} are quicker"


def _told(
    made: Calibration,
    table: Any,
    keep: Sequence[str],
    reading: Reading | None,
    *,
    own: bool,
    people: Sequence[Diagnostic],
) -> Calibration:
    """The calibration, with what columns that leave as they are tell by themselves, and of people with several rows."""
    source, secrets = Table(table, reading), () if made.answer is None else made.answer.secret
    for finding in people:
        made = made.with_finding(finding)
    if not keep:
        return made
    # Nothing counted on these rows may stand in what follows from other people's.
    kept = (
        told_by_kept(source, secrets, keep, made.pairs.secrets)
        if own
        else Diagnostic("cell-tells", columns=tuple(keep), odds=None, guess=None)
    )
    return made.with_finding(kept)


def _without(leave_out: Sequence[Any], table: Any, secret: Any, reading: Reading | None, named: bool) -> list[Any]:
    """The secrets that are hidden where some are left out."""
    no_text("leave_out", leave_out, "secrets")
    if named or not isinstance(secret, str):
        raise InputError("leave_out is for one secret of which every other value is hidden: name the pairs instead")
    return Table(table, reading).secrets_but(secret, leave_out)


def odds_by_default(**promise: float | None) -> dict[str, Any]:
    """The guarantee as it was asked for, odds of 3 where it was not; what is no guarantee is refused before any work.

    >>> odds_by_default(odds=None, alpha=None, epsilon=None, best_guess=None, error=None)["odds"]
    3.0
    """
    given = {name for name, value in promise.items() if value is not None}
    if not given:
        return promise | {"odds": ODDS}
    if not given & {"best_guess", "error"}:
        asked_for(alpha=promise["alpha"], epsilon=promise["epsilon"], odds=promise["odds"])
    return promise


def known_with(known: Sequence[str] | None, keep: Sequence[str]) -> list[str] | None:
    """What the adversary knows, the kept columns among it.

    >>> known_with(["sex"], ["ward", "sex"]), known_with(None, [])
    (['sex', 'ward'], None)
    """
    found = [*(known or ()), *(name for name in keep if name not in (known or ()))]
    return found or None


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

    def __getstate__(self) -> dict[str, Any]:
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
        """Write the table, which is for the public, as CSV or Parquet; a file that is there is not written over."""
        from takifugu.releases import save_table

        save_table(self.table, path)

    def save_positions(self, path: str | os.PathLike[str]) -> None:
        """Write which row of the source stands where in the table, as CSV or Parquet: a key for an auditor.

        Rows were shuffled so that their places tell nothing; whoever has this file and the rows can undo that. Rows of
        the source that were not published are not counted.
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

        >>> import takifugu as tk
        >>> pupils = tk.datasets.load("student-por")
        >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3)
        >>> made.audit(pupils, level=1e-6).contradicted
        False
        """
        from takifugu.audits import audit

        return audit(self.table, truth, self.calibration, positions=self._positions, **options)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file. It describes the priors: keep it private."""
        from takifugu.reports import report

        report(self.calibration, path, certificate=self.certificate)


# Before a table is counted: whether its records were published before, which are new, and whether people repeat.


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
) -> tuple[Any, list[Diagnostic]]:
    """The table, without the rows that were published before if these are to be left out; and what to say of people.

    Raises what `charge` would raise after hours of work: records that were published, people who repeat. `files` is
    where the table lies, or would, for other ledgers beside it; those beside its own ledger are asked too.
    """
    names = _columns(table)
    if names is None:  # a lazy table, which its own door refuses or takes without a ledger
        if people != People():
            raise InputError("id, only_new and new_people are for files and for tables in memory: collect it first")
        return table, []
    near = [*(files_behind(table) if files is None else files), *([] if ledger is None else [ledger.path])]
    beside = Beside(near, ledger, read=read, available=names)
    own = None if ledger is None else ledger.recognise(read, names, answer)
    if own is None and people.id is not None:
        own = Recognition(b"for this look alone", require_id(people.id, names))
    if people.repeats != "refuse" and (own is None or not own.own.is_id):
        raise InputError("repeats is about people with several rows: name the column that tells them apart with id")
    if people.only_new and ledger is None:
        raise InputError("only_new leaves out what a ledger knows: give ledger")
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
    if ledger is not None and people.only_new:
        new = ledger.new_rows(own)
        table = _rows(table, reading, new)
        _require_complete(table, read, reading)
        findings = _of_people(own, own.hashes(own.own)[new], people)
        return table, findings
    if ledger is not None:
        ledger.refuse_known(own)
    return table, _of_people(own, own.hashes(own.own), people)


def _require_complete(table: Any, needed: Sequence[str], reading: Reading | None) -> None:
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


def _refuse_elsewhere(table: Any, ledger: Ledger | None, read: Sequence[str], reading: Reading | None) -> None:
    """Refuse rows that another ledger beside the table or its own ledger has come to know by now."""
    names = _columns(table)
    near: list[str | os.PathLike[str]] = [*files_behind(table), *([] if ledger is None else [ledger.path])]
    if names is not None and near:
        beside = Beside(near, ledger, read=read, available=names)
        if beside.recognitions:
            _look(table, reading, beside.recognitions)
        beside.refuse()


def _of_people(seen: Recognition, hashes: Any, people: People) -> list[Diagnostic]:
    if not seen.own.is_id:
        return []
    hashes.sort()
    most = require_one_row(seen.own, hashes, people.repeats)
    return [] if most < 2 else [Diagnostic("rows-of-one-person", column=seen.own.columns[0], most=most)]


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


# The main job in one call: a table in, a table out that keeps a secret, with its proof, its report and its ledger.


def publish(
    table: object,
    *,
    secret: str | Sequence[str],
    columns: Sequence[str],
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    best_guess: float | None = None,
    error: float | None = None,
    confidence: float | None = CONFIDENCE,
    assurance: str | None = None,
    pairs: Iterable[Pair] | None = None,
    secrets: Iterable[Hashable] | None = None,
    leave_out: Sequence[Hashable] = (),
    known: Sequence[str] | None = None,
    beliefs: Mapping[str, object] | None = None,
    own: bool = True,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    id: str | None = None,
    only_new: bool = False,
    new_people: bool = False,
    repeats: str = "refuse",
    keep: Sequence[str] = (),
    others: str = "error",
    order: str = "shuffle",
    drift: str = "refuse",
    allow_no_noise: bool = False,
    insecure_seed: int | None = None,
    domain: Mapping[str, Sequence[object]] | Sequence[object] | None = None,
    other: object = None,
    preserve: str | None = AUTO,
    loss: object = None,
    diagonal: float | None = None,
    forbidden: Sequence[tuple[object, object]] | None = None,
    unbiased: bool | None = None,
    radius: float | Sequence[float] | None = None,
    private_fit: float | PrivateCounts | None = None,
    reading: Reading | None = None,
    seed: int = 0,
    step: Step = lambda what: None,
) -> Published:
    """Publish columns of a table so that nothing published moves the odds of anyone's secret by more than a factor.

    Counts what goes with each secret, finds the channel that changes the values least among all that keep the
    guarantee, proves it, and draws. Nothing leaves unless all of it succeeds.

    Args:
        table: a path, or a table of any dataframe library, as for `fit_priors`.
        secret: the column to hide, or several.
        columns: the columns to publish, together in one row.
        odds: the factor, 3 by default; or give `alpha` and `epsilon`, `best_guess` or `error`, as for `calibrate`.
        alpha: see `odds`.
        epsilon: see `odds`.
        best_guess: see `odds`.
        error: see `odds`.
        confidence: the guarantee is for the population: see `calibrate`. None guarantees it for the sample alone.
        assurance: "band" proves that, as for `calibrate`.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        secrets: the values of the secret to hide; all by default.
        leave_out: secrets too rare to be hidden, whose rows are not published.
        known: columns that the adversary may know, as for `fit_priors`.
        beliefs: what others may believe, as for `fit_priors`: other tables by name.
        own: False takes the priors of `beliefs` alone, so that nothing tells anything about one's own rows.
        ledger: a `Ledger`, or the path of one: it lets each record out once.
        id: a column that tells people apart, by which the ledger knows records; by default all that is read of a row.
            It is not published. An id that repeats is refused: the guarantee is about one row, and so about one person
            only where everybody has one.
        only_new: leave out the records that the ledger knows; without an id, of a table to which rows were appended.
        new_people: your word that nobody was published before, where the ledger cannot see that; it is written down.
        repeats: "independent" is your word that the rows of one person are independent of one another given the secret.
        keep: columns to hand over as they are.
        others: as for `release`; "drop" where secrets are left out.
        order: the rows are shuffled, since where a row stands may tell its secret; `audit` of what is returned knows
            which row is which all the same. "keep" is your own statement that their order is random already: report
            and certificate repeat it.
        drift: as for `release`: rows that tell the secret more plainly than others' priors say, where `own=False` takes
            these alone, are refused, or allowed.
        allow_no_noise: publish without a warning where nothing had to be changed.
        insecure_seed: for tests alone.
        domain: the list of values of each column, as for `Row`; what is not given is read from the table.
        other: what a label on no list becomes, as for `Row`.
        preserve: "marginal" publishes every row of the columns as often, on average, as it is there, so that means,
            correlations and tables of counts of the published columns need no correction; "mean" keeps means alone, and
            None as few cells as possible changed. By default "marginal" for up to 2,000 rows of a list where that can
            be, without `private_fit` and further wishes (unbiased, diagonal, forbidden).
        loss: what is lost least: "square", "absolute" or "change", or a matrix, as for the mechanism "optimal".
        diagonal: at least this share of the values stays as it is.
        forbidden: pairs of a true value and a published one that it never becomes.
        unbiased: True publishes every number right on average.
        radius: the guarantee holds for every prior within this total variation of those given.
        private_fit: what `private_counts` may cost, such as 0.2, or the counts that were drawn before. The channel is
            fitted to nothing else, and the guarantee is for everything together, also against who knows every other
            row.
            `domain` then gives the public list of the secret and of each column. Of a few thousand rows little is left.
        reading: how the table is to be read: see `Reading`. The tables of `beliefs` are read in the same way.
        seed: of the draws behind the confidence.
        step: called with what is being done, before it is done.
    """
    import narwhals as nw

    named = {"secret": secret, "columns": columns, "known": known, "keep": keep}
    for name, given in named.items():
        no_cells(name, given)
    for name, given in {"columns": columns, "known": known, "keep": keep}.items():
        no_text(name, given, "columns")
    # Each is gone through more than once, and an iterator would be empty the second time.
    secret = secret if isinstance(secret, str) else [*secret]
    columns, keep = [*columns], tuple(keep)
    known = None if known is None else [*known]
    for name, word, words in (("others", others, OTHERS), ("order", order, ORDERS), ("drift", drift, DRIFTS)):
        one_of(name, word, words)  # `release` would say so too, when all the work is done
    people = People(id, only_new, new_people, repeats)
    refuse_beside_private_counts(
        private_fit, {"only_new without an id": only_new and id is None, "repeats": repeats, "order": order}
    )
    book = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)
    if book is not None:
        book = book.about(people.id, new_people=people.new_people, repeats=people.repeats)
        require_place(book.path)
    if leave_out and others == "error":
        others = "drop"
    odds_by_default(odds=odds, alpha=alpha, epsilon=epsilon, best_guess=best_guess, error=error)
    if isinstance(table, str | os.PathLike):
        table = Table(table, reading)  # once: to decide how every cell is read takes a look at them all
    table, is_lazy = _made_once(table)
    _refuse_late(table, has_ledger=book is not None, is_seeded=insecure_seed is not None)
    read = [*columns, *([secret] if isinstance(secret, str) else secret), *keep, *(known or ())]
    step("Looking whether these records were published before")
    table, of_people = to_publish(table, book, people, read=read, answer=columns, reading=reading)
    told: list[Diagnostic] = []

    def ahead(findings: Sequence[Diagnostic]) -> None:
        told.extend(findings)
        warn_ahead(findings)

    counts: list[PrivateCounts] = []
    made = calibrated(
        table,
        secret=secret,
        columns=columns,
        odds=odds,
        alpha=alpha,
        epsilon=epsilon,
        best_guess=best_guess,
        error=error,
        confidence=confidence,
        assurance=assurance,
        pairs=pairs,
        secrets=secrets,
        leave_out=leave_out,
        known=known,
        beliefs=beliefs,
        own=own,
        ledger=book,
        keep=keep,
        others=others,
        domain=domain,
        other=other,
        preserve=preserve,
        loss=loss,
        diagonal=diagonal,
        forbidden=forbidden,
        unbiased=unbiased,
        radius=radius,
        reading=reading,
        seed=seed,
        step=step,
        beforehand=ahead,
        private_fit=private_fit,
        id=people.id,
        bits=None if insecure_seed is None else bits_of(insecure_seed),
        drawn=counts.append,
    )
    for finding in (*stated(order, others), *of_people):
        made = made.with_finding(finding)
    step("Proving that it keeps the guarantee")
    certificate = certify(made)
    step("Drawing what is published")
    drops = getattr(reading, "missing", "drop") == "drop"
    source = _frame(table, made, reading, keep=[*keep, *_known_by(table, book, read)])
    if isinstance(table, Table):
        table.require_unchanged()  # its rows are in memory now
    frame = as_frame(source)
    plan = Plan.of(
        made,
        ledger=book,
        order=order,
        drift=drift,
        allow_no_noise=allow_no_noise,
        insecure_seed=insecure_seed,
        elsewhere=partial(_refuse_elsewhere, table, book, read, reading),
    )
    published, places = released(
        source,
        plan,
        keep=keep,
        others=others,
        missing="drop" if isinstance(frame, nw.LazyFrame) and drops else "refuse",  # of others they are gone already
    )
    of_rows: list[Diagnostic] = []
    if isinstance(frame, nw.DataFrame) and len(published) < len(frame):
        of_rows.append(Diagnostic("others-left-out", rows=len(frame) - len(published)))
    warn(one for one in made.findings if one not in told)
    done = Published(
        published.lazy() if is_lazy else published,
        made,
        certificate,
        (*made.findings, *of_rows),
        counts=counts[0] if counts else None,
        _positions=places,
        _true=_true_rows(frame, made, others, keep),
    )
    if insecure_seed is not None or is_lazy or not isinstance(frame, nw.DataFrame):
        return done  # of rows that nobody has counted, or of none that may be published, nothing is stated here
    return replace(done, certificate=done.statement.sealed_in(certificate))


def stated(order: str, others: str) -> list[Diagnostic]:
    """What whoever publishes states of the rows, or leaves without a guarantee."""
    said = {Diagnostic("order-kept"): order == "keep", Diagnostic("others-published"): others == "release"}
    return [one for one, is_so in said.items() if is_so]


def _true_rows(frame: Any, made: Calibration, others: str, keep: Sequence[str]) -> Any:
    """The columns that left, of the rows that did, as they were; None of what is not in memory."""
    import narwhals as nw

    if not isinstance(frame, nw.DataFrame) or made.answer is None:
        return None
    return protected(frame, made, made.answer.secret, others).select([*made.answer.columns, *keep])


def _made_once(table: Any) -> tuple[Any, bool]:
    """A lazy table of Polars collected, and whether it was one: read for every count, it might be another each time.

    So might a table of Spark's, which then is made where it lies.
    """
    import narwhals as nw

    frame = None if isinstance(table, Table) else as_frame(table)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_pyspark():
        from takifugu.releases import made_once

        return made_once(table), False
    if not isinstance(frame, nw.LazyFrame) or not frame.implementation.is_polars():
        return table, False
    return collected(frame).to_native(), True


def _refuse_late(table: Any, *, has_ledger: bool, is_seeded: bool) -> None:
    """Refuse before the search for a channel what `release` would refuse of a lazy table after it."""
    import narwhals as nw

    frame = None if isinstance(table, Table) else as_frame(table)
    if not isinstance(frame, nw.LazyFrame):
        return
    refuse_lazy(frame)
    from takifugu.releases import refuse_of_spark

    refuse_of_spark(has_ledger=has_ledger, is_seeded=is_seeded)


def _known_by(table: Any, ledger: Ledger | None, read: Sequence[str]) -> Sequence[str]:
    """The columns by which the ledger knows the rows of a file; a table in memory has them all."""
    return ledger.recognise(read, table.columns).columns if ledger is not None and isinstance(table, Table) else ()


def _frame(table: Any, made: Calibration, reading: Reading | None, *, keep: Sequence[str]) -> Any:
    """The rows to publish; those without a needed value are left out, as was counted, but of private counts."""
    answer = made.answer
    needed = [] if answer is None else list(dict.fromkeys([*answer.columns, *answer.secret]))
    dropped = [] if answer is not None and answer.private else needed
    return complete_rows(table, needed=dropped, columns=[*needed, *keep], reading=reading)
