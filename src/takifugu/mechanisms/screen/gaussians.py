"""Bounds on the losses of many pairs of Gaussians: one logarithm a pair, and more digits where that is not enough."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.many_gaussians import RoughLosses, upper_losses
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.screen.loop import Block, Screen
from takifugu.mechanisms.screen.runs import MANY, Runs
from takifugu.problems.pairs import Indices, Pairs

_BLOCK = 1 << 15  # pairs at a time: the buffers stay in the cache
_MANY = 8  # secrets from which it pays to begin with the extremes


class GaussianScreen(Screen):
    """Two readings of the closed formula, neither ever below the truth (proofs/gaussian.md)."""

    few = 2
    by_quadrature = False

    def __init__(self, priors: Sequence[Mixture], *, alpha: float, accept: float) -> None:
        """Gather means and standard deviations; what a bound clears needs no margin beyond `accept`."""
        self._means, self._stds = (np.concatenate([getattr(p, name) for p in priors]) for name in ("means", "stds"))
        self._alpha, self.clear = alpha, accept
        self._rough: tuple[float, RoughLosses] | None = None

    def bounds(self, i: Indices, j: Indices, variance: float) -> Array:
        """See `Screen.bounds`."""
        means, stds = self._means, self._stds
        if self._rough is None or self._rough[0] != variance:
            self._rough = variance, RoughLosses(means, stds, alpha=self._alpha, variance=variance)
        losses = self._rough[1](i, j)
        if losses.max() <= self.clear:  # False for NaN
            return losses
        doubtful = np.nonzero(~(losses <= self.clear))
        i, j = (np.broadcast_to(x, losses.shape)[doubtful] for x in (i, j))
        gap, theta = means[i] - means[j], math.sqrt(variance)
        losses[doubtful] = upper_losses(gap, stds[i], stds[j], alpha=self._alpha, theta=theta)
        return losses

    def blocks(self, pairs: Pairs) -> Iterator[Block]:
        """See `Screen.blocks`; the extremes first, so that the noise is close to final for all the rest."""
        if pairs.is_every and len(self._means) > _MANY:
            extremes = np.unique([f(x) for f in (np.argmin, np.argmax) for x in (self._means, self._stds)])
            everyone = np.arange(len(self._means))
            yield extremes[:, None], everyone[None, :]
            yield everyone[:, None], extremes[None, :]
        if pairs.is_every and len(self._means) > MANY:
            runs = Runs(self._means, self._stds)
            yield from runs.pairs_left(self._at_noise_so_far, lambda losses: losses <= self.clear)
            return
        yield from pairs.directed_blocks(_BLOCK)

    def _at_noise_so_far(self, gap: Array, std_p: Array, std_q: Array) -> Array:
        """Losses at the noise of the latest call: less than there will be, so it may clear too few, never too many."""
        variance = 0.0 if self._rough is None else self._rough[0]
        return upper_losses(gap, std_p, std_q, alpha=self._alpha, theta=math.sqrt(variance))
