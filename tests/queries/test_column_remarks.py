"""What `inspect` says of single columns that a hospital's export is full of."""

import json

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.queries.inspecting import inspect


def column(found, name):
    return next(one for one in found.columns if one.name == name)


def kinds(found):
    return [finding.code for finding in found.findings]


@pytest.mark.parametrize(("notes", "rows"), [(121, 600), (301, 2_000), (1_501, 6_000)])
def test_free_text_is_told_and_never_shown(notes, rows):
    table = pd.DataFrame({"s": ["a", "b"] * (rows // 2), "x": [1, 1, 2, 2] * (rows // 4)})
    table["note"] = [f"complains of headache {k % notes}" for k in range(rows)]
    found = inspect(table, "s")
    assert kinds(found) == ["free-text"]
    assert f"'note' looks like free text: few people share most of its {notes:,} labels" in str(found.findings[0])
    assert column(found, "note").advice == "free text: do not publish"
    assert column(found, "note").domain is None
    assert "headache" not in json.dumps(found.to_dict()) + str(found) + found._repr_html_()


def test_labels_that_many_people_share_are_no_free_text():
    table = pd.DataFrame({"s": ["a", "b", "c"] * 400, "state": [f"state {k % 50}" for k in range(1_200)]})
    found = inspect(table, "s")
    assert kinds(found) == []
    assert column(found, "state").advice == "supported"


def test_a_secret_of_rare_labels_is_no_free_text():
    table = pd.DataFrame({"s": [f"s{k % 40}" for k in range(200)], "x": [1, 1, 2, 2] * 50})
    assert kinds(inspect(table, "s")) == ["rare-secrets"]


def test_a_column_that_tells_the_secret_outright():
    """Several values may go with one secret: what matters is that none goes with two."""
    table = pd.DataFrame({"s": ["a", "b", "c", "c"] * 50, "x": [1, 1, 1, 1, 2, 2, 2, 2] * 25})
    table["therapy"] = ["p", "q", "r", "t"] * 50
    table["nearly"] = [*table.therapy[:-1], "p"]
    found = inspect(table, "s")
    assert kinds(found) == ["tells-outright"]
    assert found.findings[0].sentence.startswith("'therapy' determines 's': each of its values occurs with one value")
    assert column(found, "therapy").advice == "reveals the secret: leave it out"
    assert column(found, "nearly").advice == "supported"


def test_values_that_nobody_shares_tell_no_secret_outright():
    table = pd.DataFrame({"s": ["a", "b"] * 25, "x": [k + 0.5 for k in range(50)]})
    assert kinds(inspect(table, "s")) == []


def answers(**tallies):
    """A table with a column of labels, each in so many rows."""
    labels = [label.replace("_", " ") for label, rows in tallies.items() for _ in range(rows)]
    return pd.DataFrame({"smokes": labels, "s": [*"abb", *"ab" * len(labels)][: len(labels)]})


def test_labels_that_differ_in_capitals_or_blanks_are_counted():
    found = inspect(answers(ja=60, Ja=20, nein=80, NEIN_=12, nie=40), "s")
    assert kinds(found) == ["labels-alike"]
    assert "4 labels of 'smokes' look alike and differ only in case or spaces, such as" in str(found.findings[0])
    assert found.findings[0]["such_as"] == ("Ja", "ja")


def test_rare_labels_that_look_alike_are_not_named():
    found = inspect(answers(ja=60, Ja=9, nein=80), "s")
    assert kinds(found) == ["labels-alike"]
    assert "Ja" not in json.dumps(found.findings[0].to_dict())


def test_secrets_that_look_alike_are_told_too():
    table = pd.DataFrame({"s": ["yes", "Yes", "no"] * 40, "x": [1, 1, 2, 2] * 30})
    assert kinds(inspect(table, "s")) == ["labels-alike"]
    assert kinds(inspect(answers(yes=60, no=60), "s")) == []


@pytest.mark.parametrize("rows", [100, 2_000])
def test_amounts_with_a_currency_sign_name_nobody(rows):
    table = pd.DataFrame({"s": ["a", "b"] * (rows // 2), "bill": [f"{k % 9}.{850 + k},20 €" for k in range(rows)]})
    found = inspect(table, "s")
    assert kinds(found) == ["numbers-in-text"]
    assert str(found.findings[0]).startswith("'bill' is text that looks like amounts with a currency sign: take the")
    assert column(found, "bill").advice == "numbers in text: convert first"


def test_a_column_of_merged_cells_is_empty_in_most_rows():
    """A spreadsheet keeps the value of merged cells in the first of them."""
    table = pd.DataFrame({"s": ["a", "b"] * 60, "x": [1, 1, 2, 2] * 30, "half": [*[None] * 60, *"uuvv" * 15]})
    table["form"] = [f"{k // 20}a" if k % 20 == 0 else None for k in range(120)]
    found = inspect(table, "s")
    assert kinds(found) == ["mostly-empty"]
    assert str(found.findings[0]).startswith("'form' is empty in most rows, 114 of 120: where cells were merged")
    table.loc[3:, "s"] = None
    (empty,) = (one for one in inspect(table, "s").findings if one.code == "mostly-empty" and one["column"] == "s")
    assert (empty["missing"], empty["rows"]) == (117, 120)


@pytest.mark.parametrize(("rows", "words", "told"), [(1, 8, True), (9, 6, True), (10, 8, False), (9, 5, False)])
def test_a_sentence_of_few_people_is_free_text_however_few_others_there_are(rows, words, told):
    """Five notes among dashes were called supported, and stood on the list of what is published."""
    note = " ".join(["seen", "with", "her", "son", "at", "home", "last", "March"][:words])
    table = pd.DataFrame({"s": ["a", "b"] * 200, "note": [note] * rows + ["-"] * (390 - rows) + ["well"] * 10})
    assert (column(inspect(table, "s"), "note").advice == "free text: do not publish") is told
    found = tk.fit_priors(table, secret="s", query=tk.Row("note")).findings
    assert ("free-text" in {one.code for one in found}) is told
    assert not any("March" in str(one) for one in (*found, *inspect(table, "s").findings) if rows < 5)


def test_whoever_publishes_free_text_is_told_too():
    rng = np.random.default_rng(1)
    notes = [f"complains of headache, {k}" for k in rng.integers(0, 200, 600)]
    table = pd.DataFrame({"s": ["a", "b"] * 300, "note": notes, "ward": ["A", "B", "C"] * 200})
    told = tk.fit_priors(table, secret="s", query=tk.Row("note")).findings
    assert [(one["column"], one.level) for one in told if one.code == "free-text"] == [("note", "warning")]
    assert not any("headache" in str(one) for one in told)
    assert not any(one.code == "free-text" for one in tk.fit_priors(table, secret="s", query=tk.Row("ward")).findings)
