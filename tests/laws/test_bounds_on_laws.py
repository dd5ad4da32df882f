"""Bounds on laws of a list: exact binomial sums, how often they hold, extreme laws by linear programming."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.errors import InputError
from takifugu.laws.bounds import UNIT, Bounds, shares_of

COUNTS = st.lists(st.integers(0, 30), min_size=2, max_size=7).filter(any)


def tail(rows, share, first, last):
    p = Fraction(int(share), UNIT)
    return sum(math.comb(rows, k) * p**k * (1 - p) ** (rows - k) for k in range(first, last + 1))


@pytest.mark.parametrize("ordered", [True, False])
def test_each_bound_is_proved_by_exact_binomial_sums(ordered):
    counts = [0, 3, 1, 7, 12]
    rows, laws = sum(counts), 2
    found = Bounds.of_counts(counts, level=0.9, laws=laws, ordered=ordered)
    left = Fraction(1, 10) / (2 if ordered else 1) + Fraction(1, 10**12)
    each, sums = left / (laws * 2 * 5), left / (laws * 2 * 4)
    for seen, low, high in zip(counts, found.lower, found.upper, strict=True):
        assert (not seen and not low) or tail(rows, low, seen, rows) <= each
        assert tail(rows, high, 0, seen) <= each
    for seen, low, high in zip(np.cumsum(counts)[:-1].tolist(), found.below, found.above, strict=False):
        if ordered:
            assert (not seen and not low) or tail(rows, low, seen, rows) <= sums
            assert tail(rows, high, 0, seen) <= sums
        else:
            assert (low, high) == (0, UNIT)


@pytest.mark.parametrize("ordered", [True, False])
def test_bounds_hold_as_often_as_they_say(ordered):
    rng = np.random.default_rng(1)
    law = np.array([0.05, 0.3, 0.0, 0.4, 0.2, 0.05])
    drawn = [rng.multinomial(40, law) for _ in range(300)]
    held = sum(Bounds.of_counts(c, level=0.8, laws=1, ordered=ordered).holds(law) for c in drawn)
    assert held >= 0.8 * 300


@settings(max_examples=some_of(40), deadline=None)
@given(COUNTS, st.booleans(), st.integers(0, 2**32 - 1))
def test_extreme_laws_are_those_of_linear_programming(counts, ordered, seed):
    from scipy.optimize import linprog

    bounds = Bounds.of_counts(counts, level=0.9, laws=2, ordered=ordered)
    size = len(counts)
    table = np.random.default_rng(seed).integers(0, 5, (size, 3)).astype(float)  # ties as well
    sums = np.tril(np.ones((size, size)))
    for largest, sign in ((True, -1.0), (False, 1.0)):
        laws = bounds.extreme(table, largest=largest)
        assert (laws.sum(axis=1) == UNIT).all()
        assert (bounds.lower <= laws).all()
        assert (laws <= bounds.upper).all()
        assert (bounds.below <= laws.cumsum(axis=1)).all()
        assert (laws.cumsum(axis=1) <= bounds.above).all()
        for y in range(3):
            found = linprog(
                sign * table[:, y],
                A_ub=np.vstack([sums, -sums]),
                b_ub=np.concatenate([shares_of(bounds.above), -shares_of(bounds.below)]),
                bounds=np.stack([shares_of(bounds.lower), shares_of(bounds.upper)], axis=1),
            )
            assert shares_of(laws[y]) @ table[:, y] == pytest.approx(sign * found.fun, abs=1e-8)


@settings(max_examples=some_of(40), deadline=None)
@given(COUNTS, st.floats(0, 0.5), st.integers(0, 2**32 - 1))
def test_bounds_can_be_moved_to_hold_a_law_and_what_is_near(counts, radius, seed):
    rng = np.random.default_rng(seed)
    law, other = rng.dirichlet(np.full(len(counts), 0.3), 2)
    far = 0.5 * np.abs(law - other).sum()
    near = law + min(1.0, radius / max(far, 1e-9)) * (other - law)
    before = Bounds.of_counts(counts, level=0.9, laws=2, ordered=True)
    after = before.holding(7.0 * law, radius=radius)
    assert after.holds(law)
    assert after.holds(near)
    assert (after.lower <= before.lower).all()
    assert (after.above >= before.above).all()


def test_one_value_is_certain():
    assert Bounds.of_counts([5], level=0.95, laws=2, ordered=True).extreme(np.ones((1, 2)), largest=True).tolist() == [
        [UNIT],
        [UNIT],
    ]


@pytest.mark.parametrize("counts", [[], [1.5, 2], [-1, 2], [math.nan, 1], [[1, 2]]])
def test_counts_that_are_none(counts):
    with pytest.raises(InputError, match="whole counts"):
        Bounds.of_counts(counts, level=0.95, laws=1, ordered=True)


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (([0, 0], [1, 1], [0, 1], [1]), "one length"),
        (([0, 0], [2, 1], [0, 1], [1, 1]), "between 0 and 1"),
        (([0, 0], [1, 1], [0, 0], [1, 1]), "together"),
        (([0, 0], [0, 0], [0, 1], [1, 1]), "no law"),
        (([1, 1], [1, 1], [0, 1], [1, 1]), "no law"),
        (([0, 0], [1, 0], [0, 1], [0, 1]), "no law"),
    ],
)
def test_what_are_no_bounds(sides, said):
    with pytest.raises(InputError, match=said):
        Bounds(*(np.array(side) * UNIT for side in sides))


def test_a_least_share_above_the_largest_leaves_no_law():
    """The sums alone would allow one."""
    sides = [7, 5, 0], [9, 2, 11], [6, 8, 16], [10, 13, 16]
    with pytest.raises(InputError, match="no law"):
        Bounds(*(np.array(side) * (UNIT // 16) for side in sides))
