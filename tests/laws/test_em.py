import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax
from scipy.stats import norm

from how_many import some_of
from takifugu.laws.fitting.em import Batch, Data, climb, fresh_starts, merges, splits, step
from takifugu.laws.fitting.fit import fit, least_std, narrowest_window


def likelihood(data, weights, means, variances):
    """Straight from the definition, sharing no code with the EM."""
    with np.errstate(divide="ignore"):
        parts = np.log(weights) + norm.logpdf(data.x[:, None], means, np.sqrt(variances))
    return float(data.w @ logsumexp(parts, axis=1))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    size, rows, values = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(2, 40))
    floor = draw(st.sampled_from([1e-6, 0.01, 0.2, 0.9]))
    x = np.unique(rng.uniform(-1, 1, values))
    data = Data(x / np.abs(x).max(), rng.uniform(0.1, 9, len(x)))
    variances = np.maximum(rng.uniform(0, 0.7, (rows, size)) ** 2, floor**2)
    return data, Batch(rng.dirichlet(np.ones(size), rows), rng.uniform(-1, 1, (rows, size)), variances), floor


@given(problems())
def test_a_step_never_loses_likelihood_and_keeps_the_floor(problem):
    data, batch, floor = problem
    values, after = step(data, batch, floor)
    for row in range(len(values)):
        before = likelihood(data, *(part[row] for part in batch))
        assert values[row] == pytest.approx(before, rel=1e-9, abs=1e-9)
        assert likelihood(data, *(part[row] for part in after)) >= before - 1e-9 * (1 + abs(before))
    assert (after.variances >= floor * floor).all()
    np.testing.assert_allclose(after.weights.sum(axis=1), 1.0, rtol=1e-12)


@given(problems())
def test_the_clipped_variance_is_the_best_allowed(problem):
    data, batch, floor = problem
    one = Batch(*(part[:1] for part in batch))
    _, after = step(data, one, floor)
    with np.errstate(divide="ignore"):
        dense = np.log(one.weights) + norm.logpdf(data.x[:, None], one.means, np.sqrt(one.variances))
    share = data.w[:, None] * softmax(dense, axis=1)

    def surrogate(variances):
        return (share * norm.logpdf(data.x[:, None], after.means, np.sqrt(variances))).sum()

    best = surrogate(after.variances)
    for factor in (1.0, 1.01, 1.3, 2.0, 10.0, 0.99, 0.7, 0.3):
        other = np.maximum(after.variances * factor, floor * floor)
        assert surrogate(other) <= best + 1e-9 * (1 + abs(best))


@settings(max_examples=some_of(100))
@given(problems())
def test_a_climb_never_ends_below_its_start(problem):
    data, batch, floor = problem
    begin, _ = step(data, batch, floor)
    values = begin
    for cycles in (1, 3, 10):
        climbed = climb(data, batch, floor, tolerance=0.0, cycles=cycles)
        slack = 1e-9 * (1 + np.abs(begin))
        assert (climbed.log_likelihood >= values - slack).all()
        values = climbed.log_likelihood
        for row, value in enumerate(values):
            told = likelihood(data, *(part[row] for part in climbed.batch))
            assert told == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_extrapolation_beats_plain_em_on_a_slow_problem():
    rng = np.random.default_rng(5)
    x = np.sort(np.concatenate([rng.normal(-0.1, 0.15, 200), rng.normal(0.15, 0.15, 200)])).clip(-1, 1)
    data = Data(x, np.ones(len(x)))
    plain = Batch(np.array([[0.5, 0.5]]), np.array([[-0.3, 0.3]]), np.array([[0.05, 0.05]]))
    fast = climb(data, plain, 1e-3, tolerance=0.0, cycles=40)
    for _ in range(fast.steps):
        value, plain = step(data, plain, 1e-3)
    assert fast.log_likelihood[0] >= value[0]


def test_blocks_do_not_change_the_result():
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(-1, 1, 40_000))
    data = Data(x, rng.integers(1, 5, len(x)).astype(float))
    batch = Batch(np.array([[0.5, 0.5]]), np.array([[-0.5, 0.5]]), np.array([[0.1, 0.2]]))
    value, _ = step(data, batch, 1e-3)
    assert value[0] == pytest.approx(likelihood(data, *(part[0] for part in batch)), rel=1e-12)


@given(problems(), st.integers(1, 8), st.integers(0, 5))
def test_starts_are_mixtures_and_repeatable(problem, size, seed):
    data, batch, floor = problem
    first = fresh_starts(data, size, floor, count=5, seed=seed)
    again = fresh_starts(data, size, floor, count=5, seed=seed)
    one = Batch(*(part[:1] for part in batch))
    grown = splits(one, floor)
    found = [first, grown, merges(grown.pick(np.array([0])))]
    for mine, its in zip(first, again, strict=True):
        assert np.array_equal(mine, its)
    assert first.weights.shape == (5, size)
    assert grown.weights.shape[1] == batch.weights.shape[1] + 1
    for candidates in found:
        np.testing.assert_allclose(candidates.weights.sum(axis=1), 1.0, rtol=1e-9)
        assert (candidates.variances >= floor * floor * (1 - 1e-12)).all()
        assert (np.abs(candidates.means) <= 1).all()


def test_merging_neighbours_keeps_mean_and_variance():
    fit = Batch(np.array([[0.2, 0.3, 0.5]]), np.array([[-0.5, 0.1, 0.6]]), np.array([[0.01, 0.04, 0.09]]))

    def moments(w, m, v):
        return w @ m, w @ (v + m * m)

    for row in range(3, 5):
        merged = moments(*(part[row] for part in merges(fit)))
        np.testing.assert_allclose(merged, moments(*(part[0] for part in fit)))


def test_condensing_keeps_weight_and_mean_and_order():
    rng = np.random.default_rng(0)
    x = np.sort(np.tanh(rng.normal(size=50_000)))
    data = Data(x, rng.integers(1, 4, len(x)).astype(float))
    small = data.condensed()
    assert len(small.x) < 4000
    assert (np.diff(small.x) > 0).all()
    assert small.w.sum() == data.w.sum()
    assert small.w @ small.x == pytest.approx(data.w @ data.x, rel=1e-9)
    assert small.condensed() is small or len(small.x) > 2048


class TestFloors:
    def test_rounded_values(self):
        floor, gap = least_std(np.array([0.0, 2.0, 5.0]), np.array([4.0, 1.0, 1.0]), repeats=True, rounding=0.0)
        assert gap == 2.0
        assert floor == pytest.approx(2 / math.sqrt(12))

    def test_gaps_of_float_arithmetic_are_not_the_step(self):
        x = np.array([0.3, 0.1 + 0.2, 0.7, 0.9])
        _, gap = least_std(x, np.full(4, 3.0), repeats=True, rounding=4e-16)
        assert gap == pytest.approx(0.2)

    def test_a_chance_repeat_does_not_open_the_door_to_spikes(self):
        x = np.sort(np.random.default_rng(0).normal(size=100))
        w = np.ones(100)
        w[3] = 2
        floor, gap = least_std(x, w, repeats=True, rounding=0.0)
        assert gap == np.diff(x).min()
        assert floor == narrowest_window(x, w) > gap

    def test_the_narrowest_window_is_the_least_of_all(self):
        rng = np.random.default_rng(1)
        x, w = np.sort(rng.normal(size=50)) + 1e6, rng.integers(1, 4, 50).astype(float)
        each = [math.sqrt(np.cov(x[i : i + 5], fweights=w[i : i + 5].astype(int), bias=True)) for i in range(46)]
        assert narrowest_window(x, w) == pytest.approx(min(each), rel=1e-6)


@pytest.mark.parametrize("code", [999.0, 1e16, 1e20, -9.96921e36, 1e90])
def test_a_code_far_beyond_the_values_does_not_widen_what_is_fitted_to_them(code):
    rng = np.random.default_rng(0)
    whole, smooth = rng.integers(0, 50, 200), rng.normal(size=200)
    for values, least in ((whole, 1 / math.sqrt(12)), (smooth, narrowest_window(np.sort(smooth), np.ones(200)))):
        found = fit(np.append(values, [code] * 4))
        alone = fit(values)
        beside = found.mixture.means != code
        assert found.min_std == pytest.approx(least, rel=0.5)
        assert found.mixture.stds[beside].max() <= 2 * max(alone.mixture.stds.max(), values.std())
