"""takifugu ledger and depend: what was published about whom, what is spent, and what private releases tell of time."""

from dataclasses import dataclass

import click

from takifugu.commands.options import Command, json_option, single, taking


@click.command("ledger", cls=Command)
@click.argument("action")
@click.argument("ledger", type=click.Path())
@json_option
def command(action: str, ledger: str, as_json: bool) -> None:
    """Show the accounts of a ledger: a line for each, and nothing about any record.

    An account is about the records that went out together. What is published about the same records again is added up
    where that is exact or a bound is known (noise of one kind: rates add; independent answers; a channel with a local
    price), and refused where neither is. Accounts of other people do not add up.

    \b
    Examples:
      takifugu ledger show people.ledger
      takifugu ledger show people.ledger --json

    Exit status: 0 done, 2 no ledger.
    """
    from takifugu.commands.output import print_json
    from takifugu.releases import Ledger

    if action != "show":
        turned = f"the action comes first: takifugu ledger show {action}" if ledger == "show" else "the action is show"
        raise click.UsageError(f"{action!r} is nothing that can be done with a ledger: {turned}")

    accounts = Ledger(ledger, new=False).accounts()
    if as_json:
        print_json({"accounts": [one._asdict() for one in accounts]})
        return
    for one in accounts:
        click.echo(f"{one.sentence}.")
        for line in one.lines:
            click.echo(f"  {line}")
    if not accounts:
        click.echo("Nothing was published under this ledger.")


# takifugu depend: what a differentially private release tells where records depend on one another.


@dataclass(frozen=True)
class TypedDependence:
    """What is typed for `takifugu depend`."""

    chain: str
    length: int
    dp_epsilon: float | None
    rho: float | None
    alpha: float | None
    epsilon: float | None
    ledger: str | None
    certificate: str | None
    as_json: bool


@click.command("depend", cls=Command)
@single("--chain", required=True, type=click.Path(), help="How a person's records depend on one another (JSON).")
@single("--length", required=True, type=click.IntRange(min=1), help="Records of a person, one for each time.")
@single("--dp-epsilon", type=float, help="Epsilon of the release for replacing one record.")
@single("--rho", type=float, help="In place of it: rho of zero-concentrated differential privacy, with --alpha.")
@single("--alpha", type=float, help="With --rho: the order of the Rényi guarantee.")
@single("--epsilon", type=float, help="Refuse what makes all releases tell more than this.")
@single("--ledger", type=click.Path(), help="A file that remembers what releases about these records cost.")
@single("--certificate", type=click.Path(), help="Write what `takifugu verify` proves again.")
@json_option
@taking(TypedDependence)
def depending(typed: TypedDependence) -> None:
    """Say what a differentially private release tells of a record whose neighbours in time depend on it.

    Bring the epsilon, or the rho, of any library, and a Markov chain of the records: the odds between two states of a
    person at any one time are then within a bound, which is proved. Further releases from the same records pay their
    own share, and what the records tell of one another is paid once; --ledger remembers.

    \b
    chain.json holds the probabilities of the next state, one row for each:
      {"transition": [[0.8, 0.2], [0.4, 0.6]]}
    A start of its own, names, fractions; a box of chains; or a list of any:
      {"transition": [["2/3", "1/3"], [0.4, 0.6]], "start": [1, 0],
       "states": ["home", "out"]}
      {"low": [[0.7, 0.1], [0.3, 0.5]], "high": [[0.9, 0.3], [0.5, 0.7]]}
    One release with epsilon = 0.5, about days of 96 quarters of an hour:
      takifugu depend --chain chain.json --length 96 --dp-epsilon 0.5 \\
          --ledger days.ledger --certificate certificate.json

    Epsilon is for replacing one record at one time. Where your library counts adding or removing a record, give twice
    its epsilon, and four times its rho. Exit status: 0 done, 1 above --epsilon or not proved, 2 bad input.
    """
    from takifugu.atomic import Files
    from takifugu.commands.output import file_of, print_json
    from takifugu.dependence import chains_from_file
    from takifugu.releases import depend

    files = Files(typed.certificate)
    found = depend(
        chains_from_file(typed.chain),
        typed.length,
        dp_epsilon=typed.dp_epsilon,
        rho=typed.rho,
        alpha=typed.alpha,
        epsilon=typed.epsilon,
        ledger=typed.ledger,
    )
    if typed.certificate is not None:
        files.add(typed.certificate, file_of(found.to_dict()), private=True)
        files.write()
    if typed.as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
