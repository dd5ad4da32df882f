"""Values of a list that nobody of a secret was seen with: how much of the population has them, draws must say."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.laws import with_unseen
from takifugu.laws.fitting.counts import rounded_normal
from takifugu.mechanisms.draws import Counted, drawn_laws, joint_draws, posterior
from takifugu.problems import Problem

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.publications import outcome

VALUES = 50


def of(counts, pseudo, draws=4_000, *, support=True):
    places = np.arange(len(counts))[:, None] if support else None
    return joint_draws([{"a": Counted(counts, pseudo)}], ["a"], draws, 7, places)[0, :, 0]


def sample(rng, rows):
    law = rounded_normal(VALUES, rng.uniform(15, 35), rng.uniform(4, 12))
    return law, rng.multinomial(rows, law).astype(float)


def own(counts):
    mean = float(counts @ np.arange(VALUES) / counts.sum())
    spread = float(np.sqrt(counts @ (np.arange(VALUES) - mean) ** 2 / counts.sum()))
    return rounded_normal(VALUES, mean, max(spread, 0.3))


@pytest.mark.parametrize("rows", [10, 32, 100])
def test_draws_hold_what_few_rows_have_missed(rows):
    """In most samples more of the population has values that nobody was seen with than a pseudo-row alone says."""
    rng, held, before = np.random.default_rng(rows), [], []
    for _ in range(60):
        law, counts = sample(rng, rows)
        unseen = counts == 0
        truth = law[unseen].sum()
        held.append(np.quantile(of(counts, own(counts))[1:, unseen].sum(axis=1), 0.98) >= truth)
        before.append(np.quantile(of(counts, own(counts), support=False)[1:, unseen].sum(axis=1), 0.98) >= truth)
    assert np.mean(held) > 0.8
    assert np.mean(before) < 0.1


def test_each_law_draws_by_itself_whether_unseen_values_are_there():
    counts, pseudo = np.array([40.0, 3, 1, 1, 1, 0, 0]), np.full(7, 1 / 7)
    drawn = joint_draws([{s: Counted(counts, pseudo) for s in "ab"}], ["a", "b"], 20_000, 3, np.arange(7)[:, None])[0]
    unseen = drawn[1:, :, 5:].sum(axis=2)
    added = 3 * 46 / 43 + 1  # three of 46 rows are alone, and one more may have been
    few, many = 2 / 7 / 47, added / (46 + 5 / 7 + added)
    assert unseen.mean() == pytest.approx((few + many) / 2, rel=0.03)
    assert abs(np.corrcoef(unseen.T)[0, 1]) < 0.03
    again = joint_draws([{s: Counted(counts, pseudo) for s in "ab"}], ["a", "b"], 20_000, 3, np.arange(7)[:, None])[0]
    assert (again == drawn).all()


def test_where_all_values_were_seen_nothing_changes():
    counts, pseudo = np.array([40.0, 3, 1, 1]), np.full(4, 1 / 4)
    assert (of(counts, pseudo) == of(counts, pseudo, support=False)).all()


def test_the_centre_and_what_is_proved_stay_as_they_were():
    counts, pseudo = np.array([40.0, 3, 1, 1, 0]), np.full(5, 1 / 5)
    assert (of(counts, pseudo)[0] == (counts + pseudo) / 46).all()


def test_laws_made_by_hand_have_unseen_values_too():
    laws = {"a": tk.Finite(list("xyz"), [30, 1, 0]), "b": tk.Finite(list("xyz"), [10, 20, 10])}
    problem = Problem.of(laws)
    unseen = drawn_laws(problem, 4_000, 1)[0, 1:, 0, 2]
    (_, pseudo) = posterior(problem)[0]["a"]
    added = with_unseen([30, 1, 0], pseudo)[2]
    assert added == pytest.approx(31 / 30 + 1)
    assert unseen.mean() == pytest.approx((pseudo[2] / 32 + added / (31 + 2 / 3 + added)) / 2, rel=0.15)


def test_many_numbers_of_a_rare_group_stay_within_the_guarantee():
    """With a pseudo-row alone the odds in this population were 2.77 for 2: 32 rows of one secret, on 52 bins."""
    assert outcome(2498)["used"] <= 1


@pytest.mark.parametrize("size", [8, 20, 64])
def test_a_value_far_from_all_rows_of_a_secret_is_not_published_as_it_is(size):
    """Ten rows alike often miss one person in ten; of their normal nothing is left a dozen steps away."""
    rows = {"a": [0] * size, "b": [0] * size}
    rows["a"][1:3], rows["a"][-1], rows["b"][1] = [250, 245], 5, 10
    table = pd.DataFrame([(s, x) for s, counts in rows.items() for x, n in enumerate(counts) for _ in range(n)])
    table.columns, listed = ["s", "x"], list(range(size))
    channel = tk.publish(table, secret="s", columns=["x"], odds=3, domain=listed).calibration.channel
    population = np.array([np.divide(rows["a"], 500), np.divide(rows["b"], 10 / 0.9)])
    population[1, -1] = 0.1
    a, b = channel.through(population[:, [listed.index(value) for value in channel.inputs]])
    assert (b <= 3 * a).all()
    assert (a <= 3 * b).all()
