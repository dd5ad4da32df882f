"""What a column would tell of the secret if it were published as it is: evidence from the rows, and no promise."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.queries.few_rows import SCARCE
from takifugu.queries.proposing import Proposal
from takifugu.tables.by_secret import BySecret
from takifugu.tables.table import Secret

_LUCKY = 0.75  # a best guess by chance from which on values that only one group has mean nothing


@dataclass(frozen=True)
class Betrayal:
    """The most that one value of a column tells, over all pairs of secrets, without any noise.

    `best_guess` is the chance of guessing right between `guessed`, the pair that is told apart most easily, where both
    are equally likely beforehand. `by_chance` is about what it would be if these two groups differed by nothing but the
    luck of who is in them, which is much where groups are small and values many. `odds` is the largest factor by which
    a value changes the odds of a pair, that of `turned`: infinite where some group never has a value that another one
    has. `pairs` is the number of pairs looked at. It is told `outright` where every value goes with one secret alone,
    by more than the chance of few rows.
    """

    column: str
    best_guess: float
    by_chance: float
    guessed: tuple[Secret, Secret]
    odds: float
    turned: tuple[Secret, Secret]
    pairs: int
    outright: bool = False

    @property
    def loss(self) -> float:
        """The Rényi divergence of infinite order: the logarithm of `odds`."""
        return math.log(self.odds)


def betrayals_of(seen: BySecret, lists: Mapping[str, Proposal]) -> dict[str, Betrayal]:
    """What each column tells, of the secrets with rows enough to say anything: three rows differ from any others."""
    found = {}
    for name, proposal in lists.items():
        counts = {who: c for who, c in seen.counts(name, proposal.choices).items() if c.sum() >= SCARCE}
        if (worst := betrayal(name, counts)) is not None:
            found[name] = worst
    return found


def betrayal(column: str, counts: dict[Secret, Array]) -> Betrayal | None:
    """How far the laws that the counts make differ; None for fewer than two groups.

    Each group's counts are over the same list of values, and at least one of them is positive.

    >>> found = betrayal("ward", {"flu": np.array([3.0, 1]), "cold": np.array([1.0, 3])})
    >>> found.best_guess, found.odds
    (0.75, 3.0)
    """
    names = list(counts)
    if len(names) < 2:
        return None
    tallies = np.array([counts[name] for name in names], dtype=np.float64)
    shares = tallies / tallies.sum(axis=1, keepdims=True)
    # One row against all: every pair at once would need the square of the number of secrets times the list.
    apart = [(0.5 * np.abs(shares[i] - shares[:i]).sum(axis=1), i) for i in range(1, len(names))]
    distance, j, i = max((float(row.max()), int(row.argmax()), i) for row, i in apart)
    # D_∞ needs no pairs: at each value, the likeliest secret against the least likely one.
    most, least = shares.max(axis=0), shares.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(least > 0, most / least, np.where(most > 0, np.inf, 0.0))
    # Of several values that give a pair away, the most frequent one: it gives away most people.
    worst = max(range(len(ratio)), key=lambda value: (ratio[value], most[value]))
    first, second = int(shares[:, worst].argmax()), int(shares[:, worst].argmin())
    if first == second:  # all laws are the same
        first, second = 0, 1
    by_chance = min(1.0, 0.5 + 0.5 * _distance_by_chance(tallies[i], tallies[j]))
    return Betrayal(
        column,
        min(1.0, 0.5 + 0.5 * distance),
        by_chance,
        (names[j], names[i]),
        float(ratio[worst]),
        (names[first], names[second]),
        len(names) * (len(names) - 1) // 2,
        by_chance < _LUCKY and bool(((tallies > 0).sum(axis=0) <= 1).all()),
    )


def _distance_by_chance(first: Array, second: Array) -> float:
    """About the total variation of two samples of one law, their pool: E|Δ| ≈ √(2/π)·sd for each value's share."""
    pool = (first + second) / (first.sum() + second.sum())
    spread = np.sqrt(pool * (1 - pool) * (1 / first.sum() + 1 / second.sum()))
    return float(0.5 * math.sqrt(2 / math.pi) * spread.sum())
