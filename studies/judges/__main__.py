"""`python -m studies.judges`: what anonymeter and sdmetrics say of ours and of other ways, as Markdown."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from studies.judges.calling import make, verdicts
from studies.judges.publications import Publication, publications
from studies.peers.columns import bundled
from takifugu.errors import TakifuguError

_HEAD = (
    "column",
    "published",
    "error",
    "best guess, exactly",
    "anonymeter: right",
    "anonymeter: risk (95 %)",
    "sdmetrics: protection",
    "sdmetrics: shape",
)


def main(arguments: list[str] | None = None) -> int:
    """Publish, ask, print; exit status 2 where there are no judges."""
    parser = argparse.ArgumentParser(prog="python -m studies.judges", description=__doc__)
    parser.add_argument("--make", action="store_true", help="make the judges' environment, and judge nothing")
    given = parser.parse_args(arguments)
    try:
        if given.make:
            make()
            return 0
        with tempfile.TemporaryDirectory() as folder:
            made = [one for name, column in bundled() for one in publications(name, column, Path(folder))]
            print(table(made, verdicts([one.path for one in made])))
    except TakifuguError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def table(made: Sequence[Publication], said: Sequence[dict[str, float]]) -> str:
    """A line for each publication."""
    rows = [_HEAD, ("---", "---", *("--:" for _ in _HEAD[2:]))]
    for one, verdict in zip(made, said, strict=True):
        risk = f"{verdict['risk']:.2f} ({verdict['risk_low']:.2f} to {verdict['risk_high']:.2f})"
        rows.append(
            (
                one.column,
                one.method,
                f"{100 * one.error:.3g} %",
                f"{one.best_guess:.1%}",
                f"{verdict['right']:.1%}",
                risk,
                f"{verdict['protection']:.2f}",
                f"{verdict['shape']:.2f}",
            )
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
