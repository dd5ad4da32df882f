"""Bounds on the odds of many laws at once, against the certified supremum of each pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from random_priors import mixture
from takifugu.divergences import decide_odds_after_laplace, odds_after_laplace, screen_odds_after_laplace
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
