"""takifugu inspect: in plain words, as JSON, and without a record."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from hospital import NAMES, export, records
from takifugu.cli import main


def run(*arguments):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, ["inspect", *map(str, arguments)])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return export(tmp_path_factory.mktemp("hospital") / "our people.csv")


def test_in_words(path):
    told = run(path, "--secret", "diagnosis")
    assert (told.exit_code, told.stderr) == (0, "")
    assert "600 rows, 10 columns, of which diagnosis is to be hidden" in told.stdout
    assert "identifier: never publish" in told.stdout
    assert "Köhler (3)" in told.stdout
    assert "Nord, Ost, Süd, West" in told.stdout
    assert all(text not in told.stdout for text in (*NAMES, *records()["patient"]))


def test_json(path):
    told = json.loads(run(path, "--secret", "diagnosis", "--json").stdout)
    assert (told["rows"], told["secret"], len(told["columns"]), len(told["groups"])) == (600, "diagnosis", 10, 12)
    stay = next(one for one in told["columns"] if one["name"] == "stay_days")
    assert stay["betrayal"]["odds"] is None
    assert stay["domain"]["values"][0] == 1
    assert told["sentinels"] == ["stay_days=999"]


def test_reading_options_are_taken(path):
    told = run(path, "--secret", "diagnosis", "--sep", ";", "--sentinel", "999", "--encoding", "latin-1").stdout
    assert "stands far from the rest" not in told
    assert "600 rows, 10 columns" in told


def test_a_bundled_dataset():
    told = run("heart", "--secret", "slope")
    assert told.exit_code == 0
    assert "heart: 303 rows, 14 columns, of which slope is to be hidden" in told.stdout


def test_bad_input(path):
    told = run(path, "--secret", "diagnoses")
    assert told.exit_code == 2
    assert "no column 'diagnoses'" in told.stderr
    assert run("nowhere.csv").exit_code == 2


def test_nothing_in_a_table_steers_the_terminal(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("s,x[bold]\n" + "a,\x1b[31mred\nb,blue\n" * 30)
    told = run(file, "--secret", "s")
    assert told.exit_code == 0
    assert "\x1b" not in told.stdout
    assert "x[bold]" in told.stdout


def test_a_process_of_its_own_leaves_nothing_on_standard_error(path):
    """The engine's binding tells of what outlives it only as the interpreter ends."""
    command = [sys.executable, "-m", "takifugu", "inspect", str(path), "--secret", "diagnosis"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stderr == ""


@pytest.mark.parametrize("width", [80, 90, 100, 120])
def test_nothing_is_cut_off_beside_a_long_name(tmp_path, width):
    names = {"how much it hurts, 0 to 10": range(11), "ward": ["Surgery", "Children and youth", "Eyes and ears"]}
    values = [list(column) for column in names.values()]
    lines = [",".join(f'"{name}"' for name in names) + ",age"]
    ages = ["" if k % 9 == 5 else 100_000 + k % 41 / 4 for k in range(300)]
    lines += [f"{values[0][k % 11]},{values[1][k % 3]},{age}" for k, age in enumerate(ages)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    told = CliRunner(env={"COLUMNS": str(width)}).invoke(main, ["inspect", str(tmp_path / "a.csv")]).stdout
    assert max(map(len, told.splitlines())) <= width
    words = told.replace(",", " ").split()
    assert {"Surgery", "Children", "and", "youth", "Eyes", "ears", "100000"} <= set(words)


def test_a_name_that_holds_a_comma_is_asked_for_in_quotes(tmp_path):
    (tmp_path / "a.csv").write_text('sick,"stay, in days",age\n' + "yes,2,40\nno,3,30\n" * 30)
    asked = ["publish", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--secret", "sick", "--odds", "3"]
    told = CliRunner().invoke(main, [*asked, "--columns", "age:35,stay, in days"])
    assert told.exit_code == 2
    assert "Did you mean 'stay, in days'? Where commas stand between names, one that holds a comma goes" in told.stderr
    assert "Its columns are 'sick', 'stay, in days', 'age'." in told.stderr  # and not the one that was cut


def test_a_word_among_numbers_is_named_with_the_flag_that_makes_them_numbers(tmp_path):
    pain = ["k.A." if k % 6 == 1 else str(k % 8) for k in range(240)]
    lines = ["sick;pain, 0 to 7;children;code"]
    kinds = [f"{'ab'[k % 2]};{p};{('0', '1', '2', '3', '4', '5 or more')[k % 6]};00{k % 9}" for k, p in enumerate(pain)]
    (tmp_path / "a.csv").write_text("\n".join([*lines, *kinds]) + "\n")
    told = " ".join(run(tmp_path / "a.csv").stdout.split())
    assert told.count("would hold numbers but for") == 1
    assert "'pain, 0 to 7' would hold numbers but for 'k.A.' (40 rows), and is text" in told
    assert "if that means a missing value, give --sentinel 'pain, 0 to 7=k.A.'" in told
    again = json.loads(run(tmp_path / "a.csv", "--sentinel", "pain, 0 to 7=k.A.", "--json").stdout)
    assert [one["kind"] for one in again["columns"]][1] == "whole numbers"


def test_advice_against_a_heavy_tail_is_for_the_command_that_takes_it(tmp_path):
    costs = [f"{'ab'[k % 2]},{40 + k % 17 if k % 150 else 9_000 + k}" for k in range(600)]
    (tmp_path / "a.csv").write_text("\n".join(["sick,cost", *costs]) + "\n")
    told = " ".join(run(tmp_path / "a.csv", "--secret", "sick").stdout.split())
    assert "takifugu calibrate takes --query raw:cost with --bounds up to about 56, which clips 1 % of the" in told
    assert "or with --transform log, which makes the noise a factor" in told


def test_a_heading_is_not_broken_above_short_names(tmp_path):
    (tmp_path / "a.csv").write_text("a;b;s\n" + "1;2;x\n1;3;y\n2;2;y\n2;3;x\n" * 30)
    lines = run(tmp_path / "a.csv", "--secret", "s").stdout.splitlines()
    assert lines[2].split() == ["column", "holds", "advice", "public", "list"]
    assert lines[3].split()[:4] == ["a", "2", "whole", "numbers"]


def test_a_width_of_nothing_is_none(tmp_path, monkeypatch):
    """COLUMNS=0, as schedulers have it: as wide as where nobody says how wide."""
    pd.DataFrame({"s": ["a", "b"] * 20, "x": [1, 2] * 20}).to_csv(tmp_path / "t.csv", index=False)
    told = {}
    for width in ("0", "80"):
        monkeypatch.setenv("COLUMNS", width)
        told[width] = CliRunner().invoke(main, ["inspect", str(tmp_path / "t.csv")]).stdout
    assert told["0"] == told["80"]
    assert "40 rows" in told["0"]


def test_another_encoding_is_asked_for_by_its_flag(tmp_path):
    (tmp_path / "t.csv").write_bytes("s,x\nMigräne,1\nGicht,2\n".encode("cp1252"))
    told = CliRunner().invoke(main, ["inspect", str(tmp_path / "t.csv"), "--encoding", "utf-8"]).stderr
    assert told.endswith("it is not a text in utf-8, name another encoding (--encoding)\n")
