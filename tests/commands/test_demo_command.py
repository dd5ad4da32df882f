"""takifugu demo: everything it says it made is there, and holds."""

import os

import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "made"
    return folder, CliRunner().invoke(main, ["demo", "--output", str(folder)])


def test_all_it_names_is_there(demo):
    folder, result = demo
    assert result.exit_code == 0, result.output
    for name in os.listdir(folder):
        assert name in result.stdout
    assert len(os.listdir(folder)) == 6


def test_the_proof_holds_and_the_report_names_it(demo):
    folder, _ = demo
    proved = tk.verify(folder / "certificate.json")
    assert (proved.alpha, proved.epsilon) == (3, 1)
    assert proved.sha256 in (folder / "report.html").read_text(encoding="utf-8")


def test_what_was_published_has_the_noise(demo):
    folder, _ = demo
    published = pd.read_csv(folder / "published.csv")
    adult = tk.datasets.load("adult")
    kept = adult[adult["race"].isin(["White", "Other"])]["education-num"].to_numpy()
    theta = tk.Certificate.load(folder / "certificate.json").theta
    noise = published["education-num"].to_numpy() - kept
    assert list(published) == ["education-num"]
    assert noise.std() == pytest.approx(theta, rel=0.03)
    assert abs(noise.mean()) < 5 * theta / len(noise) ** 0.5
    assert tk.Ledger(folder / "ledger.db", records="adult").account().releases == 1


def test_it_writes_over_nothing(demo):
    folder, _ = demo
    result = CliRunner().invoke(main, ["demo", "--output", str(folder)])
    assert result.exit_code == 2
    assert "choose another name" in result.stderr
