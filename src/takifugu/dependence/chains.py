"""Markov chains of states: the exact law of a count or a total, given the state at any one time.

Numbers are rational. A float is taken as the decimal that it prints, so that rows of a transition matrix add up to
one exactly; the paths are counted by polynomials with whole coefficients (one power for each value of the answer),
forward to a time and backward to it, and multiplied there. Nothing is subtracted and nothing is rounded before the law
is written as floats (proofs/dependence.md).
"""

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from takifugu import _validation as check
from takifugu.errors import InputError
from takifugu.laws import Finite
from takifugu.problems import Belief

if TYPE_CHECKING:
    from flint import fmpz_poly

    from takifugu.dependence.people import FittedChain

_FURTHEST = 10_000  # times; a path of years by the hour
_MOST_VALUES = 1_000_000  # of an answer
_FAINTEST = Fraction(1, 10**300)  # below it a probability is no float to speak of
Probability = int | float | str | Fraction
Answer: TypeAlias = "Count | Histogram | Total"


@dataclass(frozen=True)
class Count:
    """How often a state is visited; in a table, how many of all rows have the value in `column` (see `Share`).

    Args:
        state: the state, or the value, that is counted.
        column: of a table, where that is counted.

    >>> chain = MarkovChain([[0.5, 0.5], [0.5, 0.5]], states=["well", "ill"])
    >>> chain.priors(3, Count("ill"))[0]["ill"].values
    (1, 2, 3)
    """

    state: Hashable
    column: str | None = None

    def numbers(self, states: Sequence[Hashable], length: int) -> list[Fraction]:
        """What a visit of each state adds to the answer.

        Args:
            states: of the chain.
            length: how many times are added up.

        Returns:
            1 for the state that is counted and 0 for all others.
        """
        if self.state not in states:
            raise InputError(f"there is no state {self.state!r}: the chain has {', '.join(map(repr, states))}")
        return [Fraction(state == self.state) for state in states]


@dataclass(frozen=True)
class Total:
    """The sum over time of a number that each state has, such as a dose or a power.

    Args:
        number: what each state adds.

    >>> chain = MarkovChain([[0.5, 0.5], [0.5, 0.5]], states=["off", "on"])
    >>> chain.priors(2, Total({"off": 0, "on": 60}))[0]["on"].values
    (60, 120)
    """

    number: Mapping[Hashable, float]

    def numbers(self, states: Sequence[Hashable], length: int) -> list[Fraction]:
        """What a visit of each state adds to the answer."""
        missing = [state for state in states if state not in self.number]
        if missing:
            raise InputError(f"every state needs a number, and none is given for {', '.join(map(repr, missing))}")
        return [decimal(self.number[state], f"the number of {state!r}") for state in states]


@dataclass(frozen=True)
class Histogram:
    """How often each state is visited, all counts published together: their joint law, and one guarantee for all.

    Counts that are published one by one add up to more than any of them; these do not.

    >>> chain = MarkovChain([["1/2", "1/4", "1/4"]] * 3, states=["home", "work", "away"])
    >>> chain.priors(2, Histogram())[0]["home"].values  # visits of home, work, away
    ((1, 0, 1), (1, 1, 0), (2, 0, 0))
    """

    def numbers(self, states: Sequence[Hashable], length: int) -> list[Fraction]:
        """A digit for each state but the last, to the base of more times than there are."""
        return [
            Fraction((length + 1) ** (len(states) - 2 - k)) if k < len(states) - 1 else Fraction(0)
            for k in range(len(states))
        ]

    def counts(self, number: int, states: int, length: int) -> tuple[int, ...] | None:
        """The counts that a number stands for; None where there are none.

        Args:
            number: the sum of the digits that the visits add.
            states: how many states there are.
            length: how many times there are.

        Returns:
            The number of visits of each state, the last by what is left.
        """
        found = []
        for _ in range(states - 1):
            number, digit = divmod(number, length + 1)
            found.append(digit)
        last = length - sum(found)
        return None if number or last < 0 else (*reversed(found), last)


class MarkovChain:
    """A sequence of states in which each depends on the one before, with the same probabilities at every time.

    Args:
        transition: one row for each state, with the probabilities of the states that follow it.
        start: the probabilities of the first state; by default those that stay as they are from one time to the next
            (stationary).
        states: the names of the states; by default 0, 1, 2, ….

    Raises:
        InputError: where a row is no distribution, or the chain has no single stationary distribution and no start.

    >>> chain = MarkovChain([[0.8, 0.2], [0.4, 0.6]])
    >>> chain.start
    (Fraction(2, 3), Fraction(1, 3))
    >>> law = chain.priors(8, Count(1))[3][1]  # of the visits of state 1, where it is the state at the 4th time
    >>> round(law.probability(3), 9)  # 14336/78125
    0.1835008
    """

    def __init__(
        self,
        transition: Sequence[Sequence[Probability]],
        start: Sequence[Probability] | None = None,
        states: Sequence[Hashable] | None = None,
    ) -> None:
        """Read every number as a fraction.

        Args:
            transition: a row for each state, with the probability of each state after it.
            start: the probabilities of the first state; the stationary ones where left out.
            states: their names; 0, 1, … where left out.

        Raises:
            InputError: for rows that are no probabilities, and for chains of several parts without a start.
        """
        if not hasattr(transition, "__iter__"):
            raise InputError(f"transition must be a list of rows, got {transition!r}")
        rows = [distribution(row, f"row {k} of the transition matrix") for k, row in enumerate(transition)]
        if not rows or any(len(row) != len(rows) for row in rows):
            raise InputError(
                f"transition must have one row and one column for each state, got rows of "
                f"{', '.join(str(len(row)) for row in rows) or 'nothing'}"
            )
        self.transition: tuple[tuple[Fraction, ...], ...] = tuple(rows)
        self.states: tuple[Hashable, ...] = tuple(range(len(rows)) if states is None else states)
        if len(self.states) != len(rows) or len(set(self.states)) != len(rows):
            raise InputError(f"states must name each of the {len(rows)} states once, got {self.states!r}")
        self.is_stationary = start is None
        if start is None:
            self.start = _stationary(self.transition)
        else:
            self.start = distribution(start, "start")
            if len(self.start) != len(rows):
                raise InputError(
                    f"start must have one probability for each of {len(rows)} states, got {len(self.start)}"
                )

    def __repr__(self) -> str:
        """The states while they are few."""
        named = ", ".join(map(repr, self.states[:6])) + (", …" if len(self.states) > 6 else "")
        return f"<MarkovChain of {len(self.states)} states: {named}>"

    def at(self, time: int) -> tuple[Fraction, ...]:
        """The probabilities of the states at a time, the first being 1.

        Args:
            time: 1 for the first.

        Returns:
            One exact probability for each state.

        >>> MarkovChain([[0.9, 0.1], [0.2, 0.8]], start=[1, 0]).at(2)
        (Fraction(9, 10), Fraction(1, 10))
        """
        found = self.start
        for _ in range(check.integer("time", time, least=1) - 1):
            found = tuple(
                sum((p * row[k] for p, row in zip(found, self.transition, strict=True)), Fraction(0))
                for k in range(len(self.states))
            )
        return found

    def priors(self, length: int, answer: "Answer") -> Sequence[Belief]:
        """The laws of an answer over so many times, given the state at each of them: one belief for each time.

        A state that is impossible at a time has the law of the likeliest one there: nobody can believe in it, and it
        asks for nothing.

        Args:
            length: the number of times.
            answer: `Count(state)`, `Histogram()` of all states together, or `Total({state: number})`.

        Returns:
            Beliefs that `calibrate` takes: to hide the state at every single time.
        """
        return Counting(self, length, answer).beliefs()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `takifugu depend --chain` takes."""
        from takifugu.dependence.influence import save_chains

        save_chains([self], path)

    @classmethod
    def fit(cls, table: object, *, state: str, time: str, by: str) -> "FittedChain":
        """The chain of several people, counted in a table with one row for each person and time.

        `calibrate` holds the guarantee for people drawn from how they differ, with confidence 0.95 unless another is
        asked for: what suits all of them together is too little for many of them.

        Args:
            table: a table of pandas, Polars or PyArrow.
            state: the column with the state.
            time: the column with the time: numbers or dates, one step apart, without gaps.
            by: the column that names the person.

        Returns:
            The chain, stationary, with the states in their order.

        Raises:
            InputError: for gaps, times that stand twice, and fewer than ten people: they do not tell how others are.
        """
        from takifugu.dependence.people import fitted

        return fitted(table, state=state, time=time, by=by)


class BeliefsInTime(Sequence[Belief]):
    """Beliefs about an answer, one for each time of each chain."""

    _beliefs: list[Belief]

    @overload
    def __getitem__(self, index: int) -> Belief: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Belief]: ...
    def __getitem__(self, index: int | slice) -> Belief | Sequence[Belief]:
        """That of a time, the first being 0; chain by chain."""
        return self._beliefs[index]

    def __len__(self) -> int:
        """One for each time of each chain."""
        return len(self._beliefs)


class Counting:
    """The paths of a chain, counted by what they add up to: polynomials with whole coefficients.

    `values` are what the powers stand for, and `powers` what a visit of each state adds to them.
    """

    def __init__(self, chain: MarkovChain, length: int, answer: "Answer") -> None:
        """Find the step of which all values are multiples."""
        self.chain, self.length = chain, check.integer("length", length, least=1)
        if self.length > _FURTHEST:
            raise InputError(f"length is at most {_FURTHEST:,}, got {length!r}: take a coarser step of time")
        if not isinstance(answer, Count | Histogram | Total):
            raise InputError(f"answer must be Count(state), Histogram() or Total({{state: number}}), got {answer!r}")
        self.answer = answer
        numbers = answer.numbers(chain.states, self.length)
        self.low = min(numbers)
        gaps = [number - self.low for number in numbers]
        self.step = _common(gaps)
        self.powers = [int(gap / self.step) for gap in gaps]
        values = max(self.powers) * length + 1
        if values > _MOST_VALUES:
            raise InputError(
                f"the answer takes {values:,} values, more than {_MOST_VALUES:,}: round the numbers of the states"
            )

    def beliefs(self) -> list[Belief]:
        """One for each time.

        The number of paths through a state at time t is the product of those that end there and those that follow, as
        polynomials whose powers are the answer: no probability is rounded until the end.

        Returns:
            A belief for each time, whose secret is the state at that time.
        """
        forward, backward = self._forward(), self._backward()
        found = []
        for t in range(self.length):
            laws = [one * other for one, other in zip(forward[t], backward[self.length - 1 - t], strict=True)]
            found.append(self._belief(t, laws))
        return found

    def _forward(self) -> "list[list[fmpz_poly]]":
        """For each time and state, the paths that end there; every number times a common denominator."""
        from flint import fmpz_poly

        (scaled,) = _whole([self.chain.start])
        now = [fmpz_poly([0] * power + [weight]) for weight, power in zip(scaled, self.powers, strict=True)]
        found = [now]
        for _ in range(self.length - 1):
            now = [
                _shifted(sum((one * row[k] for one, row in zip(now, self._rows, strict=True)), fmpz_poly([])), power)
                for k, power in enumerate(self.powers)
            ]
            found.append(now)
        return found

    def _backward(self) -> "list[list[fmpz_poly]]":
        """For each number of times that are left and each state, the paths that follow it."""
        from flint import fmpz_poly

        now = [fmpz_poly([1])] * len(self.powers)
        found = [now]
        for _ in range(self.length - 1):
            after = [_shifted(one, power) for one, power in zip(now, self.powers, strict=True)]
            now = [
                sum((one * weight for one, weight in zip(after, row, strict=True)), fmpz_poly([])) for row in self._rows
            ]
            found.append(now)
        return found

    @cached_property
    def _rows(self) -> list[list[int]]:
        return _whole(self.chain.transition)

    def _belief(self, t: int, paths: "list[fmpz_poly]") -> Belief:
        totals = [sum(map(int, one.coeffs())) for one in paths]
        likeliest, of = totals.index(max(totals)), sum(totals)
        states = self.chain.states
        laws = {state: self._law(paths[k] if totals[k] else paths[likeliest]) for k, state in enumerate(states)}
        shares = {state: totals[k] / of for k, state in enumerate(states)}
        return Belief(laws, label=f"the time is {t + 1} of {self.length}", shares=shares)

    def _law(self, paths: "fmpz_poly") -> Finite:
        """The law of the answer, each probability rounded once: so are quotients of whole numbers."""
        weights = [int(weight) for weight in paths.coeffs()]
        whole = sum(weights)
        kept = [k for k, weight in enumerate(weights) if weight * _FAINTEST.denominator > whole]
        return Finite([self.values[k] for k in kept], [weights[k] / whole for k in kept])

    @cached_property
    def values(self) -> "list[Any]":
        """What each power stands for; None for one that is never reached."""
        if isinstance(self.answer, Histogram):
            states = len(self.chain.states)
            return [self.answer.counts(k, states, self.length) for k in range(max(self.powers) * self.length + 1)]
        at = (self.low * self.length + k * self.step for k in range(max(self.powers) * self.length + 1))
        return [int(value) if value.denominator == 1 else float(value) for value in at]


def decimal(number: object, name: str) -> Fraction:
    """A number as the fraction that it prints: .8 is 4/5, and not the float next to it.

    Args:
        number: an int, a float, a fraction or a text.
        name: what it is called in an error.

    Returns:
        The fraction, so that probabilities that are written to add up to 1 do.
    """
    if isinstance(number, Fraction):
        return number
    try:
        found = Fraction(str(number))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{name} must be a finite number, got {number!r}") from None
    return found


def decimals(given: Sequence[Probability], name: str) -> list[Fraction]:
    """Each number as the fraction that it prints."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InputError(f"{name} must be a list of numbers, got {given!r}")
    return [decimal(number, f"{name}, entry {k},") for k, number in enumerate(given)]


def distribution(given: Sequence[Probability], name: str) -> tuple[Fraction, ...]:
    """Probabilities as fractions that add up to one; what is off by rounding is made up for.

    Args:
        given: one probability for each of some values.
        name: what they are called in an error.

    Returns:
        Fractions that add up to 1 exactly.

    Raises:
        InputError: where one is negative, or their sum is off by more than rounding.

    >>> distribution([0.1, 0.9], "start")
    (Fraction(1, 10), Fraction(9, 10))
    """
    found = decimals(given, name)
    total = sum(found, Fraction(0))
    if any(number < 0 for number in found) or abs(total - 1) > Fraction(1, 10**9):
        raise InputError(f"{name} must be probabilities that add up to 1, got a sum of {float(total):g}")
    return tuple(number / total for number in found)


def _stationary(rows: tuple[tuple[Fraction, ...], ...]) -> tuple[Fraction, ...]:
    """The one distribution that a step leaves as it is, solved exactly."""
    from flint import fmpq, fmpq_mat

    n = len(rows)
    columns = [
        [fmpq((row[k] - (j == k)).numerator, (row[k] - (j == k)).denominator) for j, row in enumerate(rows)]
        for k in range(n)
    ]
    columns[-1] = [fmpq(1)] * n  # any one equation follows from the others; in its place: they add up to one
    try:
        found = fmpq_mat(columns).solve(fmpq_mat([[fmpq(int(k == n - 1))] for k in range(n)]))
    except ZeroDivisionError:
        raise InputError(
            "the chain falls into parts that it never leaves, so that it has several stationary distributions: give "
            "start, the probabilities of the first state"
        ) from None
    return tuple(Fraction(int(found[k, 0].p), int(found[k, 0].q)) for k in range(n))


def _whole(rows: Sequence[Sequence[Fraction]]) -> list[list[int]]:
    """The rows times the least common denominator of all of them."""
    common = math.lcm(*(number.denominator for row in rows for number in row))
    return [[int(number * common) for number in row] for row in rows]


def _shifted(polynomial: "fmpz_poly", power: int) -> "fmpz_poly":
    from flint import fmpz_poly

    return polynomial * fmpz_poly([0] * power + [1]) if power else polynomial


def _common(gaps: list[Fraction]) -> Fraction:
    """The largest number of which all are multiples; 1 where all are 0."""
    above = math.lcm(*(gap.denominator for gap in gaps))
    whole = math.gcd(*(int(gap * above) for gap in gaps))
    return Fraction(whole, above) if whole else Fraction(1)


# Groups whose members are alike: how many have something, given that one of them has it (proofs/dependence.md).
#
# A household in which illness spreads, a class, a shift: the members are exchangeable, and the number of those who have
# it has any law at all. Given one member's status the law of the number follows by counting.


class Group:
    """A group of exchangeable members, by the probability that none, one, two, … of them have it.

    Args:
        counts: P(0), P(1), …, P(n) for a group of n members.

    Raises:
        InputError: for fewer than two entries, what is no probability, entries that do not sum to 1, and a status that
            is certain for all.

    >>> flu = Group([0.1, 0.15, 0.5, 0.15, 0.1])
    >>> [round(share, 6) for share in flu.priors()["has it"].weights.tolist()]
    [0.075, 0.5, 0.225, 0.2]
    """

    def __init__(self, counts: Sequence[Probability]) -> None:
        """Read every number as a fraction."""
        self.counts = distribution(counts, "counts")
        if len(self.counts) < 2:
            raise InputError("counts must have two entries or more: the probabilities of none, one, and so on")
        if self.counts[0] == 1 or self.counts[-1] == 1:
            raise InputError("all members or none have it for certain: nobody's status is a secret")

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.counts) - 1

    def __repr__(self) -> str:
        """Its size."""
        return f"<Group of {self.size} members>"

    def priors(self) -> Belief:
        """The law of how many have it, given that one member has it, and given that the same member has not.

        Members are exchangeable: a group of k who have it holds a given one with probability k/n, by which Bayes' rule
        weighs every k.

        Returns:
            Two laws, for `calibrate`.
        """
        having = float(sum(k * p for k, p in enumerate(self.counts)) / self.size)
        return Belief(
            {"has it": self._given(range(self.size + 1)), "has not": self._given(range(self.size, -1, -1))},
            shares={"has it": having, "has not": 1 - having},
        )

    def _given(self, shares: Sequence[int]) -> Finite:
        """P(k | status): each count weighted by how many of its members have that status."""
        weights = [Fraction(share) * p for share, p in zip(shares, self.counts, strict=True)]
        whole = sum(weights, Fraction(0))
        kept = {k: float(weight / whole) for k, weight in enumerate(weights) if weight}
        return Finite(list(kept), list(kept.values()))
