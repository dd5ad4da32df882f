"""Messy files: what is in them, through every door, and what is said about them."""

import csv as standard
import gzip
import os
import re
import stat
import subprocess
import sys

import duckdb
import narwhals as nw
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from messy import FILES, MARKER, PEOPLE, PLAIN

import takifugu as tk
from takifugu.tables import engine
from takifugu.tables import open as opening
from takifugu.tables.engine import Workspace
from takifugu.tables.open import open_table
from takifugu.tables.reading import Reading, lacking
from takifugu.tables.table import Table, stream
from takifugu.web.describing import on_page


def cells(table):
    return table.collect(table.frame)


def streamed(*arguments, **options):
    batches = [batch.to_native() for batch in stream(*arguments, **options)]
    return pa.concat_tables(batches).to_pydict() if batches else {}


@pytest.fixture(params=FILES)
def messy(request, tmp_path):
    wanted = FILES[request.param]
    path = tmp_path / f"people{wanted.ending}"
    path.write_bytes(wanted.content)
    return path, wanted


def test_a_messy_file_is_the_table_that_is_meant(messy, monkeypatch):
    """Counted and streamed, the same cells of the same types; and what was decided can be repeated."""
    monkeypatch.setattr("takifugu.tables.table._ROWS", 2)
    path, wanted = messy
    table = open_table(path, reading=Reading(**wanted.said))
    found = cells(table)
    assert found == wanted.expected
    assert [[type(cell) for cell in column] for column in found.values()] == [
        [type(cell) for cell in column] for column in wanted.expected.values()
    ]
    assert tuple(finding.code for finding in table.findings) == wanted.kinds
    assert all(MARKER not in str(finding.to_dict()) for finding in table.findings)
    assert streamed(path, reading=table.read_as) == streamed(table) == wanted.expected


def test_a_table_is_opened_once_for_all_doors(tmp_path):
    (tmp_path / "a.csv").write_text(PLAIN)
    table = open_table(tmp_path / "a.csv", reading=Reading(missing="refuse"))
    assert Table(table).frame is table.frame
    assert Table(table).reading.missing == "refuse"
    with pytest.raises(tk.InputError, match="open already"):
        Table(table, Reading(sep=";"))


def excel(path, rows, more=()):
    book = openpyxl.Workbook()
    book.active.title = "Stays"
    for row in rows:
        book.active.append(row)
    for name, content in more:
        sheet = book.create_sheet(name)
        for row in content:
            sheet.append(row)
    book.save(path)
    return path


def test_one_table_in_every_format_gives_the_same_priors(tmp_path):
    header, rows = list(PEOPLE), list(zip(*PEOPLE.values(), strict=True)) * 3
    frame = pd.DataFrame(rows, columns=header)
    comma = frame.assign(days=[f"{day:,.2f}".translate(str.maketrans(",.", ".,")) for day in frame["days"]])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv.gz", index=False)
    (tmp_path / "c.csv.zst").write_bytes(pa.compress((tmp_path / "a.csv").read_bytes(), "zstd", asbytes=True))
    frame.to_csv(tmp_path / "d.tsv", index=False, sep="\t", encoding="utf-16")
    comma.to_csv(tmp_path / "e.txt", index=False, sep=";", encoding="cp1252", lineterminator="\r\n")
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "f.parquet")
    excel(tmp_path / "g.xlsx", [["Stays in 2024"], [], header, *rows])
    found = [tk.fit_priors(path, secret="ward", query=tk.Mean("days")) for path in sorted(tmp_path.iterdir())]
    assert len(found) == 7
    assert all(dict(priors) == dict(found[0]) and priors.rows == found[0].rows for priors in found)


@pytest.mark.parametrize("skip", [None, 2, 3])
def test_an_empty_line_above_the_header_of_a_sheet_counts_where_lines_are_skipped(tmp_path, skip):
    body = [["name", "mark"], *([f"n{k}", k % 5] for k in range(40))]
    path = excel(
        tmp_path / "marks.xlsx", [["Marks of 2024", None], ["private", None], [None, None], *body, [None, None]]
    )
    table = open_table(path, reading=None if skip is None else Reading(skip=skip))
    assert (table.columns, table.row_count()) == (["name", "mark"], 40)


def test_excel_cells_are_read_by_the_rules_of_text(tmp_path):
    day = pd.Timestamp("2024-01-31 12:30").to_pydatetime()
    path = excel(
        tmp_path / "a.xlsx",
        [
            ["name", "n", "x", "code", "ok", "day", "comma"],
            [MARKER, 1, 0.1, "007", True, day.date(), "3,5"],
            [None] * 7,
            ["Bo", 2**40, 1e300, "7", False, day, "4,25"],
        ],
        [("Other", [["a"], [1]])],
    )
    table = open_table(path)
    assert cells(table) == {
        "name": [MARKER, "Bo"],
        "n": [1, 2**40],
        "x": [0.1, 1e300],
        "code": ["007", "7"],
        "ok": [True, False],
        "day": ["2024-01-31", "2024-01-31 12:30:00"],
        "comma": [3.5, 4.25],
    }
    assert table.findings[0].sentence.startswith("the file was read from the sheet 'Stays', and not from 'Other'")
    assert cells(open_table(path, reading=Reading(sheet="Other"))) == {"a": [1]}
    assert cells(open_table(path, reading=Reading(sheet=1))) == {"a": [1]}
    assert cells(open_table(path, reading=Reading(sheet="1"))) == {"a": [1]}  # as the command line says it
    with pytest.raises(tk.InputError, match=r"Its columns are 'a'\. Its sheet 'Other' was read, and not 'Stays'"):
        open_table(path, reading=Reading(sheet="Other")).require("ward")
    with pytest.raises(tk.InputError, match="no sheet 'Third'; its sheets are 'Stays', 'Other'"):
        open_table(path, reading=Reading(sheet="Third"))


def test_a_cover_that_was_read_is_named_with_the_sheets_beside_it(tmp_path):
    stays = [["ward", "days"], ["A", 1], ["B", 2]]
    path = excel(tmp_path / "cover.xlsx", [["Made in May"]], [("Notes", [["by hand"]]), ("2024", stays)])
    for ask in (tk.inspect, lambda table: tk.fit_priors(table, secret="Made in May", query=tk.Mean("days"))):
        with pytest.raises(tk.InputError, match=r"'Stays' was read, and not 'Notes', '2024': give .*sheet='2024'\)"):
            ask(path)
    path = excel(tmp_path / "record.xlsx", [["2024", "17"], [3, 4]], [("Other", stays)])
    with pytest.raises(tk.InputError, match=r"looks like a record.* Its sheet 'Stays' was read, and not 'Other'"):
        open_table(path)
    excel(tmp_path / "alone.xlsx", [["ward", "days"]])
    with pytest.raises(tk.InputError, match=r"has no rows$"):
        tk.inspect(tmp_path / "alone.xlsx")


def test_a_sheet_that_was_skipped_into_wrongly_is_told_of_lines_and_not_of_separators(tmp_path):
    path = excel(tmp_path / "title.xlsx", [["Stays of 2024", None], ["ward", "days"], ["A", 1], ["B", 2]])
    with pytest.raises(tk.InputError, match=r"not have 1 field like .* above the header \(skip=\)") as refused:
        open_table(path, reading=Reading(skip=0))
    assert "sep=" not in str(refused.value)
    assert "“How the file is read”" in on_page(str(refused.value))
    assert "skip=" not in on_page(str(refused.value))


def test_of_two_sheets_with_tables_the_finding_names_both(tmp_path):
    stays = [["ward", "days"], ["A", 1], ["B", 2]]
    path = excel(tmp_path / "two.xlsx", stays, [("Notes", [["by hand"]]), ("2023", stays)])
    assert open_table(path).findings[0].sentence == (
        "the file was read from the sheet 'Stays', and not from '2023': give reading=Reading(sheet='2023') to change "
        "that"
    )
    assert not open_table(path, reading=Reading(sheet="Stays")).findings


@pytest.mark.parametrize(
    ("ending", "said", "words"),
    [
        (".xlsx", {"sep": ";"}, "is an Excel file, of which `sep` says nothing: leave it out"),
        (".xlsx", {"encoding": "cp1252"}, "is an Excel file, of which `encoding` says nothing"),
        (".parquet", {"skip": 2}, "is a Parquet file, of which `skip` says nothing"),
        (".parquet", {"header": False}, "is a Parquet file, of which header=False says nothing"),
        (".csv", {"sheet": "Stays"}, "is a text file, of which `sheet` says nothing"),
    ],
)
def test_what_says_nothing_about_a_file_is_refused(tmp_path, ending, said, words):
    path = tmp_path / f"a{ending}"
    frame = pd.DataFrame({"ward": ["A", "B"] * 20, "days": [1, 2] * 20})
    {".xlsx": frame.to_excel, ".parquet": frame.to_parquet, ".csv": frame.to_csv}[ending](path, index=False)
    with pytest.raises(tk.InputError, match=re.escape(words)):
        open_table(path, reading=Reading(**said))


def test_a_separator_that_separates_nothing_is_told_with_the_one_that_does(tmp_path):
    (tmp_path / "a.csv").write_text("ward,days\nA,1\nB,2\n")
    with pytest.raises(tk.InputError, match="give sep=',', or leave sep out") as refused:
        open_table(tmp_path / "a.csv", reading=Reading(sep=";"))
    assert "A" not in str(refused.value).replace(str(tmp_path), "")
    (tmp_path / "b.csv").write_text("days\n1,5\n2,5\n")  # a column of decimal commas is one column
    assert open_table(tmp_path / "b.csv", reading=Reading(sep=";")).columns == ["days"]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_read_where_it_is_named_or_nothing_else_is_there(tmp_path, state):
    stays = [["ward", "days"], ["A", 1], ["B", 2]]
    path = excel(tmp_path / "codes.xlsx", [["code", "meaning"], [99, "none"]], [("2024", stays)])
    book = openpyxl.load_workbook(path)
    book["Stays"].sheet_state = state
    book.active = 1
    book.save(path)
    table = open_table(path)
    assert table.columns == ["ward", "days"]
    assert [str(one) for one in table.findings] == ["the file was read from the sheet '2024'"]
    assert open_table(path, reading=Reading(sheet="Stays")).columns == ["code", "meaning"]
    del book["2024"]
    book.create_sheet("empty")
    book.save(path)
    assert open_table(path).columns == ["code", "meaning"]


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(tk.MissingExtraError, match=r"takifugu\[excel\]"):
        open_table(excel(tmp_path / "a.xlsx", [["a", "b"], [1, 2]]))


@pytest.mark.parametrize("name", ["p[1].csv", "p*.csv", "p?.csv", "p[!a].csv", "p'q.csv", "p{1,a}.csv", "p\\1.csv"])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_path_that_exists_is_that_file(tmp_path, name, ending):
    for other in ("p1", "pa", "p**", "pq", name.removesuffix(".csv")):
        content = pd.DataFrame({"s": ["a", "b"] * 2, "file": [float(other == name.removesuffix(".csv"))] * 4})
        target = tmp_path / f"{other}{ending}"
        content.to_csv(target, index=False) if ending == ".csv" else content.to_parquet(target)
    path = tmp_path / name.replace(".csv", ending)
    assert cells(Table(path))["file"] == streamed(path)["file"] == [1.0] * 4


def test_a_pattern_is_one_table_in_the_order_of_the_names(tmp_path):
    for part in (2, 0, 1):
        (tmp_path / f"part-{part}.csv").write_text(f"n;x\n{part};{part},5\n")
    (tmp_path / "part-3.csv").write_text("Made later\nn,x\n3,3.5\n")  # another layout
    assert streamed(tmp_path / "part-*.csv", columns=["n"]) == {"n": [0, 1, 2, 3]}
    (tmp_path / "part-4.csv").write_text("x;n\n1;2\n")
    with pytest.raises(tk.InputError, match="do not have the same columns"):
        Table(tmp_path / "part-*.csv")
    pq.write_table(pa.table({"n": [1]}), tmp_path / "part-5.parquet")
    pq.write_table(pa.table({"n": ["1"]}), tmp_path / "part-6.parquet")
    with pytest.raises(tk.InputError, match="do not have the same columns"):
        Table(tmp_path / "part-*.parquet")
    os.mkdir(tmp_path / "part-7.csv")
    with pytest.raises(tk.InputError, match="is a folder"):
        Table(tmp_path / "part-7.csv")


BROKEN = {
    "too few": (f"name,age\nAnn,3\n{MARKER}\n", "a.csv", "line 3 does not have 2 fields"),
    "too many": (f"name,age\nAnn,3\n{MARKER},4,5\n", "a.csv", "line 3 does"),
    "after titles": (f"Report\nname,age\nAnn,3\nBo,3\n{MARKER},4,5\n", "a.csv", "line 5 does"),
    "after a record of two lines": (f'name,age\n"An\nn",3\n{MARKER},4,5\n', "a.csv", "line 4 does"),
    "an open quote": (f'name,age\nAnn,3\n"{MARKER},4\nBo,5\n', "a.csv", "line 3 does"),
    "more after a quote": (f'name,age\nAnn,3\n"{MARKER}"x,4\nBo,5\n', "a.csv", "line 3 does"),
    "far down": ("name,age\n" + "Ann,3\n" * 30_000 + f"{MARKER}\n", "a.csv", "line 30002 does"),
    "a record for a header": (f"39,{MARKER},77516\n40,Bo,1\n41,Al,2\n", "a.csv", "looks like a record"),
    "titles of nobody knows what": (f"Report\n{MARKER},city\nAnn,X\n", "a.csv", "seems to begin with 1 line"),
    "one name twice": (f"{MARKER},x,{MARKER}\n1,2,3\n", "a.csv", "one name.* for its columns 1 and 3"),
    "names but for capitals": (f"{MARKER},{MARKER.upper()}\n1,2\n", "a.csv", "columns 1 and 2"),
    "a byte of nothing": (f"name,age\n{MARKER}\0,3\n", "a.csv", "bytes that no text has"),
    "rubbish": (bytes(range(1, 31)) + b"\xff\xfe" + MARKER.encode(), "a.csv", "bytes that no text has"),
    "nothing": ("", "a.csv", "is empty"),
    "empty lines alone": ("\n\n \n", "a.csv", "is empty"),
    "not gzip": (f"name,age\n{MARKER},3\n", "a.csv.gz", "not that of a gzip file"),
    "half of gzip": (gzip.compress(f"name,age\n{MARKER},3\n".encode() * 999)[:-9], "a.csv.gz", "breaks off"),
    "half of zstd": (
        pa.compress(f"name,age\n{MARKER},3\n".encode() * 999, "zstd", asbytes=True)[:-9],
        "a.csv.zst",
        "breaks off|cannot be read",
    ),
    "parquet in disguise": (b"PAR1" + MARKER.encode(), "a.csv", "by its content it is a Parquet file"),
    "excel in disguise": (b"PK\x03\x04" + MARKER.encode(), "a.csv", "by its content it is an Excel"),
    "no parquet": (f"name\n{MARKER}\n", "a.parquet", "not that of a Parquet file"),
    "half of parquet": (b"PAR1" + MARKER.encode(), "a.parquet", "cannot be read"),
    "half of excel": (b"PK\x03\x04" + MARKER.encode(), "a.xlsx", "damaged"),
    "not the encoding": (f"name\n{MARKER}ä\n".encode("cp1252"), "a.csv", "it is not a text in ascii"),
}


def chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_a_sentence_that_shows_no_record(tmp_path, case):
    content, name, says = BROKEN[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for door in (open_table, stream):
        with pytest.raises(tk.InputError, match=says) as caught:
            door(tmp_path / name, reading=Reading(encoding="ascii" if case == "not the encoding" else None))
        assert all(MARKER not in repr(error) for error in chain(caught.value))


def test_a_table_is_the_file_as_it_was_opened(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,x\n" + "Ann,1\n" * 9)
    table = Table(path)
    path.write_text("name,x\n" + "Bob,2\n" * 5)
    assert cells(table) == streamed(table) == {"name": ["Ann"] * 9, "x": [1] * 9}


def test_a_file_that_changes_while_it_is_opened_shows_no_record(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("name,x\n" + "Ann,1\n" * 9)
    keep = Workspace.keep

    def change(space, statement):
        path.write_text("name,x\n" + f"Ann,{MARKER}\n" * 9)
        return keep(space, statement)

    monkeypatch.setattr(Workspace, "keep", change)
    with pytest.raises(tk.InputError, match="not of the type of its column") as caught:
        Table(path)
    assert all(MARKER not in repr(error) for error in chain(caught.value))


def test_a_file_that_changes_while_it_is_read_shows_no_record(tmp_path, monkeypatch):
    monkeypatch.setattr("takifugu.tables.text_file._MOST_KEPT", 0)  # as of a large file, which is read anew
    path = tmp_path / "a.csv"
    path.write_text("name,x\n" + "Ann,1\n" * 9)
    table = Table(path)
    path.write_text("name,x\n" + f"Ann,{MARKER}\n" * 9)
    for door in (cells, streamed):
        with pytest.raises(tk.InputError, match="not of the type of its column") as caught:
            door(table)
        assert all(MARKER not in repr(error) for error in chain(caught.value))


def test_the_whole_file_decides(tmp_path, monkeypatch):
    monkeypatch.setattr("takifugu.tables.text_cells._SAMPLE", 10)
    start = "s;whole;real;yes;text;na\n" + "a;1;2,5;true;b;1\n" * 20
    (tmp_path / "a.csv").write_text(start)
    assert [str(kind) for kind in Table(tmp_path / "a.csv").schema.values()] == [
        "String", "Int64", "Float64", "Boolean", "String", "Int64"
    ]  # fmt: skip
    (tmp_path / "a.csv").write_text(start + "a;1,5;x;no;1;NA\n")
    table = Table(tmp_path / "a.csv")
    assert [str(kind) for kind in table.schema.values()] == ["String", "Float64", *["String"] * 3, "Int64"]
    assert [finding.code for finding in table.findings] == ["read-as", "decimal-commas", "missing-texts"]


@pytest.mark.parametrize(("rows", "once"), [(9, 2), (1, 2), (1, -1)])
def test_columns_beyond_one_statement(tmp_path, monkeypatch, rows, once):
    monkeypatch.setattr("takifugu.tables.text_cells._SAMPLE", rows)  # of which 1 is that the file has more of them
    monkeypatch.setattr("takifugu.tables.text_cells._ONCE", once)
    names = [f"x{place}" for place in range(230)]
    (tmp_path / "a.csv").write_text(f"{','.join(names)}\n{','.join(map(str, range(230)))}\n")
    assert cells(Table(tmp_path / "a.csv")) == {name: [place] for place, name in enumerate(names)}


def test_a_table_that_is_asked_about_again_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("takifugu.tables.text_file._KEPT_NOW", 0)
    monkeypatch.setattr(
        Workspace, "keep", lambda space, statement, keep=Workspace.keep: kept.append(1) or keep(space, statement)
    )
    kept = []
    path = tmp_path / "a.csv"
    path.write_text("name,x\n" + "Ann,1\n" * 9)
    table = Table(path)
    told = [cells(table)]
    assert not kept
    told += [cells(table), streamed(table), cells(table)]
    assert len(kept) == 1
    assert all(one == told[0] for one in told)
    table.require_unchanged()
    path.write_text("name,x\n" + "Ann,2\n" * 9)
    with pytest.raises(tk.InputError, match="changed since it was counted"):
        table.require_unchanged()


def test_missing_values_are_dropped_and_counted_or_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("s,x\na,1\na,2\na,NA\nb,4\nb,5\n,6\n")
    table = open_table(path)
    assert lacking(table, ["s", "x"])["rows"] == 2
    assert streamed(table, needed=["s", "x"]) == {"s": ["a", "a", "b", "b"], "x": [1, 2, 4, 5]}
    assert {str(f) for f in tk.fit_priors(table, secret="s", query=tk.Mean("x")).findings} >= {
        "1 row had no value in 'x' and was left out",
        "1 row had no secret in 's' and was left out",
    }
    strict = open_table(path, reading=Reading(missing="refuse"))
    with pytest.raises(tk.InputError, match="2 rows have no value in 's', 'x'"):
        tk.fit_priors(strict, secret="s", query=tk.Mean("x"))
    with pytest.raises(tk.InputError, match="1 row has no value in 'x'"):
        stream(strict, needed=["x"])
    assert lacking(table, []) is None


def test_nan_is_missing_and_sentinels_are_found_in_every_engine(tmp_path):
    frame = pd.DataFrame({"s": ["a", "?", "b"], "x": [1.0, 999.0, float("nan")], "n": [999, 5, 6]})
    frame.to_parquet(tmp_path / "a.parquet")
    sources = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), duckdb.from_df(frame), tmp_path / "a.parquet"]
    for source in sources:
        table = open_table(source, reading=Reading(sentinels=("x=999", "?"), na=("b",)))
        found = table.collect(table.frame.select(table.secret("s"), table.number("x"), table.number("n")))
        assert [value if value == 1 else None for value in found["x"]] == [1.0, None, None]
        assert [value if isinstance(value, str) else None for value in found["s"]] == ["a", None, None]
        assert found["n"] == [999, 5, 6]
        assert [(f["column"], f["cells"]) for f in table.findings] == [("s", 2), ("x", 1)]
    assert streamed(tmp_path / "a.parquet", needed=["x"])["n"] == [999, 5]
    with pytest.raises(tk.InputError, match="no column 'y'"):
        open_table(frame, reading=Reading(sentinels=("y=1",)))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_sentinel_that_no_cell_has_is_told(kind, tmp_path):
    columns = {"age": [30, 999, 41], "stay": [3, 2, 99]}
    (tmp_path / "a.csv").write_text("age,stay\n30,3\n999,2\n41,99\n")
    for source in (kind(columns), tmp_path / "a.csv"):
        for said, unseen in [
            (["age=99"], ("age=99",)),
            ([9999, "stay=9"], ("9999", "stay=9")),
            ([999, "stay=9"], ("stay=9",)),
            ([999], None),
            (["age=999", "stay=99"], None),
        ]:
            found = open_table(source, reading=Reading(sentinels=said)).findings
            told = [one["sentinels"] for one in found if one.code == "sentinels-unseen"]
            assert told == ([unseen] if unseen else [])


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"sep": ";;"}, "sep must be one character"),
        ({"sep": "a"}, "sep must be one character"),
        ({"decimal": ";"}, "decimal must be"),
        ({"thousands": "x"}, "thousands must be"),
        ({"decimal": ".", "thousands": "."}, "cannot both be"),
        ({"encoding": "utf-9"}, "encoding must be"),
        ({"encoding": "hex"}, "encoding must be"),
        ({"na": "NA"}, "na must be a list"),
        ({"sentinels": "999"}, "sentinels must be a list"),
        ({"sentinels": {"age": 999}}, "sentinels must be a list of values; one for a single column is written"),
        ({"skip": -1}, "skip must be"),
        ({"skip": True}, "skip must be"),
        ({"missing": "keep"}, "missing must be"),
    ],
)
def test_what_no_table_could_mean_is_refused(said, says):
    with pytest.raises(tk.InputError, match=says):
        Reading(**said)


def test_what_touches_the_disk_is_private_and_gone_at_the_end(tmp_path):
    code = (
        "import os, sys; from takifugu.tables.table import Table; table = Table(sys.argv[1]); space = table.space;"
        "print(space.folder, oct(os.stat(space.folder).st_mode & 0o777), len(os.listdir(space.folder)));"
        "print(space.connection.execute(\"SELECT current_setting('temp_directory')\").fetchall()[0][0]);"
        "os.fork() or os._exit(0)"
    )
    (tmp_path / "a.csv").write_bytes(PLAIN.encode("utf-16"))
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.csv")], capture_output=True, text=True, check=True
    )
    first, spill = run.stdout.split("\n")[:2]
    folder, mode, files = first.split()
    assert (mode, files) == ("0o700", "1")
    assert spill.startswith(folder)
    assert not os.path.exists(folder)


def test_a_childs_exit_leaves_the_parents_folder(tmp_path):
    (tmp_path / "a.csv").write_bytes(PLAIN.encode("utf-16"))
    table = Table(tmp_path / "a.csv")
    child = os.fork()
    if not child:
        table.space._end()
        os._exit(0)
    os.waitpid(child, 0)
    assert stat.S_ISDIR(os.stat(table.space.folder).st_mode)
    folder = table.space.folder
    del table
    assert not os.path.exists(folder)


def test_an_engine_goes_on_with_the_next_small_table_and_with_nothing_of_the_last(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "_idle", [])
    (tmp_path / "a.csv").write_text(PLAIN)
    first, beside = Table(tmp_path / "a.csv"), Table(tmp_path / "a.csv")
    used = first.space.connection
    assert beside.space.connection is not used
    tables = "SELECT table_name FROM duckdb_tables()"
    assert len(used.execute(tables).fetchall()) == 1
    held, folder = first.frame, first.space.folder
    del first
    assert not os.path.exists(folder)
    after = Table(tmp_path / "a.csv")
    assert after.space.connection is used
    assert len(used.execute(tables).fetchall()) == 1
    with pytest.raises(tk.InputError, match="cannot be read"):  # and no row of the other table
        after.collect(held)
    spill = used.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]
    assert os.path.dirname(spill) == after.space.folder
    child = os.fork()
    if not child:
        after.space.__del__()  # as where it ends in a copy of the process
        os._exit(len(engine._idle))
    assert os.waitpid(child, 0)[1] == 0
    monkeypatch.setattr(engine, "_SMALL", 1)
    large = Table(tmp_path / "a.csv")
    del large
    assert engine._idle == []


def test_an_engine_that_spilled_or_failed_is_not_used_again(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "_idle", [])
    (tmp_path / "a.csv").write_text(PLAIN)
    table = Table(tmp_path / "a.csv")
    spilled = table.space.connection
    spilled.execute("SET memory_limit = '30MB'")
    spilled.execute("CREATE TABLE large AS SELECT range, hash(range)::VARCHAR FROM range(2000000)")
    spilled.execute("DROP TABLE large")
    del table
    assert engine._idle == [spilled]
    table = Table(tmp_path / "a.csv")
    assert table.space.connection is not spilled
    closed = table.space.connection
    closed.close()
    del table
    assert engine._idle == []


def test_a_stream_and_a_question_do_not_stand_in_each_others_way(tmp_path):
    (tmp_path / "a.csv").write_text("x\n" + "\n".join(map(str, range(100_000))) + "\n")
    table = Table(tmp_path / "a.csv")
    rows = stream(table)
    first = next(rows)
    assert table.row_count() == 100_000
    assert len(first) + sum(map(len, rows)) == 100_000


def test_the_reader_agrees_with_pythons_own(tmp_path):
    """The quoting rules, against the standard library, on cells made of what makes trouble."""
    odd = ["", "a", '"', '""', ",", "\n", "a,b", 'a"b', " x", "x ", ";", "é", "\t", "'", "\\", '\\"']
    rows = [[f"{left}{right}", right, left] for left in odd for right in odd]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = standard.writer(file, lineterminator="\n")
        writer.writerow(["u", "v", "w"])
        writer.writerows(rows)
    found = cells(open_table(tmp_path / "a.csv", reading=Reading(na=())))
    assert list(zip(*found.values(), strict=True)) == [
        tuple(cell if cell.strip(" ") else None for cell in r)
        for r in rows
        if any(r)  # the first: separators alone are no row
    ]


def test_the_accepted_sources_are_listed():
    assert opening.open_table(pd.DataFrame({"a": [1]})).schema == {"a": nw.Int64}


def test_a_file_of_this_machine_is_named_by_its_path(tmp_path):
    """Under its address the ledger that remembers it would not be found."""
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(tk.InputError, match="give its path"):
        open_table((tmp_path / "a.parquet").as_uri())


def test_a_line_of_separators_alone_is_no_row(tmp_path):
    """Spreadsheets end so; an id that was missing there stopped the publication of everybody else."""
    path = tmp_path / "people.csv"
    path.write_text("nr;s;x\n" + "".join(f"{k};{'ab'[k % 2]};{k % 3}\n" for k in range(60)) + ";;\n;;\n3;;\n")
    table = Table(path)
    assert (table.row_count(), table.rows_read) == (61, 61)
    (tmp_path / "windows.csv").write_bytes(path.read_text().replace("\n3;;", "").replace("\n", "\r\n").encode()[:-2])
    assert Table(tmp_path / "windows.csv").row_count() == 60
    assert "no-secret" in {one.code for one in tk.inspect(path, "s").findings}
    path.write_text(path.read_text().replace("3;;\n", ""))
    made = tk.publish(
        path, secret="s", columns=["x"], id="nr", confidence=None, utility=tk.Utility(allow_no_noise=True)
    )
    assert len(made.table) == 60


def test_whole_percentages_have_no_decimal_mark(tmp_path):
    path = tmp_path / "shares.csv"
    path.write_text("x;p\n" + "".join(f"{k},5;{k} %\n" for k in range(40)))
    (commas,) = (one for one in Table(path).findings if one.code == "decimal-commas")
    assert commas["columns"] == ("x",)
