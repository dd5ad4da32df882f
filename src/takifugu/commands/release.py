"""takifugu release and audit: what a calibration is for, published; and attacks on what went out."""

import sys
from typing import Any

import click

from takifugu.commands.options import (
    Command,
    drift_option,
    json_option,
    names_in,
    order_option,
    positions_option,
    quiet_option,
    reading_from,
    reading_options,
    single,
)
from takifugu.commands.output import in_flags, print_json, said
from takifugu.commands.progress import counting


@click.command("release", cls=Command)
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@single("--calibration", required=True, type=click.Path(), help="The file that `takifugu calibrate -o` wrote.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="COLUMN",
    help="The column to publish, which must be the calibrated one; needed for priors made by hand. May be repeated.",
)
@click.option(
    "--secret",
    multiple=True,
    metavar="COLUMN",
    help="The column of secrets: checked, never published. A calibration knows its own. May be repeated.",
)
@click.option("--keep", multiple=True, help="A column to hand over as it is; may be repeated.")
@single(
    "--others",
    type=click.Choice(["error", "drop", "release"]),
    default="error",
    show_default=True,
    help="What to do with rows of secrets outside the calibrated pairs.",
)
@single("--of", metavar="VALUE", help="Of a mean: the value of the secret whose rows are averaged.")
@order_option
@positions_option
@drift_option
@single("--ledger", type=click.Path(), help="The ledger to charge before anything is published.")
@click.option("--new-ledger", is_flag=True, help="Start the ledger, which must not exist yet.")
@single("--id", metavar="COLUMN", help="The column that tells people apart. [default: all that is read of a row]")
@click.option("--new-people", is_flag=True, help="Your word that nobody was published before; the ledger notes it.")
@single(
    "--repeats",
    type=click.Choice(["refuse", "independent"]),
    default="refuse",
    show_default=True,
    help="Where an id repeats: your word that the rows of a person are independent given the secret.",
)
@single("--theta", type=float, help="More noise than was calibrated.")
@single("--granularity", type=float, help="The power of two to round to; by default about theta/1024.")
@single("--clip", type=(float, float), metavar="LOW HIGH", help="The ends of the column's domain.")
@single("--round-to", type=float, help="The step of the column's domain.")
@reading_options
@click.option("--allow-no-noise", is_flag=True, help="Publish values as they are where the priors ask for no noise.")
@click.option(
    "--accept-weaker-promise", is_flag=True, help="Publish under a guarantee that leaves a share of the cases out."
)
@json_option
@quiet_option
def command(
    source: str,
    target: str,
    calibration: str,
    ledger: str | None,
    new_ledger: bool,
    id: str | None,
    new_people: bool,
    repeats: str,
    keep: tuple[str, ...],
    columns: tuple[str, ...],
    secret: tuple[str, ...],
    of: str | None,
    order: str,
    positions: str | None,
    drift: str,
    allow_no_noise: bool,
    accept_weaker_promise: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Publish of SOURCE, as TARGET, the column that a calibration was made for; each a file of any size.

    Only that column, changed, and the columns named by --keep are written. Another column, or a table with values that
    the calibration's priors do not know, is refused. Of a mean, one row is written: the mean of the rows whose secret
    is --of, which nothing in TARGET tells.
    """
    from takifugu.calibration import Calibration
    from takifugu.errors import CalibrationError, InputError
    from takifugu.releases import Ledger, drawing_of, is_of_table, release_file, require_kept

    if (id is not None or new_people or new_ledger or repeats != "refuse") and ledger is None:
        raise InputError("--id, --new-people, --repeats and --new-ledger are about a ledger: give --ledger too")
    reading = reading_from(options)
    calibrated = Calibration.load(calibration)
    require_kept(calibrated, accept_weaker_promise)
    told = drawing_of(calibrated, options).bare
    if told is not None and not allow_no_noise:
        raise CalibrationError(f"{told}. Nothing was released; give --allow-no-noise if that is what you want")
    account = None
    if ledger is not None:
        account = Ledger(ledger, id=id, new_people=new_people, repeats=repeats, new=True if new_ledger else None)
    with counting("rows", quiet=quiet or as_json) as progress:
        done = release_file(
            source,
            target,
            calibrated,
            ledger=account,
            keep=names_in(keep),
            column=_one_or_several(columns),
            secret=_one_or_several(secret),
            of=of,
            order=order,
            positions=positions,
            drift=drift,
            allow_no_noise=allow_no_noise,
            accept_weaker_promise=accept_weaker_promise,
            progress=progress,
            reading=reading,
            **options,
        )
    if as_json:
        findings = [one.to_dict() for one in done.findings]
        print_json(
            {"target": target, "rows": done.rows, "theta": done.theta, "granularity": done.granularity}
            | {"ledger": ledger, "findings": findings, "unchecked": list(done.unchecked)}
        )
        return
    rounding = "" if done.granularity is None else f", rounded to multiples of {done.granularity!r}"
    how = "through a channel" if calibrated.channel.publishes == "values" else f"with noise of a shape{rounding}"
    if done.theta is not None:
        how = f"with noise of standard deviation {done.theta!r}{rounding}"
    what = "one number" if is_of_table(calibrated) else f"{done.rows:,} rows" if of is None else "one mean"
    click.echo(f"Published {what} in {target} {in_flags(how)}.")
    if told is not None:
        click.echo(f"{told[0].upper()}{told[1:]}.")
    of_rows = (said(one) for one in done.findings if one.code in ("others-left-out", "order-kept"))
    for sentence in (*map(in_flags, done.unchecked), *of_rows):
        click.echo(f"{sentence[0].upper()}{sentence[1:]}.")
    if account is None:
        click.echo("Without a ledger nothing remembers this release: publishing it again would cost privacy.", err=True)


def _one_or_several(names: tuple[str, ...]) -> Any:
    return None if not names else names[0] if len(names) == 1 else list(names)


# takifugu audit: attacks on a file that went out.


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
def auditing(
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
