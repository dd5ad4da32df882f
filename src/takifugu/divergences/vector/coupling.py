"""A bound on the divergence of two mixtures from two couplings of their components.

For w ≥ 0 with row sums π and v ≥ 0 with column sums ρ, e^{(α−1)D} ≤ Σ w^α v^{1−α} e^{(α−1)D_kl}: any w and v will do,
and the best w for a v, and the best v for a w, are explicit. Alternating between them only ever lowers the bound
(proofs/vector.md).
"""

import math
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.vector.gaussian import gaussian_vector_divergences, rough_vector_divergences
from takifugu.laws.vector import VectorMixture

_ROUNDS, _SETTLED = 400, 1e-9
_ROUGH_ROUNDS, _ROUGHLY_SETTLED = (
    40,
    1e-5,
)  # for a search: every iterate is sound, and the next one only a little better
_HAIR = 2.0**-44  # w is made larger and v smaller by this, so that rounded sums are on the safe side


@dataclass(frozen=True)
class Coupled:
    """Two couplings, rows for the components of p and columns for those of q, and the bound they give on D."""

    forward: Array
    backward: Array
    bound: float

    def log_weights(self, alpha: float) -> Array:
        """α ln w − (α−1) ln v; −inf where the pair carries nothing."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = alpha * np.log(self.forward) - (alpha - 1.0) * np.log(self.backward)
        logs[(self.forward > 0) & (self.backward == 0)] = np.inf
        return np.where(self.forward > 0, logs, -np.inf)


def component_divergences(
    p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: Array, rough: bool = False
) -> Array:
    """D_α of every component of p against every one of q, after noise: a table."""
    k, l = (index.reshape(-1) for index in np.indices((len(p), len(q))))
    measure = rough_vector_divergences if rough else gaussian_vector_divergences
    values = measure(p.means[k] - q.means[l], p.covariances[k], q.covariances[l], alpha=alpha, covariance=covariance)
    return values.reshape(len(p), len(q))


def couple(p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: Array) -> Coupled:
    """Couplings of the components of two laws after noise, and the bound on D_α that they prove but for rounding.

    One component each gives their divergence itself.
    """
    losses = component_divergences(p, q, alpha=alpha, covariance=covariance)
    return couple_by(losses, p.weights / math.fsum(p.weights), q.weights / math.fsum(q.weights), alpha=alpha)


def couple_by(losses: Array, pi: Array, rho: Array, *, alpha: float, rough: bool = False) -> Coupled:
    """`couple` from the table of divergences of the components and the weights of the two laws."""
    beta = alpha - 1.0
    rounds, settled = (_ROUGH_ROUNDS, _ROUGHLY_SETTLED) if rough else (_ROUNDS, _SETTLED)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_pi, log_rho = np.log(pi)[:, None], np.log(rho)[None, :]
        reach = np.where(np.isinf(losses), -np.inf, beta / alpha * losses)  # a pair at infinity carries nothing
        v = log_pi + log_rho
        best = math.inf
        for _ in range(rounds):
            w = _normalised(v - losses, axis=1) + log_pi
            v = _normalised(w + reach, axis=0) + log_rho
            total = _bound(w, v, losses, alpha)
            if not best - total > settled * abs(total):
                break
            best = total
        forward, backward = np.exp(w) * (1 + _HAIR), np.exp(v) * (1 - _HAIR)
    forward, backward = _covering(forward, pi), _covered(backward, rho)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bound = _bound(np.log(forward), np.log(backward), losses, alpha)
    return Coupled(forward, backward, bound)


def _bound(w: Array, v: Array, losses: Array, alpha: float) -> float:
    """ln Σ exp(α w + (1−α)(v − D)) / (α−1), for logarithms w and v; infinite where it is not known."""
    beta = alpha - 1.0
    carried = w > -np.inf
    if not carried.all():
        w, v, losses = w[carried], v[carried], losses[carried]
    terms = (alpha * w - beta * v + beta * losses).reshape(-1)
    top = float(terms.max()) if len(terms) else math.inf
    if not math.isfinite(top):  # the largest of what holds a NaN is one
        return math.inf
    value = (top + math.log(math.fsum(np.exp(terms - top)))) / beta
    # A divergence is not negative; what the sums and exponentials may have lost is put back.
    return max(value, 0.0) * (1 + 1e-13) + 1e-14 * (1 + abs(top)) / beta


def _normalised(logs: Array, *, axis: int) -> Array:
    """Logarithms of shares that sum to one along the axis; all −inf where there is nothing to share."""
    top = logs.max(axis=axis, keepdims=True)
    if np.isfinite(top).all():  # nearly always: the sum is then 1 at least
        shifted = logs - top
        shares: Array = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
        return shares
    shifted = np.where(np.isfinite(top), logs - top, -np.inf)
    whole = np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return np.where(np.isfinite(whole), shifted - whole, -np.inf)


def _covering(forward: Array, pi: Array) -> Array:
    """Row sums of at least π, by correctly rounded sums; a row that cannot is made infinite by an empty v."""
    for k, least in enumerate(pi):
        if not math.fsum(forward[k]) >= least * (1 + _HAIR / 4):
            forward[k] += least  # more than enough: a looser bound, never a wrong one
    return forward


def _covered(backward: Array, rho: Array) -> Array:
    """Column sums of at most ρ, by correctly rounded sums."""
    for l, most in enumerate(rho):
        if not math.fsum(backward[:, l]) <= most * (1 - _HAIR / 4):
            backward[:, l] = 0.0
    return backward
