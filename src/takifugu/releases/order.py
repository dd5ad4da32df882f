"""Whether the order of the rows tells the secret: a table sorted by it gives it away, whatever the channel hides.

Rows leave in the order in which they came, so a row's place is published too. Which secrets stand where is counted in
some twenty stretches of the table, batch by batch. Where from these alone two secrets can be told apart more often than
the promise allows, or a stretch moves their odds further, so far beyond chance that no shuffled table looks like it,
nothing is released.
"""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from takifugu.calibration import Calibration
from takifugu.divergences.proved.guessing import guess_allowed
from takifugu.errors import InputError
from takifugu.problems.guarantee import Renyi
from takifugu.releases.secret_rows import protected_secrets

_STRETCHES = 16  # at least, of a long table; never as many as twice
_CHANCE = 1e-9  # that a shuffled table is refused for one pair and stretch
_DOUBT = math.log(1 / _CHANCE)
_NEARLY_ALWAYS = 0.9
_MOST_SECRETS = 40  # whose pairs are looked at


class Order:
    """Counts the secrets of a table by where they stand."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._counts: list[Counter[Any]] = [Counter()]
        self._width = 1  # rows in a stretch; doubled when there are too many stretches

    def look(self, secrets: list[Any]) -> None:
        """The secrets of the next rows."""
        start = 0
        while start < len(secrets):
            room = self._width - self._counts[-1].total()
            if not room:
                if len(self._counts) == 2 * _STRETCHES:
                    self._counts = [a + b for a, b in zip(self._counts[::2], self._counts[1::2], strict=True)]
                    self._width *= 2
                self._counts.append(Counter())
                room = self._width
            self._counts[-1].update(secrets[start : start + room])
            start += room

    def common(self, most: int) -> list[Any]:
        """The secrets with most rows."""
        return [secret for secret, _ in sum(self._counts, Counter()).most_common(most)]

    def surely_told(self, first: Any, second: Any) -> float:
        """How often a place tells one secret from the other, half of the rows of each, less what chance explains.

        >>> order = Order()
        >>> order.look(["a"] * 5_000 + ["b"] * 5_000)
        >>> order.surely_told("a", "b") > 0.9
        True
        """
        sizes = [sum(stretch[name] for stretch in self._counts) for name in (first, second)]
        if not all(sizes):
            return 0.0
        apart = 0.5 * sum(abs(one[first] / sizes[0] - one[second] / sizes[1]) for one in self._counts)
        # In a shuffled table the two shares of a stretch p differ by a variance of p(1 − p)(1/n + 1/m), nearly: their
        # distance is ½√((stretches − 1)(1/n + 1/m)) on average, at most, by Cauchy and Schwarz. It strays little.
        room = 1 / sizes[0] + 1 / sizes[1]
        chance = 0.5 * math.sqrt((len(self._counts) - 1) * room) + math.sqrt(0.5 * _DOUBT * room)
        return 0.5 + 0.5 * max(0.0, apart - chance)

    def surely_moves(self, first: Any, second: Any, odds: float) -> bool:
        """Whether being in some stretch moves the odds of a pair by more than this factor, beyond chance.

        >>> order = Order()
        >>> order.look((["a"] * 7 + ["b"]) * 2_000 + (["a"] + ["b"] * 7) * 2_000)
        >>> order.surely_moves("a", "b", 3.0), order.surely_moves("a", "b", 20.0)
        (True, False)
        """
        from scipy.stats import binom

        sizes = {name: sum(stretch[name] for stretch in self._counts) for name in (first, second)}
        for one, other in ((first, second), (second, first)):
            # Of the rows of a stretch with either secret, each has the one with this probability at most.
            share = odds * sizes[one] / (odds * sizes[one] + sizes[other])
            for stretch in self._longer():
                here, both = stretch[one], stretch[one] + stretch[other]
                if here > share * both and binom.sf(here - 1, both, share) < _CHANCE:
                    return True
        return False

    def _longer(self) -> Iterator[Counter[Any]]:
        """Every stretch, then two by two, and so on: where a secret is missing, only a long one shows it."""
        stretches = self._counts
        while stretches:
            yield from stretches
            stretches = [a + b for a, b in zip(stretches[::2], stretches[1::2], strict=False)]


def refuse_telling_order(order: Order, calibration: Calibration) -> None:
    """Raise where the order tells two secrets of a calibrated pair apart more often than is promised."""
    guarantee = calibration.guarantee
    limit, odds = _NEARLY_ALWAYS, None
    # What the adversary knows anyway may explain an order that goes with the secret; not one that always tells it.
    if isinstance(guarantee, Renyi) and (calibration.answer is None or not calibration.answer.known):
        limit, odds = guess_allowed(guarantee), guarantee.most_odds
    for first, second in _pairs(order, calibration):
        told = order.surely_told(first, second)
        if odds is not None and order.surely_moves(first, second, odds):
            raise InputError(
                f"the order of the rows tells the secret: in a part of the table the odds of two secrets are more than "
                f"{odds:g} times what they are in all of it, and no more was promised. Shuffle the rows first (in "
                f"pandas: table.sample(frac=1)). Nothing was released"
            )
        if told > limit:
            raise InputError(
                f"the order of the rows tells the secret: from a row's place alone two of the secrets can be told "
                f"apart in {told:.0%} of the cases or more, and the promise allows {limit:.0%}. Shuffle the rows "
                f"first (in pandas: table.sample(frac=1)). Nothing was released"
            )


def _pairs(order: Order, calibration: Calibration) -> Iterator[tuple[Any, Any]]:
    """The calibrated pairs of the commonest secrets: those of few rows show nothing beyond chance."""
    pairs = calibration.pairs
    secrets = [secret for secret in order.common(_MOST_SECRETS) if secret in protected_secrets(calibration)]
    chosen = None if pairs.is_every else {frozenset(pair) for pair in pairs}
    for pair in combinations(secrets, 2):
        if chosen is None or frozenset(pair) in chosen:
            yield pair
