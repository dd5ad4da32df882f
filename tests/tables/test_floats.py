"""Decimals, which engines turn into floats each in its own way."""

import math
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import takifugu as tk
from takifugu.tables.table import Table


def test_a_decimal_is_the_nearest_float_in_every_engine(tmp_path):
    # PyArrow's own cast makes another float of some of these.
    numbers = [Decimal(k) / 1000 for k in range(2_000)]
    held = pa.table({"x": pa.array(numbers, pa.decimal128(10, 3)), "s": ["a", "b"] * 1_000})
    pq.write_table(held, tmp_path / "held.parquet")
    for source in (held, pl.from_arrow(held), str(tmp_path / "held.parquet")):
        table = Table(source)
        floats = table.collect(table.frame.select(table.number("x").alias("x")))["x"]
        assert sorted(floats) == [k / 1000 for k in range(2_000)]


def test_decimals_that_were_counted_are_released():
    numbers = [Decimal(37 + 1001 * (k % 9)) / 1000 for k in range(200)]
    held = pa.table({"x": pa.array(numbers, pa.decimal128(10, 3)), "s": [*"ab"] * 100})
    made = tk.calibrate(tk.fit_priors(held, secret="s", query=tk.Raw("x", prior="empirical")), alpha=2, epsilon=0.1)
    assert len(tk.release(held, made, utility=tk.Utility(allow_no_noise=True))) == 200


LARGE = [2**60 + 1, -(2**62) - 3, 2**53 + 1, -(2**63), 2**63 - 1, 0, -7]


def test_whole_numbers_beyond_those_of_a_float_are_the_nearest_ones():
    held = pa.table({"x": LARGE})
    high = pa.table({"x": pa.array([2**64 - 1, 2**53 + 3], pa.uint64())})
    for source in (held, held.to_pandas(), held.to_pandas(types_mapper=pd.ArrowDtype), pl.from_arrow(held), high):
        table = Table(source)
        floats = table.collect(table.frame.select(table.number("x").alias("x")))["x"]
        assert floats == [float(one) for one in (high if source is high else held)["x"].to_pylist()]


def test_an_identifier_beyond_those_of_a_float_is_quoted_by_no_door():
    # PyArrow's own cast says which number it could not make a float of.
    held = pa.table({"x": [1, 2, 2, 1] * 50, "s": [*"aabb"] * 50, "id": [2**60 + k for k in range(200)]})
    for source in (held, held.to_pandas(types_mapper=pd.ArrowDtype)):
        assert "id" in str(tk.inspect(source, secret="s"))
        how = {"secret": "s", "confidence": None, "utility": tk.Utility(allow_no_noise=True)}
        assert len(tk.publish(source, columns=["x"], reading=tk.Reading(sentinels=("id=999",)), **how).table) == 200
        assert len(tk.publish(source, columns=[tk.binned("id", [2.0**60 + 1000])], **how).table) == 200


def _zeros() -> pa.Table:
    """Rounding makes negative zeros: half of the zeros of each secret."""
    numbers = [-0.0 if k % 2 else 0.0 for k in range(40)] + [-0.5, 0.5, 1.0, 1.5] * 15
    return pa.table({"x": numbers, "s": [*"ab"] * 50})


def _as_duckdb(held: pa.Table) -> object:
    return duckdb.from_arrow(held)


def _as_ibis(held: pa.Table) -> object:
    ibis = pytest.importorskip("ibis")

    return ibis.memtable(held)


ENGINES = {
    "pyarrow": lambda held: held,
    "pandas": lambda held: held.to_pandas(),
    "pandas-arrow": lambda held: held.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "polars-lazy": lambda held: pl.from_arrow(held).lazy(),
    "duckdb": _as_duckdb,
    "ibis": _as_ibis,
}


@pytest.mark.parametrize("engine", ENGINES)
def test_there_is_one_zero_in_every_engine(engine):
    table = Table(ENGINES[engine](_zeros()))
    value = table.frame.select(table.number("x").alias("x"), table.secret("x").alias("y"))
    for name, column in table.collect(value).items():
        assert all(math.copysign(1, number) > 0 for number in column if number == 0), name


@pytest.mark.parametrize("engine", ENGINES)
def test_two_zeros_are_fitted_and_inspected_as_one(engine):
    held = ENGINES[engine](_zeros())
    for query in (tk.Row("x"), tk.Raw("x"), tk.Raw("x", prior="mixture"), tk.Mean("x")):
        tk.fit_priors(held, secret="s", query=query)
    assert next(one for one in tk.inspect(held, secret="s").columns if one.name == "x").distinct == 5


@pytest.mark.parametrize("engine", ["pyarrow", "pandas", "pandas-arrow", "polars", "polars-lazy"])
def test_two_zeros_are_published_as_one(engine):
    made = tk.publish(ENGINES[engine](_zeros()), secret="s", columns=["x"], order="shuffle", confidence=None)
    assert len(made.table.collect() if engine == "polars-lazy" else made.table) == 100


def test_two_zeros_in_a_file_are_one(tmp_path):
    rows = "".join(f"{'-0.0' if k % 2 else '0'},{'ab'[k % 2]}\n{k % 3},{'ba'[k % 2]}\n" for k in range(60))
    (tmp_path / "held.csv").write_text("x,s\n" + rows)
    pq.write_table(_zeros(), tmp_path / "held.parquet")
    for name in ("held.csv", "held.parquet"):
        tk.publish(
            tmp_path / name,
            secret="s",
            columns=["x"],
            order="shuffle",
            confidence=None,
            utility=tk.Utility(allow_no_noise=True),
        )


def test_two_zeros_are_one_secret_and_one_known_cell():
    held = pa.table({"s": [-0.0, 0.0, 1.0, 1.0] * 20, "k": [0.0, -0.0, -0.0, 0.0] * 20, "x": [*"aabab"] * 16})
    beliefs = tk.fit_priors(held, secret="s", query=tk.Row("x"), known=["k"])
    assert list(beliefs[0]) == [0.0, 1.0]
    assert [one.label for one in beliefs] == ["", "k = 0.0", "k = 0.0, by its own rows alone"]
