"""The pictures of the two studies of channels, in the look of the others."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from studies.side_by_side import LINES
from studies.side_by_side import Found as Compared
from studies.usefulness import Column, Measure, Way
from takifugu.paper.figures import canvas, look
from takifugu.paper.settings import ANSWERS, TITLES

_BLUE, _SKY, _ORANGE, _GREEN, _GREY = "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#666666"
_LINE_STYLES: dict[str, dict[str, Any]] = {
    "optimal": {"color": _BLUE, "linestyle": "-", "marker": "o"},
    "optimal-kept": {"color": _SKY, "linestyle": "-", "marker": "o", "markerfacecolor": "white"},
    "exact": {"color": _ORANGE, "linestyle": "-", "marker": "D"},
    "exact-mixture": {"color": _ORANGE, "linestyle": (0, (4, 1.6)), "marker": "D", "markerfacecolor": "white"},
    "gmm-transport": {"color": "#CC79A7", "linestyle": (0, (6, 1.4, 1.4, 1.4)), "marker": "v"},
    "closed-form": {"color": "#E69F00", "linestyle": (0, (1, 1.4)), "marker": "^"},
    "wasserstein": {"color": _GREY, "linestyle": (0, (4, 1.6)), "marker": "s", "markerfacecolor": "white"},
    "wasserstein-aware": {"color": _GREEN, "linestyle": (0, (1, 1.4)), "marker": "^", "markerfacecolor": "white"},
}
_PRIORS = {"empirical": "as counted", "mixture": "mixture", "gaussian": "Gaussian"}
WAY_STYLES: dict[str, dict[str, Any]] = {
    "Gaussian noise": {"color": _ORANGE, "linestyle": (0, (4, 1.6)), "marker": "D", "markerfacecolor": "white"},
    "randomized response": {"color": _GREEN, "linestyle": (0, (1, 1.4)), "marker": "^", "markerfacecolor": "white"},
    "best": {"color": _BLUE, "linestyle": "-", "marker": "o"},
    "best, mean kept": {"color": "#000000", "linestyle": (0, (1, 1.4)), "marker": "x"},
    "best, histogram kept": {"color": _SKY, "linestyle": "-", "marker": "o", "markerfacecolor": "white"},
}


def errors_by_budget(found: list[Compared], datasets: tuple[str, ...]) -> Any:
    """How far off a value is against ε; a line ends where nothing is needed."""
    with look():
        figure, axes = canvas(1, len(datasets), height=2.7)
        for axis, dataset in zip(axes.flat, datasets, strict=True):
            for line in LINES:
                if line.key not in _LINE_STYLES:
                    continue
                points = [(o.epsilon, o.error) for o in found if (o.dataset, o.line) == (dataset, line.key)]
                shown = [(e, error) for e, error in sorted(points) if 0 < error < np.inf]
                label = f"{line.label.split(' (')[0]}, {_PRIORS[line.prior]}"
                axis.plot(*np.array(shown).T, label=label, **_LINE_STYLES[line.key])
            axis.set_yscale("log")
            axis.set_title(TITLES[dataset], loc="left")
            axis.set_xlabel("budget ε")
        axes.flat[0].set_ylabel("a value is off by")
        _legend(figure, axes.flat[0], columns=3)
    return figure


def histograms(columns: Iterable[tuple[str, Column, list[Way]]]) -> Any:
    """The true histogram as bars, and what is published on average by each way as steps."""
    several = list(columns)
    with look():
        figure, axes = canvas(1, len(several), height=2.3)
        for axis, (dataset, column, every) in zip(axes.flat, several, strict=True):
            values = column.values
            axis.bar(values, 100 * column.shares, width=0.9 * np.diff(values).min(), color="#dddddd", label="true")
            for way in every:
                if way.key == "best, mean kept":
                    continue
                nearest = np.abs(way.outputs[:, None] - values).argmin(axis=1)
                published = np.bincount(nearest, weights=column.shares @ way.chances, minlength=len(values))
                style = {**WAY_STYLES[way.key], "linestyle": "none"}
                axis.plot(values, 100 * published, label=way.key, **style)
            axis.set_title(TITLES[dataset], loc="left")
            axis.set_xlabel(ANSWERS[dataset])
        axes.flat[0].set_ylabel("% of the rows")
        _legend(figure, axes.flat[0], columns=5)
    return figure


def usefulness_by_budget(found: list[Measure], datasets: tuple[str, ...]) -> Any:
    """Histogram and slope against ε, as published."""
    with look():
        figure, axes = canvas(2, len(datasets), height=1.9)
        for column, dataset in enumerate(datasets):
            for row, (figure_of, times) in enumerate((("histogram", 100.0), ("slope", 1.0))):
                axis = axes[row, column]
                for key, style in WAY_STYLES.items():
                    mine = [m for m in found if (m.dataset, m.way, m.corrected) == (dataset, key, False)]
                    axis.plot(
                        [m.epsilon for m in mine], [times * getattr(m, figure_of) for m in mine], label=key, **style
                    )
                axis.set_xscale("log")
                if row == 0:
                    axis.set_title(TITLES[dataset], loc="left")
                    axis.set_ylim(0, None)
                else:
                    axis.axhline(1.0, color="#999999", linewidth=0.6)
                    axis.set_ylim(0, 1.15)
                    axis.set_xlabel("budget ε")
        axes[0, 0].set_ylabel("histogram off by, %")
        axes[1, 0].set_ylabel("slope / true slope")
        _legend(figure, axes[0, 0], columns=5)
    return figure


def _legend(figure: Any, axis: Any, *, columns: int) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
