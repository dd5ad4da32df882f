"""The pictures: what is believed, what a channel makes of it, and what it costs. Notebooks and pages show the same."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels import named
from takifugu.divergences import PrivacyCurve
from takifugu.errors import InputError
from takifugu.laws import Finite, Law, Mixture, Scalar, VectorMixture, key
from takifugu.reports.channel_facts import ColumnFacts
from takifugu.reports.common import TOO_FEW, Curve, Facts, curve, grid, is_shown, too_few
from takifugu.reports.facts import AxisFacts, NoiseFacts, VectorFacts
from takifugu.reports.svg import (
    INK,
    LETTER,
    PICTURE_WIDTH,
    Panel,
    Picture,
    Scale,
    colour,
    label,
    legend,
    squares,
    stacked,
)
from takifugu.reports.text import clean, number, share_of

_LEFT, _MARGIN = 46.0, 14.0
_BARS = 60  # a histogram with more values is binned to this many
_NAME = 24  # characters of a secret in a legend
_SPIKE = 6.0  # a peak this many times as tall as the lowest one is cut off
_SKEWED = 20.0  # times the middle of the values: a scale that must reach that far is bent
_FEW = 8  # points of a law below which no scale is bent
_CURVE_POINTS = 61  # budgets of a privacy curve that are drawn
_LEAST_DELTA = 1e-4  # below which a δ could not be seen
_BELOW = 0.2  # share below zero up to which one is: a mixture of bells leaks there where its values do not


def empty_chart(names: Sequence[str], *, name: str, title: str, width: int = PICTURE_WIDTH) -> Picture:
    """What stands in the place of a picture of secrets some of which have too few rows."""
    parts = [label(8, 22 + 20 * k, f"{clean(one, _NAME)}: {TOO_FEW}") for k, one in enumerate(names)]
    return Picture(name, title, f"Nothing is drawn: {too_few(names)}.", width, 14 + 20 * len(parts), parts)


def density_chart(facts: NoiseFacts, *, width: int = PICTURE_WIDTH) -> Picture:
    """The priors, over a histogram of the data where it was counted; none of secrets of too few rows."""
    name, title = "tk-densities", "The priors: how likely each answer is for each secret"
    curves = facts.densities
    if not curves:
        return empty_chart(facts.unshown, name=name, title=title, width=width)
    names = [curve.label for curve in curves]
    x = _x_scale(curves, curves, width)
    histograms = [_binned(h.values, h.shares, x) for h in facts.histograms[:2]]
    told = ". ".join(
        f"{clean(s.name)}: mean {number(s.mean)}, standard deviation {number(s.std)}"
        for s in facts.secrets
        if s.name in names and s.mean is not None and s.std is not None
    )
    binned = [h for h in histograms if h is not None]
    parts, height = _densities(curves, axis_name(facts), unshown=facts.unshown, histograms=binned, width=width)
    return Picture(name, title, told, width, height, parts)


def _densities(
    curves: Sequence[Curve],
    axis: str,
    *,
    unshown: Sequence[str] = (),
    histograms: Sequence[tuple[Array, Array, float]] = (),
    width: int = PICTURE_WIDTH,
) -> tuple[list[str], float]:
    """Curves on one pair of axes, under a legend that names what is not shown too: the parts, and their height."""
    marks, used = legend([(i, clean(one.label, _NAME)) for i, one in enumerate(curves)], 8, 18, width - 16)
    for secret in unshown:  # beside which a reader would look for it in vain
        marks.append(label(8, used + 18, f"{clean(secret, _NAME)}: {TOO_FEW}"))
        used += 20
    x, height = _x_scale(curves, curves, width), 230 + used
    panel = Panel(x, _y_scale([*(_peak(x, c) for c in curves), *(h[1] for h in histograms)], height - 46, used + 16))
    panel.axes(x_label=_axis(axis, x), y_numbers=False)
    for i, (at, heights, wide) in enumerate(histograms):
        shift = (i - (len(histograms) - 1) / 2) * wide / max(1, len(histograms))
        panel.bars(at, heights, i, width=max(0.8, 0.92 * wide / len(histograms)), shift=shift)
    _draw(panel, curves, filled=not histograms)
    return [*marks, *panel.parts], height


def before_after_chart(facts: NoiseFacts, *, width: int = PICTURE_WIDTH) -> Picture:
    """The worst pair as it is, and as it is published: one above the other, on one axis."""
    a, b = (clean(secret) for secret in facts.worst_pair)
    name, title = "tk-before-after", f"{a} and {b} before and after noise"
    if facts.unshown:
        return empty_chart(facts.unshown, name=name, title=title, width=width)
    told = f"The laws of {a} and {b} as they are, and with noise of standard deviation {number(facts.theta)}."
    parts, height = _pairs(_before_after(facts), axis_name(facts), width)
    return Picture(name, title, told, width, height, parts)


def _before_after(one: NoiseFacts | AxisFacts) -> tuple[tuple[str, tuple[Curve, Curve]], ...]:
    return ("before noise", one.before), ("as published", one.after)


def _pairs(
    rows: Sequence[tuple[str, tuple[Curve, Curve]]], axis: str, width: int = PICTURE_WIDTH
) -> tuple[list[str], float]:
    """Pairs of curves one above the other, on one axis, whose bend is decided by the first pair."""
    marks, used = legend([(i, clean(one.label, _NAME)) for i, one in enumerate(rows[0][1])], 8, 18, width - 16)
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
    return parts, foot + 20


def noise_chart(facts: NoiseFacts, *, width: int = PICTURE_WIDTH) -> Picture | None:
    """Noise against budget, mechanism by mechanism, with the chosen point; None where there is no ε to draw it over."""
    if not facts.epsilon:
        return None
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
    for i, one in reversed(list(enumerate(curves))):
        seen = (one.theta <= 1.05 * most) & (one.epsilon <= high * 1.0001)
        panel.curve(one.epsilon[seen], one.theta[seen], i, width=2.6 if i == 0 else 1.8)
    panel.point(facts.epsilon, facts.theta, f"θ = {number(facts.theta)}")
    others = "; ".join(f"{c.label} {c.told()}" for c in facts.comparisons)
    told = f"Noise falls as the budget grows. At ε = {number(facts.epsilon)}: {others}."
    return Picture("tk-noise", "The noise that each budget costs", told, width, height, [*marks, *panel.parts])


def privacy_chart(thing: PrivacyCurve, *, name: str = "tk-privacy", width: int = PICTURE_WIDTH) -> Picture:
    """What a privacy curve says of every test, and of every ε: two pictures, both directions in each."""
    ways = (thing, thing.reversed())
    names = ("first against second", "second against first")
    marks, used = legend(list(enumerate(names)), 8, 18, width - 16)
    errors = [np.array([(1.0, 0.0), *(way.errors(e) for e in way.thresholds), (0.0, 1.0)]) for way in ways]
    height = 300 + used
    panel = Panel(Scale(0.0, 1.0, _LEFT, width - _MARGIN), Scale(0.0, 1.0, height - 48, used + 32))
    panel.axes(x_label="false alarms", y_label="misses")
    guess = np.array([0.0, 1.0])
    panel.curve(guess, 1.0 - guess, 4, width=1.2)
    for index, points in enumerate(errors):
        order = np.lexsort((-points[:, 1], points[:, 0]))
        panel.curve(points[order, 0], points[order, 1], index)
    panel.note("the line from corner to corner is a random guess")
    best = max(way.best_guess() for way in ways)
    told = f"Errors of the best tests: between two equally likely secrets the best guess is right in {share_of(best)}."
    first = Picture(name, "How well the two can be told apart", told, width, height, [*marks, *panel.parts])
    most = max((e for way in ways for e in way.thresholds if way.delta(e) > _LEAST_DELTA), default=1.0)
    at = np.linspace(0.0, max(most, 0.1), _CURVE_POINTS)
    values = [np.array([way.delta(float(e)) for e in at]) for way in ways]
    marks, used = legend(list(enumerate(names)), 8, 18, width - 16)
    height = 250 + used
    panel = Panel(
        Scale(0.0, float(at[-1]), _LEFT, width - _MARGIN),
        Scale(0.0, 1.05 * max(1e-12, *(float(one.max()) for one in values)), height - 48, used + 32),
    )
    panel.axes(x_label="ε", y_label="the least δ")
    for index, one in enumerate(values):
        panel.curve(at, one, index)
    told = f"The least δ for each ε: at ε = 0 it is {number(float(values[0][0]))}."
    second = Picture(f"{name}-delta", "δ for every ε", told, width, height, [*marks, *panel.parts])
    return stacked([first, second])


def axis_name(facts: Facts) -> str:
    """What stands under an axis of answers: the column, where the calibration knows it."""
    answer = facts.calibration.answer
    return "answer" if answer is None else answer.columns[0]


def _axis(name: str, x: Scale) -> str:
    return name if x.bend is None else f"{clean(name, 24)} (logarithmic)"


def _x_scale(curves: Sequence[Curve], deciding: Sequence[Curve], width: int) -> Scale:
    low, high = min(float(c.x.min()) for c in curves), max(float(c.x.max()) for c in curves)
    pad = 0.03 * (high - low) or 0.5 if any(c.is_mass for c in curves) else 0.0
    # Noise that goes far below zero would stand on a bent scale as two hills.
    bend = _bend(deciding) if max(map(_below_zero, curves)) <= _BELOW else None
    if bend is not None:  # room at an end is worth decades there
        return Scale(min(low, 0.0) - 0.1 * bend, 1.1 * high, _MARGIN, width - _MARGIN, bend=bend)
    return Scale(low - pad, high + pad, _MARGIN, width - _MARGIN)


def _bend(curves: Sequence[Curve]) -> float | None:
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


def _draw(panel: Panel, curves: Sequence[Curve], *, filled: bool) -> None:
    masses = [c for c in curves if c.is_mass]
    width = _bar_width(panel, masses)
    for i, one in enumerate(curves):
        if one.is_mass:
            shift = 1.2 * width * (sum(c.is_mass for c in curves[:i]) - (len(masses) - 1) / 2)
            panel.bars(one.x, one.y, i, width=width, shift=shift, opacity=0.85)
        else:
            panel.curve(one.x, _heights(panel.x, one), i, filled=filled)


def _bar_width(panel: Panel, masses: list[Curve]) -> float:
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


def picture(facts: VectorFacts, axis: AxisFacts, name: str, *, width: int = PICTURE_WIDTH) -> Picture:
    """The worst pair in one number, as it is and as it is published."""
    a, b = (clean(secret) for secret in facts.worst_pair)
    title = f"{a} and {b} in {clean(axis.name, _AXIS_NAME)}, before and after noise"
    if facts.unshown:
        return empty_chart(facts.unshown, name=name, title=title, width=width)
    told = f"The noise on {clean(axis.name, _AXIS_NAME)} has a standard deviation of {number(axis.noise)}."
    parts, height = _pairs(_before_after(axis), clean(axis.name, _AXIS_NAME), width)
    return Picture(name, title, told, width, height, parts)


def correlation_chart(facts: VectorFacts, *, width: int = PICTURE_WIDTH) -> Picture:
    """The correlations of the noise, the darker the stronger, whichever their sign."""
    names = [clean(axis.name, _AXIS_NAME) for axis in facts.axes]
    told = "; ".join(
        f"{names[i]} and {names[j]} {number(float(facts.correlation[i, j]), 3)}"
        for i in range(len(names))
        for j in range(i)
    )
    parts, height = squares(
        np.abs(facts.correlation),
        (names, names),
        texts=lambda i, j: f"{float(facts.correlation[i, j]):.2f}",
        x_label="correlation of the noise",
        width=width,
    )
    title = "How the noise on the numbers goes together"
    return Picture("tk-correlation", title, f"Correlations: {told}.", width, height, parts)


def loss_matrix(facts: Facts, *, width: int = PICTURE_WIDTH) -> Picture | None:
    """The loss of every pair as a share of the limit; None where there is one pair, or too many to be looked at."""
    found = facts.pair_losses
    if found is None or not np.isfinite(found.losses).any():
        return None
    names = [clean(name) for name in found.names]
    a, b = (clean(name) for name in facts.worst_pair)
    parts, height = squares(
        found.losses / facts.budget,
        (names, names),
        texts=lambda i, j: f"{100 * float(found.losses[i, j]) / facts.budget:.0f}",
        x_label="against",
        width=width,
    )
    told = f"The largest is {number(facts.loss)}, of {a} against {b}."
    return Picture("tk-losses", "The loss of every pair of secrets", told, width, height, parts)


# The pictures of a finite channel: what becomes of each value, and two secrets before and after.

_MOST_SQUARES = 60  # values that a picture shows one by one
_BINS = 40  # into which more numbers are put
_LABELS = 30  # labels shown of more than that many
_BAR_LABELS = 14  # labels with bars
Integers = npt.NDArray[np.int64]
_GROUPED = 10_000  # from which on digits are grouped


def channel_chart(column: ColumnFacts, *, name: str, width: int = PICTURE_WIDTH) -> Picture:
    """P(published | true): a row for each true value, darker where more people go."""
    shares, rows, columns = coarsened(column)
    changed = share_of(column.share_changed, first=True)
    parts, height = squares(
        shares,
        (rows, columns),
        texts=lambda i, j: _hundredths(float(shares[i, j])),
        is_numeric=column.is_numeric,
        x_label="published value",
        y_label="true value (each row adds up to 100 %)",
        width=width,
    )
    told = f"Each row is a true value, each column a published one. {changed} of the values change."
    return Picture(name, f"What becomes of each value of {clean(column.name)}", told, width, height, parts)


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


def _bins(values: Sequence[Scalar]) -> tuple[Integers, list[str]]:
    """Neighbouring numbers put together."""
    size = math.ceil(len(values) / _BINS)
    groups = [values[start : start + size] for start in range(0, len(values), size)]
    names = [_name(g[0]) if len(g) == 1 else f"{_name(g[0])}–{_name(g[-1])}" for g in groups]
    return np.arange(len(values)) // size, names


def _chosen(values: Sequence[Scalar], chosen: dict[object, int]) -> tuple[Integers, list[str]]:
    """The chosen labels, and one place for all others."""
    names = [""] * len(chosen)
    place = np.array([chosen.get(key(value), len(chosen)) for value in values])
    for value, where in zip(values, place.tolist(), strict=True):
        if where < len(chosen):
            names[where] = named(value)
    others = int((place == len(chosen)).sum())
    return place, [*names, f"{others} others"] if others else names


def worst_pair_chart(column: ColumnFacts, pair: tuple[str, str], *, name: str, width: int = PICTURE_WIDTH) -> Picture:
    """The two secrets hardest to tell apart: how often each value is true, and how often it is published."""
    a, b = names = [clean(secret) for secret in pair]
    title = f"{a} and {b}: true and published values of {clean(column.name)}"
    before, after = (0.5 * float(np.abs(p - q).sum()) for p, q in (column.before, column.after))
    told = f"The two laws differ in {share_of(before)} of their mass before and in {share_of(after)} as published."
    sides = (("true values", column.inputs, column.before), ("as published", column.outputs, column.after))
    if column.is_numeric:
        rows = [(heading, (_mass(a, values, p), _mass(b, values, q))) for heading, values, (p, q) in sides]
        parts, height = _pairs(rows, clean(column.name), width)
    else:
        shares = [(heading, dict(_by_key(values, laws))) for heading, values, laws in sides]
        parts, height = _label_bars(names, {key(v): named(v) for v in column.inputs}, shares, width)
    return Picture(name, title, told, width, height, parts)


def _mass(secret: str, values: Sequence[object], law: Array) -> Curve:
    x: Array = np.array(values, dtype=np.float64)
    if len(x) > _MOST_SQUARES:
        law, edges = np.histogram(x, bins=_MOST_SQUARES, weights=law)
        x = 0.5 * (edges[1:] + edges[:-1])
    return Curve(secret, x, law, is_mass=True)


def _by_key(values: Sequence[Scalar], laws: Sequence[Array]) -> Iterator[tuple[object, list[float]]]:
    """For each value its share under each law."""
    for k, value in enumerate(values):
        yield key(value), [float(law[k]) for law in laws]


def _label_bars(
    secrets: Sequence[str],
    names: Mapping[object, str],
    sides: Sequence[tuple[str, Mapping[object, list[float]]]],
    width: int = PICTURE_WIDTH,
) -> tuple[list[str], float]:
    """Panels side by side, with a line for each label and a bar for each secret: what to draw, and how high it is."""
    nothing = [0.0] * len(secrets)
    rows = [(name, [shares.get(where, nothing) for _, shares in sides]) for where, name in names.items()]
    rows.sort(key=lambda row: -max(max(one) - min(one) for one in row[1]))  # what tells most
    most = max(max(max(one) for one in row[1]) for row in rows[: _BAR_LABELS - 1]) or 1.0  # of all others it may be cut
    if len(rows) > _BAR_LABELS:
        rest = np.sum([row[1] for row in rows[_BAR_LABELS - 1 :]], axis=0).tolist()
        rows = [*rows[: _BAR_LABELS - 1], (f"{len(rows) - _BAR_LABELS + 1} others", rest)]
    parts, used = legend([(k, clean(secret, _NAME)) for k, secret in enumerate(secrets)], 8, 18, width - 16)
    left = min(0.32 * width, LETTER * max(len(clean(row[0], 20)) for row in rows) + 12)
    wide, top = (width - left - 10 * len(sides)) / len(sides), used + 26.0
    for side, (heading, _) in enumerate(sides):
        parts.append(label(left + side * (wide + 10), top - 6, heading, fill=INK, weight="600"))
    step = 6 + 10 * len(secrets)
    for k, (value, every) in enumerate(rows):
        y = top + step * k
        middle = y + step / 2 + 3
        parts.append(label(left - 6, middle, clean(value, 20), anchor="end", size=12))
        for side, shares in enumerate(every):
            start = left + side * (wide + 10)
            for secret, share in enumerate(shares):
                long = max(0.5, 0.78 * wide * min(1.0, share / most))
                parts.append(
                    f'<rect x="{start:.1f}" y="{y + 3 + 10 * secret:.1f}" width="{long:.1f}" height="8.5" '
                    f'fill="{colour(secret)}"/>'
                )
            at = start + 0.78 * wide * min(1.0, max(shares) / most) + 4
            parts.append(label(at, middle, f"{number(100 * max(shares), 2)} %", size=11))
    return parts, top + step * len(rows) + 8


# The pictures of laws by themselves: densities, bars, or ellipses, whichever their kind asks for.

_MOST_DRAWN = 6
_MOST_ELLIPSES = 60
_DEVIATIONS = 2.2  # around each component that a picture of vectors reaches


def laws_chart(laws: Mapping[Any, Law], rows: Mapping[Any, int] | None = None) -> Picture:
    """The laws of some secrets; of those with too few `rows` nothing is drawn."""
    rows = rows or {}
    unshown = [str(name) for name in laws if not is_shown(rows.get(name))]
    drawn = {str(name): law for name, law in laws.items() if is_shown(rows.get(name))}
    name, title = "tk-laws", "How likely each answer is" + (" for each secret" if len(laws) > 1 else "")
    if not drawn:
        return empty_chart(unshown, name=name, title=title)
    few = dict(list(drawn.items())[:_MOST_DRAWN])
    parts, height = _law_parts(next(iter(few.values())), few)
    parts += [label(8, height + 14 + 20 * k, f"{clean(one, _NAME)}: {TOO_FEW}") for k, one in enumerate(unshown)]
    told = "; ".join(f"{clean(one)}: {law!r}" for one, law in few.items())
    return Picture(name, title, told, PICTURE_WIDTH, height + 20 * len(unshown), parts)


@singledispatch
def _law_parts(kind: object, laws: Mapping[str, Law]) -> tuple[list[str], float]:
    raise InputError(f"there is no plot of a {type(kind).__name__}")


@_law_parts.register
def _(kind: Mixture, laws: Mapping[str, Mixture]) -> tuple[list[str], float]:
    x = grid(laws.values())
    return _densities([curve(name, law, x) for name, law in laws.items()], "answer")


@_law_parts.register
def _(kind: Finite, laws: Mapping[str, Finite]) -> tuple[list[str], float]:
    if all(law.is_numeric for law in laws.values()):
        return _densities([_mass(name, law.values, law.probabilities) for name, law in laws.items()], "answer")
    names = {key(value): named(value) for law in laws.values() for value in law.values}
    by_law = [{key(v): float(p) for v, p in zip(law.values, law.probabilities, strict=True)} for law in laws.values()]
    shares = {where: [law.get(where, 0.0) for law in by_law] for where in names}
    return _label_bars(list(laws), names, [("share", shares)])


@_law_parts.register
def _(kind: VectorMixture, laws: Mapping[str, VectorMixture]) -> tuple[list[str], float]:
    """Of each component the ellipse one deviation around its mean, in its first two numbers; wider where likelier."""
    if kind.dimension == 1:
        return _law_parts(Mixture.gaussian(0, 1), {name: law.projected([1.0]) for name, law in laws.items()})
    marks, used = legend([(i, clean(name, _NAME)) for i, name in enumerate(laws)], 8, 18, PICTURE_WIDTH - 16)
    two = [law.marginal([0, 1]) for law in laws.values()]
    reach = [_DEVIATIONS * np.sqrt(np.diagonal(law.covariances, axis1=1, axis2=2)) for law in two]
    low = np.min([(law.means - wide).min(axis=0) for law, wide in zip(two, reach, strict=True)], axis=0)
    high = np.max([(law.means + wide).max(axis=0) for law, wide in zip(two, reach, strict=True)], axis=0)
    pad = np.where(high > low, 0.02 * (high - low), 0.5)
    x = Scale(float(low[0] - pad[0]), float(high[0] + pad[0]), _LEFT, PICTURE_WIDTH - _MARGIN)
    panel = Panel(x, Scale(float(low[1] - pad[1]), float(high[1] + pad[1]), 304 + used, used + 28))
    panel.axes(x_label="first number", y_label="second number")
    turn = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for i, law in enumerate(two):
        for k in np.argsort(-law.weights, kind="stable")[:_MOST_ELLIPSES]:
            values, vectors = np.linalg.eigh(law.covariances[k])
            around = law.means[k][:, None] + (vectors * np.sqrt(np.maximum(values, 0.0))) @ circle
            panel.curve(around[0], around[1], i, width=0.8 + 1.7 * float(law.weights[k] / law.weights.max()))
    return [*marks, *panel.parts], 350 + used
