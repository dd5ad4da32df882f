"""The table's bound against mpmath, which shares no code with the ball arithmetic that made it."""

import mpmath
import numpy as np
import pytest

from takifugu.channels.rounded_draws import BITS, NORMAL, OFFSET, SHIFT, table_of


def rows_of(a):
    return np.maximum((np.asarray(a, dtype=np.float64).view(np.int64) >> SHIFT) - OFFSET, 0)


def evaluate(a):
    table, r = table_of(NORMAL), rows_of(a)
    return table.c0[r] + (table.c1[r] + table.c2[r] * a) * a, table.error[r]


def quantile(a):
    """|N| at the uniform a·2⁻³¹, by mpmath's own root finder."""
    u = mpmath.mpf(float(a)) / 2**BITS
    if u >= 1:
        return mpmath.mpf(0)
    start = mpmath.sqrt(2) * mpmath.erfinv(1 - u) if u > 1e-3 else mpmath.sqrt(-2 * mpmath.log(u))
    return mpmath.findroot(lambda q: mpmath.log(mpmath.erfc(q / mpmath.sqrt(2)) / u), start)


def test_the_table_covers_what_it_says():
    assert rows_of([2.0**31 - 0.5, 2.0**30, 2.0**15 + 0.5, 2.0**15 - 0.5, 0.5]).tolist() == [
        2048,
        1921,
        1,
        0,
        0,
    ]
    table = table_of(NORMAL)
    assert len(table.error) == 2049
    assert table.error[0] == np.inf
    assert not table.c0.flags.writeable


@pytest.mark.parametrize("seed", range(3))
def test_every_real_near_a_point_lies_within_the_bound(seed):
    rng = np.random.default_rng(seed)
    i = np.floor(2.0 ** rng.uniform(15, 31, size=150))
    i[:20] = 2.0**15 + np.arange(20)  # the ends of the table and of its segments
    i[20:40] = 2.0**31 - 1 - np.arange(20)
    approximate, error = evaluate(i + 0.5)
    with mpmath.workdps(40):
        for k in range(len(i)):
            for a in (i[k], i[k] + 0.5, i[k] + 1):
                assert abs(quantile(a) - mpmath.mpf(approximate[k])) <= error[k]


def test_the_bound_is_not_much_larger_than_it_must_be():
    """Half the spacing of the bits is lost whatever the table does; the parabola costs little more."""
    table = table_of(NORMAL)
    a = 2.0**30 * (1 + (np.arange(128) + 0.5) / 128)
    least = 0.5 * np.abs(table.c1[rows_of(a)] + 2 * table.c2[rows_of(a)] * a)
    assert (table.error[rows_of(a)] < 20 * least).all()


def test_the_draws_of_the_table_are_small_enough_for_the_slack():
    """The slack assumes draws below 8; the largest is that of the table's first point."""
    assert 4.0 < evaluate(np.array([2.0**15 + 0.5]))[0][0] < 4.5
