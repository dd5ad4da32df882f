"""Shares inside sentences: in words, and bounds never below the truth."""

import math

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from takifugu.cli import main
from takifugu.problems.guarantee import Odds
from takifugu.reports import words
from takifugu.reports import words as channel_words
from takifugu.reports.facts import facts_of
from takifugu.reports.text import at_most, share_of


@given(st.floats(0, 1))
def test_a_bound_is_told_from_above(share):
    told = float(at_most(share).removesuffix(" %"))
    assert 100 * share <= told + 1e-6
    assert told < 100 * share + 0.1 + 1e-6


@given(st.floats(0, 1), st.booleans())
def test_a_share_inside_a_sentence_has_no_sign(share, first):
    told = share_of(share, first=first)
    assert "<" not in told
    assert ">" not in told
    assert not told[0].isalpha() or told[0].isupper() == first


@pytest.mark.parametrize("odds", [1.5, 3, 42, 900, 1100, 50_000])
def test_the_guess_that_odds_allow_is_bounded_from_above_or_not_at_all(odds):
    promise = Odds(odds)
    told = words.in_guesses(promise)
    assert "above >" not in told
    assert told.endswith(" %. That hides little.") == (promise.best_guess() > 0.95)
    told = told.removesuffix(" That hides little.")
    if promise.best_guess() > 0.999:
        assert told.endswith("a guess may be right with a chance of more than 99.9 %.")
    else:
        limit = float(told.split("above ")[1].removesuffix(" %."))
        assert limit >= 100 * promise.best_guess() - 1e-9


def test_no_sentence_holds_a_sign_in_place_of_words():
    far = {"a": tk.Finite([0, 1], [1, 10**7]), "b": tk.Finite([0, 1], [10**7, 1])}
    facts = facts_of(tk.calibrate(far, odds=50_000))
    assert math.isclose(facts.adversary.guess_after, 1, abs_tol=1e-3)
    for say in (words.inference, channel_words.channel_answer, channel_words.cost, channel_words.averages):
        assert ">" not in say(facts)
        assert "<" not in say(facts)
    assert "with a chance of more than 99.9 % (a and b); from the true value it would be more than 99.9 %, and" in (
        words.inference(facts)
    )


def test_it_is_said_that_a_mean_with_noise_may_lie_outside_of_the_range_of_its_values():
    """A published mean stay of −3.2 days came without a word: it is no mistake, and is not to be cut in silence."""
    heart = tk.datasets.load("heart")
    said = "may lie outside of the range of the values"
    of_mean = tk.calibrate(tk.fit_priors(heart, secret="slope", query=tk.Mean("oldpeak")), odds=3)
    of_rows = tk.calibrate(tk.fit_priors(heart, secret="slope", query=tk.Raw("oldpeak")), alpha=2, epsilon=1)
    assert said in words.usefulness(facts_of(of_mean))
    assert said not in words.usefulness(facts_of(of_rows))
    told = ("calibrate", "heart", "--secret", "slope", "--query", "mean:oldpeak", "--odds", "3")
    assert said in " ".join(CliRunner().invoke(main, list(told)).stdout.split())
