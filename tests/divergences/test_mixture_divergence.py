import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from oracles import mixture_divergence, relative_error
from random_priors import mixture
from takifugu import InputError, Mixture, renyi_divergence
from takifugu.divergences.certified import enclose
from takifugu.divergences.numerics import quadrature


@pytest.mark.parametrize("seed", range(16))
def test_agrees_with_an_independent_quadrature(seed):
    rng = np.random.default_rng(seed)
    p, q = mixture(rng, most=3), mixture(rng, most=3)
    alpha = float(rng.choice([1.01, 1.5, 2, 3.7, 20, 100]))
    theta = float(rng.choice([0.0, 0.3, 3.0]))
    value = renyi_divergence(p, q, alpha=alpha, theta=theta)
    if math.isinf(value):
        assert alpha * (q.stds.max() ** 2 + theta**2) <= (alpha - 1) * (p.stds.max() ** 2 + theta**2)
    else:
        assert relative_error(value, mixture_divergence(p, q, alpha, theta)) < 1e-10


mixtures = st.integers(0, 2**32 - 1).map(lambda seed: mixture(np.random.default_rng(seed), most=6))


@settings(max_examples=some_of(60))
@given(p=mixtures, q=mixtures, alpha=st.floats(1.001, 100), theta=st.floats(0.0, 5.0), more=st.floats(0.01, 5.0))
def test_more_noise_never_costs_more(p, q, alpha, theta, more):
    less_noise = renyi_divergence(p, q, alpha=alpha, theta=theta)
    more_noise = renyi_divergence(p, q, alpha=alpha, theta=theta + more)
    assert 0 <= more_noise <= less_noise * (1 + 1e-11)


@settings(max_examples=some_of(60))
@given(p=mixtures, q=mixtures, alpha=st.floats(1.001, 50), more=st.floats(0.01, 50), theta=st.floats(0.5, 5.0))
def test_never_falls_in_the_order(p, q, alpha, more, theta):
    low = renyi_divergence(p, q, alpha=alpha, theta=theta)
    assert low <= renyi_divergence(p, q, alpha=alpha + more, theta=theta) * (1 + 1e-11)


@settings(max_examples=some_of(40))
@given(p=mixtures, q=mixtures, alpha=st.floats(1.01, 50), shift=st.floats(-1e3, 1e3), factor=st.floats(1e-6, 1e6))
def test_units_and_origin_do_not_matter(p, q, alpha, shift, factor):
    def moved(m):
        return Mixture(m.weights, (m.means + shift) * factor, m.stds * factor)

    here = renyi_divergence(p, q, alpha=alpha, theta=1.0)
    there = renyi_divergence(moved(p), moved(q), alpha=alpha, theta=factor)
    assert there == pytest.approx(here, rel=1e-7) or (math.isinf(here) and math.isinf(there))


def test_splitting_a_component_changes_nothing():
    p = Mixture([0.3, 0.7], [0.0, 4.0], [1.0, 0.5])
    q = Mixture([0.5, 0.5], [1.0, 3.0], [1.0, 1.2])
    split = Mixture([0.1, 0.7, 0.2, 0.0], [0.0, 4.0, 0.0, 9.0], [1.0, 0.5, 1.0, 50.0])
    assert renyi_divergence(split, q, alpha=3) == pytest.approx(renyi_divergence(p, q, alpha=3), rel=1e-14)


@pytest.mark.parametrize("alpha", [1.1, 2.0, 3.5, 100.0])
def test_sums_over_points(alpha):
    p, q = Mixture.empirical([0, 1, 2], [0.2, 0.3, 0.5]), Mixture.empirical([0, 1, 2, 7], [0.3, 0.1, 0.5, 0.1])
    expected = math.log(sum(a**alpha * b ** (1 - alpha) for a, b in [(0.2, 0.3), (0.3, 0.1), (0.5, 0.5)])) / (alpha - 1)
    assert renyi_divergence(p, q, alpha=alpha) == pytest.approx(expected, rel=1e-12)
    assert renyi_divergence(q, p, alpha=alpha) == math.inf


def test_points_and_densities_together():
    p = Mixture([0.5, 0.5], [0.0, 1.0], [0.0, 1.0])
    q = Mixture([0.2, 0.3, 0.5], [0.0, 5.0, 1.5], [0.0, 0.0, 1.0])
    density = math.exp(2 * 0.5**2 / 2)  # ∫ N(1,1)² / N(1.5,1)
    expected = math.log(0.5**2 / 0.2 + 0.5**2 / 0.5 * density)
    assert renyi_divergence(p, q, alpha=2) == pytest.approx(expected, rel=1e-12)
    assert renyi_divergence(q, p, alpha=2) == math.inf
    only_points = Mixture.empirical([0.0])
    assert renyi_divergence(only_points, q, alpha=2) == pytest.approx(math.log(1 / 0.2), rel=1e-12)
    assert renyi_divergence(q, only_points, alpha=2) == math.inf


def test_on_the_edge_of_convergence_the_means_decide():
    # θ² + 2·2² = 3²: both tails are exponential, and fall only if q reaches further than p on either side
    p = Mixture.gaussian(0.0, 3.0)
    around = Mixture([0.5, 0.5], [-1.0, 1.0], [2.0, 2.0])
    beside = Mixture([0.5, 0.5], [1.0, 3.0], [2.0, 2.0])
    # p²/q is a constant over cosh(y/5), whose integral is 5π
    expected = math.log(math.sqrt(10 * math.pi) * math.exp(0.1) / 4)
    assert renyi_divergence(p, around, alpha=2.0, theta=1.0) == pytest.approx(expected, rel=1e-12)
    assert renyi_divergence(p, beside, alpha=2.0, theta=1.0) == math.inf
    assert renyi_divergence(p, Mixture.gaussian(0.0, 2.0), alpha=2.0, theta=1.0) == math.inf
    assert renyi_divergence(p, around, alpha=2.0, theta=math.nextafter(1.0, 0.0)) == math.inf


def test_identical_mixtures_do_not_diverge():
    p = Mixture([0.3, 0.7], [0.0, 4.0], [1.0, 0.5])
    assert renyi_divergence(p, Mixture([0.7, 0.3], [4.0, 0.0], [0.5, 1.0]), alpha=3) == 0.0


@pytest.mark.parametrize("apart", [1e-3, 1e-5])
def test_small_divergences_keep_their_digits(apart):
    p = Mixture([0.3, 0.7], [0.0, 4.0], [1.0, 0.5])
    q = Mixture([0.3, 0.7], [apart, 4.0], [1.0, 0.5 + apart])
    value = renyi_divergence(p, q, alpha=2.5)
    assert relative_error(value, mixture_divergence(p, q, 2.5, 0.0, digits=40)) < 1e-8


def test_mass_far_outside_both_supports_is_found():
    # close to the edge of convergence the integrand peaks hundreds of standard deviations away
    p, q = Mixture([0.9, 0.1], [0.0, 0.5], [0.5, 1.0]), Mixture([0.5, 0.5], [0.0, 0.1], [0.7, 0.8168])
    value = renyi_divergence(p, q, alpha=3.0)
    assert relative_error(value, mixture_divergence(p, q, 3.0, 0.0)) < 1e-9


@pytest.mark.parametrize("components", [16, 40])
def test_many_components_of_very_different_widths_agree_with_finer_panels(components):
    rng = np.random.default_rng(components)
    for alpha in (1.05, 3.0, 100.0):
        p, q = (
            Mixture(
                rng.dirichlet(np.ones(components)),
                rng.uniform(-30, 30, components),
                10 ** rng.uniform(-4, 0, components),
            )
            for _ in range(2)
        )
        q = Mixture(q.weights, q.means, np.append(q.stds[:-1], 1.1))
        value = renyi_divergence(p, q, alpha=alpha)
        mirrored = renyi_divergence(
            Mixture(p.weights, -p.means, p.stds), Mixture(q.weights, -q.means, q.stds), alpha=alpha
        )
        assert value == pytest.approx(mirrored, rel=1e-11)


@pytest.mark.parametrize("alpha", [1, 0.5, -2, math.nan, math.inf, "2", None, True])
def test_orders_that_are_none_are_refused(alpha):
    p = Mixture.gaussian(0, 1)
    with pytest.raises(InputError, match="alpha must be a finite number above 1"):
        renyi_divergence(p, p, alpha=alpha)


@pytest.mark.parametrize("theta", [-1, math.nan, math.inf, "1"])
def test_noise_that_is_none_is_refused(theta):
    p = Mixture.gaussian(0, 1)
    with pytest.raises(InputError, match="theta must be a finite number, 0 or more"):
        renyi_divergence(p, p, alpha=2, theta=theta)


def test_only_mixtures_are_compared():
    with pytest.raises(InputError, match="q must be a Mixture, a Finite or a VectorMixture, got list"):
        renyi_divergence(Mixture.gaussian(0, 1), [0, 1], alpha=2)


@pytest.mark.parametrize("alpha", [3.0, 20.0, 100.0])
@pytest.mark.parametrize("distance", [30.0, 100.0, 200.0])
def test_the_spike_where_two_components_of_q_cross_is_not_missed(alpha, distance):
    # between them q is tiny and turns sharply: the integrand has a peak thousands of times narrower than any component
    p = Mixture([0.6, 0.4], [0.17, -0.9], [1.0, 0.9])
    q = Mixture([0.3, 0.7], [-distance, distance + 0.4], [1.0, 1.0003])
    value, proved = renyi_divergence(p, q, alpha=alpha), enclose(p, q, alpha=alpha, theta=0.0)
    assert proved.lower * (1 - 1e-10) <= value <= proved.upper * (1 + 1e-10)


def rugged(rng):
    """Components of weights down to 1e-30, widths over three decades and means over four."""
    count = int(rng.integers(1, 6))
    weights = 10 ** rng.uniform(-rng.choice([0.5, 3, 30]), 0, count)
    means = rng.choice([-1, 1], count) * 10 ** rng.uniform(-2, rng.choice([0, 1, 2]), count)
    return Mixture(weights / weights.sum(), means, 10 ** rng.uniform(-rng.choice([0.2, 1, 2]), 0.3, count))


@pytest.mark.parametrize("seed", range(some_of(50)))
def test_rugged_mixtures_agree_with_ball_arithmetic(seed):
    rng = np.random.default_rng(seed)
    p, q = rugged(rng), rugged(rng)
    alpha, theta = float(rng.choice([1.05, 1.5, 2, 3, 7.7, 30, 100])), float(rng.choice([0.0, 0.01, 0.3, 2]))
    edge = ((alpha - 1) * p.stds.max() ** 2 - theta**2) / alpha
    if edge > 0:  # just inside the domain, where mass lies far away
        q = Mixture(q.weights, q.means, np.append(q.stds[:-1], math.sqrt(edge) * (1 + 10 ** rng.uniform(-8, 0.5))))
    value, proved = renyi_divergence(p, q, alpha=alpha, theta=theta), enclose(p, q, alpha=alpha, theta=theta)
    assert proved.lower * (1 - 1e-9) <= value <= proved.upper * (1 + 1e-9)


@pytest.mark.parametrize("theta", [0.05, 0.4, 30.0])
@pytest.mark.parametrize("alpha", [1.2, 3.0, 64.0])
def test_components_that_are_far_away_are_no_digit(monkeypatch, theta, alpha):
    rng = np.random.default_rng(3)
    places = np.append(np.arange(90.0), [240.0, 999.0])
    p, q = (Mixture.empirical(places, rng.integers(1, 99, len(places))) for _ in range(2))
    wide = [Mixture([*(0.5 * law.weights), 0.5], [*law.means, 40.0], [*law.stds, 9.0]) for law in (p, q)]
    for pair in ((p, q), wide):
        found = renyi_divergence(*pair, alpha=alpha, theta=theta)
        with monkeypatch.context() as patch:
            patch.setattr(quadrature, "_near", lambda middle, half, curves, owner: np.arange(len(curves.means)))
            assert found == pytest.approx(renyi_divergence(*pair, alpha=alpha, theta=theta), rel=1e-13)
