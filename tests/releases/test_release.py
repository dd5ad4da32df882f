import math
import pickle
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from calibrations import PRIORS, hand_made

import takifugu as tk
from takifugu.errors import BudgetError, CompositionError, InputError, LedgerError
from takifugu.laws.mixture import Mixture
from takifugu.releases.ledger import Ledger
from takifugu.releases.plan import InsecureReleaseWarning, Released

COLUMNS = {"secret": ["a", "b", "a", "b"], "value": [1.0, 2.0, 3.0, 4.0], "id": [7, 8, 9, 10]}
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, pl.LazyFrame]


def columns_of(frame):
    """The columns as lists, whatever the library."""
    wrapped = nw.from_native(frame).lazy().collect()
    return {name: wrapped[name].to_list() for name in wrapped.columns}


@pytest.fixture
def no_draws(monkeypatch):
    """Fails the test if a random bit is drawn or a value leaves."""

    def refuse(self, count):
        raise AssertionError(f"{count} bytes were drawn")

    monkeypatch.setattr("takifugu.channels.sampling.OsBits.read", refuse)


def seeded(*args, **options):
    with pytest.warns(InsecureReleaseWarning, match="Do not publish"):
        return tk.release(*args, **options, insecure_seed=3)


# ---- arrays


def test_an_array_comes_back_with_the_noise_that_was_calibrated():
    calibration = tk.calibrate(PRIORS, alpha=2, epsilon=0.25)
    x = np.random.default_rng(0).normal(size=100_000)
    y = tk.release(x, calibration)
    assert isinstance(y, Released)
    assert np.std(y - x) == pytest.approx(calibration.theta, rel=0.02)
    assert abs(np.mean(y - x)) < 0.05
    assert (y.theta, y.insecure) == (calibration.theta, False)
    assert calibration.theta / 2048 < y.granularity <= calibration.theta / 1024
    assert np.array_equal(np.rint(y / y.granularity) * y.granularity, y)


def test_what_is_computed_from_a_release_is_a_plain_array():
    y = tk.release(np.zeros(6), hand_made())
    assert y.shape == (6,)
    assert type(y + 1) is np.ndarray
    assert type(y.sum()) is np.float64
    assert isinstance(y[:2], Released)
    assert y[:2].theta == y.theta
    again = pickle.loads(pickle.dumps(y))
    assert np.array_equal(again, y)
    assert (again.theta, again.granularity) == (y.theta, y.granularity)
    assert "granularity=0.0009765625" in repr(y)
    assert float(tk.release(3.0, hand_made())) != 3.0


def test_without_need_of_noise_the_values_leave_as_they_are(no_draws):
    calibration = hand_made(0.0, epsilon=1.0)
    y = tk.release([0.1, 0.2], calibration)
    assert y.tolist() == [0.1, 0.2]
    assert y.granularity is None
    assert tk.release([0.1, 0.2], calibration, utility=tk.Utility(granularity=0.25)).tolist() == [0.0, 0.25]


def test_rounding_and_clipping_come_after_the_noise():
    x = np.full(10_000, 5.0)
    y = tk.release(x, hand_made(3.0), clip=(0, 10), round_to=0.5)
    assert y.min() == 0
    assert y.max() == 10
    assert np.array_equal(y, np.rint(y * 2) / 2)
    assert len(np.unique(y)) == 21
    tiny = tk.release(x, hand_made(3.0), round_to=5e-324)
    assert np.isfinite(tiny).all()
    wide = tk.release([1e300], hand_made(3.0), round_to=1e-300)
    assert wide[0] == 1e300


def test_the_same_seed_repeats_and_is_never_silent():
    first, second = (seeded(np.zeros(100), hand_made()) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.insecure
    assert first[:3].insecure
    assert "insecure=True" in repr(first)
    frame = seeded(pl.DataFrame(COLUMNS), hand_made(), secret="secret", column="value")
    assert frame.columns == ["value (insecure seed)"]
    assert seeded(pd.Series([1.0], name="v"), hand_made()).name == "v (insecure seed)"


def test_more_noise_than_calibrated_may_be_asked_for():
    y = tk.release(np.zeros(10_000), hand_made(1.0), theta=50.0)
    assert y.theta == 50.0
    assert np.std(y) == pytest.approx(50, rel=0.1)


# ---- columns and tables


@pytest.mark.parametrize("make", [pd.Series, pl.Series, lambda v: pa.chunked_array([v])])
def test_a_column_comes_back_as_a_column_of_its_library(make):
    column = make([1.0, 2.0, 3.0])
    y = tk.release(column, hand_made(1e-3), secret=["a", "b", "a"])
    assert type(y) is type(column)
    assert np.allclose(np.asarray(y), [1, 2, 3], atol=0.01)
    assert not np.array_equal(np.asarray(y), [1, 2, 3])


def test_a_pandas_index_is_left_behind():
    column = pd.Series([1, 2, 3], index=["x", "y", "z"], name="v")
    y = tk.release(column, hand_made(), secret=["a", "c", "a"], others="drop")
    assert y.index.tolist() == [0, 1]
    assert y.name == "v"
    frame = pd.DataFrame(COLUMNS, index=[4, 4, 2, 1])
    assert tk.release(frame, hand_made(), secret="secret", column="value").index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("make", FRAMES)
def test_a_table_comes_back_as_a_table_of_its_library(make):
    frame = make(COLUMNS)
    y = tk.release(frame, hand_made(1e-3), secret="secret", column="value", keep=["id"], order="keep")
    assert type(y) is type(frame)
    found = columns_of(y)
    assert list(found) == ["value", "id"]
    assert found["id"] == COLUMNS["id"]
    assert np.allclose(found["value"], COLUMNS["value"], atol=0.01)
    assert found["value"] != COLUMNS["value"]


@pytest.mark.parametrize("make", FRAMES)
def test_only_what_was_asked_for_leaves(make):
    y = tk.release(make(COLUMNS), hand_made(), secret="secret", column="value")
    assert list(columns_of(y)) == ["value"]


@pytest.mark.parametrize("make", FRAMES)
def test_rows_of_other_secrets(make, no_draws):
    frame = make({"secret": ["a", "c", None, "b"], "value": [1, 2, 3, 4], "id": [7, 8, 9, 10]})
    names = {"secret": "secret", "column": "value", "keep": ["id"]}
    with pytest.raises(InputError, match=r"2 of 4 rows have a secret outside the calibrated pairs: ") as told:
        tk.release(frame, hand_made(), **names, order="keep")
    assert "'c'" not in str(told.value)
    quiet = hand_made(0.0, epsilon=1.0)
    kept = columns_of(tk.release(frame, quiet, **names, others="drop", order="keep"))
    assert kept == {"value": [1.0, 4.0], "id": [7, 10]}
    assert columns_of(tk.release(frame, quiet, **names, others="release", order="keep"))["id"] == [7, 8, 9, 10]
    assert columns_of(tk.release(frame, quiet, column="value", others="release", order="keep"))["value"] == [1, 2, 3, 4]


def test_a_secret_in_no_pair_is_another_secret():
    three = {**PRIORS, "c": Mixture.gaussian(0.5, 1.0)}
    calibration = hand_made(priors=three, pairs=[("a", "b")])
    with pytest.raises(InputError, match="outside the calibrated pairs"):
        tk.release([1.0, 2.0], calibration, secret=["a", "c"])
    assert len(tk.release([1.0, 2.0], hand_made(priors=three), secret=["a", "c"])) == 2


def test_numeric_secrets_match():
    calibration = hand_made(priors=dict(zip([1, 3], PRIORS.values(), strict=True)))
    for secrets in ([1, 3], np.array([1, 3]), np.array([1.0, 3.0]), pd.Series([1, 3])):
        assert len(tk.release([0.0, 0.0], calibration, secret=secrets)) == 2


# ---- refusals, before anything is drawn


@pytest.mark.parametrize(
    ("values", "options", "says"),
    [
        ([1.0, math.nan], {}, "finite, got nan"),
        ([math.inf], {}, "finite, got inf"),
        (["x"], {}, "must be numbers"),
        ([1e308], {}, "could overflow"),
        ("people.csv", {"column": "value", "secret": "secret"}, "is a path.*release_file"),
        ([1.0], {"utility": tk.Utility(granularity=0.3)}, "power of two"),
        ([1.0], {"utility": tk.Utility(granularity=2.0**90)}, "too far"),
        ([1.0], {"clip": 3}, "pair"),
        ([1.0], {"clip": (3, 1)}, "pair"),
        ([1.0], {"clip": (0, math.inf)}, "each end of clip"),
        ([1.0], {"round_to": 0}, "round_to"),
        ([1.0], {"column": "v"}, "for tables"),
        ([1.0], {"keep": ["v"]}, "for tables"),
        ([1.0], {"secret": "a"}, "must list the secret of each value"),
        ([1.0], {"secret": ["a", "b"]}, "one entry per value"),
        ([1.0], {"others": "ignore"}, "others must be one of"),
        (pd.DataFrame(COLUMNS), {"secret": "secret"}, "column is missing"),
        (pd.DataFrame(COLUMNS), {"column": "value"}, "secret is missing"),
        (pd.DataFrame(COLUMNS), {"secret": "secret", "column": "nothing"}, "no column 'nothing'"),
        (pd.DataFrame(COLUMNS), {"secret": "secret", "column": "value", "keep": ["secret"]}, "is the secret"),
        (pd.DataFrame(COLUMNS), {"secret": "secret", "column": "secret"}, "is the secret"),
        (pd.DataFrame(COLUMNS), {"secret": "secret", "column": "value", "keep": "id"}, "list of columns"),
        (pl.DataFrame({"s": ["a"], "v": [None]}), {"secret": "s", "column": "v"}, "holds Unknown|holds Null|missing"),
        (pl.DataFrame({"s": ["a", "b"], "v": [None, 1.0]}), {"secret": "s", "column": "v"}, "1 missing"),
        (pl.DataFrame({"s": ["a"], "v": [math.nan]}), {"secret": "s", "column": "v"}, "finite|missing"),
        (pd.DataFrame({"s": ["a"], "v": [math.nan]}), {"secret": "s", "column": "v"}, "finite|missing"),
        (pl.DataFrame({"s": ["a"], "v": ["1"]}), {"secret": "s", "column": "v"}, "numbers are needed"),
    ],
)
def test_what_cannot_be_released_is_refused(values, options, says, no_draws, tmp_path):
    path = tmp_path / "ledger.db"
    with pytest.raises(InputError, match=says):
        tk.release(values, hand_made(), **options, ledger=path)
    assert not path.exists() or Ledger(path).account() is None


def test_a_calibration_is_needed(no_draws):
    with pytest.raises(InputError, match="needs a Calibration, got float"):
        tk.release([1.0], 2.0)
    with pytest.raises(BudgetError, match="less noise"):
        tk.release([1.0], hand_made(1.0), theta=0.5)
    with pytest.raises(InputError, match="theta"):
        tk.release([1.0], hand_made(1.0), theta=math.inf)


def test_lazy_tables_that_would_be_drawn_twice_are_refused(no_draws):
    duckdb = pytest.importorskip("duckdb")
    frame = pd.DataFrame(COLUMNS)
    with pytest.raises(InputError, match="collect it first"):
        tk.release(duckdb.from_df(frame), hand_made(), secret="secret", column="value")


# ---- with a ledger


def test_a_release_is_charged_before_it_leaves(tmp_path):
    path, calibration = tmp_path / "l.db", hand_made(1.0)
    values = np.arange(5.0)
    tk.release(values, calibration, ledger=path, theta=2.0)
    assert Ledger(path).account().releases == 1
    tk.release(pd.Series(values), calibration, ledger=Ledger(path), theta=2.0)
    assert Ledger(path).account().fraction_spent == 0.5
    frame = pl.DataFrame({"s": ["a", "b", "a", "b", "a"], "v": values})
    with pytest.raises(CompositionError, match="by the numbers themselves"):  # whose they are cannot be seen
        tk.release(frame, calibration, secret="s", column="v", ledger=path, theta=2.0)
    tk.release(list(values), calibration, ledger=path, theta=2.0)
    with pytest.raises(CompositionError):
        tk.release(values[:4], calibration, ledger=path, theta=2.0)
    rest = Ledger(path).account().next_theta
    assert rest == 2.0
    tk.release(values, calibration, ledger=path, theta=rest)
    with pytest.raises(BudgetError, match="budget is spent"):
        tk.release(values, calibration, ledger=path)


def test_nothing_leaves_when_the_ledger_cannot_be_written(tmp_path, no_draws):
    with pytest.raises(LedgerError, match="cannot be written"):
        tk.release([1.0], hand_made(), ledger=tmp_path / "missing" / "l.db")
    (tmp_path / "bad.db").write_bytes(b"x" * 5000)
    with pytest.raises(LedgerError):
        tk.release([1.0], hand_made(), ledger=tmp_path / "bad.db")


def test_no_warning_without_a_seed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tk.release([1.0], hand_made())
