"""A published table as a file: of any library, never over another, and nothing that a spreadsheet runs."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import takifugu as tk
from takifugu.errors import InputError
from takifugu.releases.frames import save_table

TABLE = {"ward": ["=1+1", "Süd"], "age": [30, 40]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_every_library_writes_the_same_files(make, tmp_path):
    save_table(make(TABLE), tmp_path / "a.csv")
    save_table(make(TABLE), tmp_path / "a.parquet")
    read = pd.read_csv(tmp_path / "a.csv")
    assert read["age"].tolist() == [30, 40]
    assert read["ward"].tolist()[1] == "Süd"
    assert not read["ward"].tolist()[0].startswith("=")
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == TABLE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.parquet"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_the_name_of_a_column_is_text_too(make, tmp_path):
    named = {"=HYPERLINK(1)": ["a", "b"], "@age": [30, 40], "ward": ["+1", "b"]}
    save_table(make(named), tmp_path / "a.csv")
    save_table(make(named), tmp_path / "a.parquet")
    assert pd.read_csv(tmp_path / "a.csv").columns.tolist() == ["'=HYPERLINK(1)", "'@age", "ward"]
    assert pq.read_table(tmp_path / "a.parquet").column_names == list(named)


def test_what_is_there_stays(tmp_path):
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(InputError, match="not written over"):
        save_table(pd.DataFrame(TABLE), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("table", "name"), [(pd.DataFrame(TABLE), "a.xlsx"), ([1, 2], "a.csv"), (pl.LazyFrame(TABLE), "a.csv")]
)
def test_what_cannot_be_written_is_refused(table, name, tmp_path):
    with pytest.raises(InputError):
        save_table(table, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_publication_is_saved_and_called_by_its_columns(tmp_path):
    pupils = tk.datasets.load("student-por")
    made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3, confidence=None)
    made.save(tmp_path / "published.csv")
    assert pd.read_csv(tmp_path / "published.csv")["G3"].tolist() == made.table["G3"].tolist()
    assert repr(made).startswith("Published(649 rows of G3, ")
