"""takifugu inspect: in plain words, as JSON, and without a record."""

import json
import shlex
import subprocess
import sys

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


def test_the_command_to_run_next_is_one_line(path):
    *_, last = run(path, "--secret", "positive").stdout.splitlines()
    words = shlex.split(last)
    assert words[:3] == ["takifugu", "publish", str(path)]
    assert words[-2:] == ["--sentinel", "stay_days=999"]
    words = shlex.split(run(path).stdout.splitlines()[-1])
    assert words[1] == "inspect"
    assert CliRunner().invoke(main, words[1:]).exit_code == 0


def test_json(path):
    told = json.loads(run(path, "--secret", "diagnosis", "--json").stdout)
    assert (told["rows"], told["secret"], len(told["columns"]), len(told["groups"])) == (600, "diagnosis", 10, 12)
    stay = next(one for one in told["columns"] if one["name"] == "stay_days")
    assert stay["betrayal"]["odds"] is None
    assert stay["domain"]["values"][0] == 1
    assert told["sentinels"] == ["stay_days=999"]


def test_reading_options_are_taken_and_handed_on(path):
    told = run(path, "--secret", "diagnosis", "--sep", ";", "--sentinel", "999", "--encoding", "latin-1").stdout
    assert "stands far from the rest" not in told
    assert told.splitlines()[-1].endswith("--odds 3 --sep ';' --encoding latin-1 --sentinel 999")


def test_a_bundled_dataset():
    told = run("heart", "--secret", "slope")
    assert told.exit_code == 0
    assert "takifugu publish heart published.csv --secret slope" in told.stdout


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
