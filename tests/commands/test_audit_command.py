"""takifugu audit: exit statuses, sentences, JSON and the page."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    rng = np.random.default_rng(3)
    truth = pd.DataFrame({"id": range(1_200), "s": rng.choice(["a", "b"], 1_200)})
    truth["x"] = np.where(truth.s == "a", rng.integers(0, 6, 1_200), rng.integers(2, 8, 1_200))
    calibration = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=2)
    calibration.save(folder / "calibration.json")
    truth.to_csv(folder / "people.csv", index=False)
    tk.release(truth, calibration, keep=["id"], order="keep").to_csv(folder / "published.csv", index=False)
    calibration_of = ["--calibration", str(folder / "calibration.json"), "--keep", "id", "--quiet"]
    files = [str(folder / name) for name in ("people.csv", "shuffled.csv")]
    done = CliRunner().invoke(main, ["release", *files, *calibration_of, "--positions", str(folder / "key.csv")])
    assert done.exit_code == 0, done.output
    truth[["x"]].to_csv(folder / "bare.csv", index=False)
    return folder


def run(folder, published, *arguments):
    given = [folder / published, "--truth", folder / "people.csv", "--calibration", folder / "calibration.json"]
    return CliRunner().invoke(main, ["audit", *map(str, given), *map(str, arguments)])


def test_an_honest_file_passes(folder):
    result = run(folder, "published.csv", "--keys", "id", "--report", folder / "audit.html")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("No attack contradicts the guarantee of odds within a factor of 2")
    assert "Not contradicted" in (folder / "audit.html").read_text(encoding="utf-8")


def test_a_shuffled_file_is_audited_with_its_positions(folder):
    pd.read_csv(folder / "shuffled.csv")[["x"]].to_csv(folder / "alone.csv", index=False)
    assert run(folder, "alone.csv", "--positions", folder / "key.csv").exit_code == 0
    without = run(folder, "alone.csv")
    assert without.exit_code == 1
    assert "give --positions" in without.output
    both = run(folder, "shuffled.csv", "--positions", folder / "key.csv", "--keys", "id")
    assert (both.exit_code, "give one of them" in both.stderr) == (2, True)
    for name, says in (("people.csv", "has no column 'position'"), ("short-key.csv", "belong to another publication")):
        if name == "short-key.csv":
            pd.read_csv(folder / "key.csv")[1:].to_csv(folder / name, index=False)
        wrong = run(folder, "alone.csv", "--positions", folder / name)
        assert (wrong.exit_code, says in wrong.stderr) == (2, True), wrong.output


def test_a_bare_file_does_not(folder):
    result = run(folder, "bare.csv", "--json", "--quiet")
    assert result.exit_code == 1
    figures = json.loads(result.stdout)
    assert figures["contradicted"]
    assert figures["lower_bound"] > figures["epsilon"] == pytest.approx(np.log(2))
    assert any("nothing was changed" in one for one in figures["findings"])


def test_the_wrong_truth_settles_nothing(folder):
    pd.read_csv(folder / "published.csv")[["x"]][::-1].to_csv(folder / "turned.csv", index=False)
    result = run(folder, "turned.csv", "--report", folder / "turned.html")
    assert result.exit_code == 1
    assert result.stdout.startswith("Nothing follows from this audit: ")
    assert "this is not the table that was published" in result.stdout
    assert "No attack contradicts" not in result.stdout
    assert "Not the rows of this table" in (folder / "turned.html").read_text(encoding="utf-8")


def test_bad_input_is_a_sentence(folder):
    result = run(folder, "published.csv", "--keys", "nothing")
    assert result.exit_code == 2
    assert "published has no column 'nothing', named in --keys" in result.stderr


def test_rows_that_were_left_out_for_want_of_a_value_are_left_out_again(folder):
    truth = pd.read_csv(folder / "people.csv")
    holes = truth.assign(x=truth["x"].where(truth.index % 10 > 0, 999))
    holes.to_csv(folder / "holes.csv", index=False)
    pd.read_csv(folder / "published.csv")[["x"]].loc[truth.index % 10 > 0].to_csv(folder / "fewer.csv", index=False)
    given = [folder / "fewer.csv", "--truth", folder / "holes.csv", "--calibration", folder / "calibration.json"]
    refused = CliRunner().invoke(main, ["audit", *map(str, given)])
    assert refused.exit_code == 2
    assert "--keys" in refused.stderr
    found = CliRunner().invoke(main, ["audit", *map(str, given), "--sentinel", "x=999"])
    assert found.exit_code == 0, found.output


def test_rows_that_cannot_be_joined_are_refused_in_the_words_of_the_command(folder):
    published = pd.read_csv(folder / "published.csv")
    published[:900].to_csv(folder / "short.csv", index=False)
    published.sample(frac=1, random_state=1).to_csv(folder / "moved.csv", index=False)
    for name, says in (("short.csv", "it is not known which row is whose"), ("moved.csv", "in another order")):
        result = run(folder, name)
        assert result.exit_code == 2
        assert says in result.stderr
        assert "with --keys" in result.stderr
        assert run(folder, name, "--keys", "id").exit_code == 0
    assert "--level must be" in run(folder, "published.csv", "--level", "0.7").stderr


def test_few_rows_are_too_few_or_said_to_be_few(folder):
    published, truth = pd.read_csv(folder / "published.csv"), pd.read_csv(folder / "people.csv")
    calibration = folder / "calibration.json"
    for rows, code, says in ((30, 2, "too few to attack"), (120, 0, "intervals are wide")):
        published[:rows].to_csv(folder / f"few-{rows}.csv", index=False)
        truth[:rows].to_csv(folder / f"few-truth-{rows}.csv", index=False)
        given = [folder / f"few-{rows}.csv", "--truth", folder / f"few-truth-{rows}.csv", "--calibration", calibration]
        result = CliRunner().invoke(main, ["audit", *map(str, given)])
        assert result.exit_code == code, result.output
        assert says in result.output
