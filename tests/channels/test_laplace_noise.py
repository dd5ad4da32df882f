import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import chisquare

from how_many import some_of
from takifugu import GaussianNoise, LaplaceNoise, Mixture
from takifugu.channels import WHOLE, noise_family, noise_kinds
from takifugu.channels.rounded_draws import BITS, OFFSET, SHIFT, exact_multiple, rounded, table_of
from takifugu.channels.sampling import InsecureSeededBits
from takifugu.errors import InputError

EXPONENTIAL = LaplaceNoise.shape
scales = st.floats(min_value=1e-300, max_value=1e300)


def rows_of(a):
    return (np.asarray(a, dtype=float).view(np.int64) >> SHIFT) - OFFSET


@pytest.mark.parametrize("seed", range(some_of(6)))
def test_every_real_near_a_point_lies_within_the_bound_of_the_table(seed):
    rng = np.random.default_rng(seed)
    table = table_of(EXPONENTIAL)
    whole = np.concatenate([2.0 ** rng.uniform(15, 31, 300), [2.0**15, 2.0**31 - 1, 2.0**16 - 1, 2.0**16]]).astype(
        np.int64
    )
    a = whole + 0.5
    r = rows_of(a)
    draws = table.c0[r] + (table.c1[r] + table.c2[r] * a) * a
    with mpmath.workdps(40):
        for i, n, error in zip(whole.tolist(), draws.tolist(), table.error[r].tolist(), strict=True):
            for real in (mpmath.mpf(i), mpmath.mpf(i) + 0.5, mpmath.mpf(i) + 1):
                assert abs(-mpmath.log(real / 2**BITS) - n) <= error
    assert len(table.error) == 2049
    assert table.error[0] == np.inf
    assert abs(draws).max() < 11.2  # what lemma 3 of proofs/sampler.md has room for


def test_four_derivatives_are_those_of_the_logarithm_and_grow_to_the_left():
    from flint import arb

    for a in (2.0**15, 123_456.0, 2.0**30):
        given_ones = [float(d.mid()) for d in EXPONENTIAL.derivatives(arb(a))]
        for k, found in enumerate(given_ones):
            assert found == pytest.approx(float(mpmath.diff(lambda x: -mpmath.log(x / 2**BITS), a, k)), rel=1e-6)
        further = [float(d.mid()) for d in EXPONENTIAL.derivatives(arb(2 * a))]
        assert all(abs(one) > abs(other) for one, other in zip(given_ones[1:], further[1:], strict=True))


@pytest.mark.parametrize(
    ("scale", "granularity"), [(1.0, 2**-10), (0.3, 0.25), (7.5, 2.0**-20), (1e-9, 2.0**-45), (3.0, 16.0)]
)
def test_both_paths_give_the_same_values_bit_for_bit(scale, granularity):
    x = np.random.default_rng(1).normal(0, 100 * scale, some_of(3_000))
    fast, exact = (
        rounded(x, EXPONENTIAL, theta=scale, granularity=granularity, source=InsecureSeededBits(3), exact_only=only)
        for only in (False, True)
    )
    assert np.array_equal(fast, exact)


@given(st.integers(0, 2**31 - 1), st.booleans(), st.floats(-1e6, 1e6), st.floats(1e-3, 1e3))
def test_a_draw_is_rounded_as_the_quantile_says(size, negative, x, scale):
    word = ~size if negative else size
    source = InsecureSeededBits(5)
    found = exact_multiple(x, word, source, theta=scale, granularity=2.0**-8, shape=EXPONENTIAL)
    with mpmath.workdps(60):
        sign = -1 if negative else 1
        ends = sorted(
            (mpmath.mpf(x) - sign * scale * mpmath.log(mpmath.mpf(u) / 2**BITS)) * 2**8
            for u in (max(size, 2**-200), size + 1)
        )
        assert ends[0] - 0.5 <= found <= ends[1] + 0.5


@pytest.mark.parametrize(("scale", "x"), [(0.5, 0.0), (0.7, 0.3), (2.0, -1.25)])
def test_draws_have_the_law_of_a_rounded_laplace_variable(scale, x):
    n = some_of(1_200_000)
    drawn = LaplaceNoise(scale).draw(np.full(n, x), granularity=1.0, source=InsecureSeededBits(11))
    values = np.arange(-40, 41)
    edges = np.append(values - 0.5, 40.5) - x
    mass = np.diff(
        np.where(edges < 0, 0.5 * np.exp(np.minimum(edges, 0) / scale), 1 - 0.5 * np.exp(-np.maximum(edges, 0) / scale))
    )
    seen = np.array([(drawn == v).sum() for v in values])
    assert seen.sum() == n
    kept = mass * n > 5
    rest = (seen[~kept].sum(), mass[~kept].sum() * n)
    statistic = chisquare(
        np.append(seen[kept], rest[0]), np.append(mass[kept] * n, max(rest[1], n - (mass[kept] * n).sum()))
    )
    assert statistic.pvalue > 1e-5


def test_no_bits_of_a_float_addition_are_left():
    published = LaplaceNoise(0.7).draw(np.full(1_000, 0.1), source=InsecureSeededBits(2))
    assert np.array_equal(published % 2.0**-11, np.zeros(1_000))
    assert not (np.signbit(published) & (published == 0)).any()


@given(scale=scales, budget=scales)
def test_a_share_is_the_quotient_rounded_up(scale, budget):
    exact = Fraction(budget) / Fraction(scale) * WHOLE
    assert exact <= LaplaceNoise.share(scale, budget=budget) < exact + 1


@given(st.lists(st.floats(min_value=1e-3, max_value=1e3), min_size=1, max_size=20))
def test_shares_never_add_up_to_more_than_the_budget(noises):
    spent = sum(LaplaceNoise.share(b, budget=1e-3) for b in noises)
    together = 1 / sum(1 / Fraction(b) for b in noises)
    assert LaplaceNoise.effective(spent, budget=1e-3) <= together
    assert LaplaceNoise.effective(spent, budget=1e-3) == pytest.approx(float(together), rel=1e-12)


@given(budget=scales, left=st.integers(1, WHOLE))
def test_the_least_noise_fits_and_nothing_less_does(budget, left):
    size = LaplaceNoise.least(left, budget=budget)
    if math.isfinite(size):
        assert LaplaceNoise.share(size, budget=budget) <= left
    assert LaplaceNoise.share(math.nextafter(size, 0), budget=budget) > left


def test_the_ends_of_a_budget():
    for family in (GaussianNoise, LaplaceNoise):
        assert family.share(1.0, budget=1.0) == WHOLE
        assert family.share(0.0, budget=0.0) == 0
        assert family.least(WHOLE, budget=0.3) == 0.3
        assert family.least(0, budget=1.0) == family.effective(0, budget=1.0) == math.inf
        with pytest.raises(InputError, match="without noise"):
            family.share(0.0, budget=1.0)


def test_what_it_says_of_itself():
    channel = LaplaceNoise(2)
    assert (channel.size, channel.std, channel.variance) == (2.0, pytest.approx(math.sqrt(8)), 8.0)
    assert channel.to_state() == {"kind": "laplace", "scale": 2.0}
    assert channel.describe() == "Laplace noise of scale b = 2"
    assert noise_family("laplace") is LaplaceNoise
    assert noise_kinds()[:2] == ["gaussian", "laplace"]
    at = np.linspace(-200, 200, 400_001)
    law = Mixture([0.3, 0.7], [0, 1], [0, 2])
    assert trapezoid(channel.density(law, at), at) == pytest.approx(1, abs=1e-6)
    assert channel.below(np.array([-1.0, 0.0, 1.0])) == pytest.approx(
        [0.5 * math.exp(-0.5), 0.5, 1 - 0.5 * math.exp(-0.5)]
    )
    assert channel.beyond(100.0, 1.0, 2.0) == pytest.approx(100 / math.e)
    for bad in (-1, math.nan, math.inf, "1", True):
        with pytest.raises(InputError, match="scale must be a finite number, at least 0"):
            LaplaceNoise(bad)
    with pytest.raises(InputError, match="no noise of the kind 'cauchy'"):
        noise_family("cauchy")
