"""Losses for pictures: the largest over a problem at one noise after another, to the digits that are drawn."""

import math
from dataclasses import dataclass

import numpy as np

from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.divergences.line.many_mixtures import Components, losses_and_doubts
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.screen.extremes import extreme_laws
from takifugu.mechanisms.worst import worst
from takifugu.problems.pairs import Indices
from takifugu.problems.problem import Problem

_SHOWN = 1e-4  # of a loss: what no picture shows
_MOST_DRAWN = 200  # laws of which every pair is put on one grid


class DrawnLosses:
    """The largest loss through Gaussian noise, for a picture: four digits of it, where a grid resolves them.

    One grid for all pairs instead of an integral to twelve digits for each; nothing is promised on its word. What is
    the same at every noise, such as which laws can bind, is found once.
    """

    def __init__(self, problem: Problem, *, alpha: float) -> None:
        """Look at the laws of each belief."""
        self._alpha = alpha
        self._parts = [_part(problem, belief) for belief in range(len(problem.beliefs))]

    def __call__(self, theta: float) -> float:
        """The largest loss through noise of standard deviation θ."""
        return max(self._largest(part, theta) for part in self._parts)

    def _largest(self, part: "_Part", theta: float) -> float:
        alpha = self._alpha
        if part.components is not None and theta > 0:
            tolerance = 0.1 * _SHOWN * (alpha - 1)
            losses, doubts = losses_and_doubts(
                part.components, part.components, alpha=alpha, theta=theta, tolerance=tolerance
            )
            losses, doubts = losses[part.pairs], doubts[part.pairs]
            k = int(np.argmax(losses))
            found = float(losses[k])
            if math.isfinite(found) and float(doubts[k]) <= _SHOWN * (alpha - 1) * found:
                return found
        return worst(part.problem, GaussianNoise(theta), alpha=alpha).loss


@dataclass(frozen=True)
class _Part:
    """What one belief asks: its pairs of laws, and the laws as one grid takes them where they are few mixtures."""

    problem: Problem
    components: Components | None
    pairs: tuple[Indices, Indices]


def _part(problem: Problem, belief: int) -> _Part:
    laws: list[Mixture] = [law.simplified() for law in problem.laws(belief)]
    pairs = problem.pairs
    if pairs.is_every:
        few = extreme_laws(laws)
        if 1 < len(few) < len(laws):
            laws = [laws[k] for k in few]
            problem, belief = Problem.of(dict(enumerate(laws))), 0
            pairs = problem.pairs
    alone = Problem((problem.beliefs[belief],), pairs)
    if len(laws) > _MOST_DRAWN or all(len(law) == 1 for law in laws):
        return _Part(alone, None, (np.empty(0, np.intp), np.empty(0, np.intp)))
    return _Part(alone, Components.of(laws), pairs.directed_places())
