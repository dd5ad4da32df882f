"""The claims of proofs/odds.md, against integrals and grids that share no code with it."""

import importlib.util
import math

import numpy as np
import pytest
from run_examples import ROOT
from scipy.integrate import trapezoid

import takifugu as tk

spec = importlib.util.spec_from_file_location("odds_example", ROOT / "docs/examples/odds.py")
odds = importlib.util.module_from_spec(spec)
spec.loader.exec_module(odds)

PRIORS = {
    "shifted": (tk.Mixture.gaussian(0, 1), tk.Mixture.gaussian(2, 1)),
    "unequal": (tk.Mixture.gaussian(0, 2), tk.Mixture.gaussian(1, 1)),
    "mixtures": (tk.Mixture([0.7, 0.3], [0, 4], [1, 0.5]), tk.Mixture([0.5, 0.5], [-1, 3], [1, 1.5])),
    "points": (tk.Mixture.empirical([0, 1, 2, 2]), tk.Mixture.empirical([1, 2, 5])),
}


def binary(alpha, x, y):
    """e^((α−1)D) of two coins."""
    return x**alpha * y ** (1 - alpha) + (1 - x) ** alpha * (1 - y) ** (1 - alpha)


@pytest.mark.parametrize("priors", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("alpha", [1.5, 2, 3, 8])
@pytest.mark.parametrize("epsilon", [0.1, 1, 2])
def test_calibrated_pairs_obey_the_claims(priors, alpha, epsilon):
    theta = max(tk.calibrate(dict(enumerate(priors)), alpha=alpha, epsilon=epsilon).theta, 0.05)
    y = np.linspace(-60, 60, 200_001)
    for first, second in (priors, priors[::-1]):
        p, q = (np.maximum(prior.with_noise(theta).pdf(y), 1e-300) for prior in (first, second))
        log = np.log(p) - np.log(q)
        assert trapezoid(p * log, y) <= epsilon + 1e-6
        if alpha >= 2:
            assert trapezoid(p * np.exp(np.minimum(log, 600)), y) <= math.exp(epsilon) * (1 + 1e-6)
        for chance in (0.5, 0.05, 0.001):
            above = log > math.log(odds.odds_factor(alpha, epsilon, chance=chance))
            assert trapezoid(np.where(above, p, 0), y) <= chance + 1e-4
        for t in (0.0, 0.5, 1.0, 3.0):
            above = np.where(log > t, 1.0, 0.0)
            assert trapezoid(above * q, y) <= math.exp(-alpha * t + (alpha - 1) * epsilon) + 1e-4
            x, z = trapezoid(above * p, y), trapezoid(above * q, y)
            assert x <= (math.exp(epsilon) * z) ** ((alpha - 1) / alpha) + 1e-4
        right = 0.5 * trapezoid(np.maximum(p, q), y)
        assert right <= odds.best_guess(alpha, epsilon) + 1e-5


@pytest.mark.parametrize("alpha", [1.2, 2, 3, 20])
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 2])
def test_the_guess_is_the_largest_over_all_coins(alpha, epsilon):
    limit = math.exp((alpha - 1) * epsilon)
    best = odds.best_guess(alpha, epsilon)
    assert binary(alpha, best, 1 - best) == pytest.approx(limit, rel=1e-9)
    grid = np.linspace(0.0005, 0.9995, 1_000)
    x, y = np.meshgrid(grid, grid)
    allowed = (binary(alpha, x, y) <= limit) & (binary(alpha, y, x) <= limit)
    largest = (0.5 * (1 + x - y))[allowed].max()
    assert best - 2e-3 <= largest <= best + 1e-12


def test_closed_forms_of_the_guess():
    for epsilon in (0.01, 0.5, 1, 4):
        e = math.exp(epsilon)
        assert odds.best_guess(2, epsilon) == pytest.approx(0.5 + 0.5 * math.sqrt((e - 1) / (e + 3)), abs=1e-12)
        assert odds.best_guess(4_000, epsilon) == pytest.approx(e / (1 + e), abs=1e-3)
    assert odds.best_guess(3, 1e-12) == pytest.approx(0.5, abs=1e-5)


def test_the_guess_among_many():
    alpha, epsilon, k = 3, 0.5, 6
    priors = {i: tk.Mixture.gaussian(i, 1) for i in range(k)}
    theta = tk.calibrate(priors, alpha=alpha, epsilon=epsilon).theta
    y = np.linspace(-80, 90, 100_001)
    right = trapezoid(np.max([prior.with_noise(theta).pdf(y) for prior in priors.values()], axis=0), y) / k
    assert 1 / k < right <= (math.exp(epsilon) / k) ** ((alpha - 1) / alpha)


def test_doubt_between_listed_beliefs_is_covered():
    """What the guide on priors says of an adversary who does not know which belief is right."""
    one = (tk.Mixture.gaussian(0, 1), tk.Mixture.gaussian(1, 1))
    other = (tk.Mixture.gaussian(5, 2), tk.Mixture.gaussian(3, 2))
    theta = tk.calibrate([dict(enumerate(one)), dict(enumerate(other))], alpha=3, epsilon=1).theta
    for weight in (0.1, 0.5, 0.9):
        p, q = (
            tk.Mixture([weight, 1 - weight], [a.mean, b.mean], [a.std, b.std]) for a, b in zip(one, other, strict=True)
        )
        assert tk.renyi_divergence(p, q, alpha=3, theta=theta) <= 1
