"""A plan: begun by inspect, edited, taken by publish; and what is wrong with one in a sentence."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from hospital import export
from takifugu.cli import main


def run(*arguments):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, list(map(str, arguments)))


@pytest.fixture
def planned(tmp_path):
    path = export(tmp_path / "our people.csv")
    plan = tmp_path / "plan.toml"
    result = run("inspect", path, "--secret", "diagnosis", "--plan", plan)
    assert result.exit_code == 0, result.output
    return path, plan


def test_nothing_goes_out_that_nobody_took_in(planned):
    path, plan = planned
    assert plan.stat().st_mode & 0o077 == 0
    result = run("publish", path, path.with_name("p.csv"), "--plan", plan, "--quiet")
    assert result.exit_code == 2
    assert "--columns" in result.stderr
    again = run("inspect", path, "--secret", "diagnosis", "--plan", plan)
    assert again.exit_code == 2
    assert "is not written over" in again.stderr


def test_an_edited_plan_is_published_and_the_command_line_counts_before_it(planned):
    path, plan = planned
    text = plan.read_text(encoding="utf-8")
    assert 'sentinel = ["stay_days=999"]' in text
    text = text.replace('  # "stay_days",', '  "stay_days",').replace('  # "ward",', '  "ward",')
    plan.write_text(
        text.replace("odds = 3", "odds = 4\nothers = 'drop'\npair = [['Asthma', 'Köhler']]"), encoding="utf-8"
    )
    first = pd.read_csv(path, sep=";", encoding="cp1252")["diagnosis"].value_counts().index[:2]
    pair = f"[['{first[0]}', '{first[1]}']]"
    plan.write_text(plan.read_text(encoding="utf-8").replace("[['Asthma', 'Köhler']]", pair), encoding="utf-8")
    dry = ("publish", path, path.with_name("p.csv"), "--plan", plan, "--confidence", "0", "--dry-run", "--json")
    told = run(*dry)
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert [one["name"] for one in found["columns"]] == ["stay_days", "ward"]
    assert "by at most a factor of 4" in found["summary"][0]
    assert found["published"] is False
    other = json.loads(run(*dry, "--odds", "5", "--columns", "ward").stdout)
    assert [one["name"] for one in other["columns"]] == ["ward"]
    assert "by at most a factor of 5" in other["summary"][0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("secret = ", "is not TOML"),
        ("secrt = 'x'", "which is no option of publish. Did you mean"),
        ("plan = 'other.toml'", "which is no option of publish"),
        ("tidy = 1", "it is true or false"),
        ("pair = ['a']", "is no value of that option"),
        ("[merge]\nrare = 'HIV'", "where a list of texts or numbers belongs"),
    ],
)
def test_a_plan_that_is_wrong_is_refused_in_a_sentence(tmp_path, content, words):
    plan = tmp_path / "plan.toml"
    plan.write_text(content, encoding="utf-8")
    result = run("publish", "people.csv", "p.csv", "--plan", plan)
    assert result.exit_code == 2
    assert words in result.stderr


def test_lists_and_merging_in_a_plan_reach_the_table(tmp_path):
    table = pd.DataFrame({"s": ["a", "b"] * 100, "x": ["u", "V ", "v", "w"] * 50})
    path, plan = tmp_path / "t.csv", tmp_path / "plan.toml"
    table.to_csv(path, index=False)
    lines = ["secret = 's'", "columns = ['x']", "tidy = true", "[merge]", "'u or w' = ['u', 'w']", "[domain]"]
    plan.write_text("\n".join([*lines, "x = ['u or w', 'v']"]), encoding="utf-8")
    result = run("publish", path, tmp_path / "p.csv", "--plan", plan, "--allow-no-noise", "--json", "--confidence", "0")
    assert result.exit_code == 0, result.output
    assert set(pd.read_csv(tmp_path / "p.csv")["x"].str.casefold()) <= {"u or w", "v"}
    assert json.loads(result.stdout[result.stdout.index("{") :])["rows"] == 200
