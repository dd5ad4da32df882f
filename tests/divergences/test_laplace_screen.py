"""Bounds on the odds of many laws at once, against the certified supremum of each pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from random_priors import mixture
from takifugu.divergences import (
    decide_odds_after_laplace,
    decide_renyi_after_laplace,
    odds_after_laplace,
    renyi_after_laplace,
    screen_odds_after_laplace,
    screen_renyi_after_laplace,
)
from takifugu.mechanisms import least_noise as searching
from takifugu.mechanisms import worst_case
from takifugu.problems import MaxDivergence, Problem


def laws_of(rng, kind, n=5):
    if kind == "points":
        return [tk.Mixture.empirical(np.arange(6.0), rng.dirichlet(np.ones(6))) for _ in range(n)]
    if kind == "normals":
        return [tk.Mixture.gaussian(rng.normal() * 3, 10 ** rng.uniform(-1, 1)) for _ in range(n)]
    points = [tk.Mixture([0.4, 0.6], rng.normal(size=2), [0.0, 10 ** rng.uniform(-2, 1)]) for _ in range(2)]
    return [*(mixture(rng, most=3, spread=2.0, decades=0.5) for _ in range(n - 2)), *points]


@settings(max_examples=some_of(60), deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["points", "normals", "mixed"]), st.floats(-1, 1.5), st.floats(0.02, 4)
)
def test_the_truth_lies_between_what_is_attained_and_the_bound(seed, kind, decade, epsilon):
    laws = laws_of(np.random.default_rng(seed), kind)
    scale = 10.0**decade
    attained, bound = screen_odds_after_laplace(laws, scale=scale, epsilon=epsilon)
    for i, p in enumerate(laws):
        for j, q in enumerate(laws):
            if i == j:
                assert (attained[i, j], bound[i, j]) == (0, 0)
                continue
            truth = odds_after_laplace(p, q, scale=scale)
            assert attained[i, j] <= truth * (1 + 1e-9) + 1e-9
            assert truth <= bound[i, j]
            if np.isfinite(bound[i, j]) and bound[i, j] > 0:  # the float is no oracle: balls say so too
                holds = decide_odds_after_laplace(p, q, scale=scale, epsilon=float(bound[i, j]) + 1e-9).holds
                assert holds is not False


@settings(max_examples=some_of(60), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["points", "normals", "mixed"]),
    st.floats(-1, 1.5),
    st.floats(0.02, 4),
    st.sampled_from([1.1, 2.0, 5.0, 30.0]),
)
def test_a_finite_order_lies_between_what_is_attained_and_the_bound(seed, kind, decade, epsilon, alpha):
    laws = laws_of(np.random.default_rng(seed), kind, n=4)
    scale = 10.0**decade
    attained, bound = screen_renyi_after_laplace(laws, alpha=alpha, scale=scale, epsilon=epsilon)
    for i, p in enumerate(laws):
        for j, q in enumerate(laws):
            if i == j:
                assert (attained[i, j], bound[i, j]) == (0, 0)
                continue
            truth = renyi_after_laplace(p, q, alpha=alpha, scale=scale)
            assert attained[i, j] <= truth * (1 + 1e-9) + 1e-9
            assert truth * (1 - 1e-9) <= bound[i, j]


def test_balls_refute_no_bound_on_a_finite_order():
    for seed, kind in enumerate(("points", "normals", "mixed")):
        laws = laws_of(np.random.default_rng(seed), kind, n=4)
        attained, bound = screen_renyi_after_laplace(laws, alpha=3.0, scale=1.5, epsilon=0.5)
        for i, j in ((0, 1), (2, 3), (3, 0)):
            more = decide_renyi_after_laplace(laws[i], laws[j], alpha=3.0, scale=1.5, epsilon=float(bound[i, j]))
            less = decide_renyi_after_laplace(
                laws[i], laws[j], alpha=3.0, scale=1.5, epsilon=float(attained[i, j]) * (1 - 1e-9) + 1e-300
            )
            assert more.holds is not False
            assert less.holds is not True
            assert bound[i, j] <= attained[i, j] + 0.06


@pytest.mark.parametrize("kind", ["normals", "mixed"])
def test_the_search_at_a_finite_order_is_that_of_every_place_by_itself(kind, monkeypatch):
    laws = dict(enumerate(laws_of(np.random.default_rng(3), kind, n=5)))
    found = tk.calibrate(laws, alpha=2, epsilon=0.7, mechanism="laplace")
    with monkeypatch.context() as patched:
        patched.setattr(searching, "_FEW_PLACES", 10**6)
        patched.setattr(searching, "uncleared", lambda problem, *_: list(problem.places()))
        alone = tk.calibrate(laws, alpha=2, epsilon=0.7, mechanism="laplace")
        assert found.meets_budget()
    assert found.channel.scale == pytest.approx(alone.channel.scale, rel=1e-9)
    assert found.worst_pair == alone.worst_pair


@pytest.mark.parametrize("kind", ["points", "normals", "mixed"])
def test_the_search_is_that_of_every_place_by_itself(kind, monkeypatch):
    for seed in range(some_of(4)):
        laws = dict(enumerate(laws_of(np.random.default_rng(seed), kind, n=6)))
        found = tk.calibrate(laws, odds=2.5)
        problem = Problem.of(laws)
        largest = worst_case.worst(problem, found.channel, MaxDivergence())
        assert largest.loss == max(found.losses.values())
        with monkeypatch.context() as patched:
            patched.setattr(searching, "_FEW_PLACES", 10**6)
            patched.setattr(searching, "uncleared", lambda problem, *_: list(problem.places()))
            alone = tk.calibrate(laws, odds=2.5)
            assert found.meets_budget()
        assert found.channel.scale == pytest.approx(alone.channel.scale, rel=1e-10)
        assert found.meets_budget()
        tk.verify(tk.certify(found))


@pytest.mark.parametrize("span", [1e6, 1e9, 1e11, 1e13])
def test_points_far_apart_beside_the_noise_lose_their_digits_and_no_pair_is_cleared_for_it(span):
    """Logarithms as large as the span over the scale hold few digits after the point: that much is allowed for."""
    for seed in range(some_of(20)):
        rng = np.random.default_rng(seed)
        laws = [
            tk.Mixture(rng.dirichlet(np.ones(7)), np.append(rng.random(4) * 2, span + rng.random(3) * 2), np.zeros(7))
            for _ in range(2)
        ]
        attained, bound = screen_odds_after_laplace(laws, scale=1.0, epsilon=1.0)
        for i, j in ((0, 1), (1, 0)):
            assert attained[i, j] <= bound[i, j]
            assert decide_odds_after_laplace(laws[i], laws[j], scale=1.0, epsilon=float(bound[i, j])).holds is not False
            low = float(attained[i, j]) * (1 - 1e-9)
            if low > 0:
                assert decide_odds_after_laplace(laws[i], laws[j], scale=1.0, epsilon=low).holds is not True


@pytest.mark.parametrize("offset", [0.0, 1e5, 1e8, 1.7e9, 1e15])
def test_an_offset_that_all_laws_share_changes_nothing(offset):
    for seed in range(some_of(20)):
        rng = np.random.default_rng(seed)
        laws = {k: tk.Mixture.empirical(np.arange(4.0) + offset, rng.dirichlet(np.ones(4))) for k in range(4)}
        channel = tk.LaplaceNoise(2.0)
        found = worst_case.closest(Problem.of(laws), channel, tk.Odds(3))
        every = [channel.loss(p, q, MaxDivergence()) for p in laws.values() for q in laws.values() if p is not q]
        assert found.loss == max(every) > 0


def test_what_cannot_be_resolved_is_not_cleared():
    for laws in (
        [tk.Mixture.gaussian(1e17, 1), tk.Mixture.gaussian(-1e17, 1)],
        [tk.Mixture.gaussian(0, 1e300), tk.Mixture.gaussian(1, 1e-300)],
        [tk.Mixture.gaussian(0, 1), tk.Mixture([1e-300, 1], [1e12, 0], [0, 0])],
    ):
        for scale in (1e-12, 1.0, 1e12):
            assert not np.isnan(screen_renyi_after_laplace(laws, alpha=2.0, scale=scale, epsilon=1.0).bound).any()
            bound = screen_odds_after_laplace(laws, scale=scale, epsilon=1.0).bound
            assert not np.isnan(bound).any()
            for i, j in ((0, 1), (1, 0)):
                if laws[0].stds.max() > 1e200:  # where floats tell nothing no bound may be finite
                    assert bound[i, j] == np.inf
                    continue
                with np.errstate(all="ignore"):
                    truth = odds_after_laplace(laws[i], laws[j], scale=scale)
                assert truth <= bound[i, j] or np.isnan(truth)
