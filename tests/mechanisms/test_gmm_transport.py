import math

import numpy as np
import ot
import pytest

from random_priors import mixture
from takifugu import Mixture, calibrate
from takifugu.mechanisms.closed_form import closed_form
from takifugu.mechanisms.transport import GmmTransport, _transport, coupled_bound, optimal_coupling


@pytest.mark.parametrize("seed", range(30))
def test_the_coupling_costs_what_pot_says(seed):
    rng = np.random.default_rng(seed)
    p, q = mixture(rng, most=8), mixture(rng, most=8)
    k, l, mass = optimal_coupling(p.simplified(), q.simplified())
    p, q = p.simplified(), q.simplified()
    cost = (p.means[:, None] - q.means) ** 2 + (p.stds[:, None] - q.stds) ** 2
    expected = ot.emd2(p.weights / p.weights.sum(), q.weights / q.weights.sum(), cost)
    assert (mass * cost[k, l]).sum() == pytest.approx(expected, rel=1e-9)
    assert np.bincount(k, weights=mass, minlength=len(p)) == pytest.approx(p.weights, abs=1e-12)
    assert np.bincount(l, weights=mass, minlength=len(q)) == pytest.approx(q.weights, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_two_components_are_coupled_as_a_linear_programme_would(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    a, b = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(size)) * 10 ** rng.uniform(-12, 0, size)
    b, cost = b / b.sum(), np.abs(rng.normal(size=(2, size)) * rng.choice([0, 1, 1e3], size))  # some of them tie
    for plan in (_transport(a, b, cost), _transport(b, a, cost.T).T):
        assert (plan >= 0).all()
        assert plan.sum(axis=1) == pytest.approx(a, rel=1e-13)
        assert plan.sum(axis=0) == pytest.approx(b, rel=1e-15)
        assert (plan * cost).sum() == pytest.approx(ot.emd2(a, b, cost), rel=1e-12)


def test_one_component_each_is_the_closed_form():
    p, q = Mixture.gaussian(2.0, 1.5), Mixture.gaussian(0.0, 1.0)
    found = GmmTransport().least_variance(p, q, alpha=3.0, epsilon=1.0)
    assert found == pytest.approx(closed_form(2.0, 1.5, 1.0, alpha=3.0, epsilon=1.0), rel=1e-10)


def test_a_coupled_pair_outside_the_domain_asks_for_more_noise():
    bound = coupled_bound(
        np.array([1 - 1e-9, 1e-9]),
        np.array([0.0, 0.0]),
        np.array([1.0, 5.0]),
        np.array([1.0, 1.0]),
        alpha=2.0,
        variance=0.0,
    )
    assert bound == math.inf
    p = Mixture([1 - 1e-9, 1e-9], [0, 0], [1, 5])
    variance = GmmTransport().least_variance(p, Mixture.gaussian(0, 1), alpha=2.0, epsilon=1.0)
    assert variance > (2 - 1) * 25 - 2 * 1  # the domain of the pair (5, 1), however little mass it has


def test_components_of_any_weight_are_coupled():
    p = Mixture([1 - 1e-9 - 1e-14, 1e-9, 1e-14, 1e-30], [0, 5, 9, 50], [1, 1, 1, 1])
    q = Mixture([0.5, 0.5 - 1e-12, 1e-12], [0, 1, 20], [1, 1, 1])
    k, l, mass = optimal_coupling(p, q)
    assert np.bincount(k, weights=mass) == pytest.approx(p.weights, rel=1e-11)
    assert np.bincount(l, weights=mass) == pytest.approx(q.weights, rel=1e-11)


def test_points_and_equal_components_are_no_trouble():
    p, q = Mixture.empirical([0, 1, 5]), Mixture.empirical([0, 1, 6])
    assert GmmTransport().least_variance(p, q, alpha=2.0, epsilon=0.5) > 0
    assert GmmTransport().least_variance(p, p, alpha=2.0, epsilon=0.5) == 0
    assert calibrate({"a": p, "b": q}, alpha=2, epsilon=0.5, mechanism="gmm-transport").losses["a", "b"] <= 0.5


@pytest.mark.parametrize("seed", range(12))
def test_laws_of_one_width_are_coupled_in_order_as_pot_does(seed):
    rng = np.random.default_rng(seed)
    width = 0.0 if seed % 2 else 0.7
    p, q = (
        Mixture(rng.dirichlet(np.full(n, 0.3)), np.sort(rng.normal(0, 3, n)), np.full(n, width)).simplified()
        for n in rng.integers(2, 30, 2)
    )
    k, l, mass = optimal_coupling(p, q)
    cost = (p.means[:, None] - q.means) ** 2
    expected = ot.emd2_1d(p.means, q.means, p.weights / p.weights.sum(), q.weights / q.weights.sum())
    assert (mass * cost[k, l]).sum() == pytest.approx(expected, rel=1e-9)
    assert np.bincount(k, weights=mass, minlength=len(p)) == pytest.approx(p.weights, rel=1e-11)
    assert np.bincount(l, weights=mass, minlength=len(q)) == pytest.approx(q.weights, rel=1e-11)
