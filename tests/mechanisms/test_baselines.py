import math

import numpy as np
import ot
import pytest
from scipy import integrate, stats

from takifugu import InputError, Mixture, calibrate
from takifugu.errors import NoAnswerError
from takifugu.mechanisms.transport import (
    _SCORES,
    WassersteinAware,
    approximate_distance,
    gap_bounds,
    gaussian_bound,
    wasserstein_infinity,
)


def test_the_largest_distance_between_points_is_what_couplings_say():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, y = rng.integers(0, 20, 12), rng.integers(0, 20, 12)
        expected = np.abs(np.sort(x) - np.sort(y)).max()  # equal weights: sorted values are coupled
        assert wasserstein_infinity(Mixture.empirical(x), Mixture.empirical(y)) == expected


def test_a_high_power_of_transport_approaches_the_largest_distance():
    p, q = Mixture.empirical([0, 1, 4], [0.5, 0.3, 0.2]), Mixture.empirical([0, 2, 3], [0.2, 0.5, 0.3])
    power = 80
    cost = np.abs(p.means[:, None] - q.means) ** power
    assert ot.emd2(p.weights, q.weights, cost) ** (1 / power) == pytest.approx(wasserstein_infinity(p, q), rel=0.02)


def test_gaussians_of_unequal_variance_have_no_finite_baseline():
    priors = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(0, 1.01)}
    assert wasserstein_infinity(priors["a"], priors["b"]) == math.inf
    with pytest.raises(NoAnswerError, match=r"no finite noise.*'exact'"):
        calibrate(priors, alpha=2, epsilon=1, mechanism="wasserstein")


def test_equal_variances_shift_by_the_gap_of_the_means():
    p, q = Mixture.gaussian(3, 2), Mixture.gaussian(1, 2)
    assert wasserstein_infinity(p, q) == 2.0
    result = calibrate({"a": p, "b": q}, alpha=3, epsilon=0.5, mechanism="wasserstein")
    assert result.variance == pytest.approx(3 * 4 / (2 * 0.5))


def test_mixtures_with_equal_widest_components_have_a_finite_supremum():
    p, q = Mixture([0.5, 0.5], [0, 4], [1, 1]), Mixture([0.2, 0.8], [0, 4], [1, 1])
    u = stats.norm.cdf(np.linspace(-6, 6, 20_001))
    sampled = np.abs(p.quantile(u) - q.quantile(u)).max()
    assert wasserstein_infinity(p, q) >= sampled * (1 - 1e-12)
    assert wasserstein_infinity(p, q) == pytest.approx(sampled, rel=1e-4)


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-6])
def test_the_approximate_distance_leaves_out_delta(delta):
    p, q = Mixture.gaussian(2, 1.5), Mixture.gaussian(0, 1)
    w = approximate_distance(p, q, delta=delta)
    assert stats.norm.sf(w, 2, 0.5) + stats.norm.cdf(-w, 2, 0.5) == pytest.approx(delta, rel=1e-6)
    split = Mixture([0.5, 0.5 - 1e-9, 1e-9], [2, 2, 2 + 1e-7], [1.5, 1.5, 1.5])  # goes the numerical way
    assert approximate_distance(split, q, delta=delta) == pytest.approx(w, rel=1e-3)


def test_the_approximate_distance_of_points_counts_them():
    p, q = Mixture.empirical([0, 0, 0, 9]), Mixture.empirical([0, 0, 1, 1])
    assert approximate_distance(p, q, delta=0.2) == 8.0
    assert approximate_distance(p, q, delta=0.3) == 1.0
    assert approximate_distance(p, q, delta=0.6) == 0.0


@pytest.mark.parametrize("delta", [0, 1, -1, 2, math.nan, "x", 1e-20])
def test_deltas_that_are_none_are_refused(delta):
    priors = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(1, 2)}
    with pytest.raises(InputError, match="delta"):
        calibrate(priors, alpha=2, epsilon=1, mechanism="wasserstein-approx", delta=delta)


def test_the_averaged_bound_of_gaussians_is_its_integral():
    gap, spread, alpha, variance = 1.5, 0.4, 3.0, 4.0
    c = alpha * (alpha - 1) / (2 * variance)
    value = integrate.quad(lambda t: stats.norm.pdf(t) * math.exp(c * (gap + spread * t) ** 2), -40, 40)[0]
    assert gaussian_bound(gap, spread, alpha=alpha, variance=variance) == pytest.approx(
        math.log(value) / (alpha - 1), rel=1e-9
    )
    assert gaussian_bound(0.0, 1.0, alpha=2.0, variance=2.0) == math.inf


def test_the_averaged_bound_of_mixtures_is_from_above_and_close():
    p, q = Mixture.gaussian(2, 1.5), Mixture.gaussian(0, 1)
    exact = WassersteinAware().least_variance(p, q, alpha=3.0, epsilon=1.0)
    split = Mixture([0.5, 0.5], [2, 2 + 1e-9], [1.5, 1.5])  # goes the numerical way
    bounded = WassersteinAware().least_variance(split, q, alpha=3.0, epsilon=1.0)
    assert exact <= bounded <= 1.02 * exact


def test_points_are_averaged_exactly():
    p, q = Mixture.empirical([0, 1]), Mixture.empirical([0, 3])
    variance = WassersteinAware().least_variance(p, q, alpha=2.0, epsilon=1.0)
    assert math.log(0.5 + 0.5 * math.exp(4 / variance)) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("rank", [30, 400, 3000])
def test_no_more_than_delta_lies_beyond_the_approximate_distance(rank):
    """A δ that is a hair less than what some cells hold together does not count the last of them."""
    p, q = Mixture([0.4, 0.6], [-1, 1], [1.0, 0.5]), Mixture([0.5, 0.5], [0, 2], [1.5, 0.5])
    far, mass = gap_bounds(p, q, _SCORES), np.exp(_SCORES.log_masses())
    outside = 2 * stats.norm.sf(_SCORES.end)
    delta = math.fsum(mass[np.argsort(-far)][:rank]) * (1 - 5e-13) + outside
    found = approximate_distance(p, q, delta=delta)
    assert math.fsum(mass[far > found]) + outside <= delta
