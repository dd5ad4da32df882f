"""The privacy curve against closed forms, against exact fractions and against the figures that come from it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import takifugu as tk
from how_many import some_of
from takifugu.divergences import Effort, PrivacyCurve, enclose_hockey_stick, hockey_stick_after

BELLS = tk.Mixture.gaussian(0, 1), tk.Mixture.gaussian(1, 1)
MIXED = tk.Mixture([0.3, 0.7], [0, 3], [1, 0.2]), tk.Mixture([0.5, 0.5], [0, 4], [0.5, 1.5])
NOISES = [tk.GaussianNoise(0.7), tk.LaplaceNoise(0.8)]


def test_two_normals_of_one_width_have_a_closed_form():
    curve, mu = tk.privacy_curve(*BELLS, noise=tk.GaussianNoise(math.sqrt(3))), 0.5  # one standard deviation is 2
    for epsilon in (-2.0, -0.3, 0.0, 0.5, 3.0):
        truth = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        assert curve.delta(epsilon) == pytest.approx(truth, rel=1e-10)
        assert curve.exceeds(epsilon) == pytest.approx(norm.cdf(mu / 2 - epsilon / mu), rel=1e-12)
    for share in (0.05, 0.5, 0.95, 0.99):
        assert curve.odds_quantile(share) == pytest.approx(math.exp(mu * mu / 2 + mu * norm.ppf(share)), rel=1e-10)
        assert curve.trade_off(share) == pytest.approx(norm.cdf(norm.ppf(1 - share) - mu), rel=1e-10)
    assert curve.best_guess() == pytest.approx(norm.cdf(mu / 2), rel=1e-12)


def test_lists_have_exact_sums():
    curve = tk.privacy_curve(tk.Finite(["a", "b"], [1, 1]), tk.Finite(["a", "b"], [4, 1]))
    assert curve.delta(0.0) == pytest.approx(0.3)
    assert [curve.odds_quantile(share) for share in (0.4, 0.6)] == pytest.approx([0.625, 2.5])
    assert curve.best_guess() == pytest.approx(0.65)
    assert curve.trade_off(0.1) == pytest.approx(0.75)  # half of the b's
    assert curve.epsilon(0.0) == pytest.approx(math.log(2.5))


def test_a_value_of_one_law_alone_has_no_odds():
    curve = tk.privacy_curve(tk.Finite(["a", "b"], [9, 1]), tk.Finite(["a"], [1]))
    assert curve.odds_quantile(0.85) == pytest.approx(0.9)
    assert curve.odds_quantile(0.95) == math.inf
    assert curve.epsilon(0.1) == 0.0
    assert curve.epsilon(0.05) == math.inf


@pytest.mark.parametrize("noise", NOISES)
def test_odds_of_draws_agree(noise):
    p, q = MIXED
    curve = tk.privacy_curve(p, q, noise=noise)
    rng, n = np.random.default_rng(7), 400_000
    which = rng.choice(2, n, p=p.weights)
    x = rng.normal(p.means[which], p.stds[which])
    y = x + (rng.normal(0, 0.7, n) if noise is NOISES[0] else rng.laplace(0, 0.8, n))
    ratios = curve.p.log_density(y) - curve.q.log_density(y)
    for share in (0.5, 0.9, 0.99):
        assert np.quantile(ratios, share) == pytest.approx(math.log(curve.odds_quantile(share)), abs=0.02)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("laws", [BELLS, MIXED])
def test_one_direction_determines_the_other(noise, laws):
    curve = tk.privacy_curve(*laws, noise=noise)
    for epsilon in (-1.5, -0.2, 0.0, 0.4, 2.0):
        other = 1 - math.exp(epsilon) * (1 - curve.delta(-epsilon))
        assert curve.reversed().delta(epsilon) == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("laws", [BELLS, MIXED])
def test_every_order_comes_from_it(noise, laws):
    """E_p e^{(α−1)L} is an integral of P(L > ε), with which the divergence of its own integral agrees."""
    curve, alpha = tk.privacy_curve(*laws, noise=noise), 2.0
    at = np.linspace(-12, 12, 6001)
    tails = np.array([curve.exceeds(e) for e in at])
    total = np.exp((alpha - 1) * at[0]) + np.trapezoid((alpha - 1) * np.exp((alpha - 1) * at) * tails, at)
    assert math.log(total) / (alpha - 1) == pytest.approx(
        tk.renyi_divergence(*laws, alpha=alpha, noise=noise), rel=1e-4
    )


@settings(max_examples=some_of(30), deadline=None)
@given(st.floats(-3, 3), st.floats(0.01, 3), st.floats(0.01, 0.99), st.sampled_from(NOISES))
def test_more_tolerance_never_needs_more(epsilon, step, share, noise):
    curve = tk.privacy_curve(*MIXED, noise=noise)
    assert curve.delta(epsilon + step) <= curve.delta(epsilon) + 1e-14
    assert curve.trade_off(share) + share <= 1 + 1e-12
    assert curve.best_guess(share) >= max(share, 1 - share) - 1e-12
    assert curve.epsilon(curve.delta(abs(epsilon))) <= abs(epsilon) + 1e-6


def test_what_is_no_chance_is_refused():
    curve = tk.privacy_curve(*BELLS)
    wrong = [(curve.best_guess, 1.0), (curve.odds_quantile, 0.0), (curve.trade_off, 1.5), (curve.epsilon, 1)]
    for call, number in wrong:
        with pytest.raises(tk.InputError, match=r"must be a number"):
            call(number)
    with pytest.raises(tk.InputError, match="privacy curve is not known"):
        tk.privacy_curve(*(tk.VectorMixture([1.0], [[0.0]], [[[1.0]]]) for _ in range(2)))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("laws", [BELLS, MIXED])
def test_it_knows_every_order_and_both_directions(noise, laws):
    curve = tk.privacy_curve(*laws, noise=noise)
    for alpha in (1.5, 2.0, 7.0):
        assert curve.divergence(alpha) == tk.renyi_divergence(*laws, alpha=alpha, noise=noise)
        assert curve.reversed().divergence(alpha) == tk.renyi_divergence(*laws[::-1], alpha=alpha, noise=noise)
    assert curve.divergence(math.inf) == tk.max_divergence(*laws, noise=noise)
    with pytest.raises(tk.InputError, match="knows no orders"):
        PrivacyCurve(curve.p, curve.q).divergence(2.0)


@pytest.mark.parametrize("prior", [0.5, 0.1])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("laws", [BELLS, MIXED])
def test_the_information_is_that_of_its_own_integral(noise, laws, prior):
    curve = tk.privacy_curve(*laws, noise=noise)
    y = np.linspace(-40, 45, 400_001)
    p, q = np.exp(curve.p.log_density(y)), np.exp(curve.q.log_density(y))
    middle = prior * p + (1 - prior) * q
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [share * np.nan_to_num(law * np.log(law / middle)) for share, law in ((prior, p), (1 - prior, q))]
    assert curve.information(prior) == pytest.approx(np.trapezoid(sum(parts), y), rel=1e-6)
    most = max(float(np.max(law / middle)) for law in (p, q))
    assert curve.pointwise_leakage(prior) >= math.log(most) * (1 - 1e-9)
    assert curve.pointwise_leakage(prior) <= -math.log(min(prior, 1 - prior)) + 1e-12


@settings(max_examples=some_of(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=6), st.floats(0.05, 0.95))
def test_of_lists_both_are_sums(masses, prior):
    first, second = ([one[k] for one in masses] for k in (0, 1))
    if not (sum(first) and sum(second)):
        return
    curve = tk.privacy_curve(tk.Finite(range(len(masses)), first), tk.Finite(range(len(masses)), second))
    total, most = 0.0, 0.0
    for one, other in masses:
        p, q = one / sum(first), other / sum(second)
        middle = prior * p + (1 - prior) * q
        total += sum(share * mass * math.log(mass / middle) for share, mass in ((prior, p), (1 - prior, q)) if mass)
        most = max([most, *(mass / middle for mass in (p, q) if mass)])
    assert curve.information(prior) == pytest.approx(total, abs=1e-9)
    assert curve.pointwise_leakage(prior) == pytest.approx(math.log(max(most, 1.0)), abs=1e-12)


def test_the_errors_of_tests_are_points_of_the_trade_off():
    curve = tk.privacy_curve(*MIXED, noise=tk.LaplaceNoise(0.8))
    for epsilon in curve.thresholds[5:-5:20]:
        false_alarm, missed = curve.errors(epsilon)
        assert curve.trade_off(false_alarm) == pytest.approx(missed, abs=1e-9)
    points = tk.privacy_curve(tk.Finite([0, 1, 2], [5, 3, 2]), tk.Finite([0, 1, 2], [2, 3, 5]))
    assert points.thresholds == pytest.approx((math.log(0.4), 0.0, math.log(2.5)))
    assert points.errors(0.1) == pytest.approx((0.2, 0.5))


def test_points_after_laplace_noise_have_tails_of_one_ratio():
    """Where L is flat rounding decides its sign: the stretches must not fall to pieces there."""
    rng = np.random.default_rng(0)
    p, q = tk.Mixture.empirical(rng.normal(0, 1, 16)), tk.Mixture.empirical(rng.normal(0.3, 1, 16))
    curve = tk.privacy_curve(p, q, noise=tk.LaplaceNoise(1.0))
    tails = tk.max_divergence(p, q, noise=tk.LaplaceNoise(1.0))
    assert len(curve._stretches(tails)) <= 2
    assert curve.exceeds(tails) < 1e-9


def test_a_calibration_gives_the_curve_of_a_pair_and_draws_it(tmp_path):
    mild = {"a": BELLS[0], "b": BELLS[1], "c": tk.Mixture.gaussian(0.1, 1)}
    strong = {"a": BELLS[0], "b": tk.Mixture.gaussian(2, 1), "c": tk.Mixture.gaussian(0.1, 1)}
    made = tk.calibrate([mild, strong], odds=3)
    assert made.privacy_curve().divergence(math.inf) == pytest.approx(made.loss, rel=1e-12)
    own = tk.privacy_curve(strong["b"], strong["a"], noise=made.channel)
    assert made.privacy_curve(("b", "a")).delta(0.3) == own.delta(0.3)
    listed = tk.calibrate({"a": tk.Finite([0, 1], [2, 1]), "b": tk.Finite([0, 1], [1, 2])}, odds=1.5)
    assert listed.privacy_curve().epsilon(0.0) == pytest.approx(math.log(1.5), rel=1e-6)
    for curve in (made.privacy_curve(), listed.privacy_curve()):
        curve.plot().save(tmp_path / "curve.svg")
        assert "the least δ" in (tmp_path / "curve.svg").read_text(encoding="utf-8")
    with pytest.raises(tk.InputError, match="no pair of secrets"):
        made.privacy_curve(("a", "x"))
    vectors = {s: tk.VectorMixture([1.0], [[m, 0.0]], [np.eye(2)]) for s, m in (("a", 0.0), ("b", 1.0))}
    with pytest.raises(tk.InputError, match="of vectors the privacy curve is not known"):
        tk.calibrate(vectors, alpha=2, epsilon=1).privacy_curve()


def test_normals_whose_distance_nearly_is_the_budget_are_decided_in_few_cells():
    """In the tail p is all but e^ε·q: the sign is decided by what reaches a cell, not by densities by themselves."""
    p, q = BELLS
    for scale in (1 - 1e-3, 1 - 1e-6, 1.0):
        spent = Effort()
        found = enclose_hockey_stick(p, q, epsilon=1.0, scale=scale, effort=spent)
        assert found.upper <= 1e-4
        assert spent.limit - spent.left < 20_000
        assert found.lower <= hockey_stick_after(p, q, epsilon=1.0, scale=scale) * (1 + 1e-9) + 1e-30
