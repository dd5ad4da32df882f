"""Divergences of vectors after Gaussian noise: exact for Gaussians, a bound for mixtures."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, order
from takifugu.divergences.gaussians import spread_series
from takifugu.divergences.mixtures import divergence, point_divergence
from takifugu.divergences.mixtures import divergence as line_divergence
from takifugu.errors import InputError
from takifugu.laws import VectorMixture, covariance_matrix

# The divergence of two mixtures in two or three dimensions by adaptive cubature: evidence, for tests and reports.
#
# A number to compare a bound with, never a proof: the integrator's estimate of its own error is all there is.

_REACH = 9.0  # standard deviations around a centre, on each axis
_MOST = 3  # dimensions


def cubature_divergence(
    p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: npt.ArrayLike, rtol: float = 1e-7
) -> float:
    """D_α(p + N(0, Σ) ‖ q + N(0, Σ)) by integration; NaN where the integrator does not settle.

    Both laws must have a density after noise, and the integral must be finite.

    Args:
        p: the law under one secret.
        q: that under the other.
        alpha: the order, above 1.
        covariance: of the noise.
        rtol: how many digits the integrator is to find.

    Returns:
        D_α in float64. It takes seconds in three dimensions, and is for checks, not for searches.
    """
    from scipy.integrate import cubature

    alpha = order(alpha)
    p, q = p.with_noise(covariance), q.with_noise(covariance)
    if p.dimension > _MOST:
        raise InputError(f"cubature reaches {_MOST} dimensions, these laws have {p.dimension}: use the coupling bound")
    low, high = _box(p, q, alpha)
    centres = _centres(p, q, alpha)[0]
    top = float(_log_integrand(centres, p, q, alpha).max())

    def height(x: Array) -> Array:
        return np.asarray(np.exp(_log_integrand(x, p, q, alpha) - top), dtype=np.float64)

    result = cubature(height, low, high, rule="genz-malik" if len(low) > 1 else "gk21", rtol=rtol, atol=0.0)
    if result.status != "converged":
        return math.nan
    return (top + math.log(float(result.estimate))) / (alpha - 1.0)


def log_density(x: Array, law: VectorMixture) -> Array:
    """ln of the density at the rows of x."""
    from scipy.special import logsumexp

    factors = np.linalg.cholesky(law.covariances)
    logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    parts = []
    for factor, log, mean, weight in zip(factors, logs, law.means, law.weights, strict=True):
        z = np.linalg.solve(factor, (x - mean).T)
        parts.append(math.log(weight) - log - 0.5 * (z * z).sum(axis=0))
    return np.asarray(logsumexp(parts, axis=0) - 0.5 * law.dimension * math.log(2 * math.pi), dtype=np.float64)


def _log_integrand(x: Array, p: VectorMixture, q: VectorMixture, alpha: float) -> Array:
    return alpha * log_density(x, p) - (alpha - 1.0) * log_density(x, q)


def _centres(p: VectorMixture, q: VectorMixture, alpha: float) -> tuple[Array, Array]:
    """Where the integrand has its mass: the components and the centres of N_k^α M_l^{1−α}; with their widths."""
    beta = alpha - 1.0
    centres = [*p.means, *q.means]
    widths = [np.sqrt(np.diagonal(c)) for c in (*p.covariances, *q.covariances)]
    for mean, c in zip(p.means, p.covariances, strict=True):
        for other, b in zip(q.means, q.covariances, strict=True):
            tilted = alpha * np.linalg.inv(c) - beta * np.linalg.inv(b)
            if np.linalg.eigvalsh(tilted)[0] <= 0:
                continue
            spread = np.linalg.inv(tilted)
            centres.append(spread @ (alpha * np.linalg.solve(c, mean) - beta * np.linalg.solve(b, other)))
            widths.append(np.sqrt(np.diagonal(spread)))
    return np.array(centres), np.array(widths)


def _box(p: VectorMixture, q: VectorMixture, alpha: float) -> tuple[Array, Array]:
    centres, widths = _centres(p, q, alpha)
    return (centres - _REACH * widths).min(axis=0), (centres + _REACH * widths).max(axis=0)


# The divergence of many pairs of Gaussian vectors at once: a sum of d divergences on the line.
#
# Whiten with the Cholesky factor of q's covariance B = C_q + Σ and turn the axes to the eigenvectors of what is left
# of C_p − C_q: there both are products of independent normals (proofs/vector.md). The *difference* of the covariances
# is whitened, not the covariances: for C_p ≈ C_q the determinants agree to more digits than a float64 has.

_SERIES_BELOW = 0.1  # on |αν|, as on the line
_DOUBT = 2e-11  # a relative error that may be larger than this sends a pair to exact arithmetic
_UNIT = 8 * 2.0**-53


def gaussian_vector_divergences(gaps: Array, lead: Array, follow: Array, *, alpha: float, covariance: Array) -> Array:
    """D_α(N(gap, lead + Σ) ‖ N(0, follow + Σ)) for each of P pairs: gaps P×d, covariances P×d×d, Σ d×d.

    Where float64 may have lost more than the eleventh digit, or the integral is about to diverge, the pair is settled
    in exact arithmetic; what rounding may have taken from the others is put back. `inf` where the integral diverges.

    With M = α(follow + Σ) − (α − 1)(lead + Σ) it is ½α·gapᵀM⁻¹gap plus a term of the three determinants, and infinite
    where M is not definite (proofs/vector.md).

    Args:
        gaps: the difference of the means of each pair.
        lead: the covariances of the first laws before noise.
        follow: those of the second laws.
        alpha: the order, above 1.
        covariance: of the noise.

    Returns:
        One value a pair, never below the divergence.
    """
    value, doubt = _in_floats(gaps, lead, follow, alpha, covariance)
    with np.errstate(all="ignore"):
        value = np.where(doubt <= _DOUBT, value * (1 + doubt), np.nan)
    for place in np.flatnonzero(~np.isfinite(value)):
        value[place] = _exactly(gaps[place], lead[place], follow[place], alpha, covariance)
    return value


def rough_vector_divergences(gaps: Array, lead: Array, follow: Array, *, alpha: float, covariance: Array) -> Array:
    """The same for a search that is checked afterwards: no exact arithmetic, `inf` wherever float64 is lost.

    Args:
        gaps: the difference of the means of each pair.
        lead: the covariances of the first laws before noise.
        follow: those of the second laws.
        alpha: the order, above 1.
        covariance: of the noise.

    Returns:
        One value a pair, good to three digits.
    """
    value, doubt = _in_floats(gaps, lead, follow, alpha, covariance)
    return np.where(doubt < 1e-3, value, np.inf)


def gaussian_vector_divergence(gap: Array, lead: Array, follow: Array, *, alpha: float, covariance: Array) -> float:
    """`gaussian_vector_divergences` of one pair.

    >>> eye = np.eye(2)
    >>> round(gaussian_vector_divergence(np.ones(2), eye, eye, alpha=2.0, covariance=eye), 9)
    1.0
    """
    both = gaussian_vector_divergences(gap[None], lead[None], follow[None], alpha=alpha, covariance=covariance)
    return float(both[0])


def _in_floats(gaps: Array, lead: Array, follow: Array, alpha: float, covariance: Array) -> tuple[Array, Array]:
    """The divergences, and an estimate of their relative error: infinite where nothing is known."""
    beta, d = alpha - 1.0, gaps.shape[1]
    with np.errstate(all="ignore"):
        total = follow + covariance
        unit = np.sqrt(np.diagonal(total, axis1=1, axis2=2))
        usable = np.asarray((np.isfinite(unit) & (unit > 1e-140)).all(axis=1))
        unit = np.where(usable[:, None], unit, 1.0)
        square = unit[:, :, None] * unit[:, None, :]
        scaled = np.where(usable[:, None, None], total / square, np.eye(d))
        factor, definite = _cholesky(scaled)
        usable &= definite
        inverse = np.linalg.inv(factor)
        difference = (lead - follow) / square
        finite = np.isfinite(difference).all(axis=(1, 2))
        usable &= finite
        white = inverse @ np.where(usable[:, None, None], difference, 0.0) @ inverse.transpose(0, 2, 1)
        e, axes = np.linalg.eigh(0.5 * (white + white.transpose(0, 2, 1)))
        g = np.einsum("pij,pj->pi", inverse, gaps / unit)
        shift = np.einsum("pij,pi->pj", axes, g)
        w, v = 1.0 - beta * e, 1.0 + e  # q's variance is 1 on each of these axes, p's is 1 + e
        nu = -e / v
        spread = -0.5 * (np.log1p(e) + np.log1p(-beta * e) / beta)
        close = np.abs(alpha * nu) < _SERIES_BELOW
        if close.any():
            spread = np.where(close, spread_series(nu, alpha), spread)
        value: Array = (0.5 * alpha * shift * shift / w + spread).sum(axis=1)
        # The condition of the whitening, times what the distance to an edge (w = 0 or v = 0) makes of it.
        condition = (factor * factor).sum(axis=(1, 2)) * (inverse * inverse).sum(axis=(1, 2)) / d**2
        size = np.abs(e).max(axis=1)
        least_w, least_v = w.min(axis=1), v.min(axis=1)
        edge = (1 + beta * size) / np.minimum(least_w, 1.0) / np.minimum(least_v, 1.0)
        doubt = _UNIT * (8 + d * condition * edge)  # eight: two logarithms that cancel to five bits
        known = usable & (least_w > 0) & (least_v > 0) & np.isfinite(value) & (value >= 0)
        return value, np.where(known & (doubt >= 0), doubt, np.inf)


def _cholesky(matrices: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The factors, and which of the matrices have one; the identity stands for the factor of the others."""
    try:
        factors = np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
        return factors, np.ones(len(matrices), dtype=np.bool_)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(matrices)[:, 0]
        good: npt.NDArray[np.bool_] = least > 1e-12
        factors = np.linalg.cholesky(np.where(good[:, None, None], matrices, np.eye(matrices.shape[1])))
        return factors, good


def _exactly(gap: Array, lead: Array, follow: Array, alpha: float, covariance: Array) -> float:
    """The upper end of an enclosure; infinite where there is none."""
    from takifugu.divergences.numerics.balls import UNKNOWN, fraction, meet, outward
    from takifugu.divergences.vectors_proved import ExactGaussian, GaussianVectors, exact_matrix

    if not np.isfinite(gap).all():
        return float("inf")
    noise = exact_matrix(covariance)
    p, q = ExactGaussian.after_noise(gap, lead, noise), ExactGaussian.after_noise(0.0 * gap, follow, noise)
    pair = GaussianVectors(p, q, alpha=fraction(alpha))
    found = UNKNOWN
    for value in pair.balls():
        found = meet(found, outward(value))
        if found.width <= 1e-13 * found.lower:
            break
    return found.upper


# The divergence of two laws of vectors without noise, wherever there is a way to know it.

_MOST_AXES = 3  # beyond them mixtures are not integrated


def vector_divergence(p: VectorMixture, q: VectorMixture, *, alpha: float) -> float:
    """D_α(p ‖ q): a formula for Gaussians, a sum for points, an integral for mixtures in up to three dimensions.

    Args:
        p: the law under one secret.
        q: that under the other.
        alpha: the order, above 1.

    Returns:
        D_α; infinite where p has mass at places where q has none.

    Raises:
        InputError: for laws of different dimensions, and for mixtures in more dimensions than can be integrated.
    """
    if p.dimension != q.dimension:
        raise InputError(f"p is about {p.dimension} numbers and q about {q.dimension}: both must be about the same")
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    nothing = np.zeros((p.dimension, p.dimension))
    if len(p) == len(q) == 1:
        return gaussian_vector_divergence(
            p.means[0] - q.means[0], p.covariances[0], q.covariances[0], alpha=alpha, covariance=nothing
        )
    if p.dimension == 1:
        return line_divergence(p.projected([1.0]), q.projected([1.0]), alpha=alpha, theta=0.0)
    if not p.covariances.any() and not q.covariances.any():
        return _points(p, q, alpha)
    if any(math.isinf(line_divergence(p.projected(a), q.projected(a), alpha=alpha, theta=0.0)) for a in _axes(p, q)):
        return math.inf  # one number that follows from the vector tells all (data processing)
    if p.dimension <= _MOST_AXES and _is_finite(p, q, alpha):
        value = cubature_divergence(p, q, alpha=alpha, covariance=nothing)
        if not math.isnan(value):
            return max(value, 0.0)
    raise InputError(
        "the divergence of these two mixtures of vectors is not known: there is a formula for one Gaussian against "
        "another, and an integral in up to three dimensions where every component has a density. "
        "GaussianVector(covariance).loss bounds it after noise"
    )


def _points(p: VectorMixture, q: VectorMixture, alpha: float) -> float:
    """Of point masses: a sum over the points of either, which no two components of a simplified law share."""
    first, second = (dict(zip(map(tuple, law.means.tolist()), law.weights.tolist(), strict=True)) for law in (p, q))
    return point_divergence(first, second, alpha=alpha)


def _axes(p: VectorMixture, q: VectorMixture) -> list[Array]:
    """Directions in which one component is widest against another: there an integral diverges first."""
    found = [*np.eye(p.dimension)]
    for k in range(len(p)):
        for l in range(len(q)):
            found.extend(np.linalg.eigh(p.covariances[k] - q.covariances[l])[1].T)
    return found


def _is_finite(p: VectorMixture, q: VectorMixture, alpha: float) -> bool:
    """Whether each component of p has one of q that is wide enough in every direction, so that the integral is finite.

    D_α(N_k ‖ M_l) < ∞ and q ≥ ρ_l M_l bound the part of p's component k.
    """
    if any(np.linalg.eigvalsh(law.covariances).min() <= 0 for law in (p, q)):
        return False
    return all(
        any(np.linalg.eigvalsh(alpha * b - (alpha - 1.0) * c)[0] > 0 for b in q.covariances) for c in p.covariances
    )


# A bound on the divergence of two mixtures from two couplings of their components.
#
# For w ≥ 0 with row sums π and v ≥ 0 with column sums ρ, e^{(α−1)D} ≤ Σ w^α v^{1−α} e^{(α−1)D_kl}: any w and v will
# do, and the best w for a v, and the best v for a w, are explicit. Alternating between them only ever lowers the
# bound (proofs/vector.md).

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
    """D_α of every component of p against every one of q, after noise: a table.

    Args:
        p: the law under one secret.
        q: that under the other.
        alpha: the order, above 1.
        covariance: of the noise.
        rough: whether a search asks, which checks what it finds.

    Returns:
        A matrix, components of p by components of q.
    """
    k, l = (index.reshape(-1) for index in np.indices((len(p), len(q))))
    measure = rough_vector_divergences if rough else gaussian_vector_divergences
    values = measure(p.means[k] - q.means[l], p.covariances[k], q.covariances[l], alpha=alpha, covariance=covariance)
    return values.reshape(len(p), len(q))


def couple(p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: Array) -> Coupled:
    """Couplings of the components of two laws after noise, and the bound on D_α that they prove but for rounding.

    One component each gives their divergence itself.

    D_α of two mixtures is at most a sum over pairs of components, however the weights of both are shared out over the
    pairs (proofs/vector.md). Two couplings, one for the weights of each law, are improved in turn until the bound
    settles.

    Args:
        p: the law under one secret.
        q: that under the other.
        alpha: the order, above 1.
        covariance: of the noise.

    Returns:
        The couplings and their bound.
    """
    losses = component_divergences(p, q, alpha=alpha, covariance=covariance)
    return couple_by(losses, p.weights / math.fsum(p.weights), q.weights / math.fsum(q.weights), alpha=alpha)


def couple_by(losses: Array, pi: Array, rho: Array, *, alpha: float, rough: bool = False) -> Coupled:
    """`couple` from the table of divergences of the components and the weights of the two laws.

    Args:
        losses: the divergence of each component of p from each one of q.
        pi: the weights of p.
        rho: those of q.
        alpha: the order, above 1.
        rough: stop earlier, for searches that check what they find.

    Returns:
        The couplings and their bound; infinite where some component of p has no finite divergence from any of q.
    """
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


# What a vector is sure to lose: the loss of its projections onto lines, which is exact.

_QUICK = 1 << 16  # pairs of components up to which a direction of its own is looked at


def projected_loss(p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: npt.ArrayLike) -> float:
    """The largest D_α of a few numbers a · (X + N): whoever holds the vector can compute each of them.

    A lower bound on the loss of the whole vector (data processing), for laws too many-sided for a formula: point
    masses at the rows of a table, say. The numbers are the axes and, while that is quick, the directions that tell the
    two means apart best: there no two rows fall together as they do on an axis.

    Args:
        p: the law under one secret.
        q: that under the other.
        alpha: the order, above 1.
        covariance: of the noise.

    Returns:
        A number that the loss of the whole vector exceeds but for rounding.
    """
    alpha, sigma = order(alpha), covariance_matrix("the noise's covariance", covariance)
    gap = p.mean - q.mean
    within = 0.5 * (p.covariance + q.covariance) + sigma
    directions = [*np.eye(p.dimension)]
    if gap.any() and len(p) * len(q) <= _QUICK:
        directions.append(np.linalg.lstsq(within, gap, rcond=1e-12)[0])
        directions.append(np.linalg.lstsq(sigma, gap, rcond=1e-12)[0])
    worst = 0.0
    for a in directions:
        a = a / np.abs(a).max()
        theta = math.sqrt(max(float(a @ sigma @ a), 0.0))
        worst = max(worst, divergence(p.projected(a), q.projected(a), alpha=alpha, theta=theta))
    return worst
