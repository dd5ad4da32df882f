"""The loss that pictures are drawn from stays within what a picture shows of the exact one."""

import math

import numpy as np
import pytest

from random_priors import budget, mixture
from takifugu import Mixture
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.mechanisms.worst import drawn_loss, worst
from takifugu.problems.problem import Problem


@pytest.mark.parametrize("seed", range(12))
def test_four_digits_of_the_largest_loss(seed):
    rng = np.random.default_rng(seed)
    alpha, _ = budget(rng)
    beliefs = [{name: mixture(rng, most=4) for name in "abc"} for _ in range(1 + seed % 2)]
    problem = Problem.of(beliefs, [("a", "b"), ("c", "b")] if seed % 3 else None)
    for theta in (0.0, 0.05, 0.7, 3.0, 40.0):
        exact = worst(problem, GaussianNoise(theta), alpha=alpha).loss
        drawn = drawn_loss(problem, theta=theta, alpha=alpha)
        assert drawn == exact if math.isinf(exact) else drawn == pytest.approx(exact, rel=1.1e-4)


def test_what_no_grid_resolves_is_looked_at_exactly():
    needle = {"a": Mixture([0.5, 0.5], [0, 1], [0, 0]), "b": Mixture([0.4, 0.6], [0, 300], [0, 0])}
    problem = Problem.of(needle)
    for theta in (1e-3, 2e-3):
        assert drawn_loss(problem, theta=theta, alpha=3.0) == worst(problem, GaussianNoise(theta), alpha=3.0).loss
