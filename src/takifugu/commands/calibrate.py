"""takifugu calibrate: from a table to the noise, a report and a proof."""

import datetime
import math
from typing import Any

import click

from takifugu.commands.asking import ask, asking
from takifugu.commands.telling import console, finite, print_json, tell, tell_files


@click.command("calibrate")
@asking
@click.option("--alpha", required=True, type=float, help="The Rényi order, above 1: larger guards rarer events.")
@click.option("--epsilon", required=True, type=float, help="The budget, above 0: smaller is more private.")
@click.option("--mechanism", default="exact", show_default=True, help="The rule that finds the noise.")
@click.option("--delta", type=float, help="For wasserstein-approx: the share of cases left unprotected.")
@click.option("--report", type=click.Path(), help="Write a report as one HTML file (private).")
@click.option("--certificate", type=click.Path(), help="Prove it, and write the certificate (private).")
@click.option(
    "--public", type=click.Path(), help="Prove it, and write the certificate without priors, to be published."
)
@click.option("-o", "--output", type=click.Path(), help="Write the calibration, for `release` and `certify` (private).")
@click.option("--json", "as_json", is_flag=True, help="Print the calibration as JSON instead.")
def command(
    alpha: float,
    epsilon: float,
    mechanism: str,
    delta: float | None,
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
    Publish the column once the noise is known:
      takifugu calibrate people.csv ... --output calibration.json
      takifugu release people.csv published.csv \\
          --calibration calibration.json --column income --secret race

    Files marked private describe the people in the table. Nothing is written unless everything succeeds.
    Exit status: 0 done, 1 no finite noise or not proved, 2 bad input, 130 interrupted.
    """
    from takifugu.atomic import write_text
    from takifugu.calibration import calibrate
    from takifugu.certificates import certify
    from takifugu.documents import strict_json
    from takifugu.errors import CalibrationError

    asked = ask(**question)
    options = {} if delta is None else {"delta": delta}
    result = calibrate(asked.priors, alpha=alpha, epsilon=epsilon, pairs=asked.pairs, mechanism=mechanism, **options)
    if math.isinf(result.theta):
        raise CalibrationError(str(result))
    proved = certify(result) if certificate is not None or public is not None else None
    facts = None
    if report is not None or not as_json:
        from takifugu.reports.facts import facts_of

        digest = None if proved is None else proved.sha256
        facts = facts_of(result, question=asked.question, certificate_sha256=digest)
    files = []
    if report is not None and facts is not None:
        from takifugu.reports.html import render

        write_text(render(facts, dated=datetime.date.today()), report, private=True)
        files.append((report, "the report (private)"))
    if proved is not None and certificate is not None:
        proved.save(certificate)
        files.append((certificate, "the certificate: proved (private)"))
    if proved is not None and public is not None:
        proved.redacted().save(public)
        files.append((public, "the certificate without priors, to be published"))
    if output is not None:
        strict_json.write(finite(result.to_dict()), output, private=True)
        files.append((output, "the calibration (private)"))
    if as_json:
        print_json(result.to_dict())
    elif facts is not None:
        out = console()
        tell(facts, out)
        if files:
            out.print()
            tell_files(files, out)
