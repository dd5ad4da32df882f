"""takifugu audit: attacks on a file that went out."""

import sys
from typing import Any

import click

from takifugu.commands.options import Command, reading_from, reading_options, single
from takifugu.commands.progress import counting


@click.command("audit", cls=Command)
@click.argument("published", type=click.Path())
@single("--truth", required=True, type=click.Path(), help="The table that was published, with its secrets.")
@single("--calibration", required=True, type=click.Path(), help="The file that `takifugu calibrate -o` wrote.")
@single("--secret", metavar="COLUMN", help="The column of secrets; a calibration knows its own.")
@click.option("--keys", multiple=True, metavar="COLUMN", help="A column that says which row is whose; may be repeated.")
@single("--report", type=click.Path(), help="Where to write the page with pictures (private).")
@single("--level", type=float, default=0.05, show_default=True, help="The chance of a false alarm, at most.")
@single("--seed", type=int, default=0, show_default=True, help="Of the division of the rows and of the learners.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@reading_options
def command(
    published: str,
    truth: str,
    calibration: str,
    secret: str | None,
    keys: tuple[str, ...],
    report: str | None,
    level: float,
    seed: int,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Attack the file PUBLISHED as an adversary would, and say what could be learned from it.

    Exit status 1 where the attacks contradict the promise of the calibration. That they do not is evidence, never a
    proof: for that there is `takifugu certify`. Read the truth as it was read to be published: the same --sentinel,
    --na and the like.
    """
    from takifugu.atomic import Files
    from takifugu.audits.audit import audit
    from takifugu.calibration import Calibration
    from takifugu.commands.telling import print_json
    from takifugu.reports.audit_page import render
    from takifugu.tables.table import Table

    files = Files(report)
    found = audit(
        published,
        Table(truth, reading_from(reading)),
        Calibration.load(calibration),
        secret=secret,
        keys=keys or None,
        seed=seed,
        level=level,
        progress=None if quiet else counting("attack"),
    )
    if report is not None:
        files.add(report, render(found), private=True)
        files.write()
    if as_json:
        print_json(found.to_dict())
    else:
        for sentence in found.sentences:
            click.echo(f"{sentence[0].upper()}{sentence[1:].rstrip('.')}.")
    if found.contradicted:
        sys.exit(1)
