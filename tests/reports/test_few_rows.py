"""Secrets of few rows: their law and its commonest value are shown nowhere, for they would be records."""

import json

import pytest
from page_reader import assert_harmless

import takifugu as tk
from takifugu.queries.priors import Priors
from takifugu.reports.common import FEWEST_ROWS, TOO_FEW
from takifugu.reports.facts import facts_of
from takifugu.reports.html import render
from takifugu.web import answers as pictures
from when_asked import WhenAsked

FEW, MANY = "rare", "common"
LABELS = {FEW: tk.Finite(["4711", "x"], [1, 3]), MANY: tk.Finite(["4711", "x"], [40, 20])}
NUMBERS = {FEW: tk.Finite([4711, 1], [1, 3]), MANY: tk.Finite([4711, 1], [40, 20])}
BELLS = {FEW: tk.Mixture.gaussian(4711, 2), MANY: tk.Mixture.gaussian(4720, 3)}
VECTORS = {
    FEW: tk.VectorMixture.gaussian([4711, 1], [[1, 0.5], [0.5, 2]]),
    MANY: tk.VectorMixture.gaussian([4720, 1], [[1, 0.5], [0.5, 2]]),
}
KINDS = {
    "labels": (LABELS, {"odds": 2}),
    "numbers": (NUMBERS, {"odds": 2}),
    "noise": (BELLS, {"alpha": 2, "epsilon": 0.3}),
    "vectors": (VECTORS, {"alpha": 2, "epsilon": 0.3}),
}


def _facts(kind, rows):
    laws, asked = KINDS[kind]
    return facts_of(tk.calibrate(Priors(laws, rows=rows), **asked))


FACTS = WhenAsked(
    {(kind, rows): lambda kind=kind, rows=rows: _facts(kind, dict.fromkeys(KINDS[kind][0], 60) | {FEW: rows})
     for kind in KINDS for rows in (FEWEST_ROWS - 1, FEWEST_ROWS)}
)  # fmt: skip


def _told_of_few(page):
    """What the table of the priors says beside the name of the secret."""
    priors = page.split('id="priors-title"')[1].split("</section>")[0].split("<table")[1]
    return priors.split(f">{FEW}<", 1)[1].split("</tr>")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_shows_no_law_of_few_rows(kind):
    page = render(FACTS[kind, FEWEST_ROWS - 1])
    words = assert_harmless(page).words
    own = _told_of_few(page)
    assert TOO_FEW in own
    assert "4711" not in own
    assert "4,711" not in own
    assert "are drawn: rare has too few rows to show." in words
    for picture in ("tk-pair", "tk-before-after", "tk-axis"):
        assert picture not in page


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_shows_the_law_of_ten_rows_as_before(kind):
    page = render(FACTS[kind, FEWEST_ROWS])
    assert TOO_FEW not in assert_harmless(page).words
    assert any(picture in page for picture in ("tk-pair", "tk-before-after", "tk-axis"))


@pytest.mark.parametrize("kind", KINDS)
def test_priors_made_by_hand_are_shown_as_before(kind):
    assert TOO_FEW not in render(_facts(kind, None))


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_draws_no_law_of_few_rows(kind):
    few, many = (pictures.drawn(FACTS[kind, rows], narrow=False) for rows in (FEWEST_ROWS - 1, FEWEST_ROWS))
    assert few[0]["id"] == many[0]["id"]
    assert f"rare: {TOO_FEW}" in few[0]["svg"]
    for part in ("<rect", "<path", "<polyline"):
        assert part not in few[0]["svg"]
    assert not any(TOO_FEW in one["svg"] for one in many)
    believed = [one["svg"] for one in few if one["id"] == "density"]
    for svg in believed:  # the other secret's curve stays
        assert f"rare: {TOO_FEW}" in svg
        assert "rare: mean" not in svg
        assert "common: mean" in svg


@pytest.mark.parametrize("kind", KINDS)
def test_plain_values_hold_no_law_of_few_rows(kind):
    told = json.dumps(FACTS[kind, FEWEST_ROWS - 1].to_dict())
    assert "4711" not in told
    if kind in ("noise", "vectors"):
        assert "4711" in json.dumps(FACTS[kind, FEWEST_ROWS].to_dict())


def test_a_picture_of_nothing_but_few_rows_says_so():
    facts = _facts("noise", {FEW: 4, MANY: 9})
    for one in pictures.drawn(facts, narrow=True):
        if one["id"] != "noise":
            assert f"rare: {TOO_FEW}" in one["svg"]
            assert f"common: {TOO_FEW}" in one["svg"]
    assert "2 more secrets are not drawn." in assert_harmless(render(facts)).words


@pytest.mark.parametrize("kind", KINDS)
def test_notebooks_and_plots_show_no_law_of_few_rows(kind):
    priors = Priors(KINDS[kind][0], rows={FEW: 4, MANY: 60})
    shown = priors._repr_html_()
    assert TOO_FEW in shown
    assert "4711" not in shown.split(FEW, 1)[1].split("</tr>")[0]
    drawn = str(priors.plot())
    assert f"{FEW}: {TOO_FEW}" in drawn
    assert f"{MANY}</text>" in drawn
    assert "4711" not in drawn.split("</desc>", maxsplit=1)[0].split(f"{MANY}:", maxsplit=1)[0]
    if kind in ("noise", "vectors"):
        made = FACTS[kind, FEWEST_ROWS - 1].calibration
        empty = str(made.plot())
        assert f"{FEW}: {TOO_FEW}" in empty
        assert "<polyline" not in empty
        assert TOO_FEW in made._repr_html_()
