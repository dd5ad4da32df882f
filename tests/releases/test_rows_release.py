"""Rows through every door: arrays, columns, tables of several libraries, and files in batches."""

import collections
import dataclasses
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import takifugu as tk
from takifugu.channels import FiniteChannel
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.releases import plan as plans
from takifugu.releases.ledger import Ledger
from takifugu.releases.plan import NoNoiseWarning
from takifugu.tables import table as streaming
from takifugu.tables.reading import Reading

FRAMES = [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, lambda table: pl.from_pandas(table).lazy()]


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    second = rng.random(rows) < 0.4
    return pd.DataFrame(
        {
            "s": np.where(second, "b", "a"),
            "x": np.clip(rng.integers(0, 5, rows) + second, 0, 5),
            "w": np.where(rng.random(rows) < np.where(second, 0.7, 0.4), "A", "B"),
            "t": rng.random(rows) < np.where(second, 0.7, 0.4),
            "id": np.arange(rows),
        }
    )


TABLE = people()


def calibrated(*columns, table=TABLE, **options):
    return tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row(*columns, **options)), odds=1.5)


ONE, TWO, TRUTH, TEXT = calibrated("x"), calibrated("x", "w"), calibrated("t"), calibrated("w")


def columns_of(frame):
    wrapped = nw.from_native(frame).lazy().collect()
    return {name: wrapped[name].to_list() for name in wrapped.columns}


@pytest.mark.parametrize("make", FRAMES)
def test_a_table_comes_back_as_a_table_of_its_library(make):
    for calibration, names, kinds in (
        (ONE, ["x"], {int}),
        (TWO, ["x", "w"], {int, str}),
        (TRUTH, ["t"], {bool}),
        (TEXT, ["w"], {str}),
    ):
        table = make(TABLE)
        out = tk.release(table, calibration, keep=["id"], order="keep")
        assert type(out) is type(table)
        found = columns_of(out)
        assert list(found) == [*names, "id"]
        assert found["id"] == TABLE["id"].tolist()
        assert {type(value) for name in names for value in found[name]} == kinds
        rows = set(zip(*(found[name] for name in names), strict=True))
        inputs = calibration.channel.outputs
        assert rows <= {value if isinstance(value, tuple) else (value,) for value in inputs}
        assert found[names[0]] != TABLE[names[0]].tolist()  # something was changed


@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda name, data: pa.chunked_array([data])])
def test_a_column_comes_back_as_a_column_of_its_library(make):
    for calibration, name in ((ONE, "x"), (TRUTH, "t"), (TEXT, "w")):
        values = TABLE[name].tolist()
        column = pd.Series(values, name=name) if make is pd.Series else make(name, values)
        out = tk.release(column, calibration, secret=TABLE["s"].tolist())
        assert type(out) is type(column)
        assert len(out) == len(TABLE)
        assert set(out.to_pylist() if hasattr(out, "to_pylist") else out.to_list()) <= set(values)


def test_a_pandas_column_loses_its_labels():
    column = pd.Series([1, 2, 3], index=["p", "q", "r"], name="x")
    out = tk.release(column, ONE, secret=["a", "z", "b"], others="drop")
    assert (out.index.tolist(), out.name) == ([0, 1], "x")


def test_arrays_of_values_and_of_rows():
    secrets = TABLE["s"].tolist()
    for values in (TABLE["x"].to_numpy(), TABLE["x"].tolist(), TABLE["x"].to_numpy(dtype=float)):
        out = tk.release(values, ONE, secret=secrets)
        assert out.dtype == np.int64
        assert set(out.tolist()) <= set(range(6))
    rows = list(zip(TABLE["x"].tolist(), TABLE["w"].tolist(), strict=True))
    for values in (rows, [list(row) for row in rows], np.array(rows, dtype=object)):
        out = tk.release(values, TWO, secret=secrets)
        assert len(out) == len(rows)
        assert set(out) <= set(TWO.channel.outputs)  # whole rows, not only their first column
    kept = tk.release(rows, TWO, secret=["a", "z"] * 300, others="drop")
    assert len(kept) == 300
    for bad in ([(1, "A", 2), (2, "B", 3)], [(1,), (2, "B")], [1, 2], np.zeros((2, 3)), [[1, 2], [3]]):
        with pytest.raises(InputError):
            tk.release(bad, TWO, secret=["a", "b"])
    with pytest.raises(InputError):
        tk.release([[1, 2], [3]], ONE, secret=["a", "b"])


def test_rows_made_by_hand_come_as_tuples_or_as_columns():
    laws = {"a": tk.Finite([("A", 1), ("B", 2)], [3, 1]), "b": tk.Finite([("A", 1), ("B", 2)], [1, 3])}
    calibration = tk.calibrate(laws, odds=2)
    out = tk.release([("A", 1), ("B", 2)] * 20, calibration, secret=["a", "b"] * 20)
    assert set(out) <= {("A", 1), ("B", 2)}
    table = pd.DataFrame({"s": ["a", "b"] * 20, "v": ["A", "B"] * 20, "u": [1, 2] * 20})
    out = tk.release(table, calibration, secret="s", column=["v", "u"])
    assert set(out.itertuples(index=False, name=None)) <= {("A", 1), ("B", 2)}
    with pytest.raises(InputError, match="of 2 entries"):
        tk.release(table, calibration, secret="s", column="v")


def test_what_is_drawn_follows_the_channel():
    """The shares of what each true value becomes, within five standard errors."""
    many = pd.concat([TABLE] * 40, ignore_index=True)
    out = tk.release(many, ONE, order="keep")["x"].tolist()
    joint = collections.Counter(zip(many["x"].tolist(), out, strict=True))
    for x, row in zip(ONE.channel.inputs, ONE.channel.matrix, strict=True):
        size = sum(joint[x, y] for y in ONE.channel.outputs)
        for y, p in zip(ONE.channel.outputs, row.tolist(), strict=True):
            assert abs(joint[x, y] - size * p) <= 5 * (size * p * (1 - p)) ** 0.5 + 1e-9


def test_a_seed_repeats_and_is_never_silent():
    from takifugu.releases.plan import InsecureReleaseWarning

    made = []
    for _ in range(2):
        with pytest.warns(InsecureReleaseWarning):
            made.append(tk.release(TABLE, TWO, insecure_seed=5))
    assert made[0].equals(made[1])
    assert list(made[0].columns) == ["x (insecure seed)", "w (insecure seed)"]


@pytest.mark.parametrize("make", FRAMES)
def test_rows_of_other_secrets(make):
    mixed = TABLE.assign(s=TABLE["s"].where(TABLE["id"] % 3 > 0, "z"))
    with pytest.raises(InputError, match="200 of 600 rows have a secret outside"):
        tk.release(make(mixed), TWO, keep=["id"], order="keep")
    out = columns_of(tk.release(make(mixed), TWO, keep=["id"], others="drop", order="keep"))
    assert out["id"] == [k for k in range(600) if k % 3]
    assert len(columns_of(tk.release(make(mixed), TWO, others="release", order="keep"))["x"]) == 600


@pytest.mark.parametrize("make", FRAMES)
def test_missing_values_are_refused_in_any_column(make):
    for name in ("x", "w"):
        holes = TABLE.astype({"x": "Int64"})
        holes.loc[3, name] = None
        with pytest.raises(InputError, match=f"'{name}' has 1 missing"):
            tk.release(make(holes), TWO)


# ---- files


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(streaming, "_ROWS", 100)


def read(path):
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.parametrize("source", ["in.csv", "in.parquet"])
@pytest.mark.parametrize("target", ["out.csv", "out.parquet"])
def test_files_whose_first_batches_are_dropped(small_batches, tmp_path, source, target):
    """An empty batch has no values to tell the type of a column by."""
    table = pd.concat([TABLE[:300].assign(s="z"), TABLE], ignore_index=True).astype({"w": "str"})
    if source == "in.csv":
        table.to_csv(tmp_path / source, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(table), tmp_path / source)
    for calibration, names in ((TWO, ["x", "w"]), (TRUTH, ["t"])):
        done = tk.release_file(
            tmp_path / source, tmp_path / target, calibration, others="drop", keep=["id"], order="keep"
        )
        out = read(tmp_path / target)
        assert (done.rows, done.theta, done.granularity) == (600, None, None)
        assert sorted(out.columns) == sorted([*names, "id"])
        assert out["id"].tolist() == TABLE["id"].tolist()
        assert {name: out[name].dtype.kind for name in names} == {n: {"x": "i", "w": "O", "t": "b"}[n] for n in names}
        (tmp_path / target).unlink()


def test_a_missing_value_in_a_later_column_is_dropped_and_counted(small_batches, tmp_path):
    holes = TABLE.copy()
    holes.loc[[3, 500], "w"] = None
    holes.to_csv(tmp_path / "in.csv", index=False)
    with pytest.raises(InputError, match="missing"):
        tk.release_file(tmp_path / "in.csv", tmp_path / "out.csv", TWO)
    done = tk.release_file(tmp_path / "in.csv", tmp_path / "out.csv", TWO, reading=Reading(missing="drop"))
    assert done.rows == 598
    assert done.findings[-1]["rows"] == 2


def test_the_ledger_lets_rows_out_once_through_any_door(small_batches, tmp_path):
    TABLE.to_csv(tmp_path / "in.csv", index=False)
    ledger = Ledger(tmp_path / "l.db")
    tk.release_file(tmp_path / "in.csv", tmp_path / "1.csv", TWO, ledger=ledger)
    again = (
        lambda: tk.release(TABLE, TWO, ledger=ledger),
        lambda: tk.release(pl.from_pandas(TABLE), TWO, ledger=ledger),
        lambda: tk.release_file(tmp_path / "in.csv", tmp_path / "2.csv", TWO, ledger=ledger),
    )
    for once_more in again:
        with pytest.raises(BudgetError, match="published once"):
            once_more()
    with pytest.raises(CompositionError):
        tk.release(TABLE, ONE, ledger=ledger)
    with pytest.raises(CompositionError):
        tk.release(TABLE[:-1], TWO, ledger=ledger)
    with pytest.raises(BudgetError, match="published once"):
        tk.release(TABLE, TWO, ledger=Ledger(tmp_path / "l.db", new_people=True))
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["1.csv", "in.csv"]
    assert ledger.account().releases == 1


def test_other_labels_go_to_the_one_that_is_named(tmp_path):
    strange = TABLE.assign(w=TABLE["w"].where(TABLE["id"] != 5, "C"))
    with pytest.raises(InputError, match=r"1 of 600 rows have a value in 'w' that is not in its domain"):
        tk.release(strange, calibrated("w", domain=["A", "B"]))
    out = tk.release(strange, calibrated("w", domain=["A", "B"], other="B"))
    assert set(out["w"]) <= {"A", "B"}
    bins = calibrated("x", domain=[0, 4])
    assert set(tk.release(TABLE.assign(x=TABLE["x"] * 100), bins)["x"]) <= {0, 4}  # a public list takes all in


def test_values_that_are_merged_are_hidden_without_a_draw():
    laws = {"no": tk.Finite(["A", "B", "C"], [50, 45, 0]), "yes": tk.Finite(["A", "B", "C"], [40, 43, 21])}
    merged = tk.calibrate(laws, odds=1.5, preserve=None, utility=tk.Utility(loss="change"))
    assert merged.channel.is_bare
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "C" not in tk.release(["A", "B", "C"] * 9, merged, others="release").tolist()
    apart = tk.calibrate({s: tk.Finite(["A", "B"], [5, 5]) for s in ("no", "yes")}, odds=1.5)
    with pytest.warns(NoNoiseWarning, match="published as they are"):
        tk.release(["A", "B"], apart, others="release")


class EveryWord:
    """Each word of two bytes once, in order, for the draws; then as many zeros as are asked for."""

    def __init__(self):
        self.left = np.arange(1 << 16, dtype="<u2").tobytes()

    def read(self, count):
        given, self.left = self.left[:count], self.left[count:]
        return given.ljust(count, b"\0")


@pytest.mark.parametrize("make", [lambda table: table, pl.from_pandas, pa.Table.from_pandas])
def test_tables_have_the_law_of_their_channel_word_by_word(make, monkeypatch):
    """Every word is drawn once for one row of the channel, so what is published has its counts and no other."""
    channel = FiniteChannel((0, 1), (0, 1, 7), [[40_000, 25_536, 0], [1, 535, 65_000]])
    laws = {"a": tk.Finite([0, 1], [3, 1]), "b": tk.Finite([0, 1], [1, 3])}
    made = tk.calibrate(laws, odds=1e9)
    made = dataclasses.replace(made, channel=channel)
    monkeypatch.setattr(plans, "OsBits", EveryWord)
    for x in (0, 1):
        table = make(pd.DataFrame({"s": ["a", "b"] * (1 << 15), "x": [x] * (1 << 16)}))
        out = columns_of(tk.release(table, made, secret="s", column="x", order="keep"))["x"]
        counts = dict(zip(channel.outputs, channel.counts[x].tolist(), strict=True))
        assert collections.Counter(out) == {value: count for value, count in counts.items() if count}


def test_fixed_bits_give_the_same_values_in_every_library():
    told = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in FRAMES:
            out = columns_of(tk.release(make(TABLE), TWO, insecure_seed=11))
            told[repr(out)] = make
    assert len(told) == 1
    rows = list(zip(*out.values(), strict=True))
    assert rows[:6] == [(1, "A"), (3, "B"), (3, "A"), (2, "A"), (0, "A"), (2, "A")]  # as before rows were codes
