"""The page in Chromium with a table of one's own: every control of it, on a desk and on a telephone."""

import json
import re
from pathlib import Path

import pytest
from browser import DESKTOP, LONG, PHONE, Visit, opened
from explorer_process import Explorer
from people import DIAGNOSES, other_people, write_people
from playwright.sync_api import Browser, Route

import takifugu as tk

_SMALL = "s,x\n" + "".join(f"{'ab'[k % 2]},{'uvw'[k % 3]}\n" for k in range(60))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_people(tmp_path_factory.mktemp("hospital") / "people.csv", rows=600).parent


def _fits(visit: Visit) -> None:
    overflow = visit.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow == 0
    small = visit.page.evaluate(
        """() => [...document.querySelectorAll("figure svg text")]
             .map((e) => parseFloat(getComputedStyle(e).fontSize)
               * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b)).filter((size) => size < 8.5)"""
    )
    assert small == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_control_of_a_dropped_table(
    browser: Browser, running: Explorer, folder: Path, tmp_path: Path, size: dict[str, int]
) -> None:
    kind = "phone" if size is PHONE else "desktop"
    people = other_people(folder / "people.csv", tmp_path / f"{kind}.csv", kind)
    with opened(browser, running.quick, size=size) as visit:
        question = visit.drop(people, "sex")
        visit.page.locator("#odds-slider").scroll_into_view_if_needed()
        for seen in ("#odds-slider", "#theta"):  # the figure stays in sight above the slider that moves it
            assert _is_in_sight(visit, seen)
        visit.page.evaluate("scrollTo(0, 0)")
        assert (question["table"], question["query"]) == (f"file:{kind}.csv", "row")
        assert "case_id" not in question["columns"]
        assert "semicolons" in visit.text("#table-note")
        question = visit.choose("Secret column", "diagnosis")
        assert (question["pair"], question["columns"]) == (None, ["ward"])  # what was published beside sex
        visit.tick("columns", "stay_days")
        visit.tick("columns", "ward", on=False)
        seen = [visit.text("#theta")]
        # Twelve secrets: the worst pair in full, the others as a matrix.
        assert visit.page.locator("#chart-pair-1 svg").count() == 1
        assert visit.page.locator("#chart-losses svg rect").count() >= 12 * 11
        _fits(visit)
        visit.picture(f"explorer-table-{kind}")
        for move in (
            lambda: visit.slide("odds, the factor", 300),
            lambda: visit.type_number("odds, the factor, as a number", "2"),
            lambda: visit.tick("columns", "ward"),
            lambda: visit.choose("Guarantee", "renyi"),
            lambda: visit.slide("ε, the budget", 600),
            lambda: visit.tick("columns", "stay_days", on=False),
            lambda: visit.choose("Guarantee", "odds"),
            lambda: visit.slide("odds, the factor", 200),
            lambda: visit.choose("Hide", DIAGNOSES[11]),
            lambda: visit.tick("known", "sex"),
            lambda: visit.choose("The guarantee holds", "0.9"),
        ):
            before = visit.page.locator("#answer").inner_html()
            question = move()
            seen.append(visit.text("#theta"))
            assert visit.page.locator("#answer").inner_html() != before
        assert len(set(seen)) > 6
        assert question["known"] == ["sex"]
        assert question["pair"] == [DIAGNOSES[11], DIAGNOSES[1]]
        assert question["confidence"] == 0.9
        priors = tk.fit_priors(
            people, secret="diagnosis", query=tk.Row("ward"), secrets=question["pair"], known=["sex"]
        )
        expected = tk.calibrate(priors, odds=question["odds"], confidence=0.9)
        saved = tk.Calibration.load(visit.save("Calibration", tmp_path))
        assert saved.channel == expected.channel
        assert tk.verify(visit.save("Certificate for an auditor", tmp_path))
        _publishes_once(visit, tmp_path)
        _fits(visit)
    assert (running.folder / f"{kind}.ledger").exists()


def _publishes_once(visit: Visit, folder: Path) -> None:
    page = visit.page
    page.get_by_role("button", name="Publish the table…").click()
    dialog = page.get_by_role("dialog", name="Publish this table?")
    dialog.wait_for()
    assert dialog.evaluate("(one) => one.scrollTop") == 0  # what is published is read first, on a telephone too
    assert re.search(r"From (phone|desktop).csv: ward of up to 100 rows", dialog.inner_text())
    assert f"The secret is diagnosis, and {DIAGNOSES[11]} is hidden from {DIAGNOSES[1]}." in dialog.inner_text()
    assert "It can be done once" in dialog.inner_text()
    visit.picture("explorer-publish", full=False)
    now = dialog.get_by_role("button", name="Publish and save")
    assert now.is_disabled()
    dialog.get_by_role("button", name="Not now").click()
    page.get_by_role("button", name="Publish the table…").click()
    dialog.get_by_label(re.compile("I have read this")).check()
    with page.expect_download() as waiting:
        now.click()
    waiting.value.save_as(folder / "published.csv")
    lines = (folder / "published.csv").read_text().splitlines()
    assert lines[0] == '"ward"'
    assert len(lines) == 101
    size = page.viewport_size or DESKTOP
    for turned in (DESKTOP if size["width"] < 768 else PHONE, size):  # a telephone is turned; nothing else is asked
        with page.expect_response("**/api/answer"):
            page.set_viewport_size(turned)
        page.locator("body[data-settled]").wait_for()
        assert "These records are published now" in page.locator("#saved").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the same table again").click()
    waiting.value.save_as(folder / "again.csv")
    assert (folder / "again.csv").read_text() == (folder / "published.csv").read_text()
    page.get_by_role("button", name="Publish the table…").click()
    page.locator("#saved").filter(has_text="were published before").wait_for()


def test_a_link_restores_what_was_chosen_in_another_tab_and_holds_no_token(browser: Browser, running: Explorer) -> None:
    with opened(browser, running.quick) as visit:
        visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit.publish_as("row")
        visit.tick("columns", "cp")
        visit.tick("columns", "oldpeak", on=False)
        question = visit.type_number("odds, the factor, as a number", "4.5")
        visit.page.get_by_role("button", name="Copy a link to this choice").click()
        visit.page.get_by_role("button", name="Copied").wait_for()
        link = visit.page.evaluate("navigator.clipboard.readText()")
        assert running.token not in link
        assert "column=cp" in link
        visit.page.get_by_role("button", name="Copy the command").click()
        assert "--odds 4.5" in visit.text("#command")
        other = visit.page.context.new_page()
        asked: list[str] = []
        other.on("request", lambda request: asked.append(request.url))
        other.goto(link)
        other.wait_for_function(
            "() => document.body.dataset.settled && document.body.dataset.settled === document.body.dataset.asked",
            timeout=LONG,
        )
        assert json.loads(other.evaluate("document.body.dataset.settled")) == question
        assert not any("column" in url for url in asked)  # what a link holds is not sent, but asked for as by hand
        assert other.url == visit.home
        # A page that is loaded again shows what it showed.
        visit.page.reload()
        assert visit.settle() == question
        visit.complaints.clear()  # of the closed door that was met on the way


def test_messages_stand_where_the_eye_is(browser: Browser, running: Explorer, folder: Path, tmp_path: Path) -> None:
    with opened(browser, running.quick) as visit:
        for name in visit.drop(folder / "people.csv", "sex")["columns"]:
            visit.page.locator("#columns").get_by_label(name, exact=True).uncheck()
        visit.page.locator("#columns-problem").filter(has_text="at least one column").wait_for()
        assert visit.text("#theta") == "–"
        broken = tmp_path / "letter.csv"
        broken.write_bytes(b"%PDF-1.7 not a table")
        visit.page.locator("#file").set_input_files(broken)
        visit.page.locator("#drop-note.bad").filter(has_text="PDF").wait_for()
        visit.tick("columns", "ward")
        visit.page.locator("#odds").fill("0.5")
        visit.page.locator("#odds-problem").filter(has_text="must be a number from 1.01 to 1000").wait_for()
        visit.type_number("odds, the factor, as a number", "3")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_an_error_is_said_beside_what_was_moved_and_takes_the_old_command_away(
    browser: Browser, running: Explorer, tmp_path: Path, size: dict[str, int]
) -> None:
    kind = "phone" if size is PHONE else "desktop"
    path = tmp_path / f"alike-{kind}.csv"
    path.write_text(  # a code, for which the form of the file is opened, and labels that look alike
        "s,x,ward,age\n"
        + "".join(f"{'ab'[k % 2]},{k % 5},{('n', 'n ')[k % 3 > 0]},{999 if k % 9 == 0 else k % 7}\n" for k in range(90))
    )
    with opened(browser, running.quick, size=size) as visit:
        page = visit.page
        assert visit.drop(path, "s")["columns"] == ["x"]
        assert page.locator("#read-again").is_visible()
        bad = page.locator("#columns").get_by_label("ward", exact=True)
        bad.scroll_into_view_if_needed()
        page.evaluate("scrollBy(0, 400)")  # to see what comes below
        bad.check()
        page.locator("#problem").filter(has_text="look alike").wait_for()
        said = page.locator("#problem-here")
        assert said.inner_text() == visit.text("#problem")
        assert _is_in_sight(visit, "#problem-here")
        assert not page.locator("#answer").is_visible()
        assert not page.locator("#command").is_visible()
        visit.picture(f"explorer-problem-{kind}", full=False)
        assert visit.tick("columns", "ward", on=False)["columns"] == ["x"]
        assert said.inner_text() == ""
        assert page.locator("#command").is_visible()
        # In sight it is said once; and a slider is beside it.
        page.evaluate("scrollTo(0, 0)")
        page.evaluate("document.querySelector('#columns input[value=ward]').click()")
        page.locator("#problem").filter(has_text="look alike").wait_for()
        assert _is_in_sight(visit, "#problem")
        assert said.inner_text() == ""
        _fits(visit)


def _is_in_sight(visit: Visit, selector: str) -> bool:
    seen: bool = visit.page.evaluate(
        """(selector) => { const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
             return top >= 0 && bottom <= innerHeight && bottom > top; }""",
        selector,
    )
    return seen


def test_long_work_is_told_and_a_slider_is_not_made_to_wait_for_it(
    browser: Browser, running: Explorer, tmp_path: Path
) -> None:
    with opened(browser, running.quick) as visit:
        visit.drop(write_people(tmp_path / "many.csv", rows=1800), "diagnosis")
        visit.choose("Hide", "")
        asked = visit.settle()["columns"]
        # Hundreds of rows, which take long; what is asked for next takes no time at all.
        for name in {"ward", "cost", "stay_days"} - set(asked):
            visit.page.locator("#columns").get_by_label(name, exact=True).check()
        visit.page.locator("#busy").filter(
            has_text=re.compile(r"finding the best channel .*possible rows.*\d s")
        ).wait_for()
        for name in ("cost", "ward"):
            visit.page.locator("#columns").get_by_label(name, exact=True).uncheck()
        assert visit.settle()["columns"] == ["stay_days"]
        visit.slide("odds, the factor", 500)
        assert visit.text("#busy") == ""


def test_what_a_download_waits_for_is_told_where_its_end_will_be(browser: Browser, running: Explorer) -> None:
    with opened(browser, running.quick) as visit:
        page = visit.page
        visit.publish_as("row")
        at_work = {"answer": None, "download": {"words": "proving that it keeps the guarantee", "seconds": 3}}
        page.route("**/api/progress", lambda route: route.fulfill(json=at_work))
        made: list[Route] = []

        def hold(route: Route) -> None:  # until the page has told of it
            made.append(route)

        page.route("**/api/download/certificate", hold)
        page.evaluate(
            """() => { window.said = []; new MutationObserver(() => window.said.push(document.getElementById("saved")
                 .textContent)).observe(document.getElementById("saved"), { childList: true }); }"""
        )
        with page.expect_download():
            page.get_by_role("button", name="Certificate for an auditor", exact=True).click()
            page.locator("#saved").filter(has_text="Proving that it keeps the guarantee, 3 s").wait_for()
            made.pop().continue_()
        page.locator("#saved").filter(has_text="Saved as").wait_for()
        said = page.evaluate("window.said")
        assert said[0] == "Proving…"
        assert "Proving that it keeps the guarantee, 3 s" in said
        page.wait_for_timeout(1500)
        assert visit.text("#saved").startswith("Saved as")  # and nothing is told any more


def test_a_table_that_takes_long_to_read_is_counted_in_seconds(browser: Browser, running: Explorer) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with opened(browser, running.quick) as visit:
        page = visit.page
        for path in ("upload", "table"):
            page.route(f"**/api/{path}", hold)
        page.locator("#file").set_input_files({"name": "slow.csv", "mimeType": "text/csv", "buffer": _SMALL.encode()})
        page.locator("#drop-note").filter(has_text=re.compile(r"Reading slow.csv \(0.1 MB\), \d s")).wait_for()
        held.pop().continue_()
        page.locator("#busy").filter(has_text=re.compile(r"reading the table, \d s")).wait_for()
        held.pop().continue_()
        page.locator("#drop-note").filter(has_text="slow.csv is open").wait_for()
        for path in ("upload", "table"):
            page.unroute(f"**/api/{path}")
        visit.choose("Secret column", "s")
        assert visit.text("#busy") == ""


def test_a_file_can_be_dropped_anywhere(browser: Browser, running: Explorer) -> None:
    rows = _SMALL.replace("\n", "\\n")
    with opened(browser, running.quick) as visit:
        file = f"new File(['{rows}'], 'small.csv')"
        moved = visit.page.evaluate_handle(
            f"() => {{ const moved = new DataTransfer(); moved.items.add({file}); return moved; }}"
        )
        visit.page.dispatch_event("main", "drop", {"dataTransfer": moved})
        visit.page.locator("#drop-note").filter(has_text="small.csv is open").wait_for()
        question = visit.choose("Secret column", "s")
        assert (question["table"], question["columns"]) == ("file:small.csv", ["x"])
