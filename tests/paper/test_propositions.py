"""What the paper says about the closed form, and what is left of it for the least noise, on random cases."""

import math

import numpy as np
import pytest

from takifugu import Mixture, calibrate, renyi_divergence
from takifugu.errors import NoAnswerError
from takifugu.mechanisms.closed_form import closed_form, envelope
from takifugu.mechanisms.least_noise import Exact


def random_pairs(count, seed=7):
    """(gap, σᵢ, σⱼ, α, ε): σ log-uniform on [0.1, 10], gap normal with deviation 3, α and ε log-uniform."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        std_i, std_j = np.exp(rng.uniform(np.log(0.1), np.log(10), size=2)).tolist()
        alpha, epsilon = np.exp(rng.uniform(np.log([1.05, 0.001]), np.log([64, 8]))).tolist()
        yield float(3 * rng.normal()), std_i, std_j, alpha, epsilon


def g(z, gap, std_i, std_j, alpha):
    theta = math.sqrt(z)
    return renyi_divergence(Mixture.gaussian(gap, std_i), Mixture.gaussian(0, std_j), alpha=alpha, theta=theta)


def shifted(gap, std_i, std_j, *, alpha, epsilon):
    """θ² + σᵢ² of Theorem 3.5 as printed, before anything is clipped."""
    delta = std_j**2 - std_i**2
    a = gap**2 - 2 * epsilon * delta
    return alpha / (4 * epsilon) * (a + math.sqrt(a * a + 8 * epsilon * delta**2 / (alpha - 1)))


def exact(gap, std_i, std_j, *, alpha, epsilon):
    return Exact().least_variance(
        Mixture.gaussian(gap, std_i), Mixture.gaussian(0, std_j), alpha=alpha, epsilon=epsilon
    )


def test_proposition_3_4_the_derivative_has_the_second_sign():
    for gap, std_i, std_j, alpha, _ in random_pairs(300):
        v, w = std_i**2, std_j**2
        z = max(0.0, (alpha - 1) * v - alpha * w) + 1.0 + v + w
        S, delta = z + (1 - alpha) * v + alpha * w, w - v
        step = 1e-4 * z
        slope = (g(z + step, gap, std_i, std_j, alpha) - g(z - step, gap, std_i, std_j, alpha)) / (2 * step)
        printed_second = -alpha / (2 * S) * (gap**2 / S + delta**2 / ((z + v) * (z + w)))
        printed_first = -alpha * gap**2 / (2 * S**2) + delta**2 / (2 * S * (z + v) * (z + w))
        assert slope == pytest.approx(printed_second, rel=1e-4)
        if abs(printed_first - printed_second) > 1e-2 * abs(printed_second):
            assert slope != pytest.approx(printed_first, rel=1e-3)


def test_theorem_3_5_is_sound_and_in_its_domain():
    for gap, std_i, std_j, alpha, epsilon in random_pairs(3000):
        z = closed_form(gap, std_i, std_j, alpha=alpha, epsilon=epsilon)
        assert z + (1 - alpha) * std_i**2 + alpha * std_j**2 > 0
        assert g(z, gap, std_i, std_j, alpha) <= epsilon
        printed = max(0.0, shifted(gap, std_i, std_j, alpha=alpha, epsilon=epsilon) - std_i**2)
        assert z == pytest.approx(printed, rel=1e-9, abs=1e-9 * std_i**2)


def test_proposition_3_6_more_budget_never_costs_more_noise():
    for gap, std_i, std_j, alpha, epsilon in random_pairs(1000):
        one, two = (shifted(gap, std_i, std_j, alpha=alpha, epsilon=e) for e in (epsilon, 1.01 * epsilon))
        assert two < one
        for rule in (closed_form, envelope):
            one, two = (rule(gap, std_i, std_j, alpha=alpha, epsilon=e) for e in (epsilon, 1.01 * epsilon))
            assert two <= one
    for gap, std_i, std_j, alpha, epsilon in random_pairs(100):
        assert exact(gap, std_i, std_j, alpha=alpha, epsilon=1.01 * epsilon) <= exact(
            gap, std_i, std_j, alpha=alpha, epsilon=epsilon
        )


def test_proposition_3_7_tells_the_sign_of_the_slope_for_all_orders_and_signs():
    seen = set()
    for gap, std_i, std_j, alpha, epsilon in random_pairs(4000):
        delta = std_j**2 - std_i**2
        a, c = gap**2 - 2 * epsilon * delta, math.sqrt(2 * epsilon) * abs(delta)
        threshold = (2 - alpha) / (alpha - 1) * c
        if abs(a - threshold) < 1e-3 * (abs(a) + abs(threshold)):
            continue
        step = 1e-5 * (alpha - 1)
        rise = shifted(gap, std_i, std_j, alpha=alpha + step, epsilon=epsilon) - shifted(
            gap, std_i, std_j, alpha=alpha - step, epsilon=epsilon
        )
        assert (rise > 0) == (a > threshold)
        seen.add((a > 0, alpha > 2, rise > 0))
    assert len(seen) == 6  # all that can be: a <= 0 with α <= 2 never rises, a > 0 with α > 2 never falls


def test_squaring_loses_the_sign_above_order_two():
    # α = 3, ε = 1/2, Δ = 1/4, δ = 9/4, so a = −2. The proof's squared condition a² > (1/4)·2ε·δ² holds (4 > 1.27) and
    # would make the formula increase; the proposition's own, a > −(1/2)·√(2ε)·δ = −1.125, fails: it decreases.
    gap, std_i, std_j, epsilon = 0.5, 1.0, math.sqrt(3.25), 0.5
    delta = std_j**2 - std_i**2
    a = gap**2 - 2 * epsilon * delta
    assert a**2 > 0.25 * 2 * epsilon * delta**2
    assert not a > -0.5 * math.sqrt(2 * epsilon) * delta
    values = [shifted(gap, std_i, std_j, alpha=alpha, epsilon=epsilon) for alpha in (2.9, 3.0, 3.1)]
    assert values == sorted(values, reverse=True)


def test_the_decreasing_regime_belongs_to_the_formula_alone():
    falls = 0
    for gap, std_i, std_j, alpha, epsilon in random_pairs(400):
        larger = 1.2 * alpha
        case = {"gap": gap, "std_i": std_i, "std_j": std_j}
        falls += shifted(**case, alpha=larger, epsilon=epsilon) < shifted(**case, alpha=alpha, epsilon=epsilon)
        assert exact(**case, alpha=larger, epsilon=epsilon) >= exact(**case, alpha=alpha, epsilon=epsilon) * (1 - 1e-11)
        low, high = (envelope(gap, std_i, std_j, alpha=x, epsilon=epsilon) for x in (alpha, larger))
        assert high >= low * (1 - 1e-12)
        assert low <= closed_form(gap, std_i, std_j, alpha=alpha, epsilon=epsilon) * (1 + 1e-12)
        assert g(low, gap, std_i, std_j, alpha) <= epsilon
    assert falls > 40


def test_a_worked_case_of_the_decreasing_regime():
    # N(0, 4) against N(0, 1), ε = 1/2: the formula falls as α grows to 3/2, the least noise rises
    orders = (1.1, 1.2, 1.5)
    rules = (closed_form, exact, envelope)
    printed, least, best = ([rule(0.0, 2.0, 1.0, alpha=a, epsilon=0.5) for a in orders] for rule in rules)
    assert printed == pytest.approx([8.21515, 6.04864, 5.0], abs=1e-5)
    assert least == pytest.approx([0.61998, 0.84629, 1.54660], abs=1e-5)
    assert best == pytest.approx([5.0, 5.0, 5.0], abs=1e-9)


def test_theorem_4_1_needs_its_domain():
    # One component each: N(0, 4) against N(0, 1), α = 3. Without noise S = −5, ψ is negative and the printed
    # condition holds for every budget, while the divergence is infinite.
    alpha, v, w = 3.0, 4.0, 1.0
    S = v + alpha * (w - v)
    psi = (alpha - 1) / (2 * S) * (alpha**2 * (w - v) ** 2 / ((alpha - 1) * v))
    assert S == -5
    assert psi == pytest.approx(-2.025)
    assert math.exp(psi) <= 1
    p, q = Mixture.gaussian(0, 2), Mixture.gaussian(0, 1)
    assert renyi_divergence(p, q, alpha=alpha) == math.inf
    found = calibrate({"i": p, "j": q}, alpha=alpha, epsilon=0.5, mechanism="gmm-transport")
    assert found.variance > 5


def test_the_baseline_is_infinite_for_unequal_variances():
    priors = {"i": Mixture.gaussian(0, 1), "j": Mixture.gaussian(0, 1.001)}
    with pytest.raises(NoAnswerError):
        calibrate(priors, alpha=3, epsilon=1, mechanism="wasserstein")
    assert calibrate(priors, alpha=3, epsilon=1).theta == 0
