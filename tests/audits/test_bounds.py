"""The two inequalities an audit rests on, against sums and tables that share no code with it."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from takifugu.audits.outcome import Wager, best_wager, lower_bound, mean_at_least, share_interval

weights = st.lists(st.integers(1, 1000), min_size=4, max_size=4)
orders = st.sampled_from([1.01, 1.5, 2.0, 3.0, 8.0, 64.0, math.inf])


def exact_divergence(p, q, alpha):
    """D_α in 50 digits."""
    with mpmath.workdps(50):
        if math.isinf(alpha):
            return max(mpmath.log(a / b) for a, b in zip(p, q, strict=True))
        a = mpmath.mpf(alpha)
        total = mpmath.fsum(x**a * y ** (1 - a) for x, y in zip(p, q, strict=True))
        return mpmath.log(total) / (a - 1)


@given(
    weights, weights, st.lists(st.floats(-12, 12), min_size=4, max_size=4), st.floats(-12, 12), st.booleans(), orders
)
def test_any_score_gives_at_most_the_divergence(p, q, scores, top, is_event, alpha):
    with mpmath.workdps(50):
        p, q = ([mpmath.mpf(x) / sum(side) for x in side] for side in (p, q))
        ups, downs = Wager(alpha, top, is_event).means(np.array(scores))
        below = mpmath.fsum(a * float(u) for a, u in zip(p, ups, strict=True))
        above = mpmath.fsum(b * float(d) for b, d in zip(q, downs, strict=True))
        assert (
            Wager(alpha, top, is_event).divergence(float(below), float(above)) <= exact_divergence(p, q, alpha) + 1e-9
        )


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
def test_the_likelihood_ratio_reaches_the_divergence(alpha):
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    wager = Wager(alpha, math.log(2.5), is_event=False)
    ups, downs = wager.means(np.log(p / q))
    assert wager.divergence(p @ ups, q @ downs) == pytest.approx(float(exact_divergence(p, q, alpha)), abs=1e-12)


@pytest.mark.parametrize("stake", [1e-4, 0.03, 0.3, 0.98])
@pytest.mark.parametrize("risk", [0.2, 0.01])
def test_a_bound_on_a_share_fails_as_rarely_as_it_says(stake, risk):
    rows = 40
    bounds = np.array([mean_at_least(np.repeat([1.0, 0.0], [k, rows - k]), risk=risk, stake=stake) for k in range(41)])
    assert (np.diff(bounds) >= 0).all()
    for p in np.linspace(0.01, 0.99, 49):
        assert binom.pmf(np.arange(rows + 1), rows, p)[bounds > p].sum() <= risk
    for marked in (3, 20, 50, 77):  # without replacement, from 80 rows
        assert hypergeom.pmf(np.arange(rows + 1), 80, marked, rows)[bounds > marked / 80].sum() <= risk


def test_a_bound_holds_for_rows_of_different_laws():
    shares = np.array([0.9] * 10 + [0.1] * 30)
    law = np.array([1.0])
    for p in shares:
        law = np.convolve(law, [1 - p, p])
    bounds = np.array([mean_at_least(np.repeat([1.0, 0.0], [k, 40 - k]), risk=0.05, stake=0.2) for k in range(41)])
    assert law[bounds > shares.mean()].sum() <= 0.05


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(1e-6, 0.49), st.floats(1e-6, 0.98))
def test_a_bound_lies_between_nothing_and_the_mean(values, risk, stake):
    found = mean_at_least(np.array(values), risk=risk, stake=stake)
    assert 0 <= found <= np.mean(values) * (1 + 1e-12) + 1e-300


def test_bounds_on_the_same_law_alarm_no_more_than_the_risk():
    """Two samples of the same law, scored by their values: D is 0, and any bound above 0 is wrong."""
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(0, 2, 300), rng.normal(0, 2, 300)
        wager, _ = best_wager(a[:60], b[:60], alpha=2.0, risk=0.1, rows=(240, 240))
        wrong += lower_bound(wager, a[60:], b[60:], risk=0.1) > 0
    assert wrong <= 45  # P(Bin(300, 0.1) > 45) < 0.003


def test_more_rows_show_more_and_never_too_much():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    true, found = float(exact_divergence(p, q, 2.0)), []
    for rows in (300, 3_000, 30_000):
        rng = np.random.default_rng(rows)
        a, b = (np.round(np.log(p / q), 2)[rng.choice(3, rows, p=law)] for law in (p, q))
        wager, _ = best_wager(a[: rows // 5], b[: rows // 5], alpha=2.0, risk=0.01, rows=(rows, rows))
        found.append(lower_bound(wager, a[rows // 5 :], b[rows // 5 :], risk=0.01))
    assert found[0] < found[1] < found[2] < true
    assert found[2] > 0.75 * true
    assert lower_bound(Wager(2.0, 0.0, is_event=True), np.array([]), np.array([1.0]), risk=0.1) == 0


@given(st.integers(1, 400), st.data(), st.sampled_from([0.2, 0.05, 1e-4]))
def test_clopper_and_pearson_by_their_definition(rows, data, risk):
    hits = data.draw(st.integers(0, rows))
    low, high = share_interval(hits, rows, risk=risk)
    with mpmath.workdps(40):
        if hits:
            tail = mpmath.betainc(hits, rows - hits + 1, 0, low, regularized=True)
            assert float(tail) == pytest.approx(risk / 2, rel=1e-5)
        if hits < rows:
            tail = mpmath.betainc(rows - hits, hits + 1, 0, 1 - mpmath.mpf(high), regularized=True)
            assert float(tail) == pytest.approx(risk / 2, rel=1e-5)
    assert 0 <= low <= hits / rows <= high <= 1
