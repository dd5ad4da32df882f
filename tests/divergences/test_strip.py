import math

import numpy as np
import pytest

from takifugu import Mixture
from takifugu.divergences.line.many_mixtures import Components, _log_densities
from takifugu.divergences.line.strip import WIDEST, shares_missed


def law(rng, equal):
    count = int(rng.integers(1, 5))
    widths = np.ones(count) if equal else rng.uniform(0.7, 1.4, count)
    return Mixture(rng.dirichlet(np.ones(count)), rng.normal(0, 2, count), widths)


@pytest.mark.parametrize("alpha", [1.3, 2.0, 4.5, 30.0])
def test_a_sum_over_nodes_is_off_by_no_more_than_the_strip_says(alpha):
    rng = np.random.default_rng(int(10 * alpha))
    telling = 0
    for _ in range(100):
        p, q = (Components.of([law(rng, equal=rng.random() < 0.5)]) for _ in range(2))
        step = float(rng.uniform(0.2, 2.5)) / math.sqrt(alpha)
        low, count = float(rng.uniform(-12, -4)), int(rng.integers(4, 24 / step))
        finer = low + step * (np.arange(64 * count) - 31.5) / 64  # each cell is cut into 64, of which the middle counts
        logs = alpha * _log_densities(p, finer)[0] - (alpha - 1) * _log_densities(q, finer)[0]
        f = np.exp(logs - logs.max()) * step
        nodes = low + step * np.arange(count)
        at = np.exp(alpha * _log_densities(p, nodes)[0] - (alpha - 1) * _log_densities(q, nodes)[0] - logs.max()) * step
        ends = nodes[[0, -1]] + step * np.array([-0.5, 0.5])
        missed = shares_missed(p, q, *ends, step, alpha)[0]
        if missed < 0.5:
            sides = 2 * WIDEST * (f[0] + f[-1])
            off = abs(f.sum() / 64 - at.sum())
            assert off <= missed * f.sum() / 64 + sides + 1e-5 * f.max()
            telling += missed > 1e-5 and sides < 1e-3 * f.sum()
    assert telling > 3


def test_components_of_q_that_cancel_leave_no_strip():
    # q vanishes at πi/12: nothing is analytic beyond, and of a step of that size nothing is known
    p, q = Components.of([Mixture.gaussian(0, 1)]), Components.of([Mixture([0.5, 0.5], [-6, 6], [1, 1])])
    assert shares_missed(p, q, -20, 20, 0.5, 5.0)[0] > 0.5
    assert shares_missed(p, q, -20, 20, 0.01, 5.0)[0] < 1e-9
