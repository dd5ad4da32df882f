"""How well a promise lets anybody guess between two secrets."""

import math

from takifugu.problems.guarantee import Renyi


def guess_limit(guarantee: Renyi) -> float:
    """The x in [½, 1) with x^α(1−x)^{1−α} + (1−x)^α x^{1−α} = e^{(α−1)ε} (proofs/odds.md, claim 4).

    >>> round(guess_limit(Renyi(2.0, 1.0)), 6), round(guess_limit(Renyi.from_odds(3)), 6)
    (0.774084, 0.75)
    """
    alpha, epsilon = guarantee.alpha, guarantee.epsilon
    bounded = math.inf if guarantee.most_odds is None else guarantee.most_odds
    by_odds = 1.0 if math.isinf(bounded) else bounded / (1 + bounded)
    if math.isinf(alpha):
        return by_odds
    low, high = 0.5, 1.0 - 2**-53
    for _ in range(100):
        x = 0.5 * (low + high)
        up = math.log(x) + (alpha - 1) * (math.log(x) - math.log1p(-x))
        down = math.log1p(-x) - (alpha - 1) * (math.log(x) - math.log1p(-x))
        if up + math.log1p(math.exp(down - up)) > (alpha - 1) * epsilon:
            high = x
        else:
            low = x
    return min(high, by_odds)
