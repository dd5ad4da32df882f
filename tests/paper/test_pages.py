"""The pages of proofs and the one on the paper name things that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "proofs").glob("*.md")), ROOT / "docs" / "paper.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_tests_exist(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target
    for path in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path


def test_the_index_has_every_proof():
    index = (ROOT / "proofs" / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in PAGES[:-1] if page.name != "README.md" and f"({page.name})" not in index]
    assert not missing
