"""Promises: what is one, what is none, and how each is told."""

import math
import sys
from decimal import Context, Decimal

import mpmath as mp
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import takifugu as tk
from takifugu.errors import InputError
from takifugu.problems.guarantee import Approximate, Renyi, asked_for

ORDERS = st.floats(1, 1e6, exclude_min=True)
BUDGETS = st.floats(1e-12, 1e6)
FACTORS = st.floats(1, 1e6, exclude_min=True)


@given(ORDERS, BUDGETS, st.none() | FACTORS)
def test_numbers_are_kept_as_they_are(alpha, epsilon, odds):
    made = Renyi(alpha, epsilon, odds)
    assert (made.alpha, made.epsilon, made.odds, made.most_odds) == (alpha, epsilon, odds, odds)
    assert made == asked_for(alpha=alpha, epsilon=epsilon, odds=odds)
    assert hash(made) == hash(Renyi(alpha, epsilon, odds))


@given(FACTORS)
def test_odds_alone_are_the_order_at_infinity(odds):
    made = asked_for(alpha=None, epsilon=None, odds=odds)
    assert (made.alpha, made.odds) == (math.inf, None)
    assert made.epsilon == pytest.approx(math.log(odds), rel=1e-15)
    assert made.most_odds == pytest.approx(odds, rel=1e-14)
    assert made.most_odds <= odds * (1 + 2**-50)


@given(FACTORS | st.floats(1, sys.float_info.max, exclude_min=True))
@example(3.0)
@example(math.nextafter(1.0, 2.0))
@example(sys.float_info.max)
def test_no_odds_are_promised_beyond_those_asked_for(odds):
    """The float nearest to ln 3 lies above it: by a hair, more than a factor of 3 was allowed."""
    epsilon = Renyi.from_odds(odds).epsilon
    with mp.workdps(60):
        assert mp.exp(mp.mpf(epsilon)) <= mp.mpf(odds)
        assert mp.exp(mp.mpf(math.nextafter(epsilon, math.inf))) > mp.mpf(odds)


@pytest.mark.parametrize(
    "bad",
    [
        {"alpha": 1, "epsilon": 1},
        {"alpha": math.nan, "epsilon": 1},
        {"alpha": "2", "epsilon": 1},
        {"alpha": True, "epsilon": 1},
        {"alpha": -math.inf, "epsilon": 1},
        {"alpha": 2, "epsilon": 0},
        {"alpha": 2, "epsilon": math.inf},
        {"alpha": math.inf, "epsilon": math.inf},
        {"alpha": 2, "epsilon": math.nan},
        {"alpha": 2, "epsilon": 1, "odds": 1},
        {"alpha": 2, "epsilon": 1, "odds": math.inf},
        {"alpha": math.inf, "epsilon": 1, "odds": 3},
    ],
)
def test_what_is_no_promise_is_refused(bad):
    with pytest.raises(InputError):
        Renyi(**bad)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, math.nan, "0.1", None])
def test_a_share_lies_between_none_and_all(delta):
    with pytest.raises(InputError, match="delta must be a number between 0 and 1"):
        Approximate(2, 1, delta)


def test_an_infinite_order_has_no_share_left_out():
    with pytest.raises(InputError, match="alpha"):
        Approximate(math.inf, 1, 0.1)


def test_promises_are_told_in_a_few_words():
    assert str(Renyi(2, 0.5)) == "(α, ε) = (2, 0.5)"
    assert str(Renyi(2, 0.5, 3)) == "(α, ε) = (2, 0.5) and odds within a factor of 3"
    assert str(Renyi.from_odds(3)) == "odds within a factor of 3"
    assert str(Approximate(2, 0.5, 0.01)) == "(α, ε, δ) = (2, 0.5, 0.01)"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"alpha": None, "epsilon": None, "odds": None}, "the promise is missing: give alpha and epsilon, or odds$"),
        ({"alpha": 2, "epsilon": None, "odds": 3}, "epsilon is missing: .* or give odds alone$"),
        ({"alpha": None, "epsilon": 2, "odds": None}, "alpha is missing"),
    ],
)
def test_a_promise_is_whole(given, says):
    with pytest.raises(InputError, match=says):
        asked_for(**given)


def test_a_promise_ends_a_sentence():
    assert Renyi.from_odds(3).bound == "with odds within a factor of 3"
    assert Renyi(3, 0.5).bound == "within (α, ε) = (3, 0.5)"
    assert Renyi(3, 0.5, odds=2).bound == "within (α, ε) = (3, 0.5) and odds within a factor of 2"
    assert Approximate(2, 1, 0.1).bound == "within (α, ε, δ) = (2, 1, 0.1)"


@given(st.floats(1.0000001, 1e6), st.sampled_from([-math.inf, math.inf]))
def test_odds_implied_by_an_epsilon_are_decided_by_more_digits_than_floats_have(factor, way):
    digits = Context(prec=60)
    for epsilon in (math.log(factor), math.nextafter(math.log(factor), way)):
        kept = digits.exp(Decimal(epsilon)) <= Decimal(factor)
        assert Renyi(math.inf, epsilon).implies(Renyi(3, 20.0, factor)) is kept


def test_odds_beyond_floats_are_told_as_a_power():
    assert str(Renyi(math.inf, 800.0)) == "odds within a factor of e^800"
    assert Renyi(math.inf, 800.0).most_odds == math.inf
    assert math.isfinite(Renyi.from_odds(1.7976931348623157e308).most_odds)
    assert not Renyi(math.inf, 800.0).implies(Renyi(2, 900.0, 1e308))
    laws = {name: tk.Finite(["a", "b"], weights) for name, weights in (("x", [1, 3]), ("y", [3, 1]))}
    assert tk.calibrate(laws, alpha=math.inf, epsilon=800.0).error == 0
