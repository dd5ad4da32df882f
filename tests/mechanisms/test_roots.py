"""Roots beside SciPy's Brent: as close, and in about as many looks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from takifugu.mechanisms.closed_form import crossing

SHAPES = {
    "line": lambda x, r: x - r,
    "cube": lambda x, r: (x - r) ** 3,
    "steep": lambda x, r: math.expm1(min(50 * (x - r), 700.0)),
    "flat": lambda x, r: math.tanh(40 * (x - r)),
    "step": lambda x, r: -1.0 if x < r else 1.0,
    "hyperbola": lambda x, r: 1 - (r + 0.1) / (x + 0.1),
}


@given(root=st.floats(1e-6, 9.99), shape=st.sampled_from(sorted(SHAPES)), digits=st.integers(3, 14))
def test_the_upper_end_of_a_short_interval_around_a_change_of_sign(root, shape, digits):
    xtol = 10.0**-digits
    found = crossing(lambda x: SHAPES[shape](x, root), 0.0, 10.0, xtol=xtol)
    assert SHAPES[shape](found, root) >= 0
    if shape != "cube":  # so flat that it is 0 in floats around its root
        assert root <= found * (1 + 1e-15)
        assert found <= root + xtol + 1e-15 * root


@pytest.mark.parametrize("shape", sorted(SHAPES.keys() - {"cube"}))  # on which SciPy's does not settle
def test_about_as_many_looks_as_brent(shape):
    looks = [0, 0]

    def f(x, which):
        looks[which] += 1
        return SHAPES[shape](x, math.e)

    found = crossing(lambda x: f(x, 0), 0.0, 10.0, xtol=1e-12)
    assert found == pytest.approx(brentq(lambda x: f(x, 1), 0.0, 10.0, xtol=1e-12), abs=2e-12)
    assert looks[0] <= looks[1] + 8


def test_no_number_ends_it():
    assert crossing(lambda x: math.nan if x < 0.5 else 1.0, 0.0, 1.0, xtol=1e-9) >= 0.5
