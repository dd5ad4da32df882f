"""What was written down is what is said today; where it is not, what moved is told, figure by figure."""

from functools import cache
from typing import Any

import pytest

from .families import FAMILIES
from .harness import moved, recorded_with, software

CASES = [(family, case) for family in FAMILIES for case in FAMILIES[family].cases]
HOW = "If that was meant, say so in the commit and record it: python -m tests.golden.record"
MOST = 60  # lines of what moved, for each case


@cache
def seen(family: str, case: str) -> tuple[Any, list[str]]:
    """What a case says, asked once for its figures and its words."""
    return FAMILIES[family].seen(case)


def told(lines: list[str]) -> str:
    """What moved, and with which software."""
    if recorded_with() != software():
        lines = [*lines[:MOST], f"recorded with {recorded_with()}; here are {software()}"]
    return "\n".join([*lines[: MOST + 1], HOW])


@pytest.mark.parametrize(("family", "case"), CASES, ids=[f"{family}: {case}" for family, case in CASES])
def test_figures(family: str, case: str):
    lines = list(moved(FAMILIES[family].recorded("figures").get(case), seen(family, case)[0], case))
    assert not lines, told(lines)


@pytest.mark.parametrize(("family", "case"), CASES, ids=[f"{family}: {case}" for family, case in CASES])
def test_words(family: str, case: str):
    lines = list(moved(FAMILIES[family].recorded("texts").get(case), seen(family, case)[1], case))
    assert not lines, told(lines)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("what", ["figures", "texts"])
def test_nothing_is_recorded_of_cases_that_are_gone(family: str, what: str):
    assert set(FAMILIES[family].recorded(what)) == set(FAMILIES[family].cases)
