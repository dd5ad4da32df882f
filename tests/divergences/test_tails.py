"""The bound on what lies outside a window, against mpmath."""

import mpmath as mp
import numpy as np
import pytest
from flint import arb
from mpmath_oracle import tail as tail_of

from takifugu.divergences.numerics.ball_integrals import RightTail
from takifugu.divergences.numerics.balls import ExactMixture, converges, fraction
from takifugu.laws.mixture import Mixture


def bells(weights, means, stds):
    return ExactMixture.after_noise(Mixture(weights, means, stds), 0.0).bells


@pytest.mark.parametrize("alpha", [1.25, 2.0, 7.5])
def test_the_bound_is_above_the_tail_and_not_absurd(alpha):
    rng = np.random.default_rng(int(alpha))
    for _ in range(4):
        p = [
            rng.dirichlet(np.ones(3)).tolist(),
            rng.normal(0, 2, 3).tolist(),
            rng.uniform(0.5, 1, 3).tolist(),
        ]
        q = [
            rng.dirichlet(np.ones(2)).tolist(),
            rng.normal(0, 2, 2).tolist(),
            rng.uniform(1, 1.5, 2).tolist(),
        ]
        tail = RightTail(bells(*p), bells(*q), fraction(alpha))
        for start in (0.0, 4.0, 15.0):
            truth = tail_of(list(zip(*p, strict=True)), list(zip(*q, strict=True)), alpha, start)
            assert mp.mpf(str(tail.bound(arb(start)).upper().str(20, radius=False))) >= truth * (1 - 1e-9)


def test_the_guess_makes_the_tail_small():
    p, q = bells([0.4, 0.6], [0, 3], [1, 2]), bells([0.5, 0.5], [1, 2], [2, 1])
    tail = RightTail(p, q, fraction(2.5))
    assert tail.bound(arb(tail.start(-50.0)) * 1.0001) <= arb(-50).exp()


def test_an_exponential_tail_on_the_edge_of_the_domain():
    p, q = bells([1.0], [0], [5]), bells([0.5, 0.5], [-1, 1], [3, 3])
    alpha = fraction(25 / 16)
    assert converges(p, q, alpha)
    tail = RightTail(p, q, alpha)
    truth = tail_of([(1, 0, 5)], [(0.5, -1, 3), (0.5, 1, 3)], 25 / 16, 40)
    assert mp.mpf(str(tail.bound(arb(40)).upper().str(20, radius=False))) >= truth


@pytest.mark.parametrize(
    ("p_means", "q_means", "finite"),
    [
        ([0.0], [0.0], False),
        ([0.0], [-1.0, 1.0], True),
        ([0.0, 1.0], [-1.0, 1.0], False),
        ([-1.0, 0.0], [-1.0, 1.0], False),
        ([-0.5, 0.5], [-1.0, 1.0], True),
        ([3.0], [-1.0, 1.0], False),
    ],
)
def test_on_the_edge_the_means_decide(p_means, q_means, finite):
    def equal(means, std):
        return bells([1 / len(means)] * len(means), means, [std] * len(means))

    assert converges(equal(p_means, 5.0), equal(q_means, 3.0), fraction(25 / 16)) is finite
