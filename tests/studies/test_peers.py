"""Other ways to publish a column: their guesses and errors against draws and integrals, and the page made of them."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import laplace, norm
from studies.peers import __main__ as command
from studies.peers.columns import BUNDLED, bundled
from studies.peers.figures import frontier, picture
from studies.peers.methods import (
    CONSTANT,
    GAUSSIAN,
    LAPLACE,
    METHODS,
    OURS,
    OURS_KEPT,
    PRAM,
    RESPONSE,
    Column,
    curves,
    invariant,
    least_error,
    worst_guess,
)

NUMBERS = Column((0, 1, 2, 5), np.array([[50.0, 30, 15, 5], [10, 20, 40, 30]]), is_number=True)
LABELS = Column(("n", "e", "s"), np.array([[50.0, 30, 20], [10, 20, 40], [30, 10, 10]]), is_number=False)


@pytest.fixture(scope="module")
def numbers():
    return curves(NUMBERS, odds=8)


@pytest.fixture(scope="module")
def labels():
    return curves(LABELS, odds=8)


def test_every_method_that_applies_is_there(numbers, labels):
    assert set(numbers) == set(METHODS)
    assert set(labels) == set(METHODS) - {GAUSSIAN, LAPLACE}
    assert all(len(points) >= 6 for name, points in numbers.items() if name != CONSTANT)


@pytest.mark.parametrize("method", METHODS)
def test_errors_and_guesses_are_those_of_what_is_drawn(numbers, labels, method):
    rng = np.random.default_rng(1)
    for column, found in ((NUMBERS, numbers), (LABELS, labels)):
        if method not in found:
            continue
        point = found[method][len(found[method]) // 3]
        places = rng.choice(len(column.pool), 40_000, p=column.pool)
        drawn = point.draw(rng, places)
        if column.is_number:
            error = float(np.mean((drawn - column.points[places]) ** 2)) / column.variance
        else:
            error = float(np.mean(drawn != places))
        assert error == pytest.approx(point.error, rel=0.1, abs=0.01)
        seen = []
        bins = np.linspace(-60, 60, 241) if column.is_number else np.arange(-0.5, 4)
        for law in column.laws:
            from_law = point.draw(rng, rng.choice(len(law), 40_000, p=law))
            seen.append(np.histogram(from_law, bins)[0] / 40_000)
        # Bins lose a little, and draws add a little.
        assert worst_guess(np.array(seen)) == pytest.approx(point.guess, abs=0.03)


@pytest.mark.parametrize(("method", "family"), [(GAUSSIAN, norm), (LAPLACE, laplace)])
def test_noise_is_guessed_as_an_integral_says(numbers, method, family):
    for point in numbers[method][5::9]:
        theta = math.sqrt(point.error * NUMBERS.variance)
        scale = theta if method == GAUSSIAN else theta / math.sqrt(2)

        def gap(y, scale=scale):
            densities = NUMBERS.laws @ family.pdf(y, NUMBERS.points, scale)
            return abs(float(densities[0] - densities[1]))

        ends = [-20 * scale - 1, *NUMBERS.points.tolist(), 20 * scale + 6]
        apart = sum(quad(gap, a, b, limit=400)[0] for a, b in pairwise(ends))
        assert point.guess == pytest.approx(0.5 + 0.25 * apart, abs=2e-4)


@given(st.integers(2, 6), st.floats(0, 0.99), st.integers(0, 1_000))
def test_pram_keeps_the_shares_and_is_a_table_of_probabilities(size, share, seed):
    pool = np.random.default_rng(seed).dirichlet(np.ones(size))
    table = invariant(share * np.eye(size) + (1 - share) / size, pool)
    assert np.allclose(pool @ table, pool)
    assert np.allclose(table.sum(axis=1), 1)
    assert (table >= 0).all()


def test_ours_keeps_the_shares_where_it_says_so(labels):
    for point in labels[OURS_KEPT]:
        places = np.repeat(np.arange(3), (30_000 * LABELS.pool).astype(int))
        drawn = np.bincount(point.draw(np.random.default_rng(2), places), minlength=3) / len(places)
        assert np.abs(drawn - LABELS.pool).max() < 0.02


def test_the_best_channel_is_no_worse_at_equal_guesses(numbers, labels):
    for column, found in ((NUMBERS, numbers), (LABELS, labels)):
        guess = 0.5 + 0.5 * (worst_guess(column.laws) - 0.5)
        ours = least_error(found[OURS], guess)
        for method in (PRAM, RESPONSE, CONSTANT):
            assert ours.error < least_error(found[method], guess).error
    assert least_error([], 0.6) is None


def test_a_frontier_falls(numbers):
    for points in numbers.values():
        guesses, errors = frontier(points)
        assert guesses == sorted(guesses)
        assert errors == sorted(errors, reverse=True)


def test_the_table_marks_the_least_error_and_counts(numbers):
    lines = command.compared("x", NUMBERS, numbers)
    assert len(lines) == len(command.GAINS)
    assert all(sum(cell.startswith("**") for cell in line) >= 1 for line in lines)
    assert "of 3 lines" in command.table(lines)


def test_pictures_are_drawn_for_every_column(numbers, labels):
    import matplotlib.pyplot as plt

    figure = picture([("a", numbers), ("b", labels)])
    shown = [axis.get_title() for axis in figure.axes]
    assert shown[:2] == ["a", "b"]
    assert {text.get_text() for text in figure.legends[0].get_texts()} == set(METHODS)
    plt.close(figure)


def test_the_bundled_columns_are_counted():
    found = dict(bundled())
    assert len(found) == len(BUNDLED)
    adult = found["adult: education-num by race"]
    assert adult.is_number
    assert adult.counts.sum(axis=1).tolist() == [406, 41_762]
