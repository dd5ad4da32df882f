"""Independent answers, in many digits, that share no code with the library."""

import math

import flint
import mpmath as mp

from stored import stored


def gaussian_divergence(gap, std_p, std_q, alpha, theta, digits=40):
    """The paper's equation (1), term by term, in mpmath."""
    with mp.workdps(max(digits, 40) + 40):
        gap, s, t, a, n = (mp.mpf(float(x)) for x in (gap, std_p, std_q, alpha, theta))
        z = n * n
        v_i, v_j = z + s * s, z + t * t
        S = z + (1 - a) * s * s + a * t * t
        if v_i == 0 or v_j == 0:
            return mp.mpf(0) if v_i == v_j and gap == 0 else mp.inf
        if S <= 0:
            return mp.inf
        return a * gap**2 / (2 * S) + (mp.log(S) - (1 - a) * mp.log(v_i) - a * mp.log(v_j)) / (2 * (1 - a))


def gaussian_ball(mean_p, std_p, mean_q, std_q, *, alpha, theta):
    """D_α in balls, by the formula of Gil, Alajaji and Linder for two normals.

    A ball compares as less only where all of it is.
    """
    with flint.ctx.workprec(160):
        a, n = flint.arb(alpha), flint.arb(theta) ** 2
        v, w = flint.arb(std_p) ** 2 + n, flint.arb(std_q) ** 2 + n
        S, gap = a * w + (1 - a) * v, flint.arb(mean_p) - flint.arb(mean_q)
        if v == w == gap == 0:  # the same point
            return flint.arb(0)
        if not S > 0:
            return math.inf
        return (w / v).log() / 2 + (w / S).log() / (2 * (a - 1)) + a * gap**2 / (2 * S)


@stored
def least_gaussian_variance(gap, std_p, std_q, alpha, epsilon, digits=40):
    """The least variance for one direction, by bisection in many digits."""

    def loss(z):
        s, t, a = (mp.mpf(float(x)) for x in (std_p, std_q, alpha))
        S = z + (1 - a) * s * s + a * t * t
        if S <= 0 or z + s * s <= 0 or z + t * t <= 0:
            return mp.mpf(0) if std_p == std_q == gap == 0 else mp.inf
        logs = mp.log(S) - (1 - a) * mp.log(z + s * s) - a * mp.log(z + t * t)
        return a * mp.mpf(float(gap)) ** 2 / (2 * S) + logs / (2 * (1 - a))

    with mp.workdps(digits + 40):
        budget = mp.mpf(float(epsilon))
        if loss(mp.mpf(0)) <= budget:
            return mp.mpf(0)
        low, high = mp.mpf(0), mp.mpf(1)
        while loss(high) > budget:
            low, high = high, high * 4
        for _ in range(int((digits + 20) * 3.4)):
            middle = (low + high) / 2
            low, high = (middle, high) if loss(middle) > budget else (low, middle)
        return high


@stored
def mixture_divergence(p, q, alpha, theta, digits=30):
    """Quadrature of p^α q^{1−α} in mpmath, cut at the tilted centres of every pair of components."""
    with mp.workdps(digits):
        a, n = mp.mpf(float(alpha)), mp.mpf(float(theta))
        sides = []
        for mixture in (p, q):
            total = mp.fsum(mp.mpf(float(w)) for w in mixture.weights)
            sides.append(
                [
                    (mp.mpf(float(w)) / total, mp.mpf(float(m)), mp.sqrt(mp.mpf(float(s)) ** 2 + n * n))
                    for w, m, s in zip(mixture.weights, mixture.means, mixture.stds, strict=True)
                    if w > 0
                ]
            )

        def density(side, y):
            return mp.fsum(w * mp.npdf(y, m, s) for w, m, s in side)

        def integrand(y):
            top = density(sides[0], y)
            return top**a * density(sides[1], y) ** (1 - a) if top > 0 else mp.mpf(0)

        cuts = {m + k * s for side in sides for _, m, s in side for k in (-12, -6, -3, -1, 0, 1, 3, 6, 12)}
        for _, m, s in sides[0]:
            for _, c, t in sides[1]:
                curvature = a / s**2 - (a - 1) / t**2
                if curvature > 0:
                    centre = (a * m / s**2 - (a - 1) * c / t**2) / curvature
                    cuts |= {centre + k / mp.sqrt(curvature) for k in (-14, -8, -5, -2, -1, 0, 1, 2, 5, 8, 14)}
        return mp.log(mp.quad(integrand, sorted(cuts), maxdegree=6)) / (a - 1)


def relative_error(value, truth):
    """|value/truth − 1|, and 0 where both are infinite or zero."""
    if mp.isinf(truth) or math.isinf(value):
        return 0.0 if mp.isinf(truth) and math.isinf(value) else math.inf
    if abs(truth) < mp.mpf("1e-70"):  # below the digits carried, and below any float's relative error of 1
        return 0.0 if value == 0 else math.inf
    return float(abs(mp.mpf(value) / truth - 1))
