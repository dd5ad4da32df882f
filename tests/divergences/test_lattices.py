"""Bells on a lattice: a polynomial in one exponential holds what a sum of exponentials holds."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st
from mpmath_oracle import divergence as oracle
from mpmath_oracle import parts

from takifugu import Mixture
from takifugu.divergences.certified import enclose
from takifugu.divergences.numerics import ball_integrals as integrand
from takifugu.divergences.numerics.ball_integrals import Powers, lattice_of
from takifugu.divergences.numerics.balls import Bell, ExactMixture

logs = st.dictionaries(st.integers(-40, 40).filter(bool), st.floats(-60, 20), min_size=1, max_size=30)


@given(logs, st.floats(-3, 3), st.floats(-2, 2), st.floats(-2, 2), st.sampled_from([0.0, 2.0**-50, 2.0**-20, 0.1]))
def test_the_ball_holds_the_sum(logs, rate, real, imaginary, radius):
    found = Powers({n: arb(a) for n, a in logs.items()}, arb(rate))(acb(arb(real, radius), arb(imaginary, radius)))
    with mpmath.workdps(60):
        for x, y in ((0, 0), (1, 1), (1, -1), (-1, 0)):
            u = mpmath.mpc(mpmath.mpf(real) + x * mpmath.mpf(radius), mpmath.mpf(imaginary) + y * mpmath.mpf(radius))
            exact = mpmath.fsum(mpmath.exp(mpmath.mpf(a) + n * mpmath.mpf(rate) * u) for n, a in logs.items())
            scale = mpmath.fsum(mpmath.exp(mpmath.mpf(a) + n * mpmath.mpf(rate) * u.real) for n, a in logs.items())
            for part, held in ((exact.real, found.real), (exact.imag, found.imag)):
                # Decimal digits of the oracle's own are given as room, twenty more than float64 has.
                around = arb(mpmath.nstr(part, 50), float(scale) * 1e-40 + 1e-300)
                assert held.overlaps(around)


@given(
    st.sets(st.integers(-2000, 2000), min_size=6, max_size=30),
    st.fractions(min_value=Fraction(1, 100), max_value=50, max_denominator=300),
    st.fractions(max_denominator=7),
)
def test_every_bell_stands_where_its_position_says(places, step, start):
    one, first = fmpq(step.numerator, step.denominator), fmpq(start.numerator, start.denominator)
    bells = tuple(Bell(fmpq(1), first + n * one, fmpq(3, 7)) for n in sorted(places))
    found = lattice_of(bells)
    if found is None:
        assert max(places) - min(places) > 1000
        return
    for bell, position in zip(bells, found.positions, strict=True):
        assert bell.mean == bells[0].mean + position * found.rate * fmpq(3, 7)


def test_other_bells_stand_on_none():
    bells = [Bell(fmpq(1), fmpq(n), fmpq(1)) for n in range(8)]
    assert lattice_of(tuple(bells)) is not None
    assert lattice_of(tuple(bells[:5])) is None
    assert lattice_of((*bells[:-1], Bell(fmpq(1), fmpq(7), fmpq(2)))) is None
    assert lattice_of((*bells, Bell(fmpq(1), fmpq(1, 100_000), fmpq(1)))) is None
    irregular = Mixture([0.125] * 8, np.sqrt(np.arange(8.0)), np.zeros(8))
    assert lattice_of(ExactMixture.after_noise(irregular, 1.0).bells) is None


@pytest.mark.parametrize("seed", range(6))
def test_laws_on_a_lattice_against_mpmath_and_against_the_sum(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    size, alpha = int(rng.integers(6, 40)), float(rng.uniform(1.1, 8))
    values = 0.125 * np.arange(size)
    p, q = (Mixture.empirical(values, rng.dirichlet(np.full(size, 0.5)) + 1e-9) for _ in range(2))
    theta = float(rng.uniform(0.2, 1.5))
    assert lattice_of(ExactMixture.after_noise(p, theta).bells) is not None
    found = enclose(p, q, alpha=alpha, theta=theta)
    expected = oracle(parts(p), parts(q), alpha, theta)
    assert found.lower * (1 - 1e-12) <= expected <= found.upper * (1 + 1e-12)
    assert found.width <= 1e-11 * found.upper
    monkeypatch.setattr(integrand, "lattice_of", lambda bells: None)
    summed = enclose(p, q, alpha=alpha, theta=theta)
    assert max(found.lower, summed.lower) <= min(found.upper, summed.upper)


def test_a_thin_ball_takes_the_polynomial():
    powers = Powers({n: arb(-n * n) for n in range(1, 30)}, arb(1) / 3)
    before = ctx.prec
    thin = powers(acb(0.5))
    assert ctx.prec == before
    assert float(thin.real.mid()) == pytest.approx(math.fsum(math.exp(-n * n + n / 6) for n in range(1, 30)), rel=1e-14)
    assert float(thin.rad()) < 1e-12
