"""The worst pair is one of the extreme laws, and none of those is ever left out."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.gaussian import GaussianNoise
from takifugu.mechanisms.base import Binding
from takifugu.mechanisms.least_noise import Exact
from takifugu.mechanisms.worst_case import extreme_gaussians, extreme_laws, worst
from takifugu.problems import RenyiDivergence
from takifugu.problems.problem import Pairs, Problem

seeds = st.integers(0, 2**32 - 1)


def exact_points(means, stds):
    return [(Fraction(float(m)), Fraction(float(s)) ** 2) for m, s in zip(means, stds, strict=True)]


def in_hull(point, corners):
    """Whether a point is a mean of corners: exact, by Carathéodory over all triangles, with no code of ours."""

    def turn(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    if point in corners:
        return True
    for i, a in enumerate(corners):
        for j, b in enumerate(corners[i + 1 :], i + 1):
            within = min(a[0], b[0]) <= point[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= point[1] <= max(a[1], b[1])
            if turn(a, b, point) == 0 and within:
                return True
            for c in corners[j + 1 :]:
                turns = turn(a, b, point), turn(b, c, point), turn(c, a, point)
                if turn(a, b, c) != 0 and (min(turns) >= 0 or max(turns) <= 0):
                    return True
    return False


shapes = {
    "random": lambda rng, n: (rng.normal(0, 1, n), rng.uniform(0.5, 1.5, n)),
    "one width": lambda rng, n: (rng.normal(0, 1, n), np.full(n, 0.7)),
    "points": lambda rng, n: (rng.integers(0, 6, n).astype(float), np.zeros(n)),
    "lattice": lambda rng, n: (rng.integers(0, 5, n).astype(float), rng.integers(0, 5, n) / 4),
    "on a line": lambda rng, n: (m := rng.uniform(-1, 1, n), np.sqrt(3 + m)),
    "circle": lambda rng, n: (np.cos(t := rng.uniform(0, 7, n)), np.sqrt(2 + np.sin(t))),
    "spike": lambda rng, n: (m := np.append(rng.uniform(-1, 1, n - 1), 1.5), np.append(np.sqrt(2 - m[:-1] ** 2), 9.0)),
    "one mean": lambda rng, n: (np.full(n, 3.0), rng.uniform(0.1, 1, n)),
    "tiny": lambda rng, n: (rng.normal(0, 1e-140, n), rng.uniform(0.5, 1.5, n) * 1e-140),
    "huge": lambda rng, n: (rng.normal(0, 1e140, n), rng.uniform(0.5, 1.5, n) * 1e140),
    # on a line but for digits that squares below 1e-308 lose, though what they are multiplied with is large
    "thin": lambda rng, n: (m := rng.uniform(1, 2, n) * 1e100, np.sqrt(m / 1e100) * 1e-160),
    "far": lambda rng, n: (1e9 + rng.normal(0, 1e-6, n), 1 + rng.normal(0, 1e-9, n)),
}


@pytest.mark.parametrize("shape", shapes)
@settings(max_examples=4)
@given(seed=seeds)
def test_all_others_lie_between_the_extreme_ones(shape, seed):
    rng = np.random.default_rng(seed)
    means, stds = shapes[shape](rng, 90)
    kept = extreme_gaussians(means, stds)
    points = exact_points(means, stds)
    corners = list(dict.fromkeys(points[k] for k in kept))
    if shape == "circle":
        corners = corners[:90]
        assert len(corners) >= 85
        return
    assert len(corners) < 40
    assert all(in_hull(point, corners) for point in points)


@settings(max_examples=some_of(40))
@given(seeds)
def test_no_pair_needs_more_than_the_extreme_ones(seed):
    rng = np.random.default_rng(seed)
    count, alpha, epsilon = 25, 1 + 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-3, 1)
    spread = 10 ** rng.uniform(-2, 0.5)
    priors = {i: tk.Mixture.gaussian(rng.normal(0, 1), np.exp(spread * rng.normal())) for i in range(count)}
    found = tk.calibrate(priors, alpha=alpha, epsilon=epsilon)
    chosen = [(i, j) for i in range(count) for j in range(i)]  # every pair, one by one: no hull
    assert found.variance == pytest.approx(
        tk.calibrate(priors, alpha=alpha, epsilon=epsilon, pairs=chosen).variance, rel=1e-9, abs=1e-12
    )


@settings(max_examples=some_of(100))
@given(seeds)
def test_the_two_convexities_in_sixty_digits(seed):
    rng = np.random.default_rng(seed)
    with mpmath.workdps(60):
        alpha, t = mpmath.mpf(1 + 10 ** rng.uniform(-2, 2)), mpmath.mpf(rng.uniform(0, 1))
        (m, v), (n, u), (k, w) = ((mpmath.mpf(rng.normal()), mpmath.mpf(np.exp(rng.normal()))) for _ in range(3))

        def loss(p, q):
            S = alpha * q[1] - (alpha - 1) * p[1]
            if S <= 0:
                return mpmath.inf
            logs = alpha * mpmath.log(q[1]) - (alpha - 1) * mpmath.log(p[1]) - mpmath.log(S)
            return alpha * (p[0] - q[0]) ** 2 / (2 * S) + logs / (2 * (alpha - 1))

        def mix(a, b):
            return tuple(t * x + (1 - t) * y for x, y in zip(a, b, strict=True))

        def natural(q):
            return q[0] / q[1], 1 / q[1]

        first = loss(mix((m, v), (n, u)), (k, w))
        assert first <= t * loss((m, v), (k, w)) + (1 - t) * loss((n, u), (k, w)) + mpmath.mpf("1e-40")
        between = mix(natural((m, v)), natural((n, u)))
        second = loss((k, w), (between[0] / between[1], 1 / between[1]))
        assert second <= t * loss((k, w), (m, v)) + (1 - t) * loss((k, w), (n, u)) + mpmath.mpf("1e-40")


@settings(max_examples=some_of(25))
@given(seeds)
def test_the_largest_loss_is_found_among_the_extreme_laws(seed):
    rng = np.random.default_rng(seed)
    priors = [tk.Mixture.gaussian(rng.normal(), np.exp(0.3 * rng.normal())) for _ in range(12)]
    theta = 2.0
    found = worst(Problem.of(dict(enumerate(priors))), GaussianNoise(theta), RenyiDivergence(2.0)).place[1:]
    every = {
        (i, j): tk.renyi_divergence(priors[i], priors[j], alpha=2.0, theta=theta) for i in range(12) for j in range(12)
    }
    assert every[found] == pytest.approx(max(every.values()), rel=1e-12)


def test_laws_that_are_the_same_count_once():
    one, two = tk.Mixture([0.5, 0.5], [0, 1], [1, 1]), tk.Mixture([0.5, 0.5], [0, 2], [1, 1])
    assert extreme_laws([one, two, one, two, two]).tolist() == [0, 1]
    same = Exact().least_variance_over([one] * 20, Pairs(range(20)), alpha=2.0, epsilon=0.1)
    assert same == Binding(0.0, None)
    assert tk.calibrate({i: tk.Mixture.gaussian(1, 1) for i in range(20)}, alpha=2, epsilon=0.1).theta == 0


def test_a_hundred_thousand_secrets_and_the_pair_that_binds():
    rng = np.random.default_rng(0)
    priors = {i: tk.Mixture.gaussian(m, s) for i, (m, s) in enumerate(rng.uniform(0.5, 1.5, (100_000, 2)).tolist())}
    found = tk.calibrate(priors, alpha=3, epsilon=1)
    assert found.losses[found.worst_pair] == pytest.approx(1.0, rel=1e-9)
    some = rng.integers(0, 100_000, (300, 2)).tolist()
    assert all(tk.renyi_divergence(priors[i], priors[j], alpha=3, theta=found.theta) <= 1 for i, j in some)
