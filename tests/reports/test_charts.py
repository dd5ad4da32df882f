"""Charts are well-formed, accessible and within their frame, whatever the data are called."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import takifugu as tk
from takifugu.reports import charts
from takifugu.reports.facts import facts_for
from takifugu.reports.svg import DASHES, Scale, squares
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
    "skewed": {"a": tk.Mixture([0.5, 0.3, 0.2], [100, 500, 9000], [20, 100, 900]), "b": tk.Mixture.gaussian(400, 90)},
    "hostile": {HOSTILE: tk.Mixture.gaussian(0, 1), "x" * 500: tk.Mixture.gaussian(1, 1)},
}


@pytest.fixture(scope="module", params=PRIORS)
def facts(request):
    return facts_for(PRIORS[request.param], asked={"alpha": 2, "epsilon": 1}, question="?")


@pytest.mark.parametrize("wide", [340, 480])
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_an_accessible_picture_within_its_frame(facts, chart, wide):
    text = str(chart(facts, width=wide))
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
    assert width == wide
    spans = [_span(label) for label in root.iter("text")]
    assert all(left >= -1 and right <= width + 1 for _, left, right in spans)
    for one, (y, left, right) in enumerate(spans):
        for other, low, high in spans[one + 1 :]:
            assert y != other or right <= low + 1 or high <= left + 1  # no two run into one another


def _span(label):
    """The line that a label stands on, and from where to where it reaches, a letter taken for 6.4 units."""
    wide = 6.4 * len(label.text or "") * float(label.get("font-size")) / 13
    start = float(label.get("x")) - {"start": 0.0, "middle": wide / 2, "end": wide}[label.get("text-anchor")]
    return label.get("y"), start, start + wide


def test_skewed_values_stand_on_a_bent_scale_and_noise_below_zero_on_a_straight_one():
    places, widths = [100, 500, 9000], [20, 100, 900]
    skewed = {"a": tk.Mixture([0.5, 0.3, 0.2], places, widths), "b": tk.Mixture([0.3, 0.5, 0.2], places, widths)}
    for epsilon, word in ((5.0, True), (0.001, False)):
        facts = facts_for(skewed, asked={"alpha": 2, "epsilon": epsilon}, question="?", compare=False)
        assert ("(logarithmic)" in str(charts.before_after_chart(facts))) is word
    even = facts_for(PRIORS["gaussian"], asked={"alpha": 2, "epsilon": 1}, question="?", compare=False)
    assert "(logarithmic)" not in str(charts.density_chart(even))


@pytest.mark.parametrize(("low", "high", "bend"), [(-5.0, 1e6, 30.0), (0.0, 3000.0, 120.0), (-1e5, 1e5, 0.01)])
def test_a_bent_scale_keeps_order_areas_and_round_ticks(low, high, bend):
    scale = Scale(low, high, 10, 400, bend=bend)
    ticks = scale.ticks()
    assert ticks == sorted(ticks)
    assert 0 in ticks
    assert all(low <= tick <= high for tick in ticks)
    points = scale.even(2001)
    assert np.allclose(np.diff(scale(points)), 390 / 2000)
    # The share of a bell that is drawn is the share that is there: height times width adds up to one.
    law = tk.Mixture.gaussian(low + 0.4 * (high - low), 0.1 * (high - low))
    heights = np.asarray(law.pdf(points)) * scale.stretch(points)
    unit = (math.asinh(high / bend) - math.asinh(low / bend)) / 390
    assert float(np.trapezoid(heights, scale(points)) * unit) == pytest.approx(1.0, abs=2e-3)


def test_series_differ_in_more_than_colour():
    assert len(set(DASHES)) == len(DASHES)
    text = str(charts.noise_chart(facts_for(PRIORS["points"], asked={"alpha": 2, "epsilon": 1}, question="?")))
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


def test_names_in_capitals_have_the_room_they_take():
    """They are a fifth wider than small letters; DejaVu Sans, where a page has no other, gives each 8.2."""
    drawn = {
        name: "".join(squares(np.eye(2), (["a", name], ["a", name]), texts=lambda i, j: "1")[0])
        for name in ("onkologie", "ONKOLOGIE")
    }
    ends = {name: float(re.search(rf'x="([\d.]+)"[^>]*>{name}<', svg)[1]) for name, svg in drawn.items()}
    assert ends["ONKOLOGIE"] > 9 * 8.2
    assert ends["onkologie"] < ends["ONKOLOGIE"]
