"""Problems about vectors, and a judge of noise on them that shares no code with the library: 50 digits of mpmath."""

import mpmath as mp
import numpy as np

import takifugu as tk


def random_laws(rng, secrets: int, d: int, *, components: int = 1, apart: float = 1.0) -> dict[str, tk.VectorMixture]:
    """A law for each secret: correlated axes of different units, covariances that differ."""
    shared, unit = rng.normal(size=(d, 2 * d)), 10.0 ** rng.uniform(-2, 2, d)
    laws = {}
    for s in range(secrets):
        x = shared + 0.4 * rng.normal(size=(components, d, 2 * d))
        covariances = x @ x.transpose(0, 2, 1) / (2 * d) * np.outer(unit, unit)
        covariances = 0.5 * (covariances + covariances.transpose(0, 2, 1))
        means = apart * rng.normal(size=(components, d)) * unit
        laws[f"s{s}"] = tk.VectorMixture(rng.dirichlet(np.full(components, 3.0)), means, covariances)
    return laws


def gaussian_loss(p, q, covariance, *, alpha: float) -> mp.mpf:
    """D_α of two Gaussian vectors after noise, by determinants; infinite outside the domain."""
    with mp.workdps(50):
        a = mp.mpf(alpha)
        lead, follow = (_matrix(law.covariances[0]) + _matrix(covariance) for law in (p, q))
        tilted = a * follow - (a - 1) * lead
        logs = [_log_det(m) for m in (tilted, lead, follow)]
        if any(log is None for log in logs):
            return mp.inf
        gap = mp.matrix([mp.mpf(float(x)) - mp.mpf(float(y)) for x, y in zip(p.means[0], q.means[0], strict=True)])
        mean = a / 2 * (gap.T * mp.lu_solve(tilted, gap))[0]
        return mean - (logs[0] + (a - 1) * logs[1] - a * logs[2]) / (2 * (a - 1))


def sampled_loss(p, q, covariance, *, alpha: float, size: int = 200_000, seed: int = 0) -> tuple[float, float]:
    """An estimate of E_q (p/q)^α by draws from q after noise, and its standard error: evidence about mixtures."""
    rng = np.random.default_rng(seed)
    which = rng.choice(len(q.weights), size=size, p=q.weights / q.weights.sum())
    totals = q.covariances + covariance
    factors = np.linalg.cholesky(totals)
    x = q.means[which] + np.einsum("nij,nj->ni", factors[which], rng.standard_normal((size, len(covariance))))
    ratios = np.exp(alpha * (_log_density(x, p, covariance) - _log_density(x, q, covariance)))
    return float(ratios.mean()), float(ratios.std() / np.sqrt(size))


def _log_density(x, law, covariance):
    parts = []
    for weight, mean, c in zip(law.weights, law.means, law.covariances, strict=True):
        total = c + covariance
        gap = x - mean
        quadratic = np.einsum("ni,ij,nj->n", gap, np.linalg.inv(total), gap)
        parts.append(np.log(weight) - 0.5 * quadratic - 0.5 * np.linalg.slogdet(2 * np.pi * total)[1])
    return np.logaddexp.reduce(parts, axis=0)


def _matrix(array):
    return mp.matrix([[mp.mpf(float(x)) for x in row] for row in np.asarray(array)])


def _log_det(matrix):
    try:
        factor = mp.cholesky(matrix)
    except (ValueError, ZeroDivisionError):
        return None
    return 2 * mp.fsum(mp.log(factor[k, k]) for k in range(matrix.rows))
