"""Rows that keep their order: nobody's word is taken for one that plainly goes with a secret or a published column."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.releases import Arrangement, PublishTransformer
from takifugu.tables import Coded

ASKED = {"secret": "ill", "columns": ["x"], "confidence": None}


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    ill = np.where(rng.random(rows) < 0.3, "yes", "no")
    return pd.DataFrame({"ill": ill, "x": rng.integers(0, 9, rows) + (ill == "yes"), "nr": np.arange(rows)})


SORTED = {
    "secret": lambda table: table.sort_values("ill", kind="stable"),
    "column": lambda table: table.sort_values("x", ascending=False, kind="stable"),
    "blocks": lambda table: table.iloc[np.lexsort([table.ill, np.arange(600) // 120])],
    "at the end": lambda table: pd.concat([table[table.ill == "no"], table[table.ill == "yes"][:15]]),
    "nearly": lambda table: table.iloc[np.argsort(table.x.to_numpy() + np.random.default_rng(1).normal(0, 2, 600))],
}


@pytest.mark.parametrize("how", SORTED)
def test_plain_evidence_is_refused_everywhere_and_a_shuffle_is_not(how, tmp_path):
    table = SORTED[how](people()).reset_index(drop=True)
    made = tk.calibrate(tk.fit_priors(table, secret="ill", query=tk.Row("x")), odds=3)
    table.to_csv(tmp_path / "people.csv", index=False)
    ledger = tmp_path / "people.ledger"
    ways = [
        lambda **order: tk.publish(table, **ASKED, **order),
        lambda **order: tk.publish(tmp_path / "people.csv", **ASKED, **order),
        lambda **order: tk.release(table, made, **order),
        lambda **order: tk.release_file(tmp_path / "people.csv", tmp_path / "out.csv", made, ledger=ledger, **order),
    ]
    for way in ways:
        with pytest.raises(tk.InputError, match="the order of the rows is not random: where a row stands plainly goes"):
            way(order="keep")
    assert not ledger.exists()
    assert not (tmp_path / "out.csv").exists()
    for way in ways:
        assert way() is not None


def test_the_command_line_refuses_it_before_the_work(tmp_path):
    SORTED["secret"](people()).to_csv(tmp_path / "people.csv", index=False)
    asked = ["publish", str(tmp_path / "people.csv"), str(tmp_path / "out.csv"), "--secret", "ill", "--columns", "x"]
    for also in ([], ["--dry-run"]):
        ended = CliRunner().invoke(main, [*asked, "--order", "keep", *also])
        assert ended.exit_code == 2
        assert "plainly goes with 'ill'" in ended.output
        assert "Leave --order out" in ended.output
        assert {one.name for one in tmp_path.iterdir()} == {"people.csv"}


def test_a_random_order_is_kept_on_ones_word_which_the_statement_does_not_cover():
    made = tk.publish(people(), **ASKED, order="keep")
    assert "order" in made.statement.not_promised
    assert "they are in the order in which they were given" in str(made.statement)


def test_random_orders_are_hardly_ever_refused():
    """At a chance of 1e-9 each, of which none is seen."""
    table = people(400)
    for seed in range(200):
        seen, rows = Arrangement(["ill", "x"]), table.sample(frac=1, random_state=seed)
        for start in range(0, 400, 97):
            part = rows[start : start + 97]
            seen.look({name: Coded.of_list(part[name].tolist()) for name in seen.names})
        seen.refuse()


def test_a_transformer_keeps_the_order_of_records_that_are_held_beside():
    table = SORTED["secret"](people())
    kept = PublishTransformer(guarantee=tk.Odds(3)).fit(table[["x"]], secret=table["ill"]).transform(table[["x"]])
    assert len(kept) == 600
