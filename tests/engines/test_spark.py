"""Spark, in one process and on a cluster: the same priors, and only counts on the driver."""

import numpy as np
import pandas as pd
import pytest
from agreement import agree, all_priors
from py4j.protocol import Py4JJavaError

import takifugu as tk
from takifugu.tables.table import Table

ROWS = 200_000


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> str:
    """Rows that would not fit through the driver's door, with few distinct values."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "group": rng.choice(["North", "South", "East"], size=ROWS),
            "age": rng.integers(18, 90, size=ROWS),
            "noise": rng.normal(size=ROWS),
        }
    )
    path = tmp_path_factory.mktemp("many") / "many.parquet"
    table.to_parquet(path, engine="pyarrow", index=False)
    return str(path)


def test_the_priors_are_those_of_pandas(spark, expected, parquet):
    agree(all_priors(spark.read.parquet(str(parquet))), expected)


def test_only_counts_reach_the_driver(spark, many):
    table = spark.read.parquet(many)
    with pytest.raises(Py4JJavaError, match="maxResultSize"):
        table.select("group", "age").toArrow()  # the door is narrow enough to stop the rows of two columns
    for query in (tk.Raw("age", max_components=2), tk.Raw("age", prior="empirical"), tk.Mean("noise")):
        found = tk.fit_priors(table, secret="group", query=query)
        assert sum(found.rows.values()) == ROWS


def test_only_a_sample_reaches_the_driver(spark, many):
    table = spark.read.parquet(many)
    query = tk.GP("noise", features=["age"], max_rows=20, restarts=0)
    found = tk.fit_priors(table, secret="group", query=query, secrets=["North"])
    assert found["North"].mean == pytest.approx(0, abs=1)


def test_there_is_one_zero(spark):
    held = spark.createDataFrame([*zip([0.0, -0.0, 1.0, 2.0] * 20, [*"abba"] * 20, strict=True)], ["x", "group"])
    table = Table(held)
    found = table.collect(table.frame.select(table.number("x").alias("x")))["x"]
    assert all(np.copysign(1, number) > 0 for number in found)
    priors = tk.fit_priors(held, secret="group", query=tk.Row("x"))
    assert priors["a"].values == (0, 1, 2)
