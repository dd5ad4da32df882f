"""Lemma 1 of the sampler's proof, against exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from takifugu.channels import Grid

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-(2.0**1022), max_value=2.0**1022)


@given(x=finite, exponent=st.integers(-1074, 1022))
@example(x=5e-324, exponent=1022)
@example(x=2.0**1022, exponent=-1074)
@example(x=2.0**53 - 1, exponent=0)
@example(x=2.0**52 + 0.5, exponent=0)
@example(x=0.5, exponent=0)
@example(x=-1.5, exponent=0)
@example(x=3 * 2.0**-1074, exponent=-1073)
def test_a_value_is_split_exactly(x, exponent):
    granularity = 2.0**exponent
    offset, base = np.empty(1), np.empty(1)
    with np.errstate(all="ignore"):
        Grid(granularity).split(np.array([x]), offset, base)
    multiple = Fraction(float(base[0])) / Fraction(granularity)
    assert multiple.denominator == 1
    assert abs(offset[0]) <= 0.5
    rest = Fraction(x) / Fraction(granularity) - multiple
    assert abs(Fraction(float(offset[0])) - rest) <= Fraction(1, 2**1021)
