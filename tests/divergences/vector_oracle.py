"""The divergence of two Gaussian vectors by its determinant formula in mpmath: shares no code with the library."""

import mpmath as mp
import numpy as np


def truth(gap, lead, follow, alpha, noise, digits: int = 50):
    """D_α(N(gap, lead + noise) ‖ N(0, follow + noise)); infinite outside the domain."""
    with mp.workdps(digits):
        a = mp.mpf(float(alpha))
        A = _matrix(lead) + _matrix(noise)
        B = _matrix(follow) + _matrix(noise)
        M = a * B - (a - 1) * A
        logs = [_log_det(X) for X in (M, A, B)]
        if any(log is None for log in logs):
            return mp.inf
        d = mp.matrix([mp.mpf(float(x)) for x in gap])
        mean = a / 2 * (d.T * mp.lu_solve(M, d))[0]
        value = mean - (logs[0] + (a - 1) * logs[1] - a * logs[2]) / (2 * (a - 1))
    # The determinants of laws this close agree to nearly as many digits as were asked for.
    close = value < mp.mpf(10) ** (-digits // 3) and digits < 200
    return truth(gap, lead, follow, alpha, noise, 4 * digits) if close else value


def _matrix(array):
    return mp.matrix([[mp.mpf(float(x)) for x in row] for row in np.asarray(array)])


def _log_det(X):
    """ln|X| by Cholesky; None where X is not positive definite."""
    try:
        L = mp.cholesky(X)
    except (ValueError, ZeroDivisionError):
        return None
    return 2 * mp.fsum(mp.log(L[k, k]) for k in range(X.rows))


def random_case(rng: np.random.Generator):
    """A pair from every corner: near-equal or far covariances, strong correlation, any unit, the domain's edge."""
    d = int(rng.integers(1, 6))
    alpha = float(rng.choice([1.0001, 1.1, 1.5, 2.0, 3.0, 8.0, 64.0]))
    lead, follow = _covariance(rng, d), _covariance(rng, d)
    noise = _covariance(rng, d) * 10 ** rng.uniform(-3, 2)
    kind = rng.integers(0, 4)
    if kind == 0:  # nearly equal
        follow = lead + 10 ** rng.uniform(-14, -2) * _covariance(rng, d)
    elif kind == 1:  # the edge: M = αB − (α−1)A has a least eigenvalue near zero, on either side of it
        B = follow + noise
        L = np.linalg.cholesky(B)
        q, _ = np.linalg.qr(rng.normal(size=(d, d)))
        e = rng.uniform(-0.5, 0.9, d) / (alpha - 1)
        e = np.maximum(e, -0.9)
        e[0] = (1 - 10 ** rng.uniform(-15, -1) * rng.choice([-1, 1])) / (alpha - 1)
        A = L @ (q * (1 + e)) @ q.T @ L.T
        lead = A - noise
        lead = 0.5 * (lead + lead.T)
    elif kind == 2:  # a narrow law against a wide one is finite at every order
        lead = lead * 10 ** rng.uniform(-3, -1)
    unit = 10 ** rng.uniform(-3, 3, d) if rng.integers(0, 2) else np.ones(d)
    gap = rng.normal(size=d) * 10 ** rng.uniform(-6, 1)
    if rng.integers(0, 5) == 0:
        gap = np.zeros(d)
    scale = np.outer(unit, unit)
    cases = [0.5 * (x + x.T) for x in (lead * scale, follow * scale, noise * scale)]
    return gap * unit, cases[0], cases[1], alpha, cases[2]


def _covariance(rng, d):
    x = rng.normal(size=(d, d + 1)) * 10 ** rng.uniform(-1, 1, size=(d, 1))
    if rng.integers(0, 3) == 0:
        x[:, 0] *= 10 ** rng.uniform(0, 2)  # one direction far longer than the others
    return x @ x.T
