"""A row of totals that has a secret, or stands in a table of which none is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from takifugu.queries.inspecting import inspect

DOORS = [pd.DataFrame, pl.from_pandas, lambda table: pl.from_pandas(table).lazy()]


def people(**last):
    """Two hundred rows, and a last one."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"s": ["a", "b"] * 100, "x": rng.integers(-1, 60, 200), "y": rng.integers(1, 7, 200)})
    sums = {"s": "a", "x": table.x.sum(), "y": table.y.sum()}
    return pd.concat([table, pd.DataFrame([sums | last])], ignore_index=True)


def told(found):
    return [finding["columns"] for finding in found.findings if finding.code == "row-of-totals"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("secret", ["s", None])
def test_the_sum_of_the_others_is_told(door, secret):
    found = inspect(door(people()), secret)
    assert told(found) == [("x", "y")]
    assert "heavy-tail" not in [finding.code for finding in found.findings]
    for one in found.columns[1:]:
        assert one.domain is None
        assert one.advice == "cannot be published as it is"
    said = next(finding.sentence for finding in found.findings if finding.code == "row-of-totals")
    assert said.startswith("one row holds the sum of all others in 'x', 'y': it looks like a row of totals")


def test_of_a_secret_of_its_own():
    found = inspect(people(s="Total", y=3), "s")
    assert told(found) == [("x",)]


def test_a_number_that_is_no_sum_is_none():
    assert told(inspect(people(x=70, y=3), "s")) == []
    assert told(inspect(people(x=people().x.iloc[-1] + 1, y=3), "s")) == []


def test_a_sum_of_few_numbers_may_be_chance():
    few = pd.DataFrame({"s": ["a", "b"] * 50, "x": [5, 3, 2, 0] + [0] * 96})
    assert told(inspect(few, "s")) == []
