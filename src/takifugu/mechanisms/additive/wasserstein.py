"""The general Wasserstein mechanism, GWM (Pierquin et al., 2024): the baseline of the paper."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.quantile_coupling import discrete_gaps, gap_at_score, widest
from takifugu.mechanisms.base import Additive, at_least
from takifugu.mechanisms.curves import NoiseCurve, scaled_curve
from takifugu.problems.problem import Problem

_UP = 1 + 2**-40


@dataclass(frozen=True)
class Wasserstein(Additive):
    """θ² = α W∞²/(2ε) with W∞ the largest distance between equal quantiles; proofs/wasserstein.md.

    Infinite as soon as the widest components differ in width, as for any two Gaussians of unequal variance.
    """

    name: ClassVar[str] = "wasserstein"
    label: ClassVar[str] = "Wasserstein"
    summary: ClassVar[str] = (
        "GWM, the baseline: noise for the largest distance between quantiles; infinite for Gaussians of "
        "unequal variance."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """α W∞²/(2ε), rounded up."""
        distance = wasserstein_infinity(p, q)
        return at_least(floor, alpha * distance * distance / (2 * epsilon) * _UP if distance else 0.0)

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve:
        """θ² = αw²/2ε, with w given by the priors alone: one answer gives them all."""
        return scaled_curve(math.sqrt(self.needed(problem, alpha=alpha, epsilon=1.0).variance), low=low, high=high)


def wasserstein_infinity(p: Mixture, q: Mixture) -> float:
    """sup over u of |F_p⁻¹(u) − F_q⁻¹(u)|; `math.inf` where the tails differ in width.

    >>> wasserstein_infinity(Mixture.empirical([0, 1]), Mixture.empirical([0, 3]))
    2.0
    """
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    if p.is_discrete and q.is_discrete:
        return float(discrete_gaps(p, q).distance.max())
    width = widest(p)
    if width != widest(q):
        return math.inf
    limits = [abs(_extreme_mean(p, width, side) - _extreme_mean(q, width, side)) for side in (-1, 1)]
    if len(p) == len(q) == 1:
        return limits[0]
    return max(*limits, _sampled_supremum(p, q))


def _extreme_mean(mixture: Mixture, width: float, side: int) -> float:
    """The mean of the component that rules a tail: the outermost of the widest."""
    return side * float((side * mixture.means[mixture.stds == width]).max())


def _sampled_supremum(p: Mixture, q: Mixture) -> float:
    """The supremum on a grid of scores, then on ever finer grids around its largest values."""
    far = np.geomspace(8.0, 1e4, 60)
    score = np.concatenate([-far[::-1], np.linspace(-8.0, 8.0, 1601)[1:-1], far])
    best = 0.0
    for _ in range(4):
        gaps = np.abs(gap_at_score(p, q, score))
        best = max(best, float(gaps.max()))
        top = np.sort(gaps.argsort()[-4:])
        neighbours = [(score[max(i - 1, 0)], score[min(i + 1, len(score) - 1)]) for i in top]
        score = np.concatenate([np.linspace(a, b, 41) for a, b in neighbours])
    return best
