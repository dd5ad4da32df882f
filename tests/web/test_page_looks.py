"""How the page looks: wide and narrow, light and dark, while it waits, and where lines are too long for it."""

from collections.abc import Iterator
from typing import Any

import pytest
from browser import DESKTOP, PHONE, SCREENSHOTS, Visit, opened
from explorer_process import Explorer
from playwright.sync_api import Browser, Route

import takifugu as tk
from takifugu.estimates import compared_laws
from takifugu.reports import facts_of, render
from takifugu.web.answers import drawn


@pytest.fixture(scope="module")
def visit(browser: Browser, explorer: Explorer) -> Iterator[Visit]:
    with opened(browser, explorer.quick) as visit:
        yield visit


def test_old_figures_are_dimmed_while_a_long_answer_is_found(visit: Visit) -> None:
    page = visit.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/answer", hold)
    page.get_by_label("ε, the budget", exact=True).fill("350")
    dimmed = "(n) => ['#theta', '#answer'].every((one) => getComputedStyle(document.querySelector(one)).opacity === n)"
    page.wait_for_function(dimmed, arg="0.45", polling=50)
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        assert page.evaluate(dimmed, "0.45")
        visit.picture(f"dimmed-{size['width']}", full=False)
    for route in held:
        route.continue_()
    page.unroute("**/api/answer")
    visit.settle()
    assert page.evaluate(dimmed, "1")


def test_a_command_is_broken_between_its_words(visit: Visit) -> None:
    visit.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    lines = visit.page.evaluate(
        """() => [...document.querySelectorAll("#command .word")].map((one) => one.getBoundingClientRect().height)"""
    )
    visit.page.locator("#command-box").screenshot(path=SCREENSHOTS / "command-390.png")
    visit.page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    words = visit.text("#command").split()
    assert len(lines) == len(words) > 8
    assert len(set(lines)) == 1  # none goes over two lines
    assert visit.page.locator("#command").text_content() == " ".join(words)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pictures_for_people_to_look_at(browser: Browser, explorer: Explorer, size: dict[str, int]) -> None:
    with opened(browser, explorer.quick, size=size) as visit:
        papers = set()
        for scheme in ("light", "dark"):
            visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            name = f"explorer-{'phone' if size is PHONE else 'desktop'}-{scheme}"
            assert visit.picture(name).stat().st_size > 20_000
            papers.add(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))
            overflow = visit.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert overflow == 0
        assert len(papers) == 2


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (tk.Raw("oldpeak", prior="gaussian"), {"alpha": 3, "epsilon": 1}),
        (tk.Mean("oldpeak"), {"odds": 3}),
        (tk.Row("cp", "exang"), {"odds": 2}),
        (tk.Raw(["oldpeak", "thalach"], prior="gaussian"), {"alpha": 3, "epsilon": 1}),
    ],
    ids=["gaussian", "laplace", "row", "vector"],
)
def test_every_picture_of_the_page_is_the_one_in_the_report(query: Any, asked: dict[str, float]) -> None:
    """One renderer and one scale: to the last coordinate."""
    made = tk.calibrate(tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=query), **asked)
    facts = facts_of(made)
    survives = compared_laws(made) if made.channel.publishes == "values" else None
    shown, report = drawn(facts, narrow=False, survives=survives), render(facts)
    assert len(shown) >= 3
    assert [one["id"] for one in shown if one["svg"] not in report] == []
