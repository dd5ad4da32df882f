"""The site builds without a warning, holds every page, and fetches nothing from elsewhere."""

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from run_examples import ROOT

import takifugu
from which_browser import chromium

# What a browser fetches on its own; a link that a reader may follow is something else.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|audio|video)[^>]*\ssrc=["']?(https?:)?//|"""
    r"""<link[^>]*rel=["']?(?:stylesheet|preconnect|preload|icon)[^>]*href=["']?(https?:)?//|"""
    r"""url\(["']?(https?:)?//|@import\s+["'](https?:)?//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # the theme's word on its successor
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not re.search("WARNING|ERROR", done.stderr), done.stderr
    return folder


def test_every_page_is_there(site):
    made = {page.relative_to(site).with_suffix(".md").as_posix() for page in site.rglob("*.html")}
    for page in [*ROOT.glob("docs/**/*.md"), *ROOT.glob("proofs/*.md")]:
        path = page.relative_to(ROOT).as_posix().removeprefix("docs/").replace("README.md", "index.md")
        assert path in made


def test_nothing_is_fetched_from_elsewhere(site):
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        found = FETCHED.search(file.read_text(encoding="utf-8"))
        assert found is None, f"{file.name}: {found}"


def test_formulas_of_the_proofs_are_set(site):
    for page in [*site.glob("proofs/*.html"), site / "paper.html"]:
        text = re.sub(r"<code.*?</code>", "", page.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"\w\^[\w({]", text), page.name
    assert "<sup>(α−1)ε</sup>" in (site / "proofs/odds.html").read_text(encoding="utf-8")


def test_the_api_has_every_public_name(site):
    ids = set(re.findall(r'id="(takifugu[\w.]*)"', (site / "api.html").read_text(encoding="utf-8")))
    for name in set(takifugu.__all__) - {"datasets"}:
        value = getattr(takifugu, name)
        assert {f"takifugu.{name}", f"{value.__module__}.{name}"} & ids, f"{name} is not in the API"


def test_the_search_finds_pages_and_asks_nobody_else(site):
    browser = chromium()
    from playwright.sync_api import sync_playwright

    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}/"
        driven = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for width in (1280, 390):
            page = driven.new_page(viewport={"width": width, "height": 900})
            page.set_default_timeout(120_000)
            said, asked = [], []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(f"{home}index.html")
            if width == 390:
                page.locator("label.md-header__button[for=__search]").first.click()
            page.locator("input.md-search__input").press_sequentially("best guess")
            page.locator(".md-search-result__item").first.wait_for()
            assert "Choose a guarantee" in page.locator(".md-search-result__list").inner_text()
            assert said == []
            assert [url for url in asked if not url.startswith((home, "data:", "blob:"))] == []
        driven.close()
        server.shutdown()


SHOWN = (
    "index",
    "paper",
    "reproduction",
    "concepts",
    "studies/unseen",
    "guides/publish-a-table",
    "proofs/certificates",
)
FAINT = (Path(__file__).parent / "faint_text.js").read_text(encoding="utf-8")
CUT = """[...document.querySelectorAll('.md-content :is(table, img, .language-text pre, .language-sh pre)')]
    .map(one => [one, one.closest('.md-typeset__scrollwrap') ?? one])
    .filter(([one, room]) => room.getBoundingClientRect().right > innerWidth || room.scrollWidth > room.clientWidth + 1)
    .map(([one]) => one.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable_and_nothing_is_cut(site, scheme):
    browser = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        driven = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for width in (1280, 390):
            page = driven.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.set_default_timeout(120_000)
            for name in SHOWN:
                page.goto((site / f"{name}.html").as_uri())
                assert page.evaluate(FAINT) == {}, (name, width)  # below 4.5 to 1, or 3 to 1 where it is large
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
                if width == 1280:
                    assert page.evaluate(CUT) == [], name
        driven.close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""
