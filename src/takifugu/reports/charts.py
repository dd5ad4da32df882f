"""The three pictures of a report: what is believed, what noise does to it, and what noise costs."""

import math
from collections.abc import Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.channels import named
from takifugu.laws import Scalar, key
from takifugu.reports.channel_facts import ColumnFacts
from takifugu.reports.common import TOO_FEW, Curve, Facts, empty_chart
from takifugu.reports.facts import AxisFacts, VectorFacts
from takifugu.reports.noise_facts import NoiseFacts
from takifugu.reports.svg import INK, LETTER, WIDTH, Panel, Scale, colour, document, heat_map, label, legend
from takifugu.reports.text import clean, number, share_of

PAIR_WIDTH = 480  # units of a picture's width, by default
_LEFT, _MARGIN = 46.0, 14.0
_BARS = 60  # a histogram with more values is binned to this many
_NAME = 24  # characters of a secret in a legend
_SPIKE = 6.0  # a peak this many times as tall as the lowest one is cut off
_SKEWED = 20.0  # times the middle of the values: a scale that must reach that far is bent
_FEW = 8  # points of a law below which no scale is bent
_BELOW = 0.2  # share below zero up to which one is: a mixture of bells leaks there where its values do not


def density_chart(facts: NoiseFacts, *, width: int = PAIR_WIDTH) -> str:
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


def before_after_chart(facts: NoiseFacts, *, width: int = PAIR_WIDTH) -> str:
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
    width: int = PAIR_WIDTH,
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


def noise_chart(facts: NoiseFacts, *, width: int = PAIR_WIDTH) -> str:
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


# The pictures of noise on vectors: the worst pair in each number, and how the noise on the numbers goes together.

_AXIS_NAME = 40


def picture(facts: VectorFacts, axis: AxisFacts, name: str, *, width: int = PAIR_WIDTH) -> str:
    """The worst pair in one number, as it is and as it is published."""
    a, b = (clean(secret) for secret in facts.worst_pair)
    title = f"{a} and {b} in {clean(axis.name, _AXIS_NAME)}, before and after noise"
    if facts.unshown:
        return empty_chart(facts.unshown, name=name, title=title, width=width)
    return pair_chart(
        (("before noise", axis.before), ("as published", axis.after)),
        axis=clean(axis.name, _AXIS_NAME),
        name=name,
        title=title,
        description=f"The noise on {clean(axis.name, _AXIS_NAME)} has a standard deviation of {number(axis.noise)}.",
        width=width,
    )


def correlation_chart(facts: VectorFacts, *, width: int = PAIR_WIDTH) -> str:
    """The correlations of the noise, the darker the stronger, whichever their sign."""
    names = [clean(axis.name, _AXIS_NAME) for axis in facts.axes]
    told = (
        f"{names[i]} and {names[j]} {number(float(facts.correlation[i, j]), 3)}"
        for i in range(len(names))
        for j in range(i)
    )
    return heat_map(
        np.abs(facts.correlation),
        names,
        names,
        texts=lambda i, j: f"{float(facts.correlation[i, j]):.2f}",
        name="tk-correlation",
        title="How the noise on the numbers goes together",
        description=f"Correlations: {'; '.join(told)}.",
        is_numeric=False,
        x_label="correlation of the noise",
        y_label="",
        width=width,
    )


# The pictures of a finite channel: what becomes of each value, and two secrets before and after.

_MOST_SQUARES = 60  # values that a picture shows one by one
_BINS = 40  # into which more numbers are put
_LABELS = 30  # labels shown of more than that many
_BAR_LABELS = 14  # labels with bars
_GROUPED = 10_000  # from which on digits are grouped


def channel_chart(column: ColumnFacts, *, name: str, width: int = WIDTH) -> str:
    """P(published | true): a row for each true value, darker where more people go."""
    shares, rows, columns = coarsened(column)
    changed = share_of(column.share_changed, first=True)
    return heat_map(
        shares,
        rows,
        columns,
        texts=lambda i, j: _hundredths(float(shares[i, j])),
        name=name,
        title=f"What becomes of each value of {clean(column.name)}",
        description=f"Each row is a true value, each column a published one. {changed} of the values change.",
        is_numeric=column.is_numeric,
        x_label="published value",
        y_label="true value (each row adds up to 100 %)",
        width=width,
    )


def _hundredths(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.005 else "<1"


def coarsened(column: ColumnFacts) -> tuple[Array, list[str], list[str]]:
    """The matrix with its names: binned where there are many numbers, the labels that change most where many labels."""
    if max(len(column.inputs), len(column.outputs)) <= _MOST_SQUARES:
        return column.matrix, _names(column.inputs), _names(column.outputs)
    if column.is_numeric:
        into, rows = _bins(column.inputs)
        out, columns = _bins(column.outputs)
    else:
        moved = column.mass * (1.0 - column.kept)
        first = np.argsort(-moved, kind="stable")[:_LABELS]
        chosen = {key(column.inputs[k]): place for place, k in enumerate(sorted(first.tolist()))}
        into, rows = _chosen(column.inputs, chosen)
        out, columns = _chosen(column.outputs, chosen)
    # People, not values, are averaged; a bin that holds nobody is the plain average of its rows.
    weights = np.zeros((len(rows), len(column.inputs)))
    weights[into, np.arange(len(column.inputs))] = column.mass
    empty = weights.sum(axis=1) == 0
    weights[empty] = np.arange(len(rows))[empty, None] == into[None, :]
    weights /= weights.sum(axis=1, keepdims=True)
    ends = np.zeros((len(column.outputs), len(columns)))
    ends[np.arange(len(column.outputs)), out] = 1.0
    return weights @ column.matrix @ ends, rows, columns


def _names(values: Sequence[Scalar]) -> list[str]:
    return [_name(value) for value in values]


def _name(value: Scalar) -> str:
    """A value as the axes write numbers; a year has no comma."""
    return number(value, 6) if isinstance(value, int | float) and abs(value) >= _GROUPED else named(value)


def _bins(values: Sequence[Scalar]) -> "tuple[np.ndarray[tuple[int], np.dtype[np.intp]], list[str]]":
    """Neighbouring numbers put together."""
    size = math.ceil(len(values) / _BINS)
    groups = [values[start : start + size] for start in range(0, len(values), size)]
    names = [_name(g[0]) if len(g) == 1 else f"{_name(g[0])}–{_name(g[-1])}" for g in groups]
    return np.arange(len(values)) // size, names


def _chosen(
    values: Sequence[Scalar], chosen: dict[object, int]
) -> "tuple[np.ndarray[tuple[int], np.dtype[np.intp]], list[str]]":
    """The chosen labels, and one place for all others."""
    names = [""] * len(chosen)
    place = np.array([chosen.get(key(value), len(chosen)) for value in values])
    for value, where in zip(values, place.tolist(), strict=True):
        if where < len(chosen):
            names[where] = named(value)
    others = int((place == len(chosen)).sum())
    return place, [*names, f"{others} others"] if others else names


def worst_pair_chart(column: ColumnFacts, pair: tuple[str, str], *, name: str, width: int = WIDTH) -> str:
    """The two secrets hardest to tell apart: how often each value is true, and how often it is published."""
    a, b = (clean(secret) for secret in pair)
    title = f"{a} and {b}: true and published values of {clean(column.name)}"
    after = 0.5 * float(np.abs(column.after[0] - column.after[1]).sum())
    before = 0.5 * float(np.abs(column.before[0] - column.before[1]).sum())
    told = f"The two laws differ in {share_of(before)} of their mass before and in {share_of(after)} as published."
    if not column.is_numeric:
        return _label_bars(column, (a, b), name=name, title=title, description=told, width=width)
    rows = []
    for heading, values, laws in (
        ("true values", column.inputs, column.before),
        ("as published", column.outputs, column.after),
    ):
        x = np.array(values, dtype=np.float64)
        rows.append((heading, tuple(_masses(secret, x, law) for secret, law in zip((a, b), laws, strict=True))))
    return pair_chart(tuple(rows), axis=clean(column.name), name=name, title=title, description=told, width=width)  # type: ignore[arg-type]


def _masses(secret: str, x: Array, law: Array) -> Curve:
    if len(x) > _MOST_SQUARES:
        law, edges = np.histogram(x, bins=_MOST_SQUARES, weights=law)
        x = 0.5 * (edges[1:] + edges[:-1])
    return Curve(secret, x, law, is_mass=True)


def _label_bars(
    column: ColumnFacts, pair: tuple[str, str], *, name: str, title: str, description: str, width: int
) -> str:
    """Two panels side by side, true and published, with a line for each label and a bar for each secret."""
    after = [dict(zip(map(key, column.outputs), law.tolist(), strict=True)) for law in column.after]
    rows: list[tuple[str, list[float], list[float]]] = [
        (named(value), [float(law[k]) for law in column.before], [law.get(key(value), 0.0) for law in after])
        for k, value in enumerate(column.inputs)
    ]
    rows.sort(key=lambda row: -max(abs(row[1][0] - row[1][1]), abs(row[2][0] - row[2][1])))  # what tells most
    most = max(max(*row[1], *row[2]) for row in rows[: _BAR_LABELS - 1]) or 1.0  # the bar of all others may be cut
    if len(rows) > _BAR_LABELS:
        rest = rows[_BAR_LABELS - 1 :]
        true = [sum(row[1][k] for row in rest) for k in (0, 1)]
        published = [sum(row[2][k] for row in rest) for k in (0, 1)]
        rows = [*rows[: _BAR_LABELS - 1], (f"{len(rest)} others", true, published)]
    marks, used = legend([(0, clean(pair[0], _NAME)), (1, clean(pair[1], _NAME))], 8, 18, width - 16)
    left = min(0.32 * width, 7.2 * max(len(clean(row[0], 20)) for row in rows) + 12)
    wide = (width - left - 20) / 2
    top, parts = used + 26.0, list(marks)
    for side, heading in enumerate(("true values", "as published")):
        parts.append(label(left + side * (wide + 10), top - 6, heading, fill=INK, weight="600"))
    for k, (value, true, published) in enumerate(rows):
        y = top + 26 * k
        parts.append(label(left - 6, y + 16, clean(value, 20), anchor="end", size=12))
        for side, shares in enumerate((true, published)):
            for secret, share in enumerate(shares):
                long = max(0.5, 0.78 * wide * min(1.0, share / most))
                parts.append(
                    f'<rect x="{left + side * (wide + 10):.1f}" y="{y + 3 + 10 * secret:.1f}" width="{long:.1f}" '
                    f'height="8.5" fill="{colour(secret)}"/>'
                )
            largest = max(shares)
            at = left + side * (wide + 10) + 0.78 * wide * min(1.0, largest / most) + 4
            parts.append(label(at, y + 16, f"{number(100 * largest, 2)} %", size=11))
    height = top + 26 * len(rows) + 8
    return document(parts, name=name, title=title, description=description, width=width, height=height)
