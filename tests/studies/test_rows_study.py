"""The study of rows: joint losses of separate columns against plain sums, and a small page from end to end."""

import itertools

import numpy as np
import pandas as pd
import pytest
from studies.regressions import Regression
from studies.rows import Setting, page, together

from takifugu.laws.finite import Finite


def test_columns_published_apart_are_judged_together():
    rng = np.random.default_rng(0)
    rows = list(itertools.product((1, 2), "ab"))
    law = Finite(rows, rng.random(4))
    channels = [
        {1: np.array([0.7, 0.3]), 2: np.array([0.2, 0.8])},
        {"a": np.array([0.9, 0.1]), "b": np.array([0.4, 0.6])},
    ]
    truth = {
        (i, j): sum(law.probability((x, y)) * channels[0][x][i] * channels[1][y][j] for x, y in rows)
        for i in range(2)
        for j in range(2)
    }
    found = together(law, channels)
    assert found == pytest.approx([truth[place] for place in sorted(truth)])


def test_slopes_are_those_of_least_squares():
    table = pd.DataFrame({"x": [0.0, 1, 2, 3], "z": [1.0, 0, 1, 0], "y": [1.0, 3, 5, 7], "l": ["a", "b", "b", "b"]})
    assert Regression("y", ("x", "z")).slopes(table) == pytest.approx([2.0, 0.0], abs=1e-9)
    assert Regression("l", ("x",), "b").slopes(table) == pytest.approx([0.3])


def test_a_small_page():
    marks = {"G2": [4, 8, 12, 16], "G3": [4, 8, 12, 16]}
    regression = Regression("G3", ("G2",))
    setting = Setting("student-mat", "schoolsup", ("no", "yes"), ("G2", "G3"), marks, regression)
    told = page([setting], say=lambda what: None)
    for way in ("separate columns", "Gaussian shaped", "best joint channel", "sparse channel, 95 % confidence"):
        assert way in told
    assert "G3 has slopes of true rows" in told
