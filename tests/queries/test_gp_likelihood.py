"""The marginal likelihood of a Gaussian process and its slopes, held against scikit-learn's own."""

import numpy as np
import pytest

from takifugu.queries.models import RIDGE, Likelihood


@pytest.mark.parametrize(("rows", "features"), [(2, 1), (30, 1), (40, 5), (80, 13)])
def test_value_and_slopes_are_those_of_scikit_learn(rows, features):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    rng = np.random.default_rng(rows)
    inputs = rng.normal(size=(rows, features))
    inputs[-1] = inputs[0]  # two people with the same features
    answers = np.sin(inputs[:, 0]) + 0.3 * rng.normal(size=rows)
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(np.ones(features), (1e-2, 1e4)) + WhiteKernel(0.5, (1e-6, 1e2))
    peer = GaussianProcessRegressor(kernel, alpha=RIDGE, optimizer=None).fit(inputs, answers)
    ours = Likelihood(inputs, answers, ridge=RIDGE)
    for parameters in rng.uniform(-3, 4, size=(20, features + 2)):
        value, slope = peer.log_marginal_likelihood(parameters, eval_gradient=True)
        found, rising = ours(parameters)
        assert found == ours.value(parameters) == pytest.approx(value, rel=1e-11)
        assert rising == pytest.approx(slope, rel=1e-9, abs=1e-9 * np.abs(slope).max())


def test_rows_that_rounding_cannot_tell_apart_are_never_likely():
    with np.errstate(all="raise"):
        value, slope = Likelihood(np.zeros((50, 2)), np.arange(50.0), ridge=-1.0)(np.zeros(4) - [0, 0, 0, 30])
    assert value == -np.inf
    assert not slope.any()
