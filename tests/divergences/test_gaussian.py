import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from how_many import some_of
from oracles import gaussian_divergence as truth
from oracles import relative_error
from takifugu import Mixture, renyi_divergence
from takifugu.divergences.gaussians import exact_margin, gaussian_divergence

orders = st.one_of(st.sampled_from([1.001, 1000.0]), st.floats(1.0001, 1e4))
widths = st.floats(1e-6, 1e6)


gaps = st.one_of(st.just(0.0), st.floats(1e-20, 1e6))


@settings(max_examples=some_of(100))
@given(gap=gaps, std_p=widths, std_q=widths, alpha=orders, theta=st.floats(0, 1e6))
def test_agrees_with_forty_digits(gap, std_p, std_q, alpha, theta):
    value = gaussian_divergence(gap, std_p, std_q, alpha=alpha, theta=theta)
    assert relative_error(value, truth(gap, std_p, std_q, alpha, theta)) < 1e-12


@pytest.mark.parametrize("alpha", [1.001, 1.5, 2.0, 64.0, 1000.0])
@pytest.mark.parametrize("apart", [1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("gap", [0.0, 1e-9, 1.0])
@pytest.mark.parametrize("theta", [0.0, 0.3, 40.0])
def test_keeps_its_digits_when_variances_almost_agree(alpha, apart, gap, theta):
    for std_q in (1 + apart, 1 - apart):
        value = gaussian_divergence(gap, 1.0, std_q, alpha=alpha, theta=theta)
        assert relative_error(value, truth(gap, 1.0, std_q, alpha, theta)) < 1e-12


@given(alpha=st.floats(1.01, 1000), std_p=widths, tilt=st.floats(-1e-6, 1e-6), theta=st.sampled_from([0.0, 1e-3, 1.0]))
def test_infinite_exactly_where_the_margin_is_not_positive(alpha, std_p, tilt, theta):
    square = ((alpha - 1) * std_p**2 - theta**2) / alpha
    assume(square > 0)
    std_q = math.sqrt(square) * (1 + tilt)  # on both sides of the edge of convergence
    value = gaussian_divergence(1.0, std_p, std_q, alpha=alpha, theta=theta)
    expected = truth(1.0, std_p, std_q, alpha, theta, digits=80)
    assert math.isinf(value) == (exact_margin(std_p, std_q, alpha=alpha, theta=theta) <= 0)
    if expected < 1e300:
        assert relative_error(value, expected) < 1e-12


@pytest.mark.parametrize(
    ("p", "q", "theta", "expected"),
    [
        ((0, 0), (0, 0), 0.0, 0.0),
        ((0, 0), (1, 0), 0.0, math.inf),
        ((0, 0), (0, 1), 0.0, math.inf),
        ((0, 1), (0, 0), 0.0, math.inf),
        ((0, 0), (1, 0), 1.0, 1.0),
        ((1e308, 1e308), (-1e308, 1e308), 0.0, 4.0),
        ((1e-310, 1e-310), (0, 1e-310), 0.0, 1.0),
    ],
)
def test_points_and_the_ends_of_the_float_range(p, q, theta, expected):
    value = renyi_divergence(Mixture.gaussian(*p), Mixture.gaussian(*q), alpha=2, theta=theta)
    assert value == pytest.approx(expected, rel=1e-12)


def test_no_valid_input_gives_nan_or_a_warning():
    rng = np.random.default_rng(0)
    sizes = [0.0, 5e-324, 1e-300, 1e-160, 1e-20, 1.0, 1e20, 1e160, 1e300, 1.7e308]
    for _ in range(some_of(20_000)):
        gap, std_p, std_q, theta = rng.choice(sizes, 4)
        alpha = float(rng.choice([1 + 2**-52, 1.001, 2, 1e3, 1e15, 1e300]))
        value = renyi_divergence(
            Mixture.gaussian(gap, std_p), Mixture.gaussian(0, std_q), alpha=alpha, theta=float(theta)
        )
        assert value >= 0
