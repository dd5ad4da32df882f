"""The paper's Algorithm 1 as printed, kept here only to show what it does.

Its search starts from R = αΔ/2ε, the noise that would be enough if the two variances were equal. When they are not, R
may be too little, and nothing in the loop ever raises it. At z + A(α) <= 0 equation 3 asks for the logarithm of what
is not positive: in floating point that is NaN, `val > ε` is then false, and the loop takes the point for private.
The transcription keeps both. `charitable=True` reads such a point as infinitely revealing, as it is.
"""

import math

import numpy as np
import pytest

from how_many import some_of
from oracles import gaussian_ball
from takifugu import Mixture, calibrate, renyi_divergence

CASES = some_of(10_000)


def g(z, mean_i, var_i, mean_j, var_j, alpha):
    """Equation 3, term by term, in floating point."""
    A = (1 - alpha) * var_i + alpha * var_j
    gap = (mean_i - mean_j) ** 2
    S, e_i, e_j = z + A, z + var_i, z + var_j
    if S <= 0:  # where floating point has a logarithm of NaN, or a division by zero, and Python raises
        return math.nan
    return alpha * gap / (2 * S) + (math.log(S) - (1 - alpha) * math.log(e_i) - alpha * math.log(e_j)) / (
        2 * (1 - alpha)
    )


def algorithm_1(mean_i, var_i, mean_j, var_j, *, alpha, epsilon, tolerance, charitable=False):
    """Algorithm 1, line by line."""
    A = (1 - alpha) * var_i + alpha * var_j
    L, R = 0.0, alpha * (mean_i - mean_j) ** 2 / (2 * epsilon)
    while tolerance < R - L:
        M = (L + R) / 2
        val = g(M, mean_i, var_i, mean_j, var_j, alpha)
        if charitable and M + A <= 0:
            val = math.inf
        if val > epsilon:
            L = M
        else:
            R = M
    return R


def random_cases(span):
    """σ log-uniform within a factor `span`, centred at 1; means normal with deviation 3; α and ε log-uniform on
    [1.05, 64] and [0.001, 8].
    """
    rng = np.random.default_rng(2026)
    stds = np.exp(rng.uniform(-0.5, 0.5, size=(CASES, 2)) * math.log(span))
    means = 3 * rng.normal(size=(CASES, 2))
    alphas = np.exp(rng.uniform(np.log(1.05), np.log(64), size=CASES))
    epsilons = np.exp(rng.uniform(np.log(0.001), np.log(8), size=CASES))
    return list(zip(means.tolist(), stds.tolist(), alphas.tolist(), epsilons.tolist(), strict=True))


def breaks(case, charitable):
    (m, n), (s, t), alpha, epsilon = case
    tolerance = 1e-12 * (1 + alpha * (m - n) ** 2 / (2 * epsilon))
    options = {"alpha": alpha, "epsilon": epsilon, "tolerance": tolerance, "charitable": charitable}
    theta = math.sqrt(algorithm_1(m, s * s, n, t * t, **options))
    p, q = Mixture.gaussian(m, s), Mixture.gaussian(n, t)
    return renyi_divergence(p, q, alpha=alpha, theta=theta) > epsilon * (1 + 1e-6)


def test_equal_means_get_no_noise_whatever_the_variances():
    for charitable in (False, True):
        found = algorithm_1(0, 4, 0, 1, alpha=3, epsilon=0.5, tolerance=1e-12, charitable=charitable)
        assert found == 0
    assert renyi_divergence(Mixture.gaussian(0, 2), Mixture.gaussian(0, 1), alpha=3) == math.inf
    needed = calibrate({"i": Mixture.gaussian(0, 2), "j": Mixture.gaussian(0, 1)}, alpha=3, epsilon=0.5).variance
    assert needed == pytest.approx(5.4017, abs=1e-4)


def test_a_point_outside_the_domain_is_taken_for_private():
    found = algorithm_1(1, 4, 0, 1, alpha=3, epsilon=0.5, tolerance=1e-12)
    assert found < 1e-11  # z + A(3) = z − 5 is negative below 5: every comparison with NaN is false
    assert renyi_divergence(Mixture.gaussian(1, 2), Mixture.gaussian(0, 1), alpha=3, theta=math.sqrt(found)) == math.inf


def test_the_upper_end_need_not_be_feasible():
    # R = 3·1/(2·0.5) = 3, still outside the domain: with NaN read as infinite the loop climbs to R and stops there
    found = algorithm_1(1, 4, 0, 1, alpha=3, epsilon=0.5, tolerance=1e-12, charitable=True)
    assert found == pytest.approx(3.0)
    # inside the domain and yet over the budget: R = 2·16/(2·2) = 8 leaves a loss of 2.73 where 2 was asked for
    found = algorithm_1(4, 4, 0, 1, alpha=2, epsilon=2, tolerance=1e-12, charitable=True)
    assert found == pytest.approx(8.0)
    p, q = Mixture.gaussian(4, 2), Mixture.gaussian(0, 1)
    assert renyi_divergence(p, q, alpha=2, theta=math.sqrt(found)) == pytest.approx(2.72556, abs=1e-5)
    assert calibrate({"i": p, "j": q}, alpha=2, epsilon=2).variance == pytest.approx(10.1531, abs=1e-4)


# Measured: 35.3 % where the standard deviations are within a factor of 2, 53.2 % where they are within 100.
@pytest.mark.parametrize(("span", "low", "high"), [(2, 0.33, 0.38), (100, 0.50, 0.56)])
def test_share_of_random_cases_that_break_the_budget(span, low, high):
    cases = random_cases(span)
    broken = [breaks(case, charitable=False) for case in cases]
    assert low <= sum(broken) / CASES <= high
    # Reading NaN as infinite saves nobody: where A(α) < 0, R lies below what the means alone require, R − A(α).
    assert sum(breaks(case, charitable=True) for case in cases) == sum(broken)
    for ((m, n), (s, t), alpha, epsilon), wrong in zip(cases, broken, strict=True):
        A, R = alpha * t * t - (alpha - 1) * s * s, alpha * (m - n) ** 2 / (2 * epsilon)
        assert wrong or A > -1e-5 * (1 + R)


def test_the_exact_mechanism_never_breaks():
    for (m, n), (s, t), alpha, epsilon in random_cases(span=100):
        priors = {"i": Mixture.gaussian(m, s), "j": Mixture.gaussian(n, t)}
        theta = calibrate(priors, alpha=alpha, epsilon=epsilon).theta
        assert gaussian_ball(m, s, n, t, alpha=alpha, theta=theta) <= epsilon
        assert gaussian_ball(n, t, m, s, alpha=alpha, theta=theta) <= epsilon
