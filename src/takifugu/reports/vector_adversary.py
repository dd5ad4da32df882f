"""What one published vector tells about the secret, by simulation: in several dimensions no formula says it.

The figures are averages over a fixed set of draws, good to about a third of a percent: they are for readers, and no
promise rests on them.
"""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.channels.vector import GaussianVector
from takifugu.laws.vector import VectorMixture
from takifugu.problems.guarantee import Renyi
from takifugu.reports.adversary import Adversary, OddsFactor, bounds

_DRAWS = 20_000
_DENSITIES = 1_000_000  # of components at points: fewer points where there are many components
_MOST_PARTS = 300  # components that densities are added up over; of more a fixed sample is taken
_SHARES = (0.5, 0.95, 0.99)
_SEED = 20_260
_SLIGHT = 1e-4  # of a deviation: what a law without any width is given, so that it has a density


def vector_adversary(
    p: VectorMixture, q: VectorMixture, *, promise: Renyi | None, channel: GaussianVector
) -> Adversary:
    """The best guess and the odds, without noise and with it; the odds are those of whichever secret fares worse."""
    noise = channel.covariance
    slight = np.diag(_SLIGHT**2 * np.maximum(np.diagonal(p.covariance), np.diagonal(q.covariance)) + 1e-300)
    before = _ratios(_few(p).with_noise(slight), _few(q).with_noise(slight))
    after = _ratios(_few(p).with_noise(noise), _few(q).with_noise(noise))
    factors = [max(float(np.quantile(side, share)) for side in after) for share in _SHARES]
    limit, most = bounds(promise, _SHARES)
    return Adversary(
        guess_before=_guess(before),
        guess_after=_guess(after),
        guess_bound=limit,
        odds=tuple(
            OddsFactor(share, math.exp(min(factor, 700.0)), bound)
            for share, factor, bound in zip(_SHARES, factors, most, strict=True)
        ),
    )


def _ratios(p: VectorMixture, q: VectorMixture) -> tuple[Array, Array]:
    """ln p/q at draws from p, and ln q/p at draws from q."""
    found = []
    for seed, (one, other) in enumerate(((p, q), (q, p))):
        points = one.sample(min(_DRAWS, _DENSITIES // max(len(p), len(q))), seed=_SEED + seed)
        found.append(_log_density(one, points) - _log_density(other, points))
    return found[0], found[1]


def _guess(ratios: tuple[Array, Array]) -> float:
    """The chance that whichever secret is likelier is the true one, over draws from both; half where they tie."""
    return float(np.mean([np.mean((side > 0) + 0.5 * (side == 0)) for side in ratios]))


def _few(law: VectorMixture) -> VectorMixture:
    """The law, or of very many components a fixed sample of them."""
    if len(law) <= _MOST_PARTS:
        return law
    which = np.random.default_rng(_SEED).choice(len(law), _MOST_PARTS, p=law.weights / law.weights.sum())
    return VectorMixture(np.full(_MOST_PARTS, 1 / _MOST_PARTS), law.means[which], law.covariances[which])


def _log_density(law: VectorMixture, points: Array) -> Array:
    logs = []
    for weight, mean, covariance in zip(law.weights, law.means, law.covariances, strict=True):
        if weight == 0:
            continue
        # In units of each axis's own width: columns of unlike sizes would lose digits in the factor.
        width = np.sqrt(np.diagonal(covariance))
        values, vectors = np.linalg.eigh(covariance / np.outer(width, width))
        values = np.maximum(values, 1e-12)
        scores = ((points - mean) / width) @ vectors
        size = 0.5 * np.log(values).sum() + np.log(width).sum()
        logs.append(math.log(weight) - size - 0.5 * ((scores * scores) @ (1 / values)))
    each = np.array(logs)
    most = each.max(axis=0)
    each -= np.where(np.isfinite(most), most, 0.0)  # far from all of them nothing is left to add up
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(each).sum(axis=0)) + most)
