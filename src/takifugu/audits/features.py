"""What a learner is shown of a published row: its values, and the traces that a careless release leaves.

Each view is a function of one row and of the rows that the learner may know, never of the rows it is tested on: so a
score is a fixed function there, and the bound on the divergence holds.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.audits.column import Column
from takifugu.audits.rows import Rows

Places = npt.NDArray[np.intp]

_MOST_LABELS = 40  # labels of a column that get a feature of their own
_MOST_DIFFERENCES = 6  # columns of numbers whose differences are looked at
_DECIMALS = (1.0, 10.0, 100.0, 1000.0)
_WIDTHS = (5, 20, 80)  # known rows on either side of a place over which values are smoothed
_REACH = 1e100  # beyond which numbers have no squares


def within_reach(column: Column) -> Array:
    """The numbers of a column, 0 where there is none; labels have none."""
    numbers = np.zeros(len(column.labels)) if column.numbers is None else column.numbers
    return np.asarray(np.clip(np.nan_to_num(numbers), -_REACH, _REACH), dtype=np.float64)


def values(rows: Rows, names: Sequence[str], known: Places) -> Array:
    """Numbers as they are, labels one by one, and the difference of any two columns of numbers.

    A difference shows what two columns share, such as noise that was drawn once for both.
    """
    parts, numbers = [], []
    for name in names:
        column = rows.published[name]
        parts.append(encoded(column, known))
        if column.numbers is not None:
            numbers.append(within_reach(column))
    if len(numbers) <= _MOST_DIFFERENCES:
        parts += [np.stack([a - b], axis=1) for a, b in combinations(numbers, 2)]
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(rows), 0))


def encoded(column: Column, known: Places) -> Array:
    """A column as features: a number and whether it is missing, or one feature for each common label."""
    if column.numbers is not None:
        missing = np.isnan(column.numbers)
        parts = [within_reach(column)]
        if missing.any():
            parts.append(missing.astype(np.float64))
        return np.stack(parts, axis=1)
    texts = np.array([str(label) for label in column.labels.tolist()])
    seen, counts = np.unique(texts[known], return_counts=True)
    common = seen[np.argsort(-counts, kind="stable")][:_MOST_LABELS]
    hot: Array = (texts[:, None] == common[None, :]).astype(np.float64)
    return hot


def traces(rows: Rows, names: Sequence[str], known: Places) -> Array:
    """What lies below the noise: the decimals of each number, how many it is written with, and how often it occurs."""
    parts: list[Array] = []
    for name in names:
        column = rows.published[name]
        texts = np.array([str(label) for label in column.labels.tolist()])
        seen, counts = np.unique(texts[known], return_counts=True)
        place = np.searchsorted(seen, texts).clip(max=len(seen) - 1)
        # A learner's own row counts itself; one that it has not seen cannot.
        own = np.zeros(len(texts))
        own[known] = 1
        parts.append(np.where(seen[place] == texts, counts[place], 0) - own)
        if column.numbers is not None:
            numbers = within_reach(column)
            parts += [np.mod(numbers * scale, 1.0) for scale in _DECIMALS]
            parts += [np.mod(np.floor(np.abs(numbers) * scale), 2.0) for scale in _DECIMALS]
            parts.append(np.array([_decimals(text) for text in texts.tolist()]))
    varied = [part for part in parts if len(part) and np.ptp(part[known]) > 0]
    return np.stack(varied, axis=1) if varied else np.zeros((len(rows), 0))


def order(rows: Rows, known: Places) -> Array:
    """Where a row stands in the publication, whether at an even or an odd place, and what its neighbours say.

    The published values of the rows that may be known are smoothed over their places, at several widths. No row's own
    value is among them: that is not the order's.
    """
    places = rows.place[known]
    turn = np.argsort(places, kind="stable")
    rank = np.searchsorted(places[turn], rows.place)  # how many known rows stand before each
    own = np.zeros(len(rows))
    own[known] = 1
    parts = [np.stack([rows.place / max(1.0, float(rows.place.max())), np.mod(rows.place, 2.0)], axis=1)]
    for column in rows.published.values():
        shown = encoded(column, known)
        total = np.concatenate([np.zeros((1, shown.shape[1])), np.cumsum(shown[known][turn], axis=0)])
        for width in _WIDTHS:
            low, high = np.clip(rank - width, 0, None), np.clip(rank + width + own.astype(np.intp), None, len(known))
            near = total[high] - total[low] - own[:, None] * shown
            parts.append(near / np.maximum(high - low - own, 1)[:, None])
    return np.concatenate(parts, axis=1)


def _decimals(text: str) -> float:
    whole, _, decimals = text.partition(".")
    return float(len(decimals)) if whole else 0.0
