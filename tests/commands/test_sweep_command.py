"""takifugu sweep: a table for people, for programs and for spreadsheets."""

import io
import json

import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main

HEART = ("heart", "--secret", "slope", "--pair", "1", "3", "--query", "mean:oldpeak")
GRID = ("--alpha", "2,3", "--epsilon", "0.5", "--epsilon", "1", "--mechanism", "exact,wasserstein")


def run(*arguments):
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)])


@pytest.fixture(scope="module")
def expected():
    priors = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=tk.Mean("oldpeak"), secrets=[1, 3])
    return tk.sweep(priors, alpha=[2, 3], epsilon=[0.5, 1], mechanism=["exact", "wasserstein"], pairs=[(1, 3)])


def test_json_has_the_rows(expected):
    rows = json.loads(run(*HEART, *GRID, "--json").stdout)
    assert len(rows) == 8
    assert [row["theta"] for row in rows[:4]] == expected["theta"].tolist()[:4]
    assert rows[-1]["theta"] is None
    assert rows[0]["worst_pair"] == list(expected["worst_pair"][0])


def test_csv_loses_no_bit(tmp_path, expected):
    path = tmp_path / "noise.csv"
    written = run(*HEART, *GRID, "--csv", path)
    assert (written.exit_code, written.stdout) == (0, "")
    here = run(*HEART, *GRID, "--csv", "-").stdout
    assert path.read_text() == here
    read = pd.read_csv(io.StringIO(here))
    assert read["theta"].tolist() == expected["theta"].tolist()
    assert list(read) == ["alpha", "epsilon", "mechanism", "theta", "variance", "worst_first", "worst_second"]


def test_people_get_a_table(expected):
    text = run(*HEART, *GRID).stdout
    assert "How much noise hides slope (1 or 3)" in text
    assert "no finite answer" in text
    assert text.count("exact") == 4
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--alpha", "two", "--epsilon", "1"), "--alpha must be numbers"),
        (("--alpha", "2", "--epsilon", ""), "--epsilon must be numbers"),
        (("--alpha", "2", "--epsilon", "-1"), "epsilon must be a finite number above 0"),
        (("--alpha", "2", "--epsilon", "1", "--mechanism", "magic"), "no mechanism 'magic'"),
    ],
)
def test_refusals_are_one_sentence(arguments, says):
    result = run(*HEART, *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stderr.count("\n") == 1


def test_confidence_and_bounds_are_options_too(tmp_path):
    arguments = ["heart", "--secret", "slope", "--pair", "1", "2", "--query", "raw:oldpeak", "--bounds", "0", "6.5"]
    arguments += ["--step", "0.5", "--alpha", "2", "--epsilon", "0.5,1", "--json"]
    plain, confident = (
        json.loads(CliRunner().invoke(main, ["sweep", *arguments, *more]).output)
        for more in ((), ("--confidence", "0.8"))
    )
    assert [a["theta"] >= b["theta"] for a, b in zip(confident, plain, strict=True)] == [True, True]
    refused = CliRunner().invoke(main, ["sweep", *arguments, "--confidence", "80"])
    assert refused.exit_code == 2
    assert "confidence must be" in refused.output
    refused = CliRunner().invoke(main, ["sweep", *[a.replace("raw:", "mean:") for a in arguments]])
    assert "--bounds is for --query raw" in refused.output


def test_lists_are_swept_by_odds():
    given = ("adult", "--secret", "race", "--pair", "White", "Other", "--query", "row:education-num")
    result = run(*given, "--odds", "2,3", "--alpha", 3, "--epsilon", 0.5)
    assert result.exit_code == 0, result.stderr
    assert "changed" in result.stdout
    assert "θ" not in result.stdout
    assert "−∞" not in result.stdout
    rows = json.loads(run(*given, "--odds", "2,3", "--json").stdout)
    people = tk.datasets.load("adult").query("race in ('White', 'Other')")
    priors = tk.fit_priors(people, secret="race", query=tk.Row("education-num"))
    for row, odds in zip(rows, (2, 3), strict=True):
        found = tk.calibrate(priors, odds=odds)
        assert row["error"] == pytest.approx(found.error, rel=1e-9)
        stay = dict(zip(found.channel.inputs, found.channel.matrix.diagonal(), strict=True))
        assert row["changed"] == pytest.approx(1 - people["education-num"].map(stay).mean(), rel=1e-9)
        assert (row["alpha"], row["theta"]) == (None, None)
    assert run(*given).exit_code == 2
    assert "--alpha and --epsilon, --epsilon and --delta, or --odds" in run(*given, "--alpha", 3).stderr


def test_shares_are_swept_at_every_budget():
    given = ("heart", "--secret", "slope", "--pair", 1, 3, "--query", "raw:oldpeak", "--mechanism", "exact,laplace")
    rows = json.loads(run(*given, "--epsilon", "0.5,1", "--delta", "1e-5", "--json").stdout)
    assert [(row["epsilon"], row["delta"], row["mechanism"]) for row in rows] == [
        *((epsilon, 1e-5, "exact") for epsilon in (0.5, 1.0)),
        *((epsilon, 1e-5, "laplace") for epsilon in (0.5, 1.0)),
    ]
    patients = tk.datasets.load("heart").query("slope in (1, 3)").dropna(subset=["oldpeak"])
    priors = tk.fit_priors(patients, secret="slope", query=tk.Raw("oldpeak"))
    assert rows[-1]["variance"] == tk.calibrate(priors, epsilon=1, delta=1e-5, noise="laplace").variance
    shown = run(*given, "--epsilon", 1, "--delta", "1e-5").stdout
    assert "standard deviation" in shown
    assert "–" in shown  # no order
    assert "epsilon,delta,mechanism" in run(*given, "--epsilon", 1, "--delta", "1e-5", "--csv", "-").stdout
