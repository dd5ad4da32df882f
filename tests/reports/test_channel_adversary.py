"""The best guess and the odds of finite channels, against every possible guess tried one by one in fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.divergences.discrete import Masses
from takifugu.problems.guarantee import Renyi
from takifugu.reports.adversary import channel_adversary
from takifugu.reports.adversary import channel_odds_quantiles as odds_quantiles
from takifugu.reports.adversary import channel_total_variation as total_variation
from takifugu.reports.facts import facts_of

weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def law(numbers):
    return [Fraction(n, sum(numbers)) for n in numbers]


def best_of_all_guesses(p, q):
    """The chance of being right of the best of the 2ⁿ ways to answer, a secret for each value."""
    ways = itertools.product((True, False), repeat=len(p))
    return max(sum(a if says_p else b for a, b, says_p in zip(p, q, way, strict=True)) / 2 for way in ways)


@given(weights, weights)
def test_no_guess_is_better(a, b):
    guess = (1 + total_variation(Masses.of(a), Masses.of(b))) / 2
    assert guess == best_of_all_guesses(law(a), law(b))


@given(weights, weights, st.fractions(0, 1).filter(lambda share: share > 0))
def test_quantiles_are_the_least_factor_that_is_enough(a, b, share):
    p, q = law(a), law(b)
    (found,) = odds_quantiles(Masses.of(a), Masses.of(b), (share,))
    ratio = [math.inf if y == 0 else x / y for x, y in zip(p, q, strict=True)]
    within = sum(x for x, r in zip(p, ratio, strict=True) if float(r) <= found)
    below = sum(x for x, r in zip(p, ratio, strict=True) if float(r) < found)
    assert below < share <= within


@settings(max_examples=some_of(40), deadline=None)
@given(weights, weights, st.lists(weights, min_size=4, max_size=4))
def test_the_channel_is_applied_exactly(a, b, rows):
    counts = np.array([np.array(row) * (1 << 20) // sum(row) for row in rows])
    counts[:, 0] += (1 << 20) - counts.sum(axis=1)
    channel = FiniteChannel(tuple("wxyz"), tuple("wxyz"), counts)
    p, q = (tk.Finite(["w", "x", "y", "z"], weights) for weights in (a, b))
    found = channel_adversary(channel, p, q, promise=Renyi(2, 1))
    exact = [[Fraction(int(c), 1 << 20) for c in row] for row in counts.tolist()]
    published = [
        [sum(share * exact[x][y] for x, share in enumerate(one)) for y in range(4)] for one in (law(a), law(b))
    ]
    assert found.guess_before == float(best_of_all_guesses(law(a), law(b)))
    assert found.guess_after == float(best_of_all_guesses(*published))
    assert found.guess_after <= found.guess_before  # what goes through a channel tells no more


@settings(max_examples=12, deadline=None)
@given(weights.filter(all), weights.filter(all), st.sampled_from([(math.inf, None), (2.0, None), (3.0, 2.5)]))
def test_what_the_promise_says_holds(a, b, promise):
    alpha, odds = promise
    asked = {"odds": 1.7} if math.isinf(alpha) else {"alpha": alpha, "epsilon": 0.2, "odds": odds}
    result = tk.calibrate({"a": tk.Finite(range(4), a), "b": tk.Finite(range(4), b)}, **asked)
    facts = facts_of(result, compare=False)
    guess = facts.adversary
    assert 0.5 <= guess.guess_after <= min(guess.guess_before, guess.guess_bound * (1 + 1e-12))
    for one in guess.odds:
        assert one.exact <= min(one.bound, facts.worst_odds) * (1 + 1e-12)
    most = result.guarantee.most_odds
    if most is not None:
        assert facts.worst_odds <= most * (1 + 1e-12)
        assert guess.guess_bound <= most / (1 + most) * (1 + 1e-15)


def test_a_value_that_one_secret_never_has_is_infinite_odds():
    apart = FiniteChannel.identity(("a", "b"))
    found = channel_adversary(apart, tk.Finite(["a"], [1]), tk.Finite(["b"], [1]), promise=None)
    assert (found.guess_before, found.guess_after, found.guess_bound) == (1.0, 1.0, 1.0)
    assert {one.exact for one in found.odds} == {math.inf}


def test_odds_bound_the_guess():
    laws = {"a": tk.Finite([0, 1], [9, 1]), "b": tk.Finite([0, 1], [1, 9])}
    facts = facts_of(tk.calibrate(laws, odds=3), compare=False)
    assert facts.adversary.guess_bound == pytest.approx(0.75)
    assert facts.adversary.guess_after == pytest.approx(0.75, rel=1e-6)  # the bound is reached
