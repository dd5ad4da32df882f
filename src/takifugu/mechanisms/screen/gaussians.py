"""The exact mechanism on many Gaussian secrets: one cheap, cautious evaluation per pair and a few searches.

At the noise found so far a block of pairs is screened from above. What passes is done with, since more noise never
hurts; of what does not, the worst is searched, which raises the noise for all that follows. proofs/exact.md.
"""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.many_gaussians import RoughLosses, upper_losses
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.base import Additive, Binding
from takifugu.problems.pairs import Indices, Pairs

_BLOCK = 1 << 15  # pairs at a time: the buffers stay in the cache


def least_variance_of_gaussians(
    exact: Additive,
    priors: list[Mixture],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    accept: float,
    floor: float,
) -> Binding:
    """The least variance for all pairs of priors that are one Gaussian each.

    A pair whose loss is seen to be `accept` or less needs no search; searches aim a little below that.
    """
    means = np.array([prior.simplified().means[0] for prior in priors])
    stds = np.array([prior.simplified().stds[0] for prior in priors])
    found = Binding(floor, None)

    def serve(i: Indices, j: Indices, rough: RoughLosses) -> None:
        nonlocal found
        loss = rough(i, j)
        if loss.max() <= accept:  # False for NaN
            return
        stopped = np.nonzero(~(loss <= accept))
        i, j = (np.broadcast_to(x, loss.shape)[stopped] for x in (i, j))
        while len(i):
            theta = math.sqrt(found.variance)
            loss = upper_losses(means[i] - means[j], stds[i], stds[j], alpha=alpha, theta=theta)
            over = loss > accept
            i, j, loss = i[over], j[over], loss[over]
            if not len(i):
                return
            worst = _worst(loss, means, stds, i, j)
            pair = int(i[worst]), int(j[worst])
            variance = exact.least_variance(
                priors[pair[0]], priors[pair[1]], alpha=alpha, epsilon=epsilon, floor=found.variance
            )
            if variance > found.variance:
                found = Binding(variance, pair)
            i, j = np.delete(i, worst), np.delete(j, worst)

    def losses_now() -> RoughLosses:
        return RoughLosses(means, stds, alpha=alpha, variance=found.variance)

    if pairs.is_every and len(priors) > 8:  # extremes first: the noise is then close to final for all the rest
        extremes = np.unique([f(x) for f in (np.argmin, np.argmax) for x in (means, stds)])
        everyone = np.arange(len(priors))
        serve(extremes[:, None], everyone[None, :], losses_now())
        serve(everyone[:, None], extremes[None, :], losses_now())
    rough = losses_now()
    prepared = found.variance
    for i, j in pairs.directed_blocks(_BLOCK):
        if found.variance != prepared:
            rough, prepared = losses_now(), found.variance
        serve(i, j, rough)
    return found


def _worst(loss: Array, means: Array, stds: Array, i: Indices, j: Indices) -> int:
    """The pair to search next: the largest loss, and among infinite ones the widest against the narrowest."""
    if np.isfinite(loss).all():
        return int(loss.argmax())
    ratio = np.where(np.isfinite(loss), -np.inf, stds[i] - stds[j])
    ties = np.flatnonzero(ratio == ratio.max())
    return int(ties[np.abs(means[i] - means[j])[ties].argmax()])
