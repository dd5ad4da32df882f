"""Estimates as they are handed over: a figure, its standard error, and an interval."""

import math
from dataclasses import dataclass
from typing import Any

from takifugu._validation import real
from takifugu.errors import InputError


def _quantile(level: float) -> float:
    from scipy.special import ndtri

    share = real("level", level, "a number between 0 and 1, such as 0.95")
    if not 0 < share < 1:
        raise InputError(f"level must be a number between 0 and 1, such as 0.95, got {level!r}")
    return float(ndtri((1 + share) / 2))


@dataclass(frozen=True)
class Estimate:
    """A figure about the true values behind a published table.

    `error` is its standard error for the population that the rows were drawn from; `from_channel` is the part of it
    that publishing adds, which is the standard error for the true table itself.

    >>> Estimate(10.0, 1.0, 0.5).interval(0.95)
    (8.040036015459947, 11.959963984540053)
    """

    value: float
    error: float
    from_channel: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the truth about so often, by the normal approximation."""
        reach = _quantile(level) * self.error
        return self.value - reach, self.value + reach

    def __str__(self) -> str:
        """The figure and its error."""
        return f"{self.value:.6g} ± {self.error:.2g} (of which publishing adds {self.from_channel:.2g})"


@dataclass(frozen=True)
class Bounds:
    """Between these the true figure lies with a probability of at least `confidence`, whatever else is true."""

    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        """Both ends."""
        return f"between {self.low:.6g} and {self.high:.6g}, with {100 * self.confidence:g} % confidence"


@dataclass(frozen=True)
class Histogram:
    """The share of each true value; None for those of which no unbiased estimate exists, and `why`."""

    column: str
    shares: dict[Any, Estimate | None]
    why: str | None

    def __str__(self) -> str:
        """A line for each value."""
        lines = [f"{value}: {'not determined' if one is None else one}" for value, one in self.shares.items()]
        return "\n".join([*lines, *([self.why] if self.why else [])])


@dataclass(frozen=True)
class Regression:
    """Least squares on the true values: `coefficients` by name, "(intercept)" first."""

    outcome: str
    coefficients: dict[str, Estimate]
    rows: int

    def __getitem__(self, name: str) -> Estimate:
        """One coefficient."""
        if name not in self.coefficients:
            raise InputError(f"there is no coefficient {name!r}: there are {', '.join(map(repr, self.coefficients))}")
        return self.coefficients[name]

    def __str__(self) -> str:
        """A line for each coefficient."""
        lines = [f"{name}: {one}" for name, one in self.coefficients.items()]
        return "\n".join([f"{self.outcome}, by {self.rows:,} rows", *lines])


def root(variance: float) -> float:
    """A standard deviation; a variance that is estimated may come out below 0."""
    return math.sqrt(max(variance, 0.0))
