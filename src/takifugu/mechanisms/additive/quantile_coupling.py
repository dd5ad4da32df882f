"""The coupling of two distributions on the line by their quantiles, which all Wasserstein baselines use."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.laws.mixture import Mixture
from takifugu.laws.quantiles import quantile_at_score


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
