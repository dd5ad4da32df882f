"""The approximate Wasserstein mechanism, GAWM (Pierquin et al., 2024): a weaker promise."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from takifugu import _validation as check
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.quantile_coupling import Gaps, Scores, discrete_gaps, gap_bounds
from takifugu.mechanisms.base import Additive, at_least
from takifugu.mechanisms.curves import NoiseCurve, scaled_curve
from takifugu.mechanisms.roots import crossing
from takifugu.problems.guarantee import Approximate, Guarantee, Renyi
from takifugu.problems.problem import Problem

_SCORES = Scores(end=9.0, cells=12000)
_MEANT = 1e-12  # by which a level that is meant to be δ may be above it
_SUMMED = 1e-10  # by which masses of so many cells, each a difference, may sum to less than they are


@dataclass(frozen=True)
class WassersteinApprox(Additive):
    """θ² = α w²/(2ε) with w the least distance that the quantile coupling exceeds with probability δ at most.

    The promise is (α, ε, δ): with probability δ the budget says nothing. proofs/wasserstein-approx.md.
    """

    name: ClassVar[str] = "wasserstein-approx"
    label: ClassVar[str] = "Wasserstein, approximate"
    summary: ClassVar[str] = (
        "GAWM, a baseline with a weaker promise: ignores a share δ of the coupling (option delta, 1e-3)."
    )

    delta: float = 1e-3

    def __post_init__(self) -> None:
        """Check the option."""
        delta = check.real("delta", self.delta, "a number between 0 and 1")
        if not 0 < delta < 1:
            raise InputError(f"delta must be a number between 0 and 1, got {self.delta!r}")
        if delta < 1e-15:
            raise InputError(f"delta below 1e-15 cannot be told from 0 here, got {self.delta!r}: use 'wasserstein'")

    def promise(self, asked: Renyi) -> Guarantee:
        """(α, ε, δ), which is less."""
        return Approximate(asked.alpha, asked.epsilon, self.delta)

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """α w²/(2ε), rounded up."""
        distance = approximate_distance(p, q, delta=self.delta)
        return at_least(floor, alpha * distance * distance / (2 * epsilon) * (1 + 2**-40))

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve:
        """θ² = αw²/2ε, with w given by the priors alone: one answer gives them all."""
        return scaled_curve(math.sqrt(self.needed(problem, alpha=alpha, epsilon=1.0).variance), low=low, high=high)


def approximate_distance(p: Mixture, q: Mixture, *, delta: float) -> float:
    """The least w with P(|x − x'| > w) <= delta under the quantile coupling.

    >>> approximate_distance(Mixture.empirical([0, 1]), Mixture.empirical([0, 3]), delta=0.5)
    0.0
    """
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    if p.is_discrete and q.is_discrete:
        return _upper_quantile(discrete_gaps(p, q), delta * (1 + _MEANT))
    if len(p) == len(q) == 1:
        return _gaussian(abs(float(p.means[0] - q.means[0])), abs(float(p.stds[0] - q.stds[0])), delta)
    return _numerical(p, q, delta)


def _upper_quantile(gaps: Gaps, delta: float) -> float:
    order = np.argsort(-gaps.distance)
    beyond = np.cumsum(gaps.mass[order])
    first = int(np.searchsorted(beyond, delta, side="right"))
    return float(gaps.distance[order][min(first, len(order) - 1)])


def _gaussian(gap: float, spread: float, delta: float) -> float:
    """The gap is normal with mean `gap` and deviation `spread`."""
    from scipy.special import ndtr, ndtri

    if spread == 0:
        return gap
    high = gap - spread * float(ndtri(delta / 2))

    def room(w: float) -> float:
        return 1 - float(ndtr((gap - w) / spread) + ndtr((-gap - w) / spread)) / delta

    return crossing(room, 0.0, high * (1 + 1e-9), xtol=1e-14 * high) * (1 + 1e-12)


def _numerical(p: Mixture, q: Mixture, delta: float) -> float:
    """Each cell of scores counts with the most its gap can be; what lies beyond counts as infinite."""
    from scipy.special import ndtr

    outside = 2 * float(ndtr(-_SCORES.end))
    if outside >= delta:
        return math.inf
    cells = Gaps(gap_bounds(p, q, _SCORES), np.exp(_SCORES.log_masses()))
    return _upper_quantile(cells, (delta - outside) * (1 - _SUMMED))
