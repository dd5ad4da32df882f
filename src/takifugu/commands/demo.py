"""takifugu demo: the whole way once, on bundled data, with everything it makes left in a folder."""

import os
from pathlib import Path

import click

from takifugu.commands.options import Command, json_option
from takifugu.commands.output import print_json
from takifugu.commands.publish import Asked, run
from takifugu.errors import InputError

_FOLDER = "takifugu-demo"
_SECRETS = [("White", "Black"), ("White", "Asian-Pac-Islander"), ("Black", "Asian-Pac-Islander")]


@click.command("demo", cls=Command)
@click.argument("which", type=click.Choice(["table", "paper"]), default="table")
@click.option(
    "-o", "--output", type=click.Path(), help=f"The folder to write to. [default: {_FOLDER}, or the next free]"
)
@json_option
def command(which: str, output: str | None, as_json: bool) -> None:
    """See the whole way on bundled data: of a table, or of the paper.

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
        Asked(
            source="adult",
            target=folder / "published.csv",
            secret="race",
            columns=["education-num", "marital-status"],
            odds=3.0,
            pairs=_SECRETS,
            others="drop",
            ledger=folder / "adult.ledger",
            reading=Reading(),
        ),
        quiet=False,
        as_json=as_json,
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
