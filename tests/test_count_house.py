"""What scripts/count_house.py counts, on a package that is small enough to count by hand."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "count_house.py"
COUNTED = runpy.run_path(str(SCRIPT), run_name="count_house")
House, Figure, loaded = COUNTED["House"], COUNTED["Figure"], COUNTED["loaded"]

FILES = {
    "__init__.py": '"""A small house."""\n\nfrom house.doors import enter\n',
    "laws/__init__.py": "from .bell import Bell, BellError\nfrom . import cells\n",
    "laws/bell.py": '''"""One law.

Over three lines.
"""

from typing import Any  # which is no use of it


class Bell:
    """It rings."""

    def of(self, a, b, c, d, e, f, g, h):
        # a comment
        text = """not a
        docstring"""
        return isinstance(self, Bell), text


class BellError(Exception):
    pass


def many(a: Any, b: "int", /, c, *d, e, f, g, h=Any, **i):
    return a
''',
    "laws/cells.py": "",
    "doors.py": """from house.laws import Bell, cells


def enter(a, b, c, d, e, f, g, h, i, *, j, k, l, m, n):
    import house.laws.bell
    from house.tables.cells import cell

    return isinstance(a, (int, house.laws.bell.Bell)) or isinstance(a, Bell | int) or isinstance(a, int)


def count(a):
    import numbers
    from fractions import Bell

    return isinstance(a, numbers.Bell)  # of the same name, and somebody else's


def leave(a):
    match a:
        case Bell():
            return cells
""",
    "tables/__init__.py": "",
    "tables/cells.py": "cell = 1\n",
    "commands/doors.py": "import json\n",
    "studies/grand.py": "import house.doors\nx = 1\n",
    "paper/grand.py": "import house.doors\nx = 1\n",
}


@pytest.fixture
def house(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return House.read(tmp_path / "house")


def module(house, name):
    (found,) = [one for one in house.modules if one.name == name]
    return found


def test_modules_and_lines_without_what_stands_apart(house):
    assert len(house.modules) == 10
    assert [one.name for one in house.without("paper", "studies").modules] == [
        *("house", "house.commands.doors", "house.doors", "house.laws", "house.laws.bell", "house.laws.cells"),
        *("house.tables", "house.tables.cells"),
    ]
    assert house.lines - house.without("paper", "studies").lines == 4


def test_code_is_neither_blank_nor_comment_nor_docstring(house):
    bell = module(house, "house.laws.bell")
    assert bell.code_lines == 10
    assert len(bell.docstring_lines) == 5
    assert bell.lines == 24
    assert module(house, "house.laws.cells").code_lines == 0
    assert module(house, "house").code_lines == 1


def test_an_import_is_counted_once_wherever_it_stands(house):
    assert house.without("paper", "studies").edges == {
        ("house", "house.doors"),
        ("house.laws", "house.laws.bell"),
        ("house.laws", "house.laws.cells"),
        ("house.doors", "house.laws"),
        ("house.doors", "house.laws.cells"),
        ("house.doors", "house.laws.bell"),
        ("house.doors", "house.tables.cells"),
    }


def test_any_is_counted_where_it_is_used(house):
    assert house.anys == 2


def test_parameters_are_counted_without_self_and_with_stars(house):
    assert house.long_signatures == ["house.laws.bell.many (9)"]  # enter has 14 and is public
    kept = FILES["__init__.py"]
    hidden = House(tuple(one for one in house.modules if one.text != kept))
    assert hidden.long_signatures == ["house.doors.enter (14)", "house.laws.bell.many (9)"]


def test_classes_told_apart_by_others(house):
    assert house.told_apart == {"house.doors": 3}


def test_modules_of_one_name(house):
    assert house.without("paper", "studies").twins == {"cells": ["house.laws.cells", "house.tables.cells"]}


def test_what_a_job_loads(house, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert loaded("", package="house") == 5
    assert loaded("tk.enter(*'abcdefghi', j=1, k=1, l=1, m=1, n=1)", package="house") == 7


@pytest.mark.parametrize(
    ("figure", "kept"),
    [
        (Figure("a", 3, most=3), True),
        (Figure("a", 4, most=3), False),
        (Figure("a", 0.2, least=0.25), False),
        (Figure("a", 10**9), True),
    ],
)
def test_a_budget_is_kept_or_not(figure, kept):
    assert figure.is_kept is kept
    assert ("over" in str(figure) or "under" in str(figure)) is not kept


def test_the_table_is_printed_and_its_status_is_that_of_the_budgets():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, encoding="utf-8", check=False, timeout=300
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 14
    assert done.returncode == int(any(line.endswith(("over", "under")) for line in lines))


def test_no_class_of_the_core_is_told_apart_by_others():
    core = House.read(SCRIPT.parents[1] / "src" / "takifugu").without(*COUNTED["APART"])
    assert core.told_apart == {}  # what an object can do is a member of it; what it cannot do it refuses by name


def test_the_package_keeps_every_budget_but_that_of_lines():
    table = COUNTED["figures"](House.read(SCRIPT.parents[1] / "src" / "takifugu"))
    assert [figure.name for figure in table if not figure.is_kept] == ["lines, without paper"]
    assert COUNTED["loaded"](COUNTED["CALIBRATE"]) <= 60
    assert COUNTED["loaded"](COUNTED["PUBLISH"]) <= 140


@pytest.mark.parametrize(
    ("signature", "count"),
    [
        ("a, b, c, *, " + ", ".join(f"d{k}" for k in range(14)), None),
        ("a, b, c, *, " + ", ".join(f"d{k}" for k in range(14)) + ", how: Adversary | None, to: 'Utility'", 15),
        ("a, b, c, *, " + ", ".join(f"d{k}" for k in range(14)) + ", how: Adversary | None, r: house.Reading", None),
        ("a, b, c, d, *, " + ", ".join(f"d{k}" for k in range(14)), 15),
        (", ".join(f"d{k}" for k in range(18)), 15),
        ("a, *, " + ", ".join(f"d{k}" for k in range(14)) + ", **options", 15),
    ],
)
def test_of_what_is_offered_named_parameters_count_beside_its_subject_and_objects(tmp_path, signature, count):
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.py").write_text("from house.doors import enter, Door\n")
    made = f"def enter({signature}):\n    pass\n\n\nclass Door:\n    def __init__(self, {signature}):\n        pass\n"
    (tmp_path / "house" / "doors.py").write_text(made)
    found = House.read(tmp_path / "house").long_signatures
    assert found == ([] if count is None else [f"house.doors.enter ({count})", f"house.doors.Door.__init__ ({count})"])
