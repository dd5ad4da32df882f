"""Packages stand in a row, none looks to its right, and each shows the others a front."""

import ast
import importlib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "takifugu"

# From left to right, as data flows. What stands on one line knows nothing of the rest of its line.
ORDER = (
    ("_front",),
    ("errors", "_work"),
    ("_validation", "_display", "atomic"),
    ("strict_json",),
    ("laws",),
    ("problems",),
    ("divergences",),
    ("channels",),
    ("mechanisms", "dependence"),
    ("datasets",),
    ("tables",),
    ("queries",),
    ("calibration",),
    ("certificates",),
    ("releases",),
    ("audits", "estimates"),
    ("reports",),
    ("publishing",),
    ("web", "paper"),
    ("commands",),
    ("cli",),
    ("__main__",),
)
PLACE = {package: place for place, line in enumerate(ORDER) for package in line}
FRONTS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.pyi"))
# Namespaces that are handed over whole: `strict_json.read` says more than `read` would.
NAMESPACES = {
    "takifugu.problems.nouns",
    *("takifugu.reports.words", "takifugu.reports.pages", "takifugu.reports.charts"),
}
# Modules of one name that are told apart by their package: a command has the name of what it runs.
NAMESAKES = {"commands"}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.name != "__init__.py")


def named(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imported(path: Path) -> frozenset[tuple[str, str]]:
    """What a module imports of the package, wherever the import stands: modules, and names in them."""
    found: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names if alias.name.startswith("takifugu.")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "takifugu":
            found |= {(node.module or "", alias.name) for alias in node.names}
    return frozenset(found)


def home(module: str, name: str) -> str:
    """The package that an import looks into."""
    return (f"{module}.{name}" if module == "takifugu" else module).split(".")[1]


def test_no_two_test_files_share_a_name():
    names = [
        path.name for path in Path(__file__).parent.rglob("*.py") if path.name not in ("conftest.py", "__init__.py")
    ]
    assert sorted(names) == sorted(set(names))  # pytest imports them side by side, and would refuse the second


def test_every_module_has_its_place():
    assert {package_of(path) for path in modules()} <= set(PLACE)


@pytest.mark.parametrize("path", modules(), ids=named)
def test_a_package_does_not_look_to_its_right(path: Path):
    own = package_of(path)
    for module, name in imported(path):
        other = home(module, name)
        if other not in (own, "__version__"):
            assert PLACE[other] < PLACE[own], f"{own} looks into {other}"


@pytest.mark.parametrize("path", modules(), ids=named)
def test_packages_are_entered_by_their_front(path: Path):
    own = package_of(path)
    for module, name in imported(path):
        if home(module, name) in FRONTS and home(module, name) != own:
            is_whole = f"{module}.{name}" in NAMESPACES
            is_module = (SOURCE.parent / f"{module}.{name}".replace(".", "/")).with_suffix(".py").exists()
            assert module.count(".") == 1, f"import {name} from the front of {home(module, name)}"
            assert is_whole or not is_module, f"{module}.{name} is a module of another package"


@pytest.mark.parametrize("package", ["", *FRONTS])
def test_a_front_has_what_it_lists(package):
    module = importlib.import_module(f"takifugu.{package}".rstrip("."))
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
    inside = Path(module.__file__ or "").parent
    assert not {path.stem for path in inside.glob("*.py")} & set(module.__all__) - {"datasets"}


def test_no_two_modules_share_a_name():
    names = Counter(
        path.stem
        for path in modules()
        if path.stem not in ("__init__", "__main__") and package_of(path) not in NAMESAKES
    )
    assert [name for name, count in names.items() if count > 1] == []
