"""takifugu publish: a table in, a table out that keeps a secret."""

import os
from collections.abc import Container, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu._work import listening, step, together
from takifugu.atomic import Files
from takifugu.commands.inspect import arguments_of
from takifugu.commands.options import (
    Command,
    belief_options,
    beliefs_from,
    domain_of,
    drift_option,
    id_option,
    json_option,
    known_of,
    names_in,
    new_ledger_option,
    new_people_option,
    order_option,
    positions_option,
    preserve_of,
    preserve_option,
    quiet_option,
    reading_options,
    repeats_option,
    require_one_promise,
    single,
    taking,
)
from takifugu.commands.output import console, file_of, in_flags, print_json, tell_files, tell_findings
from takifugu.commands.progress import Steps
from takifugu.errors import CalibrationError, InputError, LedgerError
from takifugu.problems import has_code

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.certificates import Certificate, ChannelCertificate, Statement
    from takifugu.problems import Diagnostic
    from takifugu.publishing import Asked
    from takifugu.queries import PrivateCounts
    from takifugu.releases import FileRelease, Ledger
    from takifugu.tables import Reading, Table

    # The table, its ledger, what there is to say of its people, and why it is refused.
    Opened = tuple[Table, Ledger, Sequence[Diagnostic], str | None]


class _Planned(Command):
    """A command whose options may stand in a plan."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the plan's arguments behind those that are written, which count before them."""
        if "--help" in args or "-h" in args or "--help-all" in args:
            return super().parse_args(ctx, args)
        names = [word for word in args if word == "--plan" or word.startswith("--plan=")]
        if len(names) == 1:
            _, equals, path = names[0].partition("=")
            place = args.index(names[0]) + 1
            if not equals and place < len(args):
                path = args[place]
            args = [*args, *arguments_of(path, self, args)]
            _require_filled_in(path, args)
        return super().parse_args(ctx, args)


def _require_filled_in(path: str, args: Sequence[str]) -> None:
    """Say of a plan that nobody has edited yet where it is to be edited."""
    given = {word.partition("=")[0] for word in args}
    if "--secret" not in given:
        raise InputError(
            f'the plan {path!r} names no secret: write the column to hide there, as in secret = "diagnosis"'
        )
    if "--columns" not in given:
        raise InputError(
            f"the plan {path!r} names no column to publish yet: open it, and under columns = [ remove the # before "
            f"each column that may be published"
        )


# What was typed, and what it asks for.


@dataclass(frozen=True)
class Typed:
    """Everything that may be typed, by the names of the options."""

    source: str
    target: str
    secret: tuple[str, ...]
    columns: tuple[str, ...]
    plan: str | None = None
    odds: float | None = None
    alpha: float | None = None
    epsilon: float | None = None
    best_guess: float | None = None
    error: float | None = None
    confidence: float = 0.95
    assurance: str | None = None
    known: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    leave_out: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    others: str = "error"
    order: str = "shuffle"
    positions: str | None = None
    drift: str = "refuse"
    domain: str | None = None
    private_fit: str | None = None
    other: str | None = None
    loss: str | None = None
    ledger: str | None = None
    new_ledger: bool = False
    id: str | None = None
    only_new: bool = False
    new_people: bool = False
    repeats: str = "refuse"
    folder: str | None = None
    preserve: str | None = None
    seed: int = 0
    allow_no_noise: bool = False
    beliefs: tuple[str, ...] = ()
    only_beliefs: bool = False
    dry_run: bool = False
    as_json: bool = False
    quiet: bool = False
    reading: "Reading" = field(kw_only=True)

    @cached_property
    def asked(self) -> "Asked":
        """What it asks for, once it makes sense; tables of beliefs are named, and opened later on."""
        from takifugu.problems import Adversary, Utility
        from takifugu.publishing import Asked
        from takifugu.tables import ALL_OTHERS

        promise = {name: getattr(self, name) for name in ("odds", "alpha", "epsilon", "best_guess", "error")}
        require_one_promise(**promise)
        columns = names_in(self.columns)
        if not columns:
            raise InputError("--columns is empty: name the columns to publish, with commas between them")
        if self.only_beliefs and not self.beliefs:
            raise InputError("--only-beliefs leaves no priors: give those of another table with --belief NAME=FILE")
        every = self.others == "drop" and (self.pairs or not self.leave_out)
        return Asked(
            self.secret[0] if len(self.secret) == 1 else list(self.secret),
            columns,
            self.odds,
            self.alpha,
            self.epsilon,
            self.confidence or None,
            self.pairs or None,
            names_in(self.keep),
            None if self.domain is None else domain_of(self.domain),
            self.id,
            self.order,
            self._fit,
            Adversary(
                known=known_of(self.known) or (),
                beliefs=beliefs_from(self.beliefs),
                own=not self.only_beliefs,
                assurance=self.assurance,
                best_guess=self.best_guess,
                drift=self.drift,
                repeats=self.repeats,
                seed=self.seed,
            ),
            Utility(
                preserve=preserve_of(self.preserve),
                loss=self.loss,
                error=self.error,
                allow_no_noise=self.allow_no_noise,
            ),
            replace(self.reading, leave_out=ALL_OTHERS if every else self.leave_out, other=self.other),
            only_new=self.only_new,
        )

    @cached_property
    def _fit(self) -> "float | PrivateCounts | None":
        """What a private fit takes: epsilon, or counts from a file."""
        from takifugu.queries import PrivateCounts

        if self.private_fit is None:
            return None
        try:
            return float(self.private_fit)
        except ValueError:
            return PrivateCounts.load(self.private_fit)

    @property
    def draws_counts(self) -> bool:
        """Whether private counts are drawn, and not read from a file."""
        return isinstance(self._fit, float)

    @property
    def goal(self) -> Path:
        """Where the table is to be."""
        return Path(self.target)

    @property
    def keys(self) -> list[Path]:
        """The file of positions, where one was asked for."""
        return [] if self.positions is None else [Path(self.positions)]

    @property
    def paths(self) -> dict[str, Path]:
        """The files that go with the table."""
        folder, stem = self.goal.parent if self.folder is None else Path(self.folder), self.goal.name.split(".")[0]
        found = {
            "report": folder / f"{stem}-report.html",
            "certificate": folder / f"{stem}-certificate.json",
            "public": folder / f"{stem}-certificate-public.json",
            "statement": folder / f"{stem}-statement.json",
            "calibration": folder / f"{stem}-calibration.json",
        }
        return found | ({"counts": folder / f"{stem}-counts.json"} if self.draws_counts else {})


@click.command("publish", cls=_Planned)
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option(
    "--secret", required=True, multiple=True, metavar="COLUMN", help="The column to hide; may be repeated for several."
)
@single("--plan", metavar="FILE", type=click.Path(), help="A plan, begun by takifugu inspect: its options count here.")
@click.option(
    "--columns", required=True, multiple=True, metavar="COLUMN,COLUMN", help="The columns to publish, with commas."
)
@single("--odds", type=float, help="Posterior odds change by at most this factor. [default: 3]")
@single("--alpha", type=float, help="In place of odds: the Rényi order, above 1.")
@single("--epsilon", type=float, help="In place of odds: the budget, above 0.")
@single("--best-guess", type=float, help="In place of odds: the most often that a guess may be right, such as 0.6.")
@single("--error", type=float, help="In place of odds: how far off values may be, such as 0.2 of their spread.")
@single(
    "--confidence", type=float, default=0.95, show_default=True, help="Guarantee it for the population; 0 for none."
)
@single("--assurance", type=click.Choice(["band"]), help="Guarantee it for the population, proved: changes more.")
@click.option(
    "--known",
    multiple=True,
    metavar="COLUMN[:EDGE:EDGE]",
    help="A column that the adversary may know, cut at edges if given; may be repeated.",
)
@click.option("--pair", "pairs", type=(str, str), multiple=True, metavar="A B", help="Two secrets; may be repeated.")
@click.option(
    "--leave-out",
    multiple=True,
    metavar="SECRET",
    help="A secret too rare to be hidden: its rows are not published; may be repeated.",
)
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="A column to publish unchanged, taken as known; may be repeated."
)
@single(
    "--others",
    type=click.Choice(["error", "drop"]),
    default="error",
    show_default=True,
    help="What to do with rows of secrets outside the pairs.",
)
@order_option
@positions_option
@drift_option
@single("--domain", metavar="FILE", type=click.Path(), help="The lists of values that may be published, as JSON.")
@single(
    "--private-fit",
    metavar="EPSILON",
    help="Also against who knows all other rows: count with noise once, such as 0.2; or the file of such counts.",
)
@single("--other", metavar="LABEL", help="What a label that is on no list of --domain becomes.")
@single("--loss", metavar="KIND", help="What is lost least: square, absolute or change.")
@single("--ledger", type=click.Path(), help="The ledger. [default: the one beside SOURCE, or else named after it]")
@new_ledger_option
@id_option
@click.option("--only-new", is_flag=True, help="Leave out the records that were published before.")
@new_people_option
@repeats_option
@single("--folder", type=click.Path(), help="Where report, certificates and calibration go. [default: beside TARGET]")
@preserve_option
@single("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws behind the confidence.")
@click.option("--dry-run", is_flag=True, help="Find the channel and tell what it would do; publish nothing.")
@click.option("--allow-no-noise", is_flag=True, help="Publish values unchanged where nothing had to be changed.")
@json_option
@quiet_option
@belief_options
@click.option("--only-beliefs", is_flag=True, help="Take the priors of --belief alone, and not those of SOURCE.")
@reading_options
@taking(Typed)
def command(typed: Typed) -> None:
    """Publish columns of SOURCE as TARGET so that they hide a secret, with report, proof and ledger.

    Posterior odds between two secrets change by at most the factor --odds. SOURCE is a CSV, TSV, Parquet or Excel file,
    or a bundled dataset (adult, heart, student-mat, student-por); TARGET a CSV or Parquet file.

    \b
      takifugu publish people.csv published.csv \\
          --secret diagnosis --columns stay_days,ward --odds 3
    See what that would change, and publish nothing:
      takifugu publish people.csv published.csv \\
          --secret diagnosis --columns stay_days,ward --dry-run
    From a plan that takifugu inspect began and you edited:
      takifugu publish people.csv published.csv --plan plan.toml
    Every month, what was appended to the file since:
      takifugu publish people.csv february.csv --secret diagnosis \\
          --columns stay_days,ward --id patient_nr --only-new

    All files appear, or none. Only TARGET and the file marked public are for others.
    Exit status: 0 done, 1 refused or not proved (a dry run too, where it would be), 2 bad input, 130 interrupted.
    """
    run(typed)


# What `takifugu publish` says when it is done, or would say: one page of plain words.


def tell_before(made: "Calibration", bare: str | None, known: str | None, warned: Container["Diagnostic"] = ()) -> None:
    """The same lines where nothing left; `bare` says why publishing would be refused, `known` that it was done.

    What people were `warned` of already, in the very same output, is not said twice.
    """
    from takifugu.reports import told

    out = console()
    out.print("Nothing was published, written or charged.", style="bold")
    out.print()
    if known is not None:
        out.print(f"It would be refused: {in_flags(known)}.")
    if bare is not None:
        out.print(f"It would be refused: {in_flags(bare)}. Give --allow-no-noise if that is what you want.")
    publication = told(made)
    for sentence in (*publication.lines(would=True), *publication.details):  # there is no report to read them in
        out.print(in_flags(sentence))
    out.print()
    tell_findings([one for one in made.findings if one not in warned], out)


def tell(
    made: "Calibration",
    done: "FileRelease",
    target: Path,
    paths: dict[str, Path],
    ledger: "Ledger",
    positions: Path | None = None,
    warned: Container["Diagnostic"] = (),
) -> None:
    """Five lines: what is hidden, can be guessed, changed and survives; and which files to keep private."""
    from takifugu.certificates import tells_probabilities
    from takifugu.reports import told

    out = console()
    out.print()
    for sentence in told(made).sentences:
        out.print(in_flags(sentence))
    out.print()
    # Those of the release are about the same reading of the same table, but for which rows went out.
    of_rows = (one for one in done.findings if one.code == "others-left-out")
    tell_findings([one for one in (*made.findings, *of_rows) if one not in warned], out)
    out.print()
    made_files = [
        (target, f"{done.rows:,} rows{'' if has_code('order-kept', done.findings) else ', shuffled'} (public)"),
        (paths["statement"], "what is guaranteed, and what is not, for everybody (public)"),
        (paths["public"], f"{'the proof' if tells_probabilities(made) else 'the guarantee, without priors'} (public)"),
        *([(paths["counts"], "to calibrate from again, for nothing (public)")] if "counts" in paths else []),
        (paths["report"], "open it in a browser (private)"),
        (paths["certificate"], "the proof, for an auditor (private)"),
        (paths["calibration"], "for takifugu release and audit (private)"),
        *([] if positions is None else [(positions, "which row stands where, for takifugu audit (private)")]),
        (ledger.path, "remembers what was published (private)"),
    ]
    folders: dict[Path, list[tuple[Path, str]]] = {}
    for path, what in made_files:
        folders.setdefault(path.parent.resolve(), []).append((path, what))  # one folder, however it is written
    for there in folders.values():
        out.print(f"In {os.fspath(there[0][0].parent)}:")
        tell_files([(path.name, what) for path, what in there], out)


def _figures(made: "Calibration") -> dict[str, object]:
    """The summary as plain values."""
    from takifugu.estimates import compared_laws
    from takifugu.reports import told

    found = told(made)
    return {
        "guarantee": made.total.to_state(),
        "summary": list(found.sentences),
        "attack_accuracy": {"before": found.guess_before, "after": found.guess_after},
        "columns": [one.to_dict() for one in found.columns],
        "never_output": found.never_output,
        "survives": compared_laws(made).to_dict(),
        "findings": [one.to_dict() for one in made.findings],
    }


def _print(made: "Calibration", done: "FileRelease", paths: dict[str, Path]) -> None:
    files = {name: os.fspath(path) for name, path in paths.items()}
    print_json(_figures(made) | {"published": True, "rows": done.rows, "files": files})


def _tell_dry(
    typed: Typed, made: "Calibration", words: str | None, known: str | None, warned: Container["Diagnostic"] = ()
) -> None:
    """What a dry run has to say."""
    bare = None if typed.allow_no_noise else words
    if typed.as_json:
        print_json(_figures(made) | {"published": False, "would_be_refused": known or bare})
    else:
        tell_before(made, bare, known, warned)
    if known is not None or bare is not None:
        raise SystemExit(1)  # as publishing would end


# What `takifugu publish` and `takifugu demo` do: read, fit, calibrate, prove, draw, and write all files or none.


def run(typed: Typed) -> None:
    """Do it, and tell."""
    asked = typed.asked
    if typed.draws_counts and typed.dry_run:
        raise InputError("--dry-run draws nothing, and --private-fit would: give it a file of counts")
    if typed.draws_counts:  # lists that lack are said before anything is read
        asked.cells()
    step = Steps(console(), quiet=typed.quiet or typed.as_json)
    with listening(step.meanwhile, steps=step, expecting=step.expecting):
        _run(typed, asked, step)


def _run(typed: Typed, asked: "Asked", step: Steps) -> None:
    from takifugu.certificates import Statement, certify
    from takifugu.problems import Adversary, Utility
    from takifugu.publishing import calibrated, stated
    from takifugu.releases import check_format, drawing_of, release_file
    from takifugu.reports import report

    paths, target = typed.paths, typed.goal
    files = Files(*paths.values())
    check_format(target)
    if not typed.dry_run:
        _require_free((target, *paths.values(), *typed.keys), typed.source, typed.ledger)
    source, where = _source(typed)
    step(f"Reading {Path(typed.source).name}")
    table, ledger, of_people, known = _opened(typed, asked, source, where)
    counts = paths.get("counts")
    made = calibrated(
        table,
        asked,
        ledger=ledger,
        ahead=step.warn,
        drawn=lambda drawn: None if counts is None else drawn.save(counts),
    )
    for finding in (*stated(asked), *of_people):
        made = made.with_finding(finding)
    words = drawing_of(made, {}).bare
    if typed.dry_run:
        step.end()
        return _tell_dry(typed, made, words, known, step.warned)
    if words is not None and not typed.allow_no_noise:
        raise CalibrationError(f"{words}. Nothing was published; give --allow-no-noise if that is what you want")
    step("Proving that it keeps the guarantee")
    proved = certify(made, progress=step.counting("places"))
    step("Writing the report")
    files.add(paths["report"], report(made, certificate=proved, words=in_flags), private=True)
    files.add(paths["calibration"], file_of(made.to_dict()), private=True)
    step("Drawing what is published")
    with together(), ExitStack() as undo:
        done = release_file(
            table,
            target,
            made,
            ledger=ledger,
            keep=asked.keep,
            others=asked.others,
            order=asked.order,
            positions=typed.positions,
            adversary=Adversary(drift=asked.by.drift),
            utility=Utility(allow_no_noise=True),
            progress=step.counting("rows"),
        )
        for path in (target, *typed.keys):
            undo.callback(path.unlink)
        statement = Statement.of(proved, rows=done.rows, table=target)
        for name, content in _papers(statement, proved).items():
            files.add(paths[name], file_of(content), private=name == "certificate")
        files.write()
        undo.pop_all()
    step.end()
    if typed.as_json:
        return _print(made, done, {"table": target, **paths, "ledger": ledger.path})
    tell(made, done, target, paths, ledger, next(iter(typed.keys), None), step.warned)


def _papers(statement: "Statement", proved: "Certificate | ChannelCertificate") -> dict[str, dict[str, object]]:
    """What goes with the table, for everybody and for the auditor."""
    sealed, public = statement.sealed_in(proved), proved.for_everybody
    return {"statement": statement.to_dict(), "certificate": sealed.to_dict(), "public": public.to_dict()}


def _opened(typed: Typed, asked: "Asked", source: object, where: Path | None) -> "Opened":
    """The table that may be published, its ledger, what there is to say of its people, and why it is refused.

    Only a dry run goes on where the ledger knows the records.
    """
    from takifugu.publishing import refuse_kept_order, require_merged, to_publish
    from takifugu.tables import Table

    table = Table(source, asked.read_as)
    if asked.private_fit is None:  # of which nothing is to be seen of the rows
        require_merged(table, asked.secrets, asked.columns)
    refuse_kept_order(table, order=asked.order, columns=[*asked.secrets, *asked.columns], reading=None)
    ledger = _book(typed, asked, table, where)
    step("Looking whether these records were published before")
    try:
        table, found = to_publish(
            table, ledger, read=asked.read, answer=asked.columns, id=asked.id, repeats=asked.by.repeats
        )
    except LedgerError as error:
        if not typed.dry_run:
            raise
        return table, ledger, (), str(error)
    return table, ledger, found, None


def _book(typed: Typed, asked: "Asked", table: "Table", where: Path | None) -> "Ledger":
    """The ledger: the one that is named, or the one beside the table."""
    from takifugu.publishing import default_ledger
    from takifugu.releases import Ledger, require_place

    book = typed.ledger
    ledger = Ledger(
        default_ledger(table, typed.goal if where is None else where, asked.read) if book is None else book,
        id=asked.id,
        new_people=typed.new_people,
        only_new=typed.only_new,
        repeats=asked.by.repeats,
        new=True if typed.new_ledger else None,
    )
    if not typed.dry_run:
        require_place(ledger.path)
    return ledger


def _require_free(paths: Iterable[Path], source: str, named: str | None) -> None:
    """Refuse to write over a file, and say so where it is the table itself: nobody published that."""
    from takifugu.releases import require_place

    ledger = None if named is None else Path(named)
    if ledger is not None:
        require_place(ledger)  # one that is named; where none is, the table has to be read first
    for path in paths:
        if ledger is not None and path.resolve() == ledger.resolve():
            raise InputError(f"{os.fspath(path)!r} is to be the ledger, and cannot be what is published too")
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise InputError(f"{os.fspath(path)!r} is the table itself: name another file to publish it as")
        if path.exists():
            raise InputError(f"{os.fspath(path)!r} exists already: what was published is not written over")


def _source(typed: Typed) -> tuple[object, Path | None]:
    """A file, or a bundled dataset where no file has that name; and where the file is."""
    from takifugu import datasets

    if typed.source in datasets.names() and not os.path.exists(typed.source):
        return datasets.load(typed.source), None
    return typed.source, Path(typed.source)
