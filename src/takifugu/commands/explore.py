"""takifugu explore: the explorer's page."""

import contextlib
import os
import sys
import threading

import click

from takifugu.commands.options import Command, json_option, reading_from, reading_options
from takifugu.commands.output import print_json
from takifugu.commands.progress import doing, done
from takifugu.errors import InputError


@click.command("explore", cls=Command)
@click.argument("table", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to use; by default any free one.")
@click.option("--no-browser", is_flag=True, help="Show the address and open nothing.")
@click.option(
    "--ledger",
    type=click.Path(),
    help="Where publications from the page are written down. [default: beside TABLE; for a dropped file, here]",
)
@click.option("--link", metavar="LINK", help="A link copied from the page: open with what it held.")
@json_option
@reading_options
def command(
    table: str | None,
    port: int,
    no_browser: bool,
    ledger: str | None,
    link: str | None,
    as_json: bool,
    **reading: object,
) -> None:
    """Open a page to choose secrets and guarantees, see what they cost, and publish.

    The bundled datasets are ready; TABLE, a CSV, Parquet or Excel file or the name of a bundled dataset, is added and
    opened first, and others can be dropped on the page. The page is served to this machine alone, and to those who have
    the address with its token. Ctrl-C ends it, and removes what was dropped.

    \b
    takifugu explore
    takifugu explore visits.csv --port 8000 --no-browser
    """
    from takifugu.web import browser_door, serve

    held = "" if link is None else _held(link)
    how = reading_from(reading)
    with contextlib.ExitStack() as until_the_end:

        def ready(address: str) -> None:
            done()
            address += held
            if as_json:
                print_json({"address": address})
            else:
                click.echo(f"The explorer is open at\n\n    {address}\n\nKeep the address to yourself. Ctrl-C ends it.")
            if not no_browser:
                import webbrowser

                webbrowser.open(until_the_end.enter_context(browser_door(address)))

        if table is not None:
            doing(f"Reading {table}")
        serve(table, reading=how, port=port, ledger=ledger, ready=ready)
    if not as_json:
        click.echo("\nThe explorer has ended.")
    _leave_unfinished_work()


def _held(link: str) -> str:
    """What a link of the page holds; its address was that of an explorer that may have ended."""
    _, mark, choices = link.partition("#")
    if not choices:
        raise InputError("--link must be a link copied from the page, with its choices behind a #: put it in quotes")
    return mark + choices


def _leave_unfinished_work() -> None:
    """End now even if a model is in training: Python would wait for its thread, maybe for minutes."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(timeout=0.5)
            if thread.is_alive():
                sys.stdout.flush()
                os._exit(0)
