"""Decimals, which engines turn into floats each in its own way."""

from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

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
    assert len(tk.release(held, made, allow_no_noise=True)) == 200


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
        how = {"secret": "s", "confidence": None, "allow_no_noise": True}
        assert len(tk.publish(source, columns=["x"], reading=tk.Reading(sentinels=("id=999",)), **how).table) == 200
        assert len(tk.publish(source, columns=[tk.binned("id", [2.0**60 + 1000])], **how).table) == 200
