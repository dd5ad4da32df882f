"""The claims of proofs/odds.md, against integrals, grids and many digits that share no code with it."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

import takifugu as tk
from how_many import some_of
from takifugu.errors import InputError
from takifugu.problems.guarantee import Renyi, promise_of_guess

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
    y = np.linspace(-60, 60, 60_001)
    for first, second in (priors, priors[::-1]):
        p, q = (np.maximum(prior.with_noise(theta).pdf(y), 1e-300) for prior in (first, second))
        log = np.log(p) - np.log(q)
        assert trapezoid(p * log, y) <= epsilon + 1e-6
        if alpha >= 2:
            assert trapezoid(p * np.exp(np.minimum(log, 600)), y) <= math.exp(epsilon) * (1 + 1e-6)
        for chance in (0.5, 0.05, 0.001):
            above = log > math.log(tk.odds_factor(alpha=alpha, epsilon=epsilon, chance=chance))
            assert trapezoid(np.where(above, p, 0), y) <= chance + 1e-4
        for t in (0.0, 0.5, 1.0, 3.0):
            above = np.where(log > t, 1.0, 0.0)
            assert trapezoid(above * q, y) <= math.exp(-alpha * t + (alpha - 1) * epsilon) + 1e-4
            x, z = trapezoid(above * p, y), trapezoid(above * q, y)
            assert x <= (math.exp(epsilon) * z) ** ((alpha - 1) / alpha) + 1e-4
        right = 0.5 * trapezoid(np.maximum(p, q), y)
        assert right <= tk.best_guess(alpha=alpha, epsilon=epsilon) + 1e-5


@pytest.mark.parametrize("alpha", [1.2, 2, 3, 20])
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 2])
def test_the_guess_is_the_largest_over_all_coins(alpha, epsilon):
    limit = math.exp((alpha - 1) * epsilon)
    best = tk.best_guess(alpha=alpha, epsilon=epsilon)
    assert binary(alpha, best, 1 - best) == pytest.approx(limit, rel=1e-9)
    grid = np.linspace(0.0005, 0.9995, 1_000)
    x, y = np.meshgrid(grid, grid)
    allowed = (binary(alpha, x, y) <= limit) & (binary(alpha, y, x) <= limit)
    largest = (0.5 * (1 + x - y))[allowed].max()
    assert best - 2e-3 <= largest <= best + 1e-12


def test_closed_forms_of_the_guess():
    for epsilon in (0.01, 0.5, 1, 4):
        e = math.exp(epsilon)
        assert tk.best_guess(alpha=2, epsilon=epsilon) == pytest.approx(
            0.5 + 0.5 * math.sqrt((e - 1) / (e + 3)), abs=1e-12
        )
        assert tk.best_guess(alpha=4_000, epsilon=epsilon) == pytest.approx(e / (1 + e), abs=1e-3)
    assert tk.best_guess(alpha=3, epsilon=1e-12) == pytest.approx(0.5, abs=1e-5)


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


def told(guess, alpha):
    """The ε of claim 4 at this guess, in 120 digits."""
    with mpmath.workdps(120):
        x, a = mpmath.mpf(guess), mpmath.mpf(alpha)
        return mpmath.log(x**a * (1 - x) ** (1 - a) + (1 - x) ** a * x ** (1 - a)) / (a - 1)


orders = st.one_of(st.floats(1.001, 4), st.floats(4, 400))
guesses = st.one_of(
    st.floats(0.5, 1, exclude_min=True, exclude_max=True), st.integers(1, 40).map(lambda k: 0.5 + 2**-k)
)


@settings(max_examples=some_of(150), deadline=None)
@given(guesses.filter(lambda g: 0.5 < g < 1), orders)
def test_the_budget_of_a_guess_is_from_below_and_close(guess, alpha):
    found = promise_of_guess(guess, alpha=alpha).epsilon
    exact = told(guess, alpha)
    assert found <= exact
    assert found == pytest.approx(float(exact), rel=1e-14, abs=1e-300)
    assert Renyi(alpha, found).best_guess() <= guess  # and asking forwards gives back no more than was asked for


@settings(max_examples=some_of(60), deadline=None)
@given(orders, st.floats(1e-9, 30))
def test_the_guess_of_a_budget_is_from_above_and_close(alpha, epsilon):
    found = tk.best_guess(alpha=alpha, epsilon=epsilon)
    assert 0.5 < found <= 1
    if found < 1:
        assert told(found, alpha) >= epsilon
        below = math.nextafter(found, 0)
        assert below == 0.5 or told(below, alpha) < epsilon * (1 + 1e-14)


@settings(max_examples=some_of(100), deadline=None)
@given(st.floats(1, 1e9, exclude_min=True))
def test_odds_and_guesses_are_two_words_for_one_promise(odds):
    guess = tk.best_guess(odds=odds)
    exact = Fraction(odds) / (1 + Fraction(odds))
    assert exact <= Fraction(guess) <= exact + Fraction(1, 2**52)
    if guess < 1:
        back = promise_of_guess(guess)
        assert math.isinf(back.alpha)
        with mpmath.workdps(60):
            assert mpmath.exp(mpmath.mpf(back.epsilon)) <= mpmath.mpf(guess) / (1 - mpmath.mpf(guess))


def test_odds_beside_an_order_bound_the_guess_too():
    alone = tk.best_guess(alpha=3, epsilon=2)
    assert tk.best_guess(alpha=3, epsilon=2, odds=1.5) == pytest.approx(0.6)
    assert alone > 0.8
    assert tk.best_guess(alpha=3, epsilon=0.01, odds=100) == tk.best_guess(alpha=3, epsilon=0.01)


def test_a_promise_about_odds_knows_no_bad_luck():
    assert tk.odds_factor(alpha=math.inf, epsilon=math.log(3), chance=1e-9) == pytest.approx(3)
    assert tk.odds_factor(alpha=1.0001, epsilon=1, chance=1e-9) == math.inf


@pytest.mark.parametrize("values", [1, 7, 300, 10**6])
def test_the_order_advised_keeps_luck_where_it_is_for_one_value(values):
    alpha = tk.recommended_alpha(values)
    luck = [tk.odds_factor(alpha=a, epsilon=1, chance=0.05 / values) / math.e for a in (alpha - 1, alpha)]
    assert luck[1] <= math.sqrt(20) * (1 + 1e-9) < luck[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: promise_of_guess(0.5), "a random guess"),
        (lambda: promise_of_guess(1), "between 0.5"),
        (lambda: promise_of_guess(60), "between 0.5"),
        (lambda: promise_of_guess(0.6, alpha=1), "above 1"),
        (lambda: tk.best_guess(alpha=3), "epsilon is missing"),
        (lambda: tk.best_guess(odds=1), "odds must be"),
        (lambda: tk.odds_factor(alpha=3, epsilon=1, chance=0), "chance must be"),
        (lambda: tk.recommended_alpha(0), "values must be"),
    ],
)
def test_what_is_no_promise_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
