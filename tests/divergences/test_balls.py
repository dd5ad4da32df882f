"""Outward rounding: the floats returned always hold the number, and are as near as floats can be."""

import math
from fractions import Fraction

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from takifugu.divergences.numerics.balls import (
    INFINITE,
    UNKNOWN,
    Enclosure,
    dyadic,
    fraction,
    meet,
    outward,
    working_precision,
)
from takifugu.errors import CertificationError


@given(st.integers(0, 10**40), st.integers(1, 10**40))
def test_a_rational_number_lies_between_neighbouring_floats(above, below):
    found = outward(fmpq(above, below))
    assert found.lower <= Fraction(above, below) <= found.upper
    assert found.upper in (found.lower, math.nextafter(found.lower, math.inf))


@given(st.integers(1, 2**80), st.integers(-6000, 6000), st.integers(0, 2**30))
def test_a_ball_is_rounded_outwards(mantissa, exponent, spread):
    radius = arb((spread, exponent))
    found = outward(arb(arb((mantissa, exponent)), radius))
    scale = Fraction(2) ** exponent
    assert found.lower <= max(0, mantissa - spread) * scale
    assert found.upper == math.inf or Fraction(found.upper) >= (mantissa + spread) * scale


def test_a_long_mantissa_far_out_has_a_side():
    """A sign that would have to become a float first has none."""
    with working_precision(2_000):
        far = arb((1 << 1100) + 1) * arb(2) ** 5_000
        assert outward(far) == Enclosure(1.7976931348623157e308, math.inf)


def test_nothing_is_negative_and_infinity_is_kept():
    assert outward(arb(0, 1)).lower == 0.0
    assert outward(arb(-2, 1)) == Enclosure(0.0, 0.0)
    assert outward(arb.pos_inf()) == INFINITE
    assert outward(arb.nan()) == UNKNOWN
    assert outward(arb(0, arb.pos_inf())) == UNKNOWN


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_becomes_a_ball_of_radius_zero(number):
    ball = dyadic(fraction(number))
    assert ball.is_exact()
    assert float(ball) == number


def test_enclosures_meet_or_say_that_something_is_wrong():
    assert meet(Enclosure(0.0, 2.0), Enclosure(1.0, 3.0)) == Enclosure(1.0, 2.0)
    with pytest.raises(CertificationError, match="nothing is proved"):
        meet(Enclosure(0.0, 1.0), Enclosure(2.0, 3.0))
