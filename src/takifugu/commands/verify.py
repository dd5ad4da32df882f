"""takifugu verify: a certificate proved again."""

import click

from takifugu.commands.certify import tell_proved
from takifugu.commands.options import Command, quiet_option, single, workers_option
from takifugu.commands.progress import counting


@click.command("verify", cls=Command)
@click.argument("certificate", type=click.Path())
@single("--public", type=click.Path(), help="A redacted certificate, or a statement, that must be of this one.")
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
@quiet_option
def command(certificate: str, public: str | None, limit: int | None, effort: float, workers: int, quiet: bool) -> None:
    """Prove the CERTIFICATE again from its priors, trusting no figure in it.

    It may be a statement that goes with a published table, where its certificate is public and in it.

    The exit status is 0 where it is proved, 1 where it is refuted or could not be proved, 2 where the file is bad.
    """
    from takifugu.certificates import load_public, require_public, verify

    published = None if public is None else load_public(public)
    with counting("proved", quiet=quiet) as progress:
        proved = verify(certificate, limit=limit, effort=effort, workers=workers, progress=progress)
    if published is not None:
        require_public(proved, published)
    tell_proved(proved)
