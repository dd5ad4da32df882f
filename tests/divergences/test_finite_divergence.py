"""The divergence of finite laws: float64 and balls against mpmath and fractions that share no code with them."""

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.divergences.discrete import (
    Extremes,
    Masses,
    enclose,
    exact_odds,
    holds,
    lowered,
    raised,
    spread,
    within_odds,
)
from takifugu.divergences.discrete import decide_finite as decide
from takifugu.divergences.discrete import finite_divergence as divergence
from takifugu.errors import InputError

orders = st.sampled_from([1.0001, 1.1, 1.5, 2.0, 3.0, 8.0, 64.0, 1000.0, math.inf])
whole = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=6)


def fractions_of(weights) -> list[Fraction]:
    exact = [Fraction(w) for w in np.asarray(weights).tolist()]  # not of numpy's integers, which overflow
    return [w / sum(exact) for w in exact]


def oracle(p: list[Fraction], q: list[Fraction], alpha: float, digits: int = 80):
    """The sum in mpmath, from fractions; infinite where q is not positive and p is."""
    if any(a > 0 and b <= 0 for a, b in zip(p, q, strict=True)):
        return mp.inf
    with mp.workdps(digits):
        pairs = [
            (mp.mpf(a.numerator) / a.denominator, mp.mpf(b.numerator) / b.denominator)
            for a, b in zip(p, q, strict=True)
            if a > 0
        ]
        if alpha == math.inf:
            return max(mp.log(a / b) for a, b in pairs)
        order = mp.mpf(alpha)
        return mp.log(mp.fsum(a**order * b ** (1 - order) for a, b in pairs)) / (order - 1)


@given(whole, orders)
def test_floats_and_balls_agree_with_mpmath(rows, alpha):
    p, q = [row[0] for row in rows], [row[1] for row in rows]
    if not any(p) or not any(q):
        return
    truth = oracle(fractions_of(p), fractions_of(q), alpha)
    found = enclose(Masses.of(p), Masses.of(q), alpha=alpha)
    estimate = float(divergence(np.array(p) / sum(p), np.array(q) / sum(q), alpha=alpha))
    if mp.isinf(truth):
        assert found.lower == found.upper == estimate == math.inf
        return
    with mp.workdps(80):
        assert mp.mpf(found.lower) - mp.mpf(10) ** -60 <= truth <= mp.mpf(found.upper) + mp.mpf(10) ** -60
    assert found.width <= 1e-11 * max(found.lower, 1e-3)
    assert estimate == pytest.approx(float(truth), rel=1e-8, abs=1e-13)


@given(whole, orders, st.floats(1e-4, 5), st.integers(-1, 1))
def test_a_decision_is_the_truth_on_both_sides_of_equality(rows, alpha, epsilon, step):
    p, q = [row[0] for row in rows], [row[1] for row in rows]
    if not any(p) or not any(q):
        return
    truth = oracle(fractions_of(p), fractions_of(q), alpha)
    if 0 < truth < mp.inf:  # the nearest float and its neighbours are the hardest budgets there are
        epsilon = math.nextafter(float(truth), math.inf * step) if step else float(truth)
    if epsilon <= 0 or not math.isfinite(epsilon):
        return
    decision = decide(Masses.of(p), Masses.of(q), alpha=alpha, epsilon=epsilon)
    with mp.workdps(80):
        assert decision.holds is bool(truth <= mp.mpf(epsilon))
    assert holds(Masses.of(p), Masses.of(q), alpha=alpha, epsilon=epsilon) is decision.holds
    assert ("proved" if decision.holds else "refuted") in decision.reason


def test_laws_that_agree_to_many_digits_are_still_decided():
    tiny = 2**-400
    p, q = Masses.of([1.0, tiny]), Masses.of([1.0, 2 * tiny])
    assert decide(p, q, alpha=2.0, epsilon=2.0**-400).holds is True
    assert decide(p, q, alpha=2.0, epsilon=2.0**-402).holds is False
    assert decide(p, q, alpha=2.0, epsilon=5e-324).holds is False
    assert decide(q, p, alpha=math.inf, epsilon=math.log(2) * (1 + 2**-50)).holds is True
    assert decide(q, p, alpha=math.inf, epsilon=math.log(2) * (1 - 2**-50)).holds is False
    assert enclose(p, p, alpha=3).upper == 0.0


def test_threads_that_share_the_precision_do_not_share_mistakes():
    """The precision of ball arithmetic belongs to the process: what another thread does to it may only cost time."""
    rng = np.random.default_rng(0)
    laws = rng.integers(1, 1000, (60, 2, 4)).tolist()
    alone = [enclose(Masses.of(p), Masses.of(q), alpha=2.5) for p, q in laws]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda pair: enclose(Masses.of(pair[0]), Masses.of(pair[1]), alpha=2.5), laws * 5))
    for here, there in zip(alone * 5, together, strict=True):
        assert max(here.lower, there.lower) <= min(here.upper, there.upper)


@pytest.mark.parametrize("alpha", [1 + 2**-52, 1e15, 1e300])
def test_extreme_orders(alpha):
    p, q = Masses.of([3, 1]), Masses.of([1, 3])
    found = enclose(p, q, alpha=alpha)
    limits = (0.75 * math.log(3) - 0.25 * math.log(3), math.log(3))  # Kullback-Leibler, and the order infinity
    assert limits[0] * (1 - 1e-9) <= found.lower <= found.upper <= limits[1] * (1 + 1e-15)
    assert float(divergence(np.array([0.75, 0.25]), np.array([0.25, 0.75]), alpha=alpha)) == pytest.approx(found.upper)


@given(whole, st.fractions(1, 10**6).filter(lambda odds: odds > 1))
def test_odds_are_compared_in_integers(rows, odds):
    p, q = [row[0] for row in rows], [row[1] for row in rows]
    if not any(p) or not any(q):
        return
    exact = [(a, b) for a, b in zip(fractions_of(p), fractions_of(q), strict=True)]
    assert within_odds(Masses.of(p), Masses.of(q), odds=odds) is all(a <= odds * b for a, b in exact)


def test_equal_odds_are_kept_and_one_part_more_is_not():
    p, q = Masses.of([3, 1]), Masses.of([1, 3])
    assert within_odds(p, q, odds=3)
    assert not within_odds(p, q, odds=Fraction(3) - Fraction(1, 10**40))


@pytest.mark.parametrize("odds", [1, 0.5, math.inf, math.nan, True, "3"])
def test_odds_must_be_above_one(odds):
    with pytest.raises(InputError, match="odds"):
        exact_odds(odds)


@pytest.mark.parametrize("alpha", [1, 0.5, -math.inf, math.nan, "2", True])
def test_orders_must_be_above_one(alpha):
    with pytest.raises(InputError, match="alpha"):
        divergence(np.array([1.0]), np.array([1.0]), alpha=alpha)
    with pytest.raises(InputError, match="alpha"):
        enclose(Masses.of([1]), Masses.of([1]), alpha=alpha)


@pytest.mark.parametrize("weights", [[], [0.0], [-1.0, 2.0], [math.nan], [math.inf], [[1.0]]])
def test_masses_start_from_weights(weights):
    with pytest.raises(InputError, match="weights"):
        Masses.of(weights)


def test_nothing_that_is_not_a_number_reads_as_small():
    law = np.array([0.5, 0.5])
    for alpha in (2.0, math.inf):
        assert divergence(np.array([math.nan, 0.5]), law, alpha=alpha) == math.inf
        assert divergence(law, np.array([math.nan, 0.5]), alpha=alpha) == math.inf
        assert divergence(law, np.array([-0.1, 1.1]), alpha=alpha) == math.inf
        assert divergence(np.array([0.0, 1.0]), np.array([0.0, 1.0]), alpha=alpha) == 0.0


def test_floats_keep_their_digits_for_orders_near_one():
    p, q = [0.3, 0.3, 0.4], [0.3 + 2**-20, 0.3 - 2**-20, 0.4]
    truth = enclose(Masses.of(p), Masses.of(q), alpha=1 + 1e-9).upper
    assert float(divergence(np.array(p), np.array(q), alpha=1 + 1e-9)) == pytest.approx(truth, rel=1e-4)


@given(whole, st.floats(1.01, 50), st.floats(1.01, 100))
def test_bounded_odds_imply_every_order(rows, odds, alpha):
    p, q = [row[0] + 1 for row in rows], [row[1] + 1 for row in rows]
    if within_odds(Masses.of(p), Masses.of(q), odds=odds):
        assert enclose(Masses.of(p), Masses.of(q), alpha=alpha).lower <= math.log(odds) * (1 + 1e-15)


# ---- through a channel, and every prior within a radius


channels = st.integers(2, 4).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 8), min_size=m, max_size=m), min_size=1, max_size=4)
)


def as_counts(rows) -> np.ndarray:
    counts = np.array(rows, dtype=np.int64) + 1
    counts[:, 0] += 64 - counts.sum(axis=1)
    return counts


@given(channels, st.lists(st.floats(0, 1e9), min_size=4, max_size=4), st.sampled_from([6, 40]))
def test_a_law_goes_through_a_channel_exactly(rows, weights, shift):
    counts = as_counts(rows) << shift - 6
    weights = [w + 1e-3 for w in weights[: len(counts)]]
    law = fractions_of(weights)
    found = Masses.of(weights).through(counts, 2**shift)
    expected = [sum(law[x] * int(counts[x, y]) for x in range(len(law))) / 2**shift for y in range(counts.shape[1])]
    assert [Fraction(a, found.denominator) for a in found.numerators] == expected


@given(
    channels,
    st.lists(st.integers(0, 20), min_size=4, max_size=4),
    st.lists(st.integers(0, 20), min_size=4, max_size=4),
    st.floats(0, 1.5),
)
def test_no_prior_within_the_radius_publishes_more_or_less_than_the_bounds(rows, weights, others, radius):
    """Any other prior Q gives one at distance t by mixing: P + min(1, t/TV)·(Q − P)."""
    counts = as_counts(rows)
    n = len(counts)
    law = fractions_of([w + 1 for w in weights[:n]])
    other = fractions_of([w + (1 if not any(others[:n]) else 0) for w in others[:n]])
    distance = sum(abs(a - b) for a, b in zip(law, other, strict=True)) / 2
    share = min(Fraction(1), Fraction(radius) / distance) if distance else Fraction(0)
    moved = [a + share * (b - a) for a, b in zip(law, other, strict=True)]
    masses = Masses.of([w + 1 for w in weights[:n]]).through(counts, 64)
    extremes = Extremes.of(counts, 64)
    high, low = masses.raised(radius, extremes), masses.lowered(radius, extremes)
    for y in range(counts.shape[1]):
        published = sum(moved[x] * int(counts[x, y]) for x in range(n)) / 64
        assert Fraction(low.numerators[y], low.denominator) <= published
        assert published <= Fraction(high.numerators[y], high.denominator)
    matrix = counts / 64
    p = np.array([float(a) for a in law]) @ matrix
    bounds = [float(Fraction(a, high.denominator)) for a in high.numerators]
    assert raised(p, radius, *spread(matrix)) == pytest.approx(bounds)
    assert lowered(p, radius, *spread(matrix)) == pytest.approx(
        [float(Fraction(a, low.denominator)) for a in low.numerators]
    )


@settings(max_examples=some_of(60))
@given(channels, st.integers(0, 2**32), orders.filter(lambda a: a > 1.01), st.floats(0, 0.4))
def test_the_bound_covers_every_pair_of_priors_within_the_radius(rows, seed, alpha, radius):
    counts, rng = as_counts(rows), np.random.default_rng(seed)
    n = len(counts)
    laws = rng.integers(1, 30, (2, n)).astype(float)
    extremes = Extremes.of(counts, 64)
    p, q = (Masses.of(law).through(counts, 64) for law in laws)
    bound = enclose(p.raised(radius, extremes), q.lowered(radius, extremes), alpha=alpha)
    for _ in range(5):
        near = []
        for law in laws:
            exact, other = (
                fractions_of(law),
                fractions_of(rng.integers(0, 2, n) + np.eye(n, dtype=int)[0]),
            )
            distance = sum(abs(a - b) for a, b in zip(exact, other, strict=True)) / 2
            share = min(Fraction(1), Fraction(radius) / distance) if distance else Fraction(0)
            moved = [a + share * (b - a) for a, b in zip(exact, other, strict=True)]
            near.append([sum(moved[x] * int(counts[x, y]) for x in range(n)) / 64 for y in range(counts.shape[1])])
        with mp.workdps(60):
            assert oracle(*near, alpha, digits=60) <= mp.mpf(bound.upper) + mp.mpf(10) ** -50


@given(channels, whole, orders)
def test_post_processing_never_adds(rows, masses, alpha):
    counts = as_counts(rows)
    p, q = [row[0] for row in masses][: len(counts)], [row[1] for row in masses][: len(counts)]
    if len(p) < len(counts) or not any(p) or not any(q):
        return
    before = enclose(Masses.of(p), Masses.of(q), alpha=alpha)
    after = enclose(Masses.of(p).through(counts, 64), Masses.of(q).through(counts, 64), alpha=alpha)
    assert after.lower <= before.upper


def test_a_radius_of_one_is_every_prior():
    counts = np.array([[48, 16], [16, 48]])
    extremes = Extremes.of(counts, 64)
    p = Masses.of([1.0, 0.0]).through(counts, 64)
    assert within_odds(p.raised(1.0, extremes), p.lowered(1.0, extremes), odds=3)
    assert not within_odds(p.raised(1.0, extremes), p.lowered(1.0, extremes), odds=2.99)


@pytest.mark.parametrize("radius", [-0.1, math.nan, math.inf, "0", True])
def test_a_radius_never_narrows(radius):
    law = Masses.of([1.0])
    with pytest.raises(InputError, match="radius"):
        law.raised(radius, Extremes((1,), (1,), 1))
