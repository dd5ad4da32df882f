"""takifugu calibrate: what it prints and writes, and how it refuses."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
import takifugu.__main__
from forked import processes
from takifugu.cli import main

HEART = ("heart", "--secret", "slope", "--pair", "1", "3", "--alpha", "3", "--epsilon", "1")
MEAN = (*HEART, "--query", "mean:oldpeak")
ASKED = (*HEART[:-4], "--query", "mean:oldpeak")
HOSTILE = "<script>alert(1)</script>\x1b[31m"


def run(*arguments):
    return CliRunner().invoke(main, ["calibrate", *map(str, arguments)])


def expected(query):
    priors = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=query, secrets=[1, 3])
    return tk.calibrate(priors, alpha=3, epsilon=1, pairs=[(1, 3)])


def test_json_is_to_dict():
    result = run(*MEAN, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads(json.dumps(expected(tk.Mean("oldpeak")).to_dict()))
    assert result.stderr == ""


@pytest.mark.parametrize("kind", ["gaussian", "empirical"])
def test_the_kind_of_prior_is_passed_on(kind):
    result = run(*HEART, "--query", "raw:oldpeak", "--prior", kind, "--json")
    assert json.loads(result.stdout)["theta"] == expected(tk.Raw("oldpeak", prior=kind)).theta


def test_models_take_features_and_a_place():
    result = run(*HEART, "--query", "gp:oldpeak", "--feature", "age", "--at", "age=50", "--json")
    wanted = expected(tk.GP("oldpeak", features=["age"], at={"age": 50.0}))
    assert json.loads(result.stdout)["theta"] == wanted.theta


def test_people_read_what_was_found_and_files_are_there(tmp_path):
    names = ("report.html", "certificate.json", "public.json", "calibration.json")
    options = zip(
        ("--report", "--certificate", "--public", "--output"), (tmp_path / name for name in names), strict=True
    )
    result = run(*MEAN, *(part for option in options for part in option))
    assert result.exit_code == 0, result.output
    for said in ("slope (1 or 3)", "θ = ", "Best guess", "The paper's closed form", "secret 3 has 21 rows", "private"):
        assert said in result.stdout, said
    assert "\x1b" not in result.stdout  # no colour in a pipe
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    proved = tk.verify(tmp_path / "certificate.json")
    assert proved.sha256 in (tmp_path / "report.html").read_text(encoding="utf-8")
    read = tk.Calibration.from_dict(json.loads((tmp_path / "calibration.json").read_text()))
    assert read == expected(tk.Mean("oldpeak"))


def test_what_it_writes_can_be_released_and_certified(tmp_path):
    people = tmp_path / "people.csv"
    tk.datasets.load("heart")[["slope", "oldpeak"]].to_csv(people, index=False)
    kept = tmp_path / "calibration.json"
    asked = ("--secret", "slope", "--query", "raw:oldpeak", "--prior", "gaussian", "--alpha", 3, "--epsilon", 1)
    assert run(people, *asked, "--output", kept).exit_code == 0
    ends = ("--calibration", kept, "--column", "oldpeak", "--secret", "slope", "--quiet")
    for command in (
        ("release", people, tmp_path / "published.csv", *ends),
        ("certify", kept, "-o", tmp_path / "certificate.json"),
        ("verify", tmp_path / "certificate.json"),
    ):
        result = CliRunner().invoke(main, [str(part) for part in command])
        assert result.exit_code == 0, result.output
    assert len(pd.read_csv(tmp_path / "published.csv")) == 303


def test_a_file_with_hostile_names(tmp_path):
    table = pd.DataFrame({"who": [HOSTILE, "b"] * 40, "value": range(80)})
    table.to_csv(tmp_path / "people.csv", index=False)
    report = tmp_path / "report.html"
    result = run(
        tmp_path / "people.csv", "--secret", "who", "--query", "mean:value", "--alpha", 2, "--epsilon", 1,
        "--report", report,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert "<script" not in report.read_text(encoding="utf-8")
    assert str(tmp_path) not in report.read_text(encoding="utf-8")  # a report does not tell where the data lie


def test_secrets_are_spelled_as_in_the_file(tmp_path):
    table = pd.DataFrame({"support": ["yes", "no"] * 40, "flag": ["true", "false"] * 40, "value": range(80)})
    table.to_csv(tmp_path / "people.csv", index=False)
    rest = ("--query", "mean:value", "--alpha", 2, "--epsilon", 1, "--json")
    result = run(tmp_path / "people.csv", "--secret", "support", "--pair", "yes", "no", *rest)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["pairs"] == [["yes", "no"]]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("nothing.csv", *MEAN[1:]), 2, "there is no file 'nothing.csv'"),
        (("hart", *MEAN[1:]), 2, "its name must end in"),
        ((*HEART, "--query", "mean:oldpaek"), 2, "Did you mean 'oldpeak'?"),
        ((*HEART, "--query", "oldpeak"), 2, "such as raw:oldpeak"),
        ((*HEART, "--query", "raaw:oldpeak"), 2, "Did you mean 'raw'?"),
        ((*HEART, "--query", "raw:oldpeak", "--prior", "gauss"), 2, "Did you mean 'gaussian'?"),
        ((*MEAN, "--prior", "gaussian"), 2, "--prior is for --query raw"),
        ((*MEAN, "--at", "age=1"), 2, "--at is for --query gp and bnn"),
        ((*HEART, "--query", "gp:oldpeak", "--at", "age"), 2, "--at must be COLUMN=NUMBER"),
        ((*MEAN, "--pair", "1", "9"), 2, "no row has slope = '9'"),
        (
            (*HEART[:-4], "--query", "mean:oldpeak", "--alpha", "1", "--epsilon", "1"),
            2,
            "alpha must be a finite number above 1",
        ),
        ((*HEART[:-4], "--query", "mean:oldpeak", "--alpha", "2", "--epsilon", "nan"), 2, "epsilon must be"),
        ((*MEAN, "--alpha", "3"), 2, "--alpha was given 2 times"),
        ((*MEAN, "--mechanism", "magic"), 2, "no mechanism 'magic'"),
        ((*MEAN, "--delta", "0.1"), 2, "has no option 'delta'"),
        ((*MEAN, "--mechanism", "wasserstein"), 1, "no finite noise"),
        ((*MEAN, "--report", "no/such/folder.html"), 2, "cannot be written"),
    ],
)
def test_refusals_are_one_sentence_and_a_status(arguments, status, says):
    result = run(*arguments)
    assert result.exit_code == status, result.output
    assert says in result.stderr
    assert result.stderr.startswith("takifugu: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_nothing_is_written_where_nothing_is_proved(tmp_path):
    files = (part for name in ("report", "certificate", "output") for part in (f"--{name}", tmp_path / name))
    result = run(*MEAN, "--mechanism", "wasserstein-approx", *files)
    assert result.exit_code == 1
    assert "weaker guarantee" in result.stderr
    assert os.listdir(tmp_path) == []


_INTERRUPTED = """
import os, signal, sys
import takifugu.atomic, takifugu.calibration
from takifugu.cli import main

def interrupt(*arguments, **named):
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()

{target} = interrupt
main({arguments!r})
"""


@pytest.fixture(scope="module")
def process():
    """Runs a program as a process of its own, at a terminal without Greek."""
    with processes("pandas", "takifugu", "flint", environment=os.environ | {"PYTHONIOENCODING": "ascii"}) as start:
        yield start


@pytest.mark.parametrize("target", ["takifugu.calibration.calibrate", "takifugu.atomic.os.fsync"])
def test_an_interruption_leaves_nothing(tmp_path, process, target):
    folder = tmp_path / "empty"
    folder.mkdir()
    arguments = ["calibrate", *MEAN, "--report", str(folder / "r.html"), "--certificate", str(folder / "c.json")]
    program = tmp_path / "interrupted.py"
    program.write_text(_INTERRUPTED.format(target=target, arguments=arguments), encoding="utf-8")
    ended = process([program], folder)
    assert ended.status == 130, ended.complained
    assert ended.complained == "takifugu: interrupted; no file was left half-written\n"
    assert os.listdir(folder) == []


@pytest.mark.parametrize(("text", "status"), [("Query interrupted", 130), ("another", 1)])
def test_an_interruption_inside_the_engine_is_one(monkeypatch, text, status):
    def interrupted(*arguments, **named):
        raise RuntimeError(text)

    monkeypatch.setattr("takifugu.queries.fit_priors", interrupted)
    result = run(*MEAN)
    assert result.exit_code == status
    assert ("interrupted; no file" in result.stderr) == (status == 130)


def test_it_speaks_to_a_terminal_without_greek(tmp_path, process):
    ended = process([takifugu.__main__.__file__, "calibrate", *MEAN], tmp_path)
    assert ended.status == 0, ended.complained
    assert "standard deviation" in ended.said


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from click.testing import CliRunner; from takifugu.cli import main\n"
        "for name in ([], ['calibrate'], ['sweep'], ['demo']):\n"
        "    assert CliRunner().invoke(main, [*name, '--help']).exit_code == 0\n"
        "print(sorted({'numpy', 'scipy', 'pandas', 'rich', 'duckdb', 'flint'} & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert ended.stdout.strip() == "[]"


def test_a_promise_can_be_asked_for_backwards():
    result = run(*ASKED, "--best-guess", "0.6")
    assert result.exit_code == 0, result.output
    told = " ".join(result.stdout.split())
    assert "no guess is right with a probability above 60 %" in told
    found = run(*ASKED, "--error", "2", "--json")
    assert json.loads(found.stdout)["alpha"] == tk.recommended_alpha(2)
    assert "Trying" in found.stderr


def test_public_bounds_can_be_given():
    asked = (
        "heart",
        "--secret",
        "slope",
        "--pair",
        "1",
        "3",
        "--query",
        "raw:oldpeak",
        "--alpha",
        "3",
        "--epsilon",
        "1",
    )
    found = run(*asked, "--bounds", "0", "8", "--step", "0.5", "--json")
    assert json.loads(found.stdout)["theta"] == expected(tk.Raw("oldpeak", bounds=(0, 8), step=0.5)).theta
    refused = run(*MEAN, "--bounds", "0", "8")
    assert refused.exit_code == 2
    assert "--bounds is for --query raw" in refused.stderr


@pytest.mark.parametrize(("query", "has"), [("raw:oldpeak", True), ("mean:oldpeak", False)])
def test_one_mean_is_not_averaged_over_a_hundred(query, has):
    given = ["calibrate", "heart", "--secret", "slope", "--pair", "1", "3", "--query", query]
    told = CliRunner().invoke(main, [*given, "--alpha", "2", "--epsilon", "0.5"]).stdout
    assert "Noise θ" in told
    assert ("100 averaged" in told) == has


def test_epsilon_with_delta_is_a_guarantee_of_its_own():
    asked = (*ASKED, "--epsilon", "1", "--delta", "1e-5", "--json")
    found = {name: json.loads(run(*asked, "--mechanism", name).stdout) for name in ("laplace", "exact")}
    assert found["laplace"]["guarantee"] == {"kind": "approximate", "epsilon": 1.0, "delta": 1e-5}
    assert json.loads(run(*asked).stdout) == found["exact"]
    priors = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=tk.Mean("oldpeak"), secrets=[1, 3])
    assert found["exact"]["theta"] == tk.calibrate(priors, epsilon=1, delta=1e-5).theta
