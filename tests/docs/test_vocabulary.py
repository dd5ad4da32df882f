"""The field's words: what users read has none of ours, in pages, messages, help, docstrings and on the page."""

import ast
import inspect
import json
import re
from pathlib import Path

import click
import pytest

import takifugu as tk
from takifugu.cli import main

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/takifugu"

# What was said, and what the field says.
NOT = {
    r"promis(?:e|es|ed|ing)": "guarantee",
    r"anyone['’]s odds": "posterior odds change by at most a factor of 3",
    r"anybody['’]s odds": "posterior odds",
    r"nobody['’]s odds": "posterior odds change by at most",
    r"somebody['’]s odds": "posterior odds",
    r"move the odds of anybody": "change posterior odds",
    r"tables? of chances": "channel",
    r"these chances": "probabilities",
    r"the chances": "probabilities",
    r"blind luck": "a random guess",
    r"blind guess": "a random guess",
    r"luck alone": "a random guess",
    r"a coin": "a random guess",
    r"tails of a bell": "Gaussian",
    r"bell curves?": "Gaussian component",
    r"two bells|four bells|three bells|several bells": "Gaussian components",
    r"rows? (?:that )?stay(?:s|ed)? at home": "excluded rows",
    r"for who believes": "for an adversary who believes",
    r"for who knows": "for an adversary who knows",
    r"for whom believes": "for an adversary who believes",
    r"published no more": "never output",
    r"evidence from draws": "Monte Carlo evidence",
    r"evidence is draws": "the evidence is Monte Carlo",
    r"posterior of the population['’]s priors": "posterior draws",
    r"betray(?:s|ed|ing)?": "tell",
    r"betrayals (?:of|are|were)": "leakage",
    r"(?:these|the|your|all) wishes": "utility constraints",
    r"drop a wish": "drop a constraint",
    r"asking backwards": "calibrate to a target",
    r"nobody guesses": "no guess is right",
    r"least harm": "least distortion",
    r"publishable column": "supported",
    r"small letters": "lower case",
    r"(?:holder|publisher)['’]s word": "as the data holder states",
    r"your word that": "you state that",
    r"tells? (?:of them|of whom|more than one|together more)": "reveals",
    r"tells? (?:people|them) apart with": "identifies",
    r"nobody can tell (?:which|without)": "cannot be decided",
    r"against (?:somebody|anybody)": "against an adversary",
    r"no proof to be had": "there is no proof",
    r"no person['’]s": "not a person's",
    r"went out too": "was published too",
    r"leaves? the house": "is published",
    r"hands? (?:it |them )?over as (?:it is|they are)": "publish unchanged",
    r"hangs on the prior": "depends on the prior",
    r"for who adds": "for an adversary who adds",
}
PHRASES = re.compile("|".join(rf"(?<![\w\-./`=#$'\"{{]){one}(?![\w\-/`=(:\"])(?!'\W)" for one in NOT), re.IGNORECASE)
# Studies and benchmarks of what was measured before, names of files, and the paper's own words.
ELSEWHERE = ("docs/studies", "docs/benchmarks.md")


def test_there_are_forty():
    assert len(NOT) >= 40


def _prose(path):
    """A page without its code."""
    return re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if not path.relative_to(ROOT).as_posix().startswith(ELSEWHERE)
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages(path):
    assert PHRASES.findall(_prose(path)) == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs/examples").glob("*.txt")), ids=lambda path: path.stem)
def test_what_examples_print(path):
    assert PHRASES.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs/notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert PHRASES.findall("\n".join("".join(cell["source"]) for cell in cells)) == []


def test_messages():
    """Every text with a blank in it, of the whole package, that is no docstring."""
    left = []
    for path in sorted(SOURCE.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                found = PHRASES.findall(node.value) if " " in node.value else []
                left += [f"{path.name}:{node.lineno}: {one}" for one in found]
    assert left == []


def test_help():
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert PHRASES.findall(command.get_help(context)) == [], name
        assert PHRASES.findall(command.help or "") == [], name


def test_public_docstrings():
    left = []
    for name in tk.__all__:
        thing = getattr(tk, name)
        parts = [(name, thing)]
        if inspect.isclass(thing):
            parts += [(f"{name}.{one}", value) for one, value in vars(thing).items() if not one.startswith("_")]
        for where, part in parts:
            text = inspect.getdoc(part) if callable(part) or isinstance(part, property) else None
            left += [f"{where}: {one}" for one in PHRASES.findall(text or "")]
    assert left == []


def test_the_page():
    page = (SOURCE / "web/page/index.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL))
    assert PHRASES.findall(text) == []
    for script in sorted((SOURCE / "web/page/script").glob("*.js")):
        quoted = re.findall(r"\"([^\"\n]* [^\"\n]*)\"|`([^`]* [^`]*)`", script.read_text(encoding="utf-8"))
        told = " ".join("".join(one) for one in quoted if "?" not in "".join(one) or "$(" not in "".join(one))
        assert PHRASES.findall(told) == [], script.name
