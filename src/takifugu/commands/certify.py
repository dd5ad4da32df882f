"""takifugu certify: from a calibration to a certificate."""

from pathlib import Path
from typing import Any

import click

from takifugu.commands.options import Command, json_option, quiet_option, single, workers_option
from takifugu.commands.output import in_flags, print_json
from takifugu.commands.progress import counting
from takifugu.problems import Diagnostic, has_code


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
def command(calibration: str, output: str, public: str | None, workers: int, as_json: bool, quiet: bool) -> None:
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
    help="What was published, that must be of this one: a redaction, a statement or its page.",
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
    holds its page of plain words against it.

    The exit status is 0 where it is proved, 1 where it is refuted or could not be proved, 2 where the file is bad.
    """
    from takifugu.certificates import Statement, load_public, require_public, verify

    page = None if public is None or Path(public).suffix != ".txt" else public
    published = None if public is None or page is not None else load_public(public)
    if page is not None:
        Statement.load(certificate).require_page(page)
    with counting("proved", quiet=quiet or as_json) as progress:
        proved = verify(certificate, limit=limit, effort=effort, workers=workers, progress=progress)
    if published is not None:
        require_public(proved, published)
    tell_proved(proved, as_json=as_json)
