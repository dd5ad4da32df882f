"""takifugu reproduce: the paper's evaluation in a folder."""

import sys
import time
from dataclasses import asdict
from pathlib import Path

import click

from takifugu.commands.options import Command, json_option, quiet_option
from takifugu.commands.output import print_json


@click.command("reproduce", cls=Command)
@click.argument("figures", nargs=-1)
@click.option("-o", "--output", type=click.Path(), default="reproduction", show_default=True, help="The folder.")
@click.option(
    "--only", multiple=True, metavar="FIGURE", help="A figure to draw, 1 to 8; more may follow. All by default."
)
@click.option("--quick", is_flag=True, help="Five budgets, and models trained on less: minutes become one or two.")
@click.option("--student", type=click.Choice(["mat", "por"]), default="mat", show_default=True, help="Which course.")
@click.option("--cache", type=click.Path(), help="Where to keep what was computed; TAKIFUGU_CACHE by default, if set.")
@json_option
@quiet_option
def command(
    figures: tuple[str, ...],
    output: str,
    only: tuple[str, ...],
    quick: bool,
    student: str,
    cache: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Redraw the paper's figures, its headline number and its claims, with exact calibration beside them.

    The folder holds index.html, results.csv, results.json and figures/; without --only also population.html and
    population.csv, what the numbers become for the population. What was computed is kept: a second run takes seconds,
    and one that was interrupted goes on.
    """
    from takifugu.errors import InputError
    from takifugu.paper import Cache, Plan, default_folder, reproduce

    if figures and not only:
        raise InputError(f"to draw only some figures, write --only before them: --only {' '.join(figures)}")
    plan = Plan.of(only=tuple(f for one in (*only, *figures) for f in one.split(",")), student=student, quick=quick)
    store = Cache(Path(cache) if cache is not None else default_folder())
    progress = _Progress(quiet=quiet or as_json)
    whole = not (only or figures)
    results = reproduce(Path(output), plan, store, progress.tell, population=whole)
    progress.close()
    if as_json:
        claims = [{"name": one.name, "verdict": one.verdict, "checked": one.checked} for one in results.claims]
        print_json({"headline": [asdict(row) for row in results.headline], "claims": claims, "folder": output})
        return
    failed = sorted({claim.name for claim in results.claims if claim.verdict == "fails"})
    for row in results.headline:
        if row.theirs == "drawn" and row.mean is not None:
            who = "The paper's mechanism" if row.ours == "paper" else "Exact calibration"
            click.echo(f"{who} needs {row.mean:.1%} less noise than the baseline drawn, over {row.settings} settings.")
    proof = next(claim for claim in results.claims if claim.name == "certified")
    click.echo(f"Proved: {proof.checked - len(proof.failures)} of {proof.checked} values of theta.")
    click.echo(f"Claims that fail here: {', '.join(failed) if failed else 'none'}.")
    click.echo(f"Open {Path(output) / 'index.html'}")
    if whole:
        click.echo(f"What the numbers become for the population: {Path(output) / 'population.html'}")


class _Progress:
    """A bar on a terminal, a line for each step in a pipe."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet, self._terminal, self._start = quiet, sys.stderr.isatty(), time.monotonic()

    def tell(self, done: int, total: int, what: str) -> None:
        """What is running, after `done` of `total` steps."""
        if self._quiet:
            return
        spent = time.monotonic() - self._start
        if self._terminal:
            filled = 24 * done // max(total, 1)
            line = f"{'█' * filled}{'░' * (24 - filled)} {done}/{total} {spent:4.0f} s  {what}"
            click.echo(f"\r\x1b[2K{line[:110]}", nl=False, err=True)
        else:
            click.echo(f"[{done}/{total}] {spent:.0f} s {what}", err=True)

    def close(self) -> None:
        """Leave the terminal as it was found."""
        if self._terminal and not self._quiet:
            click.echo("\r\x1b[2K", nl=False, err=True)
