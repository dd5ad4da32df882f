"""The exact mechanism on many mixture secrets: all pairs screened by one matrix product, a few searched.

Only pairs that are clearly within the budget are dismissed by the screen; every other is evaluated by adaptive
quadrature, worst first, and the noise is raised to what it needs. More noise never hurts those dismissed before.
"""

import math
from collections.abc import Iterator

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.general import divergence
from takifugu.divergences.line.many_mixtures import Components, rough_losses
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.base import Additive, Binding
from takifugu.problems.pairs import Indices, Pairs

_FEW = 16  # directed pairs up to which a screen would cost more than it saves
_CLEAR = 1e-3  # the share of the budget by which a dismissed pair stays below it
_SIDE = 512  # secrets on either side of one matrix
_SCREEN_AGAIN = 32  # pairs left above which another screen is cheaper than looking at each


class _Serving:
    """The noise found so far, raised pair by pair."""

    def __init__(
        self, exact: Additive, priors: list[Mixture], *, alpha: float, epsilon: float, accept: float, floor: float
    ) -> None:
        self.exact, self.priors = exact, priors
        self.alpha, self.epsilon, self.accept = alpha, epsilon, accept
        self.found = Binding(floor, None)

    @property
    def theta(self) -> float:
        return math.sqrt(self.found.variance)

    def require(self, i: int, j: int) -> None:
        """Raise the noise to what secret i against secret j needs."""
        p, q = self.priors[i], self.priors[j]
        if divergence(p, q, alpha=self.alpha, theta=self.theta) <= self.accept:
            return
        variance = self.exact.least_variance(p, q, alpha=self.alpha, epsilon=self.epsilon, floor=self.found.variance)
        if variance > self.found.variance:
            self.found = Binding(variance, (i, j))

    def screen(self, i: Indices, j: Indices) -> tuple[Indices, Indices]:
        """The pairs that are not clearly within the budget at this noise, largest loss first."""
        rows, i_place = np.unique(i, return_inverse=True)
        columns, j_place = np.unique(j, return_inverse=True)
        losses = rough_losses(
            Components.of([self.priors[r] for r in rows]),
            Components.of([self.priors[c] for c in columns]),
            alpha=self.alpha,
            theta=self.theta,
            tolerance=0.1 * _CLEAR * self.epsilon * (self.alpha - 1.0),
        )[i_place, j_place]
        order = _largest_first(losses)
        order = order[~(losses[order] <= self.epsilon * (1 - _CLEAR))]
        return i[order], j[order]

    def serve(self, i: Indices, j: Indices) -> None:
        """Raise the noise to what each of the pairs needs."""
        while len(i) > _FEW:
            i, j = self.screen(i, j)
            if not len(i):
                return
            before = self.found
            self.require(int(i[0]), int(j[0]))
            i, j = i[1:], j[1:]
            if len(i) <= _SCREEN_AGAIN or self.found == before:
                break
        for pair in zip(i.tolist(), j.tolist(), strict=True):
            self.require(*pair)


def least_variance_of_mixtures(
    exact: Additive,
    priors: list[Mixture],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    accept: float,
    floor: float,
) -> Binding:
    """The least variance for all pairs; `accept` is the loss up to which a pair needs no search."""
    simple = [prior.simplified() for prior in priors]
    serving = _Serving(exact, simple, alpha=alpha, epsilon=epsilon, accept=accept, floor=floor)
    if pairs.is_every and len(simple) > _FEW:  # a pair far apart first: the screen then starts near the end
        means = [prior.mean for prior in simple]
        low, high = int(np.argmin(means)), int(np.argmax(means))
        serving.require(low, high)
        serving.require(high, low)
    for i, j in _blocks(pairs):
        serving.serve(i, j)
    return serving.found


def _blocks(pairs: Pairs) -> Iterator[tuple[Indices, Indices]]:
    """Directed pairs in groups of few distinct secrets."""
    if not pairs.is_every:
        yield from pairs.directed_blocks(_SIDE)
        return
    everyone = np.arange(len(pairs.secrets))
    for start in range(0, len(everyone), _SIDE):
        for other in range(0, len(everyone), _SIDE):
            i, j = np.meshgrid(everyone[start : start + _SIDE], everyone[other : other + _SIDE], indexing="ij")
            apart = i != j
            yield i[apart], j[apart]


def _largest_first(losses: Array) -> Indices:
    """Finite losses from the largest down, then those in doubt: a finite one is sure to raise the noise."""
    return np.argsort(np.where(np.isinf(losses), -1.0, -losses - 1.0), kind="stable")
