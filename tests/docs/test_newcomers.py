"""A stranger's ten minutes, a researcher's two, and an auditor with public files: by the README's commands."""

import re
import shlex
import subprocess
import sys
import time

import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner
from run_examples import ROOT

import takifugu as tk
from takifugu.cli import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
HEAD = ("Patient", "Diagnosis", "Stay days", "Ward")


def records():
    """Four columns as a hospital has them: 999, capitals and blanks, rare groups, halves of days."""
    kinds = ["Healthy"] * 8 + ["HIV", "hiv "] + ["Diabetes"] * 5 + ["DIABETES"]
    wards = ("Surgery", "surgery", "General", "GENERAL ", "General")
    for k in range(1_200):
        kind = kinds[(7 * k + k // 16) % len(kinds)] if k % 150 else ("Sickle cell", "Unknown")[k % 300 == 0]
        stay = 2 + (k * k) % 5 / 2 + (1.5 if kind.lower().startswith(("hiv", "dia")) and k % 3 else 0)
        yield (f"P{k:05d}", kind, 999 if k % 90 == 17 else None if k % 101 == 5 else stay, wards[(k + len(kind)) % 5])


def as_csv(path):
    rows = [HEAD, *records()]
    cells = [["" if one is None else str(one).replace(".", ",") for one in row] for row in rows]
    path.write_text("\r\n".join(";".join(row) for row in cells), encoding="latin-1")


def as_workbook(path):
    book = openpyxl.Workbook()
    for row in [("Ward statistics",), (), HEAD, *records()]:
        book.active.append(row)
    book.save(path)


def run(*arguments):
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, list(map(str, arguments)))


def commands(source, plan):
    """The README's commands for a table, about this one."""
    (block,) = re.findall(r"```sh\n(takifugu inspect.*?)```", README, re.S)
    for line in block.splitlines():
        words = shlex.split(line, comments=True)[1:]
        yield [{"people.csv": source.name, "diagnosis": "Diagnosis", "plan.toml": plan.name}.get(w, w) for w in words]


@pytest.mark.parametrize(("name", "write"), [("export.csv", as_csv), ("export.xlsx", as_workbook)])
def test_a_stranger_publishes_a_messy_table_with_the_readme_alone(tmp_path, monkeypatch, name, write):
    monkeypatch.chdir(tmp_path)
    source, plan = tmp_path / name, tmp_path / "plan.toml"
    write(source)
    inspect, dry, publish, verify = commands(source, plan)
    told = run(*inspect)
    assert told.exit_code == 0, told.output
    for word in ("999", "--tidy", "identifier", "are rare"):
        assert word in told.stdout
    unedited = run(*publish)
    assert unedited.exit_code == 2
    assert "names no column to publish yet" in unedited.stderr
    # What the plan's own comments say: take # away, and fill in.
    text = plan.read_text(encoding="utf-8")
    assert 'sentinel = ["Stay days=999"]' in text
    text = re.sub(r'^  # ("Stay days"|"Ward"),', r"  \1,", text, flags=re.M).replace("tidy = false", "tidy = true")
    text = text.replace("leave-out = []", 'leave-out = ["Unknown"]')
    text = re.sub(r"^# rare = .*", 'rare = ["HIV", "Sickle cell"]', text, flags=re.M)
    plan.write_text(re.sub(r'^# ("Ward" =)', r"\1", text, flags=re.M), encoding="utf-8")
    tried = run(*dry)
    assert tried.exit_code == 0, tried.output
    assert "would change by at most a factor of 3" in " ".join(tried.stdout.split())
    assert not (tmp_path / "published.csv").exists()
    done = run(*publish)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert re.search(r"posterior odds between two values of 'Diagnosis'.* change by at most a factor of 3", said)
    assert "What survives, on average:" in said
    made = pd.read_csv(tmp_path / "published.csv")
    assert list(made.columns) == ["Stay days", "Ward"]
    assert set(made["Ward"]) <= {"surgery", "general"}
    assert made["Stay days"].max() < 20
    assert run(*verify).exit_code == 0
    again = run(*dry)
    assert again.exit_code == 1  # after a publication it tells the same, and that it would be refused
    assert "It would be refused: " in again.stdout, again.stdout
    assert run(*publish).exit_code != 0


def test_a_researcher_has_the_first_noise_in_two_minutes(tmp_path):
    code = (ROOT / "docs/examples/paper.py").read_text(encoding="utf-8")
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.startswith("θ = ")
    assert time.monotonic() - started < 60
    assert tk.verify(tmp_path / "proof.json")


def test_every_figure_of_the_paper_is_on_a_page_and_made_by_one_command():
    page = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    shown = re.findall(r"images/paper/figure-(\d)\.svg", page)
    assert sorted(set(shown)) == list("12345678")
    assert "takifugu reproduce" in README


def test_an_auditor_proves_a_publication_from_public_files_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours = tmp_path / "ours"
    ours.mkdir()
    lists = {"sex": ["Female", "Male"], "education-num": [5, 9, 13]}
    made = tk.publish("adult", secret="sex", columns=["education-num"], domain=lists, private_fit=0.2, odds=1.3)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    made.save(theirs / "published.csv")
    made.statement.save(theirs / "statement.json")
    made.statement.save(theirs / "statement.txt")
    made.certificate.for_everybody.save(theirs / "certificate.json")
    monkeypatch.chdir(theirs)
    proved = run("verify", "certificate.json")
    assert proved.exit_code == 0, proved.output
    stated = run("verify", "statement.json", "--public", "statement.txt")
    assert stated.exit_code == 0, stated.output
    assert "1.3" in stated.stdout
    text = (theirs / "statement.json").read_text(encoding="utf-8")
    (theirs / "statement.json").write_text(text.replace('"rows": 48842', '"rows": 48841'), encoding="utf-8")
    assert run("verify", "statement.json").exit_code != 0
