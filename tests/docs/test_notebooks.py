"""The notebooks of the documentation run, and print what they show."""

import json

import pytest
from run_notebooks import NOTEBOOKS, run


def printed(notebook):
    return [
        "".join(output["text"])
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    ]


def test_there_are_four():
    assert [path.stem for path in NOTEBOOKS] == [
        "audit-a-release",
        "choose-a-budget",
        "publish-a-table",
        "what-analysts-can-still-do",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path):
    shown = json.loads(path.read_text(encoding="utf-8"))
    before = printed(shown)
    assert before
    assert printed(run(shown)) == before
