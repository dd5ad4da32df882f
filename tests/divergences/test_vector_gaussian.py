import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vector_oracle import random_case, truth

from how_many import some_of
from takifugu import VectorMixture, renyi_divergence
from takifugu.divergences.gaussians import gaussian_divergence
from takifugu.divergences.vectors import gaussian_vector_divergence, gaussian_vector_divergences
from takifugu.divergences.vectors_proved import (
    enclose_gaussian_vectors,
    exact_matrix,
    is_definite,
    is_semidefinite,
    prove_vectors,
)
from takifugu.errors import InputError

seeds = st.integers(0, 2**32 - 1)


def one(case):
    gap, lead, follow, alpha, noise = case
    return gaussian_vector_divergence(gap, lead, follow, alpha=alpha, covariance=noise)


def laws(case):
    gap, lead, follow, _, _ = case
    return VectorMixture.gaussian(gap, lead), VectorMixture.gaussian(np.zeros(len(gap)), follow)


@given(seed=seeds)
@settings(max_examples=some_of(150), deadline=None)
def test_agrees_with_fifty_digits_and_is_never_below(seed):
    case = random_case(np.random.default_rng(seed))
    value, expected = one(case), truth(*case)
    assert (value == math.inf) == (expected == math.inf)
    if expected != math.inf:
        assert expected <= value <= expected * (1 + 1e-9)


@pytest.mark.parametrize("apart", [1e-16, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("alpha", [1.001, 2.0, 100.0])
def test_keeps_its_digits_when_covariances_almost_agree(apart, alpha):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 4, 9))
    lead = x @ x.T
    for sign in (1, -1):
        follow = lead + sign * apart * (y @ y.T)
        case = (np.zeros(4), lead, 0.5 * (follow + follow.T), alpha, np.eye(4))
        expected = truth(*case, digits=80)
        assert abs(one(case) - expected) <= 1e-9 * expected


@given(seed=seeds)
@settings(max_examples=some_of(60), deadline=None)
def test_the_enclosure_holds_the_truth(seed):
    case = random_case(np.random.default_rng(seed))
    try:
        p, q = laws(case)
    except InputError:  # at the edge, taking the noise off may leave no covariance
        return
    found = enclose_gaussian_vectors(p, q, alpha=case[3], covariance=case[4])
    expected = truth(*case, digits=90)
    assert found.lower <= expected <= found.upper
    assert found.upper == math.inf or found.width <= 2e-12 * found.lower + 1e-300


@given(seed=seeds, alpha=st.floats(1.01, 50))
@settings(max_examples=some_of(60), deadline=None)
def test_independent_axes_add_up(seed, alpha):
    rng = np.random.default_rng(seed)
    gap, std_p, std_q, theta = rng.normal(size=3), *rng.uniform(0.2, 1.5, (3, 3))
    value = gaussian_vector_divergence(
        gap, np.diag(std_p**2), np.diag(std_q**2), alpha=alpha, covariance=np.diag(theta**2)
    )
    lines = [gaussian_divergence(*x[:3], alpha=alpha, theta=x[3]) for x in zip(gap, std_p, std_q, theta, strict=True)]
    assert value == pytest.approx(sum(lines), rel=1e-9)


@given(seed=seeds)
@settings(max_examples=some_of(60), deadline=None)
def test_more_noise_or_a_mixed_noise_never_loses_more(seed):
    rng = np.random.default_rng(seed)
    gap, lead, follow, alpha, noise = random_case(rng)
    x = rng.normal(size=(len(gap), len(gap)))
    other = x @ x.T + 1e-3 * np.eye(len(gap))
    middle = 0.5 * (noise + other)
    at = {
        name: gaussian_vector_divergence(gap, lead, follow, alpha=alpha, covariance=sigma)
        for name, sigma in (("one", noise), ("other", other), ("both", noise + other), ("middle", middle))
    }
    assert at["both"] <= min(at["one"], at["other"]) * (1 + 1e-9)
    assert at["middle"] <= 0.5 * (at["one"] + at["other"]) * (1 + 1e-9)  # proofs/shaped.md: convex


def test_projections_lose_less():
    rng = np.random.default_rng(3)
    for _ in range(20):
        gap, lead, follow, _, noise = random_case(rng)
        p, q = VectorMixture.gaussian(gap, lead + noise), VectorMixture.gaussian(0 * gap, follow + noise)
        whole = gaussian_vector_divergence(gap, lead, follow, alpha=2.0, covariance=noise)
        a = rng.normal(size=len(gap))
        assert renyi_divergence(p.projected(a), q.projected(a), alpha=2.0) <= whole * (1 + 1e-9)


def point(*values):
    return VectorMixture.gaussian(values, np.zeros((len(values), len(values))))


FLAT = [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        (point(1, 2), point(1, 2), 0.0),
        (point(1, 2), point(1, 3), math.inf),
        (point(1, 2), VectorMixture.gaussian([1, 2], np.eye(2)), math.inf),
        (VectorMixture.gaussian([1, 2], np.eye(2)), point(1, 2), math.inf),
        (VectorMixture.gaussian([1, 1], FLAT), VectorMixture.gaussian([0, 0], FLAT), 1.0),
        (VectorMixture.gaussian([1, 0], FLAT), VectorMixture.gaussian([0, 0], FLAT), math.inf),
        (VectorMixture.gaussian([0, 0], np.eye(2)), VectorMixture.gaussian([0, 0], FLAT), math.inf),
        (VectorMixture.gaussian([0, 0], FLAT), VectorMixture.gaussian([0, 0], np.eye(2)), math.inf),
        (VectorMixture.gaussian([0, 0], [[1, -1], [-1, 1]]), VectorMixture.gaussian([0, 0], FLAT), math.inf),
    ],
)
def test_without_noise_laws_in_a_plane_are_told_apart_exactly(p, q, expected):
    nothing = np.zeros((2, 2))
    found = enclose_gaussian_vectors(p, q, alpha=2, covariance=nothing)
    assert found.lower == found.upper == expected
    gap = p.means[0] - q.means[0]
    assert gaussian_vector_divergence(gap, p.covariances[0], q.covariances[0], alpha=2, covariance=nothing) == expected


def test_the_edge_itself_is_infinite_and_a_hair_inside_is_not():
    eye = np.eye(2)
    lead = np.diag([1.0, 2.0])  # α = 2: M = 2·follow − lead, singular at follow = lead/2
    for hair, infinite in ((0.0, True), (-(2.0**-50), True), (2.0**-50, False)):
        follow = np.diag([1.0, 1.0 + hair])
        value = gaussian_vector_divergence(np.ones(2), lead, follow, alpha=2.0, covariance=0 * eye)
        assert (value == math.inf) == infinite
        if not infinite:
            assert value == pytest.approx(float(truth(np.ones(2), lead, follow, 2.0, 0 * eye)), rel=1e-9)


def test_a_claim_is_proved_refuted_or_left_open():
    eye = np.eye(3)
    p, q = VectorMixture.gaussian([0, 0, 0], eye), VectorMixture.gaussian([1, 1, 0], 2 * eye)
    value = enclose_gaussian_vectors(p, q, alpha=3, covariance=eye)
    assert prove_vectors(p, q, alpha=3, epsilon=value.upper, covariance=eye).holds is True
    assert prove_vectors(p, q, alpha=3, epsilon=value.lower * (1 - 1e-9), covariance=eye).holds is False
    assert prove_vectors(q, p, alpha=3, epsilon=9.0, covariance=1e-6 * eye).holds is False


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_signs_of_eigenvalues_are_exact(rank):
    rng = np.random.default_rng(rank)
    x = rng.integers(-9, 9, size=(4, rank)).astype(float)
    square = exact_matrix(x) * exact_matrix(x).transpose()
    assert is_semidefinite(square)
    assert is_definite(square) == (rank == 4)
    tiny = exact_matrix(np.eye(4) * 2.0**-900)
    assert is_definite(square + tiny)
    assert is_semidefinite(square - tiny) == (rank == 4)


def test_huge_and_tiny_numbers_give_no_nan_and_no_warning():
    rng = np.random.default_rng(5)
    sizes = np.array([0.0, 1e-290, 1e-150, 1.0, 1e150, 1e280])
    gaps = rng.choice(np.sqrt(sizes), (60, 2))
    lead, follow = (rng.choice(sizes, (60, 2))[:, :, None] * np.eye(2) for _ in range(2))
    for noise in (0.0, 1.0, 1e200):
        values = gaussian_vector_divergences(gaps, lead, follow, alpha=3.0, covariance=noise * np.eye(2))
        assert (values >= 0).all()
