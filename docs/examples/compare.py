"""One column, one secret, the same guarantee: what each way of publishing changes."""

import numpy as np

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel

ODDS = 3


def randomized_response(values, odds):
    """Warner's mechanism: local differential privacy with e^ε = odds, for any data."""
    k = len(values)
    other = -int(-(2**32) // (odds + k - 1))  # rounded up: no more odds than asked
    counts = np.full((k, k), other, dtype=np.int64)
    np.fill_diagonal(counts, 2**32 - (k - 1) * other)
    return FiniteChannel(values, values, counts)


def kept_with(values, share):
    """PRAM with one probability: keep a value, or draw another from the list."""
    return randomized_response(values, share * (len(values) - 1) / (1 - share))


def matched(values, laws, odds):
    """Randomized response that moves the odds of the *secret* this far."""
    low, high = 1.0, 2.0**20
    for _ in range(60):
        middle = (low + high) / 2
        within = randomized_response(values, middle).worst_odds(*laws) <= odds
        low, high = (middle, high) if within else (low, middle)
    return randomized_response(values, low)


if __name__ == "__main__":
    people = tk.datasets.load("adult")
    priors = tk.fit_priors(people, secret="race", query=tk.Row("marital-status"))
    laws, made = list(priors.values()), tk.calibrate(priors, odds=ODDS, confidence=0.95)
    values = made.channel.inputs
    mass = sum(law.weights for law in laws)
    for name, channel in {
        "nothing": FiniteChannel.identity(values),
        "PRAM, 90 % kept": kept_with(values, 0.9),
        "randomized response": randomized_response(values, ODDS),
        "the same, matched": matched(values, laws, made.channel.worst_odds(*laws)),
        "Takifugu": made.channel,
    }.items():
        changed, odds = channel.share_changed(mass), channel.worst_odds(*laws)
        print(f"{name:20}{changed:6.1%} changed, odds move up to {odds:.2f}-fold")
