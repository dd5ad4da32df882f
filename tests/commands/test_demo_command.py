"""takifugu demo: everything it says it made is there, and holds."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main

COLUMNS = ["education-num", "marital-status"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "made"
    return folder, CliRunner().invoke(main, ["demo", "--output", str(folder)])


def test_all_it_names_is_there(demo):
    folder, result = demo
    assert result.exit_code == 0, result.output
    seen = [name for name in os.listdir(folder) if not name.startswith(".")]  # marks of the ledger are hidden
    for name in seen:
        assert name in result.stdout
    assert len(seen) == 7
    assert "by at most a factor of 3" in " ".join(result.stdout.split())
    assert "!" not in result.stdout  # no warning that a user can do nothing about


def test_the_proof_holds_and_the_report_names_it(demo):
    folder, _ = demo
    proved = tk.verify(folder / "published-certificate.json")
    assert proved.calibration.guarantee.most_odds == pytest.approx(3)
    assert proved.error >= proved.lower_bound > 0
    assert proved.calibration.evidence.level == 0.95
    assert proved.sha256 in (folder / "published-report.html").read_text(encoding="utf-8")


def test_what_was_published_went_through_the_channel(demo):
    folder, _ = demo
    published = pd.read_csv(folder / "published.csv")
    adult = tk.datasets.load("adult")
    true = adult[adult["race"].isin(["White", "Black", "Asian-Pac-Islander"])][COLUMNS].reset_index(drop=True)
    calibration = tk.Calibration.load(folder / "published-calibration.json")
    assert list(published) == COLUMNS
    assert len(published) == len(true)
    channel = calibration.channel  # rows are shuffled: what can be compared is how often each combination was published
    law = channel.matrix[channel.positions(true[COLUMNS])]
    counts = published.value_counts()
    seen = np.array([counts.get(output, 0) for output in channel.outputs])
    assert seen.sum() == len(true)
    assert (np.abs(seen - law.sum(axis=0)) <= 6 * np.sqrt((law * (1 - law)).sum(axis=0)) + 1e-6).all()
    assert tk.Ledger(folder / "adult.ledger").account().releases == 1
    with pytest.raises(tk.BudgetError, match="published once"):
        tk.release(adult, calibration, others="drop", ledger=folder / "adult.ledger")


def test_it_writes_over_nothing(demo):
    folder, _ = demo
    result = CliRunner().invoke(main, ["demo", "--output", str(folder)])
    assert result.exit_code == 2
    assert "choose another name" in result.stderr


def test_the_demo_says_what_it_is_good_for_in_odds(demo):
    _, result = demo
    assert "What that means: a true row with" in result.stdout
    assert "no published row changes any odds by more than a factor of 3." in result.stdout


def test_the_papers_path_is_proved_and_costs_less_than_its_bounds(tmp_path):
    folder = tmp_path / "paper"
    told = CliRunner().invoke(main, ["demo", "paper", "--output", str(folder), "--json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert found["theta"]["exact"] < found["theta"]["wasserstein-aware"] < found["theta"]["gmm-transport"]
    assert found["proved_loss"] <= 1
    proved = tk.verify(folder / "certificate.json")
    assert proved.theta == found["theta"]["exact"]
    words = CliRunner().invoke(main, ["demo", "paper", "--output", str(tmp_path / "again")])
    assert f"θ = {found['theta']['exact']:.3f}" in words.stdout
