"""Decimals, which engines turn into floats each in its own way."""

from decimal import Decimal

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
