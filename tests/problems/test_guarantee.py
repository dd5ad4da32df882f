"""Promises: what is one, what is none, and how each is told."""

import json
import math
import pickle
import sys
from decimal import Context, Decimal

import mpmath as mp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.errors import InputError
from takifugu.problems.guarantee import (
    Approximate,
    ApproximateRenyi,
    HockeyStick,
    MaxDivergence,
    Odds,
    Renyi,
    RenyiDivergence,
    asked_for,
    guarantee_asked,
    guarantee_from_state,
)

ORDERS = st.floats(1, 1e6, exclude_min=True)
BUDGETS = st.floats(1e-12, 1e6)
FACTORS = st.floats(1, 1e6, exclude_min=True)


@given(ORDERS, BUDGETS, FACTORS)
def test_numbers_are_kept_as_they_are(alpha, epsilon, odds):
    made = Renyi(alpha, epsilon) & Odds(odds)
    assert (made.alpha, made.epsilon, made.odds_beside, made.most_odds) == (alpha, epsilon, odds, odds)
    assert made == asked_for(alpha=alpha, epsilon=epsilon, odds=odds) == Odds(odds) & Renyi(alpha, epsilon)
    assert hash(made) == hash(Renyi(alpha, epsilon) & Odds(odds))
    assert (made.parts[0], *made.parts[1:]) == (Renyi(alpha, epsilon), Odds(odds))
    assert Renyi(alpha, epsilon).odds_beside is Renyi(alpha, epsilon).most_odds is None


@given(FACTORS)
def test_odds_alone_are_the_order_at_infinity(odds):
    made = asked_for(alpha=None, epsilon=None, odds=odds)
    assert (made, made.alpha, made.odds_beside) == (Odds(odds), math.inf, None)
    assert made.divergence == Renyi(math.inf, 1).divergence
    assert made.epsilon == pytest.approx(math.log(odds), rel=1e-15)
    assert made.most_odds == odds


@given(FACTORS | st.floats(1, sys.float_info.max, exclude_min=True))
@example(3.0)
@example(math.nextafter(1.0, 2.0))
@example(sys.float_info.max)
def test_no_odds_are_promised_beyond_those_asked_for(odds):
    """The float nearest to ln 3 lies above it: by a hair, more than a factor of 3 was allowed."""
    epsilon = Odds(odds).epsilon
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
        {"odds": 1},
        {"odds": math.inf},
        {"odds": "3"},
        {"alpha": math.inf, "epsilon": 1, "odds": 3},
        {"alpha": 2, "epsilon": 1, "delta": 1e-5},
        {"delta": 1e-5},
        {"epsilon": -1, "delta": 1e-5},
        {"epsilon": math.inf, "delta": 1e-5},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": True},
    ],
)
def test_what_is_no_promise_is_refused(bad):
    with pytest.raises(InputError):
        asked_for(**bad)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, math.nan, "0.1", None])
def test_a_share_lies_between_none_and_all(delta):
    with pytest.raises(InputError, match="delta must be a number between 0 and 1"):
        ApproximateRenyi(2, 1, delta)


def test_an_infinite_order_has_no_share_left_out():
    with pytest.raises(InputError, match="alpha"):
        ApproximateRenyi(math.inf, 1, 0.1)


def test_promises_are_told_in_a_few_words():
    assert str(Renyi(2, 0.5)) == "(α, ε) = (2, 0.5)"
    assert str(Renyi(2, 0.5) & Odds(3)) == "(α, ε) = (2, 0.5) and odds within a factor of 3"
    assert str(Odds(3)) == "odds within a factor of 3"
    assert str(Approximate(1, 1e-5) & Odds(3)) == "odds within a factor of 3 and (ε, δ) = (1, 1e-05)"
    assert repr(Odds(5) & Renyi(3, 1)) == "Renyi(alpha=3.0, epsilon=1.0) & Odds(factor=5.0)"
    assert str(ApproximateRenyi(2, 0.5, 0.01)) == "(α, ε, δ) = (2, 0.5, 0.01)"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"alpha": None, "epsilon": None, "odds": None}, "the guarantee is missing: give alpha and epsilon, or odds$"),
        ({"alpha": 2, "epsilon": None, "odds": 3}, "epsilon is missing: .* or give odds alone$"),
        ({"alpha": None, "epsilon": 2, "odds": None}, "alpha is missing"),
    ],
)
def test_a_promise_is_whole(given, says):
    with pytest.raises(InputError, match=says):
        asked_for(**given)


def test_a_promise_ends_a_sentence():
    assert Odds(3).bound == "with odds within a factor of 3"
    assert Renyi(3, 0.5).bound == "within (α, ε) = (3, 0.5)"
    assert (Renyi(3, 0.5) & Odds(2)).bound == "within (α, ε) = (3, 0.5) and odds within a factor of 2"
    assert ApproximateRenyi(2, 1, 0.1).bound == "within (α, ε, δ) = (2, 1, 0.1)"


@given(st.floats(1.0000001, 1e6), st.sampled_from([-math.inf, math.inf]))
def test_odds_implied_by_an_epsilon_are_decided_by_more_digits_than_floats_have(factor, way):
    digits = Context(prec=60)
    for epsilon in (math.log(factor), math.nextafter(math.log(factor), way)):
        kept = digits.exp(Decimal(epsilon)) <= Decimal(factor)
        assert Renyi(math.inf, epsilon).implies(Renyi(3, 20.0) & Odds(factor)) is kept


def test_odds_beyond_floats_are_told_as_a_power():
    assert str(Renyi(math.inf, 800.0)) == "odds within a factor of e^800"
    assert Renyi(math.inf, 800.0).most_odds == math.inf
    assert math.isfinite(Odds(1.7976931348623157e308).most_odds)
    assert not Renyi(math.inf, 800.0).implies(Renyi(2, 900.0) & Odds(1e308))
    laws = {name: tk.Finite(["a", "b"], weights) for name, weights in (("x", [1, 3]), ("y", [3, 1]))}
    assert tk.calibrate(laws, alpha=math.inf, epsilon=800.0).error == 0


PARTS = st.one_of(
    st.builds(Renyi, ORDERS, BUDGETS),
    st.builds(Renyi, st.just(math.inf), BUDGETS),
    st.builds(Odds, FACTORS),
    st.builds(Approximate, st.floats(0, 100), st.floats(1e-300, 1, exclude_max=True)),
    st.builds(ApproximateRenyi, ORDERS, BUDGETS, st.floats(1e-300, 1, exclude_max=True)),
)


@given(PARTS, PARTS, PARTS)
def test_a_conjunction_is_what_both_promise_and_comes_back_from_its_file(a, b, c):
    made = a & b & c
    assert made == c & (b & a) or len({part.budget for part in (a, b, c)}) < 3  # of equal budgets either is kept
    for part in (a, b, c):
        assert any(one.divergence == part.divergence and one.budget <= part.budget for one in made.parts)
        assert made.implies(part) or isinstance(part, Odds)  # a factor is compared with factors
    assert made.implies(made)
    assert guarantee_from_state(json.loads(json.dumps(made.to_state(), allow_nan=False))) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.best_guess() == min(part.best_guess() for part in made.parts)
    assert made.odds_factor(0.01) == min(part.odds_factor(0.01) for part in made.parts)


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {"kind": "pure"},
        {"kind": ["renyi"]},
        {"alpha": 2, "epsilon": 1},
        {"kind": "renyi", "alpha": 1, "epsilon": 1},
        {"kind": "renyi", "alpha": 2, "epsilon": 0},
        {"kind": "renyi", "alpha": 2, "epsilon": None},
        {"kind": "renyi", "alpha": 2},
        {"kind": "renyi", "alpha": 2, "epsilon": 1, "odds": None},
        {"kind": "renyi", "alpha": "2", "epsilon": 1},
        {"kind": "renyi", "alpha": True, "epsilon": 1},
        {"kind": "odds", "factor": 1},
        {"kind": "odds", "factor": None},
        {"kind": "approximate", "epsilon": 1, "delta": 1},
        {"kind": "approximate", "alpha": 2, "epsilon": 1, "delta": 0.1},
        {"kind": "approximate-renyi", "alpha": None, "epsilon": 1, "delta": 0.1},
        {"kind": "all", "of": []},
        {"kind": "all", "of": [{"kind": "odds", "factor": 3}]},
        {"kind": "all", "of": [{"kind": "odds", "factor": 3}, {"kind": "odds", "factor": 2}]},
        {"kind": "all", "of": [{"kind": "odds", "factor": 3}, {"kind": "renyi", "alpha": 2, "epsilon": 1}]},
        {"kind": "all", "of": [{"kind": "renyi", "alpha": 2, "epsilon": 1}, {"kind": "all", "of": []}]},
        {"kind": "all", "of": {"kind": "odds", "factor": 3}},
    ],
    ids=str,
)
def test_what_is_no_guarantee_in_a_file_is_told(content):
    with pytest.raises(InputError):
        guarantee_from_state(content)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: guarantee_asked(Odds(3), alpha=2), "the guarantee is given, and alpha as well"),
        (lambda: guarantee_asked(Odds(3), epsilon=1, delta=0.1), "epsilon and delta as well"),
        (lambda: guarantee_asked(3), r"guarantee must be Renyi\(alpha, epsilon\), Odds\(factor\)"),
        (lambda: asked_for(alpha=2, epsilon=1, delta=0.1), "alpha and delta are of two guarantees"),
        (lambda: asked_for(delta=0.1), "epsilon is missing"),
    ],
)
def test_contradictions_are_refused_by_name(ask, says):
    with pytest.raises(InputError, match=says):
        ask()


def test_what_a_guarantee_does_not_have_is_not_read_from_it():
    for one, names in (
        (Approximate(1, 1e-5), ("alpha", "odds_beside")),
        (Renyi(2, 1) & Renyi(3, 2), ("alpha", "epsilon", "odds_beside")),
        (Odds(3) & Approximate(0.5, 1e-5), ("alpha", "epsilon", "odds_beside")),
        (Renyi(2, 1) & Odds(3) & Approximate(0.5, 1e-5), ("alpha", "epsilon", "odds_beside")),
    ):
        for name in names:
            assert not hasattr(one, name)


# What follows from what, against pairs of laws on two points that reach it or cannot pass it.


def divergences_of(x, y, divergence):
    """Of two coins, in many digits and both ways: the larger."""
    found = []
    for p, q in (((x, 1 - x), (y, 1 - y)), ((y, 1 - y), (x, 1 - x))):
        if isinstance(divergence, HockeyStick):
            found.append(sum(max(mp.mpf(0), a - mp.exp(divergence.epsilon) * b) for a, b in zip(p, q, strict=True)))
        elif isinstance(divergence, MaxDivergence):
            found.append(max(mp.log(a / b) for a, b in zip(p, q, strict=True)))
        else:
            a = mp.mpf(divergence.alpha)
            found.append(mp.log(sum(s**a * t ** (1 - a) for s, t in zip(p, q, strict=True))) / (a - 1))
    return max(found)


COINS = st.floats(0.001, 0.999)
ASKED = st.one_of(
    st.builds(RenyiDivergence, st.floats(1.01, 60)),
    st.just(MaxDivergence()),
    st.builds(HockeyStick, st.floats(0, 5)),
)


@settings(deadline=None)
@given(COINS, COINS, ASKED, ASKED)
def test_what_is_said_to_follow_follows(x, y, known, wanted):
    with mp.workdps(40):
        kept = divergences_of(mp.mpf(x), mp.mpf(y), known)
        budget = math.nextafter(float(kept), math.inf)
        if isinstance(known, HockeyStick):
            made = Approximate(known.epsilon, budget) if 1e-300 < budget < 1 else None
        else:
            made = Renyi(getattr(known, "alpha", math.inf), budget) if budget > 1e-12 else None
        if made is not None:
            assert divergences_of(mp.mpf(x), mp.mpf(y), wanted) <= mp.mpf(made.bound_on(wanted))
            right = (1 + abs(mp.mpf(x) - mp.mpf(y))) / 2
            assert right <= mp.mpf(made.best_guess())
            for chance in (0.5, 0.05, 1e-3):  # how often the odds of the true secret rise beyond the factor
                most = made.odds_factor(chance)
                for p, q in (((x, 1 - x), (y, 1 - y)), ((y, 1 - y), (x, 1 - x))):
                    assert sum(a for a, b in zip(p, q, strict=True) if a > most * b) <= chance


def test_two_coins_reach_what_odds_and_shares_allow():
    e = mp.e
    x = e / (1 + e)
    assert Renyi(math.inf, 1).bound_on(HockeyStick(0.4)) == pytest.approx(float(x - mp.exp(0.4) * (1 - x)), rel=1e-15)
    assert Renyi(math.inf, 1).best_guess() == pytest.approx(float(x), rel=1e-15)
    assert Approximate(1, 0.01).bound_on(HockeyStick(1.5)) == 0.01
    kink = (1 - mp.mpf(0.01)) / (1 + e)  # of the trade-off function: both errors are equal there
    assert Approximate(1, 0.01).bound_on(HockeyStick(0)) == pytest.approx(float(1 - 2 * kink), rel=1e-14)
    assert Approximate(1, 0.01).best_guess() == pytest.approx(float(1 - kink), rel=1e-14)
    assert Renyi(3, 1).bound_on(HockeyStick(4)) == pytest.approx(math.exp(2 * (1 - 4)) / 2 * (2 / 3) ** 3, rel=1e-12)
