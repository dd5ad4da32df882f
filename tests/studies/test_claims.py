"""The questions behind the claims, on made-up numbers."""

import math

import pytest

from takifugu import Mixture
from takifugu.paper import claims as checks
from takifugu.paper.headline import reduction
from takifugu.paper.settings import FIGURES, HEADLINE, Plan, Setting
from takifugu.paper.study import Point


def line(*thetas, alpha=3.0, series="exact", query="raw"):
    return [
        Point("adult", query, "mixture", alpha, 1.0 + i, series, "exact", None, "rpp", theta, "a against b", True)
        for i, theta in enumerate(thetas)
    ]


def verdict(check):
    return check.checked, len(check.failures)


@pytest.mark.parametrize(("thetas", "found"), [((3, 2, 2, 0), (3, 0)), ((3, 2, 2.5), (2, 1)), ((), (0, 0))])
def test_falling_with_the_budget(thetas, found):
    assert verdict(checks.falls_with_budget(line(*thetas))) == found


def test_below_means_less_unless_no_noise_is_needed():
    check = checks.below(line(1, 2, 0, 3), line(2, 2, 0, math.inf))
    assert verdict(check) == (4, 1)
    assert "ε = 2" in check.failures[0]
    assert verdict(checks.below(line(1, 2), [])) == (0, 0)


def test_orders_rise():
    lines = [line(1, 1, alpha=2), line(2, 0.5, alpha=3), line(2, 0.5, alpha=5)]
    assert verdict(checks.rises_with_order(lines)) == (4, 1)


def test_the_proposition_is_asked_only_where_it_speaks():
    p, q = Mixture.gaussian(0, 1), Mixture.gaussian(0, 3)  # a = −16 ε: the slope is negative for all α <= 2
    falling = [line(2, 2, alpha=1.5), line(1, 1, alpha=2.0)]
    assert verdict(checks.follows_proposition(falling, p, q, rising=False)) == (2, 0)
    assert verdict(checks.follows_proposition(falling[::-1], p, q, rising=True)) == (0, 0)
    wrong = [line(1, 1, alpha=1.5), line(2, 1, alpha=2.0)]
    assert verdict(checks.follows_proposition(wrong, p, q, rising=False)) == (2, 1)


def test_required_noise_is_held_against_the_formula():
    formula = [line(2, 2, alpha=1.5), line(1, 3, alpha=2.0)]  # falls at the first budget only
    assert verdict(checks.moves_with_order([line(1, 1), line(2, 2)], formula, rising=False)) == (1, 1)
    assert verdict(checks.moves_with_order([line(1, 1), line(2, 2)], formula, rising=True)) == (1, 0)


def test_reaching_zero():
    assert verdict(checks.reaches_zero(line(2, 0))) == (1, 0)
    assert verdict(checks.reaches_zero(line(2, 1))) == (1, 1)
    assert verdict(checks.zero_no_later(line(1, 0, 1), line(2, 1, 0))) == (2, 1)


def test_modes_are_counted_on_the_density():
    two = Mixture([0.5, 0.5], [0, 5], [1, 1])
    one = Mixture([0.5, 0.5], [0, 1], [1, 1])
    setting = Setting("adult", "raw", "mixture")
    assert verdict(checks.several_modes({setting: {"a": one, "b": two}})) == (1, 0)
    assert verdict(checks.several_modes({setting: {"a": one, "b": Mixture.gaussian(0, 1)}})) == (1, 1)


def test_the_average_leaves_out_what_the_paper_leaves_out():
    found = reduction(line(1, 0, 3, 1), line(2, 5, 4, math.inf), names=("exact", "gwm"), over="all")
    assert (found.mean, found.least, found.most) == (0.375, 0.25, 0.5)
    assert found.inclusive == pytest.approx(1.75 / 3)
    assert (found.settings, found.no_noise, found.infinite) == (2, 1, 1)
    empty = reduction([], [], names=("exact", "gwm"), over="all")
    assert (empty.mean, empty.settings) == (None, 0)


def test_a_plan_knows_its_figures():
    plan = Plan.of()
    assert plan.figures == FIGURES
    assert set(HEADLINE) <= set(plan.epsilons)
    assert len(plan.evaluated) == 12
    assert Plan.of(student="por").datasets[2] == "student-por"
    assert {s.paper_mechanism for s in plan.settings_of("4")} == {"gmm-transport"}
    assert {s.paper_mechanism for s in plan.settings_of("8")} == {"closed-form"}
