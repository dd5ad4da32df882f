"""Runs of neighbouring laws: nothing lies outside its corners, and no pair that counts is cleared with its run."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_extreme_laws import exact_points, shapes

from how_many import some_of
from oracles import gaussian_ball
from takifugu import Mixture
from takifugu.channels.gaussian import GaussianNoise
from takifugu.divergences.gaussians import upper_losses
from takifugu.mechanisms import worst_case as gaussians
from takifugu.mechanisms import worst_case as looking
from takifugu.mechanisms import worst_case as runs
from takifugu.mechanisms.least_noise import Exact
from takifugu.mechanisms.worst_case import Runs
from takifugu.problems import RenyiDivergence
from takifugu.problems.problem import Pairs, Problem

seeds = st.integers(0, 2**32 - 1)
BENT = ("circle", "far", "random", "spike", "lattice")


@pytest.mark.parametrize("shape", shapes)
@settings(max_examples=5)
@given(seed=seeds, length=st.sampled_from([2, 7, 16, 64]))
def test_every_law_lies_between_the_corners_of_its_run(shape, seed, length):
    means, stds = shapes[shape](np.random.default_rng(seed), 50)
    found = Runs(means, stds)
    points = exact_points(means[found._order], stds[found._order])
    corners = found._corners(length)
    assert len(corners.means) == math.ceil(len(points) / length)
    for k, (m, s) in enumerate(zip(corners.means, corners.stds, strict=True)):
        (left, low_left), (right, low_right), (_, top_left), (_, top_right) = exact_points(m, s)
        for mean, variance in points[k * length : (k + 1) * length]:
            assert left <= mean <= right
            share = (mean - left) / (right - left) if right > left else Fraction(0)
            assert low_left + share * (low_right - low_left) <= variance
            assert variance <= top_left + share * (top_right - top_left)


@pytest.mark.parametrize("shape", BENT)
@settings(max_examples=some_of(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=seeds)
def test_what_never_comes_is_cleared(shape, seed, monkeypatch):
    monkeypatch.setattr(runs, "_FIRST", 3)
    monkeypatch.setattr(runs, "_MOST", 5)  # pieces small enough to be cut
    rng = np.random.default_rng(seed)
    means, stds = shapes[shape](rng, 40)
    alpha, theta = 1 + 10 ** rng.uniform(-1, 1), float(np.ptp(means) + stds.max())

    def bound(gap, p, q):
        return upper_losses(gap, p, q, alpha=alpha, theta=theta)

    i, j = np.indices((40, 40)).reshape(2, -1)
    limit = float(np.quantile(bound(means[i] - means[j], stds[i], stds[j]), 0.9))
    come = {
        pair
        for a, b in Runs(means, stds).pairs_left(bound, lambda losses: losses <= limit)
        for pair in zip(a.tolist(), b.tolist(), strict=True)
    }
    for a, b in {(a, b) for a in range(40) for b in range(40)} - come:
        assert gaussian_ball(means[a], stds[a], means[b], stds[b], alpha=alpha, theta=theta) <= limit


@pytest.mark.parametrize("shape", BENT)
@settings(max_examples=some_of(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=seeds)
def test_the_noise_is_that_of_all_pairs(shape, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    means, stds = shapes[shape](rng, 300)
    laws = [Mixture.gaussian(*law) for law in zip(means.tolist(), stds.tolist(), strict=True)]
    alpha, epsilon = 1 + 10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(-2, 1)
    monkeypatch.setattr(runs, "_FIRST", 4)
    problem = Problem.of(dict(enumerate(laws)))
    found = []
    for many in (10**9, 8):
        monkeypatch.setattr(gaussians, "MANY", many)
        monkeypatch.setattr(looking, "MANY", many)
        least = Exact().least_variance_over(laws, Pairs(range(len(laws))), alpha=alpha, epsilon=epsilon)
        largest = looking.worst(problem, GaussianNoise(math.sqrt(least.variance)), RenyiDivergence(alpha)).loss
        found.append((least.variance, largest))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-10)
    assert found[1][1] == pytest.approx(found[0][1], rel=1e-9)


def test_where_nothing_is_cleared_every_pair_comes_in_pieces():
    turn = np.random.default_rng(0).uniform(0, 2 * np.pi, 2_000)
    means, stds = 1e-14 * np.cos(turn) + (turn > 3), np.ones(2_000)  # two heaps that floats hardly tell apart
    seen = np.zeros((2_000, 2_000), dtype=bool)
    for i, j in Runs(means, stds).pairs_left(lambda gap, p, q: np.full(gap.shape, np.inf), lambda losses: losses < 0):
        assert len(i) <= runs._BLOCK_RUNS * runs._LEAST**2
        seen[i, j] = True
    assert seen.all()


def test_a_hundred_thousand_on_a_circle():
    turn = np.random.default_rng(0).uniform(0, 2 * np.pi, 100_000)
    means, stds = np.cos(turn), np.sqrt(2 + np.sin(turn))
    count = 0

    def bound(gap, p, q):
        return upper_losses(gap, p, q, alpha=3.0, theta=3.249873)

    for i, _ in Runs(means, stds).pairs_left(bound, lambda losses: losses <= 0.5 * (1 - 1e-7)):
        count += len(i)
    assert count < 100_000  # of ten thousand million
