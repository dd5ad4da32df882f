import copy
import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from takifugu import InputError, Mixture


@st.composite
def mixtures(draw, points=True):
    size = draw(st.integers(1, 5))
    raw = draw(st.lists(st.floats(0.01, 1), min_size=size, max_size=size))
    means = draw(st.lists(st.floats(-50, 50), min_size=size, max_size=size))
    width = st.floats(0.01, 20)
    stds = draw(st.lists(st.one_of(st.just(0.0), width) if points else width, min_size=size, max_size=size))
    return Mixture(np.array(raw) / math.fsum(raw), means, stds)


TWO = Mixture([0.25, 0.75], [0.0, 4.0], [1.0, 2.0])


class TestIdentity:
    @pytest.mark.parametrize("name", ["weights", "means", "stds", "anything"])
    def test_attributes_cannot_be_set_or_deleted(self, name):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(TWO, name, [1.0])
        with pytest.raises(AttributeError, match="immutable"):
            delattr(TWO, name)

    def test_arrays_are_read_only_copies(self):
        means = np.array([0.0, 4.0])
        mixture = Mixture([0.25, 0.75], means, [1.0, 2.0])
        means[0] = 99.0
        assert mixture == TWO
        with pytest.raises(ValueError, match="read-only"):
            mixture.means[0] = 1.0

    def test_equal_mixtures_have_equal_hashes(self):
        same = Mixture([0.25, 0.75], [-0.0, 4.0], [1.0, 2.0])
        assert same == TWO
        assert hash(same) == hash(TWO)
        assert len({same, TWO}) == 1

    def test_different_mixtures_differ(self):
        assert Mixture([0.75, 0.25], [0.0, 4.0], [1.0, 2.0]) != TWO
        assert Mixture.gaussian(0.0, 1.0) != TWO
        assert TWO != "Mixture"

    @given(mixtures())
    def test_survives_pickle_and_copy(self, mixture):
        for twin in (pickle.loads(pickle.dumps(mixture)), copy.copy(mixture), copy.deepcopy(mixture)):
            assert twin == mixture
            assert hash(twin) == hash(mixture)
            assert not twin.weights.flags.writeable

    def test_repr_is_code_while_short(self):
        assert eval(repr(TWO)) == TWO
        assert repr(Mixture.gaussian(1, 2)) == "Mixture.gaussian(mean=1, std=2)"

    def test_repr_is_a_summary_where_long(self):
        text = repr(Mixture.empirical(range(100)))
        assert text == "<Mixture of 100 point masses, means 0 to 99, mean 49.5, std 28.8661>"
        assert "10 components" in repr(Mixture([0.1] * 10, range(10), [1.0] * 10))

    def test_weights_off_by_rounding_are_normalised(self):
        mixture = Mixture([0.3, 0.7 + 1e-10], [0, 1], [1, 1])
        assert math.fsum(mixture.weights) == pytest.approx(1, abs=1e-15)


BAD = "abc", b"1", [1.0, math.nan], [math.inf, 1.0], ["1", "2"], [True, False], [[1.0, 2.0]], [], 3.0, None


class TestBadInput:
    @pytest.mark.parametrize("bad", BAD)
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_each_list_must_be_finite_numbers(self, bad, place):
        lists = [[0.5, 0.5], [0.0, 1.0], [1.0, 1.0]]
        lists[place] = bad
        with pytest.raises(InputError, match=["weights", "means", "stds"][place]):
            Mixture(*lists)

    def test_the_position_of_a_nan_is_told(self):
        with pytest.raises(InputError, match="got nan at position 1"):
            Mixture([0.5, 0.5], [0.0, math.nan], [1.0, 1.0])

    def test_lengths_must_match(self):
        with pytest.raises(InputError, match="got 2, 1 and 3"):
            Mixture([0.5, 0.5], [0.0], [1.0, 1.0, 1.0])

    def test_signs(self):
        with pytest.raises(InputError, match=r"weights must be 0 or more, got -0\.5"):
            Mixture([-0.5, 1.5], [0, 1], [1, 1])
        with pytest.raises(InputError, match=r"stds must be 0 or more, got -1\.0"):
            Mixture([0.5, 0.5], [0, 1], [1, -1])

    @pytest.mark.parametrize("weights", [[0.5, 0.6], [0.0, 0.0], [1e300, 1e300]])
    def test_weights_must_sum_to_one(self, weights):
        with pytest.raises(InputError, match="must sum to 1"):
            Mixture(weights, [0, 1], [1, 1])

    @pytest.mark.parametrize("bad", ["1", None, math.nan, math.inf, True, [1.0], 1j, 10**400])
    def test_gaussian_takes_two_finite_numbers(self, bad):
        with pytest.raises(InputError, match="mean must be a finite number, got"):
            Mixture.gaussian(bad, 1.0)
        with pytest.raises(InputError, match="std must be a finite number, 0 or more, got"):
            Mixture.gaussian(0.0, bad)

    def test_gaussian_width_must_not_be_negative(self):
        with pytest.raises(InputError, match="0 or more, got -1"):
            Mixture.gaussian(0.0, -1)

    @pytest.mark.parametrize("bad", BAD)
    def test_empirical_takes_one_list_of_numbers(self, bad):
        with pytest.raises(InputError, match="values"):
            Mixture.empirical(bad)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [([1.0], "got 1 for 2"), ([1, -1], "0 or more, got -1"), ([0, 0], "all 0"), ("ab", "weights")],
    )
    def test_empirical_weights(self, weights, message):
        with pytest.raises(InputError, match=message):
            Mixture.empirical([1.0, 2.0], weights)

    @pytest.mark.parametrize("bad", ["x", None, [1.0, "y"], True, math.nan, [[1.0], [2.0, 3.0]]])
    @pytest.mark.parametrize("method", ["pdf", "cdf", "quantile"])
    def test_arguments_of_functions(self, method, bad):
        with pytest.raises(InputError, match="must be a number or an array of numbers"):
            getattr(TWO, method)(bad)

    @pytest.mark.parametrize("u", [-0.1, 1.1, math.inf])
    def test_levels_outside_zero_to_one(self, u):
        with pytest.raises(InputError, match=f"between 0 and 1, got {u}"):
            TWO.quantile([0.5, u])

    @pytest.mark.parametrize("size", [-1, 2.0, "3", True, None])
    def test_sample_sizes(self, size):
        with pytest.raises(InputError, match="size must be a whole number, 0 or more"):
            TWO.sample(size)

    @pytest.mark.parametrize("theta", [-1.0, math.nan, "1"])
    def test_noise(self, theta):
        with pytest.raises(InputError, match="theta must be"):
            TWO.with_noise(theta)

    def test_no_density_at_points(self):
        with pytest.raises(InputError, match=r"use cdf, or with_noise\(theta\)\.pdf"):
            Mixture.empirical([1, 2]).pdf(1.0)


class TestMoments:
    @given(mixtures())
    def test_mean_and_variance_match_exact_arithmetic(self, mixture):
        with mpmath.workdps(50):
            rows = [
                [mpmath.mpf(float(x)) for x in row]
                for row in zip(mixture.weights, mixture.means, mixture.stds, strict=True)
            ]
            total = mpmath.fsum(w for w, _, _ in rows)
            mean = mpmath.fsum(w * m for w, m, _ in rows) / total
            variance = mpmath.fsum(w * (s**2 + (m - mean) ** 2) for w, m, s in rows) / total
        assert mixture.mean == pytest.approx(float(mean), rel=1e-13, abs=1e-13)
        assert mixture.variance == pytest.approx(float(variance), rel=1e-12, abs=1e-300)
        assert mixture.std == pytest.approx(math.sqrt(variance), rel=1e-12, abs=1e-150)

    @pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300, 5e307])
    def test_any_magnitude(self, scale):
        mixture = Mixture([0.5, 0.5], [-scale, 3 * scale], [scale, scale])
        assert mixture.mean == pytest.approx(scale, rel=1e-3)
        assert mixture.std == pytest.approx(math.sqrt(5) * scale, rel=1e-3)
        assert mixture.cdf(mixture.mean) == pytest.approx(0.5, abs=1e-3)

    def test_the_least_float_is_a_width(self):
        assert Mixture.gaussian(0, 5e-324).std == 5e-324

    def test_variance_beyond_the_floats_is_infinite(self):
        assert Mixture.gaussian(0, 1e300).variance == math.inf

    def test_small_spread_far_from_zero(self):
        assert Mixture([0.5, 0.5], [1e300, 1e300], [1e-10, 1e-10]).variance == pytest.approx(1e-20)
        assert Mixture([0.5, 0.5], [1e9, 1e9 + 2], [0, 0]).variance == 1.0


class TestFunctions:
    @given(mixtures(points=False), st.floats(-100, 100))
    def test_density_and_distribution_match_scipy(self, mixture, x):
        parts = list(zip(mixture.weights, mixture.means, mixture.stds, strict=True))
        pdf = math.fsum(w * stats.norm.pdf(x, m, s) for w, m, s in parts)
        cdf = math.fsum(w * stats.norm.cdf(x, m, s) for w, m, s in parts)
        assert mixture.pdf(x) == pytest.approx(pdf, rel=1e-9, abs=1e-300)
        assert mixture.cdf(x) == pytest.approx(cdf, rel=1e-9, abs=1e-300)

    def test_shapes_are_kept(self):
        x = np.zeros((2, 3))
        assert TWO.pdf(x).shape == TWO.cdf(x).shape == TWO.quantile(x).shape == (2, 3)
        assert isinstance(TWO.cdf(0), float)

    def test_the_ends_of_the_line(self):
        assert TWO.cdf([-math.inf, math.inf]).tolist() == [0.0, 1.0]
        assert TWO.pdf([-math.inf, math.inf]).tolist() == [0.0, 0.0]

    def test_an_empty_point_leaves_the_density(self):
        assert Mixture([1.0, 0.0], [0, 0], [1, 0]).pdf(0.0) == Mixture.gaussian(0, 1).pdf(0.0)

    def test_a_point_counts_at_itself(self):
        mixture = Mixture([0.5, 0.5], [0, 1], [0, 0])
        assert mixture.cdf([-1e-300, 0.0, 0.5, 1.0]).tolist() == [0.0, 0.5, 0.5, 1.0]

    def test_noise_adds_variance(self):
        assert TWO.with_noise(3.0).variance == pytest.approx(TWO.variance + 9)
        with pytest.raises(InputError, match="stds must be finite"):
            Mixture.gaussian(0, 1.7e308).with_noise(1.7e308)

    def test_samples_follow_the_mixture(self):
        draws = TWO.sample(4000, seed=1)
        assert np.array_equal(draws, TWO.sample(4000, seed=1))
        assert stats.kstest(draws, TWO.cdf).pvalue > 1e-3
        assert TWO.sample(0).shape == (0,)


class TestShape:
    def test_empirical_merges_and_normalises(self):
        assert Mixture.empirical([3, 1, 3, 3]) == Mixture([0.25, 0.75], [1, 3], [0, 0])
        assert Mixture.empirical([2, 1, 5], [3, 1, 0]) == Mixture([0.25, 0.75], [1, 2], [0, 0])

    def test_simplified_sorts_merges_and_drops(self):
        messy = Mixture([0.25, 0.0, 0.5, 0.25], [2, 9, 1, 2], [1, 9, 0, 1])
        assert messy.simplified() == Mixture([0.5, 0.5], [1, 2], [0, 1])
        assert TWO.simplified() is TWO

    @given(mixtures(), st.floats(-100, 100))
    def test_simplified_is_the_same_distribution(self, mixture, x):
        assert mixture.simplified().cdf(x) == pytest.approx(mixture.cdf(x), abs=1e-14)

    def test_kinds(self):
        assert Mixture([0.5, 0.5], [1, 1], [2, 2]).is_gaussian
        assert not TWO.is_gaussian
        assert Mixture.empirical([1, 2]).is_discrete
        assert not TWO.is_discrete
