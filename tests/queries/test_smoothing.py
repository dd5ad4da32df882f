"""Rows that are added to a secret's own: against leaving every row out by hand, and what is said about it."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import TREE, left_out_likelihood, smoothing
from takifugu.mechanisms.draws import Counted, joint_draws

SIZES = (3, 2, 2)
CELLS = np.array(list(itertools.product(*map(range, SIZES))))


def independent_by_hand(rows, cell):
    """The probability of a cell when columns are independent, each entry seen half a time more."""
    return math.prod(
        (sum(r[k] == cell[k] for r in rows) + 0.5) / (len(rows) + 0.5 * size) for k, size in enumerate(SIZES)
    )


@settings(max_examples=some_of(30))
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=3, max_size=12))
def test_every_row_is_left_out_in_turn(rows):
    counts = np.array([float(sum(tuple(cell) == row for row in rows)) for cell in CELLS])
    added = np.array([0.5, 4.0])
    truth = []
    for amount in added:
        logs = []
        for place, row in enumerate(rows):
            others = rows[:place] + rows[place + 1 :]
            share = (others.count(row) + amount * independent_by_hand(others, row)) / (len(others) + amount)
            logs.append(math.log(share))
        truth.append(sum(logs) / len(rows))
    from takifugu.laws.fitting.counts import _Columns

    law = _Columns(counts, CELLS, SIZES).independent(left_out=1)
    assert left_out_likelihood(counts, law, added) == pytest.approx(truth, rel=1e-10)


@settings(max_examples=some_of(30))
@given(st.lists(st.integers(0, 9), min_size=len(CELLS), max_size=len(CELLS)).filter(any))
def test_what_is_added_is_a_law_on_all_combinations(counts):
    counts = np.array(counts, dtype=float)
    for one in (smoothing(counts, CELLS, SIZES), smoothing(counts, CELLS, SIZES, 7.0)):
        assert (one.law > 0).all()
        if one.shape != TREE:
            assert one.law.sum() == pytest.approx(1.0, rel=1e-12)
    assert one.rows == 7.0


def test_columns_that_hang_together_are_seen_to():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 6, 4000)
    b = np.where(rng.random(4000) < 0.8, a, rng.integers(0, 6, 4000))
    c = np.where(rng.random(4000) < 0.8, b, rng.integers(0, 6, 4000))
    cells = np.array(list(itertools.product(range(6), repeat=3)))
    counts = np.zeros(len(cells))
    np.add.at(counts, a * 36 + b * 6 + c, 1.0)
    chain = smoothing(counts, cells, (6, 6, 6))
    assert chain.shape == TREE
    alone = np.zeros(len(cells))
    np.add.at(alone, rng.integers(0, 6, (3, 4000)).T @ [36, 6, 1], 1.0)
    assert smoothing(alone, cells, (6, 6, 6)).rows > 4000  # as many as are asked about: columns are independent


def table(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "s": rng.choice(["x", "y"], rows),
            "a": rng.integers(0, 5, rows),
            "b": rng.choice(list("pqrs"), rows),
            "c": rng.choice(list("uv"), rows),
        }
    )


def test_the_laws_hold_the_rows_that_were_added_and_nothing_of_another_secret():
    people = table()
    query = tk.Row("a", "b", "c", smoothing="held-out")
    priors = tk.fit_priors(people, secret="s", query=query)
    assert any(one.code == "smoothed" for one in priors.findings)
    for name in "xy":
        both = priors.counts[name] + priors.pseudo[name]
        assert priors[name].probabilities == pytest.approx(both / both.sum(), rel=1e-12)
        assert priors[name].total == pytest.approx(priors.rows[name])
    changed = people.copy()
    changed.loc[changed.s == "y", "a"] = 4 - changed.loc[changed.s == "y", "a"]
    again = tk.fit_priors(changed, secret="s", query=query)
    here, there = (dict(zip(one["x"].values, one.pseudo["x"], strict=True)) for one in (priors, again))
    shared = set(here) & set(there)
    assert len(shared) > 20
    assert all(here[row] == pytest.approx(there[row], rel=1e-12) for row in shared)


@pytest.mark.parametrize("amount", [0.5, 2.0, 100.0])
def test_added_rows_tell_no_more_of_a_column_than_the_rows_they_were_made_of(amount):
    """Shares vary from draw to draw as those of so many rows do, however many were added to them."""
    rng = np.random.default_rng(1)
    sizes, rows = (4, 3), 600
    cells = np.array(list(itertools.product(*map(range, sizes))))
    counts = np.zeros(len(cells))
    np.add.at(counts, rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1]) * 3 + rng.choice(3, rows, p=[0.5, 0.3, 0.2]), 1.0)
    pseudo = smoothing(counts, cells, sizes, amount * rows).pseudo
    drawn = joint_draws([{"x": Counted(counts, pseudo)}], ["x"], 2_000, 0, cells)[0, 1:, 0]
    for column, size in enumerate(sizes):
        for entry in range(size):
            share = drawn[:, cells[:, column] == entry].sum(axis=1)
            mean = float(share.mean())
            assert mean == pytest.approx(counts[cells[:, column] == entry].sum() / rows, abs=0.005)
            assert share.std() == pytest.approx(math.sqrt(mean * (1 - mean) / rows), rel=0.12)


def test_of_a_tree_what_a_column_is_beside_another_varies_too():
    rng = np.random.default_rng(2)
    rows = 900
    a = rng.integers(0, 3, rows)
    b = np.where(rng.random(rows) < 0.7, a, rng.integers(0, 3, rows))
    c = np.where(rng.random(rows) < 0.7, b, rng.integers(0, 3, rows))
    cells = np.array(list(itertools.product(range(3), repeat=3)))
    counts = np.zeros(len(cells))
    np.add.at(counts, a * 9 + b * 3 + c, 1.0)
    chain = smoothing(counts, cells, (3, 3, 3))
    assert chain.shape == TREE
    pseudo = 100 * rows * chain.law / chain.law.sum()
    drawn = joint_draws([{"x": Counted(counts, pseudo)}], ["x"], 2_000, 0, cells)[0, 1:, 0]
    both = (cells[:, 0] == 0) & (cells[:, 1] == 0)
    share = drawn[:, both].sum(axis=1) / drawn[:, cells[:, 0] == 0].sum(axis=1)
    mean, beside = float(share.mean()), float(counts[cells[:, 0] == 0].sum())
    assert share.std() == pytest.approx(math.sqrt(mean * (1 - mean) / beside), rel=0.12)


def test_the_population_is_within_the_promise_where_rows_were_added():
    """Samples of independent columns, as is assumed, all beyond it while the added rows were taken for seen ones."""
    sizes, beyond = (4, 4), 0
    cells = list(itertools.product(*map(range, sizes)))
    for seed in (8, 11, 26, 28, 29, 32, 33, 35):
        rng = np.random.default_rng(seed)
        first, second = ([rng.dirichlet(np.full(size, 3.0)) for size in sizes] for _ in range(2))
        second = [0.3 * own + 0.7 * other for own, other in zip(first, second, strict=True)]
        people = pd.concat(
            pd.DataFrame({"s": name, **{f"c{k}": rng.choice(4, rows, p=law) for k, law in enumerate(shares)}})
            for name, rows, shares in (("a", 2_000, first), ("b", 30, second))
        )
        query = tk.Row("c0", "c1", domain={"c0": range(4), "c1": range(4)}, smoothing="held-out")
        found = tk.calibrate(tk.fit_priors(people, secret="s", query=query), odds=3, confidence=0.95)
        assert list(found.channel.inputs) == cells
        p, q = (found.channel.through(np.outer(*shares).reshape(1, -1))[0] for shares in (first, second))
        used = p > 0
        beyond += bool(max((p[used] / q[used]).max(), (q[used] / p[used]).max()) > 3)
    assert beyond == 0


def test_nothing_is_added_unless_it_is_asked_for_or_needed(monkeypatch):
    people = table()
    assert not tk.fit_priors(people, secret="s", query=tk.Row("a", "b", "c")).is_smoothed
    assert not tk.fit_priors(people, secret="s", query=tk.Row("a", smoothing=30)).is_smoothed
    monkeypatch.setattr("takifugu.queries.row.MOST_VALUES", 10)
    assert tk.fit_priors(people, secret="s", query=tk.Row("a", "b", "c")).is_smoothed
    assert not tk.fit_priors(people, secret="s", query=tk.Row("a", "b", "c", smoothing=0)).is_smoothed
    for wrong in (-1, "some", math.nan, True):
        with pytest.raises(InputError, match="smoothing"):
            tk.Row("a", "b", smoothing=wrong)


def test_other_assumptions_and_the_price_are_told(tmp_path):
    priors = tk.fit_priors(table(), secret="s", query=tk.Row("a", "b", "c", smoothing=50))
    found = tk.calibrate(priors, odds=1.5, options={"solver": "columns", "rounds": 1}, confidence=0.9)
    (other,) = (one for one in found.findings if one.code == "other-smoothing")
    for added, loss in ((5, other["tenth"]), (500, other["tenfold"])):
        fitted = tk.fit_priors(table(), secret="s", query=tk.Row("a", "b", "c", smoothing=added))
        p, q = found.channel.through(np.array([law.weights / law.weights.sum() for law in fitted.values()]))
        assert loss == pytest.approx(abs(np.log(p / q)).max(), rel=1e-9)
    (price,) = (one for one in found.findings if one.code == "price-of-ignorance")
    assert 0 <= price["share"] < 1
    found.save(tmp_path / "calibration.json")
    assert tk.Calibration.load(tmp_path / "calibration.json").meets_budget()


def test_weights_of_columns_reach_a_sparse_channel(monkeypatch):
    monkeypatch.setattr("takifugu.queries.row.MOST_VALUES", 10)
    monkeypatch.setattr("takifugu.mechanisms.optimal.mechanism.MOST_VALUES", 10)
    query = tk.Row("a", "b", "c", loss={"a": 5, "b": 0})
    found = tk.calibrate(tk.fit_priors(table(), secret="s", query=query), odds=1.3, options={"rounds": 1})
    assert dict(found.options)["solver"] == "columns"
    assert dict(found.options)["weights"] == (5.0, 0.0, 1.0)
