"""What `inspect` says of a column's spelling, said again by whoever publishes it without having looked."""

import pandas as pd
import pytest

import takifugu as tk
from takifugu.errors import DiagnosticWarning


def test_a_word_among_numbers_and_labels_that_look_alike_are_told_by_who_publishes_them():
    table = pd.DataFrame({"s": ["a", "b"] * 60, "ward": ["North", "north", "South"] * 40})
    table["age"] = [*map(str, range(20, 30)), "n.s.", "n.s."] * 10
    with pytest.warns(DiagnosticWarning):
        priors = tk.fit_priors(table, secret="s", query=tk.Row("ward", "age"))
    told = " | ".join(str(one) for one in priors.findings)
    assert "'age' would hold numbers but for 'n.s.' (20 rows)" in told
    assert "2 labels of 'ward' look alike and differ only in case or spaces, such as 'North', 'north'" in told


@pytest.mark.parametrize("values", [["1", "2", "3", "4 or more"], ["North", "South", "East", "West"], [True, False]])
def test_plain_labels_are_not_remarked_upon(values):
    table = pd.DataFrame({"s": ["a", "a", "a", "a", "b", "b", "b", "b"] * 30, "x": (values * 4)[:4] * 60})
    kinds = [one.code for one in tk.fit_priors(table, secret="s", query=tk.Row("x")).findings]
    assert kinds == ["domain-read"]


def test_a_public_list_settles_it():
    table = pd.DataFrame({"s": ["a", "b"] * 120, "x": ["North", "North", "north", "north"] * 60})
    query = tk.Row("x", domain={"x": ["North", "north"]})
    assert [one.code for one in tk.fit_priors(table, secret="s", query=query).findings] == []


def test_secrets_that_look_alike_are_told():
    table = pd.DataFrame({"s": ["Yes", "yes", "no", "no"] * 60, "x": [1, 2, 3, 1, 2] * 48})
    with pytest.warns(DiagnosticWarning):
        found = tk.fit_priors(table, secret="s", query=tk.Row("x")).findings
    assert any("2 labels of 's' look alike" in str(one) and "'Yes', 'yes'" in str(one) for one in found)
