"""Narrow components below the envelope and sharp crossings, against enclosures in ball arithmetic."""

import numpy as np
import pytest

from how_many import some_of
from takifugu import Mixture, renyi_divergence
from takifugu.divergences.proved.certified import enclose

MARGIN = 1e-10  # of the budget, left by the exact mechanism for the error of the quadrature


def check(p, q, alpha):
    found, truth = renyi_divergence(p, q, alpha=alpha), enclose(p, q, alpha=alpha, theta=0.0, rtol=1e-12)
    assert found == pytest.approx(truth.upper, rel=MARGIN / 10), (p, q, alpha)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 20.0])
@pytest.mark.parametrize("mean", [0.5137, 3.3])
@pytest.mark.parametrize(("weight", "std"), [(3e-5, 1e-4), (2e-6, 1e-5), (1e-3, 3e-3)])
def test_a_narrow_component_below_the_envelope_is_not_stepped_over(weight, std, mean, alpha):
    p = Mixture([1 - weight, weight], [0, mean], [1, std])
    q = Mixture([0.5, 0.5], [0.1, 0.2], [1.1, 1.2])
    check(p, q, alpha)
    check(q, p, 1 + alpha / 10 if alpha < 2 else 1.5)


@pytest.mark.parametrize("seed", range(some_of(24)))
def test_random_mixtures_of_very_different_widths_and_weights(seed):
    rng = np.random.default_rng(seed)
    p, q = (
        Mixture(
            rng.dirichlet(np.full(count, 0.15)) * (1 - 1e-3) + 1e-3 / count,
            rng.uniform(-5, 5, count),
            10 ** rng.uniform(-4, 0, count),
        )
        for count in rng.integers(2, 7, size=2)
    )
    q = Mixture(q.weights, q.means, np.append(q.stds[:-1], 1.2))
    check(p, q, float(1 + 10 ** rng.uniform(-1.5, 1.5)))
