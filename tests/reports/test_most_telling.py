"""What is called the largest is the largest: against every pair, belief and cell, looked at one by one."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.problems.problem import Belief
from takifugu.reports.adversary import best_guess
from takifugu.reports.channel_facts import channel_facts
from takifugu.reports.facts import facts_of
from takifugu.reports.summary import told
from takifugu.reports.text import at_most

VALUES = range(4)
weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
beliefs = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(weights, min_size=size, max_size=size), min_size=1, max_size=3)
)


def guesses(calibration, *, published):
    """The chance of the best guess of every pair under every belief, in fractions."""
    counts = [[Fraction(int(n), calibration.channel.denominator) for n in row] for row in calibration.channel.counts]
    found = {}
    for b, belief in enumerate(calibration.beliefs):
        shares = {}
        for secret, law in belief.items():
            given_ = dict(zip(law.values, law.weights.tolist(), strict=True))
            law = [Fraction(given_.get(x, 0)) for x in calibration.channel.inputs]
            law = [one / sum(law) for one in law]
            if published:
                law = [sum(p * row[y] for p, row in zip(law, counts, strict=True)) for y in range(len(counts[0]))]
            shares[secret] = law
        for a, c in calibration.pairs:
            apart = sum(abs(p - q) for p, q in zip(shares[a], shares[c], strict=True))
            found[b, frozenset((a, c))] = (1 + apart / 2) / 2
    return found


def at(calibration, between):
    """The belief and the pair that a figure says it is about."""
    pair, _, where = between.removesuffix(")").partition(" (")
    labels = [belief.label for belief in calibration.beliefs]
    return labels.index(where) if where else 0, frozenset(pair.split(" and "))


@settings(max_examples=some_of(60), deadline=None)
@given(beliefs, st.sampled_from([{"odds": 1.5}, {"odds": 4}, {"alpha": 2.0, "epsilon": 0.3}]), st.booleans())
def test_the_best_guess_is_the_best_of_all_pairs_and_beliefs(laws, asked, all_pairs):
    names = "abcd"[: len(laws[0])]
    priors = [
        Belief({s: tk.Finite(VALUES, law) for s, law in zip(names, one, strict=True)}, label=f"cell {k}")
        for k, one in enumerate(laws)
    ]
    pairs = None if all_pairs else list(itertools.pairwise(names))
    made = tk.calibrate(priors, pairs=pairs, **asked)
    facts = channel_facts(made, question=None, compare=False, certificate_sha256=None)
    found = facts.adversary
    for figure, between, published in (
        (found.guess_before, found.before_between, False),
        (found.guess_after, found.after_between, True),
    ):
        every = guesses(made, published=published)
        assert figure == float(max(every.values()))
        assert every[at(made, between)] == max(every.values())
    odds = [made.channel.worst_odds(*made.problem.ends(place)) for place in made.problem.places()]
    assert facts.worst_odds == max(odds)


def three():
    """The pair whose odds move most (a and b, by a rare value) is not the pair that is guessed best (b and c)."""
    laws = {"a": [50, 49, 1, 0], "b": [50, 50, 0, 0], "c": [30, 30, 0, 40]}
    return {name: tk.Finite(VALUES, law) for name, law in laws.items()}


def test_the_summary_quotes_the_best_pair_and_not_the_one_that_loses_most():
    made = tk.calibrate(three(), odds=3)
    every = guesses(made, published=True)
    text = told(made).sentences[1]
    assert f"→ {at_most(float(max(every.values())))} from a published one (" in text
    bare = guesses(made, published=False)
    assert f"at most: {at_most(float(max(bare.values())))} from a true row" in text
    assert all(float(at_most(float(one)).removesuffix(" %")) >= 100 * one - 1e-9 for one in every.values())


def test_cells_and_other_tables_count_too():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"s": rng.choice(["a", "b", "c"], 900), "sex": rng.choice(["f", "m"], 900)})
    table["x"] = np.where(rng.random(900) < 0.5 + 0.4 * (table.sex == "f") * (table.s == "c"), 1, 0)
    made = tk.publish(
        table,
        secret="s",
        columns=["x"],
        adversary=tk.Adversary(known=["sex"]),
        domain=[0, 1],
        odds=1.3,
        confidence=None,
    )
    every = guesses(made.calibration, published=True)
    assert made.summary.adversary.guess_after == float(max(every.values()))
    between = made.summary.adversary.after_between
    assert between.partition(" (")[2].startswith("sex = f")
    assert f"({between})" in str(made).splitlines()[1]


def test_noise_is_told_by_the_pair_that_is_guessed_best():
    """A wide and a narrow law lose most of all, and two narrow ones are guessed best."""
    laws = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1.5, 1), "c": tk.Mixture.gaussian(0, 1.6)}
    made = tk.calibrate(laws, alpha=8, epsilon=1)
    facts = facts_of(made, compare=False)
    for figure, between, theta in (
        (facts.adversary.guess_before, facts.adversary.before_between, 0.0),
        (facts.adversary.guess_after, facts.adversary.after_between, made.theta),
    ):
        noisy = {name: law.with_noise(theta) for name, law in laws.items()}
        every = {(a, b): best_guess(noisy[a], noisy[b]) for a, b in itertools.combinations(laws, 2)}
        assert figure == max(every.values())
        assert between == " and ".join(max(every, key=every.get))


def test_vectors_are_told_by_the_pair_that_is_guessed_best():
    means = {"a": [0.0, 0.0], "b": [2.0, 0.0], "c": [0.0, 0.5]}
    laws = {name: tk.VectorMixture([1.0], [mean], [np.eye(2)]) for name, mean in means.items()}
    facts = facts_of(tk.calibrate(laws, alpha=4, epsilon=1, mechanism="shaped"), compare=False)
    assert facts.adversary.before_between in ("a and b", "b and c")
    distance = math.hypot(2, 0.5)
    from scipy.stats import norm

    assert facts.adversary.guess_before == pytest.approx(norm.cdf(distance / 2), abs=6e-3)


def test_what_kept_columns_tell_is_the_most_of_each_figure():
    """The secret of which a guess is right most often is not the one whose odds move most."""
    rng = np.random.default_rng(1)
    kept = rng.integers(0, 10, 3_000)
    table = pd.DataFrame({"ward": kept.astype(str), "x": rng.integers(0, 2, 3_000)})
    table["often"] = np.where(rng.random(3_000) < np.where(kept < 5, 0.25, 0.75), "y", "n")
    table["rarely"] = np.where(
        (kept == 9) & (rng.random(3_000) < 0.99), "y", np.where(rng.random(3_000) < 0.5, "y", "n")
    )
    from takifugu.queries.leakage import told_by_kept
    from takifugu.tables.table import Table

    each = {}
    for secrets in (["often"], ["rarely"], ["often", "rarely"]):
        names = ["y", "n"] if len(secrets) == 1 else [f"{s} = {v}" for s in secrets for v in "yn"]
        each[tuple(secrets)] = told_by_kept(Table(table, None), secrets, ["ward"], names)
    both = each["often", "rarely"]
    assert both["guess"] is not None
    assert both["odds"] is not None
    assert both["odds"] >= max(one["odds"] for one in each.values())
    assert both["guess"] >= max(one["guess"] for one in each.values())
    assert each["often",]["guess"] > each["rarely",]["guess"]
    assert each["often",]["odds"] < each["rarely",]["odds"]
