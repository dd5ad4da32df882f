"""Scores of rows that were published with Gaussian noise."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.vector import GaussianVector
from takifugu.estimates.description import Axes, Description
from takifugu.estimates.moments import Kept, Moments, NotDeterminedError, Term

_SURELY = 20.0  # rows that would have to lie beyond the last value, where there are none


class NoiseMoments(Moments):
    """Scores under Gaussian noise of known covariance: its mean is zero, and its squares are taken off."""

    def __init__(self, description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[Any]]) -> None:
        """Read the columns as numbers."""
        self.names, self.kept = names, Kept(table)
        self.noise = _noise(description)
        self._numbers = {name: Term(name).of(table[name]) for name in names}
        self.rows = len(table[names[0]])

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        mine, rest = self.kept.split(terms, self.names)
        if any(term.is_label for term in mine):
            raise NotDeterminedError(
                f"the shares of the values of {mine[0].column!r} cannot be told from values with Gaussian noise: tiny "
                f"errors of what is published would become large ones. Publish values from a list (row) instead"
            )
        numbers = [self._unclipped(term.column) for term in mine]
        taken = 0.0
        if len(mine) == 2:
            i, j = (self.names.index(term.column) for term in mine)
            taken = float(self.noise[i, j])
            if math.isnan(taken):
                raise NotDeterminedError(
                    f"how the noise of {mine[0].column!r} goes with that of {mine[1].column!r} is not public: it would "
                    f"point to where the secrets differ. Ask whoever published for the estimate"
                )
        product = math.prod(numbers, start=np.ones(self.rows))
        return (product - taken) * rest

    def _unclipped(self, name: str) -> Array:
        """The numbers of a column; an error where they pile up at an end, which moves every mean."""
        values, place = self._numbers[name], self.names.index(name)
        theta = math.sqrt(self.noise[place, place])
        if any(_beyond(end, theta) >= _SURELY for end in (values, -values)):
            raise NotDeterminedError(
                f"the values of {name!r} pile up at an end as no noise leaves them: they were clipped after it was "
                f"added, and nothing estimated from them is right on average. Whoever publishes can leave clip out"
            )
        return values

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """That of the noise, over the number of rows."""
        place = self.names.index(term.column) if term.column in self.names else None
        return 0.0 if place is None else float(self.noise[place, place]) / self.rows


def _beyond(values: Array, theta: float) -> float:
    """How many rows should lie beyond the largest value at the least, going by how many have it and the one before.

    After noise the logarithm of a density, rounded or not, curves downwards by 1/θ² at most (proofs/estimates.md).
    """
    distinct, rows = np.unique(values, return_counts=True)
    if len(distinct) < 2 or theta == 0:
        return 0.0
    gap = float(distinct[-1] - distinct[-2]) / theta
    return float(rows[-1]) ** 2 / float(rows[-2]) * math.exp(-min(gap * gap, 700.0))


def _noise(description: Description) -> Array:
    channel = description.channel
    if isinstance(channel, GaussianNoise):
        return np.array([[channel.theta**2]])
    if isinstance(channel, GaussianVector):
        return channel.covariance
    assert isinstance(channel, Axes)
    unknown = np.full((len(channel.deviations),) * 2, math.nan)
    np.fill_diagonal(unknown, channel.deviations**2)
    return unknown
