"""The lattice: exact points, rounding that is the same everywhere, and what is read off data."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.errors import InputError
from takifugu.laws.lattice import MOST_POINTS, Lattice, exact, round_step

STEPS = st.sampled_from([0.1, 0.25, 0.3, 0.05, 1.0, 2.0, 5.0, 0.01, 1e-5, 250.0])


@settings(max_examples=some_of(100))
@given(st.integers(-500, 500), st.integers(1, MOST_POINTS - 1), STEPS)
def test_points_are_the_decimals_themselves(first, count, step):
    low, unit = first * exact(step), exact(step)
    lattice = Lattice(float(low), float(low + count * unit), step)
    assert len(lattice) == len(lattice.points) == count + 1
    assert [Fraction(repr(x)) for x in lattice.points.tolist()] == [low + k * unit for k in range(count + 1)]
    assert (lattice.snap(lattice.points) == lattice.points).all()


@given(st.integers(-50, 50), st.integers(1, 60), STEPS, st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20))
def test_snapping_goes_to_the_nearest_point(first, count, step, values):
    low, unit = first * exact(step), exact(step)
    lattice = Lattice(float(low), float(low + count * unit), step)
    for value, point in zip(values, lattice.snap(values).tolist(), strict=True):
        inside = min(max(Fraction(value), low), low + count * unit)
        best = min(abs(inside - low - k * unit) for k in range(count + 1))
        assert abs(abs(inside - exact(point)) - best) <= Fraction(1, 2**50) * (1 + abs(inside))


def test_a_value_halfway_goes_up_as_it_is_written():
    assert Lattice(0, 1, 0.1).snap([0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]).tolist() == [
        0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
    ]  # fmt: skip
    assert Lattice(-2, 2, 1).snap([-1.5, -0.5, 0.5]).tolist() == [-1.0, 0.0, 1.0]


def test_what_is_missing_stays_missing_and_what_is_infinite_is_clipped():
    lattice = Lattice(0, 10, 1)
    assert np.isnan(lattice.snap([np.nan])).all()
    assert lattice.snap([-np.inf, np.inf]).tolist() == [0.0, 10.0]
    with pytest.raises(InputError, match="some are missing") as caught:
        lattice.index([12345.678, np.nan])
    assert "12345" not in str(caught.value)


def test_counts_and_what_is_clipped():
    lattice = Lattice(0, 3, 1)
    assert lattice.count([-5, 0.2, 1.5, 9], [1, 2, 3, 4]).tolist() == [3, 0, 3, 4]
    assert lattice.outside([-5, 0.2, 1.5, 9], [1, 2, 3, 4]) == 5
    assert lattice.outside([-5, 0.2, 1.5, 9]) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((3, 1, 1), "turn them round"),
        ((1, 1, 1), "turn them round"),
        ((0, 1, 0.3), "does not divide"),
        ((0, 1, 0), "step must be a number above 0"),
        ((0, 1, -1), "step must be a number above 0"),
        ((0, 10_000, 1), "10,001 points are more than 1,000: use a step of 20 or more"),
        ((0, float("inf"), 1), "high must be a finite number"),
        (("0", 1, 1), "low must be a finite number"),
        ((1e15, 1e15 + 1, 0.1), "beyond the digits"),
        ((0, 1, 1, "sqrt"), "transform must be None or 'log'"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        Lattice(*given)


def test_the_logarithm_of_what_has_none_is_the_lowest_point():
    lattice = Lattice.logarithmic(1, 1e6, 0.5)
    assert (lattice.low, lattice.high, lattice.step, lattice.transform) == (0.0, 14.0, 0.5, "log")
    assert lattice.snap([-3.0, 0.0, 1.0, 1e3, 1e9]).tolist() == [0.0, 0.0, 0.0, 7.0, 14.0]
    with pytest.raises(InputError, match="two numbers above 0"):
        Lattice.logarithmic(0, 5, 0.1)


def test_reading_whole_numbers_and_decimals():
    ages = Lattice.read([17, 20, 35, 90, 41])
    assert (ages.lattice, ages.bounds_read, ages.step_read, ages.finer) == (Lattice(15, 90, 1), True, True, None)
    assert Lattice.read(np.arange(0, 63) / 10).lattice == Lattice(0, 6.5, 0.1)
    assert Lattice.read([0.1 + 0.2, 0.1, 0.4]).lattice.step == 0.1  # the float beside 0.3 is read as 0.3
    assert Lattice.read([5, 10, 40]).lattice.step == 5
    assert Lattice.read([0.5, 1.5, 9.5]).lattice == Lattice(0.5, 9.5, 1)


def test_too_fine_a_step_is_made_coarser_and_told():
    reading = Lattice.read([0, 1, 17_302, 99_871])
    assert (reading.lattice, reading.finer, reading.changes_values) == (Lattice(0, 100_000, 200), 1.0, True)
    reading = Lattice.read(np.random.default_rng(1).normal(size=50))
    assert reading.finer == 0.0
    reading = Lattice.read([1.0], bounds=(0, 5_000), step=1)
    assert (reading.lattice, reading.finer) == (Lattice(0, 5_000, 10), 1.0)


def test_bounds_given_and_a_step_read():
    assert Lattice.read([3, 4, 9, 400], bounds=(0, 20)).lattice == Lattice(0, 20, 1)
    assert Lattice.read([3.2, 4, 9], bounds=(0, 20)).lattice == Lattice(0, 20, 0.2)
    assert Lattice.read([5.0, 10.0], bounds=(0, 20)).lattice == Lattice(0, 20, 5)
    with pytest.raises(InputError, match="does not divide"):
        Lattice.read([1, 2], bounds=(0, 10), step=3)


@pytest.mark.parametrize("bounds", [(5, 1), (1, 1), "ab", (1,), 3])
def test_bounds_are_two_numbers(bounds):
    with pytest.raises(InputError, match="bounds must be"):
        Lattice.read([1, 2], bounds=bounds)


@settings(max_examples=some_of(100))
@given(st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=50), st.sampled_from([None, 0.5, 3.0]))
def test_a_lattice_that_is_read_holds_all_values(values, step):
    assume(len(np.unique([float(f"{v:.15g}") for v in values])) > 1)
    lattice = Lattice.read(values, step=step).lattice
    assert len(lattice) <= MOST_POINTS
    assert lattice.low <= min(values) * (1 + np.sign(min(values)) * 1e-14) + 1e-300
    assert lattice.high >= max(values) * (1 - np.sign(max(values)) * 1e-14) - 1e-300
    assert np.abs(lattice.snap(values) - values).max() <= lattice.step * 0.5000001 + 1e-9


@given(st.fractions(min_value="1/1000000", max_value=10**9), st.integers(1, 1000))
def test_a_round_step_is_the_least_that_fits(span, most):
    step = round_step(span, most)
    assert span / step <= most
    digit = int(f"{float(step):e}"[0])  # 1, 2 or 5: the one before it is a half, or two fifths
    assert digit in (1, 2, 5)
    assert span / (step * Fraction(2, 5) if digit == 5 else step / 2) > most


def test_one_value_has_no_lattice():
    with pytest.raises(InputError, match="two distinct finite values"):
        Lattice.read([3.0, 3.0])
    with pytest.raises(InputError, match="values above 0"):
        Lattice.read([0.0, 3.0], transform="log")
    assert Lattice.read([1.0, 50.0], transform="log").lattice.transform == "log"
