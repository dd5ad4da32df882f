"""Draws what a guarantee against who knows all other rows costs, from the table in docs/studies/private-fit.md.

`python scripts/draw_private_fit.py` writes docs/images/private-fit.svg; a test holds its description to the table.
"""

import sys
from pathlib import Path

import numpy as np

from takifugu.reports import Panel, Picture, Scale, legend

DOCS = Path(__file__).parents[1] / "docs"
TARGET, PAGE = DOCS / "images/private-fit.svg", DOCS / "studies/private-fit.md"
LABELS = {
    "none": "fitted to the rows (no such guarantee)",
    "ε = 0.05": "private counts, ε = 0.05",
    "ε = 0.1": "private counts, ε = 0.1",
    "ε = 0.2": "private counts, ε = 0.2",
    "ε = 0.4": "private counts, ε = 0.4",
    "no data, right weights": "no data at all, the right weights",
}
WIDTH, HEIGHT = 620, 400


def table() -> tuple[list[int], dict[str, list[float]]]:
    """The numbers of rows, and the error over the spread by each way."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    head = next(k for k, line in enumerate(lines) if line[0] == "rows")
    rows = []
    for line in lines[head + 2 :]:
        if len(line) != len(lines[head]):
            break
        rows.append(line)
    errors = {name: [float(line[k]) for line in rows] for k, name in enumerate(lines[head]) if k}
    return [int(line[0].replace(",", "")) for line in rows], errors


def description() -> str:
    """The figures in words, for those who do not see them."""
    rows, errors = table()
    told = [
        f"of {rows[k]:,} rows " + ", ".join(f"{LABELS[name]} {errors[name][k]:.2f}" for name in LABELS)
        for k in (0, 3, -1)
    ]
    return f"Error over the spread: {'; '.join(told)}."


def picture() -> Picture:
    """The figure."""
    rows, errors = table()
    marks, used = legend(list(enumerate(LABELS.values())), 8, 18, WIDTH - 16)
    panel = Panel(Scale(rows[0], rows[-1], 50, WIDTH - 24, is_log=True), Scale(0.0, 1.15, HEIGHT - 48, used + 32))
    panel.axes(x_label="rows of the table", y_label="error of a published value, over the spread")
    for place, name in enumerate(LABELS):
        panel.curve(np.array(rows, dtype=float), np.array(errors[name]), place, width=2.8 if name == "ε = 0.2" else 2.0)
    return Picture("tk-private-fit", "What private counts cost", description(), WIDTH, HEIGHT, [*marks, *panel.parts])


def main() -> None:
    """Write the figure."""
    TARGET.unlink(missing_ok=True)
    picture().save(TARGET)
    TARGET.chmod(0o644)


if __name__ == "__main__":
    sys.exit(main())
