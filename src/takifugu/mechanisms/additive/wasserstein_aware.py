"""The distribution-aware Wasserstein mechanism, DAGWM (Pierquin et al., 2024)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from takifugu._validation import Array
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.quantile_coupling import Scores, discrete_gaps, gap_bounds, widest
from takifugu.mechanisms.base import Additive
from takifugu.mechanisms.search import least_variance

_END = 20.0
_SCORES = Scores(end=_END, cells=8000)


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

    bounds = gap_bounds(p, q, _SCORES)
    log_mass = _SCORES.log_masses()
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
