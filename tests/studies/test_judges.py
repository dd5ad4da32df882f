"""Attackers and judges that others wrote. Where they are not installed the tests that need them say so and skip; with
TAKIFUGU_JUDGES set they must be there."""

import json
import os

import numpy as np
import pytest
from studies.judges import __main__ as command
from studies.judges import calling
from studies.judges.publications import TRUE, publications
from studies.peers.methods import OURS, PRAM, RESPONSE, Column

import takifugu as tk

NUMBERS = Column((0, 1, 2, 5), np.array([[500.0, 300, 150, 50], [100, 200, 400, 300]]), is_number=True)
LABELS = Column(("n", "e", "s"), np.array([[500.0, 300, 200], [100, 200, 400], [300, 100, 100]]), is_number=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    return [*publications("numbers", NUMBERS, folder), *publications("labels", LABELS, folder)]


def needs_judges():
    if calling.NAME in os.environ:
        assert calling.interpreter() is not None, f"{calling.NAME} is set, and there are no judges in it"
    elif calling.interpreter() is None:
        pytest.skip("anonymeter and sdmetrics are not there: make judges")


def test_both_secrets_have_as_many_rows_in_either_half(made):
    import pandas as pd

    for one in made:
        frame = pd.read_csv(one.path)
        assert set(frame.groupby(["s", "half"]).size()) == {len(frame) // 4}
        assert (frame["truth"] == frame["published"]).all() == (one.method == TRUE)
    assert {one.method for one in made} >= {TRUE, OURS, PRAM, RESPONSE}
    assert len({one.path for one in made}) == len(made)


def test_all_methods_let_nobody_guess_better_than_allowed(made):
    for name in ("numbers", "labels"):
        bare = next(one.best_guess for one in made if one.column == name and one.method == TRUE)
        limit = 0.5 + 0.5 * (bare - 0.5)
        assert all(one.best_guess <= limit for one in made if one.column == name and one.method != TRUE)


def test_the_judges_agree_that_ours_protects(made):
    """They guess no better than is possible, and see more protection than in the true values."""
    needs_judges()
    asked = [one for one in made if one.method in (TRUE, OURS)]
    said = dict(
        zip([(one.column, one.method) for one in asked], calling.verdicts([o.path for o in asked]), strict=True)
    )
    for one in asked:
        verdict = said[one.column, one.method]
        # 800 attacks: four standard deviations of the share of right guesses.
        assert verdict["right"] <= one.best_guess + 4 * 0.5 / np.sqrt(800)
        assert 0 <= verdict["shape"] <= 1
    for name in ("numbers", "labels"):
        ours, bare = said[name, OURS], said[name, TRUE]
        # Its one nearest neighbour among many equal ones makes anonymeter's risk jump: only its size is asked for.
        allowed = next(one.best_guess for one in asked if (one.column, one.method) == (name, OURS))
        assert ours["risk_low"] <= 2 * allowed - 1 + 0.2
        assert ours["protection"] > bare["protection"]
        assert bare["shape"] == 1


def test_no_judges_is_a_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(calling.NAME, str(tmp_path / "nowhere"))
    assert calling.interpreter() is None
    with pytest.raises(tk.InputError, match="there are no judges in"):
        calling.verdicts([])
    monkeypatch.setattr(command, "bundled", lambda: [("labels", LABELS)])
    assert command.main([]) == 2
    assert "--make" in capsys.readouterr().err


def test_judges_that_fail_are_not_believed(monkeypatch, tmp_path):
    fake = tmp_path / "bin" / "python"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho oh dear >&2\nexit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv(calling.NAME, str(tmp_path))
    with pytest.raises(tk.InputError, match="the judges failed: oh dear"):
        calling.verdicts([tmp_path / "a.csv"])
    fake.write_text("#!/bin/sh\necho '{}'\n")  # one verdict for two files
    with pytest.raises(tk.InputError, match="they say nothing"):
        calling.verdicts([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_the_table_has_a_line_for_each(made):
    verdict = {"right": 0.6, "right_without": 0.5, "risk": 0.2, "risk_low": 0.1, "risk_high": 0.3}
    said = [json.loads(json.dumps({**verdict, "protection": 0.9, "shape": 1.0}))] * len(made)
    text = command.table(made, said)
    assert text.count("\n") == len(made) + 1
    assert "0.20 (0.10 to 0.30)" in text
