import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.mechanisms.closed_form import least_variance


@given(
    root=st.floats(1e-12, 1e12),
    epsilon=st.floats(1e-6, 1e3),
    floor=st.sampled_from([0.0, 1e-9, 1.0]),
    start=st.floats(1e-9, 1e9),
    shape=st.sampled_from(["hyperbola", "cliff", "steep", "nan"]),
)
def test_returns_a_point_that_was_seen_to_be_enough(root, epsilon, floor, start, shape):
    seen = {}

    def loss(z):
        if shape == "cliff":
            value = math.inf if z < root else 0.0
        elif shape == "nan":
            value = math.nan if z < root else epsilon / 2
        elif shape == "steep":
            value = epsilon * math.exp(min(700, (root - z) / root * 50))
        else:
            value = epsilon * root / z if z > 0 else math.inf
        seen[z] = value
        return value

    found = least_variance(loss, epsilon=epsilon, floor=floor, start=start, rtol=1e-12)
    assert seen[found] <= epsilon
    assert found >= floor
    assert found <= max(root, floor) * (1 + 1e-9) + 1e-11


def test_a_loss_that_never_falls_is_infinite_noise():
    assert least_variance(lambda z: 2.0, epsilon=1.0, floor=0.0, start=1.0, rtol=1e-9) == math.inf


def test_the_floor_is_returned_where_it_is_enough():
    assert least_variance(lambda z: 0.5, epsilon=1.0, floor=3.0, start=1.0, rtol=1e-9) == 3.0


def test_units_far_from_one_are_searched_to_the_same_digits():
    for size in (1e-200, 1e200):
        found = least_variance(lambda z, s=size: s / z if z else math.inf, epsilon=1.0, floor=0.0, start=1.0, rtol=1e-9)
        assert found == pytest.approx(size, rel=1e-8)
