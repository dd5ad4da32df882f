"""takifugu calibrate, certify, verify and sweep: the least noise, its proof, and budgets side by side."""

import datetime
import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from takifugu._work import listening
from takifugu.commands.options import (
    Command,
    Question,
    ask,
    asking,
    default_of,
    json_option,
    names_in,
    preserve_of,
    preserve_option,
    quiet_option,
    require_promise,
    single,
    taking,
    workers_option,
)
from takifugu.commands.output import console, file_of, in_flags, print_json, tell, tell_files
from takifugu.commands.progress import counting, doing, done, expecting
from takifugu.errors import CertificationError, InputError
from takifugu.problems import Diagnostic, has_code

if TYPE_CHECKING:
    from takifugu.atomic import Files
    from takifugu.mechanisms import Mechanism


def _hearing() -> AbstractContextManager[None]:
    """A search that says on the line what it tries, above it what is asked for next, and how long it takes."""
    return listening(
        lambda what: doing(what, anew=False), steps=lambda what: click.echo(what, err=True), expecting=expecting
    )


@dataclass(frozen=True)
class Typed:
    """What is typed for `takifugu calibrate`."""

    alpha: float | None
    epsilon: float | None
    odds: float | None
    best_guess: float | None
    error: float | None
    confidence: float | None
    assurance: str | None
    seed: int
    mechanism: str | None
    delta: float | None
    solver: str | None
    radius: float | None
    shape: str | None
    preserve: str | None
    report: str | None
    certificate: str | None
    public: str | None
    output: str | None
    as_json: bool
    question: Question


@click.command("calibrate", cls=Command)
@asking
@single("--alpha", type=float, help="The Rényi order, above 1: larger guards rarer events.")
@single("--epsilon", type=float, help="The budget, above 0: smaller is more private.")
@single(
    "--odds",
    type=float,
    help="No published value may change the odds by more than this factor: a channel for row, Laplace noise else.",
)
@single(
    "--best-guess", type=float, help="In place of --epsilon or --odds: how often a guess may be right, such as 0.6."
)
@single(
    "--error", type=float, help="In place of --epsilon or --odds: how far off values may be, as a share of the spread."
)
@single("--confidence", type=float, help="Such as 0.95: guarantee it for the population, not only for the sample.")
@single("--assurance", type=click.Choice(["band"]), help="Guarantee it for the population, proved: more noise.")
@single("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws behind the confidence.")
@single("--mechanism", help="The rule that finds the noise. [default: exact, and optimal for row]")
@single(
    "--delta", type=float, help="With --epsilon alone: (epsilon, delta). With wasserstein-approx: the share left out."
)
@single(
    "--solver",
    type=click.Choice(["program", "columns"]),
    help="For row: one program for the whole channel, or column generation. [default: columns for many values]",
)
@single("--radius", type=float, help="For row: cover every prior within this total variation.")
@single("--shape", type=click.Choice(["full", "diagonal", "equal"]), help="For vectors: which noise is looked for.")
@preserve_option
@single("--report", type=click.Path(), help="Write a report as one HTML file (private).")
@single("--certificate", type=click.Path(), help="Prove it, and write the certificate (private).")
@single("--public", type=click.Path(), help="Prove it, and write the certificate without priors, to be published.")
@single("-o", "--output", type=click.Path(), help="Write the calibration, for `release` and `certify` (private).")
@click.option("--json", "as_json", is_flag=True, help="Print the calibration as JSON instead.")
@taking(Typed)
def command(typed: Typed) -> None:
    """Find the least noise that hides a secret of TABLE: a CSV or Parquet file, or a bundled dataset.

    Bundled are adult, heart, student-mat and student-por.

    \b
    Hide race in a published column, with a report and a proof:
      takifugu calibrate adult --secret race --pair White Other \\
          --query raw:education-num --alpha 3 --epsilon 1 \\
          --report report.html --certificate certificate.json
    A group mean; secrets that are numbers are written as they are:
      takifugu calibrate heart --secret slope --pair 1 3 \\
          --query mean:oldpeak --alpha 2 --epsilon 0.5
    Laplace noise that changes posterior odds by at most a factor of 3:
      takifugu calibrate heart --secret slope --pair 1 3 \\
          --query mean:oldpeak --odds 3
    The least Gaussian noise for (epsilon, delta), or with --mechanism laplace the least Laplace noise:
      takifugu calibrate heart --secret slope --pair 1 3 \\
          --query mean:oldpeak --epsilon 1 --delta 1e-5
    The noise at which no guess is right more than six times in ten:
      takifugu calibrate heart --secret slope --pair 1 3 \\
          --query mean:oldpeak --best-guess 0.6
    Publish the column once the noise is known:
      takifugu calibrate people.csv ... --output calibration.json
      takifugu release people.csv published.csv \\
          --calibration calibration.json --ledger people.ledger

    Files marked private describe the people in the table. Nothing is written unless everything succeeds.
    Exit status: 0 done, 1 no finite noise or not proved, 2 bad input, 130 interrupted.
    """
    from takifugu.calibration import calibrate
    from takifugu.certificates import certify
    from takifugu.mechanisms import draws_needed
    from takifugu.problems import Adversary

    wishes = (("solver", typed.solver), ("radius", typed.radius), ("shape", typed.shape))
    options: dict[str, Any] = {name: value for name, value in wishes if value is not None}
    # Before the table is read, which may take long: whether it is a promise at all, and one that can be kept.
    given = {
        "alpha": typed.alpha,
        "epsilon": typed.epsilon,
        "odds": typed.odds,
        "best_guess": typed.best_guess,
        "error": typed.error,
    }
    own = (
        options
        | ({} if typed.preserve is None else {"preserve": preserve_of(typed.preserve)})
        | ({} if typed.delta is None else {"delta": typed.delta})
    )
    rule = _rule(typed.question.query, typed.mechanism, own, given)
    _refuse_odds_of_noise(rule, typed.odds)
    if typed.confidence is not None:
        draws_needed(typed.confidence)
    files = _places(typed.report, typed.certificate, typed.public, typed.output)
    doing("Reading the table and fitting its priors")
    asked = ask(typed.question, draws=0 if typed.confidence is None else draws_needed(typed.confidence))
    doing("Looking for the least that hides the secret")
    with _hearing():
        result = calibrate(
            asked.priors,
            alpha=typed.alpha,
            epsilon=typed.epsilon,
            delta=typed.delta,
            odds=typed.odds,
            best_guess=typed.best_guess,
            error=typed.error,
            confidence=typed.confidence,
            assurance=typed.assurance,
            preserve=preserve_of(typed.preserve),
            pairs=asked.pairs,
            mechanism=typed.mechanism,
            adversary=Adversary(seed=typed.seed),
            options=options,
        )
    proved = None
    if typed.certificate is not None or typed.public is not None:
        doing("Proving it")
        proved = certify(result)
    doing("Comparing it with other ways")
    facts = None
    if typed.report is not None or not typed.as_json:
        from takifugu.reports import facts_of

        digest = None if proved is None else proved.sha256
        facts = facts_of(result, question=asked.question, certificate_sha256=digest)
    told = []
    if typed.report is not None and facts is not None:
        from takifugu.reports import render

        files.add(typed.report, render(facts, dated=datetime.date.today(), words=in_flags), private=True)
        told.append((typed.report, "the report (private)"))
    told += _papers(files, proved, typed.certificate, typed.public)
    if typed.output is not None:
        files.add(typed.output, file_of(result.to_dict()), private=True)
        told.append((typed.output, "the calibration (private)"))
    files.write()
    done()
    if typed.as_json:
        print_json(result.to_dict())
    elif facts is not None:
        out = console()
        tell(facts, out)
        if told:
            out.print()
            tell_files(told, out)


def _rule(query: str, mechanism: str | None, options: dict[str, object], given: dict[str, float | None]) -> "Mechanism":
    """The rule that was asked for, once what is asked is a guarantee; delta beside epsilon alone belongs to that."""
    from takifugu.mechanisms import get_mechanism

    is_approximate = "delta" in options and given["alpha"] is None and given["epsilon"] is not None
    if not is_approximate:
        require_promise(**given, of_noise=default_of(query) == "shaped")
    alone = given["odds"] is not None and given["alpha"] is None and given["epsilon"] is None
    own = {name: value for name, value in options.items() if not (is_approximate and name == "delta")}
    return get_mechanism(mechanism or default_of(query, odds=alone), own)


def _refuse_odds_of_noise(rule: object, odds: float | None) -> None:
    """Refuse odds of a mechanism that adds Gaussian noise, as it would itself once the priors are fitted."""
    from takifugu.mechanisms import Additive, Shaped, refuse_odds
    from takifugu.problems import asked_for

    if isinstance(rule, Additive | Shaped) and odds is not None:
        refuse_odds(asked_for(alpha=None, epsilon=None, odds=odds), rule.name)


def _places(report: str | None, certificate: str | None, public: str | None, output: str | None) -> "Files":
    """Where the files will be, refused before the work where they cannot be."""
    from takifugu.atomic import Files

    files = Files(report, certificate, public, output)
    tell_replaced(certificate, public)
    return files


def _papers(files: "Files", proved: Any, certificate: str | None, public: str | None) -> list[tuple[str, str]]:
    """The certificate, and what may be published of it, among the files to write."""
    told = []
    if proved is not None and certificate is not None:
        files.add(certificate, file_of(proved.to_dict()), private=True)
        told.append((certificate, "the certificate: proved (private)"))
    if proved is not None and public is not None:
        files.add(public, file_of(proved.for_everybody.to_dict()))
        told.append((public, "the certificate without priors, to be published"))
    return told


# takifugu certify: from a calibration to a certificate.


def tell_replaced(*papers: str | None) -> None:
    """Say, while there is time to stop, which certificate will be written over: its public part may be in other hands.

    Both tell one another by their digests, so that what was handed out fits the old one alone.
    """
    for path in papers:
        if path is not None and Path(path).is_file() and Path(path).stat().st_size:
            old = "what was handed out of the certificate before will not fit the new one"
            click.echo(f"{path!r} will be written over: {old}", err=True)


def tell_proved(certificate: Any, *, as_json: bool = False) -> None:
    """What is proved, and what is said of the population: Monte Carlo evidence is looked at, and no proof."""
    if as_json:
        made = getattr(certificate, "calibration", None)
        print_json(
            {
                "proved": certificate.claim,
                "population": getattr(certificate, "population", None),
                "guarantee": None if made is None else made.total.to_state(),
                "sha256": getattr(certificate, "sha256", None),
            }
        )
        return
    click.echo(f"Proved: {in_flags(certificate.claim)}.")
    if (population := getattr(certificate, "population", None)) is not None:
        click.echo(f"For the population, looked at again: {population}.")

    made = getattr(certificate, "calibration", None)
    if made is not None and has_code("order-kept", made.findings):
        click.echo(f"Not proved: {Diagnostic('order-kept')}.")


@click.command("certify", cls=Command)
@click.argument("calibration", type=click.Path())
@single("-o", "--output", required=True, type=click.Path(), help="Where to write the certificate (private).")
@single("--public", type=click.Path(), help="Where to write the redacted certificate, to be published.")
@workers_option
@json_option
@quiet_option
def certifying(calibration: str, output: str, public: str | None, workers: int, as_json: bool, quiet: bool) -> None:
    """Prove the CALIBRATION (the JSON of `takifugu calibrate --json`) and write a certificate.

    The certificate holds the priors: it is for an auditor. What --public writes holds none.
    """
    from takifugu.atomic import Files
    from takifugu.calibration import Calibration
    from takifugu.certificates import certify
    from takifugu.commands.output import file_of

    files = Files(output, public)
    tell_replaced(output, public)
    with counting("proved", quiet=quiet or as_json) as progress:
        certificate = certify(Calibration.load(calibration), workers=workers, progress=progress)
    files.add(output, file_of(certificate.to_dict()), private=True)
    if public is not None:
        files.add(public, file_of(certificate.for_everybody.to_dict()))
    files.write()
    tell_proved(certificate, as_json=as_json)


# takifugu verify: a certificate proved again.


@click.command("verify", cls=Command)
@click.argument("certificate", type=click.Path())
@single(
    "--public",
    type=click.Path(),
    help="What was published, that must be of this one: a redaction, a statement, its page, or a statement's table.",
)
@single(
    "--limit",
    type=click.IntRange(min=1),
    help="Units of work, about a microsecond each; grows with the file by default.",
)
@single(
    "--effort",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="A factor on the default limit, for the patient.",
)
@workers_option
@json_option
@quiet_option
def verifying(
    certificate: str, public: str | None, limit: int | None, effort: float, workers: int, as_json: bool, quiet: bool
) -> None:
    """Prove the CERTIFICATE again from its priors, trusting no figure in it.

    It may be a statement that goes with a published table, where its certificate is public and in it; --public then
    holds its page of plain words (.txt), or the published table itself, against it.

    The public part of a private certificate, and a statement whose certificate is private, are read and told in plain
    words: nothing is proved by that.

    The exit status is 0 where it is proved, 1 where it is refuted or could not be proved, also where only the private
    certificate can prove it, and 2 where the file is bad.
    """
    from takifugu.certificates import Statement, load_public, require_public, verify

    held = ""  # what was held against a statement
    published = load_public(public) if public is not None and Path(public).suffix == ".json" else None
    if public is not None and published is None:
        statement = Statement.load(certificate)
        if Path(public).suffix == ".txt":
            statement.require_page(public)
            held = "page"
        else:
            statement.require_table(public)
            held = "table"
            if not quiet and not as_json:
                click.echo(f"{public} is the file that the statement is about.")
    try:
        with counting("proved", quiet=quiet or as_json) as progress:
            proved = verify(certificate, limit=limit, effort=effort, workers=workers, progress=progress)
    except CertificationError:
        if not as_json:
            _tell_stated(certificate, held=held)
        raise
    if published is not None:
        require_public(proved, published)
    tell_proved(proved, as_json=as_json)


def _tell_stated(path: str, *, held: str) -> None:
    """Tell what a file without priors states, by which nothing is proved; nothing of files of other kinds."""
    from takifugu.certificates import RedactedCertificate, RedactedChannel, Statement, load_public

    try:
        found = load_public(path)
    except (CertificationError, InputError):
        return
    if isinstance(found, Statement):
        if found.certificate is not None:
            return
        kind = "a statement"
        checked = "the file is a statement, and all of it is under its digest"
        checked += f", and the {held} is its own" if held else ""
        of_table = "" if held == "table" else "that a table is the one it is about (give it with --public), "
    elif isinstance(found, RedactedCertificate | RedactedChannel):
        kind, checked, of_table = "the public part of a private certificate", "it is well-formed", ""
    else:
        return
    click.echo(f"This is {kind}. It states, and does not prove:\n")
    click.echo("\n".join(found.sentences))
    click.echo(f"\nChecked: {checked}.\nNot checked: {of_table}that the guarantee holds.\n")


# takifugu sweep: budgets and mechanisms side by side.


@dataclass(frozen=True)
class TypedSweep:
    """What is typed for `takifugu sweep`."""

    alphas: tuple[str, ...]
    epsilons: tuple[str, ...]
    deltas: tuple[str, ...]
    odds: tuple[str, ...]
    mechanisms: tuple[str, ...]
    confidence: float | None
    assurance: str | None
    csv_path: str | None
    as_json: bool
    question: Question


@click.command("sweep", cls=Command)
@asking
@click.option("--alpha", "alphas", multiple=True, help="Rényi orders: 2,3 or repeat the option.")
@click.option("--epsilon", "epsilons", multiple=True, help="Budgets: 0.5,1,2 or repeat the option.")
@click.option("--delta", "deltas", multiple=True, help="Shares of (ε, δ), each at every --epsilon: 1e-5,1e-6.")
@click.option("--odds", "odds", multiple=True, help="For --query row: guarantees by odds, 2,3,5 or repeat the option.")
@click.option("--mechanism", "mechanisms", multiple=True, help="Mechanisms, with commas. [default: as calibrate]")
@single("--confidence", type=float, help="Such as 0.95: guarantee it for the population, not only for the sample.")
@single("--assurance", type=click.Choice(["band"]), help="Guarantee it for the population, proved: more noise.")
@single("--csv", "csv_path", type=click.Path(allow_dash=True), help="Write the table as CSV; - for here.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON instead; null is infinite.")
@taking(TypedSweep)
def sweeping(typed: TypedSweep) -> None:
    """Calibrate TABLE at every combination of orders, budgets and mechanisms.

    \b
    What a tenfold budget saves, and what the paper's bound would add:
      takifugu sweep adult --secret race --pair White Other \\
          --query raw:education-num --alpha 3 --epsilon 0.1,0.3,1 \\
          --mechanism exact,gmm-transport
    What odds cost, here where values go out from a list:
      takifugu sweep adult --secret race --pair White Other \\
          --query row:education-num --odds 1.5,2,3
    What (ε, δ) costs, in Gaussian and in Laplace noise:
      takifugu sweep heart --secret slope --query raw:oldpeak \\
          --epsilon 0.5,1 --delta 1e-5,1e-6 --mechanism exact,laplace
    For a spreadsheet:
      takifugu sweep heart --secret slope --query mean:oldpeak \\
          --alpha 2,3 --epsilon 0.5,1 --csv noise.csv

    Exit status: 0 done, 1 refused, 2 bad input, 130 interrupted.
    """
    from takifugu.atomic import write_text
    from takifugu.calibration import sweep
    from takifugu.mechanisms import draws_needed

    orders, budgets = _numbers("--alpha", typed.alphas), _numbers("--epsilon", typed.epsilons)
    factors, shares = _numbers("--odds", typed.odds), _numbers("--delta", typed.deltas)
    if bool(orders or shares) != bool(budgets) or not (orders or shares or factors):
        beside = ", --epsilon and --delta, or --odds" if default_of(typed.question.query) != "shaped" else ""
        raise InputError(f"give --alpha and --epsilon{beside}: there is nothing to calibrate at")
    names = names_in(typed.mechanisms) or None
    if typed.confidence is not None:
        draws_needed(typed.confidence)  # before the table is read, which may take long
    doing("Reading the table and fitting its priors")
    asked = ask(typed.question, draws=0 if typed.confidence is None else draws_needed(typed.confidence))
    doing("Calibrating at every combination")
    with _hearing():
        found = sweep(
            asked.priors,
            alpha=orders,
            epsilon=budgets,
            delta=shares,
            odds=factors,
            mechanism=names,
            pairs=asked.pairs,
            confidence=typed.confidence,
            assurance=typed.assurance,
        )
    done()
    if typed.csv_path is not None:
        text = _csv(found)
        if typed.csv_path == "-":
            click.echo(text, nl=False)
        else:
            write_text(text, typed.csv_path)
    if typed.as_json:
        print_json([_row(row) for row in found.to_dict("records")])
    elif typed.csv_path is None:
        _tell(asked.question, found)


def _numbers(option: str, texts: tuple[str, ...]) -> list[float]:
    numbers = []
    for text in ",".join(texts).split(",") if texts else ():
        try:
            numbers.append(float(text))
        except ValueError:
            raise InputError(
                f"{option} must be numbers with commas between them, such as 0.5,1; got {text!r}"
            ) from None
    return numbers


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"worst_pair": None if row["worst_pair"] is None else list(row["worst_pair"])}


def _csv(found: Any) -> str:
    """The table with the pair in two columns; floats lose no bit."""
    flat = found.assign(
        worst_first=[None if pair is None else pair[0] for pair in found["worst_pair"]],
        worst_second=[None if pair is None else pair[1] for pair in found["worst_pair"]],
    ).drop(columns="worst_pair")
    text: str = flat.to_csv(index=False, lineterminator="\n")
    return text


def _tell(question: str, found: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from takifugu.reports import clean

    out = console()
    out.print(Text(clean(question, 400), style="bold"))
    out.print()
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    figures = _of_lists if "changed" in found else _of_any_noise if "delta" in found else _of_noise

    def shown(row: object) -> dict[str, str]:
        return {title: text for title, text in figures(row).items() if title != "δ" or "delta" in found}

    for name in ("mechanism", *shown(None), "worst pair"):
        table.add_column(name, justify="left" if name in ("mechanism", "worst pair") else "right")
    for row in found.itertuples():
        who = "" if row.worst_pair is None else " against ".join(clean(secret, 30) for secret in row.worst_pair)
        table.add_row(row.mechanism, *shown(row).values(), who)
    out.print(table)
    if any(math.isinf(theta) for theta in found["theta"]):
        out.print("∞: the mechanism has no finite answer there.", style="dim")


def _of_noise(row: object) -> dict[str, str]:
    """The columns of noise, with a row's figures."""
    from takifugu.reports import number

    names = {"α": "alpha", "ε": "epsilon", "noise θ": "theta", "variance θ²": "variance"}
    return {title: "" if row is None else number(getattr(row, name)) for title, name in names.items()}


def _of_any_noise(row: Any) -> dict[str, str]:
    """The same beside a δ, for which the noise may be of any family."""
    from takifugu.reports import number

    names = {"α": "alpha", "ε": "epsilon", "δ": "delta", "standard deviation": "std", "variance": "variance"}
    found = {title: None if row is None else getattr(row, name) for title, name in names.items()}
    return {title: "" if one is None else "–" if math.isnan(one) else number(one) for title, one in found.items()}


def _of_lists(row: Any) -> dict[str, str]:
    """The same of channels between values of a list; odds are what they are called by."""
    from takifugu.reports import number, share_of

    if row is None:
        return dict.fromkeys(("α", "ε", "δ", "odds", "changed", "loss"), "")
    odds = number(math.exp(row.epsilon)) if math.isinf(row.alpha) else "–"
    delta = getattr(row, "delta", math.nan)
    return {
        "α": "–" if math.isnan(row.alpha) else number(row.alpha),
        "ε": number(row.epsilon),
        "δ": "–" if math.isnan(delta) else number(delta),
        "odds": odds,
        "changed": "–" if math.isnan(row.changed) else share_of(row.changed),
        "loss": number(row.error),
    }
