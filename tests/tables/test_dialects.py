"""Random tables in random dialects, read back; the oracle is Python's csv module, fractions and float."""

import csv
import gzip
import io
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.tables.open import open_table
from takifugu.tables.reading import MISSING_TEXTS, Reading
from takifugu.tables.table import stream
from takifugu.tables.text_cells import Shape, Shapes, bare_sql, column_of, shape_sql

CONNECTION = duckdb.connect()


def shapes_of(cells):
    rows = f"SELECT c, {bare_sql('c')} AS n FROM unnest(?) AS t(c)"
    (bits,) = CONNECTION.execute(f"SELECT bit_or({shape_sql('c', 'n')}) FROM ({rows})", [cells]).fetchall()
    return Shapes.of(bits[0])


def value_of(cell, column):
    ((found,),) = CONNECTION.execute(
        f"SELECT {column.sql('?')}".replace("?", "c") + " FROM (SELECT ? AS c)", [cell]
    ).fetchall()
    return found


numbers = st.one_of(
    st.integers(-(10**17), 10**17).map(Fraction),
    st.builds(Fraction, st.integers(-(10**12), 10**12), st.sampled_from([10, 100, 1000, 10**6])),
)
GROUPS = {".": (",", " ", "'", "\u00a0", "\u202f"), ",": (".", " ", "'", "\u00a0", "\u202f")}


def spelled(number, decimal, group, percent=""):
    """A number in a country's spelling, made with integers alone."""
    sign, number = ("-", -number) if number < 0 else ("", number)
    whole = number.numerator // number.denominator
    rest, digits = number - whole, ""
    while rest:
        rest *= 10
        digits += str(rest.numerator // rest.denominator)
        rest -= rest.numerator // rest.denominator
    text = f"{whole:,}".replace(",", group)
    return f"{sign}{text}{decimal if digits else ''}{digits}{percent}"


@given(st.lists(numbers, min_size=1, max_size=5), st.sampled_from(".,"), st.data())
def test_a_number_in_any_spelling_is_the_nearest_float(exact, decimal, data):
    group = data.draw(st.sampled_from(("", *GROUPS[decimal])))
    percent = data.draw(st.sampled_from(("", "%", " %")))
    cells = [spelled(number, decimal, group, percent) for number in exact]
    shapes = shapes_of(cells)
    assert shapes.numeric
    assert shapes.decimal in (None, decimal)
    column = column_of(shapes, decimal=decimal, thousands=None)
    whole = all(number.denominator == 1 for number in exact) and not percent
    assert column.kind == ("whole" if whole else "real")
    for number, cell in zip(exact, cells, strict=True):
        assert value_of(cell, column) == (int(number) if whole else float(number))


@given(st.lists(numbers, min_size=1, max_size=3), st.sampled_from(".,"), st.data())
def test_a_mark_that_is_said_never_makes_another_number(exact, decimal, data):
    """Read with the other decimal mark a column is text, or silent about its mark: it proves nothing false."""
    cells = [spelled(number, decimal, data.draw(st.sampled_from(("", *GROUPS[decimal])))) for number in exact]
    shapes, other = shapes_of(cells), "," if decimal == "." else "."
    if shapes.decimal is not None:
        assert shapes.decimal == decimal
        assert column_of(shapes, decimal=other, thousands=None).kind == "text"
    elif not shapes.ambiguous:
        kinds = {column_of(shapes, decimal=mark, thousands=None).kind for mark in ".,"}
        values = [[value_of(c, column_of(shapes, decimal=mark, thousands=None)) for c in cells] for mark in ".,"]
        assert len(kinds) == 1
        assert values[0] == values[1] == [int(number) for number in exact]


@given(st.text(alphabet="0123456789.,-+ eE%'_xa\u00a0", max_size=12))
@settings(max_examples=some_of(200))
def test_every_text_has_one_shape_and_its_value_can_be_cast(cell):
    shapes = shapes_of([cell])
    assert len(shapes.all) == 1
    for decimal in ".,":
        column = column_of(shapes, decimal=decimal, thousands=None)
        if column.kind in ("whole", "real"):
            bare = cell.rstrip("%").rstrip(" \u00a0")
            if shapes.all & {Shape.WHOLE, Shape.POINT, Shape.SCIENTIFIC}:
                assert value_of(cell, column) == float(bare)
            else:
                assert value_of(cell, column) is not None


texts = st.text(st.characters(codec="cp1252", exclude_characters="\x00\r", exclude_categories=["Cc"]), max_size=6)
words = texts.filter(lambda t: t.strip(" ") not in MISSING_TEXTS).map(lambda t: f"w{t}")


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 6))
    columns = draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("text"), st.lists(st.none() | words, min_size=rows, max_size=rows)),
                st.tuples(st.just("whole"), st.lists(st.none() | st.integers(-999, 999), min_size=rows, max_size=rows)),
                st.tuples(
                    st.just("real"),
                    st.lists(
                        st.none() | st.integers(-(10**6), 10**6).map(lambda n: n / 16), min_size=rows, max_size=rows
                    ),
                ),
                st.tuples(st.just("truth"), st.lists(st.none() | st.booleans(), min_size=rows, max_size=rows)),
            ),
            min_size=2,
            max_size=4,
        )
    )
    # A text and a number in every row: a table of nothing, or of texts alone, does not show where its titles end.
    return [("whole", list(range(rows))), ("text", [f"name {row}" for row in range(rows)]), *columns]


dialects = st.fixed_dictionaries(
    {
        "sep": st.sampled_from(",;\t|"),
        "decimal": st.sampled_from(".,"),
        "encoding": st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
        "end": st.sampled_from(["\n", "\r\n"]),
        "missing": st.sampled_from(["", "NA", "n/a", "-", "."]),
        "titles": st.sampled_from([[], ["Report"], ["Report", "", ""]]),
        "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        "packed": st.booleans(),
    }
)


def write(path, table, how):
    def cell(kind, value):
        if value is None:
            return how["missing"]
        if kind == "truth":
            return str(value)
        # Four digits after the mark: three could be a group.
        return f"{value:.4f}".replace(".", how["decimal"]) if kind == "real" else str(value)

    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=how["sep"], quoting=how["quoting"], lineterminator=how["end"])
    writer.writerow([f"c {place}" for place in range(len(table))])
    writer.writerows(zip(*([cell(kind, value) for value in cells] for kind, cells in table), strict=True))
    text = "".join(f"{line}{how['end']}" for line in how["titles"]) + buffer.getvalue()
    content = text.encode(how["encoding"])
    path.write_bytes(gzip.compress(content) if how["packed"] else content)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("dialects")


@given(tables(), dialects)
@settings(max_examples=some_of(40))
def test_a_table_comes_back_from_every_dialect(folder, table, how):
    path = folder / ("a.csv.gz" if how["packed"] else "a.csv")
    write(path, table, how)
    opened = open_table(path)
    found = opened.collect(opened.frame)
    expected = {f"c {place}": cells for place, (_, cells) in enumerate(table)}
    assert found == expected
    for place, (kind, cells) in enumerate(table):
        if any(cell is not None for cell in cells):
            wanted = {"text": "String", "whole": "Int64", "real": "Float64", "truth": "Boolean"}[kind]
            assert str(opened.schema[f"c {place}"]) == wanted
    batches = [batch.to_dict(as_series=False) for batch in stream(opened)]
    assert {name: [c for batch in batches for c in batch[name]] for name in expected} == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("takifugu.tables.text_file._MOST_KEPT", 0)  # as of a large file, which is read anew
        again = open_table(path, reading=Reading(sep=how["sep"], decimal=how["decimal"]))
        assert again.collect(again.frame) == expected
    for once in (-1, 2):  # as of a table longer than what is looked at first: every cell by itself, or gathered
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("takifugu.tables.text_cells._SAMPLE", 1)
            patch.setattr("takifugu.tables.text_cells._ONCE", once)
            patch.setattr("takifugu.tables.text_file._KEPT_NOW", 0)  # kept when it is asked about again
            again = open_table(path)
            assert again.findings == opened.findings
            assert [again.collect(again.frame) for _ in range(3)] == [expected] * 3
