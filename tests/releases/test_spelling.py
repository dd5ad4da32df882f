"""A second file means by its cells what the first one did; and rows that lack a value meet one rule."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import takifugu as tk
from takifugu.problems.answer import Spelling
from takifugu.tables.reading import Reading
from takifugu.tables.table import Table


def write(path, *, decimal=".", sep=",", extra=()):
    rng = np.random.default_rng(2)
    rows = [("ab"[k % 2], f"{rng.integers(2, 9)}{decimal}{rng.integers(0, 2) * 5}") for k in range(200)]
    path.write_text(f"s{sep}v\n" + "".join(f"{s}{sep}{v}\n" for s, v in (*rows, *extra)))
    return path


def write_german(path):
    return write(path, decimal=",", sep=";", extra=[("a", "99")])


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    path = write_german(tmp_path_factory.mktemp("german") / "german.csv")
    priors = tk.fit_priors(path, secret="s", query=tk.Raw("v"), reading=Reading(sentinels=(99,)))
    return tk.calibrate(priors, alpha=2, epsilon=1)


@pytest.fixture
def german(calibrated, tmp_path):
    write_german(tmp_path / "german.csv")
    calibrated.save(tmp_path / "calibration.json")
    return tk.Calibration.load(tmp_path / "calibration.json")


def test_a_calibration_remembers_what_cells_meant(german, tmp_path):
    assert german.answer.spelling == Spelling(decimal=",", sentinels=(99,))
    data = json.loads((tmp_path / "calibration.json").read_text())
    assert data["problem"]["answer"]["spelling"]["decimal"] == ","
    for bad in ({"decimal": 1}, {"more": 1}, {"sentinels": [[]]}, {"na": "x"}):
        changed = json.loads((tmp_path / "calibration.json").read_text())
        changed["problem"]["answer"]["spelling"] |= bad
        with pytest.raises(tk.InputError):
            tk.Calibration.from_dict(changed)


def test_a_second_file_is_read_the_same_way(german, tmp_path):
    """Its sentinel is one without being declared again, and its rows go as they did."""
    done = tk.release_file(
        tmp_path / "german.csv",
        tmp_path / "out.csv",
        german,
        reading=Reading(missing="drop"),
        utility=tk.Utility(allow_no_noise=True),
    )
    assert done.rows == 200


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        (Reading(decimal="."), "read with decimal=',', and this one is to be read with '.'"),
        (Reading(sentinels=(98,)), r"read with sentinels=\(99,\)"),
    ],
)
def test_another_meaning_is_refused(german, tmp_path, reading, says):
    with pytest.raises(tk.InputError, match=says):
        tk.release_file(
            tmp_path / "german.csv",
            tmp_path / "out.csv",
            german,
            reading=reading,
            utility=tk.Utility(allow_no_noise=True),
        )
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_writes_its_numbers_otherwise_is_not_misread(german, tmp_path):
    other = write(tmp_path / "english.csv", decimal=".", sep=",")
    with pytest.raises(tk.InputError):
        tk.release_file(other, tmp_path / "out.csv", german, utility=tk.Utility(allow_no_noise=True))


def test_files_without_a_word_on_spelling_are_read_as_before(german):
    data = json.loads(json.dumps(german.to_dict()))
    del data["problem"]["answer"]["spelling"]
    assert tk.Calibration.from_dict(data).answer.spelling is None
    assert tk.Calibration.from_dict(data) == german


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pl.LazyFrame], ids=["pandas", "polars", "lazy"])
def test_rows_without_a_value_meet_one_rule(library):
    values = [1.0, 2.0, None, 3.0] * 30
    frame = library({"s": ["a", "b"] * 60, "v": values})
    table = pd.DataFrame({"s": ["a", "b"] * 60, "v": values})
    made = tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row("v")), odds=2)
    with pytest.raises(tk.InputError, match="30 missing values"):
        tk.release(frame, made)
    out = tk.release(frame, made, reading=tk.Reading(missing="drop"))
    assert len(out.collect() if library is pl.LazyFrame else out) == 90
    assert len(tk.publish(table, secret="s", columns=["v"], confidence=None).table) == 90
    with pytest.raises(tk.InputError, match="missing must be one of 'drop', 'refuse'"):
        tk.release(frame, made, reading=tk.Reading(missing="fill"))


def test_the_transformer_fits_as_raw_does_by_default():
    rng = np.random.default_rng(0)
    X, secrets = rng.integers(0, 9, (300, 1)) + np.repeat([[0], [2]], 150, axis=0), np.repeat(["a", "b"], 150)
    table = pd.DataFrame({"s": secrets, "x": X[:, 0].astype(float)})
    raw = tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Raw("x")), alpha=2, epsilon=1)
    assert tk.ReleaseTransformer().fit(X.astype(float), secret=secrets).calibration_.theta == raw.theta


@pytest.fixture(scope="module", params=[99, "v=99"])
def with_sentinel(request):
    """Rows, one of them with a sentinel, and what was calibrated with it declared."""
    rng = np.random.default_rng(4)
    rows = {"s": [*"ab" * 100, "a"], "v": [*rng.integers(60, 120, 200).tolist(), 99]}
    reading = Reading(sentinels=(request.param,))
    priors = tk.fit_priors(pd.DataFrame(rows), secret="s", query=tk.Raw("v"), reading=reading)
    return rows, tk.calibrate(priors, alpha=2, epsilon=1e-3)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pl.LazyFrame], ids=["pandas", "polars", "lazy"])
def test_a_table_in_memory_means_by_a_sentinel_what_it_meant_before(library, with_sentinel):
    rows, made = with_sentinel
    gone = rows["v"].count(99)
    with pytest.raises(tk.InputError, match=f"{gone} missing values"):
        tk.release(library(rows), made)
    if library is not pl.LazyFrame:
        assert len(tk.release(library(rows), made, reading=tk.Reading(missing="drop"))) == 201 - gone
    for values in (rows["v"], np.array(rows["v"]), pd.Series(rows["v"], name="v"), pl.Series("v", rows["v"])):
        with pytest.raises(tk.InputError, match=f"{gone} of 201 values are such as stood for a missing one"):
            tk.release(values, made, secret=rows["s"])
    without = [v for v in rows["v"] if v != 99]
    assert len(tk.release(without, made, secret=[s for s, v in zip(rows["s"], rows["v"], strict=True) if v != 99])) > 0


def test_a_table_that_was_opened_with_values_for_missing_ones_is_refused(tmp_path):
    """A code among the values was counted for nobody, and would leave as the value next to it."""
    path = tmp_path / "people.parquet"
    pd.DataFrame({"s": ["a", "b"] * 50, "v": [0, 2, 4, 12, 9] * 20}).to_parquet(path)
    reading = Reading(sentinels=(9,))
    made = tk.calibrate(tk.fit_priors(path, secret="s", query=tk.Row("v"), reading=reading), odds=3)
    with pytest.raises(tk.InputError, match=r"read with sentinels=\(9,\), and this one was opened without"):
        tk.release_file(Table(path), tmp_path / "out.csv", made, utility=tk.Utility(allow_no_noise=True))
    assert (
        tk.release_file(Table(path, reading), tmp_path / "out.csv", made, utility=tk.Utility(allow_no_noise=True)).rows
        == 80
    )
