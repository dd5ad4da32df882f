"""takifugu verify: a certificate proved again."""

import click


@click.command("verify")
@click.argument("certificate", type=click.Path())
@click.option("--public", type=click.Path(), help="A redacted certificate that must be that of this one.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Units of work, about a microsecond each; grows with the file by default.",
)
@click.option(
    "--effort",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="A factor on the default limit, for the patient.",
)
def command(certificate: str, public: str | None, limit: int | None, effort: float) -> None:
    """Prove the CERTIFICATE again from its priors, trusting no figure in it.

    The exit status is 0 where it is proved, 1 where it is refuted or could not be proved, 2 where the file is bad.
    """
    from takifugu.certificates import RedactedCertificate, verify

    published = None if public is None else RedactedCertificate.load(public)
    proved = verify(certificate, limit=limit, effort=effort)
    if published is not None:
        proved.require_match(published)
    click.echo(
        f"Proved: noise of standard deviation {proved.theta!r} keeps {len(proved.pairs)} pair(s) of secrets within "
        f"alpha = {proved.alpha!r}, epsilon = {proved.epsilon!r}, under {len(proved.beliefs)} belief(s)."
    )
