"""What a column betrays: against exact fractions, and against simulation where chance is meant."""

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.divergences.discrete import finite_divergence as divergence
from takifugu.queries.leakage import betrayal


def exactly(counts):
    """Best guess and largest odds over all pairs, in fractions; None for infinite odds."""
    laws = {name: [Fraction(int(n), int(sum(row))) for n in row] for name, row in counts.items()}
    guess = max(
        Fraction(1, 2) + sum(abs(p - q) for p, q in zip(laws[a], laws[b], strict=True)) / 4
        for a, b in combinations(laws, 2)
    )
    ratios = [
        None if q == 0 else p / q
        for a, b in permutations(laws, 2)
        for p, q in zip(laws[a], laws[b], strict=True)
        if p > 0
    ]
    return guess, None if None in ratios else max(ratios)


tables = st.integers(2, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 30), min_size=width, max_size=width).filter(any), min_size=2, max_size=6
    )
)


@given(table=tables)
def test_it_is_the_worst_of_all_pairs(table):
    counts = {f"s{k}": np.array(row, dtype=float) for k, row in enumerate(table)}
    found = betrayal("x", counts)
    guess, odds = exactly(counts)
    assert found.best_guess == pytest.approx(float(guess), abs=1e-14)
    assert found.odds == (math.inf if odds is None else pytest.approx(float(odds), rel=1e-14))
    shares = {name: row / row.sum() for name, row in counts.items()}
    a, b = found.guessed
    assert 0.5 + 0.25 * np.abs(shares[a] - shares[b]).sum() == pytest.approx(found.best_guess, abs=1e-14)
    a, b = found.turned
    assert a != b
    assert float(divergence(shares[a], shares[b], alpha=math.inf)) == pytest.approx(found.loss, abs=1e-12)
    assert found.pairs == math.comb(len(counts), 2)
    assert 0.5 <= found.by_chance <= 1


def test_one_group_betrays_nothing():
    assert betrayal("x", {"a": np.ones(3)}) is None


def test_equal_groups():
    found = betrayal("x", {"a": np.array([1.0, 2.0]), "b": np.array([2.0, 4.0])})
    assert (found.best_guess, found.odds, found.turned) == (0.5, 1.0, ("a", "b"))


@pytest.mark.parametrize(("few", "many", "values"), [(21, 140, 40), (400, 50, 6)])
def test_chance_alone(few, many, values):
    rng = np.random.default_rng(2)
    law = rng.dirichlet(np.ones(values) * 3)
    guesses, told = [], []
    for _ in range(300):
        counts = {"a": rng.multinomial(few, law).astype(float), "b": rng.multinomial(many, law).astype(float)}
        found = betrayal("x", counts)
        guesses.append(found.best_guess)
        told.append(found.by_chance)
    assert np.mean(told) == pytest.approx(np.mean(guesses), abs=0.02)
