"""Panels reach as far as the integrand has any mass: what lies beyond is below the slack everywhere."""

import numpy as np
import pytest

from how_many import some_of
from takifugu.divergences.numerics.envelope import Parabolas
from takifugu.divergences.numerics.quadrature import Side, build_skeleton, converges, panel_edges


def random_side(rng, theta):
    count = rng.integers(1, 6)
    bare = np.exp(rng.normal(size=count) * rng.choice([0.1, 1, 2]))
    means = rng.normal(size=count) * rng.choice([1, 10, 60])
    return Side(rng.dirichlet(np.full(count, 0.5)) + 1e-12, means, bare, np.hypot(bare, theta), np.zeros(count))


def log_power(y, f, g, alpha):
    """α ln p − (α − 1) ln q at each y."""
    log_p, log_q = (np.logaddexp.reduce(curves.at(y[:, None]), axis=1) for curves in (f, g))
    return alpha * log_p - (alpha - 1) * log_q


@pytest.mark.parametrize("seed", range(some_of(6)))
def test_nothing_of_weight_lies_beyond_the_panels(seed):
    rng = np.random.default_rng(seed)
    tried = 0
    while tried < 250:
        theta, alpha = float(rng.choice([0.0, 1.0])), float(1 + 10 ** rng.uniform(-1, 1.5))
        p, q = random_side(rng, theta), random_side(rng, theta)
        if not converges(p, q, alpha=alpha, theta=theta):
            continue
        tried += 1
        f, g = (Parabolas.of(side.weights, side.means, side.stds, side.bare, side.lows) for side in (p, q))
        edges = panel_edges(build_skeleton(p, q, f, g, alpha=alpha, theta=theta), f, g, alpha=alpha)
        within = np.concatenate([edges, np.linspace(edges[0], edges[-1], 4001)])
        inside = log_power(within, f, g, alpha).max()
        steps = np.geomspace(1e-6, 1e3, 400) * max(p.stds.max(), q.stds.max())
        outside = log_power(np.concatenate([edges[0] - steps, edges[-1] + steps]), f, g, alpha).max()
        assert outside <= inside - 46 + 0.5  # the largest value inside is seen at these points only
