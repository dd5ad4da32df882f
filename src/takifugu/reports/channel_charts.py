"""The pictures of a finite channel: what becomes of each value, and two secrets before and after."""

import math
from collections.abc import Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.channels.sentences import named
from takifugu.laws.values import Scalar, key
from takifugu.reports.charts import pair_chart
from takifugu.reports.columns import ColumnFacts
from takifugu.reports.grids import Curve
from takifugu.reports.heatmap import WIDTH, heat_map
from takifugu.reports.svg import INK, colour, document, label, legend
from takifugu.reports.text import clean, number, share_of

_MOST_SQUARES = 60  # values that a picture shows one by one
_BINS = 40  # into which more numbers are put
_LABELS = 30  # labels shown of more than that many
_BAR_LABELS = 14  # labels with bars
_NAME = 24
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
