import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu import Mixture
from takifugu.divergences.mixtures import divergence
from takifugu.divergences.numerics.grids import Components, Edge, _log_densities, log_tails, rough_losses


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
    priors = [rugged(rng) for _ in range(5)]
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


@pytest.mark.parametrize(("alpha", "theta"), [(64.0, 12.0), (1e3, 70.0), (1e4, 200.0)])
@pytest.mark.parametrize("kind", ["smooth", "rugged", "atoms"])
def test_at_high_orders_the_screen_knows_most_pairs_and_never_says_too_little(alpha, theta, kind):
    rng = np.random.default_rng(int(alpha))
    make = {
        "smooth": lambda: Mixture(rng.dirichlet(np.full(4, 3.0)), rng.normal(0, 1, 4), rng.uniform(0.3, 1, 4)),
        "rugged": lambda: rugged(rng),
        "atoms": lambda: Mixture.empirical(np.arange(6.0), rng.integers(1, 99, 6)),
    }[kind]
    priors = [make() for _ in range(6)]
    components = Components.of(priors)
    screen = rough_losses(components, components, alpha=alpha, theta=theta, tolerance=1e-4 * (alpha - 1))
    truth = np.array([[divergence(p, q, alpha=alpha, theta=theta) for q in priors] for p in priors])
    assert (screen >= truth * (1 - 1e-12) - 1e-14).all()
    if kind != "rugged":
        near = (truth < 2) & (truth > 0)
        assert (screen[near] <= truth[near] * (1 + 1e-3) + 1e-3).all()


@settings(max_examples=some_of(20))
@given(st.integers(0, 2**32 - 1))
def test_what_lies_beyond_the_grid_is_never_more_than_the_bound(seed):
    rng = np.random.default_rng(seed)
    p, q = rugged(rng).simplified(), rugged(rng).simplified()
    alpha, end, side = float(rng.uniform(1.2, 5)), float(rng.uniform(2, 40)), float(rng.choice([-1, 1]))
    lead, follow = Components.of([p]), Components.of([q])
    at = np.array([side * end])
    edge = Edge(side * end, side, _log_densities(lead, at)[:, 0], _log_densities(follow, at)[:, 0])
    bound = log_tails(lead, follow, edge, alpha=alpha)[0, 0]
    if math.isinf(bound):
        return

    def density(mixture, y):
        parts = zip(mixture.weights, mixture.means, mixture.stds, strict=True)
        return mpmath.fsum(mpmath.mpf(float(w)) * mpmath.npdf(y, float(m), float(s)) for w, m, s in parts)

    def integrand(y):
        return density(p, side * y) ** alpha * density(q, side * y) ** (1 - alpha)

    with mpmath.workdps(25):
        scale = 1 / abs(mpmath.log(integrand(end + 1e-6) / integrand(end))) * mpmath.mpf(1e-6)
        cuts = [end + scale * k for k in (0, 1, 3, 8, 20, 50)]  # beyond them the integrand only adds to a lower bound
        beyond = mpmath.quad(integrand, cuts, maxdegree=3)
        assert beyond <= mpmath.exp(bound) * (1 + mpmath.mpf(1e-9))


@pytest.mark.parametrize("offset", np.linspace(0, 1, 5))
def test_a_coarse_grid_does_not_hide_a_crossing_of_q(offset):
    # equal widths: the two curvatures cancel and the step is √α times as long as p^α alone would ask for
    alpha, theta = 400.0, 8.0
    p = Mixture([1 - 1e-6, 1e-6], [-3 * theta, offset], [0.0, 0.0])
    q = Mixture([0.5, 0.5], [offset - 3 * theta, offset + 3 * theta], [0.0, 0.0])
    truth = divergence(p, q, alpha=alpha, theta=theta)
    found = rough_losses(Components.of([p]), Components.of([q]), alpha=alpha, theta=theta, around=truth)[0, 0]
    assert found >= truth * (1 - 1e-12)
