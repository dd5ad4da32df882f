"""Thousands of random cases a mechanism: none of those that promise it exceeds the budget.

The rules are taken as they are, without the check that `calibrate` adds, and the loss is that of an independent oracle
for Gaussians, in balls, and of the exact sum or the quadrature for the rest, which the tests of the divergences hold
to their own.
"""

import math

import numpy as np
import pytest

from how_many import some_of
from oracles import gaussian_ball
from random_priors import budget, gaussian_pair, mixture
from takifugu import Mixture, renyi_divergence
from takifugu.mechanisms.base import get_mechanism

CHUNKS = 8
CASES = some_of(10_000) // CHUNKS


def no_more_than(loss, epsilon):
    return loss <= epsilon * (1 + 1e-13)


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", ["exact", "closed-form", "closed-form-envelope", "wasserstein-aware"])
def test_gaussians(name, chunk):
    rng, rule = np.random.default_rng(chunk), get_mechanism(name, {})
    for _ in range(CASES):
        (p, q), (alpha, epsilon) = gaussian_pair(rng), budget(rng)
        theta = math.sqrt(rule.least_variance(p, q, alpha=alpha, epsilon=epsilon))
        theta = math.nextafter(theta, math.inf) if theta else 0.0
        loss = gaussian_ball(p.means[0], p.stds[0], q.means[0], q.stds[0], alpha=alpha, theta=theta)
        assert no_more_than(loss, epsilon), (p, q, alpha, epsilon, theta)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mixtures_under_the_transport_bound(chunk):
    rng, rule = np.random.default_rng(chunk), get_mechanism("gmm-transport", {})
    for _ in range(CASES):
        p, q, (alpha, epsilon) = mixture(rng, most=3), mixture(rng, most=3), budget(rng)
        theta = math.sqrt(rule.least_variance(p, q, alpha=alpha, epsilon=epsilon))
        assert no_more_than(renyi_divergence(p, q, alpha=alpha, theta=theta), epsilon), (p, q, alpha, epsilon)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_points_under_the_baselines(chunk):
    rng, rules = (
        np.random.default_rng(chunk),
        [get_mechanism(name, {}) for name in ("wasserstein", "wasserstein-aware")],
    )
    for _ in range(CASES):
        p, q = (Mixture.empirical(rng.integers(0, 6, rng.integers(1, 5))) for _ in range(2))
        alpha, epsilon = budget(rng)
        # More noise never costs more: where the smaller of the two is enough, so is the other.
        least = min(rule.least_variance(p, q, alpha=alpha, epsilon=epsilon) for rule in rules)
        loss = renyi_divergence(p, q, alpha=alpha, theta=math.sqrt(least))
        assert no_more_than(loss, epsilon), (p, q, alpha, epsilon)


@pytest.mark.parametrize("seed", range(some_of(20)))
@pytest.mark.parametrize("name", ["wasserstein", "wasserstein-aware"])
def test_mixtures_under_the_baselines(name, seed):
    rng, rule = np.random.default_rng(seed), get_mechanism(name, {})
    p, q, (alpha, epsilon) = mixture(rng, most=3), mixture(rng, most=3), budget(rng)
    if name == "wasserstein":  # finite only where the widest components agree
        q = Mixture(q.weights, q.means, np.append(q.stds[:-1], max(p.stds.max(), q.stds[:-1].max(initial=0.0))))
        p = Mixture(p.weights, p.means, np.append(p.stds[:-1], q.stds.max()))
    theta = math.sqrt(rule.least_variance(p, q, alpha=alpha, epsilon=epsilon))
    assert math.isfinite(theta)
    assert no_more_than(renyi_divergence(p, q, alpha=alpha, theta=theta), epsilon)
