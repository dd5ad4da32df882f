"""takifugu demo: a table published once, on bundled data, with everything it makes left in a folder."""

from pathlib import Path

import click

from takifugu.errors import InputError

_FOLDER = "takifugu-demo"
_SECRETS = [("White", "Black"), ("White", "Asian-Pac-Islander"), ("Black", "Asian-Pac-Islander")]


@click.command("demo")
@click.option(
    "-o", "--output", type=click.Path(), help=f"The folder to write to. [default: {_FOLDER}, or the next free]"
)
def command(output: str | None) -> None:
    """Publish schooling and marital status of the bundled census without giving away anyone's race.

    This is `takifugu publish` on bundled data: it reads, finds the channel that changes least, proves it, draws, and
    writes table, report, certificates, calibration and ledger. Takes less than half a minute.

    \b
      takifugu demo
      takifugu demo --output somewhere
    """
    from takifugu.commands.publish import Asked, run

    folder = _folder(output)
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
        ),
        quiet=False,
    )
    click.echo("\nNext, with a table of your own: takifugu inspect people.csv, then takifugu publish --help")


def _folder(output: str | None) -> Path:
    """An empty folder: what an earlier run published is not written over."""
    if output is not None:
        folder = Path(output)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{output!r} exists already and is not an empty folder: choose another name")
        return folder
    names = [_FOLDER, *(f"{_FOLDER}-{k}" for k in range(2, 1000))]
    return next(Path(name) for name in names if not Path(name).exists())
