"""A plan: begun by inspect, edited, taken by publish; and what is wrong with one in a sentence."""

import json
import tomllib

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
    assert "names no column to publish yet" in result.stderr
    assert "under columns = [" in result.stderr
    plan.write_text('secret = ""\n', encoding="utf-8")
    assert 'secret = "diagnosis"' in run("publish", path, path.with_name("p.csv"), "--plan", plan).stderr
    plan.unlink()
    assert run("inspect", path, "--secret", "diagnosis", "--plan", plan).exit_code == 0
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


MESSY = """Patient;Diagnosis;Stay days;Ward
"""


@pytest.fixture
def messy(tmp_path):
    kinds, wards = ("None", "HIV", "hiv ", "Diabetes"), ("East", "EAST", "West")
    rows = [f"P{k:04d};{kinds[k % 4]};{2 + k % 5 + (k % 4 == 1)},5;{wards[k % 3]}" for k in range(400)]
    rows += [f"Q{k};Sickle cell;3,5;East" for k in range(8)] + ["Q8;Diabetes;999;West"] * 5
    path = tmp_path / "export.csv"
    path.write_text(MESSY + "\n".join(rows) + "\n", encoding="latin-1")
    return path


def test_a_plan_remembers_how_the_table_was_read(messy, tmp_path):
    plan = tmp_path / "plan.toml"
    read = ["--tidy", "--na", "?", "--sep", ";", "--merge", "Rare=HIV,Sickle cell", "--sentinel", "Stay days=998"]
    assert run("inspect", messy, "--secret", "Diagnosis", "--plan", plan, *read).exit_code == 0
    found = tomllib.loads(plan.read_text(encoding="utf-8"))
    assert found["tidy"] is True
    assert found["merge"] == {"rare": ["hiv", "sickle cell"]}
    assert found["na"] == ["?"]
    assert found["sep"] == ";"
    assert found["sentinel"] == ["Stay days=998", "Stay days=999"]
    text = plan.read_text(encoding="utf-8").replace('  # "Ward"', '  "Ward"').replace('# "Ward" =', '"Ward" =')
    plan.write_text(text, encoding="utf-8")
    done = run(
        "publish", messy, tmp_path / "p.csv", "--plan", plan, "--dry-run", "--confidence", "0", "--allow-no-noise"
    )
    assert done.exit_code == 0, done.output


def test_a_plan_offers_an_id_that_publish_takes(tmp_path):
    table, plan = tmp_path / "visits.csv", tmp_path / "plan.toml"
    rows = [f"{10_000 + k},{'flu' if k % 2 else 'none'},{k % 3}\n" for k in range(60)]
    table.write_text("Fallnr,diagnosis,ward\n" + "".join(rows), encoding="utf-8")
    assert run("inspect", table, "--secret", "diagnosis", "--plan", plan).exit_code == 0
    text = plan.read_text(encoding="utf-8")
    assert '\n# id = "Fallnr"\n' in text
    assert "id" not in tomllib.loads(text)
    plan.write_text(text.replace("# id =", "id =").replace('# "ward",', '"ward",'), encoding="utf-8")
    done = run("publish", table, tmp_path / "p.csv", "--plan", plan, "--dry-run", "--confidence", "0")
    assert "Nothing was published" in done.output, done.output


def test_a_plan_names_what_looks_alike_what_reads_as_missing_and_what_is_rare(messy, tmp_path):
    plan = tmp_path / "plan.toml"
    told = run("inspect", messy, "--secret", "Diagnosis", "--plan", plan)
    assert "is empty in most rows" not in told.stdout  # a word stands there, which has a remark of its own
    text = plan.read_text(encoding="utf-8")
    assert 'tidy = false  # labels of "Diagnosis", "Ward" differ in that alone' in text
    assert '# Read as missing: "None" in "Diagnosis".' in text
    assert '# na = ["None"]' in text
    assert "# rare = [" in text


def test_lists_in_a_plan_may_be_spelled_as_before_tidying(messy, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'secret = "Diagnosis"\ncolumns = ["Ward"]\ntidy = true\nna = ""\nconfidence = 0\n'
        'leave-out = ["SICKLE cell"]\n[domain]\nWard = ["East", "EAST", "West"]\n',
        encoding="utf-8",
    )
    done = run("publish", messy, tmp_path / "p.csv", "--plan", plan, "--json", "--allow-no-noise")
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(tmp_path / "p.csv")["Ward"]) <= {"east", "west"}
    assert json.loads(done.stdout)["rows"] == 405  # "None" is a diagnosis here, and none of eight leaves
