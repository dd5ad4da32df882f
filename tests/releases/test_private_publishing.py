"""Publishing with a private fit: counts and rows in one step, and no more of the rows (proofs/private-counts.md)."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.certificates import Statement
from takifugu.cli import main
from takifugu.problems import channel_guarantee
from takifugu.publishing import best_channel
from takifugu.queries import PrivateCounts
from takifugu.releases import private_counting

LISTS = {"ill": ["no", "yes"], "x": [0, 1, 2]}
ASKED = {"secret": "ill", "columns": ["x"], "domain": LISTS}


def people(rows=4_000, first=0, seed=0):
    rng = np.random.default_rng([seed, first])
    ill = rng.choice(["no", "yes"], rows)
    yes, no = (rng.choice([0, 1, 2], rows, p=p) for p in ([0.1, 0.2, 0.7], [0.7, 0.2, 0.1]))
    x = np.where(ill == "yes", yes, no)
    return pd.DataFrame({"nr": np.arange(first, first + rows), "ill": ill, "x": x})


def test_both_steps_are_one_and_the_total_is_what_was_asked_for(tmp_path):
    made = tk.publish(people(), **ASKED, private_fit=0.2, ledger=tmp_path / "people.ledger", id="nr")
    assert 3 - 1e-14 < made.calibration.total.factor <= 3
    assert made.calibration.guarantee == channel_guarantee(tk.Odds(3), 0.2)
    assert len(made.table) == made.counts.total == 4_000
    assert made.calibration == tk.calibrate(made.counts, odds=3, confidence=0.95, preserve=None)
    assert made.statement.content["adversary"]["kind"] == "knows all other rows"
    assert made.statement.matched().calibration.channel == made.calibration.channel
    with pytest.raises(tk.PublishedOnceError):
        tk.publish(people(), **ASKED, private_fit=0.2, ledger=tmp_path / "people.ledger")
    for rows in (made.table, made.summary.sentences):
        assert rows is not None
    assert "also one who knows all other rows" in str(made)


def test_new_people_go_out_under_the_same_ledger_with_counts_of_their_own_or_those_of_others(tmp_path):
    ledger = tmp_path / "people.ledger"
    first = tk.publish(people(), **ASKED, private_fit=0.2, ledger=ledger, id="nr")
    both = pd.concat([people(), people(first=4_000)])
    second = tk.publish(both, **ASKED, private_fit=0.2, ledger=tk.Ledger(ledger, only_new=True), id="nr")
    assert len(second.table) == second.counts.total == 4_000
    third = people(500, first=8_000)
    made = tk.publish(third, **ASKED, private_fit=first.counts, ledger=ledger)
    assert made.calibration == first.calibration
    assert made.counts is first.counts
    assert len(tk.release(people(300, first=9_000), first.calibration, ledger=ledger)) == 300
    with pytest.raises(tk.PublishedOnceError):
        tk.publish(third, **ASKED, private_fit=0.2, ledger=ledger)


def test_without_an_id_only_a_word_says_that_rows_which_are_alike_are_other_peoples(tmp_path):
    rows, ledger = people(600).drop(columns="nr"), tmp_path / "people.ledger"
    tk.publish(rows, **ASKED, private_fit=0.5, ledger=ledger)
    new = people(600, first=600).drop(columns="nr")
    with pytest.raises(tk.PublishedOnceError):
        tk.publish(new, **ASKED, private_fit=0.5, ledger=ledger)
    assert len(tk.publish(new, **ASKED, private_fit=0.5, ledger=tk.Ledger(ledger, new_people=True)).table) == 600
    for again in (rows, new):  # the very same rows, whatever is said
        with pytest.raises(tk.PublishedOnceError):
            tk.private_counts(again, **ASKED, epsilon=0.5, ledger=tk.Ledger(ledger, new_people=True))


BESIDE = {
    "known": {"adversary": tk.Adversary(known=["nr"])},
    "keep": {"keep": ["nr"]},
    "beliefs": {"adversary": tk.Adversary(beliefs={"others": people(50)})},
    "own": {"adversary": tk.Adversary(own=False)},
    "leave_out": {"reading": tk.Reading(leave_out=["no"])},
    "assurance": {"adversary": tk.Adversary(assurance="band")},
    "order": {"order": "keep"},
    "repeats": {"adversary": tk.Adversary(repeats="independent")},
    "only_new": {},
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_would_follow_from_the_rows_in_another_way_is_refused_before_any_noise(name, tmp_path):
    ledger = tk.Ledger(tmp_path / "people.ledger", only_new=name == "only_new")
    with pytest.raises(tk.InputError, match=f"{name}.* does not go with private_fit"):
        tk.publish(people(50), **ASKED, private_fit=0.2, ledger=ledger, **BESIDE[name])
    assert not ledger.path.exists()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"odds": 1.2}, "take all of"),
        ({"adversary": tk.Adversary(best_guess=0.54)}, "take all of"),
        ({"alpha": 2, "epsilon": 0.1}, "take all of"),
        ({"domain": {"x": [0, 1, 2]}}, "public list"),
        ({"domain": LISTS | {"ill": ["no", "yes", "unsure"]}, "pairs": [("no", "yes")]}, "in none of the pairs"),
        ({"private_fit": 0}, "epsilon"),
        ({"secret": ["ill", "nr"]}, "one column of secrets"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_any_noise(asked, told, tmp_path):
    ledger = tk.Ledger(tmp_path / "people.ledger")
    with pytest.raises(tk.InputError, match=told):
        tk.publish(people(50), ledger=ledger, **(ASKED | {"private_fit": 0.2} | asked))
    assert not ledger.path.exists()


def test_a_failure_after_the_noise_says_that_the_counts_are_paid_for(tmp_path, monkeypatch):
    def no_channel(*_, **__):
        raise tk.NoAnswerError("no channel")

    monkeypatch.setattr("takifugu.publishing.best_channel.calibrate", no_channel)
    with pytest.raises(tk.NoAnswerError) as error:
        tk.publish(people(50), **ASKED, private_fit=0.2, ledger=tmp_path / "people.ledger")
    assert "fresh ones" in error.value.__notes__[0]


def test_of_two_tables_of_as_many_rows_everything_but_the_drawn_values_is_the_same(monkeypatch):
    """The noise is fixed so that the noisy counts agree; rows and true counts differ."""
    noisy = [[1_400, 400, 210], [190, 410, 1_390]]

    def counted(table, cells, **_):
        return PrivateCounts(cells, noisy, 4_000)

    monkeypatch.setattr("takifugu.publishing.best_channel.counted_once", counted)
    one, other = (tk.publish(people(seed=seed), **ASKED, private_fit=0.2) for seed in (1, 2))
    assert one.calibration.to_dict() == other.calibration.to_dict()
    assert one.findings == other.findings
    assert str(one) == str(other)
    first, second = (made.statement.to_dict() for made in (one, other))
    for content in (first, second):  # but for the random number that seals a certificate
        content.pop("certificate_sha256")
        content.pop("sha256")
        content["certificate"].pop("nonce")
        content["certificate"].pop("sha256")
    assert first == second


def test_on_the_command_line_a_clean_folder_proves_it_from_the_public_file_alone(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    pd.concat([people(), people(first=4_000)]).to_csv(tmp_path / "more.csv", index=False)
    (tmp_path / "lists.json").write_text(json.dumps(LISTS))
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(tk.__file__).parents[1]), "HOME": str(tmp_path)}

    def takifugu(*words, cwd=tmp_path):
        command = [sys.executable, "-m", "takifugu", *words]
        return subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)

    asked = ["--secret", "ill", "--columns", "x", "--quiet"]
    fitted = ["--domain", "lists.json", "--private-fit", "0.2", "--id", "nr"]
    ran = takifugu("publish", "people.csv", "out.csv", *asked, *fitted)
    assert ran.returncode == 0, ran.stderr
    folder = tmp_path / "clean"
    folder.mkdir()
    (folder / "s.json").write_bytes((tmp_path / "out-statement.json").read_bytes())
    proved = takifugu("verify", "s.json", cwd=folder)
    assert proved.returncode == 0, proved.stderr
    assert "factor of 3 for an adversary who knows every other row" in proved.stdout
    (folder / "c.json").write_bytes((tmp_path / "out-certificate-public.json").read_bytes())
    proved = takifugu("verify", "c.json", cwd=folder)
    assert "factor of 3 for an adversary who knows every other row" in proved.stdout, proved.stderr
    for public in ("out-certificate-public.json", "out-statement.json"):
        assert takifugu("verify", "out-certificate.json", "--public", public).returncode == 0
    Statement.load(folder / "s.json").save(folder / "page.txt")
    assert takifugu("verify", "s.json", "--public", "page.txt", cwd=folder).returncode == 0
    page = (folder / "page.txt").read_text(encoding="utf-8")
    assert "at most a factor of 3." in page
    (folder / "page.txt").write_text(page.replace("factor of 3.", "factor of 2."), encoding="utf-8")
    forged = takifugu("verify", "s.json", "--public", "page.txt", cwd=folder)
    assert (forged.returncode, "does not say what the statement says" in forged.stderr) == (1, True)
    assert tk.estimate(tmp_path / "out.csv", folder / "c.json").bounds("x").low < 1
    (tmp_path / "out-counts.json").rename(tmp_path / "counts.json")
    assert PrivateCounts.load(tmp_path / "counts.json").total == 4_000
    # What was published tells nothing more of these counts: whoever is new goes out through the same ones.
    ran = takifugu("publish", "more.csv", "new.csv", *asked, "--private-fit", "counts.json", "--id", "nr", "--only-new")
    assert ran.returncode == 0, ran.stderr
    assert len(pd.read_csv(tmp_path / "new.csv")) == 4_000
    for words, told in {
        ("--private-fit", "0.2", "--dry-run"): "--dry-run draws nothing",
        ("--private-fit", "0.2", "--order", "keep"): "order does not go",
        ("--private-fit", "counts"): "cannot be read",
    }.items():
        ran = takifugu("publish", "people.csv", "never.csv", *asked, *words)
        assert ran.returncode == 2
        assert told in ran.stderr


def test_on_the_command_line_every_line_and_file_but_the_table_is_the_same_for_other_rows(monkeypatch, tmp_path):
    """Two tables of as many rows, one of them all alike; only the noisy counts agree."""
    counted = private_counting.counted_once

    def same(table, cells, **given):
        return PrivateCounts(cells, [[1_400, 400, 210], [190, 410, 1_390]], counted(table, cells, **given).total)

    monkeypatch.setattr(best_channel, "counted_once", same)
    seen = []
    for name, rows in {"mixed": people(), "alike": people().assign(ill="no", x=2)}.items():
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        rows.to_csv("people.csv", index=False)
        Path("lists.json").write_text(json.dumps(LISTS))
        asked = ["--secret", "ill", "--columns", "x", "--domain", "lists.json", "--private-fit", "0.2", "--id", "nr"]
        ran = CliRunner().invoke(main, ["publish", "people.csv", "out.csv", *asked, "--quiet"])
        assert ran.exit_code == 0, ran.output
        texts = {path.name: path.read_text(encoding="utf-8") for path in Path().glob("out-*")}
        # But for the random numbers that seal a certificate.
        seen.append({one: re.sub(r"[0-9a-f]{64}", "", text) for one, text in texts.items()} | {"said": ran.output})
    assert len(seen[0]) == 7
    for what, text in seen[0].items():
        assert text == seen[1][what], what


@pytest.mark.parametrize("library", ["polars", "arrow", "lazy"])
def test_tables_of_other_libraries_are_taken(library):
    import polars as pl
    import pyarrow as pa

    make = {"polars": pl.from_pandas, "arrow": pa.Table.from_pandas, "lazy": lambda t: pl.from_pandas(t).lazy()}[
        library
    ]
    made = tk.publish(make(people(600)), **ASKED, private_fit=0.5)
    assert made.statement.content["rows"] == made.counts.total == 600


@pytest.mark.parametrize(
    "change", [{"x": np.nan}, {"ill": None}, {"ill": "unsure"}], ids=["value", "no secret", "secret"]
)
def test_no_row_is_left_out_of_what_goes_through_counts_of_others(change, tmp_path):
    """A row without a value was dropped: who knows all the others saw that, and from it, whose it was."""
    counts = PrivateCounts.load(_saved(tk.private_counts(people(), **ASKED, epsilon=1.0), tmp_path / "counts.json"))
    table = people(500, first=8_000).astype({"x": float, "ill": object})
    table.loc[7, list(change)] = list(change.values())
    made = tk.calibrate(counts, odds=6)
    table.to_csv(tmp_path / "people.csv", index=False)
    ways = [
        lambda: tk.publish(table, **ASKED, private_fit=counts, odds=6),
        lambda: tk.publish(tmp_path / "people.csv", **ASKED, private_fit=counts, odds=6),
        lambda: tk.release(table, made),
        lambda: tk.release(table, made, reading=tk.Reading(missing="drop")),
        lambda: tk.release(table, made, others="drop"),
        lambda: tk.release_file(tmp_path / "people.csv", tmp_path / "out.csv", made, reading=tk.Reading()),
        lambda: tk.release_file(tk.tables.Table(tmp_path / "people.csv"), tmp_path / "out.csv", made),
        lambda: tk.release_file(tmp_path / "people.csv", tmp_path / "out.csv", made, others="drop"),
    ]
    for way in ways:
        with pytest.raises(tk.InputError, match=r"missing values|outside the calibrated pairs|every row is published"):
            way()
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("other", "reading", "differs"),
    [
        ({"ill": ["no", "yes"], "x": [0, 1]}, None, "'x'"),
        ({"ill": ["no", "yes", "unsure"], "x": [0, 1, 2]}, None, "'ill'"),
        (ASKED["domain"], tk.Reading(other={"x": 0}), "x"),
        (None, tk.Reading(other={"x": 0}), "x"),
    ],
)
def test_lists_given_beside_counts_that_were_drawn_before_must_be_theirs(other, reading, differs):
    counts = tk.private_counts(people(), **ASKED, epsilon=1.0)
    asked = {name: value for name, value in ASKED.items() if name != "domain"}
    table = people(500, first=8_000)
    with pytest.raises(tk.InputError, match=differs):
        tk.publish(table, **asked, domain=other, reading=reading, private_fit=counts, odds=6)
    assert len(tk.publish(table, **asked, private_fit=counts, odds=6).table) == 500


def _saved(counts, path):
    counts.save(path)
    return path
