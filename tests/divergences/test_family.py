"""Many claims about the same laws: the quick formula proves what is true, and nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from oracles import gaussian_divergence
from random_priors import budget, gaussian_pair, mixture
from takifugu import Mixture
from takifugu.divergences.certified import Family, enclose, settle
from takifugu.divergences.numerics.balls import VERIFY_LIMIT, Effort, Enclosure, limit_for


@settings(max_examples=some_of(150))
@given(st.integers(0, 2**32 - 1))
def test_claims_about_normals_are_decided_as_forty_digits_decide_them(seed):
    rng = np.random.default_rng(seed)
    (p, q), (alpha, _) = gaussian_pair(rng), budget(rng)
    theta = float(rng.choice([0.0, 10 ** rng.uniform(-2, 2)]))
    truth = gaussian_divergence(p.means[0] - q.means[0], p.stds[0], q.stds[0], alpha, theta)
    family = Family([p, q], alpha=alpha, theta=theta)
    if math.isinf(truth):
        assert family.settle(0, 1, Enclosure(0.0, 1e300)).holds is False
        return
    for slip in (1e-12, 1e-9, 1e-3):
        around = Enclosure(float(truth * (1 - slip)), float(truth * (1 + slip)))
        if around.lower < truth < around.upper:
            decision = family.settle(0, 1, around)
            assert decision.holds is True
            assert around.lower <= decision.enclosure.lower <= truth <= decision.enclosure.upper <= around.upper
        if truth > 0:
            assert family.settle(0, 1, Enclosure(0.0, float(truth * (1 - slip)))).holds is False
            assert family.settle(0, 1, Enclosure(float(truth * (1 + slip)), 1e300)).holds is False


@pytest.mark.parametrize("seed", range(some_of(6)))
def test_other_laws_are_settled_as_they_would_be_alone(seed):
    rng = np.random.default_rng(seed)
    laws = [mixture(rng), Mixture.gaussian(0, 1), Mixture.empirical([0, 1]), Mixture.gaussian(2, 0)]
    for theta in (0.0, 5.0):
        family = Family(laws, alpha=2.0, theta=theta)
        for i, p in enumerate(laws):
            for j, q in enumerate(laws):
                truth = enclose(p, q, alpha=2.0, theta=theta)
                claim = Enclosure(truth.lower * (1 - 1e-9), min(truth.upper * (1 + 1e-9), 1e300))
                alone = settle(p, q, claim, alpha=2.0, theta=theta).holds
                assert family.settle(i, j, claim, enclose=False).holds is alone


def test_the_same_law_twice_loses_nothing():
    family = Family([Mixture.gaussian(1, 2), Mixture.gaussian(1, 2)], alpha=3.0, theta=1.0)
    assert family.settle(0, 1, Enclosure(0.0, 0.0)).holds is True


def test_work_is_counted_and_the_limit_grows_with_what_is_claimed():
    effort = Effort(35)
    family = Family([Mixture.gaussian(0, 1), Mixture.gaussian(1, 1)], alpha=2.0, theta=0.0, effort=effort)
    for _ in range(3):
        assert family.settle(0, 1, Enclosure(0.0, 1.5)).holds is True
    decision = family.settle(0, 1, Enclosure(0.0, 1.5))
    assert decision.holds is None
    assert "limit of 35 evaluations" in decision.reason
    assert limit_for([2] * 3) == VERIFY_LIMIT
    assert limit_for([8] * 10_000) > 10_000 * 30_000
