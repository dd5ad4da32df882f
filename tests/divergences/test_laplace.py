import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from how_many import some_of
from takifugu import LaplaceNoise, Mixture, max_divergence
from takifugu.divergences import Effort, LogLaplace, decide_odds_after_laplace, odds_after_laplace, working_precision
from takifugu.divergences.laplace_odds import ExactLaplace, _at_most, _larger
from takifugu.divergences.numerics.balls import fraction
from takifugu.errors import InputError


def some_law(rng, *, points=None):
    n = int(rng.integers(1, 4))
    stds = rng.uniform(0.2, 2.0, n)
    if points is None:
        stds[rng.random(n) < 0.4] = 0.0
    else:
        stds[:] = 0.0 if points else stds
    return Mixture(rng.dirichlet(np.ones(n)), rng.choice([-2.0, -1.0, 0.0, 0.5, 3.0], n, replace=False), stds)


def density(law, b, y):
    """2b times the density after noise, by the formula for each component."""
    u, total = 1 / mpmath.mpf(b), mpmath.mpf(0)
    for w, m, s in zip(law.weights.tolist(), law.means.tolist(), law.stds.tolist(), strict=True):
        gap = mpmath.mpf(y) - m
        if s == 0:
            total += w * mpmath.exp(-u * abs(gap))
        else:
            bend = (u * s) ** 2 / 2
            total += w * mpmath.exp(bend - u * gap) * mpmath.ncdf(gap / s - u * s)
            total += w * mpmath.exp(bend + u * gap) * mpmath.ncdf(-gap / s - u * s)
    return total / mpmath.fsum(law.weights.tolist())


def by_quadrature(law, b, y):
    """The same by integrating the noise against the law."""
    total = mpmath.mpf(0)
    for w, m, s in zip(law.weights.tolist(), law.means.tolist(), law.stds.tolist(), strict=True):
        if s == 0:
            total += w * mpmath.exp(-abs(mpmath.mpf(y) - m) / b)
            continue
        cuts = sorted({m + k * mpmath.mpf(s) for k in range(-14, 15, 2)} | {mpmath.mpf(y)})
        total += w * mpmath.quad(lambda x: mpmath.exp(-abs(y - x) / b) * mpmath.npdf(x, m, s), cuts)  # noqa: B023
    return total


def limits(law, b):
    """ln E e^{X/b} and ln E e^{-X/b}."""
    pairs = list(zip(law.weights.tolist(), law.means.tolist(), law.stds.tolist(), strict=True))
    return [
        mpmath.log(sum(w * mpmath.exp(k * m / b + (s / mpmath.mpf(b)) ** 2 / 2) for w, m, s in pairs)) for k in (1, -1)
    ]


def supremum(p, q, b):
    """On a dense grid, sharpened by golden section, and in the tails."""

    def ratio(y):
        return mpmath.log(density(p, b, y) / density(q, b, y))

    at = np.linspace(-25, 25, 501)
    values = [ratio(y) for y in at]
    best = max(range(len(at)), key=values.__getitem__)
    low, high = mpmath.mpf(at[max(0, best - 1)]), mpmath.mpf(at[min(len(at) - 1, best + 1)])
    for _ in range(60):
        one, other = low + (high - low) * mpmath.mpf("0.382"), low + (high - low) * mpmath.mpf("0.618")
        low, high = (low, other) if ratio(one) > ratio(other) else (one, high)
    ends = [a - c for a, c in zip(limits(p, b), limits(q, b), strict=True)]
    points = [ratio(x) for law in (p, q) for x, s in zip(law.means, law.stds, strict=True) if s == 0]
    return max([values[best], ratio((low + high) / 2), *ends, *points])


@pytest.mark.parametrize("seed", range(some_of(6)))
def test_the_density_is_what_integrating_the_noise_gives(seed):
    rng = np.random.default_rng(seed)
    law, b = some_law(rng), float(rng.uniform(0.3, 3))
    for y in rng.uniform(-5, 5, 3).tolist():
        expected = by_quadrature(law, b, y)
        assert float(LogLaplace(law, b)(np.array([y]))[0]) == pytest.approx(float(mpmath.log(expected)), abs=1e-12)
        with working_precision(192):
            exact = sum(ExactLaplace(law, b, Effort()).parts(fraction(y)))
            assert float((exact - mpmath_ball(expected)).mid()) == pytest.approx(0, abs=1e-14)


def mpmath_ball(number):
    from flint import arb

    return arb(mpmath.nstr(number, 30))


@pytest.mark.parametrize("seed", range(some_of(30)))
def test_verdicts_agree_with_a_supremum_found_by_mpmath(seed):
    rng = np.random.default_rng([7, seed])
    p, q, b = some_law(rng), some_law(rng), float(rng.uniform(0.5, 3))
    truth = float(supremum(p, q, b))
    assert odds_after_laplace(p, q, scale=b) == pytest.approx(truth, abs=1e-9)
    above = decide_odds_after_laplace(p, q, scale=b, epsilon=truth + 1e-6)
    assert above.holds is True
    assert above.enclosure.lower <= truth + 1e-12
    assert decide_odds_after_laplace(p, q, scale=b, epsilon=truth - 1e-6).holds is False


@given(
    st.lists(st.integers(1, 20), min_size=2, max_size=5),
    st.lists(st.integers(1, 20), min_size=2, max_size=5),
    st.floats(0.1, 10),
)
def test_of_points_the_largest_ratio_is_at_a_point(first, second, scale):
    laws = [Mixture([w / sum(ws) for w in ws], np.arange(len(ws)) * 1.5, [0] * len(ws)) for ws in (first, second)]
    found = odds_after_laplace(*laws, scale=scale)
    at = np.linspace(-5, 15, 2_001)
    ratio = [
        np.log(sum(w * np.exp(-abs(at - 1.5 * k) / scale) for k, w in enumerate(ws)) / sum(ws))
        for ws in (first, second)
    ]
    assert float((ratio[0] - ratio[1]).max()) <= found + 1e-9


@pytest.mark.parametrize("seed", range(some_of(20)))
def test_the_bound_on_a_cell_holds(seed):
    """On random cells without points the ratio on a fine grid is never above the bound."""
    rng = np.random.default_rng([11, seed])
    p, q, b = some_law(rng), some_law(rng), float(rng.uniform(0.2, 3))
    points = sorted(
        {-9.0, 9.0, *(float(m) for law in (p, q) for m, s in zip(law.means, law.stds, strict=True) if s == 0)}
    )
    for low, high in pairwise(points):
        a, c = np.sort(rng.uniform(low, high, 2)).tolist()
        for left, right in ((a, c), (low, high)):
            with working_precision(192):
                first, second = (ExactLaplace(law, b, Effort()) for law in (p, q))
                bound = _at_most(first, second, fraction(left), fraction(right))
                most = float(bound.upper()) if bound.is_finite() else math.inf
            at = np.linspace(left, right, 400)
            found = np.exp(LogLaplace(p, b)(at) - LogLaplace(q, b)(at)).max()
            assert found <= most * (1 + 1e-11)


@pytest.mark.parametrize("seed", range(some_of(10)))
def test_the_slope_of_a_density_is_bounded(seed):
    rng = np.random.default_rng([13, seed])
    law, b = some_law(rng), float(rng.uniform(0.05, 3))
    at = np.linspace(-6, 6, 3_001)
    steps = np.diff(LogLaplace(law, b)(at))
    assert np.abs(steps).max() <= (at[1] - at[0]) / b * (1 + 1e-7)


@given(st.integers(0, 10_000), st.floats(0.3, 5), st.floats(1.001, 4))
def test_more_noise_never_tells_more(seed, scale, factor):
    rng = np.random.default_rng(seed)
    p, q = some_law(rng, points=True), some_law(rng, points=True)
    assert odds_after_laplace(p, q, scale=scale * factor) <= odds_after_laplace(p, q, scale=scale) + 1e-12


def test_what_is_not_decided_is_not_kept():
    """A bound that is NaN must not be taken for smaller than another, nor a spent limit for a proof."""
    from flint import arb

    assert not _larger(arb("nan"), arb(1)) <= 2
    assert not _larger(arb(1), arb("nan")) <= 2
    p, q = Mixture.gaussian(0, 1), Mixture.gaussian(0.5, 1.5)
    assert decide_odds_after_laplace(p, q, scale=3.0, epsilon=1.0, effort=Effort(20)).holds is None
    assert decide_odds_after_laplace(p, q, scale=1e-300, epsilon=1.0, effort=Effort(5_000)).holds is not True
    for scale in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="scale must be a finite number above 0"):
            decide_odds_after_laplace(p, q, scale=scale, epsilon=1.0)


def test_two_releases_tell_no_more_than_one_with_their_rates_added():
    """By brute force: the largest ratio of the joint densities over a grid of both published values."""
    x = np.array([0.0, 1.0, 2.5])
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.5, 0.1, 0.4])
    for b, c in ((1.0, 1.0), (0.5, 3.0), (2.0, 0.7)):
        y = np.linspace(-3, 6, 181)
        kernel = np.exp(-abs(y[:, None, None] - x) / b - abs(y[None, :, None] - x) / c)
        together = float(np.log((kernel @ p) / (kernel @ q)).max())
        one = max_divergence(Mixture(p, x, 0 * x), Mixture(q, x, 0 * x), noise=LaplaceNoise(1 / (1 / b + 1 / c)))
        assert together <= one + 1e-12
        assert together == pytest.approx(one, abs=1e-9)  # both at one point


def test_a_tail_can_bind_and_the_middle_too():
    wide, narrow = Mixture.gaussian(0, 2), Mixture.gaussian(0.5, 1)
    assert odds_after_laplace(wide, narrow, scale=2.302775637732) == pytest.approx(0.5, abs=1e-12)
    assert odds_after_laplace(narrow, wide, scale=29.09770339678) == pytest.approx(0.03, abs=1e-12)
    assert 0.5 / 29.09770339678 + 3 / (2 * 29.09770339678**2) < 0.02  # what the tails alone would say


def test_many_points_agree_with_sums_of_fifty_digits():
    """Laws of totals have as many points as rows: one pass over them, in floats and in balls."""
    rng = np.random.default_rng(8)
    points = np.sort(rng.choice(3_000, 150, replace=False)) / 7
    p, q = (Mixture(weights / weights.sum(), points, np.zeros(150)) for weights in rng.random((2, 150)) ** 9)
    with mpmath.workdps(50):
        sums = [
            [
                mpmath.fsum(mpmath.mpf(w) * mpmath.exp(-abs(mpmath.mpf(x) - y) / 3) for w, x in _pairs(law))
                for y in points
            ]
            for law in (p, q)
        ]
        wholes = [mpmath.fsum(map(mpmath.mpf, law.weights)) for law in (p, q)]
        truth = max(mpmath.log(a / b) for a, b in zip(*sums, strict=True)) - mpmath.log(wholes[0] / wholes[1])
    assert odds_after_laplace(p, q, scale=3.0) == pytest.approx(float(truth), rel=1e-13)
    for far, holds in ((1 + 1e-14, True), (1 - 1e-14, False)):
        assert decide_odds_after_laplace(p, q, scale=3.0, epsilon=float(truth) * far).holds is holds


def _pairs(law):
    return zip(law.weights.tolist(), law.means.tolist(), strict=True)
