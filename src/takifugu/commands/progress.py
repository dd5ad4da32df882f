"""One line on the terminal that is written over while there is something to wait for."""

import sys
from collections.abc import Callable

import click


def counting(what: str) -> Callable[[int, int | None], None]:
    """A function that tells how many are done, of how many where that is known; silent where errors go to a file."""

    def show(done: int, of: int | None) -> None:
        if sys.stderr.isatty():
            share = "" if not of else f" of {of:,} ({done / of:.0%})"
            click.echo(f"\r{what} {done:,}{share}", err=True, nl=done == of)

    return show
