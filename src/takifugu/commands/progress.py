"""One line on the terminal that is written over while there is something to wait for."""

import sys
from collections.abc import Callable

import click

_WIDTH = 60


def counting(what: str) -> Callable[[int, int | None], None]:
    """A function that tells how many are done, of how many where that is known; silent where errors go to a file."""

    def show(done: int, of: int | None) -> None:
        if sys.stderr.isatty():
            share = "" if not of else f" of {of:,} ({done / of:.0%})"
            click.echo(f"\r{what} {done:,}{share}", err=True, nl=done == of)

    return show


def doing(what: str) -> None:
    """Say what is being done, over what was said before; nothing where errors go to a file."""
    if sys.stderr.isatty():
        click.echo(f"\r{what + ' …':<{_WIDTH}}", err=True, nl=False)


def done() -> None:
    """Wipe the line, before an answer takes its place."""
    if sys.stderr.isatty():
        click.echo(f"\r{'':<{_WIDTH}}\r", err=True, nl=False)
