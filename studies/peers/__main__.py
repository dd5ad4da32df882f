"""`python -m studies.peers`: errors at equal best guesses as Markdown, and the curves. See docs/peers.md."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.peers.columns import bundled, unseen
from studies.peers.figures import picture
from studies.peers.methods import METHODS, OURS, OURS_KEPT, Column, Point, curves, least_error, worst_guess
from takifugu.paper.cache import default_folder
from takifugu.paper.page import save_figure

GAINS = (0.25, 0.5, 0.75)  # of what could be gained on blind luck by guessing from the true values


def main(arguments: list[str] | None = None) -> int:
    """Compare, print, and draw if a folder is given."""
    parser = argparse.ArgumentParser(prog="python -m studies.peers", description=__doc__)
    parser.add_argument("--unseen", action="store_true", help="the columns of the unseen tables too")
    parser.add_argument("--wheels", type=Path, help="the folder that wheels are kept in")
    parser.add_argument("--figures", type=Path, help="the folder for peers.svg and peers-unseen.svg")
    given = parser.parse_args(arguments)
    groups = {"peers": list(bundled())}
    if given.unseen:
        groups["peers-unseen"] = list(unseen(given.wheels or default_folder() / "wheels"))
    lines: list[tuple[str, ...]] = []
    for stem, columns in groups.items():
        found = []
        for name, column in columns:
            print(name, file=sys.stderr, flush=True)
            methods = curves(column)
            found.append((name, methods))
            lines += compared(name, column, methods)
        if given.figures is not None:
            save_figure(picture(found), given.figures / stem)
    print(table(lines))
    return 0


def compared(name: str, column: Column, methods: dict[str, list[Point]]) -> list[tuple[str, ...]]:
    """A line for each best guess that is allowed: the least error of every method."""
    bare = worst_guess(column.laws) - 0.5
    lines = []
    for gain in GAINS:
        guess = 0.5 + gain * bare
        best = {method: least_error(methods.get(method, []), guess) for method in METHODS}
        errors = {method: point.error for method, point in best.items() if point is not None}
        least = min(errors.values())
        cells = tuple(_cell(errors.get(method), least) for method in METHODS)
        lines.append((name, f"{guess:.1%}", *cells))
    return lines


def _cell(error: float | None, least: float) -> str:
    if error is None:
        return "–"
    text = f"{100 * error:.3g} %"
    return f"**{text}**" if error <= least * (1 + 1e-9) else text


def table(lines: Sequence[tuple[str, ...]]) -> str:
    """Markdown, and a sentence that counts."""
    head = ("column", "best guess", *METHODS)
    rows = [head, ("---", "--:", *("--:" for _ in METHODS)), *lines]
    ours = [head.index(OURS), head.index(OURS_KEPT)]
    led = sum(any(line[place].startswith("**") for place in ours) for line in lines)
    text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{text}\n\nOurs has the least error in {led} of {len(lines)} lines."


if __name__ == "__main__":
    sys.exit(main())
