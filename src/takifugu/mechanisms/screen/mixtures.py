"""Bounds on the losses of many pairs of mixtures: all at once, by one matrix product on a shared grid."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.line.many_mixtures import Components, rough_losses
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.screen.loop import Block, Screen
from takifugu.problems.pairs import Indices, Pairs

_CLEAR = 1e-3  # the share of the budget by which a cleared pair stays below it
_SIDE = 512  # secrets on either side of one matrix


class MixtureScreen(Screen):
    """A sum on a grid with all that it may have missed added to it (proofs/exact.md)."""

    few = 16
    by_quadrature = True

    def __init__(self, priors: Sequence[Mixture], *, alpha: float, epsilon: float) -> None:
        """Gather the components of all priors."""
        self._components = Components.of(priors)
        self._means = [prior.mean for prior in priors]
        self._alpha, self.clear = alpha, epsilon * (1 - _CLEAR)
        self._tolerance = 0.1 * _CLEAR * epsilon * (alpha - 1.0)

    def bounds(self, i: Indices, j: Indices, variance: float) -> Array:
        """See `Screen.bounds`."""
        rows, i_place = np.unique(i, return_inverse=True)
        columns, j_place = np.unique(j, return_inverse=True)
        lead = self._components.of_rows(rows)
        losses = rough_losses(
            lead,
            lead if np.array_equal(rows, columns) else self._components.of_rows(columns),
            alpha=self._alpha,
            theta=math.sqrt(variance),
            tolerance=self._tolerance,
            around=self.clear,
        )
        return losses[i_place.reshape(i.shape), j_place.reshape(j.shape)]

    def blocks(self, pairs: Pairs) -> Iterator[Block]:
        """See `Screen.blocks`; a pair far apart first, so that the grid starts near its final width."""
        if not pairs.is_every:
            yield from pairs.directed_blocks(_SIDE)
            return
        ends = np.array([int(np.argmin(self._means)), int(np.argmax(self._means))])
        yield ends, ends[::-1]
        everyone = np.arange(len(self._means))
        for start in range(0, len(everyone), _SIDE):
            for other in range(0, len(everyone), _SIDE):
                yield everyone[start : start + _SIDE, None], everyone[None, other : other + _SIDE]
