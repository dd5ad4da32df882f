"""The pair closest to the limit: the one with the largest loss at a given noise."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.general import divergence
from takifugu.divergences.line.many_gaussians import RoughLosses
from takifugu.divergences.line.many_mixtures import Components, rough_losses
from takifugu.mechanisms.base import Priors
from takifugu.mechanisms.screen.extremes import extreme_laws
from takifugu.problems.pairs import Indices, Pairs

_BLOCK = 1 << 15
_MANY = 8  # secrets from which it pays to look for the few that can bind
_CLOSE = 0.99  # rough losses this close to the largest are worth an exact look


def largest_loss(beliefs: Sequence[Priors], pairs: Pairs, *, alpha: float, theta: float) -> tuple[int, int]:
    """Positions of the directed pair with the largest divergence under any belief."""
    best, where = -1.0, (0, 1)
    for given in beliefs:
        priors = [prior.simplified() for prior in given]
        for a, b in _candidates(priors, pairs, alpha, theta):
            loss = divergence(priors[a], priors[b], alpha=alpha, theta=theta)
            if math.isinf(loss):
                return a, b
            if loss > best:
                best, where = loss, (a, b)
    return where


def _candidates(priors: Priors, pairs: Pairs, alpha: float, theta: float) -> Iterable[tuple[int, int]]:
    """From each block of pairs the few that may have the largest loss, by a cheap upper bound."""
    gaussian = all(len(prior) == 1 for prior in priors)
    if pairs.is_every and len(priors) > _MANY:
        places = extreme_laws(priors)
        if 1 < len(places) < len(priors):
            inside = _candidates([priors[k] for k in places], Pairs(range(len(places))), alpha, theta)
            yield from ((int(places[i]), int(places[j])) for i, j in inside)
            return
    if gaussian:
        means, stds = (np.array([float(getattr(prior, name)[0]) for prior in priors]) for name in ("means", "stds"))
        rough = RoughLosses(means, stds, alpha=alpha, variance=theta * theta)
        for i, j in pairs.directed_blocks(_BLOCK):
            i, j = np.broadcast_arrays(i, j)
            yield from _largest(i, j, rough(i, j), most=1)
        return
    for i, j in pairs.directed_blocks(_BLOCK):
        i, j = np.broadcast_arrays(i, j)
        rows, columns = np.unique(i), np.unique(j)
        losses = rough_losses(
            Components.of([priors[r] for r in rows]),
            Components.of([priors[c] for c in columns]),
            alpha=alpha,
            theta=theta,
        )[np.searchsorted(rows, i), np.searchsorted(columns, j)]
        yield from _largest(i, j, losses, most=i.size)


def _largest(i: Indices, j: Indices, losses: Array, most: int) -> Iterable[tuple[int, int]]:
    apart = i != j
    i, j, losses = i[apart], j[apart], losses[apart]
    known = np.where(np.isfinite(losses), losses, -1.0)
    close = ~np.isfinite(losses) | (known >= _CLOSE * known.max(initial=-1.0))
    # All in doubt come first: one of them may be infinite, which ends the search. Of the others a few are enough.
    order = np.flatnonzero(close)[np.argsort(np.where(known[close] < 0, -np.inf, -known[close]), kind="stable")]
    order = order[: int((known < 0).sum()) + most]
    return zip(i[order].tolist(), j[order].tolist(), strict=True)
