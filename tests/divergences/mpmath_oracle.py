"""Divergences worked out another way: the trapezoidal rule in mpmath, which shares no code with the package.

The rule converges exponentially for integrands like these, so a step of a fraction of the narrowest
component leaves no error that matters.
"""

from collections.abc import Sequence

import mpmath as mp

from stored import stored

Parts = Sequence[tuple[float, float, float]]  # weight, mean, standard deviation


def parts(mixture) -> list[tuple[float, float, float]]:
    return list(zip(mixture.weights.tolist(), mixture.means.tolist(), mixture.stds.tolist(), strict=True))


@stored
def divergence(p: Parts, q: Parts, alpha: float, theta: float, *, digits: int = 30, finer: float = 1.0):
    """D_α after noise, for mixtures without point masses; about `digits`/2 digits are good."""
    with mp.workdps(digits):
        p, q = _noisy(p, theta), _noisy(q, theta)
        alpha = mp.mpf(alpha)
        low, high = window(p, q, alpha)
        curves = [alpha / v - (alpha - 1) / s for _, _, v in p for _, _, s in q]
        narrow = [1 / c for c in curves if c > 0] + [v for _, _, v in p + q]
        step = mp.sqrt(min(narrow)) / (8 * finer)
        count = int((high - low) / step)
        total = mp.fsum(
            mp.exp(alpha * mp.log(_density(p, y)) - (alpha - 1) * mp.log(_density(q, y)))
            for y in (low + k * step for k in range(count + 1))
        )
        return mp.log(total * step) / (alpha - 1)


@stored
def tail(p: Parts, q: Parts, alpha: float, start: float):
    """∫ p^α q^(1-α) from `start` on, by quadrature."""
    cuts = [start, start + 1, start + 4, start + 15, start + 60, mp.inf]

    def density(mixture, y):
        return mp.fsum(w * mp.npdf(y, m, s) for w, m, s in mixture)

    return mp.quad(lambda y: density(p, y) ** alpha * density(q, y) ** (1 - alpha), cuts)


def gaussian(first, second, alpha: float, theta: float, *, digits: int = 80):
    """The formula for two normals, each a mean and a standard deviation, in many digits."""
    with mp.workdps(digits):
        m, a, n, b, alpha, theta = (mp.mpf(x) for x in (*first, *second, alpha, theta))
        v, s = a**2 + theta**2, b**2 + theta**2
        mix = alpha * s + (1 - alpha) * v
        if mix <= 0:
            return mp.inf
        logs = mp.log(mix) - (1 - alpha) * mp.log(v) - alpha * mp.log(s)
        return alpha * (m - n) ** 2 / (2 * mix) + logs / (2 * (1 - alpha))


def window(p, q, alpha):
    """Two ends beyond which p^α q^(1-α) does not matter; parts are (weight, mean, variance)."""
    return -_end(_mirrored(p), _mirrored(q), alpha), _end(p, q, alpha)


def _mirrored(mixture):
    return [(w, -m, v) for w, m, v in mixture]


def _end(p, q, alpha):
    """Beyond it the integrand is under e^-90, by q >= its widest component and convexity in p."""
    s, n, weight = max((s, n, w) for w, n, s in q)
    end = max(m + 12 * mp.sqrt(v) for _, m, v in p + q)
    for w, m, v in p:
        curve = alpha / v - (alpha - 1) / s
        centre = (alpha * m / v - (alpha - 1) * n / s) / curve
        top = alpha * mp.log(w) + (1 - alpha) * mp.log(weight) - alpha * mp.log(v) / 2
        top += (alpha - 1) * mp.log(s) / 2 + alpha * (alpha - 1) * (m - n) ** 2 / (2 * curve * v * s)
        excess = top + 90 + abs(mp.log(curve)) + alpha * abs(mp.log(w))
        if excess > 0:
            end = max(end, centre + mp.sqrt(2 * excess / curve))
    return end


def _noisy(mixture: Parts, theta: float):
    total = mp.fsum(mp.mpf(w) for w, _, _ in mixture)
    return [(mp.mpf(w) / total, mp.mpf(m), mp.mpf(s) ** 2 + mp.mpf(theta) ** 2) for w, m, s in mixture]


def _density(mixture, y):
    return mp.fsum(w * mp.exp(-((y - m) ** 2) / (2 * v)) / mp.sqrt(2 * mp.pi * v) for w, m, v in mixture)
