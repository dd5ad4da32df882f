import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu import Mixture, VectorMixture, renyi_divergence
from takifugu.divergences.vectors import (
    couple,
    couple_by,
    cubature_divergence,
    gaussian_vector_divergence,
    projected_loss,
)
from takifugu.divergences.vectors_proved import enclose_coupled_vectors, prove_vectors
from takifugu.errors import CertificationError

seeds = st.integers(0, 2**32 - 1)


def random_law(rng, components, d):
    x = 0.5 * rng.normal(size=(components, d, d + 2))
    return VectorMixture(
        rng.dirichlet(np.full(components, 2.0)), rng.normal(size=(components, d)), x @ x.transpose(0, 2, 1)
    )


@given(seed=seeds, alpha=st.floats(1.05, 8))
@settings(max_examples=some_of(40), deadline=None)
def test_on_a_line_the_bound_is_above_the_truth(seed, alpha):
    rng = np.random.default_rng(seed)
    p, q = (random_law(rng, int(rng.integers(1, 5)), 1) for _ in range(2))
    z = float(10 ** rng.uniform(-1, 1.5))
    lines = [Mixture(m.weights, m.means[:, 0], np.sqrt(m.covariances[:, 0, 0])) for m in (p, q)]
    truth = renyi_divergence(*lines, alpha=alpha, theta=math.sqrt(z))
    noise = np.array([[z]])
    how = couple(p, q, alpha=alpha, covariance=noise)
    assert how.bound >= truth * (1 - 1e-9)
    if math.isfinite(how.bound):
        proved = enclose_coupled_vectors(p, q, how.forward, how.backward, alpha=alpha, covariance=noise)
        assert truth * (1 - 1e-9) <= proved.upper <= how.bound
    assert projected_loss(p, q, alpha=alpha, covariance=noise) == pytest.approx(truth, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_in_a_plane_truth_lies_between_projections_and_coupling(seed):
    rng = np.random.default_rng(seed)
    p, q = random_law(rng, 3, 2), random_law(rng, 2, 2)
    noise = np.array([[3.0, 1.0], [1.0, 2.0]])
    truth = cubature_divergence(p, q, alpha=2.0, covariance=noise, rtol=1e-5)
    assert projected_loss(p, q, alpha=2.0, covariance=noise) <= truth * (1 + 1e-4)
    assert couple(p, q, alpha=2.0, covariance=noise).bound >= truth * (1 - 1e-4)


def test_cubature_agrees_with_the_formula_of_gaussians():
    rng = np.random.default_rng(0)
    for d in (1, 2):
        p, q = random_law(rng, 1, d), random_law(rng, 1, d)
        found = cubature_divergence(p, q, alpha=1.7, covariance=2 * np.eye(d), rtol=1e-6)
        gap = p.means[0] - q.means[0]
        formula = gaussian_vector_divergence(
            gap, p.covariances[0], q.covariances[0], alpha=1.7, covariance=2 * np.eye(d)
        )
        assert found == pytest.approx(formula, rel=1e-5)


@given(seed=seeds, alpha=st.floats(1.05, 20))
@settings(max_examples=some_of(60), deadline=None)
def test_alternating_is_never_worse_than_the_product(seed, alpha):
    rng = np.random.default_rng(seed)
    losses = rng.exponential(size=(3, 4)) * 10 ** rng.uniform(-3, 2)
    losses[rng.random((3, 4)) < 0.2] = np.inf
    pi, rho = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    how = couple_by(losses, pi, rho, alpha=alpha)
    assert (how.forward.sum(axis=1) >= pi).all()
    assert (how.backward.sum(axis=0) <= rho).all()
    with np.errstate(over="ignore"):
        product = math.log((np.outer(pi, rho) * np.exp((alpha - 1) * losses)).sum()) / (alpha - 1)
    assert how.bound <= product * (1 + 1e-9) + 1e-9
    if np.isinf(losses).all(axis=1).any():
        assert how.bound == math.inf


def test_equal_mixtures_lose_next_to_nothing():
    p = random_law(np.random.default_rng(3), 3, 2)
    assert couple(p, p, alpha=2.0, covariance=np.eye(2)).bound < 1e-5


def test_couplings_that_do_not_cover_the_weights_prove_nothing():
    rng = np.random.default_rng(1)
    p, q = random_law(rng, 2, 2), random_law(rng, 2, 2)
    how = couple(p, q, alpha=2.0, covariance=np.eye(2))
    for w, v in ((how.forward * (1 - 1e-9), how.backward), (how.forward, how.backward * (1 + 1e-9))):
        with pytest.raises(CertificationError, match="do not cover"):
            enclose_coupled_vectors(p, q, w, v, alpha=2.0, covariance=np.eye(2))


def test_a_mixture_is_proved_or_left_open_never_refuted():
    rng = np.random.default_rng(2)
    p, q = random_law(rng, 2, 2), random_law(rng, 2, 2)
    assert prove_vectors(p, q, alpha=2.0, epsilon=5.0, covariance=np.eye(2)).holds is True
    assert prove_vectors(p, q, alpha=2.0, epsilon=1e-3, covariance=np.eye(2)).holds is None
