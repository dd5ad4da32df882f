"""Messages and docstrings name arguments that there are, so that nobody who follows them is turned away."""

import ast
import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import takifugu as tk
from takifugu.errors import fields_of
from takifugu.mechanisms.base import _ours
from takifugu.problems.diagnostics import TEMPLATES

HOUSE = Path(tk.__file__).parent
NAMED = re.compile(r"(?<![\w.\-{`/'\"])([a-z_][a-z_0-9]*)=(?!=)")
OF_OTHERS = {"index", "drop"}  # arguments of pandas
# `keep` names columns to publish unchanged; what is preserved of the values had the same name once.
FORMER = re.compile(r"\bkeep=\"?(None|'|\"|{program)")


def parameters():
    """The name of every parameter of what `takifugu` offers, of its methods, and of the fields of its objects."""
    found = set()
    for name in tk.__all__:
        thing = getattr(tk, name)
        members = [thing] if not inspect.isclass(thing) else [thing, *vars(thing).values()]
        for one in members:
            one = getattr(one, "__func__", one)
            if callable(one) and not getattr(one, "__name__", "").startswith("__"):
                try:
                    found |= set(inspect.signature(one).parameters)
                except (TypeError, ValueError):
                    continue
        found |= {one.name for one in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    return found | OF_OTHERS | {one.name for rule in _ours().values() for one in dataclasses.fields(rule)}


def sentences(tree):
    """The texts of errors and messages: what stands in a call of an error, a `Message` or a `Template`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called.endswith(("Error", "Warning")) or called in ("Message", "Template"):
                for one in ast.walk(node):
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        yield one.lineno, one.value


def named_in(text):
    yield from NAMED.findall(re.sub(r"(?<=[ (])'[^']*'", "", text))  # an example of what is typed stands in quotes
    try:
        yield from (name for name in fields_of(text)[1] if "{" not in name)
    except (ValueError, IndexError):  # half of an f-string, or a text that holds braces
        return


@pytest.fixture(scope="module")
def known():
    return parameters()


@pytest.mark.parametrize("path", sorted(HOUSE.rglob("*.py")), ids=lambda path: path.relative_to(HOUSE).as_posix())
def test_messages_name_arguments_that_there_are(path, known):
    found = {
        f"{path.name}:{line}: {name}="
        for line, text in sentences(ast.parse(path.read_text()))
        for name in named_in(text)
        if name not in known
    }
    assert not found


@pytest.mark.parametrize("path", sorted(HOUSE.rglob("*.py")), ids=lambda path: path.relative_to(HOUSE).as_posix())
def test_nothing_is_called_by_its_former_name(path):
    tree = ast.parse(path.read_text())
    described = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    }
    texts = [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    assert not [text for text in texts if text not in described and FORMER.search(text)]


def test_docstrings_of_what_takifugu_offers_name_arguments_that_there_are(known):
    found = {
        (name, one)
        for name in tk.__all__
        for one in NAMED.findall(inspect.getdoc(getattr(tk, name)) or "")
        if one not in known
    }
    assert not found


@pytest.mark.parametrize("code", TEMPLATES)
def test_diagnostics_name_arguments_that_there_are(code, known):
    assert {*named_in(TEMPLATES[code].sentence)} <= known
