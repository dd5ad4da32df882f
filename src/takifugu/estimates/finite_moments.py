"""Scores of rows that were published through a finite channel: inverted, or as they stand where shares were kept."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.positions import Positions
from takifugu.channels.sparse import SparseChannel
from takifugu.errors import InputError
from takifugu.estimates import inverting
from takifugu.estimates.description import Description
from takifugu.estimates.moments import Kept, Moments, NotDeterminedError, Term
from takifugu.estimates.sparse_inverting import UndecidedError
from takifugu.laws.values import columns, key, number


class FiniteMoments(Moments):
    """Scores through the inverse of a finite channel, where it has one for what is asked."""

    def __init__(self, description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[Any]]) -> None:
        """Find each published row among the channel's outputs."""
        assert isinstance(description.channel, FiniteChannel | SparseChannel)
        self.channel, self.names, self.kept = description.channel, names, Kept(table)
        arrays = [_array(table[name]) for name in names]
        self.places: npt.NDArray[np.int64] = _places(self.channel.outputs, arrays)
        self.matrix: Any = inverting.table_of(self.channel)
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
        try:
            g = inverting.scores(self.matrix, self.true(mine))
        except UndecidedError:
            raise self.refusal(mine, sure=False) from None
        if g is None:
            raise self.refusal(mine)
        return g[self.places] * rest

    def refusal(self, terms: Sequence[Term], *, sure: bool = True) -> InputError:
        """Why there is no unbiased estimate, and what to do."""
        told, ways = len(self.channel.inputs), inverting.rank(self.matrix)
        about = " and ".join(dict.fromkeys(repr(term.column) for term in terms))
        certain = "bounds() gives what is still certain"
        if isinstance(self.channel, SparseChannel):
            remedy = "whoever publishes can publish fewer columns together, of which shares can be kept"
        else:
            remedy = "whoever publishes can ask to keep shares (keep_shares=True), and plain estimates are then right"
        if not sure:
            return NotDeterminedError(
                f"no estimate from {about} that is right on average was found: the channel between {told:,} rows is "
                f"too close to publishing different ones alike for float64. {certain}; {remedy}"
            )
        return NotDeterminedError(
            f"no estimate from {about} is right on average for every table: the channel tells its {told:,} true values "
            f"apart in {ways:,} ways only, and different truths are published alike. {certain}; {remedy}"
        )

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """E Var(g(Y) given X), where it can be estimated."""
        if term.column not in self.names:
            return 0.0
        f = self.true([term])
        try:
            g, square = (inverting.scores(self.matrix, one) for one in (f, f * f))
        except UndecidedError:
            return whole
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
        chances = self.matrix[:, seen]
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
                "the public file does not tell the probabilities of the channel, which were fitted to the rows behind "
                "it, and shares were not kept: nothing can be undone. Ask whoever published for the estimate "
                "(published.estimate), for shares that are kept (keep_shares=True), or for a channel of another "
                "table's priors and a given list (own=False, domain=), whose probabilities are public"
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


def _require_inside(terms: Sequence[Term], names: Sequence[str]) -> None:
    if outside := [term.column for term in terms if term.column not in names]:
        raise InputError(
            f"the channel keeps the shares of {', '.join(map(repr, names))} over all rows, and says nothing about how "
            f"they go with {outside[0]!r}, which it left as it is: leave that column out"
        )


def _places(outputs: Sequence[Any], arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """Where each row stands among the outputs."""
    try:
        return Positions(outputs).of_columns(arrays)
    except InputError:  # which speaks of publishing
        raise InputError(
            "some values are not among those that this channel publishes: this is another table, or the true one. Give "
            "the published table, and the public file that lies beside it"
        ) from None


def _array(values: Sequence[Any]) -> npt.NDArray[Any]:
    if all(map(number, values)):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
