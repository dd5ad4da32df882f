"""What the project says about itself agrees with itself."""

import re
import tomllib

import yaml
from run_examples import ROOT

import takifugu

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_stands_in_one_place_and_the_others_follow():
    assert PROJECT["dynamic"] == ["version"]
    assert yaml.safe_load(text("CITATION.cff"))["version"] == takifugu.__version__
    newest = re.search(r"^## \[(\d[^]]*)\]", text("CHANGELOG.md"), re.M)
    assert newest is not None
    assert newest[1] == takifugu.__version__


def test_every_supported_python_is_tested():
    prefix = "Programming Language :: Python :: "
    supported = [line.removeprefix(prefix) for line in PROJECT["classifiers"] if line.startswith(prefix)]
    workflow = yaml.safe_load(text(".github/workflows/test.yml"))
    assert workflow["jobs"]["supported"]["strategy"]["matrix"]["python"] == supported
    assert PROJECT["requires-python"] == f">={supported[0]}"
    assert f"{supported[0]} to {supported[-1]}" in text("docs/compatibility.md")


def test_the_packages_of_contributing_are_the_packages():
    from test_packages import ORDER

    drawn = re.search(r"```text\n(errors .*?)```", text("CONTRIBUTING.md"), re.S)
    assert drawn is not None
    shown = re.findall(r"\w+", drawn[1])
    places = {room: place for place, line in enumerate(ORDER) for room in line}
    order = [places[room] for room in shown]
    assert order == sorted(order)
    source = ROOT / "src/takifugu"
    folders = {path.name for path in source.iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert folders - {"schemas", "datasets"} <= set(shown)


def test_the_advice_on_orders_is_the_same_everywhere():
    for page in ("docs/guides/choose-a-guarantee.md", "docs/guides/alpha-and-epsilon.md"):
        words = re.sub(r"[`*\s]+", " ", text(page)).replace("alpha=", "α = ").replace("epsilon=", "ε = ")
        for alpha in (3, 8):
            assert re.search(rf"α = {alpha}(,| and) ε = 1", words), page
