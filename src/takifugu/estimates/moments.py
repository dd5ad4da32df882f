"""Scores for each published row: numbers whose expectation, given the true row, is a product of true values.

Each kind of channel has its own. A `Term` names what is multiplied: a column of numbers, or that a column has a label.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.vector import GaussianVector
from takifugu.errors import InputError
from takifugu.estimates import inverting
from takifugu.estimates.description import Axes, Description, Withheld
from takifugu.laws.values import columns, key, number


class Term(NamedTuple):
    """A column of numbers, or, with a label, one where the column has it and zero elsewhere."""

    column: str
    label: Any = None
    is_label: bool = False

    def of(self, values: Sequence[Any]) -> Array:
        """The term at each of these values."""
        if self.is_label:
            return np.array([float(key(value) == key(self.label)) for value in values])
        if not all(map(number, values)):
            raise InputError(f"column {self.column!r} holds labels, and this needs numbers: ask for its histogram")
        return np.array(values, dtype=np.float64)

    def __str__(self) -> str:
        """The name of a coefficient."""
        return f"{self.column} = {self.label}" if self.is_label else self.column


class Moments(ABC):
    """What a kind of channel makes of products of terms."""

    rows: int
    names: tuple[str, ...]

    @abstractmethod
    def product(self, *terms: Term) -> Array:
        """A number for each row with the expectation of the product of the terms' true values, two at most."""

    def covariance(self, scores: Array) -> tuple[Array, Array]:
        """The covariance of the mean of scores, columns by columns: for the population, and of publishing alone."""
        whole = np.atleast_2d(np.cov(scores, rowvar=False)) / self.rows
        return whole, self.added(scores, whole)

    def added(self, scores: Array, whole: Array) -> Array:
        """The part that publishing adds; all of it where it is not told apart."""
        return whole

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """The variance that publishing adds to the mean of one term."""
        return added


@dataclass(frozen=True)
class Kept:
    """Columns that went out as they are: they multiply whatever was changed."""

    values: Mapping[str, Sequence[Any]]

    def split(self, terms: Sequence[Term], changed: Sequence[str]) -> tuple[list[Term], Array | float]:
        """The terms about changed columns, and the product of the others."""
        rest: Array | float = 1.0
        for term in terms:
            if term.column not in changed:
                rest = rest * term.of(self.values[term.column])
        return [term for term in terms if term.column in changed], rest


class FiniteMoments(Moments):
    """Scores through the inverse of a finite channel, where it has one for what is asked."""

    def __init__(self, description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[Any]]) -> None:
        """Find each published row among the channel's outputs."""
        assert isinstance(description.channel, FiniteChannel)
        self.channel, self.names, self.kept = description.channel, names, Kept(table)
        outputs = FiniteChannel.identity(self.channel.outputs, bits=1)
        arrays = [_array(table[name]) for name in names]
        self.places: npt.NDArray[np.int64] = outputs.positions_of_columns(arrays)
        self.rows = len(self.places)
        self._inputs = dict(zip(names, columns(self.channel.inputs), strict=True))
        self._outputs = dict(zip(names, columns(self.channel.outputs), strict=True))

    def values(self, column: str) -> list[Any]:
        """The values that a column may have."""
        distinct = {key(value): value for value in self._inputs[column]}
        found = list(distinct.values())
        return sorted(found, key=None if all(map(number, found)) else str)

    def true(self, terms: Sequence[Term]) -> Array:
        """The product of terms at each input."""
        return math.prod(
            (term.of(self._inputs[term.column]) for term in terms), start=np.ones(len(self.channel.inputs))
        )

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        mine, rest = self.kept.split(terms, self.names)
        g = inverting.scores(self.channel.matrix, self.true(mine))
        if g is None:
            raise self.refusal(mine)
        return g[self.places] * rest

    def refusal(self, terms: Sequence[Term]) -> InputError:
        """Why there is no unbiased estimate, and what to do."""
        told, ways = len(self.channel.inputs), inverting.rank(self.channel.matrix)
        about = " and ".join(dict.fromkeys(repr(term.column) for term in terms))
        return NotDeterminedError(
            f"no estimate from {about} is right on average for every table: the channel tells its {told} true values "
            f"apart in {ways} ways only, and different truths are published alike. bounds() gives what is still "
            f"certain; whoever publishes can ask to keep shares (keep_shares=True), and plain estimates are then right"
        )

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """E Var(g(Y) given X), where it can be estimated."""
        if term.column not in self.names:
            return 0.0
        f = self.true([term])
        g, square = (inverting.scores(self.channel.matrix, one) for one in (f, f * f))
        if g is None or square is None:
            return whole
        return float((g * g - square)[self.places].mean()) / self.rows


class KeptMoments(FiniteMoments):
    """Plain products: the channel was made so that the shares of whole rows stay as they were, over all rows.

    Their mean is off by what publishing adds, beside what sampling does; both have mean 0.
    """

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        _require_inside(terms, self.names)
        at = math.prod(
            (term.of(self._outputs[term.column]) for term in terms), start=np.ones(len(self.channel.outputs))
        )
        return at[self.places]

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """As for everything else: nothing was inverted."""
        return added

    def covariance(self, scores: Array) -> tuple[Array, Array]:
        """See `Moments.covariance`: what sampling adds and what publishing adds."""
        sampling = np.atleast_2d(np.cov(scores, rowvar=False)) / self.rows
        added = self.added(scores, sampling)
        return sampling + added, added

    def added(self, scores: Array, whole: Array) -> Array:
        """The mean over true rows, as common as published ones, of the covariance of what they are published as."""
        outputs = self.channel.outputs
        seen, first = np.unique(self.places, return_index=True)
        at = scores[first]  # a score is a function of the published row
        share = np.bincount(self.places, minlength=len(outputs)) / self.rows
        place = {key(value): k for k, value in enumerate(outputs)}
        true = np.array([share[place[key(value)]] if key(value) in place else 0.0 for value in self.channel.inputs])
        # Of what a true row could have become, what nobody's row became has no score, and hardly any chance.
        chances = self.channel.matrix[:, seen]
        total = chances.sum(axis=1, keepdims=True)
        chances = np.divide(chances, total, out=np.zeros_like(chances), where=total > 0)
        mean = chances @ at
        both = (at * (true @ chances)[:, None]).T @ at
        added: Array = (both - (true[:, None] * mean).T @ mean) / self.rows
        return added


class WithheldMoments(Moments):
    """Plain products where shares are kept and the channel is not told.

    Publishing adds at most as much variance as the published values have: E Var(f(Y) given X) is at most Var f(Y).
    """

    def __init__(self, description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[Any]]) -> None:
        """Refuse where nothing follows from the published values alone."""
        if description.keeps != "marginal":
            raise NotDeterminedError(
                "the public papers do not tell the channel, since its lists of values were read from the data, and "
                "shares were not kept: nothing can be undone. Whoever publishes can give public lists (domain), or ask "
                "to keep shares (keep_shares=True)"
            )
        self.names, self.table, self.rows = names, table, len(table[names[0]])

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        _require_inside(terms, self.names)
        return math.prod((term.of(self.table[term.column]) for term in terms), start=np.ones(self.rows))

    def covariance(self, scores: Array) -> tuple[Array, Array]:
        """See `Moments.covariance`; both are bounds from above."""
        sampling = np.atleast_2d(np.cov(scores, rowvar=False)) / self.rows
        return 2 * sampling, sampling


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
        numbers = [self._numbers[term.column] for term in mine]
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

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """That of the noise, over the number of rows."""
        place = self.names.index(term.column) if term.column in self.names else None
        return 0.0 if place is None else float(self.noise[place, place]) / self.rows


class NotDeterminedError(InputError):
    """What was asked does not follow from what was published; the message says why and what does."""


def moments_of(
    description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[Any]]
) -> FiniteMoments | NoiseMoments | WithheldMoments:
    """The scores that a channel allows."""
    if isinstance(description.channel, Withheld):
        return WithheldMoments(description, names, table)
    if not isinstance(description.channel, FiniteChannel):
        return NoiseMoments(description, names, table)
    return (KeptMoments if description.keeps == "marginal" else FiniteMoments)(description, names, table)


def _require_inside(terms: Sequence[Term], names: Sequence[str]) -> None:
    if outside := [term.column for term in terms if term.column not in names]:
        raise InputError(
            f"the channel keeps the shares of {', '.join(map(repr, names))} over all rows, and says nothing about how "
            f"they go with {outside[0]!r}, which it left as it is: leave that column out"
        )


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


def _array(values: Sequence[Any]) -> npt.NDArray[Any]:
    if all(map(number, values)):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
