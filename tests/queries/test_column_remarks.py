"""What `inspect` says of single columns that a hospital's export is full of."""

import json

import pandas as pd
import pytest

from takifugu.queries.inspecting import inspect


def column(found, name):
    return next(one for one in found.columns if one.name == name)


def kinds(found):
    return [finding.kind for finding in found.findings]


@pytest.mark.parametrize(("notes", "rows"), [(121, 600), (301, 2_000), (1_501, 6_000)])
def test_free_text_is_told_and_never_shown(notes, rows):
    table = pd.DataFrame({"s": ["a", "b"] * (rows // 2), "x": [1, 1, 2, 2] * (rows // 4)})
    table["note"] = [f"complains of headache {k % notes}" for k in range(rows)]
    found = inspect(table, "s")
    assert kinds(found) == ["free-text"]
    assert f"'note' looks like free text: {notes:,} labels, most of which few people share" in str(found.findings[0])
    assert column(found, "note").advice == "free text: do not publish"
    assert column(found, "note").domain is None
    assert found.proposed == ("x",)
    assert "headache" not in json.dumps(found.to_dict()) + str(found) + found._repr_html_()


def test_labels_that_many_people_share_are_no_free_text():
    table = pd.DataFrame({"s": ["a", "b"] * 600, "state": [f"state {k % 50}" for k in range(1_200)]})
    found = inspect(table, "s")
    assert kinds(found) == []
    assert column(found, "state").advice == "publishable"


def test_a_secret_of_rare_labels_is_no_free_text():
    table = pd.DataFrame({"s": [f"s{k % 40}" for k in range(200)], "x": [1, 1, 2, 2] * 50})
    assert kinds(inspect(table, "s")) == ["rare-secrets"]
