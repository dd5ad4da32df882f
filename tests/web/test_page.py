"""The page in Chromium: every control is moved, and every figure is held against `calibrate`."""

import itertools
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser import Visit, opened
from explorer_process import Explorer
from playwright.sync_api import Browser

import takifugu as tk


@pytest.fixture(scope="module")
def visit(browser: Browser, explorer: Explorer) -> Iterator[Visit]:
    with opened(browser, explorer.address, waiting=False) as visit:
        yield visit


@cache
def _priors(table: str, secret: str, pair: tuple[str, str], query: str, column: str, prior: str) -> Any:
    asked = {
        "raw": lambda: tk.Raw(column, prior=prior),
        "mean": lambda: tk.Mean(column),
        "gp": lambda: tk.GP(column, max_rows=200, restarts=0),
    }[query]()
    return tk.fit_priors(tk.datasets.load(table), secret=secret, query=asked, secrets=pair)


def _expected(q: dict[str, Any]) -> tk.Calibration:
    priors = _priors(q["table"], q["secret"], tuple(q["pair"]), q["query"], q["columns"][0], q["prior"])
    return tk.calibrate(priors, alpha=q["alpha"], epsilon=q["epsilon"], mechanism=q["mechanism"])


def _agrees(visit: Visit, question: dict[str, Any]) -> str:
    """What is shown as θ is what `calibrate` finds, to the last digit shown."""
    shown, theta = visit.text("#theta"), _expected(question).theta
    assert float(shown.replace(",", "")) == float(f"{theta:.6g}")
    return shown


def test_nothing_is_computed_before_a_secret_is_chosen(visit: Visit) -> None:
    page = visit.page
    assert page.get_by_label("Secret column", exact=True).input_value() == ""
    assert "Choose the column that is the secret" in visit.text("#todo")
    for later in ("#ask-out", "#ask-adversary", "#ask-strength", "#theta", "#answer"):
        assert not page.locator(later).is_visible()
    page.wait_for_timeout(600)  # longer than anything waits to be asked
    assert {url.rpartition("/")[2] for url in visit.asked if "/api/" in url} <= {"start", "table", "progress"}
    assert not page.evaluate("document.body.dataset.asked")


def test_the_paper_is_a_choice_away(visit: Visit) -> None:
    question = visit.choose("Secret column", "race")
    assert (question["table"], question["secret"], question["pair"]) == ("adult", "race", ["White", "Other"])
    assert (question["query"], question["promise"], question["odds"]) == ("row", "odds", 3)
    assert not visit.page.locator("#todo").is_visible()
    visit.publish_as("noise")
    question = visit.choose("Guarantee", "renyi")
    assert (question["query"], question["columns"]) == ("raw", ["education-num"])
    _agrees(visit, question)
    assert "standard deviation" in visit.text("#in-words")
    for chart in ("before-after", "noise", "density"):
        assert visit.page.locator(f"#chart-{chart} svg").count() == 1


def test_the_token_leaves_the_address_and_a_reload_still_works(visit: Visit) -> None:
    assert "token" not in visit.page.url
    visit.page.reload()
    visit.settle()
    assert "token" not in visit.page.url
    # The closed door is met on the way; Chromium notes that, and that alone.
    assert [note for note in visit.complaints if "403" not in note] == []
    assert len(visit.complaints) == 1
    visit.complaints.clear()


def test_every_control_moves_the_figures(visit: Visit) -> None:
    seen = [_agrees(visit, visit.open_table("heart"))]
    moves = [
        lambda: visit.choose("Adversary’s belief", "gaussian"),
        lambda: visit.slide("ε, the budget", 300),
        lambda: visit.slide("α, the order", 700),
        lambda: visit.type_number("ε, the budget, as a number", "0.77"),
        lambda: visit.type_number("α, the order, as a number", "2.5"),
        lambda: visit.choose("Mechanism", "closed-form"),
        lambda: visit.choose("Mechanism", "wasserstein-aware"),
        lambda: visit.choose("Mechanism", "closed-form-envelope"),
        lambda: visit.choose("of the column", "thalach"),
        lambda: visit.choose("Publish", "mean"),
        lambda: visit.choose("Publish", "raw"),
        lambda: visit.choose("Mechanism", "exact"),
        lambda: visit.choose("from", "2"),
        lambda: visit.choose("Hide", "3"),
        lambda: visit.choose("Secret column", "cp"),
        lambda: visit.choose("Adversary’s belief", "empirical"),
        lambda: visit.choose("Adversary’s belief", "mixture"),
        lambda: visit.choose("Mechanism", "gmm-transport"),
    ]
    for move in moves:
        charts = visit.page.locator("#answer").inner_html()
        seen.append(_agrees(visit, move()))
        assert seen[-1] != seen[-2]
        assert visit.page.locator("#answer").inner_html() != charts


def test_the_other_tables_are_ready(visit: Visit) -> None:
    visit.choose("Mechanism", "exact")
    for name in ("student-mat", "student-por", "adult"):
        question = visit.open_table(name)
        assert question["secret"] == tk.datasets.about(name).secret
        _agrees(visit, question)


def test_a_gaussian_process_is_trained_once(visit: Visit) -> None:
    visit.open_table("heart")
    question = visit.choose("Publish", "gp")
    assert visit.page.get_by_label("Adversary’s belief").is_disabled()
    _agrees(visit, question)
    _agrees(visit, visit.slide("ε, the budget", 500))
    visit.choose("Publish", "raw")


def test_a_network_is_trained_only_when_asked(visit: Visit) -> None:
    visit.page.get_by_label("Publish", exact=True).select_option("bnn")
    visit.page.get_by_role("alert").filter(has_text="not trained yet").wait_for()
    assert visit.page.get_by_role("button", name="Train the network").is_visible()
    assert visit.text("#theta") == "–"
    visit.choose("Publish", "raw")
    assert not visit.page.get_by_role("alert").is_visible()
    assert not visit.page.get_by_role("button", name="Train the network").is_visible()


def test_the_downloads_verify(visit: Visit, tmp_path: Path) -> None:
    question = visit.open_table("heart")
    certificate = visit.save("Certificate for an auditor", tmp_path)
    public = visit.save("Public certificate", tmp_path)
    report = visit.save("Report", tmp_path)
    proved = tk.verify(certificate)
    assert proved.theta == _expected(question).theta
    assert json.loads(public.read_text())["certificate_sha256"] == proved.sha256
    text = report.read_text()
    assert text.lower().startswith("<!doctype html>")
    assert f"{proved.theta:.4g}" in text


def test_what_promises_less_has_no_certificate(visit: Visit) -> None:
    visit.choose("Mechanism", "wasserstein-approx")
    assert "guarantees less" in visit.text("#in-words")
    assert visit.page.get_by_role("button", name="Public certificate").is_disabled()
    visit.choose("Mechanism", "exact")
    assert visit.page.get_by_role("button", name="Public certificate").is_enabled()


def test_what_has_no_answer_is_told_and_nothing_old_stays(visit: Visit) -> None:
    visit.choose("Adversary’s belief", "mixture")
    visit.page.get_by_label("Mechanism").select_option("closed-form")
    visit.page.get_by_role("alert").filter(has_text=re.compile("closed-form")).wait_for()
    assert visit.text("#theta") == "–"
    visit.choose("Mechanism", "exact")
    assert visit.page.get_by_role("alert").count() == 0


@pytest.mark.parametrize("wrong", ["", "0", "-1", "1e9"])
def test_a_number_out_of_range_is_told_and_nothing_is_asked(visit: Visit, wrong: str) -> None:
    visit.settle()
    before = len(visit.asked)
    visit.page.get_by_label("ε, the budget, as a number").fill(wrong)
    visit.page.get_by_role("alert").filter(has_text="ε must be a number from 0.001 to 100").wait_for()
    assert visit.text("#theta") == "–"
    visit.page.wait_for_timeout(400)
    assert len(visit.asked) == before
    visit.type_number("ε, the budget, as a number", "1")


def test_an_old_answer_never_covers_a_new_one(visit: Visit) -> None:
    """The first of two answers is held back until long after the second has come."""
    visit.open_table("heart")
    held: list[Any] = []

    def hold_first(route: Any) -> None:
        if not held:
            held.append(route)
        else:
            route.continue_()

    visit.page.route("**/api/answer", hold_first)
    slider = visit.page.get_by_label("ε, the budget", exact=True)
    slider.fill("200")
    while not held:
        visit.page.wait_for_timeout(20)
    slider.fill("800")
    shown = _agrees(visit, visit.settle())
    held[0].fulfill(json={"figure": {"before": "θ =", "value": "0", "after": ""}, "in_words": "old"})
    visit.page.wait_for_timeout(200)
    assert visit.text("#theta") == shown
    visit.page.unroute("**/api/answer")


def test_what_is_moved_while_a_table_is_read_goes_into_the_question_about_it(visit: Visit) -> None:
    """The slider and the secret column of the table before are still there, and no question mixes the two."""
    visit.open_table("heart")
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    visit.page.route("**/api/table", hold)
    visit.page.get_by_label("Table", exact=True).select_option("student-mat")
    while not held:
        visit.page.wait_for_timeout(20)
    visit.page.get_by_label("ε, the budget", exact=True).fill("450")
    visit.page.get_by_label("Secret column", exact=True).select_option("cp")
    visit.page.wait_for_timeout(200)
    held[0].continue_()
    visit.page.wait_for_function("() => document.getElementById('secret').value === ''", polling=50)
    question = visit.choose("Secret column", "schoolsup")  # none of the table before is taken over
    assert (question["table"], question["pair"]) == ("student-mat", list(tk.datasets.about("student-mat").pair))
    assert question["epsilon"] == float(visit.page.get_by_label("ε, the budget, as a number").input_value())
    _agrees(visit, question)
    visit.page.unroute("**/api/table")


@pytest.mark.parametrize("lost", ["closed", "overtaken"])
def test_a_lost_question_is_asked_again(visit: Visit, lost: str) -> None:
    """A kept connection that the server closes as it is used, and an answer that says a newer question has come."""
    seen: list[Any] = []

    def lose_first(route: Any) -> None:
        seen.append(route)
        if len(seen) > 1:
            route.continue_()
        elif lost == "closed":
            route.abort("connectionclosed")
        else:
            route.fulfill(json={"overtaken": True})

    visit.page.route("**/api/answer", lose_first)
    _agrees(visit, visit.slide("ε, the budget", 300 if lost == "closed" else 500))
    assert len(seen) == 2
    visit.page.unroute("**/api/answer")
    visit.complaints[:] = [note for note in visit.complaints if "ERR_CONNECTION_CLOSED" not in note]


def test_figures_follow_while_the_slider_is_still_moving(visit: Visit) -> None:
    visit.choose("Adversary’s belief", "gaussian")
    slider = visit.page.get_by_label("ε, the budget", exact=True)
    seen = set()
    for place in itertools.islice(itertools.cycle(range(400, 700, 5)), 3_000):  # the machine may be slow to follow
        slider.fill(str(place))
        visit.page.wait_for_timeout(20)
        seen.add(visit.text("#theta"))
        if len(seen) > 2:
            break
    visit.settle()
    assert len(seen) > 2


def test_a_quick_hand_gets_the_answer_to_its_last_move(visit: Visit) -> None:
    slider = visit.page.get_by_label("α, the order", exact=True)
    slider.focus()
    for _ in range(25):
        visit.page.keyboard.press("ArrowRight")
    _agrees(visit, visit.settle())


def test_the_keyboard_reaches_everything(visit: Visit) -> None:
    visit.page.locator("body").evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        visit.page.keyboard.press("Tab")
        reached.add(visit.page.evaluate("document.activeElement.id"))
    controls = {"table", "secret", "first", "second", "query", "column", "prior", "mechanism"}
    sliders = {"alpha", "alpha-slider", "epsilon", "epsilon-slider"}
    buttons = {"open", "copy-command", "copy-python", "copy-link", "publish"}
    files = {"get-report", "get-calibration", "get-certificate", "get-public"}
    assert controls | sliders | buttons | files <= reached


def test_everything_has_a_name_for_those_who_listen(visit: Visit) -> None:
    nameless = visit.page.evaluate(
        """() => [...document.querySelectorAll("select, input, button")]
             .filter((e) => !(e.labels && e.labels.length) && !e.ariaLabel && !e.textContent.trim()).map((e) => e.id)"""
    )
    assert nameless == []
    assert visit.page.locator("[aria-live=polite]").inner_text() == f"θ is {visit.text('#theta')}"
    for chart in visit.page.locator("figure svg").all():
        assert chart.get_attribute("role") == "img"


def test_a_wrong_token_shows_the_closed_door(browser: Browser, explorer: Explorer) -> None:
    page = browser.new_page()
    response = page.goto(explorer.address[:-4] + "AAAA")
    assert response is not None
    assert response.status == 403
    assert "The door is closed" in page.inner_text("body")
    page.close()
