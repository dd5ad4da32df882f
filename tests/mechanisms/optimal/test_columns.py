"""The structured inverse against a dense one, block by block."""

import numpy as np
import pytest

from takifugu.mechanisms.optimal.newton import Columns, Short, Spread


@pytest.mark.parametrize("with_ends", [False, True])
def test_blocks_are_inverted(with_ends: bool):
    rng = np.random.default_rng(0)
    m, n, k = 3, 5, 2
    own, factors = rng.uniform(0.1, 2, (m, n)), rng.normal(size=(m, k, n))
    pressed = rng.normal(size=(m, k))
    ends = np.stack([pressed, -pressed], axis=2) * with_ends
    upper, lower = rng.uniform(0.1, 5, (m, n)), rng.uniform(0.1, 5, (m, n))
    fixed = rng.uniform(0, 1, (m, 2))
    spread = Spread(upper, lower, own, fixed) if with_ends else None
    diagonal = own + (upper + lower) * with_ends
    columns = Columns(1 / diagonal, factors, ends, spread=spread, kept=None)
    right, right_ends = rng.normal(size=(m, 1, n)), rng.normal(size=(m, 1, 2)) * with_ends
    moved, moved_ends, _ = columns.solve(right, right_ends)
    total = np.zeros((n, n))
    for y in range(m):
        dense = np.diag(np.append(diagonal[y], [upper[y].sum() + fixed[y, 0], lower[y].sum() + fixed[y, 1]]))
        dense[:n, n], dense[:n, n + 1] = -upper[y], -lower[y]
        dense[n, :n], dense[n + 1, :n] = -upper[y], -lower[y]
        whole = np.concatenate([factors[y], ends[y]], axis=1)
        dense = dense + whole.T @ whole if with_ends else dense[:n, :n] + factors[y].T @ factors[y]
        wanted = np.linalg.solve(dense, np.append(right[y, 0], right_ends[y, 0]) if with_ends else right[y, 0])
        assert moved[y, 0] == pytest.approx(wanted[:n], rel=1e-9, abs=1e-12)
        if with_ends:
            assert moved_ends[y, 0] == pytest.approx(wanted[n:], rel=1e-9, abs=1e-12)
        total += np.linalg.inv(dense)[:n, :n]
    assert columns.summed(np.ones(m)) == pytest.approx(total, rel=1e-9, abs=1e-12)
    signed = np.array([1.0, -2.0, 3.0])
    assert np.allclose(columns.summed(signed), columns.summed(signed).T)


def test_what_is_kept_is_kept():
    rng = np.random.default_rng(1)
    kept = rng.dirichlet(np.ones(4))
    columns = Columns(
        rng.uniform(0.1, 1, (2, 4)), rng.normal(size=(2, 1, 4)), np.zeros((2, 1, 2)), spread=None, kept=kept
    )
    moved, _, _ = columns.solve(rng.normal(size=(2, 1, 4)), np.zeros((2, 1, 2)), np.array([[0.3], [-0.1]]))
    assert moved[:, 0] @ kept == pytest.approx([0.3, -0.1])


@pytest.mark.parametrize("seed", range(3))
def test_few_equations_stand_for_many(seed):
    rng = np.random.default_rng(seed)
    m, n, k = 3, 40, 4
    columns = Columns(
        rng.uniform(0.1, 10, (m, n)), rng.normal(size=(m, k, n)), np.zeros((m, k, 2)), spread=None, kept=None
    )
    demand = rng.normal(size=n)
    assert Short(columns).solved(demand) == pytest.approx(np.linalg.solve(columns.summed(np.ones(m)), demand), rel=1e-8)
