"""The site builds without a warning, holds every page, and fetches nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from run_examples import ROOT

import takifugu

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


def test_snippets_were_included(site):
    for page in site.rglob("*.html"):
        assert "--8&lt;--" not in page.read_text(encoding="utf-8")


def test_the_api_has_every_public_name(site):
    ids = set(re.findall(r'id="(takifugu[\w.]*)"', (site / "api.html").read_text(encoding="utf-8")))
    for name in set(takifugu.__all__) - {"datasets"}:
        value = getattr(takifugu, name)
        assert {f"takifugu.{name}", f"{value.__module__}.{name}"} & ids, f"{name} is not in the API"
