"""How long the search for a channel takes, from its sizes alone: told before it begins, or refused.

A power of each size, fitted to what searches took (`benchmarks.estimates`, which prints how far off this is): there is
one for each kind of guarantee, with confidence or without, through one program or by columns. It is processor time on
one core of the machine that was measured, and most others take between half and twice as long.
"""

from typing import NamedTuple

from takifugu.mechanisms.optimal.mechanism import most_values
from takifugu.problems import Guarantee, Problem

SHORT = 20.0  # seconds that need no word before they begin


class Power(NamedTuple):
    """Seconds for each secret, those of 100 values and 2 secrets, and how these grow with values and secrets."""

    each: float
    seconds: float
    values: float
    secrets: float


# By (through one program, of bounded odds, with confidence), and with confidence for more secrets than two, whose
# margins are found in other ways.
_FEW = 2
_POWERS = {
    (True, True, False): Power(0.02, 0.075, 2.4, 1.0),
    (True, True, True): Power(0.28, 1.8, 1.6, 1.0),
    (True, False, False): Power(0.02, 0.075, 2.4, 1.0),
    (True, False, True): Power(0.4, 1.8, 1.7, 0.9),
    (False, True, False): Power(0.0, 0.75, 0.9, 0.6),
    (False, True, True): Power(0.0, 0.9, 0.9, 0.6),
    (False, False, False): Power(0.0, 0.75, 0.9, 0.6),
    (False, False, True): Power(0.0, 0.9, 0.9, 0.6),
}
_BELIEFS = 0.45  # the power of their number: most of them bind nowhere
_OF_MANY, _OF_MANY_BY_COLUMNS = Power(0.34, 0.92, 2.6, 1.25), Power(0.0, 6.5, 0.5, 0.3)


class Size(NamedTuple):
    """How large a search is: of how many values, secrets and beliefs, for odds or an order, with confidence or not.

    >>> small, large = Size(100, 2), Size(400, 2)
    >>> small.seconds < large.seconds, small.words
    (True, None)
    """

    values: int
    secrets: int
    beliefs: int = 1
    of_odds: bool = True
    has_confidence: bool = False

    @classmethod
    def of(cls, problem: Problem, asked: Guarantee | None, confidence: float | None) -> "Size":
        """The size of a problem with lists of values, for a guarantee; None is one that is yet to be looked for."""
        values = max(len(law.values) for law in problem.beliefs[0].values())
        of_odds = asked is not None and all(part.most_odds is not None for part in asked.parts)
        return cls(values, len(problem.beliefs[0]), len(problem.beliefs), of_odds, confidence is not None)

    @property
    def by_columns(self) -> bool:
        """Whether more is asked than one program for the whole channel is for by default."""
        return self.values > most_values(self.secrets * (self.secrets - 1) * self.beliefs)

    @property
    def seconds(self) -> float:
        """About how long the search takes."""
        powers = [_POWERS[not self.by_columns, self.of_odds, self.has_confidence]]
        if self.of_odds and self.has_confidence and self.secrets > _FEW:
            powers = [*powers, _OF_MANY_BY_COLUMNS] if self.by_columns else [_OF_MANY]
        return float(self.beliefs**_BELIEFS) * max(self._by(power) for power in powers)

    def _by(self, power: Power) -> float:
        grown = float((self.values / 100) ** power.values * (self.secrets / 2) ** power.secrets)
        return power.each * self.secrets + power.seconds * grown

    @property
    def words(self) -> str | None:
        """That time in words; None where it is short."""
        return None if self.seconds < SHORT else about(self.seconds)


def about(seconds: float) -> str:
    """A number of seconds, with as many digits as an estimate has.

    >>> about(28), about(400), about(40_000)
    ('about 30 seconds', 'about 7 minutes', 'about 11 hours')
    """
    if seconds < 60:
        return f"about {round(seconds, -1):.0f} seconds"
    minutes = round(seconds / 60)
    return f"about {minutes} minute{'s' * (minutes > 1)}" if minutes < 90 else f"about {seconds / 3_600:.0f} hours"
