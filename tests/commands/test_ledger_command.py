"""What a ledger shows its owner: every account in a line, and no record."""

import json

import pandas as pd
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main


def table(start=0):
    return pd.DataFrame({"s": ["a", "b"] * 40, "x": [0, 1, 1, 2] * 20, "id": range(start, start + 80)})


def test_every_account_is_shown_with_what_is_spent(tmp_path):
    path = str(tmp_path / "people.ledger")
    ledger = tk.Ledger(path, id="id")
    made = tk.calibrate(tk.fit_priors(table(), secret="s", query=tk.Raw("x")), tk.Approximate(1, 0.01))
    for start in (0, 1000):
        tk.release(table(start), made, secret="s", column="x", ledger=ledger)
    accounts = tk.Ledger(path).accounts()
    assert [(one.account, one.records, one.releases, one.spent) for one in accounts] == [
        (1, "80 records, known by 'id'", 1, 1.0),
        (3, "80 records, known by 'id'", 1, 1.0),
    ]
    assert accounts[0].kept == "(ε, δ) = (1, 0.01)"
    shown = CliRunner().invoke(main, ["ledger", "show", path])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.count("100 % is spent") == 2
    found = CliRunner().invoke(main, ["ledger", "show", path, "--json"])
    assert [one["kept"] for one in json.loads(found.stdout)["accounts"]] == ["(ε, δ) = (1, 0.01)"] * 2


def test_odds_are_said_as_odds_and_no_ledger_is_none_shown(tmp_path):
    path = str(tmp_path / "means.ledger")
    made = tk.calibrate(tk.fit_priors(table(), secret="s", query=tk.Mean("x")), odds=3)
    tk.release(table(), made, of="a", ledger=path)
    (account,) = tk.Ledger(path).accounts()
    assert account.sentence.startswith("Account 1: one number about a group; odds within a factor of 3; 1 release")
    refused = CliRunner().invoke(main, ["ledger", "show", str(tmp_path / "none.ledger")])
    assert refused.exit_code != 0


def test_the_action_comes_first():
    found = CliRunner().invoke(main, ["ledger", "people.ledger", "show"])
    assert found.exit_code == 2
    assert "the action comes first: takifugu ledger show people.ledger" in found.output
    assert "the action is show" in CliRunner().invoke(main, ["ledger", "list", "people.ledger"]).output
