"""Sums over a whole lattice, by mpmath and far beyond all points, against the finite lists that replace them."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from how_many import some_of
from takifugu import DiscreteLaplaceNoise, LaplaceNoise, Mixture
from takifugu.divergences import Effort
from takifugu.problems import HockeyStick, MaxDivergence, RenyiDivergence


def laws(rng, size=None):
    points = rng.choice(9, size or rng.integers(1, 6), replace=False) * 0.5
    return Mixture(rng.dirichlet(np.ones(len(points))), points, np.zeros(len(points)))


def masses(law, noise):
    r = mpmath.exp(-mpmath.mpf(noise.step) / mpmath.mpf(noise.scale))
    far = int(90 * noise.scale / noise.step) + 20
    total = mpmath.fsum(map(mpmath.mpf, law.weights.tolist()))
    return [
        sum(
            mpmath.mpf(w) / total * (1 - r) / (1 + r) * r ** abs(k - round(x / noise.step))
            for w, x in zip(law.weights.tolist(), law.means.tolist(), strict=True)
        )
        for k in range(-far, far + 9)
    ]


def truth(p, q, noise, of):
    with mpmath.workdps(50):
        first, second = masses(p, noise), masses(q, noise)
        if isinstance(of, RenyiDivergence):
            alpha = mpmath.mpf(of.alpha)
            terms = (a**alpha * b ** (1 - alpha) for a, b in zip(first, second, strict=True))
            return float(mpmath.log(mpmath.fsum(terms)) / (alpha - 1))
        if isinstance(of, HockeyStick):
            factor = mpmath.exp(of.epsilon)
            return float(mpmath.fsum(max(mpmath.mpf(0), a - factor * b) for a, b in zip(first, second, strict=True)))
        return float(max(mpmath.log(a / b) for a, b in zip(first, second, strict=True)))


KINDS = [
    MaxDivergence(),
    RenyiDivergence(1.25),
    RenyiDivergence(6.0),
    HockeyStick(0.3),
    HockeyStick(0.0),
    HockeyStick(-0.4),
]


@pytest.mark.parametrize("of", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(some_of(12)))
def test_sums_over_the_whole_lattice_agree(of, seed):
    rng = np.random.default_rng(seed)
    p, q = laws(rng), laws(rng)
    noise = DiscreteLaplaceNoise(float(rng.uniform(0.3, 4)), 0.5)
    exact, found = truth(p, q, noise, of), noise.loss(p, q, of)
    assert found == pytest.approx(exact, rel=1e-11, abs=1e-14)
    if exact > 1e-9:
        above, below = noise.decide(p, q, of, exact * (1 + 1e-9)), noise.decide(p, q, of, exact * (1 - 1e-9))
        assert above.holds is True
        assert below.holds is False
        assert above.enclosure.lower * (1 - 1e-13) <= exact <= above.enclosure.upper * (1 + 1e-13)


@pytest.mark.parametrize("of", KINDS, ids=str)
def test_bounds_on_every_pair_at_once_hold(of):
    rng = np.random.default_rng(9)
    every = [laws(rng) for _ in range(12)]
    noise = DiscreteLaplaceNoise(0.9, 0.5)
    attained, bound = noise.screened(every, of, 0.5)
    for i, p in enumerate(every):
        for j, q in enumerate(every):
            if i != j:
                exact = truth(p, q, noise, of)
                assert attained[i, j] <= exact <= bound[i, j] <= exact + 1e-8 * (1 + getattr(of, "alpha", 1) ** 2)


weights = st.lists(st.floats(0.01, 1), min_size=2, max_size=6)


def on_whole_numbers(raw, gap=1):
    return Mixture.empirical(gap * np.arange(len(raw)), raw)


@given(weights, weights, st.floats(0.1, 10), st.integers(1, 3))
def test_the_odds_are_those_after_laplace_noise(first, second, scale, gap):
    p, q = (on_whole_numbers(w, gap) for w in (first, second))
    discrete, plain = DiscreteLaplaceNoise(scale, gap), LaplaceNoise(scale)
    of = MaxDivergence()
    assert discrete.loss(p, q, of) == pytest.approx(plain.loss(p, q, of), rel=1e-11, abs=1e-13)
    for other in (RenyiDivergence(3.0), HockeyStick(0.1)):  # what is published by the one becomes the other's
        assert discrete.loss(p, q, other) >= plain.loss(p, q, other) * (1 - 1e-9) - 1e-13


@given(weights, weights, st.floats(0.1, 5), st.floats(1.01, 3))
def test_more_noise_never_tells_more(first, second, scale, more):
    p, q = map(on_whole_numbers, (first, second))
    for of in (MaxDivergence(), RenyiDivergence(2.5), HockeyStick(0.2)):
        less = DiscreteLaplaceNoise(scale).loss(p, q, of)
        assert DiscreteLaplaceNoise(scale * more).loss(p, q, of) <= less * (1 + 1e-10) + 1e-14


def test_what_is_not_decided_is_not_kept():
    p, q = Mixture.gaussian(0, 0), Mixture.gaussian(1, 0)
    noise = DiscreteLaplaceNoise(2.0)
    assert noise.decide(p, q, MaxDivergence(), 0.5).holds is not False  # met exactly: balls leave it open or hold it
    assert noise.decide(p, p, RenyiDivergence(2.0), 1e-300).holds
    assert noise.decide(p, q, RenyiDivergence(2.0), 1e-9).holds is False
    assert noise.decide(p, Mixture.gaussian(9_000, 0), MaxDivergence(), 1.0, effort=Effort(10)).holds is None
    assert math.isclose(noise.loss(p, q, MaxDivergence()), 0.5, rel_tol=1e-14)
