"""takifugu demo, explore and reproduce: the whole way on bundled data, a page to try, the paper's evaluation."""

import contextlib
import os
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import click

from takifugu.commands.options import Command, json_option, quiet_option, reading_from, reading_options
from takifugu.commands.output import print_json
from takifugu.commands.progress import doing, done
from takifugu.commands.publish import Typed, run
from takifugu.errors import InputError

_FOLDER = "takifugu-demo"
_SECRETS = (("White", "Black"), ("White", "Asian-Pac-Islander"), ("Black", "Asian-Pac-Islander"))


@click.command("demo", cls=Command)
@click.argument("which", type=click.Choice(["table", "paper"]), default="table")
@click.option(
    "-o", "--output", type=click.Path(), help=f"The folder to write to. [default: {_FOLDER}, or the next free]"
)
@json_option
def command(which: str, output: str | None, as_json: bool) -> None:
    """Run a complete example on bundled data: of a table, or of the paper.

    table publishes schooling and marital status of the bundled census so that they hide race: it reads, finds the
    channel that changes least, proves it, draws, and writes table, report, certificates, calibration and ledger.
    paper adds Gaussian noise to one number: it fits mixtures, calibrates exactly, holds that against the paper's bounds
    and writes a certificate. Each takes less than half a minute.

    \b
      takifugu demo
      takifugu demo paper
      takifugu demo --output somewhere
    """
    from takifugu.tables import Reading

    folder = _folder(output)
    if which == "paper":
        _demo_of_paper(folder, as_json=as_json)
        return
    folder.mkdir(parents=True, exist_ok=True)
    run(
        Typed(
            "adult",
            os.fspath(folder / "published.csv"),
            ("race",),
            ("education-num", "marital-status"),
            odds=3.0,
            pairs=_SECRETS,
            others="drop",
            ledger=os.fspath(folder / "adult.ledger"),
            as_json=as_json,
            reading=Reading(),
        )
    )
    if not as_json:
        click.echo(f"\n{_benefit(folder / 'published-calibration.json')}")
        click.echo("\nNext, with a table of your own: takifugu inspect people.csv, then takifugu publish --help")


def _benefit(path: Path) -> str:
    """What one true row would tell, and what a published one may: odds before and after."""
    from takifugu.calibration import Calibration

    made = Calibration.load(path)
    belief = made.beliefs[0]
    told, row, first, second = 0.0, None, None, None
    for one, other in (pair for a, b in made.pairs for pair in ((a, b), (b, a))):
        p, q = belief[one], belief[other]
        chances = dict(zip(q.values, q.probabilities.tolist(), strict=True))
        for value, chance in zip(p.values, p.probabilities.tolist(), strict=True):
            # Of what few rows share, odds say little.
            if chance * belief.rows[one] >= _SHARED and chances.get(value, 0.0) * belief.rows[other] >= _SHARED:
                odds = chance / chances[value]
                if odds > told:
                    told, row, first, second = odds, value, one, other
    shown = " and ".join(map(str, row)) if isinstance(row, tuple) else row
    return (
        f"What that means: a true row with {shown} changes the odds of {first} against {second} by a factor of "
        f"{told:.3g}; no published row changes any odds by more than a factor of {made.guarantee.most_odds:.3g}."
    )


_SHARED = 20  # rows of either secret


def _demo_of_paper(folder: Path, *, as_json: bool) -> None:
    """Priors, noise and certificate: the paper's path on its own table."""
    import takifugu as tk

    folder.mkdir(parents=True, exist_ok=True)
    priors = tk.fit_priors("adult", secret="race", query=tk.Raw("education-num", step=0), secrets=["White", "Other"])
    ways = {name: tk.calibrate(priors, alpha=3, epsilon=1, mechanism=name) for name in _WAYS}
    made = ways["exact"]
    certificate = tk.certify(made)
    path = folder / "certificate.json"
    certificate.save(path)
    certificate.redacted().save(folder / "certificate-public.json")
    tk.verify(path)
    made.save(folder / "calibration.json")
    noise = {name: one.theta for name, one in ways.items()}
    loss = max(one.upper for one in certificate.losses)
    if as_json:
        print_json({"theta": noise, "proved_loss": loss, "folder": os.fspath(folder)})
        return
    click.echo("The census: years of schooling given race White or Other, mixtures chosen by BIC; (α, ε) = (3, 1).")
    for name, words in _WAYS.items():
        click.echo(f"  {words:<48} θ = {noise[name]:.3f}")
    click.echo(f"Proved in ball arithmetic, from the certificate alone: the loss is {loss:.6f} at most.")
    click.echo(f"In {os.fspath(folder)}: calibration.json, certificate.json (private), certificate-public.json")
    click.echo("\nNext: takifugu sweep adult --secret race --query raw:education-num --alpha 3 --epsilon 0.1,1")
    click.echo("and every figure of the paper: takifugu reproduce --quick")


_WAYS = {
    "exact": "exact: the least Gaussian noise there is",
    "gmm-transport": "the paper's bound for mixtures (Theorem 4.1)",
    "wasserstein-aware": "Wasserstein (DAGWM, Pierquin et al.)",
}


def _folder(output: str | None) -> Path:
    """An empty folder: what an earlier run published is not written over."""
    if output is not None:
        folder = Path(output)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{output!r} exists already and is not an empty folder: choose another name")
        return folder
    names = [_FOLDER, *(f"{_FOLDER}-{k}" for k in range(2, 1000))]
    return next(Path(name) for name in names if not Path(name).exists())


# takifugu reproduce: the paper's evaluation in a folder.


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
def reproducing(
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


# takifugu explore: the explorer's page.


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
def exploring(
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
