"""The report: escaped, self-contained, readable by everyone."""

import datetime
import re

import pytest
from page_reader import read

import takifugu as tk
from takifugu.problems.diagnostics import Diagnostic
from takifugu.queries.priors import Priors
from takifugu.reports.facts import facts_for
from takifugu.reports.html import render
from takifugu.reports.svg import palette

HOSTILE = "<script>alert(1)</script>\"'&${style}"


@pytest.fixture(scope="module")
def page():
    priors = Priors(
        {HOSTILE: tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 2)},
        findings=[Diagnostic("few-rows", secret=HOSTILE, rows=21)],
        rows={HOSTILE: 21, "b": 100},
    )
    facts = facts_for(
        priors,
        asked={"alpha": 2, "epsilon": 1},
        question=f"How much noise hides {HOSTILE}?",
        certificate_sha256="0f" * 32,
    )
    return render(facts, dated=datetime.date(2026, 3, 9))


def test_whatever_comes_from_data_is_text(page):
    reader = read(page)
    assert not [tag for tag, _ in reader.tags if tag in ("script", "iframe", "object", "link", "img", "form")]
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    assert "${style}" in "".join(reader.text)
    assert "<script" not in page


def test_nothing_is_loaded_from_elsewhere(page):
    assert "://" not in page
    assert not re.search(r"url\(|@import|srcset|\bsrc=", page)
    targets = [attributes["href"] for _, attributes in read(page).tags if "href" in attributes]
    assert targets == ["#answer"]
    assert "default-src 'none'" in page


def test_it_says_what_there_is_to_say(page):
    text = " ".join("".join(read(page).text).split())
    for said in ("Auditor’s copy: do not publish", "0f" * 32, "9 March 2026", "has 21 rows", "ε = 1", "θ = "):
        assert said in text, said


def test_structure_serves_those_who_listen(page):
    reader = read(page)
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("main") == tags.count("header") == tags.count("footer") == tags.count("h1") == 1
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for tag, attributes in reader.tags:
        for name in attributes.get("aria-labelledby", "").split():
            assert name in identifiers
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
        if tag == "svg":
            assert attributes.get("role") == "img" or attributes.get("aria-hidden") == "true"
        if attributes.get("class") == "scroll":
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]
    assert ("html", {"lang": "en"}) in reader.tags


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_enough_in_light_and_in_dark():
    style = palette()
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    for theme in (light, dark):
        value = dict(re.findall(r"--tk-([a-z0-9-]+): (#[0-9a-f]{6})", theme))
        for ink, ground in (
            ("ink", "paper"),
            ("muted", "paper"),
            ("muted", "wash"),
            ("ink", "wash"),
            ("accent", "paper"),
        ):
            assert contrast(value[ink], value[ground]) >= 4.5, (ink, ground)
        assert contrast(value["warn-ink"], value["warn"]) >= 4.5
        for k in range(1, 7):
            assert contrast(value[f"c{k}"], value["paper"]) >= 3, k  # lines: AA for graphics


@pytest.mark.parametrize("mechanism", ["exact", "wasserstein-approx"])
def test_every_outcome_has_a_page(mechanism):
    priors = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(0.01, 1.5), "c": tk.Mixture.gaussian(0, 1)}
    read(render(facts_for(priors, asked={"alpha": 2, "epsilon": 0.8, "mechanism": mechanism}, question="?")))


def test_no_noise_and_many_secrets_have_pages():
    read(
        render(facts_for({k: tk.Mixture.gaussian(0, 1) for k in "ab"}, asked={"alpha": 2, "epsilon": 1}, question="?"))
    )
    many = {f"secret {k}": tk.Mixture.gaussian(k / 10, 1) for k in range(60)}
    text = "".join(read(render(facts_for(many, asked={"alpha": 2, "epsilon": 1}, question="?"))).text)
    assert "the first 40 of 60" in text
    assert "54 more secrets are not drawn" in text
