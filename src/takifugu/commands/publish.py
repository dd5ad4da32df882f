"""takifugu publish: a table in, a table out that keeps a secret."""

from pathlib import Path
from typing import Any

import click

from takifugu.commands.options import (
    Command,
    belief_options,
    drift_option,
    names_in,
    order_option,
    positions_option,
    quiet_option,
    reading_from,
    reading_options,
    require_one_promise,
    single,
)
from takifugu.errors import InputError


@click.command("publish", cls=Command)
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option(
    "--secret", required=True, multiple=True, metavar="COLUMN", help="The column to hide; may be repeated for several."
)
@click.option(
    "--columns", required=True, multiple=True, metavar="COLUMN,COLUMN", help="The columns to publish, with commas."
)
@single("--odds", type=float, help="The factor by which nobody's odds may move. [default: 3]")
@single("--alpha", type=float, help="In place of odds: the Rényi order, above 1.")
@single("--epsilon", type=float, help="In place of odds: the budget, above 0.")
@single("--best-guess", type=float, help="In place of odds: the most often that a guess may be right, such as 0.6.")
@single("--error", type=float, help="In place of odds: how far off values may be, such as 0.2 of their spread.")
@single("--confidence", type=float, default=0.95, show_default=True, help="Promise it for the population; 0 for none.")
@single("--assurance", type=click.Choice(["band"]), help="Promise it for the population, proved: changes more.")
@click.option(
    "--known",
    multiple=True,
    metavar="COLUMN[:EDGE:EDGE]",
    help="A column that the adversary may know, cut at edges if given; may be repeated.",
)
@click.option("--pair", "pairs", type=(str, str), multiple=True, metavar="A B", help="Two secrets; may be repeated.")
@click.option(
    "--leave-out",
    multiple=True,
    metavar="SECRET",
    help="A secret too rare to be hidden: its rows are not published; may be repeated.",
)
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="A column to hand over as it is, taken as known; may be repeated."
)
@single(
    "--others",
    type=click.Choice(["error", "drop", "release"]),
    default="error",
    show_default=True,
    help="What to do with rows of secrets outside the pairs.",
)
@order_option
@positions_option
@drift_option
@single(
    "--later",
    metavar="COLUMN,COLUMN",
    help="Columns of the same people that may be published later on, within the same promise.",
)
@single("--spend", type=float, help="The share of the promise to spend now, where columns follow. [default: even]")
@single("--domain", metavar="FILE", type=click.Path(), help="The lists of values that may be published, as JSON.")
@single("--other", metavar="LABEL", help="What a label that is on no list of --domain becomes.")
@single("--loss", metavar="KIND", help="What is lost least: square, absolute or change.")
@single("--ledger", type=click.Path(), help="The ledger. [default: the one beside SOURCE, or else named after it]")
@click.option("--new-ledger", is_flag=True, help="Start the ledger, which must not exist yet.")
@single("--id", metavar="COLUMN", help="The column that tells people apart. [default: all that is read of a row]")
@click.option("--only-new", is_flag=True, help="Leave out the records that were published before.")
@click.option("--new-people", is_flag=True, help="Your word that nobody was published before; the ledger notes it.")
@single(
    "--repeats",
    type=click.Choice(["refuse", "independent"]),
    default="refuse",
    show_default=True,
    help="Where an id repeats: your word that the rows of a person are independent given the secret.",
)
@single("--folder", type=click.Path(), help="Where report, certificates and calibration go. [default: beside TARGET]")
@click.option(
    "--keep-shares",
    is_flag=True,
    help="Keep the share of each value as it was; changes more of them. calibrate does so unless told not to.",
)
@single("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws behind the confidence.")
@click.option("--dry-run", is_flag=True, help="Find the channel and tell what it would do; publish nothing.")
@click.option("--allow-no-noise", is_flag=True, help="Publish values as they are where nothing had to be changed.")
@quiet_option
@belief_options
@click.option("--only-beliefs", is_flag=True, help="Take the priors of --belief alone, and not those of SOURCE.")
@reading_options
def command(
    source: str,
    target: str,
    secret: tuple[str, ...],
    columns: tuple[str, ...],
    odds: float | None,
    alpha: float | None,
    epsilon: float | None,
    best_guess: float | None,
    error: float | None,
    confidence: float,
    assurance: str | None,
    known: tuple[str, ...],
    pairs: tuple[tuple[str, str], ...],
    leave_out: tuple[str, ...],
    keep: tuple[str, ...],
    others: str,
    order: str,
    positions: str | None,
    drift: str,
    later: str | None,
    spend: float | None,
    domain: str | None,
    other: str | None,
    loss: str | None,
    ledger: str | None,
    new_ledger: bool,
    id: str | None,
    only_new: bool,
    new_people: bool,
    repeats: str,
    folder: str | None,
    keep_shares: bool,
    seed: int,
    dry_run: bool,
    allow_no_noise: bool,
    quiet: bool,
    beliefs: tuple[str, ...],
    only_beliefs: bool,
    **reading: Any,
) -> None:
    """Publish columns of SOURCE as TARGET so that they hide a secret, with report, proof and ledger.

    Nothing published moves anyone's odds by more than the factor --odds. SOURCE is a CSV, TSV, Parquet or Excel file,
    or a bundled dataset (adult, heart, student-mat, student-por); TARGET a CSV or Parquet file.

    \b
      takifugu publish people.csv published.csv \\
          --secret diagnosis --columns stay_days,ward --odds 3
    See what that would change, and publish nothing:
      takifugu publish people.csv published.csv \\
          --secret diagnosis --columns stay_days,ward --dry-run
    Hide it also from who knows sex and age band:
      takifugu publish people.csv published.csv --secret diagnosis \\
          --columns stay_days,ward --known sex --known age_band
    The strongest promise that leaves values within a fifth of their spread:
      takifugu publish people.csv published.csv --secret diagnosis \\
          --columns stay_days,ward --error 0.2
    And from who believes last year's table:
      takifugu publish people.csv published.csv --secret diagnosis \\
          --columns stay_days,ward --belief "last year=2023.csv"
    Publish one column now and another later, both within the odds:
      takifugu publish people.csv first.csv --secret diagnosis \\
          --columns ward --later stay_days
      takifugu publish people.csv second.csv --secret diagnosis \\
          --columns stay_days

    Publish every month what was appended to the file since:
      takifugu publish people.csv february.csv --secret diagnosis \\
          --columns stay_days,ward --id patient_nr --only-new

    All files appear, or none. Only TARGET and the file marked public are for others.
    Exit status: 0 done, 1 refused or not proved, 2 bad input, 130 interrupted.
    """
    from takifugu.commands.publishing import Asked, run

    require_one_promise(alpha=alpha, epsilon=epsilon, odds=odds, best_guess=best_guess, error=error)
    names = names_in(columns)
    if not names:
        raise InputError("--columns is empty: name the columns to publish, with commas between them")
    run(
        Asked(
            source=source,
            target=Path(target),
            secret=secret[0] if len(secret) == 1 else list(secret),
            columns=names,
            odds=odds,
            alpha=alpha,
            epsilon=epsilon,
            best_guess=best_guess,
            error=error,
            confidence=confidence or None,
            assurance=assurance,
            known=list(known),
            pairs=list(pairs),
            leave_out=list(leave_out),
            keep=names_in(keep),
            others="drop" if leave_out and others == "error" else others,
            order=order,
            positions=None if positions is None else Path(positions),
            drift=drift,
            later=names_in([later or ""]),
            spend=spend,
            domain=domain,
            other=other,
            loss=loss,
            ledger=None if ledger is None else Path(ledger),
            new_ledger=new_ledger,
            id=id,
            only_new=only_new,
            new_people=new_people,
            repeats=repeats,
            folder=None if folder is None else Path(folder),
            keep_shares=keep_shares,
            seed=seed,
            dry_run=dry_run,
            allow_no_noise=allow_no_noise,
            beliefs=beliefs,
            only_beliefs=only_beliefs,
            reading=reading_from(reading),
        ),
        quiet=quiet,
    )
