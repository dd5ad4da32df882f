"""The facts of a table: the same from every engine."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from takifugu.errors import InputError
from takifugu.tables.column_facts import BySecret, look, treated
from takifugu.tables.table import Table

ROWS = 60
COLUMNS = {
    "case": [1000 + 7 * k for k in range(ROWS)],
    "name": [f"Person {k % 40}" for k in range(ROWS)],
    "ward": [["A", "B", None][k % 3] for k in range(ROWS)],
    "stay": [[k % 9 + 1, 999][k % 20 == 0] for k in range(ROWS)],
    "height": [150.0 + 0.37 * k if k % 7 else None for k in range(ROWS)],
    "ok": [k % 4 == 0 for k in range(ROWS)],
    "admitted": [f"2024-01-{k % 28 + 1:02d}" for k in range(ROWS)],
    "born": [f"{k % 28 + 1}.{k % 12 + 1}.1980" for k in range(ROWS)],
    "share": [f"{k % 5},5 %" for k in range(ROWS)],
    "weight": [f"{k % 5},5" for k in range(ROWS)],
    "bill": [f"{k % 9}.{850 + k},20 €" for k in range(ROWS)],
    "price": [f"$ {k % 3},{100 + k % 7}" if k % 2 else f"-{k % 9} USD" for k in range(ROWS)],
    "same": ["x"] * ROWS,
    "code": [str(k % 6) for k in range(ROWS)],
}
EXPECTED = {  # kind, missing, distinct, is_identifier, form
    "case": ("whole numbers", 0, 60, True, None),
    "name": ("labels", 0, 40, True, None),
    "ward": ("labels", 20, 2, False, None),
    "stay": ("whole numbers", 0, 10, False, None),
    "height": ("numbers", 9, 51, False, None),
    "ok": ("truth", 0, 2, False, None),
    "admitted": ("dates", 0, 28, False, None),
    "born": ("dates", 0, len(set(COLUMNS["born"])), False, None),
    "share": ("labels", 0, 5, False, "percentages"),
    "weight": ("labels", 0, 5, False, "decimal commas"),
    "bill": ("labels", 0, 60, False, "amounts"),
    "price": ("labels", 0, len(set(COLUMNS["price"])), False, "amounts"),
    "same": ("labels", 0, 1, False, None),
    "code": ("labels", 0, 6, False, "numbers"),
}


CONNECTION = duckdb.connect()  # older releases close it with its last name, whatever was made of it


def relation():
    return CONNECTION.from_arrow(pa.table(COLUMNS))


MAKES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "Polars": lambda: pl.LazyFrame(COLUMNS),
    "PyArrow": lambda: pa.table(COLUMNS),
    "DuckDB": relation,
}


@pytest.mark.parametrize("make", MAKES)
def test_every_engine_tells_the_same(make):
    facts = {one.name: one for one in look(Table(MAKES[make]()))}
    found = {k: (f.kind, f.missing, f.distinct, f.is_identifier, f.form) for k, f in facts.items()}
    assert found == EXPECTED
    assert [(one.value, one.rows) for one in facts["stay"].suspects] == [(999, 3)]
    assert facts["ward"].labels == {"A": 20, "B": 20}
    assert facts["height"].numbers.counts.sum() == 51
    assert all(not one.suspects for name, one in facts.items() if name != "stay")


@pytest.mark.parametrize("make", MAKES)
def test_texts_too_many_to_count_look_as_they_do_one_by_one(make, monkeypatch):
    monkeypatch.setattr("takifugu.tables.column_facts.MOST_LABELS", 2)
    facts = {one.name: one for one in look(Table(MAKES[make]()))}
    assert {k: (f.kind, f.missing, f.distinct, f.is_identifier, f.form) for k, f in facts.items()} == EXPECTED
    assert {name for name, one in facts.items() if one.labels is not None} == {"ward", "ok", "same"}


def test_types_that_no_answer_is_made_of():
    frame = pl.DataFrame({"day": [pd.Timestamp("2024-01-01")] * 3, "many": [[1], [2], [3]], "none": [None] * 3})
    assert [one.kind for one in look(Table(frame))] == ["dates", "something else", "nothing"]


def test_infinite_and_huge_numbers_are_not_counted():
    frame = pd.DataFrame({"x": [1.0, np.inf, 2.0], "y": [1e16, 2e16, 3e16], "z": [0.5, 1.5, np.nan]})
    x, y, z = look(Table(frame))
    assert (x.numbers, y.numbers) == (None, None)
    assert (z.missing, z.distinct, z.numbers.values.tolist()) == (1, 2, [0.5, 1.5])


def test_a_table_without_rows():
    with pytest.raises(InputError, match="no rows"):
        look(Table(pd.DataFrame({"x": pd.Series([], dtype=float)})))


def test_nothing_of_a_record_is_in_the_representation():
    facts = look(Table(pd.DataFrame(COLUMNS)))
    assert "Person" not in repr(facts)
    assert "150" not in repr(facts)


def test_many_values_are_counted_on_a_grid(monkeypatch):
    monkeypatch.setattr("takifugu.tables.counting.DISTINCT", 50)
    rng = np.random.default_rng(1)
    (one,) = look(Table(pd.DataFrame({"x": np.append(rng.normal(size=500), [999.0] * 3)})))
    assert one.numbers.counts.sum() == 503
    assert [(s.value, s.rows) for s in one.suspects] == [(999, 3)]


@pytest.mark.parametrize("make", MAKES)
def test_counts_by_secret(make):
    from takifugu.problems.answer import Choices

    table = treated(Table(MAKES[make]()), ["stay=999"])
    seen = BySecret(table, "ward", ["stay", "height"])
    assert (seen.rows, seen.without) == ({"A": 20, "B": 20}, 20)
    frame = pd.DataFrame(COLUMNS).query("stay != 999")
    found = seen.counts("stay", Choices(tuple(range(1, 10))))
    for name, mine in frame.groupby("ward"):
        expected = mine["stay"].value_counts().reindex(range(1, 10), fill_value=0)
        assert found[name].tolist() == expected.tolist()
    codes = seen.counts("code", Choices(("0", "1", "other"), other="other"))
    assert codes["A"].tolist() == [10, 0, 10]
    assert codes["B"].tolist() == [0, 10, 10]
