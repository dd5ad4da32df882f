import dataclasses
import json
import math
import pickle
from functools import cache

import numpy as np
import pytest
from fits_of_scikit_learn import COLUMNS, FILE, MOST, best_of_scikit_learn, draw
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from how_many import some_of
from takifugu import InputError, Mixture
from takifugu.laws.fitting.fit import fit


@cache
def fit_of(name):
    return fit(COLUMNS[name])


def likelihood(values, mixture):
    return float(np.log(mixture.pdf(np.asarray(values, dtype=float))).sum())


@pytest.mark.parametrize("name", COLUMNS)
def test_scikit_learn_finds_no_better_fit_of_any_size(name):
    values, stored = COLUMNS[name], json.loads(FILE.read_text())[name]
    found = fit(values, max_components=MOST)
    assert found.min_std == pytest.approx(stored["min_std"], rel=1e-12)  # else it was asked something else
    assert 1 <= len(found.bics) <= len(stored["best"])
    for size, (bic, theirs) in enumerate(zip(found.bics, stored["best"], strict=False), start=1):
        ours = -0.5 * (bic - (3 * size - 1) * math.log(len(values)))
        assert ours >= theirs - 1e-6 * abs(theirs)


@pytest.mark.parametrize(("name", "size"), [("uniform", 2), ("apart", 2), ("one normal", 1)])
def test_what_scikit_learn_found_is_what_it_finds(name, size):
    stored = json.loads(FILE.read_text())[name]
    found = best_of_scikit_learn(COLUMNS[name], size, stored["min_std"])
    assert found == pytest.approx(stored["best"][size - 1], rel=1e-6)


@pytest.mark.parametrize("name", COLUMNS)
def test_the_report_is_about_the_mixture(name):
    values = COLUMNS[name]
    found = fit(values, max_components=4)
    mixture = found.mixture
    assert found.log_likelihood == pytest.approx(likelihood(values, mixture), rel=1e-9)
    assert found.bic == pytest.approx(-2 * found.log_likelihood + (3 * len(mixture) - 1) * math.log(len(values)))
    assert found.bic == min(found.bics) == found.bics[len(mixture) - 1]
    assert found.samples == len(values)
    assert found.converged
    assert found.hit_limit == (len(mixture) == 4)
    assert (np.diff(mixture.means) >= 0).all()
    assert (mixture.stds >= found.min_std * (1 - 1e-15)).all()
    assert mixture.weights.min() * len(values) > 1e-3
    assert Mixture.fit(values, max_components=4) == mixture


def test_counts_are_the_same_as_rows():
    values = COLUMNS["grades"]
    points, counts = np.unique(values, return_counts=True)
    shuffled = np.random.default_rng(0).permutation(values)
    assert fit(points, counts) == fit_of("grades") == fit(shuffled)


def test_known_mixture_is_found():
    # Rounded, so that few of so many are distinct: it takes a twentieth of the time, and moves no figure that is held.
    found = fit(np.round(draw(9, [0.3, 0.7], [0, 20], [1, 3], 20_000), 1)).mixture
    np.testing.assert_allclose(found.weights, [0.3, 0.7], atol=0.01)
    np.testing.assert_allclose(found.means, [0, 20], atol=0.1)
    np.testing.assert_allclose(found.stds, [1, 3], rtol=0.03)


def test_the_same_seed_gives_the_same_fit_and_pickles():
    values = COLUMNS["overlapping"]
    found = fit(values, seed=3)
    assert fit(values, seed=3) == found
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.bic = 0.0


HUNDREDTHS = np.round(COLUMNS["apart"][:80], 2)


@cache
def fit_of_hundredths():
    return fit(HUNDREDTHS, max_components=3)


@settings(max_examples=some_of(20), deadline=None)
@given(st.integers(-40, 40), st.integers(-1000, 1000))
def test_shifting_and_scaling_the_data_shifts_and_scales_the_fit(power, shift):
    values = HUNDREDTHS
    plain, moved = fit_of_hundredths(), fit((values + shift) * 2.0**power, max_components=3)
    np.testing.assert_allclose(moved.mixture.means, (plain.mixture.means + shift) * 2.0**power, rtol=1e-5)
    np.testing.assert_allclose(moved.mixture.stds, plain.mixture.stds * 2.0**power, rtol=1e-4)
    per_sample = power * math.log(2) * len(values)
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood - per_sample, abs=1e-4)


class TestFloor:
    def test_rounded_data(self):
        found = fit_of("grades")
        assert found.resolution == 1.0
        assert found.min_std == pytest.approx(1 / math.sqrt(12))

    def test_tenths_despite_float_arithmetic(self):
        steps = np.repeat(np.arange(30), 5)
        values = np.concatenate([steps * 0.1, steps / 10])
        assert fit(values, max_components=2).resolution == pytest.approx(0.1)

    def test_continuous_data(self):
        found = fit_of("one normal")
        assert found.resolution is None
        assert 0 < found.min_std < 0.01 * np.std(COLUMNS["one normal"])

    def test_no_component_for_a_chance_cluster(self):
        chosen = [len(fit(draw(seed, [1], [0], [1], 200), max_components=4).mixture) for seed in range(20)]
        assert sorted(chosen)[-3] == 1  # BIC itself errs now and then

    def test_the_one_asked_for(self):
        found = fit(COLUMNS["grades"], min_std=2.0)
        assert found.min_std == 2.0
        assert found.mixture.stds.min() >= 2.0

    def test_three_quarters_of_the_step_undo_the_rounding(self):
        values = np.round(draw(12, [1], [10], [3], 40_000))
        assert len(fit(values, min_std=0.75).mixture) == 1

    def test_narrow_groups_far_apart_keep_their_width(self):
        values = draw(11, [0.5, 0.5], [0, 1e6], [1, 1], 200)
        np.testing.assert_allclose(fit(values).mixture.stds, [1, 1], rtol=0.2)


class TestSmallAndStrange:
    @pytest.mark.parametrize("value", [0.0, 7.0, -1e300, 1e-300, 1.7e308])
    def test_one_value_is_a_point(self, value):
        for values in ([value], [value] * 9):
            found = fit(values)
            assert found.mixture == Mixture.gaussian(value, 0.0)
            assert (found.log_likelihood, found.bic, found.min_std) == (math.inf, -math.inf, 0.0)

    def test_one_value_with_a_width(self):
        found = fit([7.0, 7.0], min_std=0.5)
        assert found.mixture == Mixture.gaussian(7.0, 0.5)
        assert found.log_likelihood == pytest.approx(likelihood([7.0, 7.0], found.mixture))

    def test_two_values(self):
        assert fit([3.0, 4.0]).mixture == Mixture.gaussian(3.5, 0.5)
        lopsided = fit([3.0, 4.0], [500, 500])
        assert lopsided.mixture.mean == pytest.approx(3.5)
        assert len(fit([0.0, 0.0, 0.0, 9.0, 9.0, 9.0]).bics) == 2

    @pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-160, 1e160, 1e300])
    def test_any_magnitude(self, scale):
        found = fit(np.array([-3, -3, -2, -2, 40, 41, 41, 42]) * scale)
        assert found.mixture.means.min() == pytest.approx(-2.5 * scale, rel=0.3)
        assert found.mixture.stds.max() < 3 * scale

    def test_opposite_ends_of_the_floats(self):
        for values in ([-1.7e308, 1.7e308], [-1.7e308, 1.7e308] * 3, [-1.7e308, 5e-324, 1.0, 1.7e308]):
            found = fit(values)
            assert np.isfinite(found.mixture.stds).all()
            assert math.isfinite(found.log_likelihood)

    def test_an_absurd_outlier(self):
        found = fit(np.append(COLUMNS["one normal"], 1e300))
        assert math.isfinite(found.log_likelihood)

    def test_a_large_offset(self):
        values = np.round(COLUMNS["apart"], 1)
        near, far = fit(values), fit(values + 1e9)
        np.testing.assert_allclose(far.mixture.means - 1e9, near.mixture.means, atol=1e-4)
        np.testing.assert_allclose(far.mixture.stds, near.mixture.stds, rtol=1e-4)

    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
    @settings(max_examples=some_of(60), deadline=None)
    def test_any_floats_at_all(self, values):
        found = fit(values, max_components=3, n_starts=2)
        assert not math.isnan(found.log_likelihood)
        low, high = min(values), max(values)
        slack = 1e-9 * max(abs(low), abs(high))
        assert (found.mixture.means >= low - slack).all()
        assert (found.mixture.means <= high + slack).all()

    def test_many_distinct_values(self):
        values = draw(13, [0.5, 0.5], [0, 5], [1, 2], 6000)
        found = fit(values, max_components=3)
        assert len(found.mixture) == 2
        peer = GaussianMixture(2, tol=1e-8, max_iter=1000, random_state=0).fit(values[:, None])
        theirs = float(peer.score(values[:, None])) * len(values)
        assert found.log_likelihood >= theirs - 1e-6 * abs(theirs)


class TestWeights:
    def test_fractions_of_samples(self):
        halves = fit([0, 1, 2, 3, 50, 51, 52], [10.5, 20.5, 20.5, 10.5, 7.5, 15.5, 7.5])
        assert halves.samples == 92.5
        assert len(halves.mixture) == 2

    def test_proportions_stand_for_the_rows(self):
        values = COLUMNS["apart"]
        found = fit(values, np.full(len(values), 1 / len(values)))
        assert found.samples == pytest.approx(len(values))
        np.testing.assert_allclose(found.mixture.means, fit_of("apart").mixture.means, rtol=1e-6)

    def test_values_without_weight_do_not_count(self):
        assert fit([1, 2, 2, 3, 1e9], [1, 1, 1, 1, 0]) == fit([1, 2, 2, 3])

    def test_the_limits_on_the_number_of_components(self):
        assert len(fit([1, 1, 2, 2, 3, 3]).bics) == 3
        assert len(fit([1.0, 2.0, 4.0, 8.0], max_components=2).bics) == 2


class TestBadInput:
    @pytest.mark.parametrize("bad", ["abc", [], [math.nan], [math.inf, 1], [[1, 2]], ["1"], [True], None, 5])
    def test_values(self, bad):
        with pytest.raises(InputError, match="values"):
            Mixture.fit(bad)

    @pytest.mark.parametrize("bad", [[1], [1, -1], [0, 0], "ab", [1, math.nan]])
    def test_weights(self, bad):
        with pytest.raises(InputError, match="weights"):
            fit([1.0, 2.0], bad)

    @pytest.mark.parametrize("name", ["max_components", "n_starts"])
    @pytest.mark.parametrize("bad", [0, -1, 2.0, "2", True, None])
    def test_counts(self, name, bad):
        with pytest.raises(InputError, match=f"{name} must be a whole number, 1 or more, got"):
            fit([1.0, 2.0], **{name: bad})

    @pytest.mark.parametrize("bad", [-1, 0.5, None, "x"])
    def test_seed(self, bad):
        with pytest.raises(InputError, match="seed must be a whole number, 0 or more, got"):
            fit([1.0, 2.0], seed=bad)

    @pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, "1", True])
    def test_min_std(self, bad):
        with pytest.raises(InputError, match="min_std must be None or a finite number above 0, got"):
            fit([1.0, 2.0], min_std=bad)

    def test_min_std_in_another_unit(self):
        with pytest.raises(InputError, match="check its unit"):
            fit([1e-300, 2e-300], min_std=1e3)
