"""What a promise allows an adversary, in guesses and in odds, and the promise that allows no more (proofs/odds.md).

Every figure is on the safe side: a best guess is rounded up, the budget that allows one is rounded down.
"""

import math
from fractions import Fraction
from typing import Any

from takifugu import _validation as check
from takifugu.divergences.numerics.balls import outward, working_precision
from takifugu.errors import InputError
from takifugu.problems import Renyi, asked_for

_STEPS = 1 << 53  # floats between ½ and 1 are multiples of its reciprocal
_BITS = 256  # a guess may lie 2⁻⁵³ above ½, and what it allows goes with the square of that
_UNLUCKY = 0.05  # the chance that any of all values is unlucky, behind the advice on alpha
_FIRST_ORDER = 3.0  # what is advised for one value


def best_guess(*, odds: float | None = None, alpha: float | None = None, epsilon: float | None = None) -> float:
    """The largest chance with which anybody guesses right, from one published value, that a promise allows.

    The guess is between two secrets of a pair that were equally likely before: 0.5 is blind luck. What it really is
    with given data is usually less; a report says it. Rounded up to the next float.

    >>> best_guess(odds=3)
    0.75
    >>> round(best_guess(alpha=3, epsilon=1), 4)
    0.7572
    """
    if alpha is None and epsilon is None and odds is not None:
        return _by_odds(check.odds(odds))
    return guess_allowed(asked_for(alpha=alpha, epsilon=epsilon, odds=odds))


def guess_allowed(promise: Renyi) -> float:
    """The largest chance of a right guess between two equally likely secrets that a promise allows, rounded up."""
    by_odds = 1.0 if promise.odds is None else _by_odds(promise.odds)
    low, high = _STEPS // 2, _STEPS  # at ½ nothing may be told, at 1 everything may
    while high - low > 1:
        middle = (low + high) // 2
        enough = _budget(middle / _STEPS, promise.alpha) >= promise.epsilon
        low, high = (low, middle) if enough else (middle, high)
    return min(high / _STEPS, by_odds)


def promise_of_guess(guess: float, *, alpha: float | None = None) -> Renyi:
    """The weakest promise under which no guess between two equally likely secrets is right more often than this.

    About odds by default, otherwise (α, ε) of the order given.

    >>> round(promise_of_guess(0.75).most_odds, 9)
    3.0
    >>> round(promise_of_guess(0.7572, alpha=3).epsilon, 3)
    1.0
    """
    accepted = "a number between 0.5, which is blind luck, and 1"
    chance = check.real("best_guess", guess, accepted)
    if not 0.5 < chance < 1.0:
        raise InputError(f"best_guess must be {accepted}, got {guess!r}")
    order = math.inf if alpha is None or alpha == math.inf else check.order(alpha)
    epsilon = _budget(chance, order)
    if epsilon <= 0:
        raise InputError(f"best_guess = {guess!r} is too close to blind luck: no budget is known to allow no more")
    return Renyi(order, epsilon)


def odds_factor(*, alpha: float, epsilon: float, chance: float) -> float:
    """The factor that the odds of the true secret rise beyond with this chance at most, over what is published.

    For a promise about odds, alpha = math.inf, it is that factor whatever the chance.

    >>> round(odds_factor(alpha=3, epsilon=1, chance=0.05), 2)
    12.16
    """
    promise = Renyi(alpha, epsilon)
    rare = check.real("chance", chance, "a number above 0, and 1 at most")
    if not 0 < rare <= 1:
        raise InputError(f"chance must be a number above 0, and 1 at most, got {chance!r}")
    exponent = promise.epsilon - math.log(rare) / (promise.alpha - 1)
    # Each step rounds by 2⁻⁵³ of something below 700: the margin covers all of them.
    return math.exp(exponent) * (1 + 1e-12) if exponent < 700 else math.inf


def recommended_alpha(values: int) -> int:
    """The order to start from where so many values go out with Gaussian noise: 3 for one, 8 for a thousand.

    At it the odds of nobody's true secret rise by more than 4.5·e^ε, but for a chance of one in twenty over all the
    values together. A promise about odds needs no such choice.

    >>> [recommended_alpha(n) for n in (1, 20, 1_000, 50_000)]
    [3, 5, 8, 11]
    """
    count = check.integer("values", values, least=1)
    # Each of n values is unlucky with a chance of 0.05/n. Then (n/0.05)^(1/(α−1)) is the factor beyond e^ε, and for
    # one value at α = 3 it is √20 = 4.47: the order that keeps it there for n.
    share = math.log(count) / math.log(1 / _UNLUCKY)
    return math.ceil(_FIRST_ORDER + (_FIRST_ORDER - 1) * share - 1e-9)


def _by_odds(odds: float) -> float:
    from flint import fmpq

    exact = Fraction(odds) / (1 + Fraction(odds))
    return outward(fmpq(exact.numerator, exact.denominator)).upper


def _budget(guess: float, alpha: float) -> float:
    """The ε at which the best guess that (α, ε) allows is `guess`, from below.

    With r = x/(1−x) the equation of claim 4 reads e^((α−1)ε) = x·r^(α−1) + (1−x)·r^(1−α). Written as a sum of ln r
    and a rest over α − 1, it neither overflows at high orders nor needs more digits than _BITS near ½.
    """
    from flint import arb

    with working_precision(_BITS):
        x = arb(guess)
        ratio = (x / (1 - x)).log()
        if math.isinf(alpha):
            return _lower(ratio)
        above = arb(alpha) - 1
        rest = (x + (1 - x) * (-2 * above * ratio).exp()).log()
        return _lower(ratio + rest / above)


def _lower(ball: Any) -> float:
    return outward(ball).lower
