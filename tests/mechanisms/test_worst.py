"""The place closest to the limit, against every pair in turn."""

import numpy as np
import pytest

from takifugu import Mixture, renyi_divergence
from takifugu.channels.gaussian import GaussianNoise
from takifugu.mechanisms.worst_case import worst
from takifugu.problems import RenyiDivergence
from takifugu.problems.problem import Problem


@pytest.mark.parametrize("seed", range(60))
def test_the_largest_loss_is_found_however_small_the_losses_are(seed):
    rng = np.random.default_rng(seed)
    alpha, scale = 1 + 10 ** rng.uniform(-6, 1.5), 10 ** rng.uniform(-6, 0)
    laws = {k: Mixture.gaussian(scale * rng.normal(), 1 + scale * rng.random()) for k in range(rng.integers(4, 9))}
    found = worst(Problem.of(laws), GaussianNoise(0.7), RenyiDivergence(alpha))
    every = [renyi_divergence(laws[a], laws[b], alpha=alpha, theta=0.7) for a in laws for b in laws if a != b]
    assert found.loss == pytest.approx(max(every), rel=1e-11)
