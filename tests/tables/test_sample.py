"""Training rows: complete, bounded, and the same whoever holds the table."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import takifugu as tk
from takifugu.problems.diagnostics import Diagnostic
from takifugu.tables import sample as training
from takifugu.tables.sample import Training, prepare
from takifugu.tables.table import Table


def prepared(data: object, **options: object) -> Training:
    settings = {"features": None, "at": None, "secrets": None, "most": 1_000, "seed": 0, **options}
    return prepare(Table(data), "s", "y", **settings)


def made(rows: int, *, distinct: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(rows)
    x = rng.normal(size=rows) if distinct else rng.integers(0, 5, rows).astype(float)
    return pd.DataFrame(
        {
            "s": np.where(rng.random(rows) < 0.5, "a", "b"),
            "x": x,
            "z": rng.integers(0, 3, rows),
            "y": np.sin(x),
        }
    )


def test_all_rows_are_used_where_they_are_few():
    data = made(300)
    found = prepared(data)
    for name, sample in found.samples.items():
        mine = data[data["s"] == name]
        assert sorted(sample.answers) == sorted(mine["y"])
        assert sample.inputs.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
        assert sample.inputs.std(axis=0) == pytest.approx([1, 1])
        expected = (data[["x", "z"]].mean() - mine[["x", "z"]].mean()) / mine[["x", "z"]].std(ddof=0)
        assert sample.at == pytest.approx(expected.to_numpy(), abs=1e-12)
    assert not found.findings


@pytest.mark.parametrize("distinct", [True, False])
def test_the_sample_does_not_hang_on_the_engine_or_the_order(monkeypatch, distinct):
    monkeypatch.setattr(training, "_LINES", 4)  # 4 × 50 lines: the engine has to thin 3,000 rows
    data = made(3_000, distinct=distinct)
    shuffled = data.sample(frac=1, random_state=1)
    results = [prepared(t, most=50) for t in (data, shuffled, pl.from_pandas(data), duckdb.from_df(shuffled))]
    for found in results:
        assert len(found.findings) == 2
        for name, sample in found.samples.items():
            assert len(sample.answers) == 50
            assert Diagnostic("subsampled", secret=name, rows=int((data["s"] == name).sum()), used=50) in found.findings
            first = results[0].samples[name]
            assert (sample.answers == first.answers).all()
            assert (sample.inputs == first.inputs).all()


def test_another_seed_draws_other_rows():
    data = made(500)
    answers = [prepared(data, most=50, seed=seed).samples["a"].answers for seed in (0, 1)]
    assert sorted(answers[0]) != sorted(answers[1])


def test_the_lottery_thins_evenly(monkeypatch):
    """Kolmogorov-Smirnov against all rows: thinning must not prefer some values."""
    from scipy.stats import ks_2samp

    monkeypatch.setattr(training, "_LINES", 2)
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"s": "a", "x": rng.exponential(size=200_000), "y": rng.normal(size=200_000)})
    sample = prepared(data, most=2_000).samples["a"]
    assert len(sample.answers) == 2_000
    assert ks_2samp(sample.answers, data["y"]).pvalue > 0.01


def test_repeated_rows_are_drawn_as_often_as_they_occur(monkeypatch):
    monkeypatch.setattr(training, "_LINES", 1)
    data = pd.DataFrame({"s": "a", "x": [0.0] * 9_000 + [1.0] * 1_000, "y": [0.0] * 9_000 + [1.0] * 1_000})
    sample = prepared(data, most=1_000).samples["a"]
    assert len(sample.answers) == 1_000
    assert sample.answers.mean() == pytest.approx(0.1, abs=0.04)


def test_incomplete_rows_are_left_out():
    data = made(100)
    data.loc[:9, "x"] = np.nan
    data.loc[5:14, "y"] = np.nan
    assert sum(len(sample.answers) for sample in prepared(data).samples.values()) == 85


def test_a_constant_feature_is_left_out():
    found = prepared(made(100).assign(c=3.0))
    assert found.findings == [Diagnostic("constant-feature", column="c")]
    assert found.samples["a"].inputs.shape[1] == 2


def test_a_feature_constant_within_a_secret_is_ignored_there():
    data = made(100)
    data["c"] = np.where(data["s"] == "a", 1.0, data["x"])
    found = prepared(data)
    assert (found.samples["a"].inputs.shape[1], found.samples["b"].inputs.shape[1]) == (2, 3)


def test_the_point_may_be_named_or_listed():
    data = made(100)
    named = prepared(data, at={"x": 0.5, "z": 1}).samples["a"].at
    listed = prepared(data, at=[0.5, 1.0]).samples["a"].at
    assert named.tolist() == listed.tolist()
    rest = prepared(data, at={"x": 0.5}).samples["a"].at
    assert rest[0] == named[0]
    assert rest[1] == prepared(data).samples["a"].at[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"features": ["x", "q"]}, "no column 'q'"),
        ({"features": ["s"]}, "'s' holds text"),
        ({"features": ["x", "y"]}, "feature 'y' is the target"),
        ({"features": ["x", "x"]}, "each feature must be named once"),
        ({"at": {"xx": 1.0}}, "at names 'xx', which is no feature. Did you mean 'x'"),
        ({"at": [1.0]}, "at must give a value for each of the 2 features, in the order 'x', 'z'"),
        ({"at": 3.0}, "at must give a value for each"),
        ({"at": {"x": "tall"}}, r"at\['x'\] must be a finite number"),
    ],
)
def test_bad_input_is_a_sentence(options, sentence):
    with pytest.raises(tk.InputError, match=sentence):
        prepared(made(50), **options)


def test_tables_that_teach_nothing():
    with pytest.raises(tk.InputError, match="no numeric column to predict 'y' from"):
        prepared(made(50)[["s", "y"]])
    with pytest.raises(tk.InputError, match="every feature is the same in every row"):
        prepared(made(50)[["s", "y"]].assign(c=1))
    with pytest.raises(tk.InputError, match="'x' holds an infinite value"):
        prepared(made(50).assign(x=np.inf))
    with pytest.raises(tk.InputError, match="feature 's' is the secret"):
        prepare(Table(made(50).assign(s=1)), "s", "y", features=["s"], at=None, secrets=None, most=9, seed=0)
