"""takifugu certify: from a calibration to a certificate."""

import click


@click.command("certify")
@click.argument("calibration", type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), help="Where to write the certificate (private).")
@click.option("--public", type=click.Path(), help="Where to write the redacted certificate, to be published.")
def command(calibration: str, output: str, public: str | None) -> None:
    """Prove the CALIBRATION (the JSON of `takifugu calibrate --json`) and write a certificate.

    The certificate holds the priors: it is for an auditor. What --public writes holds none.
    """
    from takifugu.calibration import Calibration
    from takifugu.certificates import certify
    from takifugu.documents import strict_json

    certificate = certify(Calibration.from_dict(strict_json.read(calibration)))
    certificate.save(output)
    if public is not None:
        certificate.redacted().save(public)
    click.echo(
        f"Proved: noise of standard deviation {certificate.theta!r} keeps {len(certificate.pairs)} pair(s) of secrets "
        f"within alpha = {certificate.alpha!r}, epsilon = {certificate.epsilon!r}."
    )
