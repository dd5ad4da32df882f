"""takifugu calibrate: from a table to the noise, a report and a proof."""

import datetime
from typing import TYPE_CHECKING, Any

import click

from takifugu._work import listening
from takifugu.commands.certify import tell_replaced
from takifugu.commands.options import Command, ask, asking, default_of, require_promise, single
from takifugu.commands.output import console, file_of, in_flags, print_json, tell, tell_files
from takifugu.commands.progress import doing, done

if TYPE_CHECKING:
    from takifugu.atomic import Files
    from takifugu.mechanisms import Mechanism


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
    help="For row: one program for the whole channel, or column generation. [default: columns beyond 2,000 values]",
)
@single("--radius", type=float, help="For row: cover every prior within this total variation.")
@single("--shape", type=click.Choice(["full", "diagonal", "equal"]), help="For vectors: which noise is looked for.")
@click.option(
    "--free-shares",
    is_flag=True,
    help="For row: let the share of each value change; changes fewer of them. publish does so unless told not to.",
)
@single("--report", type=click.Path(), help="Write a report as one HTML file (private).")
@single("--certificate", type=click.Path(), help="Prove it, and write the certificate (private).")
@single("--public", type=click.Path(), help="Prove it, and write the certificate without priors, to be published.")
@single("-o", "--output", type=click.Path(), help="Write the calibration, for `release` and `certify` (private).")
@click.option("--json", "as_json", is_flag=True, help="Print the calibration as JSON instead.")
def command(
    alpha: float | None,
    epsilon: float | None,
    odds: float | None,
    best_guess: float | None,
    error: float | None,
    confidence: float | None,
    assurance: str | None,
    seed: int,
    mechanism: str | None,
    delta: float | None,
    solver: str | None,
    radius: float | None,
    shape: str | None,
    free_shares: bool,
    report: str | None,
    certificate: str | None,
    public: str | None,
    output: str | None,
    as_json: bool,
    **question: Any,
) -> None:
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

    wishes = (("delta", delta), ("solver", solver), ("radius", radius), ("shape", shape))
    options: dict[str, Any] = {name: value for name, value in wishes if value is not None}
    if free_shares:
        options["keep"] = None
    # Before the table is read, which may take long: whether it is a promise at all, and one that can be kept.
    given = {"alpha": alpha, "epsilon": epsilon, "odds": odds, "best_guess": best_guess, "error": error}
    rule = _rule(question["query"], mechanism, options, given)
    _refuse_odds_of_noise(rule, odds)
    if confidence is not None:
        draws_needed(confidence)
    files = _places(report, certificate, public, output)
    doing("Reading the table and fitting its priors")
    asked = ask(draws=0 if confidence is None else draws_needed(confidence), **question)
    doing("Looking for the least that hides the secret")
    with listening(lambda what: doing(what, anew=False)):
        result = calibrate(
            asked.priors,
            alpha=alpha,
            epsilon=epsilon,
            odds=odds,
            best_guess=best_guess,
            error=error,
            step=lambda what: click.echo(what, err=True),
            confidence=confidence,
            assurance=assurance,
            seed=seed,
            pairs=asked.pairs,
            mechanism=mechanism,
            **options,
        )
    proved = None
    if certificate is not None or public is not None:
        doing("Proving it")
        proved = certify(result)
    doing("Comparing it with other ways")
    facts = None
    if report is not None or not as_json:
        from takifugu.reports import facts_of

        digest = None if proved is None else proved.sha256
        facts = facts_of(result, question=asked.question, certificate_sha256=digest)
    told = []
    if report is not None and facts is not None:
        from takifugu.reports import render

        files.add(report, render(facts, dated=datetime.date.today(), words=in_flags), private=True)
        told.append((report, "the report (private)"))
    told += _papers(files, proved, certificate, public)
    if output is not None:
        files.add(output, file_of(result.to_dict()), private=True)
        told.append((output, "the calibration (private)"))
    files.write()
    done()
    if as_json:
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
