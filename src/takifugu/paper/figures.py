"""The eight figures, drawn to be printed: legible in grey, safe for the colour-blind, one size of type throughout."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from takifugu.datasets import about
from takifugu.errors import MissingExtraError
from takifugu.paper.headline import drawn_baseline
from takifugu.paper.settings import ANSWERS, HEADLINE, ORDER, ORDERS, TITLES, UNITS, Plan, Setting
from takifugu.paper.study import Study

# Okabe and Ito's colours, told apart by dash and marker too.
_BLUE, _ORANGE, _GREEN, _GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
_BASELINE = {"color": _GREY, "linestyle": (0, (4, 1.6)), "marker": "s", "markerfacecolor": "white"}
STYLES: dict[str, dict[str, Any]] = {
    "gwm-empirical": _BASELINE,
    "gawm-1e-3": {**_BASELINE, "marker": "v"},
    "dagwm": {"color": _GREEN, "linestyle": (0, (1, 1.4)), "marker": "^", "markerfacecolor": "white"},
    "paper": {"color": _ORANGE, "linestyle": (0, (6, 1.4, 1.4, 1.4)), "marker": "D", "markerfacecolor": "white"},
    "exact": {"color": _BLUE, "linestyle": "-", "marker": "o"},
}
NAMES = {
    "paper": "paper’s theorem",
    "exact": "exact (ours)",
    "gwm-empirical": "GWM (empirical)",
    "gawm-1e-3": r"GAWM ($\delta=10^{-3}$)",
    "dagwm": "DAGWM",
}
_ORDER_STYLES: dict[float, dict[str, Any]] = dict(
    zip(
        ORDERS,
        (
            {"color": "#56B4E9", "linestyle": (0, (1, 1.4)), "marker": "o"},
            {"color": _GREEN, "linestyle": (0, (4, 1.6)), "marker": "s"},
            {"color": _ORANGE, "linestyle": (0, (6, 1.4, 1.4, 1.4)), "marker": "D"},
            {"color": "#000000", "linestyle": "-", "marker": "^"},
        ),
        strict=True,
    )
)
_LOOK = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titley": 1.0,  # nothing stands above a panel: whether anything does took a seventh of the time to draw it
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.0,
    "lines.markeredgewidth": 0.8,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "svg.hashsalt": "takifugu",
    "svg.fonttype": "path",
}


def require_matplotlib() -> None:
    """Refuse at once where figures could not be drawn at the end."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError(
            "the figures are drawn with Matplotlib: install it with pip install 'takifugu[studies]'"
        )


def draw(figure: str, study: Study) -> Any:
    """One figure of the paper, as a Matplotlib figure."""
    require_matplotlib()
    with look():
        if figure == "2":
            return _examples(study)
        if figure == "3":
            return _histograms(study)
        if figure == "8":
            return _orders(study)
        return _budgets(figure, study)


@contextmanager
def look() -> Iterator[None]:
    """The settings to draw and to save under: Matplotlib reads some of them only when it writes."""
    import matplotlib as mpl

    with mpl.rc_context(_LOOK):
        yield


def lay_out(figure: Any) -> None:
    """Find room for everything on the figure's canvas once, before it writes files.

    By canvas, not by `savefig`: where there is a layout, that draws everything once more before each file.
    """
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")


def canvas(rows: int, columns: int, *, width: float = 7.2, height: float = 2.1) -> tuple[Any, Any]:
    """An empty figure and its axes, row by row."""
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, rows * height + 0.45), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _budgets(name: str, study: Study) -> Any:
    """θ against ε: the paper's mechanism, the baselines drawn and exact."""
    settings = study.plan.settings_of(name)
    single = name in ("5", "6", "7")
    figure, axes = canvas(1, 4) if single else canvas(2, 3)
    for place, (axis, setting) in enumerate(zip(axes.flat, settings, strict=True)):
        for series in ("exact", "paper", "dagwm", drawn_baseline(setting)):
            _line(axis, study, setting, series, ORDER, {**STYLES[series], "label": NAMES[series]})
        query = setting.query.upper()
        axis.set_title(f"({'abcdef'[place]}) {query if single else f'{TITLES[setting.dataset]}, {query}'}", loc="left")
        _axes(axis, study, setting, y=place == 0 if single else True, x=single or place >= 3)
    _legend(figure, axes.flat, columns=5)
    return figure


def _line(axis: Any, study: Study, setting: Setting, series: str, alpha: float, style: dict[str, Any]) -> None:
    points = [p for p in study.line(setting, series, alpha) if math.isfinite(p.theta)]
    marked = [i for i, p in enumerate(points) if p.epsilon in HEADLINE]
    # Where two lines are one, the dashed lies over the solid and both are seen.
    above = {"exact": 4, "paper": 5}.get(series, 3)
    axis.plot(
        [p.epsilon for p in points],
        [p.theta for p in points],
        markevery=marked,
        clip_on=False,
        zorder=above,
        **style,
    )


def _axes(axis: Any, study: Study, setting: Setting, *, x: bool = True, y: bool = True) -> None:
    unit = UNITS.get(setting.dataset)
    if x:
        axis.set_xlabel(r"privacy budget $\varepsilon$ (nats)")
    if y:
        axis.set_ylabel(rf"noise $\theta$ ({unit})" if unit else r"noise $\theta$")
    axis.set_xlim(0, max(study.plan.epsilons))
    axis.set_ylim(bottom=0)
    axis.set_xticks(range(0, math.ceil(max(study.plan.epsilons)) + 1))


def _legend(figure: Any, axes: Any, *, columns: int) -> None:
    """One legend for all panels, above them, where it can hide nothing."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(
        list(found.values()), list(found), loc="outside upper center", ncols=columns, handlelength=3, columnspacing=1.4
    )


def _examples(study: Study) -> Any:
    """Two pairs of Gaussians: the closed form beside the exact least noise and the baseline."""
    figure, axes = canvas(2, 3)
    for row, setting, letters in zip(axes, study.plan.settings_of("2"), ("abc", "def"), strict=True):
        _compare_orders(row, study, setting, setting.query.capitalize())
        _letter(row, letters)
        _share_top(row[:2])  # the baseline is several times as large in the first row
    for axis in axes[1]:
        axis.set_xlabel(r"privacy budget $\varepsilon$ (nats)")
    _legend(figure, axes.flat, columns=4)
    return figure


def _orders(study: Study) -> Any:
    """The orders compared for the BNN queries: a row for each mechanism, a column for each dataset."""
    figure, axes = canvas(3, 3)
    for column, setting in zip(axes.T, study.plan.settings_of("8"), strict=True):
        _compare_orders(column, study, setting, TITLES[setting.dataset])
        column[-1].set_xlabel(r"privacy budget $\varepsilon$ (nats)")
        _share_top(column)
    for row, letters in zip(axes, ("abc", "def", "ghi"), strict=True):
        _letter(row, letters)
    _legend(figure, axes.flat, columns=4)
    return figure


def _compare_orders(axes: Any, study: Study, setting: Setting, title: str) -> None:
    baseline = drawn_baseline(setting)
    for axis, series in zip(axes, ("paper", "exact", baseline), strict=True):
        for order in ORDERS:
            style = {**_ORDER_STYLES[order], "markerfacecolor": "white", "label": rf"$\alpha={order:g}$"}
            _line(axis, study, setting, series, order, style)
        what = {"paper": "closed form", "exact": "exact (ours)", baseline: "GAWM"}[series]
        axis.set_title(f"{title}: {what}", loc="left")
        _axes(axis, study, setting, x=False)


def _letter(axes: Any, letters: str) -> None:
    for axis, letter in zip(axes, letters, strict=True):
        axis.set_title(f"({letter}) {axis.get_title(loc='left')}", loc="left")


def _share_top(axes: Any) -> None:
    """The same scale for panels that are to be compared."""
    top = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, top)


def _histograms(study: Study) -> Any:
    """The fitted mixtures over what they were fitted to."""
    from takifugu.datasets import load

    settings = study.plan.settings_of("3")
    figure, axes = canvas(1, 3, height=2.5)
    looks: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({"facecolor": "#56B4E9", "alpha": 0.45, "edgecolor": "white", "linewidth": 0.3}, {"color": _BLUE}),
        (
            {"facecolor": "none", "edgecolor": _ORANGE, "linewidth": 0.7, "hatch": "/////"},
            {"color": _ORANGE, "linestyle": (0, (4, 1.4))},
        ),
    )
    for place, (axis, setting) in enumerate(zip(axes.flat, settings, strict=True)):
        dataset = about(setting.dataset)
        table = load(setting.dataset)
        step = 0.5 if setting.dataset == "heart" else 1.0
        tallest, peak = 0.0, (0.0, 0.0)
        for (secret, prior), (bars, curve) in zip(study.fits[setting].priors.items(), looks, strict=True):
            values = table.loc[table[dataset.secret] == secret, dataset.answer].dropna().to_numpy(float)
            edges = np.arange(table[dataset.answer].min() - step / 2, table[dataset.answer].max() + step, step)
            heights, _ = np.histogram(values, bins=edges, density=True)
            axis.bar(edges[:-1], heights, width=step, align="edge", **bars)
            x = np.linspace(edges[0] - step, edges[-1] + step, 3001)
            label = f"{dataset.secret} = {secret} ($K={len(prior)}$)"
            density = prior.pdf(x)
            axis.plot(x, density, label=label, **curve)
            tallest = max(tallest, float(heights.max()))
            peak = max(peak, (float(density.max()), float(x[density.argmax()])))
        axis.set_title(f"({'abc'[place]}) {TITLES[setting.dataset]}", loc="left")
        axis.set_xlabel(ANSWERS[setting.dataset])
        axis.set_ylabel("density" if place == 0 else "")
        axis.margins(x=0)
        _limit_height(axis, tallest, peak)
        axis.legend(loc="upper left" if setting.dataset == "adult" else "upper right", handlelength=2.2)
    return figure


def _limit_height(axis: Any, tallest: float, peak: tuple[float, float]) -> None:
    """Room for the legend; a spike far above every bar is cut off, and says how high it goes."""
    height, place = peak
    if height <= 3 * tallest:
        axis.set_ylim(0, 1.3 * max(tallest, height))
        return
    axis.set_ylim(0, 1.45 * tallest)
    axis.annotate(
        f"spike of height {height:.1f}",
        xy=(place, 1.2 * tallest),
        xytext=(9, -8),
        textcoords="offset points",
        fontsize=8,
        va="center",
    )


# What each figure shows, in words.

BASELINES_STATED = (
    "The baseline needs W∞, which is infinite for two Gaussians of unequal variance, and the paper does not say how "
    "its finite curves were made. Drawn here, in grey: for RAW, GWM on the empirical support, where W∞ is finite; for "
    "every other query GAWM with δ = 10⁻³, which ignores a share δ of the coupling and guarantees less. DAGWM, in "
    "green, "
    "is finite for both and guarantees the same as ours. GAWM with δ = 10⁻⁶ and GWM on the fitted priors are in the "
    "tables and in results.csv. Every θ of the paper’s mechanism and of exact comes with a proof."
)

_CAPTIONS = {
    "1": (
        "θ against ε at α = 3, Gaussian priors, RAW and MEAN. The paper does not name the dataset: all three are drawn."
    ),
    "2": (
        "Two pairs of Gaussians, compared one way. (a–c) N(0, 1) against N(0.5, 9), the “α-decreasing case”: only the "
        "closed form falls as α grows. The least noise (b) never does, and is zero for each of these α from ε = 1 on: "
        "the decrease is slack. (d–f) N(0, 1) against N(3, 1.44), the increasing case."
    ),
    "3": (
        "Fitted mixtures (lines) over the data (bars), K chosen by BIC. Whole numbers are narrow spikes to a "
        "likelihood, so BIC asks for many components; standard deviations are floored at the rounding of the data."
    ),
    "4": (
        "θ against ε at α = 3, mixture priors, RAW and MEAN. The paper models MEAN as one Gaussian, so for MEAN "
        "Theorem 4.1 is Theorem 3.5."
    ),
    "8": (
        "θ against ε for α = 1.5, 2, 3, 5: the BNN queries by the closed form (top), the exact least noise (middle) "
        "and the baseline (bottom), on one scale for each dataset."
    ),
}


def caption(figure: str, plan: Plan) -> str:
    """The caption of a figure."""
    if figure in _CAPTIONS:
        return _CAPTIONS[figure]
    dataset = about(plan.datasets[int(figure) - 5])
    first, second = dataset.pair
    return (
        f"{TITLES[dataset.name]}: θ against ε at α = 3, hiding {dataset.secret} = {first} and {dataset.secret} = "
        f"{second} from one another. RAW and MEAN by Theorem 4.1, BNN and GP by Theorem 3.5, beside the exact least "
        f"noise. Released: {dataset.answer}, its mean, or a model’s prediction of it."
    )
