"""What Python's arguments reach, flags reach: the same question, the same calibration, on every command."""

import json

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.commands.options import READING_NAMES

PROMISE = ("--alpha", "2", "--epsilon", "1")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("flags") / "people.csv"
    who = np.array(["a", "b"])[rng.integers(0, 2, 400)]
    frame = pd.DataFrame(
        {
            "s": who,
            "t": np.array(["u", "v"])[rng.integers(0, 2, 400)],
            "x": np.exp(rng.normal(2, 0.5, 400) + (who == "b")).round(2),
            "n": rng.integers(0, 4, 400) + (who == "b"),
            "ward": np.array(list("ABC"))[rng.integers(0, 3, 400)],
            "sex": np.array(list("fm"))[rng.integers(0, 2, 400)],
            "age": rng.integers(20, 80, 400),
            "net, income": rng.integers(0, 3, 400),
        }
    )
    frame.to_csv(path, index=False)
    return path


def asked(table, *arguments, secret=("--secret", "s")):
    result = CliRunner().invoke(main, ["calibrate", str(table), *secret, *map(str, arguments), "--json"])
    assert result.exit_code == 0, result.stderr
    return tk.Calibration.from_dict(json.loads(result.stdout))


@pytest.mark.parametrize(
    ("flags", "query"),
    [
        (("--query", "raw:x", "--bounds", 0, 60, "--step", 2), tk.Raw("x", bounds=(0, 60), step=2)),
        (("--query", "raw:x", "--transform", "log", "--step", 0.5), tk.Raw("x", transform="log", step=0.5)),
        (("--query", "raw:x", "--step", 0, "--prior", "gaussian"), tk.Raw("x", step=0, prior="gaussian")),
        (("--query", "raw:net, income"), tk.Raw("net, income")),
        (("--query", "mean:x,n"), tk.Mean(["x", "n"])),
        (("--query", "row:n,ward", "--loss", "change"), tk.Row("n", "ward", loss="change")),
    ],
    ids=["bounds", "log", "bare", "comma", "vector", "loss"],
)
def test_the_answer(table, flags, query):
    made = tk.calibrate(tk.fit_priors(table, secret="s", query=query), alpha=2, epsilon=1)
    assert asked(table, *flags, *PROMISE) == made


def test_lists_and_what_others_become(table, tmp_path):
    (tmp_path / "lists.json").write_text('{"ward": ["A", "other"], "n": [0, 2, 4]}')
    domain, query = {"ward": ["A", "other"], "n": [0, 2, 4]}, "row:n,ward"
    found = asked(
        table,
        "--query",
        query,
        "--domain",
        tmp_path / "lists.json",
        "--other",
        "other",
        "--odds",
        3,
        "--preserve",
        "none",
    )
    priors = tk.fit_priors(table, secret="s", query=tk.Row("n", "ward", domain=domain, other={"ward": "other"}))
    assert found == tk.calibrate(priors, odds=3, preserve=None)


def test_what_the_adversary_knows(table):
    found = asked(table, "--query", "raw:n", "--known", "sex", "--known", "age:40:60", *PROMISE)
    known = ["sex", tk.binned("age", [40, 60])]
    assert found == tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Raw("n"), known=known), alpha=2, epsilon=1)


def test_several_secrets_and_the_population(table):
    both = ("--secret", "s", "--secret", "t")
    found = asked(table, "--query", "row:n", "--odds", 3, secret=both)
    assert found == tk.calibrate(tk.fit_priors(table, secret=["s", "t"], query=tk.Row("n")), odds=3)
    band = asked(table, "--query", "row:n", "--odds", 3, "--assurance", "band", "--radius", 0.01)
    assert type(band.evidence).__name__ == "ProvedBand"
    assert dict(band.options)["radius"] != 0


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--query", "mean:x", "--bounds", 0, 1), "--bounds is for --query raw: leave it out for mean"),
        (("--query", "raw:x", "--domain", "lists.json"), "--domain is for --query row"),
        (("--query", "mean:x", "--known", "sex"), "--known is for --query raw and row"),
        (("--query", "raw:x", "--bounds", 3, 1), "bounds"),
        (("--query", "raw:x", "--step", -1), "step"),
        (("--query", "raw:x", "--pair", "a", "z"), "no row has s = 'z'"),
        (("--query", "raw:x", "--radius", 0.1), "'exact' has no option 'radius'"),
    ],
)
def test_flags_for_another_answer_are_refused(table, flags, says):
    result = CliRunner().invoke(main, ["calibrate", str(table), "--secret", "s", *map(str, flags), *PROMISE])
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_sweep_takes_the_mechanism_that_goes_with_the_answer(table):
    result = CliRunner().invoke(main, ["sweep", str(table), "--secret", "s", "--query", "row:n", *PROMISE, "--json"])
    assert result.exit_code == 0, result.stderr
    assert [row["mechanism"] for row in json.loads(result.stdout)] == ["optimal"]


def parameters(command):
    return {parameter.name for parameter in main.get_command(click.Context(main), command).params}


def test_every_command_that_reads_a_table_reads_it_with_the_same_flags():
    for command in ("publish", "calibrate", "sweep", "release", "inspect", "audit", "explore"):
        assert set(READING_NAMES) <= parameters(command), command


def test_commands_that_ask_the_same_ask_it_in_the_same_flags():
    assert parameters("sweep") - {"alphas", "epsilons", "deltas", "mechanisms", "csv_path"} <= parameters("calibrate")
    shared = {"secret", "pairs", "known", "domain", "other", "loss", "odds", "alpha", "epsilon", "confidence", "seed"}
    assert shared <= parameters("publish") & parameters("calibrate")
    both = {"keep", "others", "order", "ledger", "new_ledger", "allow_no_noise", "quiet"}
    assert both <= parameters("publish") & parameters("release")
