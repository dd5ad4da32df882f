"""The general Wasserstein mechanism, GWM (Pierquin et al., 2024): the baseline of the paper."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws import Mixture, quantile_at_score
from takifugu.mechanisms.base import Additive, NoiseCurve, at_least, scaled_curve
from takifugu.mechanisms.least_noise import crossing, least_variance
from takifugu.problems import ApproximateRenyi, Guarantee, Problem

# The coupling of two distributions on the line by their quantiles, which all Wasserstein baselines use.


class Gaps(NamedTuple):
    """Distances |x − x'| under the coupling, with the probability of each."""

    distance: Array
    mass: Array


def discrete_gaps(p: Mixture, q: Mixture) -> Gaps:
    """The exact coupling of two distributions made of points."""
    p, q = p.simplified(), q.simplified()
    up_p, up_q = (np.cumsum(m.weights) / m.weights.sum() for m in (p, q))
    levels = np.unique(np.concatenate([up_p[:-1], up_q[:-1], [1.0]]))
    mass = np.diff(levels, prepend=0.0)
    middle = levels - 0.5 * mass
    i = np.minimum(np.searchsorted(up_p, middle), len(p) - 1)
    j = np.minimum(np.searchsorted(up_q, middle), len(q) - 1)
    keep = mass > 1e-15  # the same level summed in two orders
    return Gaps(np.abs(p.means[i] - q.means[j])[keep], mass[keep])


class Scores(NamedTuple):
    """Equally spaced normal scores from −end to end; the quantiles of a prior there are worth remembering."""

    end: float
    cells: int

    @property
    def values(self) -> Array:
        """The scores themselves."""
        return np.linspace(-self.end, self.end, self.cells + 1)

    def log_masses(self) -> Array:
        """ln of the probability of each cell under a standard normal, accurate in both tails."""
        from scipy.special import log_ndtr

        cumulative = log_ndtr(self.values[: self.cells // 2 + 1])
        below = cumulative[1:] + np.log(-np.expm1(cumulative[:-1] - cumulative[1:]))
        return np.concatenate([below, below[::-1]])


def gap_at_score(p: Mixture, q: Mixture, score: Array) -> Array:
    """Q_p(Φ(t)) − Q_q(Φ(t)) at normal scores t."""
    return quantile_at_score(p, score) - quantile_at_score(q, score)


def gap_bounds(p: Mixture, q: Mixture, scores: Scores) -> Array:
    """For each cell between consecutive scores, a distance that |x − x'| does not exceed there.

    Quantiles never decrease, so on a cell the gap is at most one's end minus the other's beginning.
    """
    x, y = _quantiles(p, scores), _quantiles(q, scores)
    return np.maximum(x[1:] - y[:-1], y[1:] - x[:-1])


@lru_cache(maxsize=128)
def _quantiles(mixture: Mixture, scores: Scores) -> Array:
    """Remembered, since a prior meets every other one in both directions and at every budget of a sweep."""
    return quantile_at_score(mixture, scores.values)


def widest(mixture: Mixture) -> float:
    """The largest standard deviation of a component with weight: it rules the tails."""
    return float(mixture.simplified().stds.max())


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


# The approximate Wasserstein mechanism, GAWM (Pierquin et al., 2024): a weaker promise.

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

    def promise(self, asked: Guarantee) -> Guarantee:
        """(α, ε, δ), which is less."""
        return ApproximateRenyi(asked.alpha, asked.epsilon, self.delta)

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


# The distribution-aware Wasserstein mechanism, DAGWM (Pierquin et al., 2024).

_END = 20.0
_SCORES_WASSERSTEIN_AWARE = Scores(end=_END, cells=8000)


@dataclass(frozen=True)
class WassersteinAware(Additive):
    """The least θ with E exp(α(α−1)|x − x'|²/2θ²) <= e^{(α−1)ε} under the quantile coupling.

    Exact for points and for Gaussians; for mixtures the expectation is bounded from above, cell by cell.
    proofs/wasserstein-aware.md has the proof.
    """

    name: ClassVar[str] = "wasserstein-aware"
    label: ClassVar[str] = "Wasserstein, distribution-aware"
    summary: ClassVar[str] = (
        "DAGWM, a baseline: averages over the distances between quantiles instead of taking the largest."
    )

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance at which the averaged bound meets the budget."""
        p, q = p.simplified(), q.simplified()
        if p == q:
            return floor
        loss, scale = _loss(p, q, alpha)
        return least_variance(loss, epsilon=epsilon, floor=floor, start=scale, rtol=1e-12)


def _loss(p: Mixture, q: Mixture, alpha: float) -> tuple[Callable[[float], float], float]:
    """The bound as a function of the variance, and a variance to start from."""
    if len(p) == len(q) == 1:
        gap, spread = float(p.means[0] - q.means[0]), abs(float(p.stds[0] - q.stds[0]))
        return lambda z: gaussian_bound(gap, spread, alpha=alpha, variance=z), max(gap * gap, spread * spread)
    if p.is_discrete and q.is_discrete:
        gaps = discrete_gaps(p, q)
        squares, log_mass = _squares(gaps.distance), np.log(gaps.mass)
        return lambda z: _averaged(squares, log_mass, alpha, z), float(squares.max())
    return _bounded_loss(p, q, alpha)


def gaussian_bound(gap: float, spread: float, *, alpha: float, variance: float) -> float:
    """The bound in closed form for a normal gap: mean `gap`, deviation `spread`."""
    if gap == 0 and spread == 0:
        return 0.0
    room = variance - alpha * (alpha - 1) * spread * spread
    if room <= 0:
        return math.inf
    return -0.5 * math.log1p(-alpha * (alpha - 1) * spread * (spread / variance)) / (alpha - 1) + (
        alpha * gap * gap / (2 * room)
    )


def _squares(distance: Array) -> Array:
    with np.errstate(over="ignore"):  # beyond the largest float the bound is infinite too
        return distance * distance


def _averaged(squares: Array, log_mass: Array, alpha: float, variance: float) -> float:
    if variance == 0:
        return math.inf if squares.any() else 0.0
    with np.errstate(over="ignore"):
        terms = log_mass + 0.5 * alpha * (alpha - 1) * squares / variance
    top = float(terms.max())
    if math.isinf(top):
        return math.inf
    return max(0.0, (top + math.log(np.exp(terms - top).sum())) / (alpha - 1))


def _bounded_loss(p: Mixture, q: Mixture, alpha: float) -> tuple[Callable[[float], float], float]:
    """Upper sums over cells of scores, and beyond ±20 a Gaussian tail with |x − x'| <= slope·|t| + offset."""
    from scipy.special import log_ndtr

    bounds = gap_bounds(p, q, _SCORES_WASSERSTEIN_AWARE)
    log_mass = _SCORES_WASSERSTEIN_AWARE.log_masses()
    slope, offset = abs(widest(p) - widest(q)), _tail_offset(p, q)
    squares = _squares(bounds)

    def loss(z: float) -> float:
        if z == 0:
            return math.inf
        c = 0.5 * alpha * (alpha - 1) / z
        room = 1 - 2 * c * slope * slope
        if room <= 0:
            return math.inf
        # ∫_T^∞ φ(t) exp(c (slope·t + offset)²) dt, both tails
        shift = 2 * c * slope * offset / room
        log_tail = (
            c * offset * offset
            + 0.5 * shift * shift * room
            - 0.5 * math.log(room)
            + float(log_ndtr(-(_END - shift) * math.sqrt(room)))
            + math.log(2)
        )
        inner = _averaged(squares, log_mass, alpha, z) * (alpha - 1)
        return float(np.logaddexp(inner, log_tail)) / (alpha - 1)

    return loss, float(squares.max())


def _tail_offset(p: Mixture, q: Mixture) -> float:
    """An offset with |Q_p − Q_q| <= |Δσ|·|t| + offset for |t| >= 20; proofs/wasserstein-aware.md."""
    means = np.concatenate([p.means, q.means])
    width, lag = max(widest(p), widest(q)), 0.0
    for side in (p, q):
        weight = float(side.weights[side.stds == widest(side)].max())
        square = _END * _END - 2 * math.log(1 / weight)
        if square <= 0:
            return math.inf
        lag = max(lag, _END - math.sqrt(square))
    return float(np.ptp(means)) + width * lag
