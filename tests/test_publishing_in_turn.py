"""Columns of one table published by one call after another, through the same ledger."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.releases.joint_account import JointAccount
from takifugu.releases.ledger import Ledger


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.45
    frame = pd.DataFrame(
        {
            "diagnosis": np.where(ill, "flu", "none"),
            "stay": (rng.integers(1, 4, rows) + 2 * ill * (rng.random(rows) < 0.5)).astype(float),
            "ward": np.where(rng.random(rows) < np.where(ill, 0.8, 0.3), "A", "B"),
            "sex": np.where(rng.random(rows) < 0.5, "f", "m"),
        }
    )
    frame.loc[3, "stay"] = np.nan  # a row that lacks a column is left out of every publication
    return frame


TABLE = people()


def publish(ledger, column, *, confidence=None, **options):
    return tk.publish(TABLE, secret="diagnosis", columns=[column], confidence=confidence, ledger=ledger, **options)


def test_two_calls_keep_one_promise(tmp_path):
    ledger = Ledger(tmp_path / "people.ledger")
    first = publish(ledger, "ward", later=["stay"], odds=4, spend=0.4, confidence=0.8)
    account = ledger.account()
    assert isinstance(account, JointAccount)
    assert (account.before, account.left, account.confidence) == (("ward",), ("stay",), 0.8)
    assert account.fraction_spent == pytest.approx(0.4)
    second = publish(ledger, "stay")
    assert list(first.table.columns) == ["ward"]
    assert list(second.table.columns) == ["stay"]
    assert len(first.table) == len(second.table) == len(TABLE) - 1
    assert second.calibration.guarantee.most_odds == pytest.approx(4)
    assert tk.verify(second.certificate) == second.certificate
    assert "published before" in " ".join(second.summary.details)
    assert ledger.account().left == ()
    for column in ("ward", "stay"):
        with pytest.raises(BudgetError, match="was published before"):
            publish(ledger, column)


def test_a_known_column_that_changed_is_noticed(tmp_path):
    """Who knows it was promised something about the cells that were counted, and about no others."""
    ledger = Ledger(tmp_path / "people.ledger")
    publish(ledger, "ward", later=["stay"], known=["sex"])
    changed = TABLE.assign(sex=np.where((TABLE.diagnosis == "flu") & (TABLE.index > 2), "f", TABLE.sex))
    with pytest.raises(CompositionError, match="the table has changed"):
        tk.publish(changed, secret="diagnosis", columns=["stay"], ledger=ledger)
    assert publish(ledger, "stay").calibration.answer.known == ("sex",)


def test_what_others_believe_is_not_looked_for_in_the_table(tmp_path):
    ledger = Ledger(tmp_path / "people.ledger")
    publish(ledger, "ward", later=["stay"], beliefs={"last year": people(seed=1)})
    changed = TABLE.assign(stay=TABLE.stay.to_numpy()[::-1])
    with pytest.raises(CompositionError, match="the table has changed"):
        tk.publish(changed, secret="diagnosis", columns=["stay"], ledger=ledger)
    assert publish(ledger, "stay").calibration.answer.drawn == ("stay",)


def test_what_was_settled_stays_settled(tmp_path):
    ledger = tmp_path / "people.ledger"
    publish(ledger, "ward", later=["stay"], known=["sex"], pairs=[("flu", "none")])
    for wrong, says in (
        ({"odds": 2}, "leave odds out"),
        ({"known": ["age"]}, "known was settled"),
        ({"domain": {"stay": [1, 2, 3, 4, 5]}}, "domain was settled"),
        ({"later": ["sex"]}, "later was settled"),
        ({"alpha": 2, "epsilon": 1}, "alpha was settled"),
    ):
        with pytest.raises(CompositionError, match=says):
            publish(ledger, "stay", **wrong)
    with pytest.raises(CompositionError, match="another secret"):
        tk.publish(TABLE, secret="sex", columns=["stay"], ledger=ledger)
    with pytest.raises(CompositionError, match="the table has changed"):
        tk.publish(people(seed=1), secret="diagnosis", columns=["stay"], ledger=ledger)
    with pytest.raises(CompositionError, match="not among them"):
        publish(ledger, "sex")
    assert Ledger(ledger).account().before == ("ward",)
    made = publish(ledger, "stay", odds=3, known=["sex"], keep=["sex"], pairs=[("none", "flu")])
    assert sorted(made.table.columns) == ["sex", "stay"]


def test_what_an_account_cannot_be_opened_with(tmp_path):
    with pytest.raises(InputError, match="give ledger"):
        publish(None, "ward", later=["stay"])
    for wrong, says in (
        ({"later": "stay"}, "must be a list"),
        ({"later": ["stay"], "alpha": 2, "epsilon": 1}, "leave alpha out"),
        ({"later": ["ward"]}, "stands twice"),
        ({"later": ["diagnosis"]}, "both the secret and the answer"),
        ({"spend": 0.5}, "name the others with later"),
    ):
        with pytest.raises(InputError, match=says):
            publish(tmp_path / "l", "ward", **wrong)
    publish(tmp_path / "l", "ward", odds=2)
    with pytest.raises(BudgetError, match=r"later=\[\.\.\.\]"):
        publish(tmp_path / "l", "ward", odds=2)


def test_the_command_publishes_in_turn_and_says_how(tmp_path):
    source = tmp_path / "people.csv"
    TABLE.to_csv(source, index=False)

    def run(target, *arguments):
        given = [source, tmp_path / target, "--secret", "diagnosis", "--confidence", "0", *arguments]
        return CliRunner().invoke(main, ["publish", *map(str, given)])

    first = run("first.csv", "--columns", "ward", "--later", "stay", "--spend", "0.5", "--odds", "4")
    assert first.exit_code == 0, first.output
    assert (
        "50 % of the guarantee (odds within a factor of 4) is spent. Still to be published within it: stay."
        in " ".join(first.stdout.split())
    )
    wrong = run("wrong.csv", "--columns", "sex")
    assert wrong.exit_code == 1
    assert "not among them" in " ".join(wrong.stderr.split())
    second = run("second.csv", "--columns", "stay")
    assert second.exit_code == 0, second.output
    told = " ".join(second.stdout.split())
    report = (tmp_path / "second-report.html").read_text(encoding="utf-8")
    assert "That is for stay together with ward, published before." in report
    assert "all columns of this account are published" in told
    assert list(pd.read_csv(tmp_path / "second.csv").columns) == ["stay"]
    assert len(pd.read_csv(tmp_path / "first.csv")) == len(pd.read_csv(tmp_path / "second.csv")) == len(TABLE) - 1
    tk.verify(tmp_path / "second-certificate.json")
    again = run("third.csv", "--columns", "stay")
    assert again.exit_code == 1
    assert "was published before" in " ".join(again.stderr.split())
    plain = run("fourth.csv", "--columns", "ward", "--odds", 2, "--ledger", tmp_path / "other.ledger", "--new-ledger")
    assert plain.exit_code == 1
    assert "people.ledger knows some of these records" in " ".join(plain.stderr.split())
