"""Many laws on one lattice: never below the divergence, against adaptive quadrature, balls and many digits."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from oracles import mixture_divergence
from takifugu.divergences.certified import enclose
from takifugu.divergences.mixtures import divergence, lattice_losses, log_densities
from takifugu.laws.mixture import Mixture

FORTH, BACK = np.array([0]), np.array([1])


def random_case(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 30))
    points = np.arange(size) * 10 ** rng.uniform(-1, 1) + rng.choice([0.0, 1e3, -40.0])
    laws = np.array([rng.dirichlet(np.full(size, 10 ** rng.uniform(-1.5, 1))) for _ in range(2)])
    theta = float((points[1] - points[0]) * 10 ** rng.uniform(-1, 1.5))
    return points, laws, theta, float(1 + 10 ** rng.uniform(-1.3, 1.3))


@given(st.integers(0, 10**6))
@settings(max_examples=some_of(150))
def test_never_below_the_divergence_and_close_to_it(seed):
    points, laws, theta, alpha = random_case(seed)
    ours = float(lattice_losses(points, laws, FORTH, BACK, alpha=alpha, theta=theta)[0])
    truth = divergence(*(Mixture.empirical(points, law) for law in laws), alpha=alpha, theta=theta)
    assert ours >= truth * (1 - 1e-10) - 1e-12 / (alpha - 1)
    if math.isfinite(ours):
        assert ours <= truth + 1e-5 / (alpha - 1)


@pytest.mark.parametrize("seed", range(12))
def test_against_balls_and_many_digits(seed):
    points, laws, theta, alpha = random_case(seed)
    ours = float(lattice_losses(points, laws, FORTH, BACK, alpha=alpha, theta=theta, tolerance=1e-9)[0])
    p, q = (Mixture.empirical(points, law) for law in laws)
    found = enclose(p, q, alpha=alpha, theta=theta, rtol=1e-10)
    assert found.lower * (1 - 1e-9) - 1e-11 <= ours <= found.upper * (1 + 1e-9) + 1e-8 / (alpha - 1)
    if seed < 3 and len(points) < 12:
        assert ours == pytest.approx(float(mixture_divergence(p, q, alpha, theta, digits=20)), rel=1e-7, abs=1e-9)


def test_a_tilted_centre_far_outside_the_points():
    points = np.array([0.0, 1.0])
    laws = np.array([[1e-12, 1.0], [1.0, 1e-200]])
    for theta in (0.05, 0.3, 1.0):
        ours = float(lattice_losses(points, laws, FORTH, BACK, alpha=4.0, theta=theta)[0])
        truth = divergence(*(Mixture.empirical(points, law) for law in laws), alpha=4.0, theta=theta)
        assert ours == pytest.approx(truth, rel=1e-5)


def test_points_without_mass():
    points = np.arange(200.0)
    laws = np.zeros((2, 200))
    laws[0, [0, 1, 199]] = [0.5, 0.3, 0.2]
    laws[1, [2, 100]] = [0.5, 0.5]
    for theta in (0.2, 3.0, 80.0):
        ours = float(lattice_losses(points, laws, FORTH, BACK, alpha=2.0, theta=theta)[0])
        truth = divergence(*(Mixture.empirical(points, law) for law in laws), alpha=2.0, theta=theta)
        assert ours >= truth * (1 - 1e-10)


def test_without_noise_it_is_the_sum_over_points():
    points, laws = np.arange(3.0), np.array([[0.2, 0.3, 0.5], [0.5, 0.5, 0.0]])
    assert math.isinf(lattice_losses(points, laws, FORTH, BACK, alpha=2.0, theta=0.0)[0])
    back = lattice_losses(points, laws, BACK, FORTH, alpha=2.0, theta=0.0)[0]
    assert back == pytest.approx(math.log(0.25 / 0.2 + 0.25 / 0.3))


def test_a_loss_over_the_limit_is_still_seen_to_be_over_it():
    points, laws, theta, alpha = random_case(3)
    truth = divergence(*(Mixture.empirical(points, law) for law in laws), alpha=alpha, theta=theta)
    seen = lattice_losses(points, laws, FORTH, BACK, alpha=alpha, theta=theta, limit=truth / 2)[0]
    assert seen > truth / 2


def test_densities_are_those_of_the_mixture():
    points, laws, theta, _ = random_case(8)
    nodes = np.linspace(points[0] - 5 * theta, points[-1] + 5 * theta, 50)
    truth = Mixture.empirical(points, laws[0]).with_noise(theta).pdf(nodes)
    assert np.exp(log_densities(points, laws, nodes, theta)[0]) == pytest.approx(truth, rel=1e-10)
