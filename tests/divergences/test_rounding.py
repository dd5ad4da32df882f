"""What rounding could take away is put back: bounds against 60-digit arithmetic that shares no code with them."""

import math

import mpmath
import numpy as np
import pytest

from how_many import some_of
from takifugu import Mixture
from takifugu.divergences.gaussians import RoughLosses, gaussian_divergence, upper_losses
from takifugu.divergences.mixtures import divergence
from takifugu.divergences.numerics.grids import Components, rough_losses


def truth(means, stds, alpha, variance):
    """D_α of the first Gaussian against the second, both with noise of this variance."""
    with mpmath.workdps(60):
        a, gap = mpmath.mpf(alpha), mpmath.mpf(means[0]) - mpmath.mpf(means[1])
        v, w = (mpmath.mpf(s) ** 2 + mpmath.mpf(variance) for s in stds)
        margin = a * w - (a - 1) * v
        if margin <= 0:
            return mpmath.inf
        return a * gap**2 / (2 * margin) + (mpmath.log(w / v) - mpmath.log(margin / w) / (a - 1)) / 2


def cases(count, seed):
    """Orders from 1 + 1e-9 to 1e7, widths nearly equal or far apart, far offsets, any scale, close to the edge."""
    rng = np.random.default_rng(seed)
    for n in range(count):
        unit = 10 ** rng.uniform(-60, 60) if n % 4 == 3 else 1.0
        alpha = 1 + 10 ** rng.uniform(-9, 2 if n % 4 == 2 else 7)
        stds = unit * np.exp(rng.normal(size=2) * rng.choice([1e-8, 1e-4, 0.1, 1, 4], size=2))
        if n % 4 == 1:
            stds[1] = stds[0] * (1 + 10 ** rng.uniform(-14, -1) * rng.choice([-1, 1]))
        theta = unit * rng.choice([0, 10 ** rng.uniform(-3, 3)])
        if n % 4 == 2:
            edge = max(0.0, (alpha - 1) * stds[0] ** 2 - alpha * stds[1] ** 2)
            theta = math.sqrt(edge) * (1 + 10 ** rng.uniform(-15, -1))
        offset = unit * rng.choice([0, 1, 1e9])
        means = np.array([offset + unit * rng.normal() * 10 ** rng.uniform(-9, 3), offset])
        yield means, stds, float(alpha), float(theta)


@pytest.mark.parametrize("seed", range(4))
def test_no_bound_is_below_the_truth(seed):
    for means, stds, alpha, theta in cases(some_of(1500), seed):
        variance = theta * theta
        rough = RoughLosses(means, stds, alpha=alpha, variance=variance)(np.array([0]), np.array([1]))[0]
        exact = truth(means, stds, alpha, variance)
        assert not rough < exact, (means, stds, alpha, theta)

        upper = upper_losses(means[:1] - means[1:], stds[:1], stds[1:], alpha=alpha, theta=theta)[0]
        with mpmath.workdps(60):
            exact = truth(means, stds, alpha, mpmath.mpf(theta) ** 2)
        assert upper >= exact, (means, stds, alpha, theta)
        found = gaussian_divergence(means[0] - means[1], *stds, alpha=alpha, theta=theta)
        assert math.isinf(found) if exact == mpmath.inf else abs(found - exact) <= 1e-13 * exact


def test_a_far_offset_does_not_shrink_the_distance():
    means, stds = np.array([1.7e9, 1.7e9 + 0.5]), np.array([1.0, 1.1])
    rough = RoughLosses(means, stds, alpha=3.0, variance=0.5)(np.array([0]), np.array([1]))[0]
    assert truth(means, stds, 3.0, 0.5) <= rough <= truth(means, stds, 3.0, 0.5) * (1 + 1e-12)


def test_variances_that_underflow_are_never_dismissed():
    means, stds = np.zeros(2), np.array([1e-160, 1.3e-160])
    assert RoughLosses(means, stds, alpha=2.0, variance=0.0)(np.array([1]), np.array([0]))[0] == math.inf


@pytest.mark.parametrize(("gap", "width", "theta"), [(0.0, 2.0**300, 2.0**-530), (1e-170, 1.0, 1e-160)])
def test_a_margin_below_the_float_range_keeps_its_logarithm(gap, width, theta):
    # at α = 9/8 a width three times the other leaves S = θ² exactly: w = (θ/width)² underflows
    found = gaussian_divergence(gap, 3 * width, width, alpha=1.125, theta=theta)
    expected = -math.log(3) + 8 * (math.log(width) - math.log(theta)) + 1.125 * (gap / theta) ** 2 / 2
    assert found == pytest.approx(expected, rel=1e-14)


def test_enormous_orders_are_numbers():
    found = gaussian_divergence(0.0, 0.0, 1e-11, alpha=1e20, theta=1.0)
    with mpmath.workdps(80):
        nu, a = mpmath.mpf(1e-11) ** 2, mpmath.mpf(1e20)
        exact = (a * mpmath.log1p(nu) - mpmath.log1p(a * nu)) / (2 * (a - 1))
    assert found == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12, 2.0**46])
def test_the_screen_of_mixtures_does_not_depend_on_the_origin(offset):
    p = Mixture([0.5, 0.5], [offset, offset + 3], [1.0, 0.7])
    q = Mixture([0.4, 0.6], [offset + 1, offset + 3.5], [1.2, 0.9])
    rough = rough_losses(Components.of([p]), Components.of([q]), alpha=2.0, theta=0.5)[0, 0]
    exact = divergence(p, q, alpha=2.0, theta=0.5)
    assert exact <= rough <= exact + 1e-5
