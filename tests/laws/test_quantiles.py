import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from how_many import some_of
from takifugu import Mixture
from takifugu.laws.mixture import quantile_at_score

levels = st.one_of(st.floats(1e-300, 0.5), st.floats(1e-6, 1 - 1e-6))
finite = st.floats(-1e6, 1e6)
widths = st.floats(1e-6, 1e6)


@given(finite, widths, levels)
def test_one_normal_matches_scipy(mean, std, u):
    found = Mixture.gaussian(mean, std).quantile(u)
    assert found == pytest.approx(mean + std * stats.norm.ppf(u), rel=1e-12, abs=1e-12 * std)


@st.composite
def pairs(draw):
    share = draw(st.floats(0.01, 0.99))
    return Mixture([share, 1 - share], [draw(finite), draw(finite)], [draw(widths), draw(widths)])


@given(pairs(), levels)
def test_round_trip_of_two_normals(mixture, u):
    x = mixture.quantile(u)
    below = math.nextafter(x, -math.inf)
    # cdf is steep where a component is narrow far from zero: neighbouring floats then bracket the level
    assert mixture.cdf(below) * (1 - 1e-9) <= u <= mixture.cdf(x) * (1 + 1e-9)


@settings(max_examples=some_of(100))
@given(st.floats(0.01, 0.99), finite, finite, widths, levels)
def test_a_point_beside_a_normal(share, point, mean, std, u):
    mixture = Mixture([share, 1 - share], [point, mean], [0.0, std])
    x = mixture.quantile(u)
    below = math.nextafter(x, -math.inf)
    assert mixture.cdf(below) * (1 - 1e-9) <= u <= mixture.cdf(x) * (1 + 1e-9)
    lower = (1 - share) * stats.norm.cdf(point, mean, std)
    if lower * (1 + 1e-9) < u < (lower + share) * (1 - 1e-9):
        assert x == point


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30), st.floats(0, 1))
def test_points_follow_the_definition(values, u):
    found = Mixture.empirical(values).quantile(u)
    ordered = sorted(values)
    least = next(x for x in ordered if sum(v <= x for v in values) >= u * len(values) * (1 - 1e-12))
    assert found == least


def test_the_levels_where_a_point_ends():
    mixture = Mixture([0.25, 0.75], [0.0, 100.0], [0.0, 1.0])
    assert mixture.quantile([0.1, 0.25]).tolist() == [0.0, 0.0]
    assert mixture.quantile(0.2500001) > 90


def test_the_ends():
    assert Mixture.empirical([1, 2, 3]).quantile([0, 1]).tolist() == [1.0, 3.0]
    assert Mixture.gaussian(0, 1).quantile([0, 1]).tolist() == [-math.inf, math.inf]
    assert Mixture([0.5, 0.5], [0, 1], [0, 1]).quantile([0, 1]).tolist() == [-math.inf, math.inf]


def test_a_narrow_component_far_from_a_wide_one():
    mixture = Mixture([0.5, 0.5], [0.0, 1e12], [1e-12, 1.0])
    assert mixture.quantile(0.125) == pytest.approx(-6.744897501960817e-13, rel=1e-12)


def test_many_points_beside_a_normal_match_a_slow_search():
    rng = np.random.default_rng(0)
    mixture = Mixture(np.full(40, 0.025), rng.normal(size=40) * 10, np.append(np.zeros(39), 3.0))
    for u in rng.random(25):
        x = mixture.quantile(u)
        low, high = -1e3, 1e3
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if mixture.cdf(middle) >= u else (middle, high)
        assert x == pytest.approx(high, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300, 1.7e308])
def test_extreme_magnitudes(scale):
    mixture = Mixture([0.5, 0.5], [-scale, scale], [0.0, scale / 4])
    found = mixture.quantile([0.0, 0.3, 0.9, 0.999999999])
    assert not np.isnan(found).any()
    assert found[1] == -scale
    assert (found[1:] >= found[:-1]).all()


def test_scores_reach_where_levels_cannot():
    normal = Mixture.gaussian(1.0, 2.0)
    scores = np.array([-60.0, -9.0, 0.0, 9.0, 60.0])
    np.testing.assert_allclose(quantile_at_score(normal, scores), 1 + 2 * scores, rtol=1e-12)
    points = Mixture.empirical([1, 2])
    assert quantile_at_score(points, np.array([-1.0, 1.0])).tolist() == [1.0, 2.0]


@settings(max_examples=some_of(100))
@given(pairs())
def test_quantiles_never_decrease(mixture):
    assert (np.diff(mixture.quantile(np.linspace(0, 1, 41)[1:-1])) >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_many_together_are_those_of_a_few_at_a_time(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 7))
    spread = 10.0 ** rng.uniform(-3, 6)
    stds = rng.uniform(0.01, 1, size) * (rng.random(size) < 0.7)
    stds[0] = 1.0
    law = Mixture(rng.dirichlet(np.ones(size)), spread * rng.normal(0, 1, size), stds)
    scores = rng.permutation(np.linspace(-12, 12, 700))
    together = quantile_at_score(law, scores)
    apart = np.concatenate([quantile_at_score(law, part) for part in np.array_split(scores, 10)])
    # Both end at neighbouring floats; a tail that is rounded may move that place by a few of them.
    np.testing.assert_allclose(together, apart, rtol=1e-14, atol=1e-14 * spread)


def test_many_quantiles_of_laws_as_far_apart_as_floats_go():
    law = Mixture([0.5, 0.5], [-1.7e308, 1.7e308], [1.0, 1.0])
    scores = np.linspace(-3, 3, 601)
    scores = scores[np.abs(scores) > 0.1]
    np.testing.assert_allclose(quantile_at_score(law, scores), 1.7e308 * np.sign(scores), rtol=1e-15)
