"""Noise against budget for pictures, where inverting the loss at every budget would take too long."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from takifugu.channels import GaussianNoise
from takifugu.divergences import Components, losses_and_doubts
from takifugu.laws import Mixture
from takifugu.mechanisms.base import POINTS, NoiseCurve, curve_from_losses
from takifugu.mechanisms.worst_case import extreme_laws, worst
from takifugu.problems import Indices, Problem, RenyiDivergence

# Losses for pictures: the largest over a problem at one noise after another, to the digits that are drawn.

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
        return worst(part.problem, GaussianNoise(theta), RenyiDivergence(alpha)).loss


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


_LEVEL = 1.001  # a curve that rises by less from one halving of the noise to the next may have come to its end


@lru_cache(maxsize=64)
def exact_curve(problem: Problem, alpha: float, low: float, high: float) -> NoiseCurve:
    """The least Gaussian noise at every budget between two, from the losses at some sixty sizes of it."""
    seen: dict[float, float] = {}  # every noise that was looked at is a point of the curve
    look = DrawnLosses(problem, alpha=alpha)

    def loss(theta: float) -> float:
        if theta not in seen:
            seen[theta] = look(theta)
        return seen[theta]

    start = max(max(law.std for law in belief.values()) for belief in problem.beliefs) or 1.0
    top = bottom = start
    while loss(top) > low and top < 1e150:
        top *= 2.0
    while loss(bottom) < high and bottom > 1e-3 * start:
        bottom /= 2.0
        # No loss is larger than that without noise: where halving has brought next to nothing it may be reached, and
        # less noise, which takes finer grids, would show nothing else.
        if loss(bottom) < _LEVEL * loss(2.0 * bottom) and loss(0.0) <= _LEVEL * loss(bottom):
            break
    if loss(bottom) < high:
        loss(0.0)
    while len(seen) < POINTS:
        # Where the tails of a pair barely fit, the loss falls off a cliff: points go where it changes most.
        thetas = sorted(seen)
        heights = np.log(np.clip([seen[theta] for theta in thetas], low, high))
        drops = heights[:-1] - heights[1:]
        k = int(np.argmax(drops))
        if not drops[k] > 0:
            break
        loss(0.5 * (thetas[k] + thetas[k + 1]))
    thetas = sorted(seen)
    # More noise never loses more: where the digits that are drawn say otherwise, the smaller loss is meant.
    losses = np.minimum.accumulate([seen[theta] for theta in thetas])
    return curve_from_losses(losses, np.array(thetas), low=low, high=high)
