"""People with several rows are noticed, in every engine; columns that only go with the secret by chance are not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tk
from takifugu.problems.diagnostics import Diagnostic
from takifugu.queries.side_information import several_rows
from takifugu.tables.table import Table


def visits(people=300, rare=0.2, most=4, seed=0):
    """Rows of people who come once or several times, each with a secret of their own."""
    rng = np.random.default_rng(seed)
    secret = np.where(rng.random(people) < rare, "ill", "well")
    who = np.repeat(np.arange(people), rng.integers(1, most + 1, people))
    table = pd.DataFrame({"patient": who, "s": secret[who], "x": rng.integers(0, 4, len(who))})
    table["postcode"] = rng.integers(0, 60, len(who))
    table["weight"] = np.round(rng.normal(70, 10, len(who)), 1)
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, "file"])
def test_people_who_come_twice_are_noticed_in_every_engine(make, tmp_path):
    table = visits()
    if make == "file":
        table.to_csv(tmp_path / "visits.csv", index=False)
        source = tmp_path / "visits.csv"
    else:
        source = make(table)
    assert several_rows(Table(source), ["s"]) == [Diagnostic("several-rows", column="patient", secret="s")]


def test_names_of_people_may_be_text_and_a_few_may_have_changed():
    table = visits(rare=0.5)
    table["patient"] = "P" + table["patient"].astype(str)
    again = table.index[table["patient"].duplicated()][0]
    table.loc[again, "s"] = "ill" if table.loc[again, "s"] == "well" else "well"
    assert several_rows(Table(table), ["s"]) == [Diagnostic("several-rows", column="patient", secret="s")]


@pytest.mark.parametrize(
    "table",
    [
        visits(most=1),  # nobody twice
        visits().drop(columns="patient"),
        visits().assign(s="well"),  # nothing to tell
        visits(rare=0.001, people=40),  # one secret in all, nearly: repeated values go with it by chance
        visits(people=15),  # too few to say
    ],
)
def test_what_names_nobody_twice_is_not_told(table):
    assert several_rows(Table(table), ["s"]) == []


def test_publishing_and_inspecting_say_it():
    table = visits()
    made = tk.publish(table, secret="s", columns=["x"], utility=tk.Utility(allow_no_noise=True))
    assert Diagnostic("several-rows", column="patient", secret="s") in made.findings
    assert Diagnostic("several-rows", column="patient", secret="s") in tk.inspect(table, secret="s").findings
    assert "k-th power" in Diagnostic("several-rows", column="patient", secret="s").sentence
    assert str(made).splitlines()[0].count(" by one row (") == 1
    assert "people seem to have several here" in tk.report(made.calibration)
    once = tk.publish(
        table.drop_duplicates("patient"), secret="s", columns=["x"], utility=tk.Utility(allow_no_noise=True)
    )
    assert " by one row (" not in str(once)


def test_bundled_tables_have_a_row_for_each_person():
    for name in tk.datasets.names():
        assert several_rows(Table(tk.datasets.load(name)), [tk.datasets.about(name).secret]) == []
