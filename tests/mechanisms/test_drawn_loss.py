"""The loss that pictures are drawn from stays within what a picture shows of the exact one."""

import math

import numpy as np
import pytest

from how_many import some_of
from random_priors import budget, mixture
from takifugu import Mixture
from takifugu.channels.gaussian import GaussianNoise
from takifugu.mechanisms.least_noise import DrawnLosses
from takifugu.mechanisms.worst_case import worst
from takifugu.problems import RenyiDivergence
from takifugu.problems.problem import Problem


@pytest.mark.parametrize("seed", range(some_of(12)))
def test_four_digits_of_the_largest_loss(seed):
    rng = np.random.default_rng(seed)
    alpha, _ = budget(rng)
    beliefs = [{name: mixture(rng, most=4) for name in "abc"} for _ in range(1 + seed % 2)]
    problem = Problem.of(beliefs, [("a", "b"), ("c", "b")] if seed % 3 else None)
    for theta in (0.0, 0.05, 0.7, 3.0, 40.0):
        exact = worst(problem, GaussianNoise(theta), RenyiDivergence(alpha)).loss
        drawn = DrawnLosses(problem, alpha=alpha)(theta)
        assert drawn == exact if math.isinf(exact) else drawn == pytest.approx(exact, rel=1.1e-4)


def test_what_no_grid_resolves_is_looked_at_exactly():
    needle = {"a": Mixture([0.5, 0.5], [0, 1], [0, 0]), "b": Mixture([0.4, 0.6], [0, 300], [0, 0])}
    problem = Problem.of(needle)
    for theta in (1e-3, 2e-3):
        assert DrawnLosses(problem, alpha=3.0)(theta) == worst(problem, GaussianNoise(theta), RenyiDivergence(3.0)).loss


def test_what_is_found_once_serves_every_noise():
    rng = np.random.default_rng(3)
    normals = {k: Mixture.gaussian(*x) for k, x in enumerate(rng.uniform(0.5, 1.5, (30, 2)))}
    bells = {k: mixture(rng, most=3) for k in range(30)} | {1: Mixture.gaussian(0, 1), 2: Mixture.gaussian(0, 1)}
    same = dict.fromkeys(range(30), Mixture.gaussian(1, 1))
    for beliefs in ([normals], [normals, bells, same], [same]):
        problem = Problem.of(beliefs)
        look = DrawnLosses(problem, alpha=2.5)
        for theta in (0.3, 5.0, 1.0):
            exact = worst(problem, GaussianNoise(theta), RenyiDivergence(2.5)).loss
            assert look(theta) == exact if math.isinf(exact) else look(theta) == pytest.approx(exact, rel=1.1e-4)
