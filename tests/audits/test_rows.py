"""Which published row is whose, and what is refused because nobody can tell."""

import numpy as np
import pandas as pd
import pytest
from broken_releases import gaussian

import takifugu as tk
from takifugu.audits.rows import read_rows


@pytest.fixture
def tables():
    rng = np.random.default_rng(1)
    truth = pd.DataFrame({"id": np.arange(60), "s": ["a", "b", "c"] * 20, "x": rng.normal(0, 1, 60)})
    truth["town"] = rng.choice(["n", "m"], 60)
    return truth[["id", "x", "town"]].assign(x=lambda t: t.x + 1), truth


def read(published, truth, **options):
    return read_rows(published, truth, gaussian(), **{"secret": "s", "keys": None, **options})


def test_rows_of_other_secrets_are_left_out(tables):
    rows = read(*tables)
    assert len(rows) == 40
    assert set(rows.secrets) == {"a", "b"}
    assert rows.place[:3].tolist() == [0, 1, 3]


def test_a_release_without_the_others_is_joined_to_those_it_kept(tables):
    published, truth = tables
    rows = read(published[truth.s != "c"].reset_index(drop=True), truth)
    assert (rows.published["id"].numbers == rows.truth["id"].numbers).all()
    assert rows.place.tolist() == list(range(40))


def test_keys_join_rows_in_any_order(tables):
    published, truth = tables
    mixed = published.sample(frac=1, random_state=3).reset_index(drop=True)
    with pytest.raises(tk.InputError, match="in another order"):
        read(mixed, truth)
    rows = read(mixed.assign(id=mixed.id.astype(float)), truth, keys="id")  # a number is its value
    assert (rows.published["x"].numbers == rows.truth["x"].numbers + 1).all()


def test_files_are_read_like_frames(tables, tmp_path):
    for name, frame in zip(("published.csv", "truth.csv"), tables, strict=True):
        frame.to_csv(tmp_path / name, index=False)
    rows = read(tmp_path / "published.csv", tmp_path / "truth.csv", keys=["id"])
    assert np.allclose(rows.published["x"].numbers, rows.truth["x"].numbers + 1)


def test_a_column_that_came_from_a_seed_is_recognised(tables):
    published, truth = tables
    assert "x" in read(published.rename(columns={"x": "x (insecure seed)"}), truth).published


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda p, t: (p[:50], t), {}, "it is not known which row is whose"),
        (lambda p, t: (p, t.drop(columns="s")), {}, "truth has no column 's'"),
        (lambda p, t: (p, t), {"secret": None}, "secret is missing"),
        (lambda p, t: (p, t), {"keys": ["idd"]}, "published has no column 'idd'"),
        (lambda p, t: (p, t), {"keys": ["town"]}, "a second time"),
        (lambda p, t: (p.assign(id=p.id + 1), t), {"keys": ["id"]}, "1 of 60 published rows have keys"),
        (lambda p, t: (p, t.assign(s="z")), {}, "no row of the publication"),
        (lambda p, t: (p[:0], t), {}, "published has no rows"),
        (lambda p, t: (np.zeros((3, 3)), t), {}, "one column"),
    ],
)
def test_what_cannot_be_joined_is_refused(tables, change, options, says):
    with pytest.raises(tk.InputError, match=says):
        read(*change(*tables), **options)


def test_a_column_that_left_before_belongs_beside_those_that_left_later():
    truth = pd.DataFrame({"s": ["a", "b"] * 20, "x": [0, 1] * 20, "y": [0, 0, 1, 1] * 10})
    both = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x", "y")), odds=3)
    with pytest.raises(tk.InputError, match=r"published lacks 'x', .* into one table, row beside row"):
        read_rows(truth[["y"]], truth, both, secret=None, keys=None)
    with pytest.raises(tk.InputError, match="published has no column 'x'"):
        read_rows(truth[["s"]], truth, both, secret=None, keys=None)


@pytest.mark.parametrize("column", ["pain", "pain:3"])
def test_what_meant_a_missing_value_does_so_in_the_truth(tmp_path, column):
    rng = np.random.default_rng(5)
    pain = [("k.A.", "NA", "99")[k % 3] if k % 7 == 2 else str(rng.integers(0, 8)) for k in range(800)]
    lines = ["sick;pain;weight", *(f"{'ab'[k % 2]};{one};{'999' if k % 5 else 70}" for k, one in enumerate(pain))]
    (tmp_path / "truth.csv").write_text("\n".join(lines) + "\n")
    reading = tk.Reading(sentinels=["k.A.", "pain=99", "weight=999"])
    asked = {
        "secret": "sick",
        "columns": [column],
        "odds": 2,
        "confidence": None,
        "utility": tk.Utility(allow_no_noise=True),
    }
    made = tk.publish(tmp_path / "truth.csv", **asked, reading=reading, order="keep")
    whole = sum(k % 7 != 2 for k in range(800))
    assert made.table.num_rows == whole
    rows = read_rows(made.table, tmp_path / "truth.csv", made.calibration, secret=None, keys=None)
    assert len(rows) == whole
    assert (rows.secrets == np.array([("a", "b")[k % 2] for k in range(800) if k % 7 != 2], dtype=object)).all()
    # The table may come without columns that nothing was calibrated on; and what is said of it counts.
    bare = pd.DataFrame({"sick": ["ab"[k % 2] for k in range(800)]})
    bare["pain"] = [np.nan if one in ("k.A.", "NA") else float(one) for one in pain]
    assert len(read_rows(made.table, bare, made.calibration, secret=None, keys=None)) == whole
    with pytest.raises(tk.InputError, match="it is not known which"):
        read_rows(made.table, bare, made.calibration, secret=None, keys=None, reading=tk.Reading(sentinels=["b"]))
