"""A real browser on the explorer's page, which notes whatever should not happen."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import takifugu as tk
from which_browser import chromium

SCREENSHOTS = Path(__file__).parents[2] / "out" / "screenshots"
_QUIET = (
    "--no-sandbox",  # the tests may run as root in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
)
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
LONG = 120_000  # milliseconds; how fast the answers are is for the benchmarks to say


@contextmanager
def browsing() -> Iterator[Browser]:
    """Chromium, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(_QUIET))
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, address: str, *, size: dict[str, int] = DESKTOP, waiting: bool = True
) -> Iterator["Visit"]:
    """A visit that fails at its end if the page asked another machine or wrote to the console.

    It begins when the page has settled, or, without `waiting`, as soon as its table is there.
    """
    context = browser.new_context(
        viewport=size,
        reduced_motion="reduce",  # what moves slowly is painted sixty times a second
        accept_downloads=True,
        has_touch=size is PHONE,
    )
    visit = Visit(context.new_page(), address)
    try:
        visit.settle() if waiting else visit.page.locator("#secret option").first.wait_for(state="attached")
        yield visit
    finally:
        context.close()
    assert visit.complaints == []
    assert visit.strangers == []


class Visit:
    """A page, and what a person does on it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.home = address.partition("?")[0]
        page.set_default_timeout(LONG)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)

    @property
    def strangers(self) -> list[str]:
        """Requests that went anywhere but home."""
        return [url for url in self.asked if not url.startswith((self.home, "data:", f"blob:{self.home}"))]

    def settle(self) -> dict[str, Any]:
        """Wait until what is shown is the answer to what is chosen; the question it answers, or why it has none."""
        self.page.wait_for_function(_SETTLED, polling=50)  # asked at every frame, Chromium would paint all the while
        settled = self.page.evaluate("document.body.dataset.settled")
        assert settled is not None, self.text("#problem")
        question: dict[str, Any] = json.loads(settled)
        return question

    def asks(self) -> dict[str, Any]:
        """The question that is asked, settled or not."""
        self.page.wait_for_function("() => document.body.dataset.asked", polling=50)
        asked: dict[str, Any] = json.loads(self.page.evaluate("document.body.dataset.asked"))
        return asked

    def choose(self, label: str, value: str) -> dict[str, Any]:
        self.page.get_by_label(label, exact=True).select_option(value)
        return self.settle()

    def open_table(self, name: str) -> dict[str, Any]:
        """A table that is there already, with the secret that it is known for."""
        with self.page.expect_response("**/api/table"):
            self.page.get_by_label("Table", exact=True).select_option(name)
        self.page.wait_for_function("() => document.getElementById('secret').value === ''", polling=50)
        return self.choose("Secret column", tk.datasets.about(name).secret)

    def type_number(self, label: str, value: str) -> dict[str, Any]:
        self.page.get_by_label(label).fill(value)
        return self.settle()

    def slide(self, label: str, place: int) -> dict[str, Any]:
        self.page.get_by_label(label, exact=True).fill(str(place))
        return self.settle()

    def publish_as(self, mode: str) -> dict[str, Any]:
        """A table from lists ("row"), or noise on a number ("noise")."""
        self.page.locator(f"input[name=mode][value={mode}]").check()
        return self.settle()

    def tick(self, group: str, name: str, *, on: bool = True) -> dict[str, Any]:
        """A column among those to publish together, or those that the adversary may know."""
        if group == "known" and not self.page.locator("#known").is_visible():
            self.page.locator("#known-field summary").click()
        self.page.locator(f"#{group}").get_by_label(name, exact=True).set_checked(on)
        return self.settle()

    def drop(self, path: Path, secret: str | None) -> dict[str, Any]:
        """A file on the page, as the button opens it, and the column of it that is secret, unless a link says it."""
        self.page.locator("#file").set_input_files(path)
        self.page.locator("#drop-note").filter(has_text=f"{path.name} is open").wait_for()
        if secret is None:
            return self.settle()
        assert self.page.get_by_label("Secret column", exact=True).input_value() == ""  # none is before
        return self.choose("Secret column", secret)

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def save(self, button: str, folder: Path) -> Path:
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name=button, exact=True).click()
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    def picture(self, name: str, *, full: bool = True) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path, full_page=full)
        return path


_SETTLED = """() => {
  const { settled, asked } = document.body.dataset;
  const done = (settled && settled === asked) || !document.getElementById("problem").hidden;
  return document.getElementById("result").getAttribute("aria-busy") === "false" && done;
}"""
