"""Links that work in the repository work in the site, and formulas are set."""

import doctest
import importlib.util

import pytest
from run_examples import ROOT

spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs/hooks.py")
hooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hooks)


@pytest.mark.parametrize(
    ("page", "link", "there"),
    [
        ("paper.md", "../proofs/search.md", "proofs/search.md"),
        ("guides/auditor.md", "../../proofs/certified.md", "../proofs/certified.md"),
        ("guides/auditor.md", "spark.md", "spark.md"),
        ("proofs/search.md", "exact.md", "exact.md"),
        ("proofs/search.md", "../docs/paper.md", "../paper.md"),
        ("SECURITY.md", "docs/guides/not-protected.md", "guides/not-protected.md"),
        ("guides/spark.md", "../../CHANGELOG.md", "../CHANGELOG.md"),
    ],
)
def test_links_follow_the_pages(page, link, there):
    assert hooks.in_site(link, page) == there


def test_doctests():
    assert doctest.testmod(hooks).failed == 0
