import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu import VectorMixture
from takifugu.errors import InputError

TWO = VectorMixture([0.25, 0.75], [[0, 0], [4, 2]], [np.eye(2), [[2, 1], [1, 3]]])


def test_moments_are_those_of_many_draws():
    draws = TWO.sample(200_000, seed=1)
    np.testing.assert_allclose(TWO.mean, draws.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(TWO.covariance, np.cov(draws.T), atol=0.08)
    assert TWO.sample(3, seed=1).tolist() == TWO.sample(3, seed=1).tolist()


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=some_of(50), deadline=None)
def test_projections_and_marginals_agree_with_the_whole(seed):
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    x = rng.normal(size=(k, d, d))
    law = VectorMixture(rng.dirichlet(np.ones(k)), rng.normal(size=(k, d)), x @ x.transpose(0, 2, 1))
    a = rng.normal(size=d)
    line = law.projected(a)
    assert line.mean == pytest.approx(a @ law.mean, abs=1e-9)
    assert line.variance == pytest.approx(a @ law.covariance @ a, rel=1e-9)
    axes = list(rng.permutation(d)[: int(rng.integers(1, d + 1))])
    part = law.marginal([int(axis) for axis in axes])
    np.testing.assert_allclose(part.mean, law.mean[axes], atol=1e-12)
    np.testing.assert_allclose(part.covariance, law.covariance[np.ix_(axes, axes)], rtol=1e-9, atol=1e-12)
    noisy = law.with_noise(np.eye(d))
    np.testing.assert_allclose(noisy.covariance, law.covariance + np.eye(d), rtol=1e-9)


def test_far_means_cost_no_digits():
    law = VectorMixture([0.5, 0.5], [[1e12, 0], [1e12 + 1, 0]], np.zeros((2, 2, 2)))
    assert law.covariance[0, 0] == pytest.approx(0.25, rel=1e-12)


def test_immutable_hashable_picklable():
    for other in (pickle.loads(pickle.dumps(TWO)), copy.deepcopy(TWO)):
        assert other == TWO
        assert hash(other) == hash(TWO)
    assert VectorMixture.gaussian([0, 0], np.eye(2)) != TWO
    assert TWO != "law"
    for change in (lambda: setattr(TWO, "weights", 1), lambda: delattr(TWO, "means")):
        with pytest.raises(AttributeError, match="immutable"):
            change()
    with pytest.raises(ValueError, match="read-only"):
        TWO.covariances[0, 0, 0] = 2.0
    assert hash(VectorMixture.gaussian([0.0], [[1.0]])) == hash(VectorMixture.gaussian([-0.0], [[1.0]]))


def test_simplified_drops_what_is_empty_and_merges_what_is_twice():
    law = VectorMixture([0.5, 0.0, 0.5], [[1, 1], [9, 9], [1, 1]], [np.eye(2)] * 3)
    assert law.is_gaussian
    assert law.simplified() == VectorMixture.gaussian([1, 1], np.eye(2))
    assert not TWO.is_gaussian


def test_points_are_merged_and_counted():
    law = VectorMixture.empirical([[3, 1], [0, 0], [3, 1]], weights=[1, 2, 1])
    assert law.weights.tolist() == [0.5, 0.5]
    assert law.means.tolist() == [[0, 0], [3, 1]]
    assert "2 points in 2 dimensions" in repr(law)
    assert tk.VectorMixture is VectorMixture


def test_rounding_in_a_covariance_is_forgiven():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 50)) * [[1e-4], [1.0], [1e5]]
    x[2] = 3e5 * x[1]  # a column that copies another: the covariance is singular
    law = VectorMixture.gaussian([0, 0, 0], np.cov(x))
    assert np.array_equal(law.covariances[0], law.covariances[0].T)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0], [[0, 0]], [[[1, 2], [2, 1]]]), "smallest eigenvalue is -1"),
        (([1.0], [[0, 0]], [[[1, 0.5], [0, 1]]]), r"symmetric, but its entries \(0, 1\) and \(1, 0\)"),
        (([1.0], [[0, 0]], [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]]), "means of 2 numbers need covariances of 2"),
        (([1.0], [[0, 0], [1, 1]], [np.eye(2)]), "one entry per component, got 1, 2 and 1"),
        (([0.5, 0.4], [[0], [1]], [[[1]], [[1]]]), "sum to 1"),
        (([1.5, -0.5], [[0], [1]], [[[1]], [[1]]]), "0 or more"),
        (([1.0], [[0, 0, 1], [0, 0]], [np.eye(2)]), "same length"),
        (([1.0], [[0, np.nan]], [np.eye(2)]), "means"),
        (([1.0], [[0, np.inf]], [np.eye(2)]), "finite"),
        (([1.0], [["a", "b"]], [np.eye(2)]), "means must be"),
        (([1.0], [[0.0]], [[[-1.0]]]), "smallest eigenvalue"),
        (([1.0], [[0.0]], [[[1e305]]]), "larger unit"),
        (([1.0], [[]], [np.eye(2)]), "shape"),
    ],
)
def test_what_is_no_law_is_refused_in_a_sentence(arguments, words):
    with pytest.raises(InputError, match=words):
        VectorMixture(*arguments)


def test_what_does_not_fit_a_law_is_refused():
    with pytest.raises(InputError, match="cannot be added"):
        TWO.with_noise(np.eye(3))
    for axes in ([], [0, 0], [2]):
        with pytest.raises(InputError, match="axes"):
            TWO.marginal(axes)
    with pytest.raises(InputError, match="one per axis"):
        TWO.projected([1.0])
    with pytest.raises(InputError, match="one entry per point"):
        VectorMixture.empirical([[1, 2]], weights=[1, 2])
    with pytest.raises(InputError, match="all 0: at least one point"):
        VectorMixture.empirical([[1, 2]], weights=[0])
