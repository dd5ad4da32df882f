import math

import numpy as np
import pytest

from takifugu import Mixture
from takifugu.divergences.mixtures import divergence
from takifugu.divergences.numerics.grids import (
    WIDEST,
    Components,
    _log_densities,
    closed,
    half_width,
    losses_and_doubts,
    most_in_cells,
    shares_missed,
)


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


def scattered(rng):
    """A law with a far cluster, or with widths of three orders of magnitude."""
    count = int(rng.integers(2, 5))
    if rng.random() < 0.5:
        means, stds = rng.normal(0, 1, count), rng.uniform(0.7, 1.4, count)
        means[0] += rng.choice([-1, 1]) * rng.uniform(6, 40)
    else:
        means, stds = rng.normal(0, 3, count), 10 ** rng.uniform(-0.5, 2, count)
    return Components.of([Mixture(rng.dirichlet(np.full(count, 0.7)), means, stds)])


@pytest.mark.parametrize("alpha", [1.3, 3.0, 30.0])
def test_cell_by_cell_a_sum_is_off_by_no_more_than_is_said_and_closed_cells_hold_no_more(alpha):
    rng = np.random.default_rng(int(10 * alpha))
    telling = shut = 0
    for _ in range(60):
        p, q = scattered(rng), scattered(rng)
        step, share = float(rng.uniform(0.1, 0.8)) * float(p.stds.min()), float(10 ** rng.uniform(-5, -1.7))
        nodes = float(rng.uniform(-30, 10)) + step * np.arange(int(rng.integers(8, 250)))
        edge = half_width(step, share)
        where = closed(p, q, nodes, step=step, edge=edge, alpha=alpha)
        finer = nodes[:, None] + step * (np.arange(65) - 32) / 64  # both ends of a cell, and its node in the middle
        log_p, log_q = (_log_densities(laws, finer.ravel()).reshape(finer.shape) for laws in (p, q))
        logs = alpha * log_p - (alpha - 1) * log_q
        cuts = np.flatnonzero(np.diff(where[0])) + 1
        for cells in np.split(np.arange(len(nodes)), cuts):
            if where[0, cells[0]]:
                continue
            f = step * np.exp(logs[cells] - logs[cells].max())
            integral = (f[:, 1:-1].sum() + 0.5 * f[:, [0, -1]].sum()) / 64
            sides = 2.02 * edge / step * (f[0, 0] + f[-1, -1])
            assert abs(integral - f[:, 32].sum()) <= share * integral + sides + 1e-6 * f.sum()
            telling += sides < share * integral
        where[0, [0, -1]] = False
        at = np.flatnonzero(where[0])
        lead, follow = most_in_cells(p, q, nodes, step, log_p[None, :, 32], log_q[None, :, 32], where, alpha=alpha)
        most = np.logaddexp.reduce((alpha * lead + follow).reshape(3, -1))
        assert (most >= logs[at].max(axis=1) - 1e-12 * np.abs(logs[at]).max(axis=1)).all()
        shut += len(at)
    assert telling > 3
    assert shut > 30


def test_far_clusters_close_the_cells_on_either_side_of_their_crossing_and_no_others():
    # half way between the nodes: at either of them the other cluster holds e^−30 of the law, at the crossing one half
    nodes = 0.5 * (np.arange(280) - 139.5)
    q = Components.of([Mixture([0.5, 0.5], [-60, 60], [1, 1])])
    where = closed(q, q, nodes, step=0.5, edge=half_width(0.5, 1e-3), alpha=3.0)[0]
    assert where[139:141].all()
    assert where.sum() <= 4


@pytest.mark.parametrize(("alpha", "theta"), [(3.0, 1.0), (40.0, 4.0)])
@pytest.mark.parametrize("kind", ["a far code", "incomes"])
def test_far_codes_and_incomes_are_known(alpha, theta, kind):
    rng = np.random.default_rng(0)
    make = {
        "a far code": lambda: Mixture(
            [0.6, 0.3, 0.1], [*rng.normal([4, 6], 0.2), 999], [*rng.uniform(0.4, 0.8, 2), 0.5]
        ),
        "incomes": lambda: Mixture(
            [0.5, 0.3, 0.15, 0.05], [*rng.normal([2, 4, 10], [0.1, 0.1, 0.5]), 50], [0.5, 1, 2, 9]
        ),
    }[kind]
    laws = [make() for _ in range(6)]
    components = Components.of(laws)
    losses, doubts = losses_and_doubts(components, components, alpha=alpha, theta=theta, tolerance=1e-4)
    assert (doubts <= 1e-4).all()
    for i, j in ((0, 1), (4, 2)):
        truth = divergence(laws[i], laws[j], alpha=alpha, theta=theta)
        assert truth * (1 - 1e-12) <= losses[i, j] <= truth + 1e-4 / (alpha - 1)
