"""Counts per secret: exact where they can be, on a grid that tells its width where they cannot."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.tables import counting
from takifugu.tables.counting import count, moments, overview
from takifugu.tables.table import Table


def frame(**columns: object) -> Table:
    return Table(pd.DataFrame(columns))


def counted(table: Table, secret: str = "s", column: str = "x") -> dict[object, counting.Subset]:
    return count(table, secret, column, overview(table, secret, column))


def test_counts_are_those_of_pandas():
    data = tk.datasets.load("adult")
    table = Table(data)
    for race, subset in counted(table, "race", "age").items():
        expected = data.loc[data["race"] == race, "age"].value_counts().sort_index()
        assert subset.values.tolist() == expected.index.tolist()
        assert subset.counts.tolist() == expected.tolist()
        assert subset.width == 0


def test_moments_are_those_of_pandas():
    data = tk.datasets.load("heart")
    table = Table(data)
    found = moments(table, "slope", "oldpeak", overview(table, "slope", "oldpeak"))
    for slope, group in data.groupby("slope")["oldpeak"]:
        assert found[slope] == pytest.approx((group.mean(), group.std()), rel=1e-12)


def test_rows_without_a_value_or_a_secret_are_dropped_and_counted():
    nan = math.nan
    table = frame(s=["a", "a", "a", "b", "b", None], x=[1.0, 2.0, nan, 3.0, 4.0, 5.0])
    seen = overview(table, "s", "x")
    assert seen.without_secret == 1
    assert {name: (e.rows, e.valid) for name, e in seen.extents.items()} == {"a": (3, 2), "b": (2, 2)}
    assert counted(table)["a"].values.tolist() == [1.0, 2.0]


def test_numeric_secrets_with_a_gap_among_them():
    table = frame(s=[1.0, 1.0, 2.0, 2.0, math.nan], x=[1, 2, 3, 4, 5])
    seen = overview(table, "s", "x", secrets=[2, "1"])
    assert list(seen.extents) == [2, 1]
    assert seen.without_secret == 1


@settings(max_examples=some_of(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(-1e6, 1e6)), min_size=20, max_size=80))
def test_few_values_on_a_grid_come_out_exact(rows):
    """Far fewer values than cells, and deep enough a grid: the counts equal those of the values."""
    rows = [*rows, ("a", 0.0), ("a", 1.0), ("b", 0.0), ("b", 1.0)]
    table = Table(pl.DataFrame({"s": [s for s, _ in rows], "x": [x for _, x in rows]}))
    exact = counted(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_EASY", 0)
        gridded = counted(table)
    for name, subset in exact.items():
        assert gridded[name].counts.sum() == subset.counts.sum()
        if gridded[name].width == 0:
            assert gridded[name].values.tolist() == subset.values.tolist()
            assert gridded[name].counts.tolist() == subset.counts.tolist()
        else:  # values closer than a cell, and too few of them to be worth a grid of their own
            assert gridded[name].width <= 2e6 / counting._CELLS


def test_a_grid_moves_no_value_by_more_than_half_its_width(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    monkeypatch.setattr(counting, "DISTINCT", 100)
    monkeypatch.setattr(counting, "_CELLS", 512)
    subset = counted(frame(s=["a"] * len(x), x=x))["a"]
    assert len(subset.values) <= 512
    assert 0 < subset.width <= (x.max() - x.min()) / 512
    assert subset.counts.sum() == len(x)
    restored = np.repeat(subset.values, subset.counts.astype(int))
    assert np.abs(restored - np.sort(x)).max() <= (x.max() - x.min()) / 1024


def test_an_outlier_does_not_coarsen_the_grid(monkeypatch):
    x = np.append(np.random.default_rng(1).normal(size=5_000), 1e12)
    monkeypatch.setattr(counting, "DISTINCT", 100)
    subset = counted(frame(s=["a"] * len(x), x=x))["a"]
    assert subset.width < 1e-3
    assert subset.values[-1] == 1e12


def test_as_many_values_as_the_limit_are_counted_exactly(monkeypatch):
    monkeypatch.setattr(counting, "DISTINCT", 100)
    monkeypatch.setattr(counting, "_on_grid", None)
    assert len(counted(frame(s=["a"] * 100, x=np.sqrt(np.arange(100.0))))["a"].values) == 100


BAD = {
    "no rows": (
        frame(s=pd.Series([], dtype="str"), x=pd.Series([], dtype="float64")),
        "the table has no rows",
    ),
    "no secret": (
        frame(s=pd.Series([None, None], dtype="str"), x=[1, 2]),
        "'s' is empty in every one of the 2",
    ),
    "no value": (frame(s=["a", "a"], x=[math.nan, math.nan]), "'x' has no value in any of the 2 rows"),
    "one row": (
        frame(s=["a"], x=[1.0]),
        "secret 'a' has 1 row with a value in 'x', and a prior needs at least 2",
    ),
    "a secret of one": (frame(s=["a", "a", "b"], x=[1, 2, 3]), "secret 'b' has 1 row"),
    "a secret of none": (frame(s=["a", "a", "b"], x=[1, 2, math.nan]), "secret 'b' has 0 rows"),
    "constant": (frame(s=["a", "a", "b", "b"], x=[7, 7, 7, 7]), "'x' is 7 in every row"),
    "infinite": (frame(s=["a", "a"], x=[1.0, math.inf]), "'x' is infinite in a row with secret 'a'"),
    "too wide": (frame(s=["a", "a"], x=[-1.7e308, 1.7e308]), "beyond float64: rescale it"),
    "no list of secrets": (frame(s=np.arange(1_001.0), x=np.arange(1_001)), "more than 1000 distinct values"),
    "text": (frame(s=["a", "b"], x=["1", "2"]), "'x' holds text, and numbers are needed"),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_input_is_a_sentence(case):
    table, sentence = BAD[case]
    with pytest.raises(tk.InputError, match=sentence):
        overview(table, "s", "x")


def test_a_secret_with_no_rows_is_told_those_there_are():
    table = frame(s=["a", "a", "b", "b"], x=[1, 2, 3, 4])
    with pytest.raises(
        tk.InputError, match=r"no row has s = 'c'; those there are, with their rows: 'a' \(2\), 'b' \(2\)"
    ):
        overview(table, "s", "x", secrets=["a", "c"])
    with pytest.raises(tk.InputError, match="secrets is empty"):
        overview(table, "s", "x", secrets=[])
    with pytest.raises(tk.InputError, match=r"secrets must be a list of values, got the text 'ab'"):
        overview(table, "s", "x", secrets="ab")


def test_a_column_of_names_is_no_secret_and_no_name_is_said():
    names = [f"person {k}" for k in range(40)]
    table = frame(s=[*names, *names[:10]], x=list(range(50)))
    for wanted in (None, ["nobody"]):
        with pytest.raises(tk.InputError, match="30 of the 40 values of column 's' stand in one row each") as caught:
            overview(table, "s", "x", secrets=wanted)
        assert "person" not in str(caught.value)


MEASURED = {
    "decimals, mostly of one row": np.arange(60) / 7,
    "decimals, mostly shared": [*np.repeat(np.arange(30) / 10, 3), 43.7],
    "whole numbers, mostly shared": [*np.repeat(np.arange(30, 60), 3), 87],
}


@pytest.mark.parametrize("case", list(MEASURED))
def test_numbers_that_were_measured_are_to_be_cut_and_none_is_said(case):
    values = np.asarray(MEASURED[case], dtype=float if "decimals" in case else int)
    table = pd.DataFrame({"weight": values, "x": np.arange(len(values)) % 9})
    asks = (
        lambda: overview(Table(table), "weight", "x"),
        lambda: tk.fit_priors(table, secret="weight", query=tk.Row("x")),
        lambda: tk.inspect(table, "weight"),
    )
    for ask in asks:
        with pytest.raises(tk.InputError, match="'weight:EDGE:EDGE', as in 'age:30:60'") as caught:
            ask()
        assert not any(spelled in str(caught.value) for spelled in ("43.7", "87", "0.1", "1 row:"))
    cut = tk.fit_priors(table, secret=f"weight:{np.median(values):g}", query=tk.Row("x"))
    assert len(cut) == 2


def test_numbers_that_are_named_or_shared_can_be_secrets():
    table = frame(s=[*np.repeat(np.arange(30) / 10, 3), 43.7], x=list(range(91)))
    assert list(overview(table, "s", "x", secrets=[0.1, 0.2]).extents) == [0.1, 0.2]
    shared = frame(s=np.repeat(np.arange(30) / 10, 3), x=list(range(90)))
    assert len(overview(shared, "s", "x").extents) == 30
    few = frame(s=[*np.repeat(np.arange(5) / 10, 3), 43.7], x=list(range(16)))
    with pytest.raises(tk.InputError, match="has 1 row"):
        overview(few, "s", "x")


def test_a_secret_asked_for_twice_is_one():
    table = frame(s=["a", "a", "b", "b"], x=[1, 2, 3, 4])
    assert list(overview(table, "s", "x", secrets=["b", "a", "b"]).extents) == ["b", "a"]


def test_a_constant_subset_keeps_its_value_to_the_bit():
    table = frame(s=["a"] * 3 + ["b"] * 3, x=[0.1, 0.1, 0.1, 1, 2, 3])
    assert moments(table, "s", "x", overview(table, "s", "x"))["a"] == (0.1, 0.0)


def test_a_table_that_changes_meanwhile_is_refused():
    before = frame(s=["a"] * 3 + ["b"] * 3, x=[1, 2, 3, 4, 5, 6])
    after = frame(s=["a"] * 4 + ["b"] * 2, x=[1, 2, 3, 4, 5, 6])
    seen = overview(before, "s", "x")
    for question in (count, moments):
        with pytest.raises(tk.InputError, match="the table changed while it was being read"):
            question(after, "s", "x", seen)
