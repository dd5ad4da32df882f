"""A law on finitely many values: numbers, labels, truth values, or rows of several columns."""

import math
from collections.abc import Hashable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, vector
from takifugu.errors import InputError
from takifugu.laws.frozen import Frozen
from takifugu.laws.values import Value, key, number, plain
from takifugu.laws.weights import counts


class Finite(Frozen):
    """Finitely many values and the weight of each: what an adversary believes about an answer from a list.

    Weights may be counts or probabilities and are kept as given; the law is that of the weights divided by their
    exact sum. Repeated values are merged, values keep the order in which they first appear, and a value of weight
    zero stays: it is part of the list, and harmless. Immutable, hashable and picklable; the arrays are read-only.

    >>> law = Finite(["low", "high", "low"], [3, 1, 4])
    >>> law
    Finite(['low', 'high'], [7.0, 1.0])
    >>> law.probability("high")
    0.125
    """

    __slots__ = ("_place", "total", "values", "weights")

    values: tuple[Value, ...]
    weights: Array
    total: float
    _place: dict[Hashable, int]

    def __init__(self, values: Any, weights: npt.ArrayLike) -> None:
        """Validate, merge and freeze the two lists."""
        if isinstance(values, Mapping):
            raise InputError("values must be a list: for a mapping of values to counts use Finite.from_counts")
        given = plain(values)
        heavy = counts(vector("weights", weights), len(given))
        place: dict[Hashable, int] = {}
        where = [place.setdefault(key(value), len(place)) for value in given]
        merged = np.bincount(where, weights=heavy)
        try:
            total = math.fsum(merged.tolist())
        except OverflowError:
            total = math.inf
        if not math.isfinite(total):
            raise InputError("weights add up to more than the largest float: divide them all by the same number")
        merged.setflags(write=False)
        first = dict(zip(reversed(where), reversed(given), strict=True))  # the last writer is the first appearance
        for name, value in (
            ("values", tuple(first[i] for i in range(len(place)))),
            ("weights", merged),
            ("total", total),
            ("_place", place),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_counts(cls, counts: Mapping[Any, float]) -> Self:
        """The law of a mapping from values to counts, such as a `collections.Counter`.

        >>> Finite.from_counts({3: 10, 4: 30}).probabilities.tolist()
        [0.25, 0.75]
        """
        if not isinstance(counts, Mapping):
            raise InputError(f"counts must be a mapping from values to counts, got {type(counts).__name__}")
        return cls(list(counts), list(counts.values()))

    def __eq__(self, other: object) -> bool:
        """Whether the same values stand in the same order with the same weights."""
        if not isinstance(other, Finite):
            return NotImplemented
        return list(self._place) == list(other._place) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((tuple(self._place), self.weights.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the two lists, so that what is unpickled has been validated again."""
        return type(self), (self.values, self.weights)

    def __len__(self) -> int:
        """The number of distinct values."""
        return len(self.values)

    def __repr__(self) -> str:
        """Code that makes the law again while it is short, a summary where it is long."""
        if len(self) <= 6:
            return f"Finite({list(self.values)!r}, {self.weights.tolist()!r})"
        width = len(self.values[0]) if isinstance(self.values[0], tuple) else 0
        rows = f"rows of {width} columns" if width else "numbers" if self.is_numeric else "values"
        return f"<Finite law on {len(self)} {rows}, total weight {self.total:.6g}>"

    @property
    def probabilities(self) -> Array:
        """The weights divided by their sum."""
        # Weights near the smallest float lose their digits in a quotient; the proofs use the weights themselves.
        with np.errstate(under="ignore"):
            shares: Array = self.weights / self.total
        shares.setflags(write=False)
        return shares

    def probability(self, value: Any) -> float:
        """The probability of one value; 0 for a value that is not on the list."""
        place = self._place.get(key(plain([value], name="value")[0]))
        return 0.0 if place is None else float(self.weights[place] / self.total)

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number; truth values are labels."""
        return all(map(number, self.values))

    @property
    def mean(self) -> float:
        """The expectation, where the values are numbers."""
        values, shares = self._numbers("mean"), self.probabilities
        return math.fsum((values * shares).tolist())

    @property
    def std(self) -> float:
        """The standard deviation, where the values are numbers."""
        values, shares = self._numbers("std"), self.probabilities
        gaps = values - self.mean
        scale = float(np.abs(gaps).max()) or 1.0  # squares of far or close values leave the range of floats
        with np.errstate(under="ignore"):
            return scale * math.sqrt(math.fsum(((gaps / scale) ** 2 * shares).tolist()))

    def _numbers(self, what: str) -> Array:
        if not self.is_numeric:
            raise InputError(f"a law on labels or rows has no {what}: only a law whose values are all numbers has one")
        values = np.array(self.values, dtype=np.float64)
        if np.abs(values).max() > 1e300:  # the difference of two such numbers may be beyond the largest float
            raise InputError(f"the values are too large for a {what}: give them in a larger unit")
        return values
