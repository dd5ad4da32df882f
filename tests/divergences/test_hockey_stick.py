import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from test_laplace import density

from how_many import some_of
from takifugu import Finite, GaussianNoise, LaplaceNoise, Mixture, hockey_stick
from takifugu.divergences import decide_hockey_stick, enclose_hockey_stick
from takifugu.errors import InputError


def some_mixture(rng):
    n = int(rng.integers(1, 4))
    return Mixture(rng.dirichlet(np.ones(n)), rng.uniform(-2, 2, n), rng.uniform(0.3, 2, n))


def integral(p, q, epsilon, *, theta=0.0, scale=0.0):
    """∫ (p − e^ε q)₊ by quadrature between the sign changes that a dense grid shows."""

    def normal(law, y):
        parts = zip(law.weights.tolist(), law.means.tolist(), law.stds.tolist(), strict=True)
        return mpmath.fsum(w * mpmath.npdf(y, m, mpmath.sqrt(s * s + theta * theta)) for w, m, s in parts)

    def after(law, y):
        return density(law, scale, y) / (2 * scale) if scale else normal(law, y)

    def gap(y):
        return after(p, y) - mpmath.exp(epsilon) * after(q, y)

    reach = 12 * (2.5 + theta) + 45 * scale
    at = np.linspace(-reach, reach, 601)
    values = [gap(mpmath.mpf(y)) for y in at.tolist()]
    cuts = [mpmath.mpf(-reach)]
    for k in range(len(at) - 1):
        if (values[k] > 0) != (values[k + 1] > 0):
            cuts.append(mpmath.findroot(gap, (at[k], at[k + 1]), solver="anderson", tol=1e-40, maxsteps=80))
    cuts.append(mpmath.mpf(reach))
    total = mpmath.mpf(0)
    for low, high in pairwise(cuts):
        if gap((low + high) / 2) > 0:
            inner = sorted({low, high, *(mpmath.mpf(x) for x in np.arange(-30, 31, 2).tolist() if low < x < high)})
            total += mpmath.quad(gap, inner)
    return total


def holds(found, truth):
    slack = 1e-12 * max(float(truth), 1e-3)
    return found.lower <= float(truth) + slack and found.upper >= float(truth) - slack


def study(seeds):
    """How far balls and quadrature are apart, at most; none below."""
    worst = 0.0
    for seed in seeds:
        rng = np.random.default_rng([3, seed])
        p, q = some_mixture(rng), some_mixture(rng)
        epsilon, theta = float(rng.uniform(-1, 1)), float(rng.uniform(0.2, 2))
        found, truth = enclose_hockey_stick(p, q, epsilon=epsilon, theta=theta), integral(p, q, epsilon, theta=theta)
        assert holds(found, truth), (seed, found, truth)
        assert found.width <= 1e-12 * max(found.upper, 1e-16), (seed, found)
        worst = max(worst, abs(found.upper / float(truth) - 1) if truth > 1e-12 else 0.0)
        assert hockey_stick(p, q, epsilon=epsilon, noise=GaussianNoise(theta)) == pytest.approx(float(truth), abs=1e-12)
    return worst


@pytest.mark.parametrize("part", range(some_of(30)))
def test_balls_hold_what_mpmath_integrates(part):
    assert study(range(2 * part, 2 * part + 2)) < 1e-11


@pytest.mark.parametrize("seed", range(some_of(4)))
def test_after_laplace_noise_too(seed):
    rng = np.random.default_rng([5, seed])
    p, q = some_mixture(rng), some_mixture(rng)
    if seed % 2:
        q = Mixture([0.4, 0.6], [-1.0, 0.5], [0.0, 0.7])
    epsilon, scale = float(rng.uniform(-0.2, 0.2)), float(rng.uniform(0.4, 0.8))
    truth = float(integral(p, q, epsilon, scale=scale))
    found = enclose_hockey_stick(p, q, epsilon=epsilon, scale=scale, delta=truth * 1.01)
    assert found.lower <= truth + 1e-10
    assert found.upper >= truth - 1e-10
    assert hockey_stick(p, q, epsilon=epsilon, noise=LaplaceNoise(scale)) == pytest.approx(truth, abs=1e-9)
    assert decide_hockey_stick(p, q, epsilon=epsilon, delta=truth * 1.01, scale=scale).holds is True
    assert decide_hockey_stick(p, q, epsilon=epsilon, delta=truth * 0.99, scale=scale).holds is False


def test_known_figures():
    p, q = Mixture.gaussian(0, 1), Mixture.gaussian(1, 2)
    for a, b, truth in ((p, q, 0.0750799142281327), (q, p, 0.255827217606717)):
        found = enclose_hockey_stick(a, b, epsilon=0.5, theta=0.7)
        assert (found.lower, found.upper) == pytest.approx((truth, truth), rel=1e-12)
        assert hockey_stick(a, b, epsilon=0.5, noise=GaussianNoise(0.7)) == pytest.approx(truth, rel=1e-12)
        assert decide_hockey_stick(a, b, epsilon=0.5, delta=truth * (1 - 1e-9), theta=0.7).holds is False
        assert decide_hockey_stick(a, b, epsilon=0.5, delta=truth * (1 + 1e-9), theta=0.7).holds is True


def test_the_other_direction_follows_from_all_epsilons():
    p, q = Mixture([0.5, 0.5], [0, 3], [1, 0.5]), Mixture.gaussian(1, 2)
    for noise in (GaussianNoise(0.4), LaplaceNoise(0.6)):
        for epsilon in (-1.0, 0.0, 0.3, 2.0):
            turned = 1 - math.exp(epsilon) * (1 - hockey_stick(p, q, epsilon=-epsilon, noise=noise))
            assert hockey_stick(q, p, epsilon=epsilon, noise=noise) == pytest.approx(turned, abs=1e-11)
    assert hockey_stick(p, q, epsilon=0) == pytest.approx(float(integral(p, q, 0)), abs=1e-12)


def test_points_are_compared_one_by_one():
    p, q = Mixture([0.5, 0.5], [0, 1], [0, 0]), Mixture([0.8, 0.2], [0, 1], [0, 0])
    expected = 0.5 - math.exp(0.3) * 0.2
    assert hockey_stick(p, q, epsilon=0.3) == pytest.approx(expected, abs=1e-15)
    found = enclose_hockey_stick(p, q, epsilon=0.3)
    assert found.lower <= expected + 1e-15
    assert found.upper >= expected - 1e-15
    assert hockey_stick(Finite(["a", "b"], [1, 1]), Finite(["a", "b"], [4, 1]), epsilon=0.3) == pytest.approx(expected)
    mixed = Mixture([0.5, 0.5], [0, 1], [0, 1])
    found = enclose_hockey_stick(mixed, Mixture.gaussian(1, 1), epsilon=0.0)
    assert (found.lower, found.upper) == pytest.approx((0.5, 0.5), abs=1e-12)


def test_two_noises_at_once_are_refused():
    p, q = Mixture.gaussian(0, 1), Mixture.gaussian(1, 2)
    with pytest.raises(InputError, match="two families"):
        enclose_hockey_stick(p, q, epsilon=0.5, theta=1.0, scale=1.0)
