"""Sentences of the library in the words of the command line, read from the source: none is forgotten."""

import ast
import json
import re
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu
from takifugu.cli import main
from takifugu.commands.output import _NAMES, in_flags
from takifugu.errors import InputError
from takifugu.releases.binding import outside, require_inside
from takifugu.tables.table import Table

SOURCE = Path(takifugu.__file__).parent
ROOMS = ("problems", "mechanisms", "tables", "queries", "calibration", "certificates", "releases", "audits")

PYTHON = re.compile(rf"(?<![\w'\"-])(?:{_NAMES})=|`(?:{_NAMES})`|\b(?:Raw|Row|Mean|Ledger|fit_priors|binned)\(")

# What no command can reach: options without a flag, representations, and values that only Python hands over.
NOT_TYPED = (
    "release takes values: publish a file",
    "Ledger({",
    "tk.publish(",
    ", reading=Reading(",
    "need inputs and outputs",
)


def sentences():
    """Every text of the rooms behind the commands but docstrings, with a word in place of what is filled in."""
    for path in sorted(path for room in ROOMS for path in (SOURCE / room).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        inside |= {id(text) for text in map(docstring, nodes) if text is not None}
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "'x'" for part in node.values)
                yield path, node, "".join(map(str, parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
                yield path, node, node.value


def docstring(node):
    """The text that says what a module, class or function is, if this is one that has it."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr):
        return node.body[0].value
    return None


def test_no_sentence_is_left_in_the_words_of_python():
    told, left = 0, []
    for path, node, text in sentences():
        if not PYTHON.search(text) or " " not in text.strip() or path.name == "diagnostics.py":
            continue
        told += 1
        typed = in_flags(text)
        if PYTHON.search(typed) and not any(part in ast.unparse(node) or part in text for part in NOT_TYPED):
            left.append(f"{path.name}: {typed}")
    assert told > 25
    assert left == []


def test_every_flag_that_a_sentence_names_is_one():
    known = {
        option
        for name in main.list_commands(click.Context(main))
        for parameter in main.get_command(click.Context(main), name).params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    named = {
        f"--{name.replace('_', '-')}"
        for name in re.findall(
            r"(?<!-)--([\w-]+)", in_flags(" ".join(f"`{n}`" for n in _NAMES.split("|") if "=" not in n))
        )
    }
    assert {flag for flag in named if flag not in known} == set()


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("give reading=Reading(sentinels=['order=999']); if not", "give --sentinel 'order=999'; if not"),
        ("give reading=Reading(na=[...]) to change that", "give --na to change that"),
        ("give reading=Reading(decimal=...) to be sure", "give --decimal to be sure"),
        ("ask for preserve='marginal'.", "ask for --preserve marginal."),
        (
            "leave them out (leave_out=), or give coarser lists (domain=)",
            "leave them out (--leave-out), or give coarser lists (--domain)",
        ),
        (
            "or leave it out, with Reading(leave_out=[...]) in publish or by naming the others in `secrets`",
            "or leave it out by naming the others with --pair",
        ),
        ("column 'theta' has no value in any row", "column 'theta' has no value in any row"),
        ("give others='drop' to leave the rows out", "give --others drop to leave the rows out"),
        ("clip=(0.2, 0.8) leaves none", "--clip 0.2 0.8 leaves none"),
        ("theta=-1.5 is less noise", "--theta -1.5 is less noise"),
        ("say header=False if it is a record", "say --no-header if it is a record"),
        ("cut it with binned('age', [...])", "cut it with --known age:EDGE:EDGE"),
        ("a budget (alpha=2, epsilon=1) stands", "a budget (alpha = 2, epsilon = 1) stands"),
        ("with the same epsilon", "with the same epsilon"),
    ],
)
def test_a_sentence_and_its_twin(python, typed):
    assert in_flags(python) == typed


def test_rows_in_no_pair_are_told_in_the_words_of_the_command():
    with pytest.raises(InputError) as refused:
        require_inside(Table(pd.DataFrame({"s": [*"aabbc"], "x": 1})), ["s"], ["x"], ["a", "b"])
    words = "Name those secrets with --pair too, or leave the rows out with --others drop."
    assert words in in_flags(str(refused.value), "publish")
    told = outside(2, 9, frozenset("ab"))
    assert "Calibrate with those secrets, give --others drop" in in_flags(told, "release")


def test_few_rows_are_told_in_flags_and_allowed_by_one(tmp_path):
    path = tmp_path / "people.csv"
    rng = np.random.default_rng(0)
    pd.DataFrame({"s": ["a"] * 60 + ["b"] * 3, "x": rng.integers(0, 3, 63)}).to_csv(path, index=False)
    question = ["calibrate", str(path), "--secret", "s", "--query", "raw:x", "--alpha", "2", "--epsilon", "1"]
    refused = CliRunner().invoke(main, question)
    assert refused.exit_code == 2
    assert "ask for --confidence 0.95" in refused.stderr
    assert "take the risk with --allow-few-rows" in refused.stderr
    with pytest.raises(takifugu.InputError, match=r"confidence=0\.95.*few='allow'"):
        takifugu.calibrate(takifugu.fit_priors(path, secret="s", query=takifugu.Raw("x")), alpha=2, epsilon=1)
    assert CliRunner().invoke(main, [*question, "--allow-few-rows"]).exit_code == 0


def test_odds_that_noise_cannot_keep_are_refused_before_the_table_is_read(tmp_path):
    asked = ["calibrate", str(tmp_path / "absent.csv"), "--secret", "s", "--odds", "3", "--query"]
    for query in ("raw:cost", "mean:cost"):
        refused = CliRunner().invoke(main, [*asked, query, "--mechanism", "exact"])
        assert refused.exit_code == 2
        assert "bounds the odds at no size" in refused.stderr
        assert "absent.csv" in CliRunner().invoke(main, [*asked, query]).stderr  # Laplace noise keeps them
    assert "absent.csv" in CliRunner().invoke(main, [*asked, "row:cost"]).stderr


def test_a_release_speaks_in_flags_and_in_numbers_to_be_read(tmp_path):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"s": ["a", "b"] * 1200, "id": range(2400), "x": rng.normal(0, 20, 2400).round()})
    people["x"] += 30 * (people["s"] == "b")
    people.to_csv(tmp_path / "people.csv", index=False)
    query = takifugu.Raw("x", bounds=(-80, 120), step=1)
    priors = takifugu.fit_priors(tmp_path / "people.csv", secret="s", query=query)
    made = takifugu.calibrate(priors, alpha=2, epsilon=0.1)
    (tmp_path / "made.json").write_text(json.dumps(made.to_dict()))
    given = ["release", str(tmp_path / "people.csv"), str(tmp_path / "out.csv")]
    given += ["--calibration", str(tmp_path / "made.json"), "--order", "shuffle"]
    refused = CliRunner().invoke(main, [*given, "--of", "a"])
    assert "--of names the group whose mean is published" in refused.stderr
    done = CliRunner().invoke(main, [*given, "--keep", "id"])
    assert done.exit_code == 0, done.output
    assert "--known of takifugu calibrate, or with --keep of takifugu publish" in done.stderr
    assert "Published 2,400 rows" in done.stdout
    assert re.search(r"standard deviation \d+\.\d{1,5}, rounded", done.stdout)
    certified = CliRunner().invoke(main, ["certify", str(tmp_path / "made.json"), "-o", str(tmp_path / "proof.json")])
    assert re.search(r"standard deviation \d+\.\d{1,5} keeps", certified.stdout)
    assert json.loads((tmp_path / "proof.json").read_text())["theta"] == made.theta


@pytest.mark.parametrize(
    ("number", "said"),
    [("7.114355645695433", "7.11436"), ("0.38553888883414794", "0.385539"), ("1.2345601e-07", "1.23457e-07")],
)
def test_noise_is_rounded_up(number, said):
    assert in_flags(f"noise of standard deviation {number}, and no less") == (
        f"noise of standard deviation {said}, and no less"
    )


def test_a_column_of_another_sheet_is_looked_for_with_a_flag(tmp_path):
    path = tmp_path / "people.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["made by hand"]}).to_excel(book, sheet_name="About", index=False)
        pd.DataFrame({"s": ["a", "b"] * 30, "x": [1, 2, 3] * 20}).to_excel(book, sheet_name="Stays", index=False)
    refused = CliRunner().invoke(main, ["inspect", str(path), "--secret", "s"])
    assert refused.exit_code == 2
    assert "Its sheet 'About' was read, and not 'Stays': give --sheet 'Stays' to change that." in refused.stderr
    assert CliRunner().invoke(main, ["inspect", str(path), "--secret", "s", "--sheet", "Stays"]).exit_code == 0
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["made by hand"]}).to_excel(book, sheet_name="About", index=False)
        pd.DataFrame({"s": ["a", "b"] * 30, "x": [1, 2, 3] * 20}).to_excel(book, sheet_name="2024", index=False)
    for named in ("2024", "1"):  # a sheet may be called by a number, or be counted
        assert CliRunner().invoke(main, ["inspect", str(path), "--secret", "s", "--sheet", named]).exit_code == 0


def test_a_file_of_names_alone_has_no_rows(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("s,ward\n")
    refused = CliRunner().invoke(
        main, ["publish", str(path), str(tmp_path / "out.csv"), "--secret", "s", "--columns", "ward"]
    )
    assert refused.exit_code == 2
    assert refused.stderr.splitlines()[-1] == f"takifugu: the file {str(path)!r} has no rows"


def test_a_column_that_is_kept_and_changed_a_ledger_that_is_published_and_percents_are_refused_at_once(tmp_path):
    table = tmp_path / "stays.csv"
    table.write_text("s,x\n" + "a,1\nb,2\na,2\nb,1\n" * 30)
    out = tmp_path / "out.csv"
    for flags, told in (
        (["--keep", "x"], "column 'x' is in both --columns and --keep"),
        (["--ledger", str(out)], "is to be the ledger, and cannot be what is published too"),
        (["--confidence", "95"], "got 95.0: 95 % is written 0.95"),
    ):
        ended = CliRunner().invoke(main, ["publish", str(table), str(out), "--secret", "s", "--columns", "x", *flags])
        assert ended.exit_code == 2
        assert told in ended.output
        assert not out.exists()
