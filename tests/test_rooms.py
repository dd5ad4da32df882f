"""The rooms of the house stand in a row, and none looks to its right."""

import ast
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "takifugu"

# From left to right, as data flows. What stands on one line knows nothing of the rest of its line.
ROOMS = (
    ("errors",),
    ("_nearest",),
    ("_validation", "_digits", "_display", "_threads", "_listening", "atomic"),
    ("laws",),
    ("problems",),
    ("divergences",),
    ("channels",),
    ("mechanisms",),
    ("documents",),
    ("tables",),
    ("queries", "datasets"),
    ("calibration",),
    ("certificates",),
    ("releases",),
    ("audits", "estimates"),
    ("reports",),
    ("published",),
    ("publishing",),
    ("web", "studies"),
    ("commands",),
    ("cli",),
    ("__main__",),
)
PLACE = {room: place for place, line in enumerate(ROOMS) for room in line}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(name: str) -> str:
    return name.split(".")[1]


@cache
def imported(path: Path) -> frozenset[str]:
    """The rooms that a module imports from, wherever in it the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {f"takifugu.{alias.name}" for alias in node.names} if node.module == "takifugu" else {node.module}
    rooms = {room_of(name) for name in found if name.startswith("takifugu.")}
    return frozenset(rooms - {"__version__"})  # the one name that belongs to no room


def test_no_two_test_files_share_a_name():
    names = [path.name for path in Path(__file__).parent.rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))  # pytest imports them side by side, and would refuse the second


def test_every_module_stands_in_a_room():
    assert {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules()} <= set(PLACE)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_does_not_look_to_its_right(path: Path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for room in imported(path):
        assert room == own or PLACE[room] < PLACE[own], f"{own} looks into {room}"


def test_the_studies_are_known_to_their_command_alone():
    users = {path.relative_to(SOURCE).parts[0] for path in modules() if "studies" in imported(path)}
    assert users <= {"studies", "commands"}
