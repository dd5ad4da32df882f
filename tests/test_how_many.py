import runpy
from pathlib import Path

from how_many import ALL, some_of

HERE = Path(__file__).parent
CAMPAIGN = HERE.parent / "benchmarks" / "many_cases.py"


def test_a_sixth_is_rounded_up():
    assert [some_of(cases) for cases in (1, 6, 7, 10_000)] == ([1, 6, 7, 10_000] if ALL else [1, 1, 2, 1_667])


def test_every_file_that_leaves_cases_out_is_in_the_campaign():
    sources = {file: file.read_text(encoding="utf-8") for file in HERE.rglob("test_*.py") if file != Path(__file__)}
    users = sorted(file for file, source in sources.items() if "some_of(" in source or "@given(" in source)
    assert users
    assert runpy.run_path(str(CAMPAIGN))["files"]() == users
