"""What calibrate returns is proved at the place that binds, wherever floats lose their digits."""

import contextlib
import dataclasses
import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from random_priors import mixture
from takifugu.channels.gaussian import GaussianNoise
from takifugu.divergences.certified import decide, enclose
from takifugu.divergences.mixtures import divergence
from takifugu.divergences.numerics.envelope import exact_sum
from takifugu.mechanisms import least_noise as binding
from takifugu.mechanisms import worst_case as loop
from takifugu.problems import Renyi
from takifugu.problems.problem import Place, Problem

FAR = -8_388_000.0


def far_apart(near):
    """Most of the mass far away, the rest near 0: the distance of two such laws lies in the rest."""
    return tk.Mixture.empirical([FAR, near], [0.6, 0.4])


@pytest.mark.parametrize(("alpha", "epsilon"), [(2.0, 0.1), (2.0, 1e-6), (64.0, 1e-3), (1e4, 1e-6), (2.0, 1e-9)])
def test_a_heavy_component_far_away_does_not_shrink_the_distance_of_others(alpha, epsilon):
    found = tk.calibrate({"a": far_apart(0.1), "b": far_apart(0.37)}, alpha=alpha, epsilon=epsilon)
    p, q = (found.priors[secret] for secret in found.worst_pair)
    assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=found.theta).holds is True
    assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=found.theta * (1 - 1e-6)).holds is False
    assert found.meets_budget()


@pytest.mark.parametrize("theta", [0.9, 3.0, 200.0, 1e5])
@pytest.mark.parametrize("alpha", [1.5, 8.0])
def test_floats_keep_their_digits_next_to_a_far_cluster(alpha, theta):
    near = 0.2 * theta
    proved = enclose(far_apart(0.1 * theta), far_apart(near), alpha=alpha, theta=theta)
    assert divergence(far_apart(0.1 * theta), far_apart(near), alpha=alpha, theta=theta) == pytest.approx(
        proved.upper, rel=1e-12
    )


@settings(max_examples=some_of(25))
@given(st.integers(0, 2**32 - 1))
def test_moving_most_of_the_mass_away_changes_nothing_that_floats_can_see(seed):
    rng = np.random.default_rng(seed)
    alpha, theta = float(rng.uniform(1.1, 8)), float(rng.uniform(0.5, 3))
    p, q = mixture(rng, most=3, spread=1.0, decades=0.3), mixture(rng, most=3, spread=1.0, decades=0.3)
    far = -float(10 ** rng.uniform(1, 6))
    with_far = [tk.Mixture([0.7, *(0.3 * m.weights)], [far, *m.means], [0.5, *m.stds]) for m in (p, q)]
    proved = enclose(*with_far, alpha=alpha, theta=theta, rtol=1e-12)
    found = divergence(*with_far, alpha=alpha, theta=theta)
    assert math.isinf(found) if math.isinf(proved.lower) else abs(found - proved.upper) <= 1e-11 * proved.upper


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_split_sum_loses_nothing(a, b):
    from fractions import Fraction

    split = exact_sum(np.array([a]), np.array([b]))
    assert Fraction(float(split.high[0])) + Fraction(float(split.low[0])) == Fraction(a) + Fraction(b)


def test_a_release_refuses_noise_that_only_floats_would_accept():
    found = tk.calibrate({"a": far_apart(0.1), "b": far_apart(0.37)}, alpha=2.0, epsilon=0.1)
    short = dataclasses.replace(found, channel=GaussianNoise(found.theta * (1 - 1e-10)))
    p, q = (found.priors[secret] for secret in found.worst_pair)
    assert decide(p, q, alpha=2.0, epsilon=0.1, theta=short.theta).holds is False
    assert not short.meets_budget()


def test_noise_that_falls_short_is_raised_until_it_is_proved():
    p, q = tk.Mixture([0.5, 0.5], [0, 1], [1, 1]), tk.Mixture([0.5, 0.5], [0, 3], [1, 1])
    enough = tk.calibrate({"a": p, "b": q}, alpha=3.0, epsilon=0.1).theta
    for short in (1e-12, 1e-9, 1e-7):
        theta = binding.proved_size(
            Problem.of({0: p, 1: q}), Place(0, 1, 0), Renyi(3.0, 0.1), GaussianNoise(1.0), enough * (1 - short)
        )
        assert decide(q, p, alpha=3.0, epsilon=0.1, theta=theta).holds is True
        assert theta <= enough * (1 + 2 * short + 1e-9)


def test_where_balls_give_up_floats_leave_room(monkeypatch):
    monkeypatch.setattr(binding, "_LIMIT", 1000)
    p, q = tk.Mixture([0.5, 0.5], [0, 1], [1, 1]), tk.Mixture([0.5, 0.5], [0, 3], [1, 1])
    found = tk.calibrate({"a": p, "b": q}, alpha=3.0, epsilon=0.1)
    assert max(found.losses.values()) <= 0.1 * (1 - 0.9e-6)
    assert found.meets_budget()
    tight = dataclasses.replace(found, channel=GaussianNoise(found.theta * (1 - 1e-6)))
    assert not tight.meets_budget()


def test_the_worst_belief_is_the_one_decided():
    beliefs = [{"a": far_apart(0.1), "b": far_apart(b)} for b in (0.2, 0.37, 0.3)]
    found = tk.calibrate(beliefs, alpha=2.0, epsilon=0.1)
    assert found.theta == pytest.approx(tk.calibrate(beliefs[1], alpha=2.0, epsilon=0.1).theta, rel=1e-10)


def test_enclosures_in_threads_are_those_of_one_thread():
    from flint import ctx

    rng = np.random.default_rng(0)
    work = [
        (mixture(rng), mixture(rng), {"alpha": 2.5, "theta": 6.0, "rtol": 10.0 ** -int(rng.integers(9, 60, 1)[0])})
        for _ in range(12)
    ]
    before = ctx.prec
    alone = [enclose(p, q, **how) for p, q, how in work]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda job: enclose(job[0], job[1], **job[2]), work * 3))
    assert together == alone * 3
    assert ctx.prec == before


@pytest.mark.parametrize("seed", range(4))
def test_a_quadrature_that_sees_nothing_leaves_no_pair_with_too_little(seed, monkeypatch):
    """Pairs that are only looked at are proved too: whatever floats say of them, the noise is enough or refused."""
    rng = np.random.default_rng(seed)
    priors = {name: mixture(rng, most=3, spread=1.0, decades=0.3) for name in "abcd"}
    asked = {"alpha": 3.0, "epsilon": 0.5}
    right = tk.calibrate(priors, **asked)
    monkeypatch.setattr(loop, "divergence", lambda *_, **__: 0.0)
    with contextlib.suppress(tk.CalibrationError):  # that floats and ball arithmetic disagree
        blind = tk.calibrate(priors, **asked)
        for i, j in itertools.permutations(priors, 2):
            assert decide(priors[i], priors[j], theta=blind.theta, **asked).holds
    # Nor is a file with the noise of one pair released, though a look at the others sees nothing.
    weak = dataclasses.replace(right, channel=GaussianNoise(0.9 * right.theta))
    assert right.meets_budget()
    assert not weak.meets_budget()
