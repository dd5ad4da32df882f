"""Rows of the pairs that may bind, in place of all: the same optimum and bound, and a fraction of the rows."""

from dataclasses import replace

import numpy as np
import pytest
from test_floors import program, radii

from takifugu.mechanisms.optimal import linear_program as linear_programs
from takifugu.mechanisms.optimal.linear_program import Many, linear
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.program import violation

MANY = [
    program(30),
    program(26, beliefs=2, keep="marginal"),
    program(40, keep="mean", seed=1),
    program(26, diagonal=0.2, n=5),
    program(26, n=5, chances=np.linspace(0.5, 0.6, 26)),
    program(30, n=5, radius=radii(30)),
    program(26, n=5, beliefs=2, radius=radii(52), keep="marginal"),
]


@pytest.mark.parametrize("asked", MANY)
def test_few_rows_find_what_all_find(asked, monkeypatch):
    allowed, rows = np.ones(asked.size, dtype=bool), []
    solved = linear_programs._solved
    monkeypatch.setattr(linear_programs, "_solved", lambda *given: rows.append(len(given[3].pairs)) or solved(*given))
    ours = linear(asked, allowed)
    assert max(rows) < 0.3 * len(asked.constraints) * asked.size[1]
    monkeypatch.setattr(Many, "of", lambda _: None)
    theirs = linear(asked, allowed)
    assert asked.value(ours.matrix) == pytest.approx(asked.value(theirs.matrix), rel=1e-7)
    assert violation(asked, ours.matrix) <= 1e-7
    proved = [lower_bound(asked, one.duals) for one in (ours, theirs)]
    assert proved[0] == pytest.approx(proved[1], rel=1e-6)
    assert proved[0] <= asked.value(ours.matrix) * (1 + 1e-9)


@pytest.mark.parametrize("asked", MANY)
def test_no_broken_row_is_overlooked(asked):
    """A channel that breaks the promise breaks a row that is found, however few were shown before."""
    rng = np.random.default_rng(0)
    n, m = asked.size
    many = Many.of(asked)
    shown, found = many.hardest(np.ones(asked.size, dtype=bool)), 0
    for share in np.linspace(0.0, 1.0, 40):
        matrix = (1 - share) * rng.dirichlet(np.ones(m), n) + share / m
        over = violation(asked, matrix) > 1e-7
        known = many.broken(matrix, shown)
        rows = shown if known is None else known
        p, q = asked.shares @ matrix, np.ptp(matrix, axis=0)
        left, right = asked.left[rows.pairs], asked.right[rows.pairs]
        high = p[left, rows.outputs] + asked.reach[left] * q[rows.outputs]
        low = p[right, rows.outputs] - asked.reach[right] * q[rows.outputs]
        assert over == bool((high > asked.factor * (1 + 1e-7) * low).any())
        found += over
    assert 0 < found < 40


def test_where_pairs_are_missing_or_laws_are_few_all_rows_are_written():
    whole = MANY[0]
    assert Many.of(whole) is not None
    assert Many.of(replace(whole, constraints=whole.constraints[1:])) is None
    assert Many.of(program(24)) is None
    itself = replace(MANY[5], constraints=(*MANY[5].constraints, (3, 3)))
    assert Many.of(itself) is None
