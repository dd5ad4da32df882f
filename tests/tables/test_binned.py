import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.cli import main
from takifugu.tables.columns import cut_named, with_cuts
from takifugu.tables.table import Table


def people(rows=900, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows).astype(float)
    visits = np.clip(rng.integers(0, 4, rows) + (age >= 60), 0, 4)
    ill = np.where(rng.random(rows) < 0.3 + 0.2 * (visits > 2), "yes", "no")
    return pd.DataFrame({"age": age, "visits": visits, "ill": ill, "sex": rng.choice(["f", "m"], rows)})


@pytest.mark.parametrize("edges", [[], "30", [3, 3], [5, 1], [float("nan")], None, ["a"]])
def test_edges_grow(edges):
    with pytest.raises(tk.InputError, match="edge"):
        tk.binned("age", edges)


@given(
    st.lists(st.floats(-50, 50) | st.none(), min_size=1, max_size=30),
    st.lists(st.integers(-40, 40) | st.floats(-40, 40), min_size=1, max_size=4, unique_by=float),
)
@settings(max_examples=some_of(25))
def test_bins_are_those_of_numpy_in_every_engine(values, edges):
    cut = tk.binned("v", sorted(edges))
    assert cut_named(str(cut)) == cut
    assert cut_named(str(cut)).edges == cut.edges  # written so that reading it gives the same numbers
    wanted = [
        None if value is None else cut.labels[np.searchsorted(cut.edges, value, side="right")] for value in values
    ]
    frame = pd.DataFrame({"v": pd.array(values, dtype="Float64")})
    for source in (frame, pl.DataFrame({"v": pl.Series(values, dtype=pl.Float64)})):
        table = Table(source)
        found = table.collect(table.frame.select(table.secret(cut).alias("bin")))["bin"]
        assert [None if pd.isna(one) else one for one in found] == wanted


def test_it_is_a_name_that_travels():
    cut = tk.binned("age", [30, 60.5])
    assert cut == "age:30:60.5"
    for again in (copy.deepcopy(cut), pickle.loads(pickle.dumps(cut))):
        assert (again, again.column, again.edges) == (cut, "age", (30.0, 60.5))


def test_a_column_that_is_there_is_itself_and_the_longest_name_counts():
    frame = pd.DataFrame({"visit:1": [1.0, 40.0], "visit": [5.0, 6.0], "visit:1:30": ["p", "q"]})
    assert Table(frame).collect(Table(frame).frame.select(Table(frame).secret("visit:1:30")))["visit:1:30"] == [
        "p",
        "q",
    ]
    fewer = Table(frame[["visit:1", "visit"]])
    fewer.require("visit:1:30")
    assert fewer.collect(fewer.frame)["visit:1:30"] == ["below 30", "from 30"]


def test_a_secret_and_a_published_column_may_be_cut(tmp_path):
    table = people()
    asked = {"order": "keep", "confidence": None}
    hidden = tk.publish(table, secret=tk.binned("age", [30, 60]), columns=["visits"], odds=1.5, **asked)
    by_hand = table.assign(
        band=pd.cut(table.age, [0, 30, 60, 200], right=False, labels=["below 30", "from 30 to 60", "from 60"]).astype(
            str
        )
    )
    same = tk.publish(by_hand, secret="band", columns=["visits"], odds=1.5, **asked)
    assert hidden.calibration.error == same.calibration.error
    assert not tk.audit(hidden.table, table, hidden.calibration).contradicted

    shown = tk.publish(table, secret="ill", columns=[tk.binned("age", [30, 60]), "visits"], odds=1.3, **asked)
    assert set(shown.table["age:30:60"]) <= {"below 30", "from 30 to 60", "from 60"}
    assert not tk.audit(shown.table, table, shown.calibration).contradicted
    assert shown.calibration.answer.is_public is False  # of two columns, the rows that occur are listed
    shown.calibration.save(tmp_path / "calibration.json")
    loaded = tk.Calibration.load(tmp_path / "calibration.json")
    assert loaded.answer == shown.calibration.answer
    for frame in (pl.from_pandas(table), table):
        assert list(tk.release(frame, loaded, order="keep").columns) == ["visits", "age:30:60"]
    table.to_csv(tmp_path / "people.csv", index=False)
    assert tk.release_file(tmp_path / "people.csv", tmp_path / "out.csv", loaded).rows == len(table)


def test_the_bins_are_a_public_list():
    priors = tk.fit_priors(people(), secret="ill", query=tk.Row(tk.binned("age", [10, 60])))
    assert priors.answer.is_public
    assert priors.answer.domain[0].values == ("below 10", "from 10 to 60", "from 60")
    assert not any("read from" in str(finding) for finding in priors.findings)


def test_the_command_line_cuts_where_a_column_is_named(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    asked = ["publish", str(tmp_path / "people.csv"), str(tmp_path / "out.csv"), "--secret", "age:30:60"]
    asked += ["--columns", "visits,ill", "--known", "sex", "--order", "keep", "--confidence", "0"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    assert "'age:30:60'" in done.output
    assert list(pd.read_csv(tmp_path / "out.csv").columns) == ["visits", "ill"]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"secret": "age:30", "columns": ["visits"], "keep": ["age"]}, "knows the secret"),
        (
            {"secret": "sex:30", "columns": ["visits"]},
            "only numbers can be cut at edges: if words among",
        ),
        ({"secret": "age:30", "columns": ["age:30"]}, "both the secret and the answer"),
        ({"secret": "aeg:30", "columns": ["visits"]}, "no column 'aeg:30'"),
        ({"secret": "age:60:30", "columns": ["visits"]}, "edges must grow .* for 'age'"),
        ({"secret": "age:300", "columns": ["visits"]}, "at least two secrets"),
    ],
)
def test_what_cannot_be_cut_or_hides_nothing(asked, sentence):
    with pytest.raises(tk.InputError, match=sentence):
        tk.publish(people(), odds=3, **asked)


def test_cuts_leave_other_names_alone():
    import narwhals as nw

    frame = nw.from_native(people(5))
    assert with_cuts(frame, ["age", "nobody", None, 3]) is frame


def test_what_a_secret_is_cut_from_is_not_kept_beside_it():
    """Of a column with as many values as rows nobody counts which secret each goes with."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"income": rng.normal(50, 10, 900), "job": rng.choice(["a", "b"], 900)})
    made = tk.calibrate(tk.fit_priors(table, secret="income:50", query=tk.Row("job")), odds=3)
    for source in (table, pl.from_pandas(table)):
        with pytest.raises(tk.InputError, match="cut from it"):
            tk.release(source, made, keep=["income"], utility=tk.Utility(allow_no_noise=True))
    named = table.assign(**{"visit:1": table.job, "visit": table.income}).drop(columns=["income"])
    named["other"] = rng.choice(["p", "q"], 900)
    made = tk.calibrate(tk.fit_priors(named, secret="visit:1", query=tk.Row("other")), odds=3)
    assert (
        len(tk.release(named, made, keep=["visit"], utility=tk.Utility(allow_no_noise=True))) == 900
    )  # no cut, only called like one


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_sentinel_is_missing_and_in_no_bin(library):
    """Which rows lack an age goes with the secret: in a bin they would tell it, and no law is about them."""
    rng = np.random.default_rng(1)
    ill = rng.choice(["yes", "no"], 1200)
    age = np.where((ill == "yes") & (rng.random(1200) < 0.5), -9, rng.integers(0, 90, 1200))
    table, reading = library({"age": age, "ill": ill}), tk.Reading(sentinels=(-9,))
    done = tk.publish(
        table, secret="ill", columns=["age:30"], odds=3, reading=reading, utility=tk.Utility(allow_no_noise=True)
    )
    assert len(done.table) == (age != -9).sum()
    with pytest.raises(tk.InputError, match="missing values"):
        tk.release(table, done.calibration, utility=tk.Utility(allow_no_noise=True))
    left = tk.release(
        table, done.calibration, utility=tk.Utility(allow_no_noise=True), reading=tk.Reading(missing="drop")
    )
    assert len(left) == (age != -9).sum()


def test_no_column_is_cut_before_its_sentinels_are_gone():
    table = pd.DataFrame({"age": [-9, 20, 40], "sex": ["f", "m", "f"]})
    with pytest.raises(tk.InputError, match="no column 'age:30'"):
        Table(table, tk.Reading(sentinels=(-9, "age:30=from 30")))
    cleared = Table(table, tk.Reading(sentinels=("age=-9",)))
    cleared.require("age:30")
    assert [None if pd.isna(one) else one for one in cleared.collect(cleared.frame)["age:30"]] == [
        None,
        "below 30",
        "from 30",
    ]


@pytest.mark.parametrize(
    ("typed", "says"),
    [("pay:20.000:50.000", "'pay:20:50' cuts at 20 and 50"), ("pay:20,5", "'pay:30:45.5' cuts at 30 and 45.5")],
)
def test_edges_that_are_written_another_way_are_told_how_and_no_cut_passes_for_a_column(typed, says):
    people = pd.DataFrame({"pay": [10, 30, 60] * 20, "x": [1, 2] * 30})
    with pytest.raises(tk.InputError) as refused:
        tk.fit_priors(people, secret=typed, query=tk.Row("x"))
    assert f"without thousands marks or needless zeros: {says}." in str(refused.value)
    assert str(refused.value).endswith("Its columns are 'pay', 'x'.")
    assert "Did you mean" not in str(refused.value)
