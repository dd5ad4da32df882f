"""What `takifugu publish` and `takifugu demo` do: read, fit, calibrate, prove, draw, and write all files or none."""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from takifugu._listening import listening
from takifugu.atomic import Files
from takifugu.commands.options import beliefs_from
from takifugu.commands.progress import Steps
from takifugu.commands.publication import tell, tell_before
from takifugu.commands.telling import console, file_of
from takifugu.commands.wishes import domain_of, known_of
from takifugu.commands.words import in_flags
from takifugu.errors import CalibrationError, InputError
from takifugu.problems.asking_findings import OrderKept
from takifugu.publishing.recognising import People
from takifugu.tables.reading import Reading


@dataclass(frozen=True)
class Asked:
    """Everything that was asked for."""

    source: str
    target: Path
    secret: str | list[str]
    columns: list[str]
    odds: float | None = None
    alpha: float | None = None
    epsilon: float | None = None
    best_guess: float | None = None
    error: float | None = None
    confidence: float | None = 0.95
    assurance: str | None = None
    known: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    leave_out: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    others: str = "error"
    order: str = "shuffle"
    positions: Path | None = None
    drift: str = "refuse"
    later: list[str] = field(default_factory=list)
    spend: float | None = None
    domain: str | None = None
    other: str | None = None
    loss: str | None = None
    ledger: Path | None = None
    new_ledger: bool = False
    id: str | None = None
    only_new: bool = False
    new_people: bool = False
    repeats: str = "refuse"
    folder: Path | None = None
    keep_shares: bool = False
    seed: int = 0
    allow_no_noise: bool = False
    beliefs: tuple[str, ...] = ()
    only_beliefs: bool = False
    dry_run: bool = False
    reading: Reading = field(default_factory=Reading)

    @property
    def wishes(self) -> dict[str, Any]:
        """The options of the mechanism."""
        return {} if self.loss is None else {"loss": self.loss}

    @property
    def keys(self) -> list[Path]:
        """The file of positions, where one was asked for."""
        return [] if self.positions is None else [self.positions]

    @property
    def people(self) -> People:
        """How the people of the table are told apart, and which of them are to be published."""
        return People(self.id, self.only_new, self.new_people, self.repeats)

    @property
    def read(self) -> list[str]:
        """All columns that are read of each row."""
        secrets = [self.secret] if isinstance(self.secret, str) else self.secret
        return [*self.columns, *self.later, *secrets, *self.keep, *(known_of(self.known) or ())]


def run(asked: Asked, *, quiet: bool) -> None:
    """Do it, and tell."""
    from takifugu.certificates import certify
    from takifugu.publishing import odds_by_default
    from takifugu.releases.doors.files import release_file
    from takifugu.releases.doors.saving import check_format
    from takifugu.releases.drawing import drawing_of
    from takifugu.reports.writing import report

    _require_what_flags_need(asked)
    others = beliefs_from(asked.beliefs)
    out = console()
    step = Steps(out, quiet=quiet)
    promise = {name: getattr(asked, name) for name in ("odds", "alpha", "epsilon", "best_guess", "error")}
    odds_by_default(**promise)  # before any work, whether it is a promise; an account may have settled the odds
    folder = asked.target.parent if asked.folder is None else asked.folder
    stem = asked.target.name.split(".")[0]
    paths = {
        "report": folder / f"{stem}-report.html",
        "certificate": folder / f"{stem}-certificate.json",
        "public": folder / f"{stem}-certificate-public.json",
        "calibration": folder / f"{stem}-calibration.json",
    }
    files = Files(*paths.values())
    check_format(asked.target)
    if not asked.dry_run:
        _require_free((asked.target, *paths.values(), *asked.keys), asked.source, asked.ledger)
    source, where = _source(asked)
    step(f"Reading {Path(asked.source).name}")
    table, ledger, of_people = _opened(asked, source, where, step)
    step("Counting what goes with each secret")
    with listening(step.meanwhile):
        made = _stated(asked, _calibrated(asked, table, promise, others, ledger, step))
    for finding in of_people:
        made = made.with_finding(finding)
    words = drawing_of(made, {}).bare
    if asked.dry_run:
        step.end()
        tell_before(made, None if asked.allow_no_noise else words)
        return
    if words is not None and not asked.allow_no_noise:
        raise CalibrationError(f"{words}. Nothing was published; give --allow-no-noise if that is what you want")
    step("Proving that it keeps the promise")
    proved = certify(made, progress=lambda one, of: step.meanwhile(f"{one:,} of {of:,} places"))
    step("Writing the report")
    with listening(step.meanwhile):
        files.add(paths["report"], report(made, certificate=proved, words=in_flags), private=True)
    files.add(paths["certificate"], file_of(proved.to_dict()), private=True)
    files.add(paths["public"], file_of(proved.redacted().to_dict()))
    files.add(paths["calibration"], file_of(made.to_dict()), private=True)
    step("Drawing what is published")
    with ExitStack() as undo:
        done = release_file(
            table,
            asked.target,
            made,
            ledger=ledger,
            keep=asked.keep,
            others=asked.others,
            order=asked.order,
            positions=asked.positions,
            drift=asked.drift,
            allow_no_noise=True,
            progress=lambda rows, _: step.meanwhile(f"{rows:,} rows"),
        )
        for path in (asked.target, *asked.keys):
            undo.callback(path.unlink)
        files.write()
        undo.pop_all()
    step.end()
    tell(made, done, asked.target, paths, ledger, asked.positions)


def _stated(asked: Asked, made: Any) -> Any:
    """The calibration with what whoever publishes states of the rows."""
    return made.with_finding(OrderKept()) if asked.order == "keep" else made


def _calibrated(asked: Asked, table: Any, promise: dict[str, Any], others: Any, ledger: Any, step: Any) -> Any:
    from takifugu.publishing import calibrated

    return calibrated(
        table,
        secret=asked.secret,
        columns=asked.columns,
        **promise,
        confidence=asked.confidence,
        assurance=asked.assurance,
        known=known_of(asked.known),
        beliefs=others,
        own=not asked.only_beliefs,
        keep=asked.keep,
        secrets=_named_secrets(asked),
        pairs=asked.pairs or None,
        leave_out=asked.leave_out,
        others=asked.others,
        domain=None if asked.domain is None else domain_of(asked.domain),
        other=asked.other,
        keep_shares=asked.keep_shares,
        seed=asked.seed,
        step=step,
        beforehand=step.warn,
        **asked.wishes,
        ledger=ledger,
        later=asked.later,
        spend=asked.spend,
    )


def _require_what_flags_need(asked: Asked) -> None:
    """Refuse flags that are about something that was not given."""
    if asked.only_beliefs and not asked.beliefs:
        raise InputError("--only-beliefs leaves no priors: give those of another table with --belief NAME=FILE")
    if asked.dry_run and asked.later:
        raise InputError("--dry-run opens no account, and --later does: name all columns with --columns to see them")


def _opened(asked: Asked, source: Any, where: Path | None, step: Any) -> tuple[Any, Any, Any]:
    """The table that may be published, its ledger, and what there is to say of its people."""
    from takifugu.publishing.recognising import to_publish
    from takifugu.tables.table import Table

    table = Table(source, asked.reading)
    ledger = _book(asked, table, where)
    step("Looking whether these records were published before")
    table, found = to_publish(table, ledger, asked.people, read=asked.read, answer=asked.columns)
    return table, ledger, found


def _book(asked: Asked, table: Any, where: Path | None) -> Any:
    """The ledger: the one that is named, or the one beside the table."""
    from takifugu.publishing.recognising import default_ledger
    from takifugu.releases.ledger import Ledger
    from takifugu.releases.ledger_file import require_place

    book = asked.ledger
    if book is None:
        book = default_ledger(table, asked.target if where is None else where, asked.people, asked.read)
    ledger = Ledger(
        book, id=asked.people.id, new_people=asked.people.new_people, new=True if asked.new_ledger else None
    )
    if not asked.dry_run:
        require_place(ledger.path)
    return ledger


def _named_secrets(asked: Asked) -> list[str] | None:
    """The secrets of the pairs; of several columns of secrets every one has laws, and pairs are chosen afterwards."""
    named = list(dict.fromkeys(name for pair in asked.pairs for name in pair))
    return named if named and isinstance(asked.secret, str) else None


def _require_free(paths: Iterable[Path], source: str, ledger: Path | None) -> None:
    """Refuse to write over a file, and say so where it is the table itself: nobody published that."""
    from takifugu.releases.ledger_file import require_place

    if ledger is not None:
        require_place(ledger)  # one that is named; where none is, the table has to be read first
    for path in paths:
        if ledger is not None and path.resolve() == ledger.resolve():
            raise InputError(f"{os.fspath(path)!r} is to be the ledger, and cannot be what is published too")
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise InputError(f"{os.fspath(path)!r} is the table itself: name another file to publish it as")
        if path.exists():
            raise InputError(f"{os.fspath(path)!r} exists already: what was published is not written over")


def _source(asked: Asked) -> tuple[Any, Path | None]:
    """A file, or a bundled dataset where no file has that name; and where the file is."""
    from takifugu import datasets

    if asked.source in datasets.names() and not os.path.exists(asked.source):
        return datasets.load(asked.source), None
    return asked.source, Path(asked.source)
