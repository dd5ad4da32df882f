"""takifugu demo: the whole way once, on bundled data, with everything it makes left in a folder."""

import datetime
from pathlib import Path
from typing import Any

import click

from takifugu.commands.telling import console, tell, tell_files
from takifugu.errors import InputError

_FOLDER = "takifugu-demo"


@click.command("demo")
@click.option(
    "-o", "--output", type=click.Path(), help=f"The folder to write to. [default: {_FOLDER}, or the next free]"
)
def command(output: str | None) -> None:
    """Publish a column of the bundled Adult census without giving away who is White or Other.

    Fits the priors, finds the noise, proves it, proves it again from the file, publishes the column through a
    ledger, and writes the report. Takes about half a minute and needs nothing but this program.

    \b
      takifugu demo
      takifugu demo --output somewhere
    """
    from takifugu import datasets
    from takifugu.atomic import write_text
    from takifugu.calibration import calibrate
    from takifugu.certificates import certify, verify
    from takifugu.documents import strict_json
    from takifugu.queries.priors import fit_priors
    from takifugu.queries.raw import Raw
    from takifugu.releases import release
    from takifugu.releases.ledger import Ledger
    from takifugu.reports.facts import facts_of
    from takifugu.reports.html import render

    folder = _folder(output)
    about = datasets.about("adult")
    column, secret, pair = about.answer, about.secret, about.pair
    step = _Steps()

    step(f"Reading {about.title}: {about.rows:,} people, CC BY 4.0")
    people = datasets.load("adult")
    step(f"Fitting what an adversary expects of {column!r}, by {secret}")
    priors = fit_priors(people, secret=secret, query=Raw(column), secrets=pair)
    step("Finding the least noise that hides one from the other (α = 3, ε = 1)")
    result = calibrate(priors, alpha=3, epsilon=1, pairs=[pair])
    step("Proving that it is enough")
    certificate = certify(result)
    step("Computing what can still be inferred and what can still be learned")
    facts = facts_of(
        result,
        question=f"How much noise hides {secret} ({pair[0]} or {pair[1]}) in a published value of {column}, "
        "for the table adult?",
        certificate_sha256=certificate.sha256,
    )
    folder.mkdir(parents=True, exist_ok=True)
    certificate.save(folder / "certificate.json")
    certificate.redacted().save(folder / "certificate-public.json")
    strict_json.write(result.to_dict(), folder / "calibration.json", private=True)
    write_text(render(facts, dated=datetime.date.today()), folder / "report.html", private=True)
    step("Proving it once more, from the certificate's file alone")
    verify(folder / "certificate.json")
    step(f"Publishing {column!r}, through a ledger that lets it out once")
    ledger = Ledger(folder / "ledger.db", records="adult")
    published = release(people, result, column=column, secret=secret, others="drop", ledger=ledger)
    write_text(published.to_csv(index=False, lineterminator="\n"), folder / "published.csv")

    out = step.out
    out.print()
    tell(facts, out)
    files = [
        ("report.html", "the report: open it in a browser (private)"),
        ("published.csv", f"{len(published):,} released values (public)"),
        ("certificate-public.json", "the claim without the priors (public)"),
        ("certificate.json", "the proof, for an auditor (private)"),
        ("calibration.json", "for takifugu release (private)"),
        ("ledger.db", "remembers what was published (private)"),
    ]
    out.print()
    out.print(f"In {folder}:")
    tell_files(files, out)
    out.print()
    out.print("Next, with a table of your own: takifugu calibrate --help")


class _Steps:
    """Says what is being done, before it is done."""

    def __init__(self) -> None:
        self.out = console()
        self._count = 0

    def __call__(self, what: str) -> None:
        self._count += 1
        self.out.print(f" {self._count}. {what}")


def _folder(output: Any) -> Path:
    """An empty folder: what an earlier run published is not written over."""
    if output is not None:
        folder = Path(output)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{output!r} exists already and is not an empty folder: choose another name")
        return folder
    names = [_FOLDER, *(f"{_FOLDER}-{k}" for k in range(2, 1000))]
    return next(Path(name) for name in names if not Path(name).exists())
