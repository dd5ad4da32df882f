"""Charts are well-formed, accessible and within their frame, whatever the data are called."""

import re
from xml.etree import ElementTree

import pytest

import takifugu as tk
from takifugu.reports import charts
from takifugu.reports.facts import facts_for
from takifugu.reports.svg import DASHES, Scale
from takifugu.reports.text import clean

HOSTILE = "</title><script>alert(1)</script>\"'&\x00\u202e"
CHARTS = (charts.density_chart, charts.before_after_chart, charts.noise_chart)
PRIORS = {
    "gaussian": {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 2)},
    "points": {"a": tk.Mixture.empirical([0, 1, 2]), "b": tk.Mixture.empirical([1, 2, 3])},
    "spike": {"a": tk.Mixture([0.5, 0.5], [0, 3], [1e-4, 1]), "b": tk.Mixture.gaussian(1, 2)},
    "point": {"a": tk.Mixture.gaussian(2, 0), "b": tk.Mixture.gaussian(3, 0)},
    "huge": {"a": tk.Mixture.gaussian(1e12, 1e9), "b": tk.Mixture.gaussian(1.001e12, 1e9)},
    "tiny": {"a": tk.Mixture.gaussian(1e-9, 1e-10), "b": tk.Mixture.gaussian(2e-9, 1e-10)},
    "alike": {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(0, 1)},
    "hostile": {HOSTILE: tk.Mixture.gaussian(0, 1), "x" * 500: tk.Mixture.gaussian(1, 1)},
}


@pytest.fixture(scope="module", params=PRIORS)
def facts(request):
    return facts_for(PRIORS[request.param], alpha=2, epsilon=1, question="?")


@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_an_accessible_picture_within_its_frame(facts, chart):
    text = chart(facts)
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    named = {element.get("id"): element.text for element in root if element.tag in ("title", "desc")}
    assert list(named) == root.get("aria-labelledby").split()
    assert all(named.values())
    assert "nan" not in text.lower()
    assert "inf" not in re.sub("infer|inf[a-z]", "", text.lower())
    assert "<script" not in text
    _, _, width, height = map(float, root.get("viewBox").split())
    for line in root.iter("polyline"):
        for x, y in (map(float, point.split(",")) for point in line.get("points").split()):
            assert -1 <= x <= width + 1
            assert -1 <= y <= height + 1


def test_series_differ_in_more_than_colour():
    assert len(set(DASHES)) == len(DASHES)
    text = charts.noise_chart(facts_for(PRIORS["points"], alpha=2, epsilon=1, question="?"))
    dashes = re.findall(r'<polyline[^>]*stroke-dasharray="([^"]*)"', text)
    assert len(dashes) == len(set(dashes)) > 2


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3e-9, 4e-9), (1e12, 1.5e12), (0, 0.3), (-17, 2345)])
def test_ticks_are_few_round_and_inside(low, high):
    ticks = Scale(low, high, 0, 100).ticks()
    assert 2 <= len(ticks) <= 8
    assert all(low - 1e-12 <= tick <= high + 1e-12 for tick in ticks)
    assert all(len(f"{tick:.6g}") <= 12 for tick in ticks)


def test_text_is_tamed():
    assert clean("\x1b[31mred\ud800") == "�[31mred�"
