"""Opening tables: what is accepted, and the sentence that meets what is not."""

import decimal
import subprocess
import sys

import duckdb
import narwhals as nw
import pandas as pd
import pyarrow as pa
import pytest

import takifugu as tk
from takifugu.tables.columns import match_secret, plain
from takifugu.tables.table import Table

PEOPLE = pd.DataFrame({"sex": ["f", "m"], "age": [30, 40], "tall": [True, False], "height": [1.5, 1.9]})


def test_the_columns_and_those_with_numbers():
    table = Table(PEOPLE)
    assert table.columns == ["sex", "age", "tall", "height"]
    assert table.numeric == ["age", "height"]


@pytest.mark.parametrize("name", ["people.csv", "people.tsv", "people.csv.gz", "people.parquet"])
def test_files_are_read_by_their_ending(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        duckdb.from_df(PEOPLE).write_parquet(str(path))
    else:
        PEOPLE.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    for source in (path, str(path)):
        table = Table(source)
        assert table.columns == list(PEOPLE.columns)
        assert table.collect(table.frame.select("age"))["age"] == [30, 40]


def test_a_glob_is_one_table(tmp_path):
    for part in range(3):
        PEOPLE.to_csv(tmp_path / f"part-{part}.csv", index=False)
    table = Table(tmp_path / "part-*.csv")
    assert table.collect(table.frame.select(nw.len()))["len"] == [6]


def test_yes_and_no_stay_text_and_truth_stays_truth(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text('"it ""is""",flag,late\nyes,true,true\nno,false,false\n,,no\n')
    table = Table(path)
    assert table.schema == {'it "is"': nw.String, "flag": nw.Boolean, "late": nw.String}
    assert table.collect(table.frame)["late"] == ["true", "false", "no"]


def test_the_whole_file_decides_the_type(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("x\n" + "1\n" * 50_000 + "1.5\n")
    assert Table(path).schema["x"] == nw.Float64


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("people.xls", b"x", "cannot tell the format of .*people.xls"),
        ("broken.parquet", b"hello", "broken.parquet' cannot be read"),
        ("broken.csv", bytes(range(256)) * 4, "broken.csv' cannot be read"),
    ],
)
def test_a_broken_file_is_a_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(tk.InputError, match=sentence):
        Table(tmp_path / name)


def test_a_file_that_breaks_while_it_is_read_is_a_sentence_too(tmp_path, monkeypatch):
    monkeypatch.setattr("takifugu.tables.text_file._MOST_KEPT", 0)  # as of a large file, which is read anew
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    table = Table(path)
    path.write_text("sex,age\nf,thirty\n")
    with pytest.raises(tk.InputError, match=r"people.csv' cannot be read"):
        table.collect(table.frame.select("age"))


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(tk.InputError, match=r"there is no file '.*nobody.csv'"):
        Table(tmp_path / "nobody.csv")
    with pytest.raises(tk.InputError, match=r"no file matches '.*\*.csv'"):
        Table(tmp_path / "*.csv")


def test_a_table_without_columns_is_a_sentence():
    with pytest.raises(tk.InputError, match="the table has no columns"):
        Table(pd.DataFrame())


@pytest.mark.parametrize("source", [3, [1, 2], {"a": [1]}, pd.Series([1])])
def test_other_things_are_told_what_is_accepted(source):
    with pytest.raises(tk.InputError, match="table must be a path to CSV or Parquet files, a pandas"):
        Table(source)


def test_a_missing_column_is_told_the_nearest():
    with pytest.raises(tk.InputError, match=r"no column 'hieght'. Did you mean 'height'\? Its columns are 'sex'"):
        Table(PEOPLE).number("hieght")


def test_text_where_numbers_are_needed():
    with pytest.raises(tk.InputError, match=r"'sex' holds text, and numbers are needed: .* 'age', 'height'"):
        Table(PEOPLE).number("sex")
    with pytest.raises(tk.InputError, match="there is none"):
        Table(PEOPLE[["sex"]]).number("sex")


def test_an_empty_file_has_no_rows(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("s,x\n")
    with pytest.raises(tk.InputError, match=r"empty.csv' has no rows"):
        tk.fit_priors(path, secret="s", query=tk.Mean("x"))
    path.write_text("")
    with pytest.raises(tk.InputError, match=r"the file '.*empty.csv' is empty"):
        tk.fit_priors(path, secret="s", query=tk.Mean("x"))


def test_a_column_with_nothing_in_it_has_no_value(tmp_path):
    path = tmp_path / "hollow.csv"
    path.write_text("s,x\na,\nb,\n")
    with pytest.raises(tk.InputError, match="'x' has no value in any of the 2 rows"):
        tk.fit_priors(path, secret="s", query=tk.Mean("x"))


def test_truth_counts_as_a_number():
    table = Table(PEOPLE)
    assert table.collect(table.frame.select(table.number("tall")))["tall"] == [1.0, 0.0]


def test_a_secret_is_text_or_a_number():
    table = Table(PEOPLE.assign(born=pd.Timestamp("2000-01-01"), kind=PEOPLE["sex"].astype("category")))
    with pytest.raises(tk.InputError, match=r"'born' holds Datetime.* convert it to text"):
        table.secret("born")
    assert table.collect(table.frame.select(table.secret("kind")))["kind"] == ["f", "m"]


@pytest.mark.parametrize("cells", [[{"id": 1}, {"id": 2}], [[1], [2, 3]]])
def test_what_holds_several_values_is_no_label(cells):
    with pytest.raises(tk.InputError, match="make a column of its own of what is meant in it"):
        Table(pa.table({"x": cells})).secret("x")


def test_a_missing_secret_is_no_text():
    people = pd.DataFrame({"s": pd.array(["a", None, "b", float("nan")], dtype=object), "x": [1, 2, 3, 4]})
    table = Table(people)
    found = table.collect(table.frame.select(table.secret("s")))["s"]
    assert [plain(value) for value in found] == ["a", None, "b", None]


def test_two_columns_of_one_name_are_told_in_one_sentence_at_every_door():
    people = pd.DataFrame({"s": ["a", "b"] * 60, "x": [1, 2, 3, 3] * 30})
    twice = pd.DataFrame(people[["s", "x", "x"]].to_numpy(), columns=["s", "x", "x"])
    priors = tk.fit_priors(people, secret="s", query=tk.Row("x"))
    made = tk.calibrate(priors, odds=2)
    for door in (
        lambda table: tk.publish(table, secret="s", columns=["x"]),
        lambda table: tk.fit_priors(table, secret="s", query=tk.Row("x")),
        lambda table: tk.release(table, made),
        tk.inspect,
        lambda table: tk.audit(table, people[["x"]], made),
        lambda table: tk.audit(people, table, made),
        lambda table: tk.estimate(table, made),
    ):
        for table in (twice, pa.table([["a"], [1], [2]], names=["s", "x", "x"])):
            with pytest.raises(tk.InputError, match="two columns of the table have the same name: rename one"):
                door(table)


def test_an_exact_decimal_is_a_number():
    table = Table(duckdb.sql("SELECT 1.50::DECIMAL(9, 2) AS x, 2.00::DECIMAL(9, 2) AS s"))
    assert table.collect(table.frame.select(table.number("x"), table.secret("s"))) == {"x": [1.5], "s": [2.0]}


def test_secrets_match_across_types():
    assert match_secret("1.0", [1, 2]) == 1
    assert match_secret(1, [1.0, 2.0]) == 1.0
    assert match_secret("yes", ["no", "yes"]) == "yes"
    assert match_secret("nan", [1, 2]) is None
    assert match_secret("true", [False, True]) is True
    assert match_secret("False", [False, True]) is False
    assert match_secret(True, ["True", "False"]) == "True"
    assert match_secret("TRUE", ["true", "false"]) == "true"
    assert match_secret(True, [0, 1]) == 1
    assert match_secret(1, [False, True]) is True
    assert match_secret(" yes ", ["yes", "no"]) is None
    assert match_secret("yes", ["YES", "yes"]) == "yes"
    assert match_secret("Yes", ["yes"]) is None
    assert plain(decimal.Decimal(3)) == "3"
    assert plain(pd.NA) is None
    assert plain("<NA>") == "<NA>"


def test_importing_takifugu_loads_no_engine():
    heavy = {"pandas", "narwhals", "duckdb", "scipy", "sklearn"}
    code = f"import sys, takifugu; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
