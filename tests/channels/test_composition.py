import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.channels import WHOLE, GaussianNoise
from takifugu.errors import InputError

share, least_theta, effective_theta = GaussianNoise.share, GaussianNoise.least, GaussianNoise.effective

thetas = st.floats(min_value=1e-300, max_value=1e300)


@given(theta=thetas, budget=thetas)
def test_a_share_is_never_too_small_and_hardly_too_large(theta, budget):
    exact = (Fraction(budget) / Fraction(theta)) ** 2 * WHOLE
    assert exact <= share(theta, budget=budget) < exact + 1


@given(budget=thetas, left=st.integers(1, WHOLE))
def test_the_least_noise_fits_and_nothing_less_does(budget, left):
    theta = least_theta(left, budget=budget)
    if math.isfinite(theta):
        assert share(theta, budget=budget) <= left
    assert share(math.nextafter(theta, 0), budget=budget) > left


@settings(max_examples=some_of(100))
@given(budget=thetas, spent=st.integers(1, WHOLE))
def test_the_effective_noise_is_never_overstated(budget, spent):
    theta = effective_theta(spent, budget=budget)
    assert theta == math.inf or share(theta, budget=budget) >= spent


@given(st.lists(st.floats(min_value=1e-3, max_value=1e3), min_size=1, max_size=20))
def test_shares_add_as_precisions_do(noises):
    spent = sum(share(t, budget=1e-3) for t in noises)
    expected = 1 / math.sqrt(math.fsum(1 / t**2 for t in noises))
    assert effective_theta(spent, budget=1e-3) == pytest.approx(expected, rel=1e-12)


def test_the_ends():
    assert share(1.0, budget=1.0) == WHOLE
    assert share(5.0, budget=0.0) == share(0.0, budget=0.0) == 0
    assert least_theta(WHOLE, budget=0.3) == 0.3
    assert least_theta(0, budget=1.0) == math.inf
    assert least_theta(0, budget=0.0) == effective_theta(0, budget=0.0) == 0.0
    assert effective_theta(0, budget=1.0) == math.inf
    with pytest.raises(InputError, match="without noise"):
        share(0.0, budget=1.0)
