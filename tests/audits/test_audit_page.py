"""The page: one file, nothing from elsewhere, nothing unescaped."""

import re
from html.parser import HTMLParser

import numpy as np
from broken_releases import audited, half_the_noise, honest, labelled

import takifugu as tk
from takifugu.reports.html import render_audit as render


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "rect", "line", "polyline", "polygon", "circle", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("rect", "line", "polyline", "polygon", "circle") and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)


def test_the_page_is_whole_and_loads_nothing(tmp_path):
    found = audited(half_the_noise, 6_000, 1)
    found.report(tmp_path / "audit.html")
    text = (tmp_path / "audit.html").read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert not parser.open
    assert not parser.wrong
    assert not re.search(r"https?://|<script|src=", text)
    assert "Contradicted" in text
    assert text.count("<svg") >= 4
    assert "nan" not in text.lower().replace("finance", "")


def test_a_notebook_sees_the_same():
    found = audited(honest, 400, 1)
    assert "Not contradicted" in found._repr_html_()
    assert found._repr_html_() in render(found)


def test_what_comes_from_data_is_escaped():
    rng = np.random.default_rng(2)
    truth = labelled(rng, 300).replace({"s": {"a": "<b>a</b>", "b": "&amp;"}})
    calibration = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=3)
    published = tk.release(truth, calibration, order="keep").assign(**{"<i>": 1.0})
    page = render(tk.audit(published, truth, calibration))
    assert "<b>a</b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;a" in page
