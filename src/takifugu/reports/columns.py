"""A finite channel, column by column: what becomes of each value, how far off it is, and what stays true on average."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.channels.listed import ListChannel
from takifugu.laws.values import Scalar, columns, key, number


@dataclass(frozen=True)
class ColumnFacts:
    """One column of what goes through a channel, over people as the pooled laws have them.

    `matrix` is P(published value | true value), true values by published ones; `mass` the share of each true value.
    `before` and `after` are the laws of the two secrets that are hardest to tell apart. `error` is the root mean square
    error and `spread` the standard deviation of the true values, both of numbers only; `correlation` is that between
    true and published numbers. `histogram_shift` is the total variation between true and published values,
    `mean_shift` the difference of their means.
    """

    name: str
    inputs: tuple[Scalar, ...]
    outputs: tuple[Scalar, ...]
    matrix: Array = field(repr=False)
    mass: Array = field(repr=False)
    before: tuple[Array, Array] = field(repr=False)
    after: tuple[Array, Array] = field(repr=False)
    share_changed: float
    histogram_shift: float
    error: float | None = None
    spread: float | None = None
    correlation: float | None = None
    mean_shift: float | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.error is not None

    @property
    def kept(self) -> Array:
        """The probability with which each true value is published as itself."""
        place = {key(value): where for where, value in enumerate(self.outputs)}
        return np.array([self.matrix[k, place[key(v)]] if key(v) in place else 0.0 for k, v in enumerate(self.inputs)])

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {
            "name": self.name,
            "values": len(self.inputs),
            "share_changed": self.share_changed,
            "histogram_shift": self.histogram_shift,
            "error": self.error,
            "spread": self.spread,
            "correlation": self.correlation,
            "mean_shift": self.mean_shift,
        }


def column_facts(
    channel: ListChannel, mass: Array, laws: tuple[Array, Array], names: Sequence[str] | None
) -> tuple[ColumnFacts, ...]:
    """The facts of each column. `mass` and `laws` are shares in the order of the channel's inputs."""
    true, published = columns(channel.inputs), columns(channel.outputs)
    if names is None or len(names) != len(true):
        names = ["answer"] if len(true) == 1 else [f"column {k + 1}" for k in range(len(true))]
    after = channel.through(np.stack(laws))
    return tuple(
        _column(name, channel, mass, laws, (after[0], after[1]), true[k], published[k]) for k, name in enumerate(names)
    )


def _column(
    name: str,
    channel: ListChannel,
    mass: Array,
    before: tuple[Array, Array],
    after: tuple[Array, Array],
    true: list[Scalar],
    published: list[Scalar],
) -> ColumnFacts:
    (inputs, into), (outputs, out) = _distinct(true), _distinct(published)
    sources, targets, chances = channel.entries
    joint = np.zeros((len(inputs), len(outputs)))
    np.add.at(joint, (into[sources], out[targets]), mass[sources] * chances)
    shares: Array = np.bincount(into, weights=mass, minlength=len(inputs)).astype(np.float64)
    # A value that nobody has is told as the plain average over the rows that hold it.
    plain = np.zeros_like(joint)
    np.add.at(plain, (into[sources], out[targets]), chances)
    plain /= np.bincount(into, minlength=len(inputs))[:, None]
    given = np.where(shares[:, None] > 0, joint / np.where(shares > 0, shares, 1.0)[:, None], plain)
    moves = np.array([[key(a) != key(b) for b in outputs] for a in inputs])
    return ColumnFacts(
        name=name,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        matrix=given,
        mass=shares,
        before=(_sums(before[0][None], into, len(inputs))[0], _sums(before[1][None], into, len(inputs))[0]),
        after=(_sums(after[0][None], out, len(outputs))[0], _sums(after[1][None], out, len(outputs))[0]),
        share_changed=float(joint[moves].sum()),  # not one minus the rest, which is not 0 where nothing changes
        histogram_shift=_shift(inputs, shares, outputs, joint.sum(axis=0)),
        **_numbers(inputs, outputs, joint),
    )


def _numbers(inputs: list[Scalar], outputs: list[Scalar], joint: Array) -> dict[str, float]:
    if not all(map(number, (*inputs, *outputs))):
        return {}
    x, y = np.array(inputs, dtype=np.float64), np.array(outputs, dtype=np.float64)
    scale = max(float(np.abs(x).max()), float(np.abs(y).max())) or 1.0  # squares of large numbers have no float
    x, y = x / scale, y / scale
    of_x, of_y = joint.sum(axis=1), joint.sum(axis=0)
    mean_x, mean_y = float(of_x @ x), float(of_y @ y)
    spread_x, spread_y = (math.sqrt(float(m @ (v - c) ** 2)) for m, v, c in ((of_x, x, mean_x), (of_y, y, mean_y)))
    together = float((joint * np.outer(x - mean_x, y - mean_y)).sum())
    found = {
        "error": scale * math.sqrt(float((joint * (x[:, None] - y[None, :]) ** 2).sum())),
        "spread": scale * spread_x,
        "mean_shift": scale * (mean_y - mean_x),
    }
    if spread_x > 0 and spread_y > 0:
        found["correlation"] = max(-1.0, min(1.0, together / (spread_x * spread_y)))
    return found


def _shift(inputs: list[Scalar], before: Array, outputs: list[Scalar], after: Array) -> float:
    """The total variation between true and published values."""
    seen = {key(v): float(m) for v, m in zip(inputs, before, strict=True)}
    apart = sum(abs(seen.pop(key(v), 0.0) - float(m)) for v, m in zip(outputs, after, strict=True))
    return min(1.0, 0.5 * (apart + sum(seen.values())))


def _distinct(values: list[Scalar]) -> tuple[list[Scalar], Any]:
    """The distinct values, numbers in order, and which of them each is."""
    first: dict[Any, Scalar] = {}
    for value in values:
        first.setdefault(key(value), value)
    found = list(first.values())
    if all(map(number, found)):
        found.sort()
    place = {key(value): where for where, value in enumerate(found)}
    return found, np.array([place[key(value)] for value in values])


def _sums(rows: Array, groups: Any, count: int) -> Array:
    """Columns added up by group."""
    found = np.zeros((len(rows), count))
    np.add.at(found.T, groups, rows.T)
    return found
