"""takifugu ledger: what was published about whom, and how much of each budget is spent."""

import click

from takifugu.commands.options import Command, json_option


@click.command("ledger", cls=Command)
@click.argument("action", type=click.Choice(["show"]))
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
