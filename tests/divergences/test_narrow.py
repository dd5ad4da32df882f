"""Narrow components below the envelope and sharp crossings, against enclosures in ball arithmetic."""

import math

import numpy as np
import pytest

from how_many import some_of
from takifugu import Mixture, calibrate, certify, renyi_divergence
from takifugu.divergences.certified import enclose

MARGIN = 1e-10  # of the budget, left by the exact mechanism for the error of the quadrature


def check(p, q, alpha, *, theta=0.0):
    found = renyi_divergence(p, q, alpha=alpha, theta=theta)
    truth = enclose(p, q, alpha=alpha, theta=theta, rtol=1e-12)
    assert found == pytest.approx(truth.upper, rel=MARGIN / 10), (p, q, alpha)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 20.0])
@pytest.mark.parametrize("mean", [0.5137, 3.3])
@pytest.mark.parametrize(("weight", "std"), [(3e-5, 1e-4), (2e-6, 1e-5), (1e-3, 3e-3)])
def test_a_narrow_component_below_the_envelope_is_not_stepped_over(weight, std, mean, alpha):
    p = Mixture([1 - weight, weight], [0, mean], [1, std])
    q = Mixture([0.5, 0.5], [0.1, 0.2], [1.1, 1.2])
    check(p, q, alpha)
    check(q, p, 1 + alpha / 10 if alpha < 2 else 1.5)


@pytest.mark.parametrize("seed", range(some_of(24)))
def test_random_mixtures_of_very_different_widths_and_weights(seed):
    rng = np.random.default_rng(seed)
    p, q = (
        Mixture(
            rng.dirichlet(np.full(count, 0.15)) * (1 - 1e-3) + 1e-3 / count,
            rng.uniform(-5, 5, count),
            10 ** rng.uniform(-4, 0, count),
        )
        for count in rng.integers(2, 7, size=2)
    )
    q = Mixture(q.weights, q.means, np.append(q.stds[:-1], 1.2))
    check(p, q, float(1 + 10 ** rng.uniform(-1.5, 1.5)))


def test_a_component_that_never_leads_is_seen_on_the_stretch_where_it_adds():
    """Next to the edge of convergence panels are ten thousand widths long, and D was 0.060 in place of 0.102."""
    p = Mixture([0.6656803119279125, 0.33431968807208745], [0, 0.02719749667760661], [1, 0.9991969952677172])
    check(p, Mixture.gaussian(0, math.sqrt(0.9844965288916662)), 64.50168435849471)


@pytest.mark.parametrize("seed", range(some_of(40)))
def test_random_components_that_never_lead_next_to_the_edge_of_convergence(seed):
    rng = np.random.default_rng(seed)
    alpha, count = 1 + 10 ** rng.uniform(-1, 2), int(rng.integers(2, 5))
    stds = np.append(1 - 10 ** rng.uniform(-4, -0.2, count - 1), 1.0)
    weights = stds * np.append(10 ** rng.uniform(-2, 0, count - 1), 1.0)  # of their heights the last is the largest
    means = np.append(rng.normal(size=count - 1) * rng.choice([0.0, 0.01, 1.0]), 0.0)
    width = math.sqrt((alpha - 1 + 10 ** rng.uniform(-13, -3)) / alpha)
    check(Mixture(weights / weights.sum(), means, stds), Mixture.gaussian(0, width), alpha)


@pytest.mark.parametrize("alpha", [1.001, 1.01, 1.1])
def test_the_bulk_of_p_is_seen_at_low_orders(alpha):
    """There p is as large a part of the integrand as its power: D was six parts in a million too large."""
    p, q = Mixture.gaussian(0, 8), Mixture([0.66, 0.34], [0, 0], [0.076, 0.204])
    theta = math.sqrt(((alpha - 1) * 8**2 - alpha * 0.204**2) * (1 + 1e-9))
    check(p, q, alpha, theta=theta)


@pytest.mark.parametrize("seed", range(some_of(60)))
def test_components_of_almost_equal_width_next_to_the_edge_of_convergence(seed):
    """Their logarithms cross where each is 10¹⁷, and the mass may lie there: it was missed, and half of D with it."""
    rng = np.random.default_rng(seed)
    alpha, theta = rng.choice([1.5, 3.0, 8.0, 16.0, 32.0, 100.0]), rng.choice([0.0, 0.5, 1.0])
    apart = 10 ** rng.uniform(-9, -5)
    edge = alpha * (1 + theta**2) / (alpha - 1)
    p = Mixture.gaussian(
        rng.choice([0.0, 1e-5, 0.3]), math.sqrt(edge * (1 - apart * 10 ** rng.uniform(-1.5, 1)) - theta**2)
    )
    q = Mixture([0.5, 0.5], [0.0, rng.choice([-1, 1]) * rng.uniform(0.05, 1.5)], [1.0, 1.0 - apart])
    check(p, q, alpha, theta=theta)


def test_a_pair_beside_the_one_that_binds_is_hidden_next_to_the_edge_of_convergence():
    """Floats alone had said 0.65 of a pair that loses 1.05, and another pair had decided the noise."""
    priors = {
        "a": Mixture.gaussian(1e-05, 1.0317539088277508),
        "b": Mixture([0.5, 0.5], [0.0, -0.5678804506189397], [1.0, 0.9999999978967034]),
        "c": Mixture.gaussian(0, 1),
        "d": Mixture.gaussian(0.28652234995166864, 1),
    }
    found = calibrate(priors, alpha=32, epsilon=0.6567604561772387, pairs=[("c", "d"), ("a", "b")])
    truth = enclose(priors["a"], priors["b"], alpha=32, theta=found.theta, rtol=1e-12)
    assert truth.upper <= found.epsilon
    certify(found)


@pytest.mark.parametrize("seed", range(some_of(60)))
def test_far_clusters_of_almost_equal_width(seed):
    """Panels were counted in one sum with a segment of 10²² features, in which those with the mass were lost."""
    rng = np.random.default_rng(seed)
    wide = 1 + rng.choice([-1, 1], 4) * 10 ** rng.uniform(-9, -3, 4)
    share, far = rng.uniform(0.2, 0.8), 10 ** rng.uniform(4, 6.5)
    p = Mixture([share, 1 - share], [0, far], wide[:2])
    q = Mixture([share, 1 - share], [rng.uniform(0.05, 1), far + rng.uniform(-1, 1)], wide[2:])
    alpha, theta = rng.choice([2.0, 8.0, 64.0]), 10 ** rng.uniform(-1, 0.7)
    check(p, q, alpha, theta=theta)
    check(q, p, alpha, theta=theta)


def test_a_pair_of_far_clusters_beside_the_one_that_binds_is_hidden():
    """Floats alone had said 6.4 of a pair that loses 24.5, at the noise that another pair had decided."""
    priors = {
        "a": Mixture([0.6, 0.4], [0.0, 188_576.0], [0.999999984, 0.999999993]),
        "b": Mixture([0.6, 0.4], [0.9834, 188_576.1], [1.0000000056, 0.999987]),
        "c": Mixture.gaussian(0, 1),
        "d": Mixture.gaussian(0.5144582788257696, 1),
    }
    found = calibrate(priors, alpha=100, epsilon=6.7, pairs=[("c", "d"), ("a", "b")])
    assert max(_alone(priors["a"], priors["b"], found), _alone(priors["b"], priors["a"], found)) <= found.epsilon


def _alone(p, q, found):
    """The loss of the components next to 0 with their weights, by the closed formula: the others are out of reach."""
    v, s, alpha = p.stds[0] ** 2 + found.variance, q.stds[0] ** 2 + found.variance, found.alpha
    margin = alpha * s + (1 - alpha) * v
    gaussian = alpha * (p.means[0] - q.means[0]) ** 2 / (2 * margin) + (
        math.log(margin) - (1 - alpha) * math.log(v) - alpha * math.log(s)
    ) / (2 * (1 - alpha))
    return gaussian + math.log(p.weights[0]) / (alpha - 1)
