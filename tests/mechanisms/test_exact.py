import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from oracles import least_gaussian_variance
from random_priors import budget, gaussian_pair, mixture
from takifugu.divergences.certified import decide
from takifugu.mechanisms.least_noise import Exact


@pytest.mark.parametrize("seed", range(10))
def test_gaussians_agree_with_forty_digits(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        (p, q), (alpha, epsilon) = gaussian_pair(rng), budget(rng)
        found = Exact().least_variance(p, q, alpha=alpha, epsilon=epsilon)
        truth = least_gaussian_variance(p.means[0] - q.means[0], p.stds[0], q.stds[0], alpha, epsilon)
        unit = float(truth) + max(p.stds[0], q.stds[0]) ** 2
        error = float((found - truth) / unit)
        assert -1e-12 <= error <= 1e-8


@pytest.mark.parametrize("seed", range(some_of(12)))
def test_mixtures_agree_with_ball_arithmetic(seed):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        p, q, (alpha, epsilon) = mixture(rng), mixture(rng), budget(rng)
        variance = Exact().least_variance(p, q, alpha=alpha, epsilon=epsilon)
        unit = variance + max(p.stds.max(), q.stds.max()) ** 2
        assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=math.sqrt(variance)).holds is True
        less = variance - 1e-6 * unit
        if less >= 0:
            assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=math.sqrt(less)).holds is False


@pytest.mark.parametrize("alpha", [1.1, 2.0, 2.5, 64.0])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_points_agree_with_ball_arithmetic(alpha, epsilon):
    rng = np.random.default_rng(int(10 * alpha))
    p = tk.Mixture.empirical(rng.integers(0, 20, 60))
    q = tk.Mixture.empirical(rng.integers(3, 21, 60))
    variance = Exact().least_variance(p, q, alpha=alpha, epsilon=epsilon)
    assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=math.sqrt(variance)).holds is True
    assert decide(p, q, alpha=alpha, epsilon=epsilon, theta=math.sqrt(variance * (1 - 1e-6))).holds is False


@settings(max_examples=some_of(50))
@given(st.integers(0, 2**32 - 1))
def test_the_order_and_the_budget_move_the_noise_the_right_way(seed):
    rng = np.random.default_rng(seed)
    (p, q), (alpha, epsilon) = gaussian_pair(rng), budget(rng)
    here = Exact().least_variance(p, q, alpha=alpha, epsilon=epsilon)
    unit = 1e-9 * (here + max(p.stds[0], q.stds[0]) ** 2)
    assert Exact().least_variance(p, q, alpha=alpha * 1.5, epsilon=epsilon) >= here - unit
    assert Exact().least_variance(p, q, alpha=alpha, epsilon=epsilon * 1.5) <= here + unit


def test_no_noise_where_the_budget_is_met_to_the_last_bit():
    result = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1.0)
    assert result.theta == 0.0
    assert "No noise is needed" in str(result)
    points = {"a": tk.Mixture.empirical([0, 1], [0.5, 0.5]), "b": tk.Mixture.empirical([0, 1], [0.25, 0.75])}
    assert tk.calibrate(points, alpha=2, epsilon=0.5).theta == 0.0


def test_noise_on_the_edge_of_convergence():
    # a wide component of tiny weight: the loss is infinite below the edge and small right above it
    p = tk.Mixture([1 - 1e-12, 1e-12], [0.0, 0.0], [1.0, 10.0])
    q = tk.Mixture.gaussian(0.0, 1.0)
    variance = Exact().least_variance(p, q, alpha=2.0, epsilon=0.5)
    edge = (2.0 - 1) * 100 - 2.0 * 1
    assert variance >= edge
    assert variance == pytest.approx(edge, rel=1e-6)
    assert decide(p, q, alpha=2.0, epsilon=0.5, theta=math.sqrt(variance)).holds is True


@pytest.mark.parametrize("kind", ["gaussian", "mixture", "both"])
@pytest.mark.parametrize("chosen", [False, True])
def test_many_pairs_need_what_the_worst_of_them_needs(kind, chosen):
    rng = np.random.default_rng(4)
    count = 9
    most = {"gaussian": 1, "mixture": 3, "both": 2}[kind]
    priors = {i: mixture(rng, most=most, spread=1.0, decades=0.2) for i in range(count)}
    pairs = [(i, (7 * i + 3) % count) for i in range(count) if i != (7 * i + 3) % count] if chosen else None
    result = tk.calibrate(priors, alpha=3, epsilon=0.5, pairs=pairs)
    one_by_one = {
        pair: Exact().least_variance(priors[pair[0]], priors[pair[1]], alpha=3, epsilon=0.5)
        for pair in result.pairs.directed()
    }
    worst = max(one_by_one, key=one_by_one.get)
    assert result.variance == pytest.approx(one_by_one[worst], rel=1e-7)
    assert result.losses[result.worst_pair] == pytest.approx(0.5, rel=1e-8)
    assert max(result.losses.values()) <= 0.5


def test_thousands_of_pairs_that_tie_are_no_trouble():
    priors = {i: tk.Mixture.gaussian(float(i), 1.0) for i in range(400)}
    neighbours = [(i, i + 1) for i in range(399)]
    result = tk.calibrate(priors, alpha=2, epsilon=0.5, pairs=neighbours)
    assert result.variance == pytest.approx(1.0, rel=1e-10)
    copies = {i: tk.Mixture.gaussian(float(i % 2), 1.0) for i in range(400)}
    assert tk.calibrate(copies, alpha=2, epsilon=0.5).variance == pytest.approx(1.0, rel=1e-10)
    mixtures = {i: tk.Mixture([0.5, 0.5], [i % 2, 3], [1.0, 2.0]) for i in range(60)}
    two = tk.calibrate({0: mixtures[0], 1: mixtures[1]}, alpha=2, epsilon=0.01)
    assert tk.calibrate(mixtures, alpha=2, epsilon=0.01).variance == pytest.approx(two.variance, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-15, 1e-26])
def test_budgets_beyond_the_digits_of_a_float_are_met(epsilon):
    p, q = tk.Mixture([0.5, 0.5], [0, 1], [1, 1]), tk.Mixture([0.5, 0.5], [0, 2], [1, 1])
    variance = Exact().least_variance(p, q, alpha=2.0, epsilon=epsilon)
    assert decide(p, q, alpha=2.0, epsilon=epsilon, theta=math.sqrt(variance)).holds is True


@pytest.mark.parametrize(("alpha", "epsilon"), [(2.0, 1e-4), (10.0, 0.01), (100.0, 0.5)])
def test_a_needle_under_a_wide_component_is_seen(alpha, epsilon):
    p = tk.Mixture([1 - 9e-4, 9e-4], [0, 0.37], [1, 1e-3])
    result = tk.calibrate({"a": p, "b": tk.Mixture.gaussian(0, 1)}, alpha=alpha, epsilon=epsilon)
    assert result.theta > 0
    tk.verify(tk.certify(result))


def test_a_peak_midway_between_two_nodes_of_the_screen_is_seen():
    def around(w):
        return tk.Mixture([w, (1 - w) / 2, (1 - w) / 2], [0, -10, 10], [1, 1, 1])

    priors = {"q": tk.Mixture([0.5, 0.5], [-10, 10], [1, 1])} | {i: around(1e-4 * (1 - i / 100)) for i in range(4)}
    result = tk.calibrate(priors, alpha=(39.5 / 36) ** 2, epsilon=0.68)
    assert max(result.losses.values()) <= 0.68


@pytest.mark.parametrize("epsilon", [1e-200, 1e-300, 5e-324])
def test_a_budget_that_no_number_is_large_enough_for_is_refused_in_a_sentence(epsilon):
    atoms = {"a": tk.Mixture([0.5, 0.5], [0, 3], [0, 0]), "b": tk.Mixture([0.4, 0.6], [0, 3], [0, 0])}
    smooth = {"a": tk.Mixture([0.5, 0.5], [0, 3], [1, 0.1]), "b": tk.Mixture([0.4, 0.6], [0, 3], [1, 2])}
    for priors in (atoms, smooth):
        with pytest.raises(tk.CalibrationError, match="a larger budget"):
            tk.calibrate(priors, alpha=2, epsilon=epsilon)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_beside_a_wide_component_a_point_gets_no_more_than_it_needs(gap):
    p, q = (tk.Mixture([0.55, 0.45], [at, 2.0], [0.0, 1.0]) for at in (0.0, gap))
    theta = tk.calibrate({"a": p, "b": q}, alpha=1.5, epsilon=0.28).theta
    assert tk.renyi_divergence(p, q, alpha=1.5, theta=theta) == pytest.approx(0.28, rel=1e-9)
    # As the gap vanishes beside the wide component, that tells nothing, and two points are left of the sum.
    share = (math.exp(0.5 * 0.28) - 0.45) / 0.55
    assert theta / gap == pytest.approx(math.sqrt(0.375 / math.log(share)), rel=0.2 * math.sqrt(gap))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_high_orders_are_found_from_above_and_come_near_their_limit(epsilon):
    p = tk.Mixture([0.3, 0.3, 0.4], [0.0, 1.0, 3.0], [0.5, 1.0, 1.5])
    q = tk.Mixture([0.3, 0.3, 0.4], [0.5, 2.0, -1.0], [0.5, 1.0, 1.5])
    for alpha in (1e4, 1e5):
        theta = tk.calibrate({"a": p, "b": q}, alpha=alpha, epsilon=epsilon).theta
        worst = max(tk.renyi_divergence(*pair, alpha=alpha, theta=theta) for pair in ((p, q), (q, p)))
        assert worst == pytest.approx(epsilon, rel=1e-8)
        assert worst <= epsilon


@pytest.mark.parametrize(("alpha", "epsilon"), [(3.0, 20.0), (64.0, 20.0)])
def test_the_pair_that_asks_for_the_noise_may_not_be_the_one_that_loses_most(alpha, epsilon, tmp_path):
    wide = tk.Mixture.gaussian(0, 2)  # with a little less noise it would lose everything beside the narrow ones
    normal = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(3, 1.2), "c": wide}
    mixed = {"a": tk.Mixture([0.3, 0.7], [0, 2], [1, 0.5]), "b": tk.Mixture([0.5, 0.5], [1, 3], [0.7, 1.2]), "c": wide}
    for number, priors in enumerate((normal, mixed)):
        found = tk.calibrate(priors, alpha=alpha, epsilon=epsilon)
        assert found.loss == max(found.losses.values()) < epsilon
        found.save(tmp_path / f"{number}.json")
        assert tk.Calibration.load(tmp_path / f"{number}.json") == found
        assert tk.certify(found).theta == found.theta
