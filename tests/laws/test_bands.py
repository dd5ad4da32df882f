"""Bands: Clopper–Pearson by exact binomial sums, and how often they hold."""

import math
from fractions import Fraction

import numpy as np
import pytest

from takifugu.errors import InputError
from takifugu.laws.bounds import Band, level_a_side


def binomial_tail(rows, p, first, last):
    p = Fraction(p)
    return sum(math.comb(rows, k) * p**k * (1 - p) ** (rows - k) for k in range(first, last + 1))


@pytest.mark.parametrize("side", [0.01, 0.0004])
def test_each_bound_is_proved_by_exact_binomial_sums(side):
    counts = [0, 3, 1, 0, 7, 12, 2]
    band = Band.of_counts(counts, side=side)
    rows, upto = sum(counts), np.cumsum(counts)[:-1]
    for seen, low, high in zip(upto.tolist(), band.lower.tolist(), band.upper.tolist(), strict=True):
        if seen:
            assert binomial_tail(rows, low, seen, rows) <= Fraction(side)
            assert binomial_tail(rows, low * 1.001, seen, rows) > Fraction(side) * Fraction(99, 100)  # and no looser
        else:
            assert low == 0.0
        assert binomial_tail(rows, high, 0, seen) <= Fraction(side)


def test_bounds_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    masses = np.array([0.05, 0.3, 0.0, 0.4, 0.2, 0.05])
    side = level_a_side(0.8, laws=1, points=6)
    held = sum(Band.of_counts(rng.multinomial(40, masses), side=side).holds(masses) for _ in range(400))
    assert held >= 0.8 * 400


def test_no_rows_say_nothing():
    band = Band.of_counts([0, 0, 0], side=0.01)
    assert band.lower.tolist() == [0.0, 0.0]
    assert band.upper.tolist() == [1.0, 1.0]
    assert band.holds([0.2, 0.5, 0.3])


@pytest.mark.parametrize("counts", [[1], [1.5, 2], [-1, 2], [math.nan, 1], [[1, 2]]])
def test_counts_that_are_none(counts):
    with pytest.raises(InputError, match="whole counts"):
        Band.of_counts(counts, side=0.01)


@pytest.mark.parametrize(
    ("lower", "upper"), [([0.5, 0.4], [0.6, 0.7]), ([0.5], [0.4]), ([0.1, 0.2], [0.3]), ([], []), ([0.1], [1.2])]
)
def test_what_is_no_band(lower, upper):
    with pytest.raises(InputError, match="band"):
        Band(np.array(lower), np.array(upper))


@pytest.mark.parametrize("side", [0.0, 0.6, -1.0, math.nan])
def test_a_side_is_a_small_probability(side):
    with pytest.raises(InputError, match="side"):
        Band.of_counts([1, 2], side=side)


@pytest.mark.parametrize("level", [0.2, 1.0, math.nan])
def test_a_level_is_a_probability(level):
    with pytest.raises(InputError, match="level"):
        level_a_side(level, laws=2, points=5)
