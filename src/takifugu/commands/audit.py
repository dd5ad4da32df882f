"""takifugu audit: attacks on a file that went out."""

import sys

import click

from takifugu.commands.options import Command, quiet_option, reading_from, reading_options, single
from takifugu.commands.output import in_flags
from takifugu.commands.progress import counting


@click.command("audit", cls=Command)
@click.argument("published", type=click.Path())
@single("--truth", required=True, type=click.Path(), help="The table that was published, with its secrets.")
@single("--calibration", required=True, type=click.Path(), help="The file that `takifugu calibrate -o` wrote.")
@single("--secret", metavar="COLUMN", help="The column of secrets; a calibration knows its own.")
@click.option("--keys", multiple=True, metavar="COLUMN", help="A column that says which row is whose; may be repeated.")
@single(
    "--positions", type=click.Path(), help="Which row stands where, as --positions of publish and release wrote it."
)
@single("--report", type=click.Path(), help="Where to write the page with pictures (private).")
@single("--level", type=float, default=0.05, show_default=True, help="The chance of a false alarm, at most.")
@single("--seed", type=int, default=0, show_default=True, help="Of the division of the rows and of the learners.")
@click.option(
    "--all-other-rows", is_flag=True, help="Ask also what who knows every other row learns (small tables alone)."
)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@quiet_option
def command(
    published: str,
    truth: str,
    calibration: str,
    secret: str | None,
    keys: tuple[str, ...],
    positions: str | None,
    report: str | None,
    level: float,
    seed: int,
    all_other_rows: bool,
    as_json: bool,
    quiet: bool,
    **reading: object,
) -> None:
    """Attack the file PUBLISHED as an adversary would, and say what could be learned from it.

    Exit status 1 where the attacks contradict the guarantee of the calibration, or where the rows cannot be those of
    the truth. That no attack contradicts it is evidence, never a proof: for that there is `takifugu certify`.
    """
    from takifugu.atomic import Files

    files = Files(report)
    with counting("attack", quiet=quiet) as progress:  # a sign of life before the libraries are loaded
        from takifugu.audits import audit
        from takifugu.calibration import Calibration
        from takifugu.commands.output import print_json
        from takifugu.reports import render_audit as render

        found = audit(
            published,
            truth,
            Calibration.load(calibration),
            secret=secret,
            keys=keys or None,
            positions=positions,
            seed=seed,
            level=level,
            reading=reading_from(reading),
            progress=progress,
            all_other_rows=all_other_rows,
        )
    if report is not None:
        files.add(report, render(found), private=True)
        files.write()
    if as_json:
        print_json(found.to_dict())
    else:
        for sentence in map(in_flags, found.sentences):
            click.echo(f"{sentence[0].upper()}{sentence[1:].rstrip('.')}.")
    if found.contradicted or found.misplaced is not None:
        sys.exit(1)
