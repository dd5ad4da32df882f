"""Facts against the calibrations they are about."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid

import takifugu as tk
from takifugu.problems.diagnostics import Diagnostic
from takifugu.queries.priors import Priors
from takifugu.reports import words
from takifugu.reports.facts import budgets, facts_for, facts_of

GAUSSIAN = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 2)}
MIXED = {"a": tk.Mixture([0.4, 0.6], [0, 3], [0.5, 1]), "b": tk.Mixture([0.5, 0.5], [1, 5], [0.4, 1.1])}
POINTS = {"a": tk.Mixture.empirical([0, 1, 2]), "b": tk.Mixture.empirical([1, 2, 3])}


@pytest.mark.parametrize("priors", [GAUSSIAN, MIXED, POINTS], ids=["gaussian", "mixture", "points"])
def test_facts_agree_with_calibrate(priors):
    facts = facts_for(priors, asked={"alpha": 2.5, "epsilon": 0.7}, question="?")
    result = tk.calibrate(priors, alpha=2.5, epsilon=0.7)
    assert facts.calibration == result
    assert facts.loss == result.losses[result.worst_pair]
    for one in facts.comparisons:
        assert one.theta == tk.sweep(priors, alpha=2.5, epsilon=0.7, mechanism=one.mechanism).theta[0]
    paper = "closed-form" if priors is GAUSSIAN else "gmm-transport"
    assert [c.mechanism for c in facts.comparisons] == [
        "exact",
        paper,
        "wasserstein",
        "wasserstein-approx",
        "wasserstein-aware",
    ]


@pytest.mark.parametrize("priors", [GAUSSIAN, MIXED, POINTS], ids=["gaussian", "mixture", "points"])
def test_every_curve_is_that_of_its_mechanism(priors):
    facts = facts_for(priors, asked={"alpha": 2.5, "epsilon": 0.7}, question="?")
    assert facts.noise_curves[0].mechanism == "exact"
    for curve in facts.noise_curves:
        assert (np.diff(curve.epsilon) >= 0).all()
        assert (np.diff(curve.theta) <= 1e-9).all()
        for k in range(1, len(curve.epsilon) - 1, 4):
            epsilon = float(curve.epsilon[k])
            wanted = tk.calibrate(priors, alpha=2.5, epsilon=epsilon, mechanism=curve.mechanism).theta
            assert float(curve.theta[k]) == pytest.approx(wanted, rel=1e-3, abs=1e-4), (curve.mechanism, epsilon)


def test_curves_are_drawn_when_they_are_looked_at():
    facts = facts_for(POINTS, asked={"alpha": 2.5, "epsilon": 0.7}, question="?")
    assert "noise_curves" not in vars(facts)
    assert facts.noise_curves is facts.noise_curves


def test_the_curve_bends_where_the_loss_falls_off_a_cliff():
    rare = {"a": tk.Mixture([0.999, 0.001], [0, 0], [1, 4]), "b": tk.Mixture.gaussian(0, 1)}
    exact = facts_for(rare, asked={"alpha": 3, "epsilon": 0.5}, question="?", compare=False).noise_curves[0]
    assert (np.diff(np.log(exact.epsilon[:-1])) < 2).all()
    assert exact.epsilon[-1] == budgets(0.5)[1]


def test_of_many_pairs_the_others_are_asked_about_the_closest_alone():
    rng = np.random.default_rng(5)
    priors = {
        name: tk.Mixture(rng.dirichlet([3.0, 3.0]), rng.normal(0, 1, 2), rng.uniform(0.5, 1, 2)) for name in "abcd"
    }
    facts = facts_for(priors, asked={"alpha": 2.5, "epsilon": 0.7}, question="?")
    pair = {name: priors[name] for name in facts.worst_pair}
    exact, *others = facts.comparisons
    assert not exact.is_least
    assert {one.mechanism for one in others if not one.is_least} == {"wasserstein"}  # which has no answer for bells
    for one in others:
        if one.is_least:
            alone, every = (
                tk.calibrate(part, alpha=2.5, epsilon=0.7, mechanism=one.mechanism).theta for part in (pair, priors)
            )
            assert one.theta == alone <= every * (1 + 1e-12)
            assert one.told().startswith("≥ ")
    assert "at least" in words.saving(facts)
    assert [curve.mechanism for curve in facts.noise_curves] == ["exact"]


def test_no_noise_needed_is_no_trouble():
    same = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(0.01, 1)}
    facts = facts_for(same, asked={"alpha": 2, "epsilon": 1}, question="?")
    assert facts.theta == 0
    assert {one.error for one in facts.analyst} == {0.0}
    assert facts.noise_curves[0].theta[-1] == 0


def test_no_noise_is_needed_for_points_among_bells():
    mixed = {"a": tk.Mixture([0.5, 0.5], [0, 1], [0, 1]), "b": tk.Mixture([0.4, 0.6], [0, 1], [0, 1])}
    facts = facts_for(mixed, asked={"alpha": 2, "epsilon": 2}, question="?", compare=False)
    assert facts.theta == 0
    assert all(np.isfinite(curve.y).all() for curve in facts.after)


def test_a_weaker_promise_claims_no_bound():
    facts = facts_for(GAUSSIAN, asked={"alpha": 2, "epsilon": 1, "mechanism": "wasserstein-approx"}, question="?")
    assert facts.adversary.guess_bound == 1.0
    assert {one.bound for one in facts.adversary.odds} == {math.inf}
    assert "bounds nothing by itself" in words.odds(facts)


def test_several_beliefs_and_many_secrets():
    near, far = ({k: tk.Mixture.gaussian(gap * k, 1) for k in range(9)} for gap in (0.1, 0.4))
    facts = facts_for([near, far], asked={"alpha": 2, "epsilon": 0.5}, question="?")
    assert facts.calibration.theta == tk.calibrate([near, far], alpha=2, epsilon=0.5).theta
    assert len(facts.secrets) == 9
    assert len(facts.densities) == 6
    assert facts.secrets[8].mean == pytest.approx(3.2)  # the belief that binds is the second
    assert facts.worst_pair == tuple(curve.label for curve in facts.before)


def test_priors_bring_their_findings_rows_and_counts():
    heart = tk.datasets.load("heart")
    priors = tk.fit_priors(heart, secret="slope", query=tk.Raw("oldpeak", prior="gaussian"), secrets=[1, 3])
    facts = facts_for(priors, asked={"alpha": 3, "epsilon": 1}, question="?")
    assert Diagnostic("few-rows", secret=3, rows=21) in facts.findings
    assert {(s.name, s.rows) for s in facts.secrets} == {("1", 142), ("3", 21)}
    assert {h.label for h in facts.histograms} == {"1", "3"}
    for histogram in facts.histograms:
        values = heart.loc[heart["slope"] == int(histogram.label), "oldpeak"]
        expected = values.value_counts(normalize=True).sort_index()
        assert histogram.values.tolist() == expected.index.tolist()
        assert histogram.shares == pytest.approx(expected.to_numpy())
    assert json.dumps(facts.to_dict(), allow_nan=False)


def test_densities_are_densities():
    facts = facts_for(Priors(MIXED), asked={"alpha": 2, "epsilon": 0.3}, question="?", compare=False)
    for curve in (*facts.densities, *facts.before, *facts.after):
        assert trapezoid(curve.y, curve.x) == pytest.approx(1, abs=5e-3)
    masses = facts_for(POINTS, asked={"alpha": 2, "epsilon": 0.3}, question="?", compare=False).before
    assert all(curve.is_mass and curve.y.sum() == pytest.approx(1) for curve in masses)


def test_points_among_bells_can_be_drawn():
    mixed = {"a": tk.Mixture([0.5, 0.5], [0, 1], [0, 1]), "b": tk.Mixture([0.4, 0.6], [0, 1], [0, 1])}
    facts = facts_for(mixed, asked={"alpha": 2, "epsilon": 0.01}, question="?", compare=False)
    assert all(np.isfinite(curve.y).all() for curve in facts.before)


def test_a_certificate_leaves_its_digest():
    result = tk.calibrate(GAUSSIAN, alpha=2, epsilon=1)
    digest = tk.certify(result).sha256
    assert facts_of(result, question="?", certificate_sha256=digest).to_dict()["certificate_sha256"] == digest


def test_a_curve_ends_where_less_noise_changes_nothing(monkeypatch):
    from takifugu.mechanisms.least_noise import DrawnLosses

    looks = []
    look = DrawnLosses.__call__
    monkeypatch.setattr(DrawnLosses, "__call__", lambda self, theta: looks.append(theta) or look(self, theta))
    points = {"a": tk.Mixture.empirical(range(9), [9, 8, 7, 6, 5, 4, 3, 2, 1]), "b": tk.Mixture.empirical(range(9))}
    curve = facts_for(points, asked={"alpha": 3, "epsilon": 0.1}, question="?", compare=False).noise_curves[0]
    assert curve.theta[-1] == 0
    assert min(theta for theta in looks if theta > 0) > 0.01  # finer grids would show the same loss again
    assert all(
        tk.calibrate(points, alpha=3, epsilon=float(e)).theta == pytest.approx(t, rel=1e-3)
        for e, t in zip(curve.epsilon[:-1:5], curve.theta[:-1:5], strict=True)
    )


def test_of_a_mean_one_number_is_published_however_many_groups_there_are():
    table = pd.DataFrame({"s": ["a", "b", "c"] * 20, "x": [k % 3 * 9 + k % 7 for k in range(60)]})
    priors = tk.fit_priors(table, secret="s", query=tk.Mean("x"))
    assert words.order(facts_of(tk.calibrate(priors, alpha=3, epsilon=1))) is None
    told = words.order(facts_of(tk.calibrate(priors, alpha=2, epsilon=1)))
    assert told.startswith("For one published answer start from α = 3: at α = 2 ")
