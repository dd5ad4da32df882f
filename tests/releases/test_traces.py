"""What libraries store beside the values of a table, and what of it may not leave."""

import io
import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from calibrations import hand_made

import takifugu as tk

ROWS = 12
NAME = "Zorngiebel of the third ward"  # longer than the twelve bytes that a view holds itself
# The secret "c" is in no pair: its row stays at home.
SECRETS = ["c", *["a", "b"] * 6]
TEXTS = [NAME, *[f"a common label, number {k % 3}" for k in range(ROWS)]]
COLUMNS = {"secret": SECRETS, "value": [float(k) for k in range(ROWS + 1)]}


def released(table):
    return tk.release(table, hand_made(1.0), column="value", secret="secret", keep=["text"], others="drop")


def written(table):
    """What whoever gets the table gets: pickled, and as Arrow's stream."""
    stream = io.BytesIO()
    if isinstance(table, pl.DataFrame):
        table.write_ipc(stream)
    elif isinstance(table, pa.Table):
        with pa.ipc.new_stream(stream, table.schema) as to:
            to.write_table(table)
    return pickle.dumps(table) + stream.getvalue()


def test_texts_of_rows_that_stay_at_home_do_not_leave_with_a_polars_table():
    table = pl.DataFrame(COLUMNS | {"text": TEXTS})
    assert NAME.encode() in written(table.filter(pl.col("secret") != "c"))  # Polars keeps them there
    out = released(table)
    assert out["text"].to_list() == TEXTS[1:]
    assert NAME.encode() not in written(out)


def test_texts_of_a_shuffled_polars_table_do_not_stand_in_their_first_order():
    texts = [f"somebody's label, of row {k:04d}" for k in range(ROWS)]
    table = pl.DataFrame({"secret": SECRETS[1:], "value": COLUMNS["value"][1:], "text": texts})
    out = tk.release(table, hand_made(1.0), column="value", secret="secret", keep=["text"], order="shuffle")
    left = written(out).decode("latin-1")
    assert sorted(out["text"].to_list(), key=left.index) == out["text"].to_list()


@pytest.mark.parametrize(
    "kind",
    [
        pl.Struct({"label": pl.Enum(sorted(set(TEXTS)))}),
        pl.List(pl.Enum(sorted(set(TEXTS)))),
        pl.Array(pl.Enum(sorted(set(TEXTS))), 1),
    ],
)
def test_labels_inside_a_polars_column_do_not_list_those_of_other_rows(kind):
    nested = [{"label": text} if isinstance(kind, pl.Struct) else [text] for text in TEXTS]
    out = released(pl.DataFrame(COLUMNS | {"text": pl.Series(nested, dtype=kind)}))
    assert out["text"].to_list() == nested[1:]
    assert NAME.encode() not in written(out)
    assert NAME not in str(out.schema)


def test_labels_and_notes_inside_a_pyarrow_column_do_not_leave():
    labels = pa.array(TEXTS).dictionary_encode()
    note = pa.field("label", labels.type, metadata={"who": NAME})
    nested = pa.StructArray.from_arrays([labels], fields=[note])
    lists = pa.ListArray.from_arrays(pa.array(range(ROWS + 2), pa.int32()), labels)
    for column in (nested, lists):
        out = released(pa.table(COLUMNS | {"text": column}))
        assert out["text"].to_pylist() == column.to_pylist()[1:]
        assert NAME.encode() not in written(out)


def test_what_pandas_calls_its_columns_together_does_not_leave():
    table = pd.DataFrame(COLUMNS | {"text": TEXTS})
    table.columns.name = "diagnosis"
    assert released(table).columns.name is None
    assert table.columns.name == "diagnosis"
