"""Scales, offsets and budgets at which a careless formula would return too little noise."""

import math

import numpy as np
import pytest

from takifugu import Mixture, calibrate, renyi_divergence
from takifugu.errors import CalibrationError
from takifugu.mechanisms.base import Additive, at_least
from takifugu.mechanisms.closed_form import closed_form, envelope
from takifugu.mechanisms.transport import approximate_distance
from takifugu.problems.problem import Pairs

formulas = pytest.mark.parametrize("formula", [closed_form, envelope])


@formulas
@pytest.mark.parametrize("scale", [2.0**-400, 2.0**-300, 2.0**300, 2.0**400])
def test_formulas_scale_with_the_unit(formula, scale):
    here = formula(1.0, 0.2, 0.7, alpha=2.5, epsilon=0.3)
    there = formula(scale, 0.2 * scale, 0.7 * scale, alpha=2.5, epsilon=0.3)
    assert there == pytest.approx(here * scale * scale, rel=1e-14)


@formulas
def test_points_need_the_whole_distance_at_any_scale(formula):
    for gap in (1e-200, 1e-90, 1.0, 1e80, 1e150):
        assert formula(gap, 0.0, 0.0, alpha=2.0, epsilon=1.0) >= gap * gap


@formulas
def test_what_is_no_number_is_never_no_noise(formula):
    assert formula(1e160, 0.0, 1e160, alpha=2.0, epsilon=1.0) == math.inf
    assert formula(1e-200, 0.0, 0.0, alpha=2.0, epsilon=1.0) > 0
    assert formula(1.0, 0.0, 0.0, alpha=2.0, epsilon=1e-320) >= 1e300
    assert at_least(1.0, math.nan) == math.inf


@formulas
def test_cancelling_terms_keep_the_bound(formula):
    # gap² = 2εδ almost exactly, with εα large: the two parts of `a` cancel to their last bits
    epsilon, alpha, std_p, std_q = 8.0, 64.0, 1.0, 1.25
    gap = math.sqrt(2 * epsilon * (std_q**2 - std_p**2))
    for nudge in (-2, -1, 0, 1, 2):
        z = formula(gap + nudge * math.ulp(gap), std_p, std_q, alpha=alpha, epsilon=epsilon)
        p, q = Mixture.gaussian(gap + nudge * math.ulp(gap), std_p), Mixture.gaussian(0, std_q)
        assert renyi_divergence(p, q, alpha=alpha, theta=math.sqrt(z)) <= epsilon


def test_exact_has_an_answer_at_any_scale():
    for gap in (1e-80, 1e80, 1e150):
        found = calibrate({0: Mixture.gaussian(0, 0), 1: Mixture.gaussian(gap, 0)}, alpha=2, epsilon=1)
        assert found.theta == pytest.approx(gap, rel=1e-11)


def test_far_from_zero_a_slightly_larger_gap_is_not_overlooked():
    # the second belief is one float further apart: a screen that loses digits of the gap dismisses it
    rng = np.random.default_rng(1)
    for _ in range(300):
        base, gap = 1.7e9 + 1e3 * rng.normal(), rng.uniform(0.1, 1)
        beliefs = [
            {"a": Mixture.gaussian(base, 1), "b": Mixture.gaussian(b, 1)}
            for b in (base + gap, math.nextafter(base + gap, math.inf))
        ]
        found = calibrate(beliefs, alpha=2.0, epsilon=0.01)
        assert max(found.losses.values()) <= 0.01


def test_the_approximate_distance_counts_what_happens_between_scores():
    # both quantiles jump by 10 within one cell, 2e-4 apart in probability
    p = Mixture([0.5, 0.5], [0, 10], [1e-9, 1e-9])
    q = Mixture([0.5002, 0.4998], [0, 10], [1e-9, 1e-9])
    assert approximate_distance(p, q, delta=1e-4) >= 9.99


def test_a_rule_that_gives_no_number_is_refused():
    class Broken(Additive):
        name, label, summary = "broken", "Broken", "no number"

        def least_variance(self, p, q, *, alpha, epsilon, floor=0.0):
            return math.nan

    priors = [Mixture.gaussian(0, 1), Mixture.gaussian(1, 1)]
    binding = Broken().least_variance_over(priors, Pairs(["a", "b"]), alpha=2.0, epsilon=1.0)
    assert math.isnan(binding.variance)
    with pytest.raises(CalibrationError, match="no number"):
        calibrate({"a": priors[0], "b": priors[1]}, alpha=2, epsilon=1, mechanism=Broken())
