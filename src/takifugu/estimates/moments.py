"""Scores for each published row: numbers whose expectation, given the true row, is a product of true values.

Each kind of channel has its own. A `Term` names what is multiplied: a column of numbers, or that a column has a label.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws.values import key, number


class Term(NamedTuple):
    """A column of numbers, or, with a label, one where the column has it and zero elsewhere."""

    column: str
    label: Any = None
    is_label: bool = False

    def of(self, values: Sequence[Any]) -> Array:
        """The term at each of these values."""
        if self.is_label:
            wanted = key(self.label)
            return np.array([key(value) == wanted for value in values], float)
        if not all(map(number, values)):
            raise InputError(f"column {self.column!r} holds labels, and this needs numbers: ask for its histogram")
        return np.array(values, dtype=np.float64)

    def __str__(self) -> str:
        """The name of a coefficient."""
        return f"{self.column} = {self.label}" if self.is_label else self.column


class Moments(ABC):
    """What a kind of channel makes of products of terms."""

    rows: int
    names: tuple[str, ...]

    @abstractmethod
    def product(self, *terms: Term) -> Array:
        """A number for each row with the expectation of the product of the terms' true values, two at most."""

    def covariance(self, scores: Array) -> tuple[Array, Array]:
        """The covariance of the mean of scores, columns by columns: for the population, and of publishing alone."""
        whole = np.atleast_2d(np.cov(scores, rowvar=False)) / self.rows
        return whole, self.added(scores, whole)

    def added(self, scores: Array, whole: Array) -> Array:
        """The part that publishing adds; all of it where it is not told apart."""
        return whole

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """The variance that publishing adds to the mean of one term."""
        return added


@dataclass(frozen=True)
class Kept:
    """Columns that went out as they are: they multiply whatever was changed."""

    values: Mapping[str, Sequence[Any]]

    def split(self, terms: Sequence[Term], changed: Sequence[str]) -> tuple[list[Term], Array | float]:
        """The terms about changed columns, and the product of the others."""
        rest: Array | float = 1.0
        for term in terms:
            if term.column not in changed:
                rest = rest * term.of(self.values[term.column])
        return [term for term in terms if term.column in changed], rest


class NotDeterminedError(InputError):
    """What was asked does not follow from what was published; the message says why and what does."""
