"""What notebooks show, and what is drawn."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from page_reader import assert_harmless

import takifugu as tk
from takifugu import _display
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.queries.priors import Beliefs, Priors
from when_asked import WhenAsked

HOSTILE = "<script>alert(1)</script>$x_\u202e"
LAWS = {HOSTILE: tk.Finite([0, 1, HOSTILE], [5, 3, 2]), "_b": tk.Finite([0, 1, HOSTILE], [1, 3, 6])}
NUMBERS = {"a": tk.Finite([0, 1, 2], [5, 3, 2]), "b": tk.Finite([0, 1, 2], [1, 3, 6])}
BELLS = {HOSTILE: tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
VECTORS = {
    HOSTILE: tk.VectorMixture.gaussian([0, 1], [[1, 0.5], [0.5, 2]]),
    "b": tk.VectorMixture([0.5, 0.5], [[1, 1], [2, 0]], [[[1, 0], [0, 2]], [[1, 0], [0, 1]]]),
}
POINTS = {"a": tk.Mixture.empirical([0, 1, 2]), "b": tk.Mixture.empirical([1, 2, 3])}


PRIORS = Priors(LAWS, rows={HOSTILE: 10, "_b": 20}, label=HOSTILE)
THINGS = WhenAsked(
    {
        "law": lambda: LAWS[HOSTILE],
        "law of a bell": lambda: BELLS["b"],
        "law of vectors": lambda: VECTORS["b"],
        "long law": lambda: tk.Finite(range(100), np.arange(100)),
        "law on rows": lambda: tk.Finite([(1, "x"), (2, HOSTILE)], [1, 1]),
        "channel": lambda: THINGS["calibration"].channel,
        "channel of rows": lambda: FiniteChannel.identity([(k, HOSTILE) for k in range(3)]),
        "calibration": lambda: tk.calibrate(LAWS, odds=2),
        "calibration of noise": lambda: tk.calibrate(BELLS, alpha=2, epsilon=0.3),
        "calibration of points": lambda: tk.calibrate(POINTS, alpha=2, epsilon=0.3),
        "priors": lambda: PRIORS,
        "priors of bells": lambda: Priors(BELLS),
        "priors of points": lambda: Priors(POINTS),
        "calibration of vectors": lambda: tk.calibrate(VECTORS, alpha=2, epsilon=0.5),
        "priors of vectors": lambda: Priors(VECTORS),
        "certificate of vectors": lambda: tk.certify(THINGS["calibration of vectors"]),
        "beliefs": lambda: Beliefs([PRIORS, Priors(LAWS, label="more")] * 8),
        "certificate": lambda: tk.certify(tk.calibrate(NUMBERS, odds=2)),
        "certificate of noise": lambda: tk.certify(
            tk.calibrate({"a": BELLS["b"], "b": BELLS[HOSTILE]}, alpha=2, epsilon=0.3)
        ),
    }
)


@pytest.mark.parametrize("name", THINGS)
def test_everything_shows_itself_harmlessly(name):
    shown = THINGS[name]._repr_html_()
    reader = assert_harmless(shown)
    assert reader.words
    assert "\u202e" not in shown


def test_a_certificate_of_noise_is_drawn_as_its_calibration_is():
    made = tk.calibrate(BELLS, alpha=2, epsilon=0.3)
    assert str(tk.certify(made).plot()) == str(made.plot())


def test_noise_on_vectors_is_drawn_number_by_number():
    drawn = str(THINGS["calibration of vectors"].plot())
    assert "in number 1, before and after noise" in drawn
    assert "in number 2, before and after noise" in drawn


def test_a_publication_shows_and_draws_itself():
    pupils = tk.datasets.load("student-por")
    made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3, confidence=None)
    shown = made._repr_html_()
    assert_harmless(shown)
    assert "For any adversary whose beliefs are covered" in shown
    assert "What becomes of each value of G3" in str(made.plot())


def test_two_pictures_on_one_page_have_two_names():
    assert_harmless(THINGS["calibration"]._repr_html_() + THINGS["calibration"]._repr_html_())
    noise = THINGS["calibration of noise"]
    assert_harmless(noise._repr_html_() + noise._repr_html_())


@pytest.mark.parametrize("name", THINGS)
def test_everything_can_be_drawn(name, tmp_path):
    picture = THINGS[name].plot()
    reader = assert_harmless(picture._repr_html_() + picture._repr_html_())
    assert "svg" in [tag for tag, _ in reader.tags]
    assert "nan" not in str(picture)
    for made in ("one.svg", "one.html"):
        picture.save(tmp_path / made)
    alone = ElementTree.parse(tmp_path / "one.svg").getroot()
    assert alone.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme: dark" in (tmp_path / "one.html").read_text(encoding="utf-8")
    assert (tmp_path / "one.svg").stat().st_mode & 0o77 == 0  # it describes the priors


def test_a_picture_has_two_forms(tmp_path):
    with pytest.raises(tk.InputError, match=r"saved as \.svg or \.html, got 'one\.png'"):
        THINGS["channel"].plot().save("one.png")


def test_rows_have_a_picture_of_each_column():
    values = [(n, w) for n in (1, 2) for w in ("x", "y")]
    drawn = str(FiniteChannel.identity(values).plot())
    assert drawn.count("What becomes of each value of column") >= 2
    assert drawn.count("<g><title>") == 4


def test_an_audit_is_drawn():
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"s": rng.choice(["a", "b"], 400), "x": rng.integers(0, 4, 400)})
    made = tk.calibrate(tk.fit_priors(truth, secret="s", query=tk.Row("x")), odds=2)
    drawn = str(tk.audit(truth[["x"]], truth, made).plot())
    assert "The loss that each attack shows" in drawn
    assert "Telling a from b" in drawn


def test_a_channel_is_drawn_as_it_is():
    drawn = str(FiniteChannel((1, 2), (1, 2), [[3, 1], [0, 4]]).plot())
    assert re.findall(r"<g><title>([^<]*)<", drawn) == ["1 → 1: 75", "1 → 2: 25", "2 → 2: 100"]


def test_the_nouns_know_no_painter_until_something_is_shown():
    told = "import sys, takifugu; takifugu.Finite([0], [1]); print('takifugu.reports' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout == "False\n"


def test_without_painters_plain_text_remains(monkeypatch):
    monkeypatch.setattr(_display, "_painters", [])
    assert THINGS["law"]._repr_html_() is None
