"""What a column would tell of the secret if it were published as it is: evidence from the rows, and no guarantee."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws import round_step
from takifugu.problems import SCARCE, Choices, Diagnostic
from takifugu.queries.row import MOST_NUMBERS, bins
from takifugu.queries.side_information import named
from takifugu.tables import (
    MOST_LABELS,
    BySecret,
    ColumnFacts,
    Secret,
    Subset,
    Suspect,
    Table,
    is_counted_as_text,
    notes_among_numbers,
    notes_in,
    plain,
    tally,
)

# A list of values for a column that could be public: nothing on it that only a few rows have.
#
# The rule is that of `takifugu.queries.row.Row` without a domain (the column's own values, or bins of a round width
# where there are many numbers), but for the rare ones: rare labels become one of their own, and rare numbers are
# covered by points at equal, round steps, which say nothing about who stands where.

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


# Columns that are handed over as they are, beside what goes through a channel: what they tell by themselves.
#
# The promise holds for who knows them, and is about what the rest of a row adds. Nothing hides what they tell, so it
# is said (proofs/cells.md, claim 2).


def _told_by(names: Sequence[str], counts: Mapping[Secret, Array]) -> Diagnostic:
    """What cells tell of the secrets, whose rows in each of them are given, by their shares."""
    found = betrayal("", dict(counts))
    odds, guess = (None, None) if found is None else (found.odds, found.best_guess)
    return Diagnostic("cell-tells", columns=tuple(names), odds=odds, guess=guess)


def told_by_kept(table: Table, columns: Sequence[str], keep: Sequence[str], hidden: Iterable[object]) -> Diagnostic:
    """The most that kept columns together tell of any of the secrets in `columns`: in odds, and in guesses.

    `hidden` are the secrets that are hidden from one another, named by their column where there are several.
    """
    chosen = set(hidden)
    every = [_told_by(keep, _counts(table, name, keep, chosen, several=len(columns) > 1)) for name in columns]
    odds, guesses = ([found for one in every if (found := one[name])] for name in ("odds", "guess"))
    return Diagnostic("cell-tells", columns=tuple(keep), odds=max(odds, default=None), guess=max(guesses, default=None))


def refuse_notes(table: Table, keep: Sequence[str]) -> None:
    """Refuse kept columns of numbers in which somebody typed a note: it would leave word for word."""
    import narwhals as nw

    for name in keep:
        table.require(name)
        if table.schema[name] != nw.String and not is_counted_as_text(table.schema[name]):
            continue
        answer = tally(table, {"kept": table.secret(name)}, whose="the kept columns", advice="keep fewer, or none")
        rows = {
            str(value): int(count)
            for value, count in zip(answer["kept"], answer["count"], strict=True)
            if plain(value) is not None
        }
        if notes := notes_among_numbers(rows):
            raise InputError(notes_in(name, notes) + ". Name them as missing (na=), or take them out")


def _counts(
    table: Table, secret: str, keep: Sequence[str], hidden: set[object], *, several: bool
) -> dict[Secret, Array]:
    parts = {"secret": table.secret(secret)} | {f"kept{k}": table.secret(name) for k, name in enumerate(keep)}
    answer = tally(table, parts, whose="the kept columns", advice="keep fewer, or none")
    places: dict[Any, int] = {}
    lines = []
    for who, rows, *cell in zip(
        answer["secret"], answer["count"], *(answer[f"kept{k}"] for k in range(len(keep))), strict=True
    ):
        name = plain(who)
        name = named(secret, name) if several and name is not None else name
        if name is not None and name in hidden:
            lines.append((name, places.setdefault(tuple(map(plain, cell)), len(places)), float(rows)))
    counts: dict[Secret, Array] = {name: np.zeros(len(places)) for name, _, _ in lines}
    for name, place, rows in lines:
        counts[name][place] += rows
    return counts
