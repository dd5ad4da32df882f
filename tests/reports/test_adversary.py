"""The best guess and the odds, against integrals and formulas that share no code with them."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from how_many import some_of
from takifugu import GaussianNoise, Mixture, calibrate
from takifugu.problems.guarantee import Renyi
from takifugu.reports.adversary import adversary, best_guess, odds_quantiles, total_variation

NARROW = Mixture([0.3, 0.7], [0.0, 5.0], [0.01, 1.0])
WIDE = Mixture([0.5, 0.2, 0.3], [0.02, 5.0, 9.0], [0.02, 2.0, 0.5])


def integrated(p, q):
    """Half of ∫|p − q| by adaptive quadrature, cell by cell."""

    def parts(m):  # by hand: SciPy's densities look at each single number for half a millisecond
        listed = zip(m.weights.tolist(), m.means.tolist(), m.stds.tolist(), strict=True)
        return [(w / (s * math.sqrt(2 * math.pi)), a, s) for w, a, s in listed]

    def density(bells, x):
        return sum(height * math.exp(-0.5 * ((x - a) / s) ** 2) for height, a, s in bells)

    ours, theirs = parts(p), parts(q)

    edges = sorted(
        float(a + t * s) for m in (p, q) for a, s in zip(m.means, m.stds, strict=True) for t in range(-12, 13, 2)
    )
    cells = itertools.pairwise(edges)
    return 0.5 * sum(
        quad(lambda x: abs(density(ours, x) - density(theirs, x)), a, b, limit=200, epsabs=1e-11)[0] for a, b in cells
    )


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Mixture.gaussian(0, 1), Mixture.gaussian(2, 1)),
        (Mixture.gaussian(0, 1), Mixture.gaussian(0.5, 3)),
        (Mixture.gaussian(0, 1), Mixture.gaussian(1e-3, 1)),
        (NARROW, WIDE),
        (NARROW.with_noise(0.5), WIDE.with_noise(0.5)),
    ],
)
def test_total_variation_is_the_integral(p, q):
    assert total_variation(p, q) == pytest.approx(integrated(p, q), abs=2e-6)
    assert total_variation(p, q) == pytest.approx(total_variation(q, p), abs=1e-12)


def test_total_variation_of_points_is_the_sum():
    p, q = Mixture.empirical([0, 0, 1, 5]), Mixture.empirical([0, 1, 1, 7])
    assert total_variation(p, q) == pytest.approx(0.5, abs=1e-12)
    assert total_variation(p, Mixture.gaussian(0, 1)) == 1.0  # a point has no share in a density
    assert total_variation(p, p) == 0.0


def test_the_guess_is_the_likelihood_ratio_test_of_two_gaussians():
    assert best_guess(Mixture.gaussian(0, 2), Mixture.gaussian(3, 2)) == pytest.approx(norm.cdf(0.75), abs=1e-6)


def test_odds_quantiles_of_equal_variances_are_log_normal():
    p, q = Mixture.gaussian(1, 2), Mixture.gaussian(0, 2)
    shares = (0.5, 0.95, 0.99)
    d = 0.5
    expected = [math.exp(d * d / 2 + d * norm.ppf(share)) for share in shares]
    assert odds_quantiles(p, q, shares) == pytest.approx(expected, rel=0.05)


mixtures = st.builds(
    lambda parts: Mixture([1 / len(parts)] * len(parts), [m for m, _ in parts], [s for _, s in parts]),
    st.lists(st.tuples(st.floats(-5, 5), st.floats(0.05, 3)), min_size=1, max_size=3),
)


@settings(max_examples=some_of(25), deadline=None)
@given(mixtures, mixtures, st.floats(1.2, 6), st.floats(0.05, 3))
def test_what_the_budget_promises_holds(p, q, alpha, epsilon):
    theta = calibrate({"p": p, "q": q}, alpha=alpha, epsilon=epsilon).theta
    found = adversary(p, q, promise=Renyi(alpha, epsilon), channel=GaussianNoise(theta))
    assert found.guess_bound <= 0.5 + 0.5 * min(math.sqrt(epsilon / 2), math.sqrt(-math.expm1(-epsilon))) + 1e-12
    assert 0.5 <= found.guess_after <= min(found.guess_before, found.guess_bound) + 1e-6
    for one in found.odds:
        assert one.bound == pytest.approx(math.exp(epsilon) * (1 - one.probability) ** (-1 / (alpha - 1)))
        assert one.exact <= one.bound * 1.05


def test_thousands_of_components_fit_in_memory():
    values = np.linspace(0, 1, 2000)
    p, q = Mixture.empirical(values), Mixture.empirical(values**2)
    noisy = p.with_noise(0.1), q.with_noise(0.1)
    tracemalloc.start()
    found = adversary(p, q, promise=Renyi(2, 1), channel=GaussianNoise(0.1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e8
    few = [Mixture.empirical(v[::20]).with_noise(0.1) for v in (values, values**2)]
    assert found.guess_after == pytest.approx(best_guess(*few), abs=2e-3)
    assert found.guess_before == best_guess(p, q) > best_guess(*noisy)
