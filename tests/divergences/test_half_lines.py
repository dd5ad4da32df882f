"""A look at the tails never claims more than the divergence."""

import math

import numpy as np
import pytest

from how_many import some_of
from random_priors import budget, mixture
from takifugu import Mixture, renyi_divergence
from takifugu.divergences.mixtures import half_line_loss


@pytest.mark.parametrize("seed", range(some_of(60)))
def test_it_is_a_lower_bound(seed):
    rng = np.random.default_rng(seed)
    alpha, _ = budget(rng)
    p, q = mixture(rng, most=4), mixture(rng, most=4)
    assert half_line_loss(p, q, alpha=alpha) <= renyi_divergence(p, q, alpha=alpha) * (1 + 1e-9) + 1e-12


def test_what_points_tell():
    p, q = Mixture.empirical([0, 1]), Mixture.empirical([0, 2])
    assert half_line_loss(p, q, alpha=3) <= renyi_divergence(p, q, alpha=3) == math.inf
    same = Mixture.empirical([0, 1], [1, 3])
    assert half_line_loss(same, same, alpha=3) <= 1e-15
    # Of two points one half-line holds one of them, and the other is the rest: (3/4)^3 (1/2)^-2 = 27/16.
    assert half_line_loss(same, p, alpha=3) == pytest.approx(math.log(27 / 16) / 2, rel=1e-12)


@pytest.mark.parametrize("alpha", [1.5, 64.0])
def test_far_apart_and_far_out(alpha):
    p, q = (Mixture([0.5, 0.5], [at, 1e4], [1, 0.5]).with_noise(1.0) for at in (0, 1))
    assert half_line_loss(p, q, alpha=alpha) <= renyi_divergence(p, q, alpha=alpha) * (1 + 1e-9)
    wide = Mixture([0.5, 0.5], [0, 1e300], [1e300, 1])
    assert half_line_loss(wide, p, alpha=alpha) > 1
