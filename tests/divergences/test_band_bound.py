"""The bound over bands: envelopes by linear programming, integrals in many digits, and no law in a band beats it."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from how_many import some_of
from takifugu.divergences.band import BandLoss, band_upper, largest_laws, smallest_laws
from takifugu.divergences.mixtures import divergence
from takifugu.divergences.numerics.balls import Effort
from takifugu.laws.bounds import Band
from takifugu.laws.lattice import Lattice
from takifugu.laws.mixture import Mixture


def random_band(rng, size, spread=None):
    spread = 10 ** rng.uniform(-2, -0.3) if spread is None else spread
    upto = np.cumsum(rng.dirichlet(np.full(size, 10 ** rng.uniform(-0.5, 1))))[:-1]
    lower = np.maximum.accumulate(np.clip(upto - spread * rng.random(size - 1), 0, 1))
    upper = np.minimum.accumulate(np.clip(upto + spread * rng.random(size - 1), 0, 1)[::-1])[::-1].copy()
    return Band(np.minimum(lower, upper), upper)


def random_law(rng, band):
    """A law in the band: a path that never falls between the bounds."""
    upto, at = [], 0.0
    corner = rng.random() < 0.5
    for low, high in zip(band.lower, band.upper, strict=True):
        low = max(low, at)
        at = rng.choice([low, high]) if corner else rng.uniform(low, high)
        upto.append(at)
    return np.diff([0.0, *upto, 1.0])


@given(st.integers(0, 10**6))
@settings(max_examples=some_of(40))
def test_envelopes_against_linear_programming(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    band, noise = random_band(rng, size), 10 ** rng.uniform(-0.3, 1)
    largest, smallest = largest_laws(band), smallest_laws(band)
    # Masses w >= 0 with cumulative sums in the band.
    sums = np.tril(np.ones((size - 1, size)))
    rows, limits = np.vstack([sums, -sums]), np.concatenate([band.upper, -band.lower])
    for half in range(2 * (size - 1)):
        t = 0.5 * (half + rng.random())
        bells = np.exp(-0.5 * ((t - np.arange(size)) / noise) ** 2)
        for laws, sign in ((smallest, 1.0), (largest, -1.0)):
            best = linprog(sign * bells, A_ub=rows, b_ub=limits, A_eq=np.ones((1, size)), b_eq=[1.0], bounds=(0, None))
            assert laws[half] @ bells == pytest.approx(sign * best.fun, rel=1e-6, abs=1e-7)  # HiGHS keeps 1e-7
            assert laws[half].min() >= 0
            assert laws[half].sum() == pytest.approx(1)


@given(st.integers(0, 10**6))
@settings(max_examples=some_of(25))
def test_no_law_in_the_bands_loses_more(seed):
    rng = np.random.default_rng(seed)
    size, alpha = int(rng.integers(2, 12)), float(1 + 10 ** rng.uniform(-1, 1))
    p, q = random_band(rng, size), random_band(rng, size)
    noise = float(10 ** rng.uniform(-0.3, 1))
    bound = BandLoss(p, q).bound(alpha=alpha, noise=noise)
    points = np.arange(float(size))
    for _ in range(4):
        left, right = (Mixture.empirical(points, random_law(rng, band)) for band in (p, q))
        assert divergence(left, right, alpha=alpha, theta=noise) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(some_of(6)))
def test_the_proof_agrees_with_quadrature_in_many_digits(seed):
    rng = np.random.default_rng(seed)
    size, alpha = int(rng.integers(2, 6)), float(rng.choice([1.5, 2.0, 3.0, 6.5]))
    p, q = random_band(rng, size), random_band(rng, size)
    noise = float(rng.choice([0.6, 1.0, 3.0]))
    largest, smallest = largest_laws(p), smallest_laws(q)
    with mp.workdps(20):
        total = mp.mpf(0)
        for half in range(2 * (size - 1)):

            def integrand(t, half=half):
                bells = [mp.exp(-(((t - k) / noise) ** 2) / 2) / (noise * mp.sqrt(2 * mp.pi)) for k in range(size)]
                top = mp.fdot(largest[half].tolist(), bells)
                return top**alpha * mp.fdot(smallest[half].tolist(), bells) ** (1 - alpha)

            cuts = [mp.mpf(half) / 2, mp.mpf(half + 1) / 2]
            if half == 0:
                cuts = [-noise * k for k in (60, 30, 15, 8, 4, 2)] + cuts
            if half == 2 * (size - 1) - 1:
                cuts += [size - 1 + noise * k for k in (2, 4, 8, 15, 30, 60)]
            total += mp.quad(integrand, cuts)
        truth = float(mp.log(total) / (alpha - 1))
    lattice = Lattice(0, size - 1, 1)
    proved = band_upper(lattice, p, q, alpha=alpha, theta=noise)
    assert truth * (1 - 1e-9) <= proved <= truth * (1 + 1e-6) + 1e-8
    assert BandLoss(p, q).bound(alpha=alpha, noise=noise) == pytest.approx(truth, rel=1e-8)


def test_points_that_are_no_exact_decimals_cost_next_to_nothing():
    rng = np.random.default_rng(1)
    p, q = random_band(rng, 8), random_band(rng, 8)
    whole = band_upper(Lattice(0, 7, 1), p, q, alpha=3.0, theta=2.0)
    tenths = band_upper(Lattice(0, 0.7, 0.1), p, q, alpha=3.0, theta=0.2)
    far = band_upper(Lattice(1e6, 1e6 + 0.7, 0.1), p, q, alpha=3.0, theta=0.2)
    assert tenths == pytest.approx(whole, rel=1e-9)
    assert whole <= far <= whole * (1 + 1e-5)


def test_without_noise_it_is_a_sum_over_points():
    p = Band(np.array([0.3, 0.6]), np.array([0.4, 0.7]))
    q = Band(np.array([0.3, 0.6]), np.array([0.4, 0.7]))
    # p⁺ = (.4, .7 − .3, 1 − .6), q⁻ = (.3, .6 − .4, 1 − .7)
    truth = math.log(0.4**2 / 0.3 + 0.4**2 / 0.2 + 0.4**2 / 0.3)
    assert BandLoss(p, q).bound(alpha=2.0, noise=0.0) == pytest.approx(truth)
    assert band_upper(Lattice(0, 2, 1), p, q, alpha=2.0, theta=0.0) == pytest.approx(truth)
    empty = Band(np.array([0.3, 0.3]), np.array([0.4, 0.7]))
    assert math.isinf(BandLoss(p, empty).bound(alpha=2.0, noise=0.0))
    assert math.isinf(band_upper(Lattice(0, 2, 1), p, empty, alpha=2.0, theta=0.0))


def test_more_noise_never_raises_the_bound():
    rng = np.random.default_rng(3)
    for _ in range(10):
        size = int(rng.integers(2, 10))
        loss = BandLoss(random_band(rng, size), random_band(rng, size))
        bounds = [loss.bound(alpha=2.5, noise=s) for s in (0.3, 0.5, 1.0, 2.0, 5.0, 20.0)]
        assert bounds == sorted(bounds, reverse=True)


def test_a_limit_on_work_proves_nothing():
    rng = np.random.default_rng(0)
    p, q = random_band(rng, 6), random_band(rng, 6)
    assert math.isinf(band_upper(Lattice(0, 5, 1), p, q, alpha=3.0, theta=1.0, effort=Effort(100)))
