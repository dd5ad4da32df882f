"""What (α, ε) allows an adversary to learn: the theorems are in proofs/odds.md."""

import math

import numpy as np
from scipy.optimize import brentq


def odds_factor(alpha, epsilon, *, chance):
    """The factor that the odds of the true secret pass with at most this chance."""
    return math.exp(epsilon + math.log(1 / chance) / (alpha - 1))


def best_guess(alpha, epsilon):
    """The largest chance to guess right between two equally likely secrets."""

    def excess(x):
        right, wrong = math.log(x), math.log1p(-x)
        there = alpha * right + (1 - alpha) * wrong
        back = alpha * wrong + (1 - alpha) * right
        return np.logaddexp(there, back) - (alpha - 1) * epsilon

    almost = 1 - 1e-15
    return brentq(excess, 0.5, almost, xtol=1e-14) if excess(almost) > 0 else 1.0


if __name__ == "__main__":
    print("| α | ε | odds × once in 20 | odds × once in 1000 | best guess |")
    print("|---|---|---|---|---|")
    for alpha in (2, 3, 8, 32):
        for epsilon in (0.1, 0.5, 1, 2):
            rare = odds_factor(alpha, epsilon, chance=1 / 20)
            rarer = odds_factor(alpha, epsilon, chance=1 / 1000)
            guess = best_guess(alpha, epsilon)
            row = f"{rare:.1f} | {rarer:,.1f} | {100 * guess:.1f} %"
            print(f"| {alpha} | {epsilon} | {row} |")
