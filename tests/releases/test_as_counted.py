"""What leaves, and what it is held against, is what was counted: no finer distinction, no other rows."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tk

RNG = np.random.default_rng(0)
ROWS = 2_000
SECRET, HIDDEN = RNG.integers(0, 2, ROWS), RNG.integers(0, 2, ROWS)
NAMES = np.array(["neg", "pos"])[SECRET].tolist()
X = HIDDEN ^ SECRET  # neither it nor HIDDEN alone tells anything; together they tell all
NAN, DIGIT = float("nan"), decimal.Decimal("1e-20")


def in_polars(values, dtype):
    return pl.DataFrame({"s": NAMES, "x": X, "k": pl.Series(values, dtype=dtype, strict=False)})


MISSING = [NAN if one else None for one in HIDDEN.tolist()]
FINE = [decimal.Decimal(5) + one * DIGIT for one in HIDDEN.tolist()]
TABLES = {
    "NaN and null in Polars": in_polars(MISSING, pl.Float64),
    "NaN and null in Arrow": pa.table({"s": NAMES, "x": X, "k": pa.array(MISSING, pa.float64(), from_pandas=False)}),
    "NaN and NA in pandas": pd.DataFrame({"s": NAMES, "x": X}).assign(
        k=pd.arrays.FloatingArray(np.where(HIDDEN, NAN, 0.0), mask=HIDDEN == 0)
    ),
    "digits of decimals in Polars": in_polars(FINE, pl.Decimal(38, 20)),
    "digits of decimals in Arrow": pa.table({"s": NAMES, "x": X, "k": pa.array(FINE, pa.decimal128(38, 20))}),
    "NaN and None beside texts": pd.DataFrame({"s": NAMES, "x": X, "k": pd.Series(["A", *MISSING[1:]], dtype=object)}),
    "two zeros": in_polars([0.0 if one else -0.0 for one in HIDDEN.tolist()], pl.Float64),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_kept_column_has_no_distinction_that_was_not_counted(name):
    made = tk.publish(
        TABLES[name],
        secret="s",
        columns=["x"],
        keep=["k"],
        odds=1.5,
        confidence=None,
        order="keep",
        utility=tk.Utility(allow_no_noise=True),
    )
    kept = made.table["k"]
    values = kept.to_pylist() if isinstance(kept, pa.ChunkedArray) else kept.to_list()
    # Whatever can be told of a missing value: its type, how it prints, its bits.
    cells = {(type(one).__name__, repr(one)) for one in values[1:]}
    assert len(cells) == 1, cells


@pytest.mark.parametrize("share", [0.8, 0.65])
def test_of_several_secrets_the_rows_counted_are_those_published(tmp_path, share):
    rng = np.random.default_rng(3)
    a, b, lacks = rng.integers(0, 2, 600), rng.integers(0, 2, 600), rng.random(600) < 0.5
    x = np.where(rng.random(600) < share, b, 1 - b) ^ lacks  # rows without `a` go the other way round
    table = pd.DataFrame({"a": [None if m else f"a{v}" for m, v in zip(lacks, a, strict=True)], "b": b, "x": x})
    table.to_csv(tmp_path / "two.csv", index=False)
    for source in (table, tmp_path / "two.csv"):
        made = tk.publish(source, secret=["a", "b"], columns=["x"], odds=1.2, confidence=None)
        assert len(made.table) == (~lacks).sum()
        assert any("had no value in 'a' or 'b'" in str(finding) for finding in made.findings)
        counts = np.array([np.bincount(x[~lacks & (b == v)], minlength=2) for v in (0, 1)], dtype=float)
        through = counts / counts.sum(axis=1, keepdims=True) @ made.calibration.channel.matrix
        assert (through[0] / through[1]).max() <= 1.2 * (1 + 1e-9)
        assert (through[1] / through[0]).max() <= 1.2 * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["mixed", "categories", "list"])
def test_secrets_are_compared_as_they_were_counted(kind):
    text = RNG.random(ROWS) < 0.5
    whole = [str(v + 1) if t else int(v + 1) for v, t in zip(SECRET, text, strict=True)]
    table = pd.DataFrame({"s": pd.Series(whole, dtype=object), "x": np.where(RNG.random(ROWS) < 0.65, SECRET, HIDDEN)})
    if kind == "categories":
        table["s"] = pd.Categorical(SECRET + 1)
    calibration = tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row("x")), odds=1.2)
    for others in ("error", "drop"):
        if kind == "list":
            published = tk.release(table["x"], calibration, secret=whole, others=others)
        else:
            published = tk.release(table, calibration, others=others)
        assert len(published) == ROWS
    if kind != "list":
        assert len(tk.publish(table, secret="s", columns=["x"], odds=1.2, confidence=None).table) == ROWS


def test_sentences_show_no_cell():
    told = "Jane Doe HIV 1971"
    table = pd.DataFrame({"s": ["a", "b"] * 150, "x": [str(i % 5) for i in range(299)] + [told]})
    good = table.iloc[:-1].assign(x=lambda t: t.x.astype(int))
    calibration = tk.calibrate(tk.fit_priors(good, secret="s", query=tk.Row("x")), odds=1.01)
    lazy = pl.from_pandas(table).lazy().with_columns(pl.col("x").cast(pl.Int64))
    for act in (
        lambda: tk.release(lazy, calibration),
        lambda: tk.ReleaseTransformer().fit(table[["x"]], secret=table.s),
        lambda: tk.release(table, calibration, column=table.x.tolist()),
    ):
        with pytest.raises(tk.InputError) as caught:
            act()
        assert told not in str(caught.value)
        assert caught.value.__cause__ is None
        assert told not in str(caught.value.__context__)


@pytest.mark.parametrize("others", ["error", "drop"])
def test_a_row_that_lacks_one_of_several_secrets_stays_whichever_pairs_are_hidden(others, tmp_path):
    rows = [(a, b, v) for a in "xy" for b in "uv" for v in ["common"] * 200 + ["rare"] * 10]
    rows += [("x", None, "rare")] * 30  # not counted: all of them x
    table = pd.DataFrame(rows, columns=["a", "b", "v"]).sample(frac=1, random_state=1, ignore_index=True)
    priors = tk.fit_priors(table, secret=["a", "b"], query=tk.Row("v"))
    calibration = tk.calibrate(priors, odds=1.5, pairs=[("a = x", "a = y")])
    how = {"utility": tk.Utility(allow_no_noise=True), "others": others}
    secrets = list(zip(table.a, table.b, strict=True))
    table.to_parquet(tmp_path / "in.parquet")
    doors = (
        lambda: tk.release(table, calibration, **how),
        lambda: tk.release(pl.from_pandas(table), calibration, **how),
        lambda: tk.release(table.v.tolist(), calibration, secret=secrets, **how),
    )
    for door in doors:
        if others == "drop":
            assert len(door()) == 840
        else:
            with pytest.raises(tk.InputError, match="30 of 870 rows have a secret outside"):
                door()
    with pytest.raises(tk.InputError, match=r"30 of|no value|missing"):
        tk.release_file(
            tmp_path / "in.parquet", tmp_path / "out.parquet", calibration, utility=tk.Utility(allow_no_noise=True)
        )


def test_rows_of_a_decimal_secret_are_those_that_were_counted():
    hidden = [decimal.Decimal(1 + int(one)) / 10 for one in HIDDEN]
    for table in (pl.DataFrame({"s": hidden, "x": X}), pa.table({"s": hidden, "x": X})):
        made = tk.publish(table, secret="s", columns=["x"], confidence=None, utility=tk.Utility(allow_no_noise=True))
        assert len(made.table) == len(X)
        assert sorted(made.calibration.pairs.secrets) == [0.1, 0.2]
