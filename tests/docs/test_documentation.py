"""No page holds code of its own: what is shown is a file that runs, a doctest, or a command that parses."""

import ast
import doctest
import re
import shlex
import sys
import textwrap
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from run_examples import EXAMPLES, ROOT, output

from takifugu.cli import main

sys.path.insert(0, str(ROOT / "scripts"))
from expand_examples import expanded, pages, shown

PAGES = pages()
CODE = {path.read_text(encoding="utf-8") for path in EXAMPLES}
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.M | re.S)


def fences(page: Path, *languages: str) -> list[str]:
    """The blocks of a page in these languages."""
    text = page.read_text(encoding="utf-8")
    return [body for language, body in FENCE.findall(text) if language in languages]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_is_included_or_a_doctest(page):
    for body in fences(page, "python", "py", "pycon"):
        if ">>>" in body:
            found = doctest.DocTestParser().get_doctest(body, {}, name(page), str(page), 0)
            assert doctest.DocTestRunner().run(found).failed == 0
        else:
            assert textwrap.dedent(body) in CODE, f"this code is no example that runs:\n{body}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_on_a_page(example):
    everything = {file for page in PAGES for file in shown(page.read_text(encoding="utf-8"))}
    assert {name(example), name(output(example))} <= everything


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_show_examples_as_they_are(page):
    text = page.read_text(encoding="utf-8")
    assert text == expanded(text), "python scripts/expand_examples.py writes it anew"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_are_understood(page, tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text("secret = 'diagnosis'\ncolumns = ['ward']\n")  # which publish reads at once
    monkeypatch.chdir(tmp_path)
    for body in fences(page, "sh", "console", "bash", "shell"):
        if body in CODE:
            continue
        for line in body.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ ").split("|")[0].split(" > ")[0], comments=True)
            if words[:1] == ["takifugu"] and words[1] not in ("--help", "COMMAND"):
                command = main.get_command(main.make_context("takifugu", ["--help"], resilient_parsing=True), words[1])
                assert command is not None, f"there is no command {words[1]!r}"
                if "--help" not in words:
                    command.make_context(words[1], words[2:])  # raises for an option that does not exist
            elif words[:1] == ["make"]:
                assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("name", ["paper", "readme"])
def test_the_readme_has_two_short_examples(name):
    code = (ROOT / f"docs/examples/{name}.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in README
    assert f"docs/examples/{name}.txt" in shown(README)
    assert len(ast.parse(code).body) <= 8


def test_the_two_examples_of_the_readme_stand_side_by_side():
    widest = [
        max(map(len, (ROOT / f"docs/examples/{name}.py").read_text(encoding="utf-8").splitlines()))
        for name in ("paper", "readme")
    ]
    assert sum(widest) <= 88  # characters in a page of 832 pixels, beside the space around them
    table = README[README.index("<table>") : README.index("</table>")]
    assert shown(table)[0::2] == ["docs/examples/paper.py", "docs/examples/readme.py"]


def test_the_figure_of_the_readme_is_what_is_computed():
    import html

    from draw_noise import TARGET, TOLD, description, noise

    drawn = html.unescape(re.search(r"<desc[^>]*>(.*?)</desc>", TARGET.read_text(encoding="utf-8"))[1])
    assert drawn == description(noise(list(TOLD))), "python scripts/draw_noise.py draws it anew"


def test_the_figure_of_private_counts_is_that_of_its_table():
    import html

    from draw_private_fit import TARGET, description, table

    drawn = html.unescape(re.search(r"<desc[^>]*>(.*?)</desc>", TARGET.read_text(encoding="utf-8"))[1])
    assert drawn == description(), "python scripts/draw_private_fit.py draws it anew"
    rows, errors = table()
    assert errors["ε = 0.2"][rows.index(48_000)] <= 0.53
    assert errors["none"] < errors["ε = 0.2"]


def test_links_of_the_repository_lead_somewhere():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s:]+)[)#]", text) + re.findall(r'src="([^":]+)"', text):
            assert (page.parent / target).exists(), f"{name(page)} links to {target}"


def resolves(dotted: str) -> bool:
    """Whether a dotted name leads to a module of the package, or to something in one."""
    parts = f"takifugu.{dotted.removeprefix('takifugu.')}".split(".")
    for k in range(len(parts), 0, -1):
        with suppress(ModuleNotFoundError):
            thing = import_module(".".join(parts[:k]))
            for attribute in parts[k:]:
                if not hasattr(thing, attribute):
                    return False
                thing = getattr(thing, attribute)
            return True
    return False


def test_pages_name_what_there_is():
    packages = "|".join(path.name for path in (ROOT / "src/takifugu").iterdir() if (path / "__init__.py").exists())
    dotted = re.compile(rf"`((?:takifugu\.)?(?:{packages})\.\w+(?:\.\w+)*)(?:\(\))?`")
    named = {(name(page), found) for page in PAGES for found in dotted.findall(page.read_text(encoding="utf-8"))}
    assert [one for one in sorted(named) if not resolves(one[1])] == []
