import math

import numpy as np
import pytest

from takifugu import Mixture
from takifugu.divergences.line.general import divergence
from takifugu.divergences.line.many_mixtures import Components, rough_losses


def rugged(rng):
    count = int(rng.integers(1, 5))
    weights = 10 ** rng.uniform(-rng.choice([0.5, 4, 25]), 0, count)
    return Mixture(
        weights / weights.sum(), rng.normal(0, rng.choice([1, 5, 15]), count), 10 ** rng.uniform(-0.5, 0.3, count)
    )


@pytest.mark.parametrize("alpha", [1.05, 1.5, 3.0, 20.0, 64.0])
@pytest.mark.parametrize("theta", [0.0, 0.5, 6.0])
def test_the_screen_is_never_below_the_divergence(alpha, theta):
    rng = np.random.default_rng(int(100 * alpha + theta))
    priors = [rugged(rng) for _ in range(7)]
    screen = rough_losses(Components.of(priors), Components.of(priors), alpha=alpha, theta=theta)
    for i, p in enumerate(priors):
        for j, q in enumerate(priors):
            if math.isfinite(screen[i, j]) and i != j:
                assert screen[i, j] >= divergence(p, q, alpha=alpha, theta=theta) * (1 - 1e-12) - 1e-14


@pytest.mark.parametrize("offset", np.linspace(0, 1, 7))
def test_a_spike_between_the_nodes_is_not_screened_away(offset):
    # a speck of p where two components of q cross: its share of the integral is a peak far narrower than a step
    alpha, distance = 64.0, 4.0
    p = Mixture([1 - 4e-4, 4e-4], [-distance, offset], [1.0, 1.0])
    q = Mixture([0.5, 0.5], [offset - distance, offset + distance], [1.0, 1.0])
    truth = divergence(p, q, alpha=alpha, theta=0.0)
    assert rough_losses(Components.of([p]), Components.of([q]), alpha=alpha, theta=0.0)[0, 0] >= truth * (1 - 1e-12)


def test_smooth_priors_are_known_to_many_digits():
    rng = np.random.default_rng(0)
    priors = [Mixture(rng.dirichlet(np.ones(4)), rng.normal(0, 1, 4), rng.uniform(0.3, 1, 4)) for _ in range(12)]
    screen = rough_losses(Components.of(priors), Components.of(priors), alpha=3.0, theta=4.0)
    truth = np.array([[divergence(p, q, alpha=3.0, theta=4.0) for q in priors] for p in priors])
    assert screen == pytest.approx(truth, abs=1e-6)
