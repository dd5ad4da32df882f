"""The pair closest to the limit: the one with the largest loss at a given noise."""

from collections.abc import Iterable, Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.general import divergence
from takifugu.divergences.line.many_gaussians import RoughLosses
from takifugu.divergences.line.many_mixtures import Components, rough_losses
from takifugu.mechanisms.base import Priors
from takifugu.problems.pairs import Indices, Pairs

_BLOCK = 1 << 15
_CLOSE = 0.99  # rough losses this close to the largest are worth an exact look


def largest_loss(beliefs: Sequence[Priors], pairs: Pairs, *, alpha: float, theta: float) -> tuple[int, int]:
    """Positions of the directed pair with the largest divergence under any belief."""
    best, where = -1.0, (0, 1)
    for given in beliefs:
        priors = [prior.simplified() for prior in given]
        for a, b in _candidates(priors, pairs, alpha, theta):
            loss = divergence(priors[a], priors[b], alpha=alpha, theta=theta)
            if loss > best:
                best, where = loss, (a, b)
    return where


def _candidates(priors: Priors, pairs: Pairs, alpha: float, theta: float) -> Iterable[tuple[int, int]]:
    """From each block of pairs the few that may have the largest loss, by a cheap upper bound."""
    if all(len(prior) == 1 for prior in priors):
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
    order = np.flatnonzero(close)[np.argsort(-known[close])][:most]
    return zip(i[order].tolist(), j[order].tolist(), strict=True)
