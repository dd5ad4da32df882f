"""The place closest to the limit: the one with the largest loss through a given channel."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.channels import Channel
from takifugu.divergences import Components, finite_divergence, rough_losses, upper_losses
from takifugu.laws import Mixture
from takifugu.mechanisms.screen import MANY, Runs, extreme_laws
from takifugu.problems import Indices, Pair, Pairs, Place, Problem

if TYPE_CHECKING:
    from takifugu.channels import ListChannel

_BLOCK = 1 << 15
_MANY = 8  # secrets from which it pays to look for the few that can bind
_CLOSE = 0.99  # rough losses this close to the largest are worth an exact look
_FEW = 6  # places that are simply all evaluated


class Worst(NamedTuple):
    """A place and its loss."""

    place: Place
    loss: float


def worst(problem: Problem, channel: Channel, *, alpha: float) -> Worst:
    """The place with the largest loss of all beliefs and pairs, and that loss."""
    best = Worst(next(problem.places()), -1.0)
    for place in _candidates(problem, channel, alpha):
        loss = channel.loss(*problem.ends(place), alpha=alpha)
        if math.isinf(loss):
            return Worst(place, loss)
        if loss > best.loss:
            best = Worst(place, loss)
    return best


def _candidates(problem: Problem, channel: Channel, alpha: float) -> Iterator[Place]:
    """The places that may have the largest loss: all where they are few, else those a cheap bound leaves."""
    if problem.size > _FEW and channel.publishes == "values":
        for belief in range(len(problem.beliefs)):
            yield _largest_on_list(problem, channel.as_list(), alpha, belief)
        return
    if problem.size <= _FEW or not channel.is_gaussian:
        yield from problem.places()
        return
    for belief in range(len(problem.beliefs)):
        laws = [law.simplified() for law in problem.laws(belief)]
        for i, j in _largest_of(laws, problem.pairs, alpha, channel.as_noise().size):
            yield Place(belief, i, j)


def _largest_on_list(problem: Problem, channel: "ListChannel", alpha: float, belief: int) -> Place:
    """The place with the largest loss through a channel between lists: each law goes through it once."""
    laws: list[Any] = problem.laws(belief)
    published = np.array([channel.apply(law).probabilities for law in laws])
    best = (-1.0, 0, 0)
    for i, j in problem.pairs.directed_blocks(max(1, _BLOCK // len(channel.outputs))):
        losses = np.where(i == j, -1.0, finite_divergence(published[i], published[j], alpha=alpha))
        k, l = (np.broadcast_to(side, losses.shape).ravel() for side in (i, j))
        most = int(losses.argmax())
        best = max(best, (float(losses.ravel()[most]), int(k[most]), int(l[most])), key=lambda one: one[0])
    return Place(belief, best[1], best[2])


def _largest_of(laws: list[Mixture], pairs: Pairs, alpha: float, theta: float) -> Iterable[tuple[int, int]]:
    """From each block of pairs the few that may have the largest loss, by a cheap upper bound."""
    if pairs.is_every and len(laws) > _MANY:
        places = extreme_laws(laws)
        if 1 < len(places) < len(laws):
            inside = _largest_of([laws[k] for k in places], Pairs(range(len(places))), alpha, theta)
            yield from ((int(places[i]), int(places[j])) for i, j in inside)
            return
    if all(len(law) == 1 for law in laws):
        means, stds = (np.array([float(getattr(law, name)[0]) for law in laws]) for name in ("means", "stds"))
        if pairs.is_every and len(laws) > MANY:
            yield from _largest_of_very_many(means, stds, alpha, theta)
            return
        for i, j in pairs.directed_blocks(_BLOCK):
            i, j = np.broadcast_arrays(i, j)
            # To twelve digits: a rougher bound does not tell small losses apart.
            losses = upper_losses(means[i] - means[j], stds[i], stds[j], alpha=alpha, theta=theta)
            yield from _largest(i, j, losses, most=1)
        return
    for i, j in pairs.directed_blocks(_BLOCK):
        i, j = np.broadcast_arrays(i, j)
        rows, columns = np.unique(i), np.unique(j)
        losses = rough_losses(
            Components.of([laws[r] for r in rows]),
            Components.of([laws[c] for c in columns]),
            alpha=alpha,
            theta=theta,
        )[np.searchsorted(rows, i), np.searchsorted(columns, j)]
        yield from _largest(i, j, losses, most=i.size)


def _largest_of_very_many(means: Array, stds: Array, alpha: float, theta: float) -> Iterable[tuple[int, int]]:
    """The same among so many Gaussians that runs of neighbours are looked at together."""
    largest = np.zeros(1)  # so far, the loss to beat

    def bound(gap: Array, std_p: Array, std_q: Array) -> Array:
        return upper_losses(gap, std_p, std_q, alpha=alpha, theta=theta)

    for i, j in Runs(means, stds).pairs_left(bound, lambda losses: losses <= largest[0]):
        losses = bound(means[i] - means[j], stds[i], stds[j])
        yield from _largest(i, j, losses, most=1)
        largest[0] = losses[np.isfinite(losses) & (i != j)].max(initial=largest[0])


def _largest(i: Indices, j: Indices, losses: Array, most: int) -> Iterable[tuple[int, int]]:
    apart = i != j
    i, j, losses = i[apart], j[apart], losses[apart]
    known = np.where(np.isfinite(losses), losses, -1.0)
    close = ~np.isfinite(losses) | (known >= _CLOSE * known.max(initial=-1.0))
    # All in doubt come first: one of them may be infinite, which ends the search. Of the others a few are enough.
    order = np.flatnonzero(close)[np.argsort(np.where(known[close] < 0, -np.inf, -known[close]), kind="stable")]
    order = order[: int((known < 0).sum()) + most]
    return zip(i[order].tolist(), j[order].tolist(), strict=True)


# The privacy loss of each pair of secrets, computed when asked for.


class Losses(Mapping[Pair, float]):
    """The privacy loss of each directed pair through a channel: its largest divergence over the beliefs.

    Computed when asked for: twenty thousand secrets have four hundred million of them.
    """

    __slots__ = ("_alpha", "_channel", "_problem")

    def __init__(self, problem: Problem, channel: Channel, alpha: float) -> None:
        """Remember what the losses follow from."""
        self._problem, self._channel, self._alpha = problem, channel, alpha

    def __getitem__(self, pair: Pair) -> float:
        """The loss of the first secret of the pair against the second."""
        if pair not in self._problem.pairs:
            raise KeyError(pair)
        a, b = pair
        return max(self._channel.loss(m[a], m[b], alpha=self._alpha) for m in self._problem.beliefs)

    def __iter__(self) -> Iterator[Pair]:
        """Each pair in both orders."""
        return self._problem.pairs.directed()

    def __len__(self) -> int:
        """Two for every pair."""
        return 2 * len(self._problem.pairs)

    def __repr__(self) -> str:
        """The losses while they are few."""
        return repr(dict(self)) if len(self) <= 12 else f"<losses of {len(self):,} directed pairs>"
