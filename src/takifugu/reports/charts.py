"""The three pictures of a report: what is believed, what noise does to it, and what noise costs."""

from collections.abc import Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.reports.common import Facts
from takifugu.reports.few_rows import TOO_FEW, empty_chart
from takifugu.reports.grids import Curve
from takifugu.reports.noise_facts import NoiseFacts
from takifugu.reports.svg import LETTER, Panel, Scale, document, label, legend
from takifugu.reports.text import clean, number

WIDTH = 480  # units of a picture's width, by default
_LEFT, _MARGIN = 46.0, 14.0
_BARS = 60  # a histogram with more values is binned to this many
_NAME = 24  # characters of a secret in a legend
_SPIKE = 6.0  # a peak this many times as tall as the lowest one is cut off
_SKEWED = 20.0  # times the middle of the values: a scale that must reach that far is bent
_FEW = 8  # points of a law below which no scale is bent
_BELOW = 0.2  # share below zero up to which one is: a mixture of bells leaks there where its values do not


def density_chart(facts: NoiseFacts, *, width: int = WIDTH) -> str:
    """The priors, over a histogram of the data where it was counted; none of secrets of too few rows."""
    name, title = "tk-densities", "The priors: how likely each answer is for each secret"
    curves = facts.densities
    if not curves:
        return empty_chart(facts.unshown, name=name, title=title, width=width)
    names = [curve.label for curve in curves]
    marks, used = legend([(i, clean(name, _NAME)) for i, name in enumerate(names)], 8, 18, width - 16)
    for secret in facts.unshown:  # beside which a reader would look for it in vain
        marks.append(label(8, used + 18, f"{clean(secret, _NAME)}: {TOO_FEW}"))
        used += 20
    x = _x_scale(curves, curves, width)
    histograms = [_binned(h.values, h.shares, x) for h in facts.histograms[:2]]
    binned = [h for h in histograms if h is not None]
    height = 230 + used
    top = used + 16
    panel = Panel(x, _y_scale([*(_peak(x, c) for c in curves), *(h[1] for h in binned)], height - 46, top))
    panel.axes(x_label=_axis(axis_name(facts), x), y_numbers=False)
    for i, (at, heights, wide) in enumerate(binned):
        shift = (i - (len(binned) - 1) / 2) * wide / max(1, len(binned))
        panel.bars(at, heights, i, width=max(0.8, 0.92 * wide / len(binned)), shift=shift)
    _draw(panel, curves, filled=not binned)
    return document(
        [*marks, *panel.parts],
        name=name,
        title=title,
        description=". ".join(
            f"{clean(s.name)}: mean {number(s.mean)}, standard deviation {number(s.std)}"
            for s in facts.secrets
            if s.name in names and s.mean is not None and s.std is not None
        ),
        width=width,
        height=height,
    )


def before_after_chart(facts: NoiseFacts, *, width: int = WIDTH) -> str:
    """The worst pair as it is, and as it is published: one above the other, on one axis."""
    a, b = facts.worst_pair
    name, title = "tk-before-after", f"{clean(a)} and {clean(b)} before and after noise"
    if facts.unshown:
        return empty_chart(facts.unshown, name=name, title=title, width=width)
    return pair_chart(
        (("before noise", facts.before), ("as published", facts.after)),
        axis=axis_name(facts),
        width=width,
        name=name,
        title=title,
        description=(
            f"The laws of {clean(a)} and {clean(b)} as they are, and with noise of standard deviation "
            f"{number(facts.theta)}."
        ),
    )


def pair_chart(
    rows: "tuple[tuple[str, tuple[Curve, Curve]], ...]",
    *,
    axis: str,
    name: str,
    title: str,
    description: str,
    width: int = WIDTH,
) -> str:
    """Pairs of curves one above the other, on one axis, whose bend is decided by the first pair."""
    names = [curve.label for curve in rows[0][1]]
    marks, used = legend([(i, clean(label, _NAME)) for i, label in enumerate(names)], 8, 18, width - 16)
    x = _x_scale([curve for _, pair in rows for curve in pair], rows[0][1], width)
    parts, foot = list(marks), used + 12.0
    for k, (heading, pair) in enumerate(rows):
        last = k == len(rows) - 1
        top, bottom = foot + 16, foot + 130
        panel = Panel(x, _y_scale([_peak(x, curve) for curve in pair], bottom, top))
        panel.axes(x_label=_axis(axis, x) if last else "", y_numbers=False)
        _draw(panel, pair, filled=True)
        panel.note(heading)
        parts += panel.parts
        foot = bottom + 26
    return document(parts, name=name, title=title, description=description, width=width, height=foot + 20)


def noise_chart(facts: NoiseFacts, *, width: int = WIDTH) -> str:
    """Noise against budget, mechanism by mechanism, with the chosen point."""
    curves = [curve for curve in facts.noise_curves if len(curve.epsilon) > 1]
    marks, used = legend([(i, curve.label) for i, curve in enumerate(curves)], 8, 18, width - 16)
    height = 250 + used
    own = [float(c.theta.max()) for c in curves[:2]]
    most = max([*own, 1.15 * facts.theta]) or 1.0
    low = min([facts.epsilon, *(float(c.epsilon.min()) for c in curves)])
    high = max([facts.epsilon, *(min(float(c.epsilon.max()), 20 * facts.epsilon) for c in curves)])
    y = Scale(0.0, 1.05 * most, height - 48, used + 32)
    left = max(_LEFT, LETTER * max(len(number(tick)) for tick in y.ticks(5)) + 10)
    panel = Panel(Scale(low, high * 1.0001, left, width - _MARGIN, is_log=True), y)
    panel.axes(x_label="budget ε (less is more private)", y_label="noise θ")
    for i, curve in reversed(list(enumerate(curves))):
        seen = (curve.theta <= 1.05 * most) & (curve.epsilon <= high * 1.0001)
        panel.curve(curve.epsilon[seen], curve.theta[seen], i, width=2.6 if i == 0 else 1.8)
    panel.point(facts.epsilon, facts.theta, f"θ = {number(facts.theta)}")
    told = "; ".join(f"{c.label} {c.told()}" for c in facts.comparisons)
    return document(
        [*marks, *panel.parts],
        name="tk-noise",
        title="The noise that each budget costs",
        description=f"Noise falls as the budget grows. At ε = {number(facts.epsilon)}: {told}.",
        width=width,
        height=height,
    )


def axis_name(facts: Facts) -> str:
    """What stands under an axis of answers: the column, where the calibration knows it."""
    answer = facts.calibration.answer
    return "answer" if answer is None else answer.columns[0]


def _axis(name: str, x: Scale) -> str:
    return name if x.bend is None else f"{clean(name, 24)} (logarithmic)"


def _x_scale(curves: "Sequence[Curve]", deciding: "Sequence[Curve]", width: int) -> Scale:
    low, high = min(float(c.x.min()) for c in curves), max(float(c.x.max()) for c in curves)
    pad = 0.03 * (high - low) or 0.5 if any(c.is_mass for c in curves) else 0.0
    # Noise that goes far below zero would stand on a bent scale as two hills.
    bend = _bend(deciding) if max(map(_below_zero, curves)) <= _BELOW else None
    if bend is not None:  # room at an end is worth decades there
        return Scale(min(low, 0.0) - 0.1 * bend, 1.1 * high, _MARGIN, width - _MARGIN, bend=bend)
    return Scale(low - pad, high + pad, _MARGIN, width - _MARGIN)


def _bend(curves: "Sequence[Curve]") -> float | None:
    """The middle of skewed values, most of them above zero; None where a straight scale shows them well."""
    x = np.concatenate([c.x for c in curves])
    mass = np.concatenate([_shares(c) for c in curves])
    if len(np.unique(x[mass > 0])) < _FEW:
        return None
    order = np.argsort(x)
    x, mass = x[order], np.where(x[order] > 0, mass[order], 0.0)
    if not mass.sum() > 0:
        return None
    middle = float(x[np.searchsorted(np.cumsum(mass), 0.5 * mass.sum())])
    return middle if float(x[-1]) > _SKEWED * middle else None


def _below_zero(curve: Curve) -> float:
    mass = _shares(curve)
    return float(mass[curve.x < 0].sum() / mass.sum())


def _shares(curve: Curve) -> Array:
    """How much of a law stands at each point of its curve."""
    return curve.y if curve.is_mass or len(curve.x) < 2 else curve.y * np.gradient(curve.x)


def _heights(x: Scale, curve: Curve) -> Array:
    """What is drawn over a scale, so that areas are shares."""
    return curve.y if curve.is_mass else curve.y * x.stretch(curve.x)


def _peak(x: Scale, curve: Curve) -> Array:
    """How high a picture must reach: on a bent scale not to the tip of a spike that hardly anybody stands in."""
    heights = _heights(x, curve)
    if x.bend is None or curve.is_mass:
        return heights
    edges = x.even(_BARS + 1)
    shares, _ = np.histogram(curve.x, bins=edges, weights=_shares(curve))
    broad = shares / np.diff(edges) * x.stretch(0.5 * (edges[1:] + edges[:-1]))
    return np.array([min(float(heights.max()), 1.5 * float(broad.max()))])


def _y_scale(heights: list[Array], bottom: float, top: float) -> Scale:
    """From 0 to the tallest, unless that is a spike beside which nothing else could be seen."""
    peaks = [float(y.max()) for y in heights if len(y)]
    return Scale(0.0, 1.06 * (min(max(peaks), _SPIKE * min(peaks)) or 1.0), bottom, top)


def _draw(panel: Panel, curves: "Sequence[Curve]", *, filled: bool) -> None:
    masses = [c for c in curves if c.is_mass]
    width = _bar_width(panel, masses)
    for i, curve in enumerate(curves):
        if curve.is_mass:
            shift = 1.2 * width * (sum(c.is_mass for c in curves[:i]) - (len(masses) - 1) / 2)
            panel.bars(curve.x, curve.y, i, width=width, shift=shift, opacity=0.85)
        else:
            panel.curve(curve.x, _heights(panel.x, curve), i, filled=filled)


def _bar_width(panel: Panel, masses: "list[Curve]") -> float:
    """As wide as the gaps between the points leave room for."""
    if not masses:
        return 0.0
    places = np.unique(np.concatenate([panel.x(c.x) for c in masses]))
    gap = float(np.diff(places).min()) if len(places) > 1 else 20.0
    return float(np.clip(0.7 * gap / len(masses), 1.0 if panel.x.bend is None else 2.5, 10.0))


def _binned(values: Array, shares: Array, x: Scale) -> tuple[Array, Array, float] | None:
    """Centres, heights as a density, and the width of a bar in units of the picture."""
    inside = (values >= x.low) & (values <= x.high)
    values, shares = values[inside], shares[inside]
    if not len(values):
        return None
    gaps = np.diff(values)
    step = float(gaps.min()) if len(gaps) else 0.0
    if x.bend is not None or step <= 0 or (x.high - x.low) / step > _BARS:
        edges = x.even(_BARS + 1)
        shares, _ = np.histogram(values, bins=edges, weights=shares)
        wide = (x.end - x.start) / _BARS
        values = 0.5 * (edges[1:] + edges[:-1])
        return values, shares / np.diff(edges) * x.stretch(values), wide
    return values, shares / step, step / (x.high - x.low) * (x.end - x.start)
