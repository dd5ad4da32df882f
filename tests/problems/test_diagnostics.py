"""Diagnostics: every code has its parameters, says its sentence at every interface, and goes into a file and back."""

import ast
import json
import pickle
import re
from pathlib import Path

import pytest

from takifugu.commands.output import CommandLine
from takifugu.errors import PYTHON, InputError
from takifugu.problems.diagnostics import TEMPLATES, Diagnostic, _parameters_of, about
from takifugu.web.describing import Page

SOURCE = Path(__file__).parents[2] / "src" / "takifugu"

TEXT, NUMBER, NAMES = "some words", 0.25, ("ward", "age")
SAID = {"belief": None, "sentence": ""}
SAMPLES = {
    **dict.fromkeys(("column", "secret", "often", "seldom", "first", "second", "word", "sentinel", "real"), "ward"),
    **dict.fromkeys(("columns", "names", "such_as", "merge", "texts", "beside", "sentinels"), NAMES),
    **dict.fromkeys(("rows", "values", "cells", "small", "missing", "distinct", "labels", "most", "together"), 3),
    **dict.fromkeys(("limit", "used", "attacked", "pairs", "beliefs", "least", "of", "lines", "tried"), 3),
    **dict.fromkeys(("apart", "ahead", "positive", "falls", "lone", "several", "bounds_read", "step_read"), True),
    **dict.fromkeys(("seen", "detail", "model", "promise", "encoding", "sheet"), TEXT),
    **dict.fromkeys(("groups", "large"), (("ward", 3), ("age", 1))),
    "added": (("ward", 100, 12.5, "tree"),),
    "separator": ";",
    "decimal": ",",
    "form": "amounts",
}


def sample(code):
    return Diagnostic(code, **{name: SAMPLES.get(name, NUMBER) for name in _parameters_of(code)})


@pytest.mark.parametrize("code", TEMPLATES)
def test_every_code_says_a_sentence_in_the_words_of_each_interface(code):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    one = sample(code)
    for interface in (PYTHON, CommandLine(), Page()):
        sentence = one.said(interface)
        assert "{" not in sentence.replace("{ward}", "")
        assert "|" not in sentence
        assert not sentence.endswith(".")
    assert not re.search(r"\w=|\w\(|`", one.said(CommandLine()).replace("'ward='", ""))
    assert "reading=" not in one.said(Page())
    assert one.level in ("note", "warning")


@pytest.mark.parametrize("code", TEMPLATES)
def test_every_code_goes_into_a_file_and_back(code):
    one = sample(code)
    state = json.loads(json.dumps(one.to_state(), allow_nan=False))
    assert Diagnostic.from_state(state) == one == pickle.loads(pickle.dumps(one))
    assert hash(Diagnostic.from_state(state)) == hash(one)
    told = Diagnostic.from_state(one.within("another").to_state())
    assert str(told) == f"in the belief 'another': {one}"
    assert (told.level, told == one) == (one.level, False)
    assert one.to_dict()["code"] == code


def test_what_json_lacks_goes_there_too():
    one = Diagnostic("cell-tells", columns=("ward",), odds=float("inf"), guess=None)
    assert Diagnostic.from_state(json.loads(json.dumps(one.to_state(), allow_nan=False))) == one


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {"code": "few-rows", "parameters": {"secret": "a", "rows": 3}, "belief": None},
        {"code": "few-rows", "parameters": {"secret": "a", "rows": 3}, "belief": None, "sentence": "", "level": "note"},
        {"code": "no-such-code", "parameters": {}, **SAID},
        {"code": "few-rows", "parameters": {"secret": "a"}, **SAID},
        {"code": "few-rows", "parameters": {"secret": "a", "rows": 3, "more": 1}, **SAID},
        {"code": "few-rows", "parameters": {"secret": "a", "rows": {"a": 1}}, **SAID},
        {"code": "few-rows", "parameters": {"secret": "a" * 20_000, "rows": 3}, **SAID},
        {
            "code": "clipped",
            "parameters": {"rows": "x", "column": "a", "low": 0, "high": 1},
            "belief": None,
            "sentence": "",
        },
        {"code": "no-value", "parameters": {"rows": 1, "columns": 3}, **SAID},
        {"code": ["few-rows"], "parameters": {}, **SAID},
        {"code": "few-rows", "parameters": {"secret": "a", "rows": 3}, "belief": 3, "sentence": ""},
        {"code": "few-rows", "parameters": {"secret": "a", "rows": 3}, "belief": None, "sentence": 3},
    ],
)
def test_nothing_else_is_read(state):
    with pytest.raises(InputError):
        Diagnostic.from_state(state)


def test_parameters_are_those_of_the_code():
    with pytest.raises(InputError, match=r"'few-rows' has the parameters \['rows', 'secret'\]"):
        Diagnostic("few-rows", secret="a")
    with pytest.raises(InputError, match="no diagnostic"):
        Diagnostic("few")


def test_every_diagnostic_that_is_made_has_a_code_and_its_parameters():
    made = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) != "Diagnostic":
                continue
            (first,) = node.args
            codes = [
                one.value for one in ast.walk(first) if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            named = {keyword.arg for keyword in node.keywords}
            for code in codes:
                assert None in named or named == _parameters_of(code), f"{path.name}:{node.lineno}"
            made.update(codes)
    assert made == set(TEMPLATES)


def test_what_concerns_other_columns_is_left_out():
    found = [sample(code) for code in ("decimal-commas", "missing-texts", "title-lines")]
    assert [one.code for one in about(found, ["age"])] == ["decimal-commas", "title-lines"]
    assert about(found, ["age"])[0]["columns"] == ("age",)
    assert [one.code for one in about(found, ["dose"])] == ["title-lines"]
    assert about(found, NAMES) == tuple(found)
