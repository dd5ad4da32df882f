"""A column handed over where its name is asked for: its cells are records, and no sentence may show one."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tk
from takifugu.errors import InputError

TABLE = pd.DataFrame({"s": ["Ann has it", "Bob has it"] * 40, "x": ["p", "p", "q", "q"] * 20})
CELLS = [TABLE.s, pl.Series(TABLE.s.to_list()), pa.chunked_array([TABLE.s.to_list()])]


@pytest.mark.parametrize("cells", CELLS, ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ["secret", "columns", "known", "keep"])
def test_publishing_asks_for_the_name(name, cells):
    asked = {"secret": "s", "columns": ["x"]} | ({} if name == "known" else {name: cells})
    with pytest.raises(InputError, match=f"^{name} must be the name of a column.*give its name$"):
        tk.publish(TABLE, **asked, adversary=tk.Adversary(known=cells) if name == "known" else None)


@pytest.mark.parametrize("name", ["secret", "known"])
def test_so_does_fitting(name):
    with pytest.raises(InputError, match=f"^{name} must be the name of a column.*give its name$"):
        tk.fit_priors(TABLE, query=tk.Row("x"), **({"secret": "s"} | {name: TABLE.s}))


def test_so_does_a_release():
    calibration = tk.calibrate(tk.fit_priors(TABLE, secret="s", query=tk.Row("x")), odds=3)
    with pytest.raises(InputError, match=r"^keep must be the name of a column"):
        tk.release(TABLE, calibration, keep=TABLE.s, utility=tk.Utility(allow_no_noise=True))


def test_names_in_an_index_of_pandas_are_names():
    made = tk.publish(
        TABLE, secret="s", columns=TABLE.columns[1:], confidence=None, utility=tk.Utility(allow_no_noise=True)
    )
    assert list(made.table.columns) == ["x"]
