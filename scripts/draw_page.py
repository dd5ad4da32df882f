"""Draws the picture of the page in its guide: a hospital's export on the way to a published table.

`python scripts/draw_page.py` writes docs/images/explorer.png; a test draws it again, and holds the figures on it to
the words beside it. It needs Chromium (scripts/install_test_tools.sh).
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

TARGET = Path(__file__).parents[1] / "docs/images/explorer.png"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1280, "height": 1000}
_PATIENCE = 120_000  # milliseconds


def export(path: Path, rows: int = 1800) -> Path:
    """Stays in a hospital, made up: diagnoses that go with the ward and with the days in bed."""
    rng = np.random.default_rng(3)
    names = ("asthma", "diabetes", "fracture", "HIV")
    lines = ["diagnosis,ward,stay_days"]
    for _ in range(rows):
        k = int(rng.choice(4, p=[0.4, 0.3, 0.24, 0.06]))
        ward = "north" if rng.random() < 0.35 + 0.1 * k else "south"
        lines.append(f"{names[k]},{ward},{min(9, int(rng.poisson(2.5 + 0.7 * k)))}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def answer(page: Page, address: str) -> str:
    """The page with its questions answered; its headline."""
    page.set_default_timeout(_PATIENCE)
    page.goto(address)
    page.get_by_label("Secret column", exact=True).select_option("diagnosis")
    page.wait_for_function("() => document.body.dataset.asked")  # until then its columns may still come anew
    for name in ("ward", "stay_days"):
        page.locator("#columns").get_by_label(name, exact=True).check()
    page.wait_for_function(
        """() => document.body.dataset.settled && document.body.dataset.settled === document.body.dataset.asked
             && JSON.parse(document.body.dataset.settled).columns.length === 2"""
    )
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    return page.locator(".theta").inner_text()


def draw(target: Path) -> str:
    """Write the picture; the headline on it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [sys.executable, "-m", "takifugu", "explore", str(export(Path(folder, "stays.csv"))), "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as explorer:
            try:
                found = (re.search(r"http://\S+", line) for line in explorer.stdout or ())
                address = next(one[0] for one in found if one)
                chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
                page = chromium.new_page(viewport=SIZE, reduced_motion="reduce")
                told = answer(page, address)
                page.screenshot(path=target)
                chromium.close()
            finally:
                explorer.terminate()
    return " ".join(told.split())


if __name__ == "__main__":
    print(draw(Path(sys.argv[1]) if sys.argv[1:] else TARGET))
