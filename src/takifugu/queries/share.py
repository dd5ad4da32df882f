"""Secrets of the whole table: how large the share of rows with a value is, hidden in a mean or a count of all rows.

Given the share, rows are independent of one another, each with the law of its own kind: p where it has the value, q
where it has not. The total of n rows then has the law p^{*k} * q^{*(n−k)} where the number of rows is fixed, and
(s·p + (1−s)·q)^{*n} where each row has the value with probability s. Totals stand on a lattice, and their laws are
convolved there directly, in whole numbers (proofs/shares.md): a Fourier transform in floats leaves noise of the size of
its rounding where a law has next to nothing, which is just where odds are largest.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from takifugu._validation import one_of, real
from takifugu.dependence import Count
from takifugu.errors import CalibrationError, InputError, no_column
from takifugu.laws import Mixture, exact
from takifugu.problems import TABLE_COUNT, TABLE_MEAN, Answer, Choices, Diagnostic
from takifugu.queries.mean import Mean
from takifugu.queries.priors import FEW, Priors, about_codes, check_roles
from takifugu.queries.row import count_rows
from takifugu.tables import Secret, Table, listed, match_secret

_BITS = 320  # of a probability
_LOST = 50  # so that every probability is known to 2^−270
_TAIL = Fraction(1, 1 << 70)  # what may lie beyond either end of the published range, of every law
_FAINTEST = 2.0**-200  # less than that beside what every law has in the range changes no float
_MOST_STEPS = 4_096  # between the least and the largest value of a row
_MOST_POINTS = 200_000  # of a published range
NUMBERS = ("fixed", "drawn")


# Laws of totals, in whole numbers that are never more than the truth.


class Total(NamedTuple):
    """Lower bounds on the probabilities of first, first + 1, …, each a whole number of 2^−320."""

    first: int
    masses: Any  # an fmpz_poly

    @classmethod
    def of(cls, shares: Mapping[int, Fraction]) -> "Total":
        """Of one row: every probability rounded down.

        Args:
            shares: the exact probability of each value that one row may add.

        Returns:
            Its law, so that what is lost by rounding is a lower bound that holds.
        """
        from flint import fmpz_poly

        first = min(shares)
        masses = [0] * (max(shares) - first + 1)
        for place, share in shares.items():
            masses[place - first] = (share.numerator << _BITS) // share.denominator
        return cls(first, fmpz_poly(masses))

    def plus(self, other: "Total") -> "Total":
        """Of the sum of two independent ones: sums of products, rounded down; what vanishes at the ends is cut off.

        Args:
            other: the total of other rows.

        Returns:
            Lower bounds on the law of the sum. A probability that falls below 2^−320 is rounded to 0.
        """
        from flint import fmpz_poly

        masses = [int(mass) >> _BITS for mass in (self.masses * other.masses).coeffs()]
        start = next(k for k, mass in enumerate(masses) if mass)
        return Total(self.first + other.first + start, fmpz_poly(masses[start:]))

    @property
    def numbers(self) -> list[int]:
        """The masses."""
        return [int(mass) for mass in self.masses.coeffs()]


class Powers:
    """Totals of independent rows that are alike, doubled once for all numbers of rows."""

    def __init__(self, one: Total) -> None:
        """Begin with one row."""
        self._doubled = [one]

    def of(self, rows: int) -> Total:
        """The law of the total of so many.

        Args:
            rows: how many rows are added up.

        Returns:
            The law, from one product for each binary digit of the number.
        """
        found = Total.of({0: Fraction(1)})
        for k in range(rows.bit_length()):
            if k == len(self._doubled):
                self._doubled.append(self._doubled[-1].plus(self._doubled[-1]))
            if rows >> k & 1:
                found = found.plus(self._doubled[k])
        return found


@dataclass(frozen=True)
class Rows:
    """What is known of the rows: how many of each kind have each value, in steps from the least one."""

    having: Mapping[int, int]
    others: Mapping[int, int]
    low: Fraction
    step: Fraction

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(self.having.values()) + sum(self.others.values())

    def totals(self, shares: Sequence[float], numbers: Mapping[float, int]) -> list[Total]:
        """The law of the total of all rows at each share: of so many rows with the value, or drawn without numbers.

        Args:
            shares: of the rows that have the value.
            numbers: for each share the number of rows that have it; empty where each row has it independently.

        Returns:
            One law of the total for each share.
        """
        p, q = (_shares(counts) for counts in (self.having, self.others))
        if numbers:
            with_it, without = Powers(Total.of(p)), Powers(Total.of(q))
            return [with_it.of(numbers[s]).plus(without.of(self.count - numbers[s])) for s in shares]
        found = []
        for share in map(exact, shares):
            mixed = {k: share * p.get(k, Fraction(0)) + (1 - share) * q.get(k, Fraction(0)) for k in p.keys() | q}
            found.append(Powers(Total.of({k: mass for k, mass in mixed.items() if mass})).of(self.count))
        return found

    def point(self, total: int, *, mean: bool) -> float:
        """What is published where the total is so many steps."""
        value = self.low * self.count + total * self.step
        return float(value / self.count if mean else value)


def laws_on_a_range(rows: Rows, totals: Sequence[Total], *, mean: bool) -> list[Mixture]:
    """The laws of what is published: a total beyond the range counts as its end, which no more than 2^−70 does.

    The range is common to all laws: what is published is one function of the total, whatever the secret.

    Args:
        rows: what is known of the rows.
        totals: the law of the total at each share.
        mean: whether the mean is published, and not the total.

    Returns:
        Laws on points for noise, one for each share.

    Raises:
        InputError: where the range has more points than can be worked with: the column needs a coarser step.
    """
    ends = [_inner(total) for total in totals]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if high - low >= _MOST_POINTS:
        raise InputError(
            f"the answer takes {high - low + 1:,} values, more than {_MOST_POINTS:,}: round the column to a coarser "
            f"step in the table first"
        )
    return [_law(rows, total, low, high, mean=mean) for total in totals]


def _inner(total: Total) -> tuple[int, int]:
    """The range beyond either end of which lies 2^−70 at most; what was lost to rounding counts as lying there."""
    masses = total.numbers
    lost = (1 << _BITS) - sum(masses)
    room = (_TAIL.numerator << _BITS) // _TAIL.denominator
    if not 0 <= lost <= 1 << _LOST:  # of 2^40 rows it would still be less
        raise CalibrationError("the law of the total lost too much to rounding: please report this case")

    def cut(numbers: Iterable[int]) -> int:
        beyond = lost
        for k, mass in enumerate(numbers):
            beyond += mass
            if beyond > room:
                return k
        return 0

    return total.first + cut(masses), total.first + len(masses) - 1 - cut(reversed(masses))


def _law(rows: Rows, total: Total, low: int, high: int, *, mean: bool) -> Mixture:
    """Each probability the float nearest to one that is off by 2^−270 at most; what lies beyond is at the ends."""
    held: dict[int, int] = {}
    for k, mass in enumerate(total.numbers, start=total.first):
        place = min(max(k, low), high)
        held[place] = held.get(place, 0) + mass
    weights = {place: mass / (1 << _BITS) for place, mass in held.items()}
    kept = [place for place, weight in weights.items() if weight > _FAINTEST]
    points = [rows.point(place, mean=mean) for place in kept]
    return Mixture(np.array([weights[place] for place in kept]), np.array(points), np.zeros(len(kept)))


def _shares(counts: Mapping[int, int]) -> dict[int, Fraction]:
    whole = sum(counts.values())
    return {place: Fraction(count, whole) for place, count in counts.items()}


# From a table to the rows, and from the rows to what an adversary may believe.


@dataclass(frozen=True)
class Share:
    """A secret of the whole table: how large the share of its rows is that have `value` in `column`.

    It is what `fit_priors` takes as `secret`, where the answer is one number about all rows: `Mean(column)`, or
    `Count(value, column=...)`. The adversary knows how many rows there are, believes that the values of rows are
    independent of one another given which of them have `value`, and that those with it and those without have the laws
    that this table's rows have.

    Args:
        column: the column that the secret is about.
        value: the value whose share is hidden.
        shares: the shares to hide from one another, such as [0.3, 0.5].
        number: "fixed" where a share says how many rows have the value, the nearest whole number (of two as near the
            even one); "drawn" where each row has it with that probability, independently.
        apart: only shares that differ by as much are hidden from one another; by default all.

    Raises:
        InputError: for what are no shares, and shares that do not differ.

    >>> Share("sex", "F", [0.3, 0.5]).pairs
    [(0.3, 0.5)]
    """

    column: str
    value: Secret
    shares: tuple[float, ...]
    number: str = "fixed"
    apart: float = 0.0

    def __post_init__(self) -> None:
        """Check what was given."""
        if not isinstance(self.column, str):
            raise InputError(f"column must be the name of a column, such as 'sex'; got {self.column!r}")
        given: Any = self.shares
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InputError(f"shares must be several numbers from 0 to 1, such as [0.3, 0.5]; got {given!r}")
        shares = tuple(real("a share", share, "a number from 0 to 1") for share in given)
        if len(set(shares)) < 2 or len(set(shares)) < len(shares) or not all(0 <= share <= 1 for share in shares):
            raise InputError(f"shares must be two or more different numbers from 0 to 1, got {listed(shares)}")
        object.__setattr__(self, "shares", shares)
        one_of("number", self.number, NUMBERS)
        object.__setattr__(self, "apart", real("apart", self.apart, "a number from 0 to 1"))
        if not self.pairs:
            raise InputError(f"no two of the shares are {self.apart:g} apart: nothing would be hidden")

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The shares that are hidden from one another."""
        apart = exact(self.apart)
        return [(a, b) for a, b in combinations(self.shares, 2) if abs(exact(a) - exact(b)) >= apart]

    def numbers(self, rows: int) -> dict[float, int]:
        """How many of so many rows have the value, at each share: the nearest whole number.

        Args:
            rows: how many rows the table has.

        Returns:
            A number for each share.

        Raises:
            InputError: where two shares come to the same number, so that there is nothing to hide.
        """
        found = {share: round(exact(share) * rows) for share in self.shares}
        if len(set(found.values())) < len(found):
            raise InputError(
                f"of {rows:,} rows some of these shares are the same number of rows: give shares that differ by "
                f"{1 / rows:.2g} or more"
            )
        return found

    def priors(self, table: Table, answer: object) -> Priors:
        """The law of the answer at each share.

        Args:
            table: the rows.
            answer: the query, a `Mean` of one column or a `Count`.

        Returns:
            A law for each share, exact but for rounding to floats.
        """
        asked = answered(answer)
        check_roles(self.column, asked.column)
        rows, findings = self._rows(table, asked)
        numbers = self.numbers(rows.count) if self.number == "fixed" else {}
        laws = laws_on_a_range(rows, rows.totals(self.shares, numbers), mean=asked.is_mean)
        for share, count in numbers.items():
            if count != exact(share) * rows.count:
                findings.append(Diagnostic("share-of-rows", share=share, rows=rows.count, number=count))
        drawn = self.number == "drawn"
        findings.append(Diagnostic("independent-rows", column=self.column, value=self.value, drawn=drawn))
        found = Priors(
            dict(zip(self.shares, laws, strict=True)), answer=asked.about(self.column), findings=findings, rows={}
        )
        found.pairs = self.pairs if len(self.pairs) < math.comb(len(self.shares), 2) else None
        return found

    def _rows(self, table: Table, asked: "Answered") -> tuple[Rows, list[Diagnostic]]:
        """How often each value occurs among the rows with the secret's value, and among the others."""
        lines = counted_lines(table, self.column, asked)
        kinds = set(lines.secrets)
        if (value := match_secret(self.value, kinds)) is None:
            raise InputError(f"no row has {self.value!r} in {self.column!r}: give a value that some rows have")
        findings: list[Diagnostic] = []
        if lines.without:
            findings.append(Diagnostic("no-secret", column=self.column, rows=int(lines.without)))
        if missing := int(sum(lines.missing.values())):
            findings.append(Diagnostic("no-value", columns=(asked.column,), rows=missing))
        if asked.is_mean:
            findings += about_codes(table, asked.column, *lines.counted(0))
        values = asked.values(lines.values[0])
        low, step = spacing(asked.column, values)
        having: dict[int, int] = {}
        others: dict[int, int] = {}
        for who, x, times in zip(lines.secrets, values, lines.tallies, strict=True):
            counts, place = having if who == value else others, int((x - low) / step)
            counts[place] = counts.get(place, 0) + int(times)
        if not others:
            raise InputError(f"every row has {self.value!r} in {self.column!r}: of other rows nothing is known")
        for name, counts in ((str(value), having), (f"not {value}", others)):
            if (seen := sum(counts.values())) < FEW:
                findings.append(Diagnostic("few-rows", secret=name, rows=seen))
        return Rows(having, others, low, step), findings


class Answered(NamedTuple):
    """What is published of all rows: the mean of a column, or how many rows have a label in it."""

    column: str
    label: Secret | None = None

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean."""
        return self.label is None

    def values(self, given: Sequence[Any]) -> list[Fraction]:
        """What each row adds, as the decimal that it prints as."""
        if self.is_mean:
            return [exact(float(x)) for x in given]
        there = match_secret(self.label, set(given))
        return [Fraction(there is not None and x == there) for x in given]

    def about(self, secret: str) -> Answer:
        """The answer that calibrations are bound to."""
        if self.label is None:
            return Answer(TABLE_MEAN, (self.column,), (secret,))
        return Answer(TABLE_COUNT, (self.column,), (secret,), domain=(Choices((self.label,)),))


def answered(query: object) -> Answered:
    """A mean of one column or a count as what is published; anything else is refused."""
    if isinstance(query, Mean) and isinstance(query.column, str) and query.by is None:
        return Answered(query.column, None)
    if isinstance(query, Count) and query.column is not None:
        label: Any = query.state
        return Answered(query.column, label)
    raise InputError(
        f"a secret of the whole table is hidden in one number about all its rows, the mean of one column (Mean) or how "
        f"many rows have a value in one (Count with its column), and a {type(query).__name__} of something else was "
        f"asked for"
    )


def counted_lines(table: Table, secret: str, asked: Answered) -> Any:
    """How often each value occurs with each of the secret's column, of rows that have both."""
    for name in (secret, asked.column):
        if name not in table.schema:
            raise InputError(no_column("the table", name, table.columns))
    if asked.is_mean:
        table.number(asked.column)  # words among numbers are refused where they stand
    lines: Any = count_rows(table, secret, [asked.column], [])
    if not lines.secrets:
        raise InputError(f"no row has a value in both {secret!r} and {asked.column!r}")
    if asked.is_mean and not all(math.isfinite(float(x)) for x in lines.values[0]):
        raise InputError(f"column {asked.column!r} is infinite in a row: remove such rows")
    return lines


def table_answer(table: Table, answer: Answer) -> float:
    """The number that is published of a table: its exact mean or count, as the nearest float.

    Args:
        table: the rows.
        answer: what the calibration is for.

    Returns:
        The number, before noise.
    """
    label: Any = answer.lists[0].values[0] if answer.lists else None
    asked = Answered(answer.columns[0], label)
    lines = counted_lines(table, answer.secret[0], asked)
    total = sum((x * int(n) for x, n in zip(asked.values(lines.values[0]), lines.tallies, strict=True)), Fraction(0))
    return float(total / int(sum(lines.tallies)) if asked.is_mean else total)


def spacing(column: str, values: Iterable[Fraction]) -> tuple[Fraction, Fraction]:
    """The least value and the step that leads to all others; refused where they share none worth the name."""
    distinct = sorted(set(values))
    low, gaps = distinct[0], [value - distinct[0] for value in distinct[1:]]
    if not gaps:
        raise InputError(
            f"what is published of {column!r} is the same for every row: it tells no share, nothing has to be hidden"
        )
    above = math.lcm(*(gap.denominator for gap in gaps))
    step = Fraction(math.gcd(*(int(gap * above) for gap in gaps)), above)
    if gaps[-1] / step > _MOST_STEPS:
        raise InputError(
            f"the values of {column!r} share no step that goes at most {_MOST_STEPS:,} times into their range: round "
            f"them in the table first"
        )
    return low, step
