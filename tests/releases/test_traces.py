"""What libraries store beside the values of a table, and what of it may not leave."""

import io
import pickle

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from calibrations import hand_made

import takifugu as tk
from takifugu.tables.columns import plain

ROWS = 12
NAME = "Zorngiebel of the third ward"  # longer than the twelve bytes that a view holds itself
# The secret "c" is in no pair: its row stays at home.
SECRETS = ["c", *["a", "b"] * 6]
TEXTS = [NAME, *[f"a common label, number {k % 3}" for k in range(ROWS)]]
COLUMNS = {"secret": SECRETS, "value": [float(k) for k in range(ROWS + 1)]}


def released(table):
    return tk.release(
        table, hand_made(1.0), column="value", secret="secret", keep=["text"], others="drop", order="keep"
    )


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
    out = tk.release(table, hand_made(1.0), column="value", secret="secret", keep=["text"])
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


CODE = 0x4D_69_73_73_69_6E_67  # a number whose bytes are easily found
HOLES = [k % 4 == 0 for k in range(ROWS + 1)]
NUMBERS = np.where(HOLES, CODE, np.arange(ROWS + 1) % 3)


def masked_arrow(numbers, holes):
    _, valid = pa.array([not one for one in holes]).buffers()
    return pa.Array.from_buffers(pa.int64(), len(numbers), [valid, pa.py_buffer(numbers.astype("<i8").tobytes())])


def test_what_lies_beneath_a_missing_value_does_not_leave():
    arrow = pa.table(COLUMNS | {"text": masked_arrow(NUMBERS, HOLES)})
    pandas = pd.DataFrame(COLUMNS).assign(text=pd.arrays.IntegerArray(NUMBERS, np.array(HOLES)))
    behind = pandas.assign(text=pd.Series(arrow["text"], dtype=pd.ArrowDtype(pa.int64())))
    for table in (arrow, pl.from_arrow(arrow), pandas, behind):
        assert CODE.to_bytes(8, "little") in written(table)
        out = released(table)
        assert CODE.to_bytes(8, "little") not in written(out)
        left = [plain(one) for one in nw.from_native(out)["text"].to_list()]
        assert left == [None if hole else number for hole, number in zip(HOLES, NUMBERS, strict=True)][1:]


def test_a_column_of_missing_values_alone_leaves_as_one():
    arrow = pa.table(COLUMNS | {"text": masked_arrow(np.full(ROWS + 1, CODE), [True] * (ROWS + 1))})
    for table in (arrow, pl.from_arrow(arrow)):
        out = released(table)
        assert CODE.to_bytes(8, "little") not in written(out)
        assert len(out) == ROWS


def test_a_slice_does_not_take_the_rest_of_its_table_along():
    table = pa.table(COLUMNS | {"text": TEXTS[::-1]})
    out = tk.release(table[1:-1], hand_made(1.0), column="value", secret="secret", keep=["text"], order="keep")
    assert NAME.encode() in written(table[1:-1])
    assert NAME.encode() not in written(out)


def test_times_and_numbers_are_copied_with_all_their_digits():
    fine = [None, *(1_700_000_000_123_456_789 + k for k in range(ROWS))]
    kinds = [pl.Datetime("ns", "Europe/Vienna"), pl.Duration("ns"), pl.Time, pl.Int64, pl.List(pl.Datetime("ns"))]
    for kind in kinds:
        numbers = [[one] for one in fine] if kind == pl.List else fine
        if kind == pl.Time:
            numbers = [None, *(k * 1_000_001 for k in range(ROWS))]
        column = pl.Series(numbers).cast(kind)
        out = released(pl.DataFrame(COLUMNS | {"text": column}))
        assert out["text"].equals(column.alias("text")[1:])
        arrow = released(pl.DataFrame(COLUMNS | {"text": column}).to_arrow())
        assert pl.from_arrow(arrow)["text"].equals(column.alias("text")[1:])


@pytest.mark.parametrize(
    ("kind", "leaves"),
    [("string_view", pa.string()), ("large_string", pa.large_string()), ("float16", pa.float32()), ("int8", pa.int8())],
)
def test_rare_types_of_arrow_are_counted_kept_and_published(kind, leaves):
    if not hasattr(pa, kind):
        pytest.skip(f"this PyArrow has no {kind}")
    numbers = np.array([0, 0.5, 2] * 40, getattr(np, kind, np.float16))
    rare = pa.array(["1", "2", "2"] * 40).cast(getattr(pa, kind)()) if "string" in kind else pa.array(numbers)
    table = pa.table({"s": ["a", "b", "b", "a"] * 30, "v": [1, 2] * 60, "rare": rare})
    made = tk.publish(
        table, secret="s", columns=["v"], keep=["rare"], confidence=None, utility=tk.Utility(allow_no_noise=True)
    )
    assert made.table.schema.field("rare").type == leaves
    assert sorted(made.table["rare"].to_pylist()) == sorted(rare.to_pylist())
    shown = tk.publish(table, secret="s", columns=["rare"], confidence=None, utility=tk.Utility(allow_no_noise=True))
    assert set(map(str, shown.table["rare"].to_pylist())) <= set(map(str, made.table["rare"].to_pylist()))


def memory_of(column):
    """All that a column of pandas holds on to, byte by byte."""
    native = column.array
    if isinstance(column.dtype, pd.ArrowDtype):
        parts = [part for chunk in native.__arrow_array__().chunks for part in chunk.buffers() if part is not None]
        return b"".join(part.to_pybytes() for part in parts)
    held = native._data if hasattr(native, "_mask") else column.to_numpy()
    while isinstance(held.base, np.ndarray):
        held = held.base
    return held.tobytes()


@pytest.mark.parametrize("kind", ["int64", "Int64", "int64[pyarrow]"])
def test_a_pandas_table_is_no_view_into_the_one_it_was_taken_from(kind):
    true = pd.DataFrame({"secret": SECRETS, "value": range(CODE, CODE + ROWS + 1), "text": np.arange(ROWS + 1) % 3})
    rest = pd.concat([true[1:], true[:1].assign(text=CODE)], ignore_index=True)
    table = rest.astype({"value": kind, "text": kind})[:ROWS]
    assert CODE.to_bytes(8, "little") in memory_of(table["text"])  # of the row, or the column, beside its own
    out = tk.release(table, hand_made(1.0), column="value", secret="secret", keep=["text"], order="keep")
    assert out["text"].dtype == kind
    assert out["text"].tolist() == [k % 3 for k in range(1, ROWS + 1)]
    left = memory_of(out["text"])
    assert not any((CODE + k).to_bytes(8, "little") in left for k in range(ROWS + 1))


class Cut(str):
    """A text that knows where it was cut out of."""

    __slots__ = ("page",)


def test_texts_of_a_class_of_their_own_leave_as_texts():
    cuts = [Cut(text) for text in TEXTS[1:]]
    for cut in cuts:
        cut.page = NAME
    table = pd.DataFrame({"secret": SECRETS[1:], "value": COLUMNS["value"][1:]})
    table["text"] = pd.Series([*cuts[:-1], None], dtype=object)
    assert NAME.encode() in pickle.dumps(table)
    out = tk.release(table, hand_made(1.0), column="value", secret="secret", keep=["text"], order="keep")
    assert [plain(one) for one in out["text"]] == [*TEXTS[1:-1], None]
    assert {type(one) for one in out["text"][:-1]} == {str}
    assert NAME.encode() not in pickle.dumps(out)


class Noted(pa.ExtensionType):
    """A type of somebody's own, with a note about where it comes from."""

    def __init__(self, storage, note):
        self.note = note
        super().__init__(storage, "takifugu.tests.noted")

    def __arrow_ext_serialize__(self):
        return self.note.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls(storage, serialized.decode())


@pytest.mark.parametrize("behind_pandas", [False, True])
def test_what_a_type_of_pyarrow_says_of_itself_does_not_leave(behind_pandas):
    plain_texts, labels = pa.array(TEXTS[1:]), pa.array(TEXTS).dictionary_encode()[1:]
    noted = pa.ExtensionArray.from_storage(Noted(pa.string(), NAME), plain_texts)
    within = pa.StructArray.from_arrays([noted], ["label"])
    listing = pa.StructArray.from_arrays([labels], ["label"])
    columns = {"secret": SECRETS[1:], "value": COLUMNS["value"][1:]}
    for column in (noted, within, listing):
        table = pa.table(columns | {"text": column})
        if behind_pandas:
            table = table.to_pandas(types_mapper=pd.ArrowDtype)
        out = tk.release(table, hand_made(1.0), column="value", secret="secret", keep=["text"], order="keep")
        assert nw.from_native(out)["text"].to_list() == column.to_pylist()
        assert NAME.encode() not in written(out) + pickle.dumps(out)
        assert "ext" not in str(pa.table(out).schema.field("text").type)
