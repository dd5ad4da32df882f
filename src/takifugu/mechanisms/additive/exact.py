"""The least noise there is: the Rényi divergence itself, inverted."""

import math
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from takifugu._threads import one_thread
from takifugu.divergences.line.general import divergence
from takifugu.divergences.line.half_lines import half_line_loss
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.closed_form import closed_form
from takifugu.mechanisms.base import Additive, Binding
from takifugu.mechanisms.curves import POINTS, NoiseCurve, curve_from_losses
from takifugu.mechanisms.drawn import DrawnLosses
from takifugu.mechanisms.search import least_variance
from takifugu.problems.pairs import Pairs
from takifugu.problems.problem import Problem

if TYPE_CHECKING:
    from takifugu.mechanisms.screen.loop import Screen

# The share of the budget left for rounding in the divergence itself, so that a proof in ball arithmetic succeeds.
# Searches aim for the whole of it; a pair that is only looked at may use all but a quarter.
_GAUSSIAN_MARGIN = 4e-12
_MIXTURE_MARGIN = 1e-10
_HOPELESS = 1.01  # times the budget: a lower bound above it in floats is above it
_LEVEL = 1.001  # a curve that rises by less from one halving of the noise to the next may have come to its end


@dataclass(frozen=True)
class Exact(Additive):
    """The least variance at which the exact divergence meets the budget; proofs/exact.md.

    Many pairs are taken together: each is evaluated at the noise found so far, and only those for which it is not
    enough are searched.
    """

    name: ClassVar[str] = "exact"
    label: ClassVar[str] = "Exact"
    summary: ClassVar[str] = "The least noise that meets the budget, from the exact divergence; can be certified."

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance with D_α <= ε, a hair on the safe side."""
        p, q = p.simplified(), q.simplified()
        if p == q:
            return floor
        gaussian = len(p) == len(q) == 1
        target = epsilon * (1 - (_GAUSSIAN_MARGIN if gaussian else _MIXTURE_MARGIN))

        # At high orders the look at no noise takes longer than the whole search, and mostly the tails tell as much.
        bare = not gaussian and floor == 0 and half_line_loss(p, q, alpha=alpha) > _HOPELESS * epsilon

        @cache
        def loss(z: float) -> float:
            return math.inf if bare and z == 0 else divergence(p, q, alpha=alpha, theta=math.sqrt(z))

        if floor == 0 and target < loss(0.0) <= epsilon * (1 + _MIXTURE_MARGIN):
            from takifugu.divergences.proved.certified import decide

            if decide(p, q, alpha=alpha, epsilon=epsilon, theta=0.0).holds:
                return 0.0
        width = float(max(p.stds.max(), q.stds.max()))
        unit = width * width  # infinite rather than an error
        if gaussian:
            gap = float(p.means[0] - q.means[0])
            start = closed_form(gap, float(p.stds[0]), float(q.stds[0]), alpha=alpha, epsilon=epsilon)
            return least_variance(loss, epsilon=target, floor=floor, start=1.01 * start, unit=unit, rtol=1e-13)
        reach = float(max(p.means.max(), q.means.max()) - min(p.means.min(), q.means.min()))
        # From above: with too little noise the mass lies far out, and a look takes a hundred times as long.
        start = (unit + reach * reach) * max(1.0, 0.5 * alpha / epsilon)
        # Noise is compared with the narrowest component: beside a wide one a point still shows the least of it.
        narrowest = float(min(p.stds.min(), q.stds.min()))
        return least_variance(loss, epsilon=target, floor=floor, start=start, unit=narrowest * narrowest, rtol=1e-11)

    def least_variance_over(
        self, priors: list[Mixture], pairs: Pairs, *, alpha: float, epsilon: float, floor: float = 0.0
    ) -> Binding:
        """The least variance for all pairs at once."""
        from takifugu.mechanisms.screen.extremes import extreme_laws
        from takifugu.mechanisms.screen.gaussians import GaussianScreen
        from takifugu.mechanisms.screen.loop import least_variance_with
        from takifugu.mechanisms.screen.mixtures import MixtureScreen

        laws = [prior.simplified() for prior in priors]
        places = extreme_laws(laws) if pairs.is_every else np.arange(len(laws))
        if len(places) < 2:
            return Binding(floor, None)
        if len(places) < len(laws):
            laws, pairs = [laws[place] for place in places], Pairs(range(len(places)))
        gaussian = all(len(law) == 1 for law in laws)
        accept = epsilon * (1 - (_GAUSSIAN_MARGIN if gaussian else _MIXTURE_MARGIN) / 4)
        screen: Screen
        if gaussian:
            screen = GaussianScreen(laws, alpha=alpha, accept=accept)
        else:
            screen = MixtureScreen(laws, alpha=alpha, epsilon=epsilon)
        # Matrices this small are slower on several threads, by a factor of two where others want the cores too.
        with nullcontext() if gaussian else one_thread():
            found = least_variance_with(
                screen, self, laws, pairs, alpha=alpha, epsilon=epsilon, accept=accept, floor=floor
            )

        def named(pair: tuple[int, int]) -> tuple[int, int]:
            return int(places[pair[0]]), int(places[pair[1]])

        pair = None if found.pair is None else named(found.pair)
        return Binding(found.variance, pair, tuple(map(named, found.close)))

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve:
        """ε as the loss at each of a range of θ: one look a point, where inverting would take a dozen."""
        return _exact_curve(problem, alpha, low, high)


@lru_cache(maxsize=64)
def _exact_curve(problem: Problem, alpha: float, low: float, high: float) -> NoiseCurve:
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
