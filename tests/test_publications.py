"""The judge of the simulation of publications (benchmarks/publications.py), held against sums that are written out."""

import inspect
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.populations import KINDS, Population, population
from benchmarks.publications import as_called, being_there, judged, outcome, page, share_used, table_of

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel

REVERSED = np.array([[[0.27, 0.03], [0.002, 0.098]], [[0.06, 0.54], [0.0, 0.0]]])  # secret, u, x
COLUMNS = {"secret": ("s0", "s1"), "u": ("u0", "u1"), "x": ("a", "b")}


def reversed_cells(law, asked):
    return Population(
        "reversals", "by hand", COLUMNS, law / law.sum(), 400, {"secret": "secret", "columns": ["x"]} | asked
    )


def through(channel, one):
    """What `publish` would return, with this channel."""
    domain = (SimpleNamespace(values=("a", "b")),)
    calibration = SimpleNamespace(channel=channel, answer=SimpleNamespace(domain=domain))
    return SimpleNamespace(calibration=calibration, findings=())


UNCHANGED = FiniteChannel(("a", "b"), ("a", "b"), [[1, 0], [0, 1]])
FLIPPED = FiniteChannel(("a", "b"), ("a", "b"), [[3, 1], [1, 3]])


def test_whatever_is_asked_is_an_argument_of_publish():
    signature = inspect.signature(tk.publish)
    names = set()
    for number in range(200):
        asked = population(number).asked
        names |= set(asked)
        signature.bind(None, **as_called(asked))
    assert {"known", "keep", "leave_out", "repeats", "id"} <= names


@pytest.mark.parametrize(
    ("channel", "known", "worst"),
    [
        (UNCHANGED, [], max(0.272 / 0.4 / 0.1, 0.9 / (0.128 / 0.4))),
        (UNCHANGED, ["u"], 9.0),
        (FLIPPED, ["u"], (0.75 * 0.9 + 0.25 * 0.1) / (0.25 * 0.9 + 0.75 * 0.1)),
    ],
)
def test_the_worst_odds_are_those_written_out(channel, known, worst):
    one = reversed_cells(REVERSED, {"known": known, "odds": 3.0})
    found = judged(one, table_of(one, 0), through(channel, one))
    assert found["used"] == pytest.approx(math.log(worst) / math.log(3), abs=1e-8)
    assert found["beyond"] == (worst > 3)


def test_a_reversed_cell_counts_where_somebody_of_it_is_in_the_table():
    law = REVERSED.copy()
    law[1, 1] = [0.0499, 0.0001]
    one = reversed_cells(law, {"keep": ["u"], "odds": 3.0})
    table = table_of(one, 0)
    assert set(table["u"]) == {"u0", "u1"}
    assert judged(one, table, through(UNCHANGED, one))["cell"] == ["u1"]
    assert judged(one, table[table["u"] == "u0"], through(UNCHANGED, one))["cell"] == ["u0"]


def test_a_finite_order_is_the_renyi_divergence():
    p, q = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    expected = math.log(0.5**3 / 0.25**2 + 0.5**3 / 0.75**2) / 2
    assert share_used(p, q, {"alpha": 3.0, "epsilon": 0.4}) == pytest.approx(expected / 0.4)
    assert share_used(p, np.array([1.0, 0.0]), {"alpha": 3.0, "epsilon": 0.4}) == math.inf


def test_to_be_there_at_all_is_told_apart():
    law = np.array([[[0.2, 0.2, 0.1], [0.0, 0.0, 0.0]], [[0.1, 0.0, 0.4], [0.0, 0.0, 0.0]]])
    one = Population("missing", "by hand", COLUMNS | {"x": ("a", "b", None)}, law, 100, {"columns": ["x"]})
    assert being_there(one, ["x"], ["s0", "s1"]) == pytest.approx(4.0)


def test_every_kind_has_populations_that_are_laws_and_always_the_same():
    for number in range(200):
        one = population(number)
        assert one.law.shape == tuple(map(len, one.columns.values()))
        assert one.law.min() >= 0
        assert one.law.sum() == pytest.approx(1)
        assert np.array_equal(one.law, population(number).law)
    assert {population(number).kind for number in range(10)} == set(KINDS)


def test_a_publication_is_made_judged_and_its_warnings_seen():
    found = outcome(7)
    assert (found["kind"], found["beyond"], found["warned"]) == ("missing, not at random", False, True)
    assert 0 < found["used"] <= 1


def test_the_page_counts_what_was_published_refused_and_beyond():
    used = {"kind": "known", "used": 0.9, "changed": 0.1, "beyond": False, "being there": 1.0, "warned": False}
    told = page([used, used | {"used": 1.1, "beyond": True}, {"kind": "known", "refused": "InputError: too few"}])
    assert "| known | 2 | 1 | 1 | 50.0 % | 1.10 | 10 % |" in told
    assert "InputError: too few" in told
