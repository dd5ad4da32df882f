"""takifugu release and audit: what a calibration is for, published; and attacks on what went out."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from takifugu.commands.options import (
    Command,
    drift_option,
    id_option,
    json_option,
    names_in,
    new_ledger_option,
    new_people_option,
    order_option,
    positions_option,
    quiet_option,
    reading_options,
    repeats_option,
    single,
    taking,
)
from takifugu.commands.output import in_flags, print_json, said
from takifugu.commands.progress import counting

if TYPE_CHECKING:
    from takifugu.tables import Reading


@dataclass(frozen=True)
class Typed:
    """What is typed for `takifugu release`."""

    source: str
    target: str
    calibration: str
    ledger: str | None
    new_ledger: bool
    id: str | None
    new_people: bool
    repeats: str
    keep: tuple[str, ...]
    columns: tuple[str, ...]
    secret: tuple[str, ...]
    others: str
    of: str | None
    order: str
    positions: str | None
    drift: str
    allow_no_noise: bool
    accept_weaker_promise: bool
    as_json: bool
    quiet: bool
    theta: float | None
    granularity: float | None
    clip: tuple[float, float] | None
    round_to: float | None
    reading: "Reading"


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
@click.option("--keep", multiple=True, help="A column to publish unchanged; may be repeated.")
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
@new_ledger_option
@id_option
@new_people_option
@repeats_option
@single("--theta", type=float, help="More noise than was calibrated.")
@single("--granularity", type=float, help="The power of two to round to; by default about theta/1024.")
@single("--clip", type=(float, float), metavar="LOW HIGH", help="The ends of the column's domain.")
@single("--round-to", type=float, help="The step of the column's domain.")
@reading_options
@click.option("--allow-no-noise", is_flag=True, help="Publish values unchanged where the priors ask for no noise.")
@click.option(
    "--accept-weaker-promise", is_flag=True, help="Publish under a guarantee that leaves a share of the cases out."
)
@json_option
@quiet_option
@taking(Typed)
def command(typed: Typed) -> None:
    """Publish of SOURCE, as TARGET, the column that a calibration was made for; each a file of any size.

    Only that column, changed, and the columns named by --keep are written. Another column, or a table with values that
    the calibration's priors do not know, is refused. Of a mean, one row is written: the mean of the rows whose secret
    is --of, which nothing in TARGET tells.
    """
    from takifugu.calibration import Calibration
    from takifugu.errors import CalibrationError, InputError
    from takifugu.problems import Adversary, Utility
    from takifugu.releases import Ledger, drawing_of, is_of_table, release_file, require_kept

    if (
        typed.id is not None or typed.new_people or typed.new_ledger or typed.repeats != "refuse"
    ) and typed.ledger is None:
        raise InputError("--id, --new-people, --repeats and --new-ledger are about a ledger: give --ledger too")
    calibrated = Calibration.load(typed.calibration)
    require_kept(calibrated, typed.accept_weaker_promise)
    given = {name: getattr(typed, name) for name in ("theta", "granularity", "clip", "round_to")}
    told = drawing_of(calibrated, given).bare
    if told is not None and not typed.allow_no_noise:
        raise CalibrationError(f"{told}. Nothing was released; give --allow-no-noise if that is what you want")
    account = None
    if typed.ledger is not None:
        account = Ledger(
            typed.ledger,
            id=typed.id,
            new_people=typed.new_people,
            repeats=typed.repeats,
            new=True if typed.new_ledger else None,
        )
    with counting("rows", quiet=typed.quiet or typed.as_json) as progress:
        done = release_file(
            typed.source,
            typed.target,
            calibrated,
            ledger=account,
            keep=names_in(typed.keep),
            column=_one_or_several(typed.columns),
            secret=_one_or_several(typed.secret),
            others=typed.others,
            of=typed.of,
            order=typed.order,
            positions=typed.positions,
            theta=typed.theta,
            clip=typed.clip,
            round_to=typed.round_to,
            progress=progress,
            adversary=Adversary(drift=typed.drift, weaker="allow" if typed.accept_weaker_promise else "refuse"),
            utility=Utility(granularity=typed.granularity, allow_no_noise=typed.allow_no_noise),
            reading=typed.reading,
        )
    if typed.as_json:
        findings = [one.to_dict() for one in done.findings]
        print_json(
            {"target": typed.target, "rows": done.rows, "theta": done.theta, "granularity": done.granularity}
            | {"ledger": typed.ledger, "findings": findings, "unchecked": list(done.unchecked)}
        )
        return
    rounding = "" if done.granularity is None else f", rounded to multiples of {done.granularity!r}"
    how = "through a channel" if calibrated.channel.publishes == "values" else f"with noise of a shape{rounding}"
    if done.theta is not None:
        how = f"with noise of standard deviation {done.theta!r}{rounding}"
    what = "one number" if is_of_table(calibrated) else f"{done.rows:,} rows" if typed.of is None else "one mean"
    click.echo(f"Published {what} in {typed.target} {in_flags(how)}.")
    if told is not None:
        click.echo(f"{told[0].upper()}{told[1:]}.")
    of_rows = (said(one) for one in done.findings if one.code in ("others-left-out", "others-published", "order-kept"))
    for sentence in (*map(in_flags, done.unchecked), *of_rows):
        click.echo(f"{sentence[0].upper()}{sentence[1:]}.")
    if account is None:
        click.echo("Without a ledger nothing remembers this release: publishing it again would cost privacy.", err=True)


def _one_or_several(names: tuple[str, ...]) -> Any:
    return None if not names else names[0] if len(names) == 1 else list(names)


# takifugu audit: attacks on a file that went out.


@dataclass(frozen=True)
class TypedAudit:
    """What is typed for `takifugu audit`."""

    published: str
    truth: str
    calibration: str
    secret: str | None
    keys: tuple[str, ...]
    positions: str | None
    report: str | None
    level: float
    seed: int
    all_other_rows: bool
    as_json: bool
    quiet: bool
    reading: "Reading"


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
@taking(TypedAudit)
def auditing(typed: TypedAudit) -> None:
    """Attack the file PUBLISHED as an adversary would, and say what could be learned from it.

    Exit status 1 where the attacks contradict the guarantee of the calibration, or where the rows cannot be those of
    the truth. That no attack contradicts it is evidence, never a proof: for that there is `takifugu certify`.
    """
    from takifugu.atomic import Files

    files = Files(typed.report)
    with counting("attack", quiet=typed.quiet) as progress:  # a sign of life before the libraries are loaded
        from takifugu.audits import audit
        from takifugu.calibration import Calibration
        from takifugu.commands.output import print_json
        from takifugu.reports import render_audit as render

        found = audit(
            typed.published,
            typed.truth,
            Calibration.load(typed.calibration),
            secret=typed.secret,
            keys=typed.keys or None,
            positions=typed.positions,
            seed=typed.seed,
            level=typed.level,
            reading=typed.reading,
            progress=progress,
            all_other_rows=typed.all_other_rows,
        )
    if typed.report is not None:
        files.add(typed.report, render(found), private=True)
        files.write()
    if typed.as_json:
        print_json(found.to_dict())
    else:
        for sentence in map(in_flags, found.sentences):
            click.echo(f"{sentence[0].upper()}{sentence[1:].rstrip('.')}.")
    if found.contradicted or found.misplaced is not None:
        sys.exit(1)
