"""Margins for confidence: what they hold, that the level is spent once, and that asking for less never costs more."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.channels import FiniteChannel
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws.bounds import UNIT, Bounds
from takifugu.mechanisms import posterior_margin as judging
from takifugu.mechanisms.assurance import band_promise, likely_laws
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.draws import posterior
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.posterior_margin import (
    Drawn,
    Judge,
    Margin,
    Wish,
    by_bounds,
    by_cones,
    by_radius,
    confident_channel,
    fitted,
)
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

LAWS = {"a": [9, 8, 6, 4, 2, 1], "b": [3, 4, 6, 7, 6, 4]}
weights = st.lists(st.sampled_from([0.0, 1e-6, 0.05, 1.0, 3.5, 40.0]), min_size=2, max_size=8).filter(
    lambda one: sum(one) > 0
)


def priors(seed=0, rows=(300, 60)):
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"s": s, "x": rng.choice(6, n, p=np.array(law) / sum(law))})
        for (s, law), n in zip(LAWS.items(), rows, strict=True)
    ]
    return tk.fit_priors(pd.concat(parts), secret="s", query=tk.Row("x", domain=range(6)))


PROBLEM = Problem.of(priors(), None)
ODDS = Renyi(math.inf, math.log(3))


@settings(max_examples=some_of(40), deadline=None)
@given(weights, st.floats(0.1, 4.5), st.booleans())
def test_likely_bounds_hold_their_own_middle(given_weights, deviations, ordered):
    a = np.array(given_weights)
    found = Bounds.likely(a, deviations=deviations, ordered=ordered)
    whole = (a / a.sum() * UNIT).round().astype(np.int64)
    assert (found.lower <= whole + 1).all()
    assert (found.upper >= whole - 1).all()
    wider = Bounds.likely(a, deviations=deviations + 0.5, ordered=ordered)
    assert (wider.lower <= found.lower + 2**20).all()
    assert (wider.above >= found.above - 2**20).all()
    assert (found.upper[a == 0] == 0).all()  # what nobody can have is in no draw


def test_likely_bounds_are_quantiles_of_the_posterior():
    a = np.array([12.3, 5.0, 0.7, 30.0])
    found = Bounds.likely(a, deviations=2.0, ordered=True)
    tail = mpmath.ncdf(-2)
    for k, first in enumerate(a):
        below = mpmath.betainc(first, a.sum() - first, 0, mpmath.mpf(int(found.lower[k])) / UNIT, regularized=True)
        above = mpmath.betainc(first, a.sum() - first, mpmath.mpf(int(found.upper[k])) / UNIT, 1, regularized=True)
        assert float(below) == pytest.approx(float(tail), rel=1e-9)
        assert float(above) == pytest.approx(float(tail), rel=1e-9)
    for k in range(3):
        upto = a[: k + 1].sum()
        below = mpmath.betainc(upto, a.sum() - upto, 0, mpmath.mpf(int(found.below[k])) / UNIT, regularized=True)
        assert float(below) == pytest.approx(float(tail), rel=1e-9)
    with pytest.raises(InputError, match="not all 0"):
        Bounds.likely([0, 0], deviations=1, ordered=False)


@settings(max_examples=some_of(40), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_law_is_within_both_bounds_or_not_within_their_meet(seed):
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.ones(4))
    one, other = (Bounds.likely(rng.uniform(0.1, 9, 4), deviations=1.0, ordered=True).holding(law) for _ in range(2))
    both = one.and_also(other)
    for tried in [law, *rng.dirichlet(30 * law + 0.1, 20)]:
        assert both.holds(tried) == (one.holds(tried) and other.holds(tried))


def test_a_margin_of_bounds_grows_to_that_of_a_proof_and_no_further():
    rule = Optimal()
    band = band_promise(rule, PROBLEM, ODDS, level=0.95)
    narrow, wide = (likely_laws(PROBLEM, band, deviations=d, reach=rule.reach(PROBLEM)) for d in (1.0, 4.0))
    for small, large, proved in zip(narrow.bounds, wide.bounds, band.bounds, strict=True):
        assert (small.lower >= large.lower).all()
        assert (large.lower >= proved.lower).all()
        assert (small.above <= large.above).all()
        assert (large.above <= proved.above).all()
    (margin,) = by_bounds(rule, PROBLEM, ODDS, level=0.95)
    proof = tk.calibrate(priors(), odds=3, assurance="band")
    assert rule.cost(PROBLEM, margin.at(margin.last).channel) == pytest.approx(proof.error, rel=1e-9)
    assert rule.cost(PROBLEM, margin.at(1.0).channel) < proof.error


def test_a_radius_that_was_asked_for_is_in_every_margin():
    """Bounds that forgot it made a channel that did not keep what its options say."""
    rule = Optimal(keep=None, radius=0.1)
    for margin in (by_radius(rule, PROBLEM, ODDS), *by_bounds(rule, PROBLEM, ODDS, level=0.95)):
        for factor in (0.3, 1.0):
            assert rule.is_kept(PROBLEM, ODDS, margin.at(factor).channel)
    made = tk.calibrate(priors(), odds=3, confidence=0.95, radius=0.1, preserve=None)
    assert made.meets_budget()
    assert tk.verify(tk.certify(made)).calibration == made


def test_long_lists_have_the_radius_alone():
    many = {s: tk.Finite(range(70), np.arange(1, 71) + shift) for s, shift in (("a", 0), ("b", 9))}
    assert by_bounds(Optimal(), Problem.of(many, None), ODDS, level=0.95) == []
    assert by_radius(Optimal(), Problem.of(many, None), ODDS).most is not None


@pytest.mark.parametrize(("promise", "seed"), [({"odds": 2}, 0), ({"odds": 4}, 3), ({"alpha": 3, "epsilon": 0.2}, 1)])
def test_who_asks_for_less_never_pays_more(promise, seed):
    """Keeping the shares is a wish more; evidence is less than a proof."""
    given_priors = priors(seed, rows=(250, 40))
    kept, free, mean = (
        tk.calibrate(given_priors, **promise, confidence=0.95, preserve=keep, adversary=tk.Adversary(seed=seed))
        for keep in ("marginal", None, "mean")
    )
    assert free.error <= kept.error
    assert mean.error <= kept.error
    for one in (kept, free, mean):
        assert one.evidence.holds(one.problem, one.channel, one.guarantee)
        assert tk.verify(tk.certify(one)).calibration == one
        assert dict(one.options)["keep"] == {id(kept): "marginal", id(free): None, id(mean): "mean"}[id(one)]
    proved = tk.calibrate(given_priors, **promise, assurance="band")
    if kept.evidence.holds(kept.problem, proved.channel, kept.guarantee):
        assert kept.error <= proved.error * (1 + 2e-3)  # both solve to about that


@pytest.mark.parametrize("keep", [None, "marginal"])
def test_a_bound_is_about_the_options_that_stand_beside_it(keep):
    """Through bounds there is no proof that none is better for the margin: what is stated is about the sample."""
    for seed in range(3):
        found = tk.calibrate(priors(seed), odds=2, confidence=0.95, preserve=keep)
        assert dict(found.options)["keep"] == keep
        if not np.any(dict(found.options)["radius"]):
            assert found.lower_bound == tk.calibrate(priors(seed), odds=2, preserve=keep).lower_bound
        if found.lower_bound is not None:
            assert found.lower_bound <= found.error
            with pytest.raises(tk.CertificationError, match="not proved"):
                tk.certify(replace(found, lower_bound=1.01 * found.error))
        assert tk.verify(tk.certify(found)).calibration == found


def test_evidence_costs_less_than_a_proof_where_rows_are_few():
    """A radius alone cost 0.59 of the variance here, and the proof 0.54."""
    pupils = tk.datasets.load("student-mat")
    grades = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row("G3"))
    confident = tk.calibrate(grades, odds=3, confidence=0.95)
    assert confident.error < 0.9 * tk.calibrate(grades, odds=3, assurance="band").error
    # Draws of our own: at least 95 % of the posterior, with the odds compared entry by entry.
    rng = np.random.default_rng(123)
    matrix = confident.channel.matrix
    drawn = [
        rng.dirichlet(np.maximum(grades.counts[s] + grades.pseudo[s], 1e-12), 2000) @ matrix for s in ("no", "yes")
    ]
    ratios = np.maximum(drawn[0] / drawn[1], drawn[1] / drawn[0]).max(axis=1)
    assert (ratios <= 3).mean() >= 0.95


def test_every_try_has_fresh_draws_and_a_level_of_its_own(monkeypatch):
    made = []
    plain = judging.drawn_laws

    def watched(problem, draws, seed):
        made.append((draws, seed))
        return plain(problem, draws, seed)

    monkeypatch.setattr(judging, "drawn_laws", watched)
    identity = Found(tk.calibrate(priors(), odds=1e9).channel)
    judge = Judge(PROBLEM, ODDS, 0.95, seed=11)
    assert [judge.passes(identity) for _ in range(6)] == [None] * 6
    assert len({seed for _, seed in made}) == 6
    c = Fraction(95, 100)
    for k, (draws, _) in enumerate(made, start=1):
        assert c**draws <= (1 - c) / 2**k < c ** (draws - 1)
    made.clear()
    tk.calibrate(priors(), odds=3, confidence=0.95, preserve=None, adversary=tk.Adversary(seed=5))
    fitting, tries = ([one for one in made if (one[1] == 5) is at] for at in (True, False))
    assert fitting == [(12_458, 5)]  # nothing that chose a channel judges it
    again = [number for number, (draws, _) in enumerate(tries) if draws == tries[0][0]]
    assert len(again) == 2  # a stricter wish first, and then the wish itself, each by its own tries
    for wish in (tries[: again[1]], tries[again[1] :]):
        assert len({seed for _, seed in wish}) == len(wish)
    assert sum(c**draws for draws, _ in tries) <= 1 - c


def _never(factor):
    raise MechanismError("no channel at all")


def test_of_small_programs_every_margin_is_fitted_to_one_share_of_draws():
    """That half of what is judged first passes: judged by draws of the tests' own, and by chance alone."""
    rule = Optimal(keep=None).settled(PROBLEM)
    drawn = judging.draws_to_fit(PROBLEM, ODDS, 0.95, 3, 1)
    assert 1 - drawn.beyond == pytest.approx(0.5 ** (1 / 86))
    own = [np.random.default_rng(k).dirichlet(c + g, 40_000) for k, (c, g) in enumerate(posterior(PROBLEM)[0].values())]
    costs = []
    margins = [by_radius(rule, PROBLEM, ODDS), by_cones(rule, PROBLEM, ODDS)]
    for margin in [*margins, *by_bounds(rule, PROBLEM, ODDS, level=0.95)]:
        made = fitted(margin, drawn, rule.find(PROBLEM, ODDS))[1].channel
        matrix = made.as_list().as_table().matrix
        p, q = (law @ matrix for law in own)
        within = ((p <= 3 * q) & (q <= 3 * p)).all(axis=1).mean()
        assert 0.985 < within < 0.9985  # of factors that differ by a few per cent
        costs.append(rule.cost(PROBLEM, made))
    made = tk.calibrate(priors(), odds=3, confidence=0.95, preserve=None)
    assert made.error < 1.15 * min(costs)


def test_another_seed_hardly_changes_what_is_paid_for_small_tables():
    errors = [
        tk.calibrate(priors(4), odds=3, confidence=0.8, adversary=tk.Adversary(seed=seed)).error for seed in range(6)
    ]
    assert max(errors) < 1.2 * min(errors)


def test_a_search_by_need_that_would_go_to_and_fro_halves_what_is_left():
    """Channels of which those with few deviations need many, and those with many few: 4.5 is about right."""
    drawn = judging.draws_to_fit(PROBLEM, ODDS, 0.9, 1, 1)
    plain, tried = Optimal().find(PROBLEM, ODDS), []

    def at(factor):
        tried.append(factor)
        return plain

    def needed(channel, laws):
        return np.full(laws.shape[1], 6.0 if tried[-1] < 4.5 else 3.0)

    factor, _ = fitted(Margin(at=at, first=4.0, needed=needed), drawn, plain)
    assert 4.5 <= factor < 4.8
    assert len(tried) <= 8


def test_what_is_not_a_number_is_within_no_guarantee():
    channel = FiniteChannel(range(6), range(6), np.eye(6, dtype=int)).as_list()
    laws = np.full((1, 4, 2, 6), 1 / 6)
    assert Drawn(PROBLEM, ODDS, laws).withstood_by(channel)
    laws[0, 1, 0, 2] = math.nan
    assert not Drawn(PROBLEM, ODDS, laws).withstood_by(channel)
    assert Drawn(PROBLEM, ODDS, laws, beyond=0.25).withstood_by(channel)
    laws[0, 2, 1, 2] = math.nan
    assert not Drawn(PROBLEM, ODDS, laws, beyond=0.25).withstood_by(channel)
    assert Drawn(PROBLEM, ODDS, laws, beyond=0.25).strain(channel) == math.inf


def test_a_margin_that_fails_leaves_the_others():
    rule, asked = Optimal(keep=None), ODDS
    plain = rule.find(PROBLEM, asked)

    def cost(found):
        return rule.cost(PROBLEM, found.channel)

    good = by_radius(rule, PROBLEM, asked)
    wish = Wish(plain, [Margin(at=_never), good], cost)
    passed = confident_channel(PROBLEM, asked, [lambda: wish], level=0.9, seed=0)
    alone = confident_channel(PROBLEM, asked, [lambda: Wish(plain, [good], cost)], level=0.9, seed=0)
    assert (passed.found.channel, *passed[1:]) == (alone.found.channel, *alone[1:])
    with pytest.raises(MechanismError, match="no channel at all"):
        confident_channel(PROBLEM, asked, [lambda: Wish(plain, [Margin(at=_never)], cost)], level=0.9, seed=0)
    stuck = Wish(plain, [Margin(at=lambda factor: plain, most=4)], cost)
    with pytest.raises(MechanismError, match="too few rows"):
        confident_channel(PROBLEM, asked, [lambda: stuck], level=0.9, seed=0)

    def impossible():
        raise CalibrationError("a stricter wish that nothing keeps")

    again = confident_channel(PROBLEM, asked, [impossible, lambda: wish], level=0.9, seed=0)
    assert again.found.channel == passed.found.channel


def test_a_range_of_smaller_factors_that_are_enough_is_found():
    """Enough from 0.3 to 0.38 and from 0.45 on, as ages of two races are: the search alone ends at the upper one."""
    good = tk.calibrate(priors(), odds=3, confidence=0.95).channel
    bad = tk.calibrate(priors(), odds=1e9).channel
    margin = Margin(at=lambda f: Found(good if 0.3 <= f <= 0.38 or f >= 0.45 else bad))
    drawn = Drawn(PROBLEM, ODDS, judging.drawn_laws(PROBLEM, 20, 1))
    factor, _ = fitted(margin, drawn, Found(bad))
    assert 0.3 <= factor <= 0.38
