"""What a command is at: numbered steps, and one line on the terminal that is written over meanwhile."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 76


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


class Steps:
    """Says what is being done, before it is done, and what is tried meanwhile."""

    def __init__(self, out: "Console", *, quiet: bool) -> None:
        """Steps are counted from here on."""
        self._out, self._quiet, self._count = out, quiet, 0

    def __call__(self, what: str) -> None:
        """The next step."""
        self._count += 1
        if not self._quiet:
            done()
            self._out.print(f" {self._count}. {what}")

    def meanwhile(self, what: str) -> None:
        """What is tried within a step, on a line that the next one writes over."""
        if not self._quiet:
            doing(f"    {what}")
