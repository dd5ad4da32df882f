"""The rows that occur, as places in the domains of their columns, and one pseudo-row over them."""

import math
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.laws.fitting.counts import rounded_normal
from takifugu.laws.values import Value
from takifugu.problems.domain import Choices

_LEAST_STD = 0.3  # of a step: the narrowest normal that a pseudo-row is taken from


def support_of(places: Any, domain: tuple[Choices, ...]) -> tuple[list[tuple[int, ...]], Any]:
    """The rows that occur, in order, and which of them each line is; of one column, its whole domain."""
    if len(domain) == 1:
        return [(k,) for k in range(len(domain[0].values))], places[0]
    rows, where = np.unique(places.T, axis=0, return_inverse=True)
    return [tuple(row) for row in rows.tolist()], where.reshape(-1)


def values_of(support: list[tuple[int, ...]], domain: tuple[Choices, ...]) -> tuple[Value, ...]:
    """The rows of the support as values of a law: tuples, or the values themselves of one column."""
    if len(domain) == 1:
        return domain[0].values
    rows: Any = tuple(tuple(one.values[p] for one, p in zip(domain, row, strict=True)) for row in support)
    found: tuple[Value, ...] = rows
    return found


def own_row(counts: Array, support: list[tuple[int, ...]], domain: tuple[Choices, ...]) -> Array:
    """One pseudo-row of a secret, from its own rows alone: the product of its columns' own smooth laws.

    A column of numbers has a rounded normal over the places of its domain, one of labels its shares with one label
    more of each kind. Never anything of another secret's: that would hide the very difference that is to be hidden.
    """
    rows = np.array(support)
    masses = np.ones(len(support))
    for column, one in enumerate(domain):
        seen = np.bincount(rows[:, column], weights=counts, minlength=len(one.values))
        if one.is_numeric and len(one.values) > 1:
            shares, at = seen / seen.sum(), np.arange(len(seen))
            mean = float(shares @ at)
            own = rounded_normal(len(seen), mean, max(math.sqrt(float(shares @ (at - mean) ** 2)), _LEAST_STD))
        else:
            own = (seen + 1.0) / (seen.sum() + len(seen))
        masses = masses * own[rows[:, column]]
    row: Array = masses / masses.sum()
    return row
