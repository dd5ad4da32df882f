"""takifugu release: one column of a file, published."""

import sys
from typing import Any

import click


@click.command("release")
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option("--calibration", required=True, type=click.Path(), help="The JSON of `takifugu calibrate --json`.")
@click.option("--column", required=True, help="The column to publish.")
@click.option("--secret", help="The column of secrets: checked, never published.")
@click.option("--keep", multiple=True, help="A column to hand over as it is; may be repeated.")
@click.option(
    "--others",
    type=click.Choice(["error", "drop", "release"]),
    default="error",
    show_default=True,
    help="What to do with rows of secrets outside the calibrated pairs.",
)
@click.option("--ledger", type=click.Path(), help="The ledger to charge before anything is published.")
@click.option("--records", help="The name of the records in the ledger.")
@click.option("--theta", type=float, help="More noise than was calibrated.")
@click.option("--granularity", type=float, help="The power of two to round to; by default about theta/1024.")
@click.option("--clip", type=(float, float), metavar="LOW HIGH", help="The ends of the column's domain.")
@click.option("--round-to", type=float, help="The step of the column's domain.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(
    source: str,
    target: str,
    calibration: str,
    ledger: str | None,
    records: str | None,
    keep: tuple[str, ...],
    quiet: bool,
    **options: Any,
) -> None:
    """Publish one column of SOURCE as TARGET, each a Parquet or CSV file of any size.

    Only the column, with its noise, and the columns named by --keep are written.
    """
    from takifugu.calibration import Calibration
    from takifugu.documents import strict_json
    from takifugu.errors import InputError
    from takifugu.releases.doors.files import release_file
    from takifugu.releases.ledger import Ledger

    if records is not None and ledger is None:
        raise InputError("--records names an account of a ledger: give --ledger too")
    account = None if ledger is None else Ledger(ledger) if records is None else Ledger(ledger, records=records)
    calibrated = Calibration.from_dict(strict_json.read(calibration))
    done = release_file(
        source, target, calibrated, ledger=account, keep=keep, progress=None if quiet else _show, **options
    )
    rounding = "" if done.granularity is None else f", rounded to multiples of {done.granularity!r}"
    click.echo(f"Published {done.rows} rows in {target} with noise of standard deviation {done.theta!r}{rounding}.")
    if account is None:
        click.echo("Without a ledger nothing remembers this release: publishing it again would cost privacy.", err=True)


def _show(done: int, rows: int | None) -> None:
    """One line on the terminal that is written over; nothing where errors go to a file."""
    if sys.stderr.isatty():
        share = "" if not rows else f" of {rows:,} ({done / rows:.0%})"
        click.echo(f"\r{done:,} rows{share}", err=True, nl=done == rows)
