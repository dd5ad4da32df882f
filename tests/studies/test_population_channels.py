"""The simulation for channels: a few samples, and its judge in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from studies.population_channels import COSTED, ODDS, _is_beyond, _known, costs, run, sampled, sampled_cells

import takifugu as tk


def test_truths_are_laws_on_few_values():
    for _, laws, rows in _known():
        assert set(laws) == set(rows)
        for law in laws.values():
            assert 2 <= len(law) <= 12
            assert law.sum() == pytest.approx(1)


def test_the_judge_against_fractions():
    channel = tk.calibrate({"a": tk.Finite([0, 1], [30, 70]), "b": tk.Finite([0, 1], [70, 30])}, odds=1.5).channel
    laws = [[Fraction(1, 4), Fraction(3, 4)], [Fraction(3, 5), Fraction(2, 5)]]
    published = [
        [sum(law[x] * Fraction(int(channel.counts[x, y]), channel.denominator) for x in (0, 1)) for y in (0, 1)]
        for law in laws
    ]
    worst = float(max(p / q for p, q in zip(*published, strict=True)))
    p, q = (np.array(law, dtype=float) for law in laws)
    assert _is_beyond(channel, {"odds": worst * (1 - 1e-6)}, p, q)
    assert not _is_beyond(channel, {"odds": worst * (1 + 1e-6)}, p, q)


@pytest.mark.parametrize("which", [1, 5])
def test_confidence_and_band_keep_the_truth_within_the_promise(which):
    outcome = sampled(which, {"odds": ODDS[1]}, seed=which)
    assert outcome.above == {"plug-in": True, "confidence": False, "band": False}
    assert outcome.cost["plug-in"] <= outcome.cost["confidence"]
    assert outcome.cost["plug-in"] <= outcome.cost["band"]


def test_cells_are_kept_too():
    outcome = sampled_cells(8, {"odds": ODDS[1]}, seed=1)
    assert not outcome.above["confidence"]
    assert outcome.cost["no cells, confidence"] <= outcome.cost["confidence"]


def test_a_run_tells_its_shares():
    lines = []
    run(1, cells=8, say=lines.append)
    run(1, first=7, alpha=3.0, say=lines.append)
    assert len(lines) == 14
    assert "beyond" in lines[0]


def test_each_promise_costs_more_than_the_one_before():
    lines = []
    costs(lines.append, names=("student-mat",), guarantees=COSTED[-1:])
    assert len(lines) == 2
    plain, confident, proved = map(float, lines[-1].split()[-3:])
    assert plain < confident
    assert plain < proved
