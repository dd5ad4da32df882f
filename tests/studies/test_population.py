"""The simulation: a few samples of each truth, and that its judge is independent of its methods."""

import math

import numpy as np
import pytest
from studies.outcomes import Outcome, draw_shares, shares
from studies.population import ALPHA, run, sampled, sampled_cells, truths

from takifugu.divergences.certified import enclose
from takifugu.laws.mixture import Mixture


def test_truths_are_laws():
    for truth in truths():
        for law in truth.laws.values():
            assert len(law) == len(truth.lattice)
            assert math.fsum(law) == pytest.approx(1)
            assert law.min() >= 0


def test_the_judge_against_balls():
    truth = truths()[0]
    p, q = (Mixture.empirical(truth.lattice.points, truth.laws[s]) for s in "ab")
    both = [enclose(*pair, alpha=ALPHA, theta=3.0, rtol=1e-9) for pair in ((p, q), (q, p))]
    assert max(e.lower for e in both) * (1 - 1e-9) <= truth.loss(3.0) <= max(e.upper for e in both) * (1 + 1e-9)


@pytest.mark.parametrize("which", range(4))
def test_confidence_and_band_keep_the_truth_within_the_budget(which):
    outcome = sampled(truths()[which], 0.5, seed=which)
    assert not outcome.above["confidence"]
    assert not outcome.above["band"]
    assert outcome.cost["plug-in"] <= outcome.cost["confidence"] <= outcome.cost["band"]


def test_cells_are_kept_too():
    outcome = sampled_cells(8, 1.0, seed=1)
    assert not outcome.above["confidence"]
    assert outcome.cost["no cells, confidence"] <= outcome.cost["confidence"]


def test_shares_are_counted():
    outcomes = [Outcome("x", 1.0, {"m": t}, {"m": t > 2}) for t in (1.0, 2.0, 3.0)]
    assert shares(outcomes)["x", "m"] == shares(outcomes)["all", "m"] == (1, 3, 2.0)


def test_a_run_tells_its_shares():
    lines = []
    run(1, cells=8, say=lines.append)
    assert len(lines) == 7
    assert "share" in lines[0]
    assert np.isfinite(float(lines[1].split()[-1]))


def test_a_picture_shows_every_budget(tmp_path):
    outcomes = [
        Outcome("x", budget, {"plug-in": 1 / budget, "band": 2 / budget}, {"plug-in": budget < 1, "band": False})
        for budget in (0.5, 1.0, 2.0)
    ]
    for name in ("shares.svg", "shares.png"):
        draw_shares(outcomes, tmp_path / name, cost="noise θ", budget="budget ε")
    drawn = (tmp_path / "shares.svg").read_text()
    for words in ("median noise", "beyond the guarantee", "budget", "plug-in", "band"):
        assert words in drawn
    assert (tmp_path / "shares.png").stat().st_size < 200_000
