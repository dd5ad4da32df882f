"""A column as codes: the very cells of every row, whichever library holds it."""

import datetime
import decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.tables import Coded, is_narrow, pairs_of

COLUMNS = {
    "texts": ["b", "a", None, "b", "a letter or two longer", "a"],
    "one text": ["x"] * 4,
    "whole": [3, 1, 3, -7, 1],
    "missing": [1.5, None, 1.5, 2.0],
    "far": [2**62, -(2**62), 2**62],
    "truths": [True, False, True],
    "days": [datetime.date(2024, 1, 31), None, datetime.date(2024, 1, 31)],
    "lists": [[1], [1, 2], [1]],
    "nothing": [],
}


def same(found, wanted):
    return len(found) == len(wanted) and all(
        (a is None and pd.isna(b))
        or (pd.api.types.is_scalar(b) and pd.isna(b) and pd.isna(a))
        or (a == b and type(a) is type(b))
        for a, b in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("make", [pa.chunked_array, pl.Series, pd.Series, lambda x: pd.Series(x, dtype=object)])
def test_every_row_has_the_cell_that_its_library_says(name, make):
    values = COLUMNS[name]
    native = (
        make([values])
        if make is pa.chunked_array and values
        else pa.chunked_array([], pa.string())
        if make is pa.chunked_array
        else make(values)
    )
    column = nw.from_native(native, series_only=True, allow_series=True)
    coded = Coded.of(column)
    assert same(coded.rows.tolist(), column.to_list())
    assert len(coded) == len(values)
    assert coded.tallies.all()  # a cell that no row has is somebody's who was left out


@pytest.mark.parametrize("kind", ["category", "string", "string[pyarrow]", "str"])
def test_labels_of_pandas_are_those_that_occur(kind):
    series = pd.Series(["a", "b", None, "c"], dtype=kind)[[0, 2, 3]]
    coded = Coded.of(nw.from_native(series, series_only=True))
    assert same(coded.rows.tolist(), series.tolist())
    assert not any(cell == "b" for cell in coded.cells.tolist() if isinstance(cell, str))


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "b", "c"])])
def test_labels_of_polars_and_pyarrow_are_those_that_occur(kind):
    series = pl.Series(["a", "b", None, "c"], dtype=kind).gather([0, 2, 3])
    for native in (series, pa.chunked_array([series.to_arrow()])):
        coded = Coded.of(nw.from_native(native, series_only=True))
        assert coded.rows.tolist() == ["a", None, "c"]
        assert not any(cell == "b" for cell in coded.cells.tolist() if isinstance(cell, str))


def test_what_is_equal_and_not_the_same_stays_apart():
    values = [1, 1.0, True, 0.0, -0.0, "1", decimal.Decimal("1.0"), decimal.Decimal("1.00"), np.int64(1)]
    coded = Coded.of_list(values)
    assert [repr(one) for one in coded.rows.tolist()] == [repr(one) for one in values]
    assert len(coded.cells) == len(values)


@given(st.lists(st.integers(-300, 300)), st.sampled_from(["i1", "i2", "i8", "u1", "f4", "f8"]), st.integers(0, 2**40))
def test_whole_numbers_are_told_apart_by_counting(values, kind, shift):
    given_ = np.array(values, dtype=np.int64).astype(kind)
    given_ = given_ + np.array(shift).astype(kind) if kind in ("i8", "f8") else given_
    coded = Coded.of_array(given_)
    assert coded.rows.dtype == given_.dtype
    np.testing.assert_array_equal(coded.rows, given_)
    assert np.array_equal(coded.cells, np.unique(given_))


@pytest.mark.parametrize(
    "values",
    [[0.5, 1.0], [np.nan, 1.0], [np.inf, 1.0], [-0.0, 1.0], [0.0, 1e9], [2.0**60, 2.0**60], np.array([True])],
)
def test_other_numbers_are_told_apart_by_sorting(values):
    given_ = np.asarray(values)
    assert not is_narrow(given_)
    np.testing.assert_array_equal(Coded.of_array(given_).rows, given_)


def test_pairs_are_those_that_occur():
    first, second = Coded.of_list(["a", "b", "a", "a"]), Coded.of_list([1, 2, 2, 1])
    assert set(zip(*pairs_of(first, second), strict=True)) == {("a", 1), ("b", 2), ("a", 2)}


def test_rows_without_a_cell_and_cells_that_are_equal():
    column = Coded.of_list([1, True, "x", 1])
    assert column.merged().rows.tolist() == [1, 1, "x", 1]
    assert len(column.merged().cells) == 2
    lacking = column.without(np.array([False, True, False, True]))
    assert lacking.rows.tolist() == [1, None, "x", None]
    assert column.taken(np.array([2, 0])).rows.tolist() == ["x", 1]
