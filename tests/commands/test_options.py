"""Options of every command: given once, checked before the table is read, and all files or none."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from takifugu import Calibration
from takifugu.cli import main

PROMISE = ("--alpha", "2", "--epsilon", "1")


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    frame = pd.DataFrame({"s": ["a", "b"] * 60, "x": rng.integers(0, 5, 120) + [0, 1] * 60, "w": list("AAB") * 40})
    frame.to_csv(path, index=False)
    return path


# ---- typed wrongly


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["publish", "a.csv", "b.csv"], "--secret is missing. See takifugu publish --help"),
        (["publish"], "SOURCE is missing. See takifugu publish --help"),
        (["publish", "--odds", "x"], "--odds: 'x' is not a number. See takifugu publish --help"),
        (["publish", "--seed", "1.5"], "--seed: '1.5' is not a whole number. See takifugu publish --help"),
        (["publish", "--others", "x"], "--others: 'x' is not one of 'error', 'drop'. See takifugu publish"),
        (["publish", "--secrt"], "there is no option --secrt: did you mean --secret"),
        (
            ["publish", "a", "b", "c", "--secret", "s", "--columns", "c"],
            "got unexpected extra argument (c): put a name",
        ),
        (["publish", "a", "b", "--secret"], "--secret requires an argument"),
        (["publis"], "there is no command 'publis'. Did you mean 'publish'? See takifugu --help"),
        (["zzz"], "there is no command 'zzz'. See takifugu --help"),
        (["--odds"], "there is no option --odds. See takifugu --help"),
    ],
)
def test_what_is_typed_wrongly_is_told_in_one_line(typed, says):
    result = CliRunner().invoke(main, typed, prog_name="takifugu")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"takifugu: {says}")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_without_a_command_there_is_help():
    assert "Commands:" in CliRunner().invoke(main, []).output


# ---- given once


@pytest.mark.parametrize(
    ("command", "twice"),
    [
        ("calibrate", ("--alpha", "2", "--alpha", "3")),
        ("calibrate", ("--alpha=2", "--alpha", "3")),
        ("calibrate", ("--odds", "2", "--odds", "3")),
        ("calibrate", ("--sep", ";", "--sep", ",")),
        ("calibrate", ("--missing", "drop", "--missing=refuse")),
        ("calibrate", ("-o", "one.json", "-o", "two.json")),
        ("calibrate", ("-o", "one.json", "--output", "two.json")),
        ("calibrate", ("-oone.json", "--output=two.json")),
        ("calibrate", ("--report", "a.html", "--report", "b.html")),
        ("calibrate", ("--query", "raw:x", "--query", "raw:w")),
        ("release", ("--theta", "2", "--theta", "3")),
        ("release", ("--clip", "0", "1", "--clip", "0", "2")),
        ("release", ("--ledger", "a", "--ledger", "b")),
        ("publish", ("--odds", "2", "--odds", "3")),
        ("publish", ("--confidence", "0.9", "--confidence", "0.95")),
    ],
)
def test_an_option_with_one_value_is_given_once(command, twice, tmp_path):
    name = "--output" if twice[0].startswith("-o") else twice[0].split("=")[0]
    before = set(tmp_path.iterdir())
    result = run(command, tmp_path / "absent.csv", *(() if command == "calibrate" else ("out.csv",)), *twice)
    assert result.exit_code == 2
    assert f"{name} was given 2 times, and it takes one value" in result.stderr
    assert set(tmp_path.iterdir()) == before


def test_options_that_may_be_repeated_are(table, tmp_path):
    out = tmp_path / "c.json"
    result = run(
        "calibrate", table, "--secret", "s", "--query", "raw:x", *PROMISE, "--na", "?", "--na", "-", "--pair", "a", "b",
        "-o", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert Calibration.load(out).answer.columns == ("x",)


# ---- checked before the table is read


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--alpha", "1", "--epsilon", "1"), "alpha"),
        (("--alpha", "2", "--epsilon", "0"), "epsilon"),
        (("--alpha", "2"), "epsilon is missing: a guarantee has both --alpha and --epsilon; or give --odds alone\n"),
        ((), "the guarantee is missing: give --alpha and --epsilon, or --odds\n"),
        (("--odds", "1"), "odds"),
        ((*PROMISE, "--mechanism", "exakt"), "no mechanism 'exakt'"),
        ((*PROMISE, "--delta", "0.1"), "'exact' has no option 'delta'"),
        ((*PROMISE, "--confidence", "2"), "confidence"),
        ((*PROMISE, "--output", "no/such/folder/c.json"), "no/such/folder"),
    ],
)
def test_calibrate_names_the_argument_before_the_file(tmp_path, arguments, says):
    result = run("calibrate", tmp_path / "absent.csv", "--secret", "s", "--query", "raw:x", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "absent.csv" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--query", "raw", *PROMISE), "KIND:COLUMN"),
        (("--query", "rwa:x", *PROMISE), "no kind 'rwa'"),
        (("--query", "mean:x", "--prior", "counts", *PROMISE), "--prior is for --query raw"),
        (("--query", "row:x", "--at", "x=1", *PROMISE), "--at is for --query gp and bnn"),
        (("--query", "raw:x", "--prior", "cuonts", *PROMISE), "prior must be one of"),
        (("--query", "raw:x", "--encoding", "latin9000", *PROMISE), "encoding"),
        (("--query", "raw:x", "--sep", "ab", *PROMISE), "sep"),
    ],
)
def test_the_question_is_checked_before_the_file(tmp_path, arguments, says):
    result = run("calibrate", tmp_path / "absent.csv", "--secret", "s", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "absent.csv" not in result.stderr


def test_publish_names_the_argument_before_the_file(tmp_path):
    result = run("publish", tmp_path / "absent.csv", tmp_path / "o.csv", "--secret", "s", "--columns", " , ")
    assert result.exit_code == 2
    assert "--columns is empty" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("--id", "nr"), ("--new-people",), ("--new-ledger",)])
def test_a_ledgers_options_need_a_ledger(tmp_path, arguments):
    result = run("release", tmp_path / "absent.csv", tmp_path / "o.csv", "--calibration", "c.json", *arguments)
    assert result.exit_code == 2
    assert "give --ledger too" in result.stderr


# ---- reading options


def test_what_calibrate_reads_release_reads_with_the_same_options(tmp_path):
    rng = np.random.default_rng(1)
    lines = ["a title line", "s;x;note"]
    values = rng.integers(0, 5, 200) + [0, 2] * 100
    lines += [f"{'ab'[k % 2]};{value},5;ü" for k, value in enumerate(values)]
    lines += ["a;999;ü", "b;?;ü"]
    source = tmp_path / "odd.txt"
    source.write_bytes("\n".join(lines).encode("cp1252"))
    reading = (
        "--sep",
        ";",
        "--decimal",
        ",",
        "--encoding",
        "cp1252",
        "--skip",
        "1",
        "--sentinel",
        "x=999",
        "--na",
        "?",
    )
    made = run("calibrate", source, "--secret", "s", "--query", "raw:x", *PROMISE, *reading, "-o", tmp_path / "c.json")
    assert made.exit_code == 0, made.output
    done = run("release", source, tmp_path / "o.csv", "--calibration", tmp_path / "c.json", *reading, "--keep", "note")
    assert done.exit_code == 0, done.output
    out = pd.read_csv(tmp_path / "o.csv")
    assert len(out) == 200
    assert set(out["note"]) == {"ü"}
    refused = run(
        "release", source, tmp_path / "p.csv", "--calibration", tmp_path / "c.json", *reading, "--missing", "refuse"
    )
    assert refused.exit_code == 2
    assert "missing" in refused.stderr
    assert not (tmp_path / "p.csv").exists()


# ---- all files or none


@pytest.mark.parametrize("failing", ["--report", "--certificate", "--public", "--output"])
def test_all_files_appear_or_none(table, tmp_path, failing):
    names = {"--report": "r.html", "--certificate": "c.json", "--public": "p.json", "--output": "o.json"}
    places = {option: tmp_path / name for option, name in names.items()}
    places[failing] = tmp_path / "missing" / names[failing]
    given = [part for pair in places.items() for part in pair]
    result = run("calibrate", table, "--secret", "s", "--query", "row:w", "--odds", "2", *given)
    assert result.exit_code != 0
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    places[failing] = tmp_path / names[failing]
    given = [part for pair in places.items() for part in pair]
    result = run("calibrate", table, "--secret", "s", "--query", "raw:x", *PROMISE, *given)
    assert result.exit_code == 0, result.output
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", *names.values()}
    assert json.loads((tmp_path / "o.json").read_text())["format"] == "takifugu-calibration"


def test_a_weaker_promise_has_no_certificate_and_leaves_no_file(table, tmp_path):
    arguments = ("--mechanism", "wasserstein-approx", "--delta", "0.1", *PROMISE)
    result = run(
        "calibrate", table, "--secret", "s", "--query", "raw:x", *arguments,
        "--certificate", tmp_path / "c.json", "-o", tmp_path / "o.json",
    )  # fmt: skip
    assert result.exit_code == 1
    assert "weaker guarantee" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
