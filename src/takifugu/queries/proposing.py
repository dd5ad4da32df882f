"""A list of values for a column that could be public: nothing on it that only a few rows have.

The rule is that of `takifugu.queries.row.Row` without a domain (the column's own values, or bins of a round width where
there are many numbers), but for the rare ones: rare labels become one of their own, and rare numbers are covered by
points at equal, round steps, which say nothing about who stands where.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from takifugu.laws.lattice import round_step
from takifugu.problems.domain import Choices
from takifugu.queries.row_domains import MOST_NUMBERS, bins
from takifugu.tables.count import Subset
from takifugu.tables.inspect import MOST_LABELS, ColumnFacts
from takifugu.tables.suspects import Suspect

SHARED = 5  # rows that must share a value before it is called by its name
_ROUND_ENDS = 5  # steps to a multiple of which an end is widened
OTHER = "other"


@dataclass(frozen=True)
class Proposal:
    """The list, the step between its points where they are equally spaced, and how many rare values it covers."""

    choices: Choices
    step: float | None = None
    rare: int = 0

    @property
    def words(self) -> str:
        """The list for a sentence."""
        values = self.choices.values
        if self.step is not None:
            return f"{_shown(values[0])} to {_shown(values[-1])}, {len(values)} points"
        shown = ", ".join(map(_shown, values[:8])) + (f" … {len(values)} values" if len(values) > 8 else "")
        return f"{shown}; {OTHER} stands for {self.rare} rare" if self.rare else shown


def proposed(facts: ColumnFacts, dropped: tuple[Suspect, ...] = ()) -> Proposal | None:
    """A list for the column, with the suspects that are `dropped` left out; None where there is none to publish."""
    if facts.is_number:
        return None if facts.numbers is None else _numbers(facts, facts.numbers, {one.value for one in dropped})
    if facts.labels is None or not 1 < len(facts.labels) <= MOST_LABELS:
        return None
    common = sorted(label for label, rows in facts.labels.items() if rows >= SHARED)
    rare = len(facts.labels) - len(common)
    if rare and facts.kind == "labels":
        values = common if OTHER in common else [*common, OTHER]
        return None if len(values) < 2 else Proposal(Choices(tuple(values), other=OTHER), rare=rare)
    return Proposal(Choices(tuple(sorted(facts.labels))))  # a truth value is true or false, however rare


def _numbers(facts: ColumnFacts, counted: Subset, dropped: set[float]) -> Proposal | None:
    pairs = [(v, n) for v, n in zip(counted.values.tolist(), counted.counts.tolist(), strict=True) if v not in dropped]
    if len(pairs) < 2:
        return None
    low, high = pairs[0][0], pairs[-1][0]
    if len(pairs) > MOST_NUMBERS:
        points, step = bins(low, high)
        return Proposal(Choices(tuple(points)), step=step)
    if all(rows >= SHARED for _, rows in pairs):
        return Proposal(Choices(tuple(_plain(value) for value, _ in pairs)))
    fine = _fine_step(Fraction(high) - Fraction(low), facts.kind == "whole numbers")
    # An end that few rows have is nobody's business: it moves out to a rounder number.
    out_low, out_high = (_ROUND_ENDS if rows < SHARED else 1 for rows in (pairs[0][1], pairs[-1][1]))
    first = math.floor(Fraction(low) / (fine * out_low)) * out_low
    last = math.ceil(Fraction(high) / (fine * out_high)) * out_high
    points = [_plain(float(k * fine)) for k in range(first, last + 1)]
    rare = sum(rows < SHARED for _, rows in pairs)
    return Proposal(Choices(tuple(points)), step=float(fine), rare=rare)


def _fine_step(span: Fraction, whole: bool) -> Fraction:
    """A round step that leaves at most `MOST_NUMBERS` points once the ends are widened; of whole numbers at least 1."""
    step = round_step(span, MOST_NUMBERS - 2 * _ROUND_ENDS)
    return max(step, Fraction(1)) if whole else step


def _plain(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
