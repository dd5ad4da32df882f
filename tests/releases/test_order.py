"""A table whose order tells the secret is not released; a shuffled one always is."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

import takifugu as tk
from takifugu.releases.order import NOTICED, REFUSED, Order, coin_divergence

ROWS = 2_000


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"s": rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.3, 0.1])})
    table["x"] = np.where(table.s == "a", rng.integers(0, 5, ROWS), rng.integers(1, 6, ROWS))
    return table


@pytest.fixture(scope="module")
def calibration(people):
    return tk.calibrate(tk.fit_priors(people, secret="s", query=tk.Row("x")), odds=3)


def sorted_by_secret(people):
    return people.sort_values("s", kind="stable").reset_index(drop=True)


def test_sorted_rows_are_refused_at_every_door(people, calibration, tmp_path):
    table = sorted_by_secret(people)
    assert len(tk.release(people, calibration)) == ROWS
    with pytest.raises(tk.InputError, match="order of the rows tells the secret"):
        tk.release(table, calibration, order="keep")
    with pytest.raises(tk.InputError, match="order of the rows tells the secret"):
        tk.release(table["x"], calibration, secret=table["s"], order="keep")
    with pytest.raises(tk.InputError, match="order of the rows tells the secret"):
        tk.publish(table, secret="s", columns=["x"], confidence=None, order="keep")
    table.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(tk.InputError, match="order of the rows tells the secret"):
        tk.release_file(tmp_path / "people.csv", tmp_path / "out.csv", calibration, order="keep")
    assert not (tmp_path / "out.csv").exists()


def test_release_keeps_such_an_order_with_a_warning_unless_asked_otherwise(people, calibration, tmp_path, caplog):
    table = sorted_by_secret(people)
    for release in (
        lambda: tk.release(table, calibration),
        lambda: tk.release(table["x"], calibration, secret=table["s"]),
    ):
        caplog.clear()
        assert len(release()) == ROWS
        assert "the order of the rows tells the secret, and was kept" in caplog.text
    table.to_csv(tmp_path / "people.csv", index=False)
    done = tk.release_file(tmp_path / "people.csv", tmp_path / "out.csv", calibration)
    assert done.rows == ROWS
    assert "tells the secret, and was kept" in done.unchecked[0]
    caplog.clear()
    tk.release(people, calibration)
    assert "order" not in caplog.text


def test_a_refusal_costs_nothing(people, calibration, tmp_path):
    ledger = tk.Ledger(tmp_path / "people.ledger", new=True)
    with pytest.raises(tk.InputError, match="Nothing was released"):
        tk.release(sorted_by_secret(people), calibration, ledger=ledger, order="keep")
    assert ledger.account() is None
    assert len(tk.release(people, calibration, ledger=ledger)) == ROWS


def test_an_order_by_the_answer_tells_what_the_answer_does():
    """Sorted by a column that differs much between the secrets, the places give the true values back."""
    rng = np.random.default_rng(6)
    table = pd.DataFrame({"s": rng.choice(["a", "b"], ROWS)})
    table["x"] = np.clip(np.rint(rng.normal(np.where(table.s == "a", 3, 7), 1.0)), 0, 10).astype(int)
    calibration = tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row("x")), alpha=2, epsilon=0.5)
    assert len(tk.release(table, calibration)) == ROWS
    with pytest.raises(tk.InputError, match="order of the rows tells the secret"):
        tk.release(table.sort_values("x").reset_index(drop=True), calibration, order="keep")


def test_a_stretch_that_moves_the_odds_is_enough(people, calibration):
    """Nearly all rows of a rare secret in one part of the table: guesses gain little, odds move far."""
    rare = people[people.s == "c"]
    others = people[people.s != "c"]
    table = pd.concat([others[:900], rare, others[900:]]).reset_index(drop=True)
    with pytest.raises(tk.InputError, match="in a part of the table"):
        tk.release(table, calibration, order="keep")


def test_a_part_without_a_secret_is_noticed(people, calibration):
    """Lists that were put one below the other, the second without anybody of the rare secret."""
    table = pd.concat([people] * 4)[lambda t: ~((t.s == "c") & (t.index >= ROWS // 2))]
    table = table.sort_index().reset_index(drop=True)
    with pytest.raises(tk.InputError, match="in a part of the table"):
        tk.release(table, calibration, order="keep")


def test_what_is_known_may_explain_an_order_but_not_all_of_it(people):
    people = pd.concat([people] * 5).reset_index(drop=True)
    rng = np.random.default_rng(2)
    year = np.sort(rng.integers(2000, 2004, len(people)))
    table = people.assign(year=year, s=np.where(rng.random(len(people)) < (year - 1999) / 5, "a", "b"))
    priors = tk.fit_priors(table, secret="s", query=tk.Row("x"), known=["year"])
    calibration = tk.calibrate(priors, odds=1.5)
    how = {"allow_no_noise": True, "order": "keep"}
    # Beside the year itself its order tells nothing new; to who does not know the year, it does.
    assert len(tk.release(table, calibration, keep=["year"], **how)) == 5 * ROWS
    with pytest.raises(tk.InputError, match=r"more than 1\.5 times"):
        tk.release(table, calibration, **how)
    within = table.sort_values(["year", "s"], ignore_index=True)
    with pytest.raises(tk.InputError, match=r"more than 1\.5 times"):
        tk.release(within, calibration, keep=["year"], **how)


@pytest.mark.parametrize("more", [{}, {"known": ["ward"]}, {"keep": ["ward"]}])
def test_an_order_that_tells_is_given_up_whatever_is_known(more):
    rng = np.random.default_rng(0)
    s = np.concatenate([np.zeros(4_000, int), rng.integers(0, 2, 4_000)])  # the first half holds no 'pos'
    x, ward = (rng.random(8_000) < 0.4 + 0.1 * s).astype(int), rng.integers(0, 2, 8_000)
    table = pd.DataFrame({"s": np.array(["neg", "pos"])[s], "x": x, "ward": ward})
    made = tk.publish(table, secret="s", columns=["x"], odds=1.5, confidence=None, allow_no_noise=True, **more)
    assert any("shuffled" in str(finding) for finding in made.findings)


def test_secrets_without_a_promise_between_them_may_be_sorted(people):
    priors = tk.fit_priors(people, secret="s", query=tk.Row("x"))
    calibration = tk.calibrate(priors, odds=3, pairs=[("a", "b")])
    third = people.s == "c"
    table = pd.concat([people[~third], people[third]]).reset_index(drop=True)
    assert len(tk.release(table, calibration, others="release")) == ROWS


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(2, 3_000),
    share=st.floats(0.01, 0.99),
    odds=st.floats(1.05, 5),
)
def test_a_shuffled_table_is_never_refused(seed, rows, share, odds):
    order = Order()
    order.look(np.random.default_rng(seed).choice(["a", "b"], rows, p=[share, 1 - share]).tolist())
    assert order.surely_told("a", "b") <= 0.5
    assert not order.surely_moves("a", "b", odds)


@given(st.lists(st.sampled_from("abc"), max_size=300), st.lists(st.integers(1, 60), min_size=1, max_size=12))
def test_batches_make_no_difference(secrets, cuts):
    whole, parts = Order(), Order()
    whole.look(secrets)
    start = 0
    for cut in [*cuts, len(secrets)]:
        parts.look(secrets[start : start + cut])
        start += cut
    assert parts._counts == whole._counts
    assert sum(stretch.total() for stretch in whole._counts) == len(secrets)
    assert len(whole._counts) <= 32


def test_chance_is_no_more_than_it_says():
    """Every place of four rows of one secret among ten: how often each margin is passed, counted."""
    first, rows = 4, 10
    orders = list(combinations(range(rows), first))
    for stretches, risk in ((2, 0.3), (5, 0.5)):
        room = (1 / first + 1 / (rows - first)) * (1 + 1 / (rows - first))
        margin = math.sqrt(0.5 * (stretches * math.log(2) + math.log(1 / risk)) * room)
        passed = 0
        for places in orders:
            of_first = np.bincount([place * stretches // rows for place in places], minlength=stretches)
            of_second = rows // stretches - of_first
            passed += 0.5 * np.abs(of_first / first - of_second / (rows - first)).sum() >= margin
        assert passed <= risk * len(orders)
    for seen in range(1, 6):
        for share in (0.4, 0.55, 0.7):
            tail = hypergeom.sf(seen - 1, rows, first, 5)
            if seen / 5 > share:
                assert tail <= math.exp(-5 * coin_divergence(seen / 5, share)) * (1 + 1e-12)


def test_small_tables_are_looked_at_in_halves():
    order = Order()
    order.look(["a"] * 150 + ["b"] * 150)
    assert order.surely_told("a", "b") > 0.75
    assert order.surely_told("a", "nobody") == 0.5
    assert Order().surely_told("a", "b") == 0.5


def test_a_warning_needs_less_than_a_refusal():
    order = Order()
    order.look(["a"] * 64 + ["b"] * 64)
    assert not order.surely_moves("a", "b", 3.0, chance=REFUSED)
    assert order.surely_moves("a", "b", 3.0, chance=NOTICED)
    assert order.surely_told("a", "b", chance=NOTICED) > order.surely_told("a", "b", chance=REFUSED)
