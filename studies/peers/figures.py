"""Error against the best guess, a curve for each method, a picture for each column."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.peers.methods import CONSTANT, GAUSSIAN, LAPLACE, METHODS, OURS, OURS_KEPT, PRAM, RESPONSE, Point
from takifugu.paper.figures import look

_LOOKS = {
    OURS: ("#00695c", "-", 2.2),
    OURS_KEPT: ("#00695c", "--", 1.6),
    PRAM: ("#c2570c", "-", 1.4),
    RESPONSE: ("#9c27b0", "-", 1.4),
    GAUSSIAN: ("#1565c0", "-", 1.4),
    LAPLACE: ("#1565c0", ":", 1.6),
    CONSTANT: ("#555555", "None", 0.0),
}


def frontier(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    """The least error at each guess: what a careful user of the method gets.

    >>> points = [Point(0.6, 0.2, None), Point(0.5, 0.5, None), Point(0.7, 0.3, None)]
    >>> frontier(points)
    ([0.5, 0.6], [0.5, 0.2])
    """
    guesses: list[float] = []
    errors: list[float] = []
    for point in sorted(points, key=lambda one: (one.guess, one.error)):
        if not errors or point.error < errors[-1]:
            guesses.append(point.guess)
            errors.append(point.error)
    return guesses, errors


def picture(found: Sequence[tuple[str, dict[str, list[Point]]]], *, columns: int = 3) -> Any:
    """All columns side by side, on one scale of guesses each."""
    import matplotlib.pyplot as plt

    rows = -(-len(found) // columns)
    with look():
        figure, axes = plt.subplots(rows, columns, figsize=(4.1 * columns, 3.1 * rows), squeeze=False)
        for axis, (name, methods) in zip(axes.flat, found, strict=False):
            _panel(axis, name, methods)
        for axis in axes.flat[len(found) :]:
            axis.set_axis_off()
        lines = {line.get_label(): line for axis in axes.flat for line in axis.get_lines()}
        shown = [name for name in METHODS if name in lines]
        figure.legend([lines[name] for name in shown], shown, loc="upper center", ncol=4, frameon=False)
        # The legend has two lines of its own above the panels, whatever the number of rows.
        figure.tight_layout(rect=(0, 0, 1, 1 - 0.55 / (3.1 * rows)))
    return figure


def _panel(axis: Any, name: str, methods: dict[str, list[Point]]) -> None:
    largest = max(point.guess for points in methods.values() for point in points)
    for method in METHODS:
        if method not in methods:
            continue
        guesses, errors = frontier(methods[method])
        colour, line, width = _LOOKS[method]
        marker = "o" if method == CONSTANT else None
        axis.plot(guesses, errors, color=colour, linestyle=line, linewidth=width, marker=marker, label=method)
    axis.set_xlim(0.5 - 0.02 * (largest - 0.5), largest)
    axis.set_ylim(0, 1.5 if _has_noise(methods) else 1.0)
    axis.set_title(name, fontsize=9)
    axis.set_xlabel("best guess of the secret", fontsize=8)
    axis.set_ylabel("error / variance" if _has_noise(methods) else "labels changed", fontsize=8)
    axis.tick_params(labelsize=8)
    axis.set_xticks(np.round(np.linspace(0.5, largest, 5), 3))


def _has_noise(methods: dict[str, list[Point]]) -> bool:
    return GAUSSIAN in methods
