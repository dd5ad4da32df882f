"""A finite channel that is proved to keep its promise for every law that the rows allow, and so for the population's.

The set of laws follows from the counts and the level alone: bounds on the share of each value and, for numbers, on the
shares up to each (proofs/bounds.md). The law that the problem has is within it too.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from takifugu._validation import Array
from takifugu.channels.finite import FiniteChannel
from takifugu.errors import MechanismError
from takifugu.laws.bounds import Bounds
from takifugu.laws.values import Value, number
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.optimal.bounded import bounded
from takifugu.mechanisms.optimal.every_law import EveryLaw
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.optimal.program import Indices
from takifugu.mechanisms.optimal.repair import repaired_for
from takifugu.mechanisms.optimal.table import table_of
from takifugu.mechanisms.optimal.wishes import allowed_moves
from takifugu.mechanisms.posterior import posterior
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

MOST_VALUES = 128  # of a list whose laws are bounded value by value; the program of a longer one takes minutes


def every_law(
    problem: Problem, asked: Renyi, counts: list[Array], *, level: float, laws: int, reach: Array | None = None
) -> EveryLaw:
    """The promise for every law within the bounds of these counts, one list for each law of the problem.

    `laws` is how many bounds have to hold at once, with probability `level`, here and elsewhere. `reach` is a radius
    around each of the problem's laws that the promise is asked for as well.
    """
    order, ordered = _order(problem)
    bounds = [Bounds.of_counts(seen[order], level=level, laws=laws, ordered=ordered) for seen in counts]
    return _within(problem, asked, bounds, reach)


def likely_laws(problem: Problem, within: EveryLaw, *, deviations: float, reach: Array) -> EveryLaw:
    """The same promise for fewer laws: those whose shares and sums are within so many deviations in the posterior too.

    A way to look for channels that withstand draws; nothing is said of the population by it. Those within the radius
    `reach` around each of the problem's laws stay, since for them the promise was asked for.
    """
    order, ordered = _order(problem)
    behind = [belief[secret] for belief in posterior(problem) for secret in problem.pairs.secrets]
    likely = [Bounds.likely((c + g)[order], deviations=deviations, ordered=ordered) for c, g in behind]
    laws = table_of(problem).laws[:, order]
    held = zip(within.bounds, likely, laws, reach.tolist(), strict=True)
    return replace(within, bounds=tuple(one.and_also(other.holding(law, radius=r)) for one, other, law, r in held))


def _order(problem: Problem) -> tuple[Indices, bool]:
    """The places of the values in the order of their bounds, and whether it is one of numbers."""
    numbers = _numbers(table_of(problem).values)
    return (np.arange(len(table_of(problem).values)), False) if numbers is None else (np.argsort(numbers), True)


def _within(problem: Problem, asked: Renyi, bounds: list[Bounds], reach: Array | None) -> EveryLaw:
    """The promise for every law within bounds that are moved apart to hold the problem's own, and their radius."""
    table, (order, _) = table_of(problem), _order(problem)
    around = np.zeros(len(bounds)) if reach is None else reach
    held = zip(bounds, table.laws, around.tolist(), strict=True)
    return EveryLaw(
        bounds=tuple(one.holding(law[order], radius=radius) for one, law, radius in held),
        shares=table.laws / table.laws.sum(axis=1, keepdims=True),
        order=order,
        pairs=table.pairs,
        alpha=asked.alpha,
        epsilon=asked.epsilon,
        odds=None if asked.odds is None else Fraction(asked.odds),
    )


def _numbers(values: tuple[Value, ...]) -> Array | None:
    """What orders the values: their own numbers."""
    return np.array(values, dtype=np.float64) if all(map(number, values)) else None


def bounded_channel(
    rule: Optimal, problem: Problem, asked: Renyi, promise: EveryLaw, *, touching: list[Array] | None = None
) -> Found:
    """The channel that costs least, about, among those that keep the promise for every law: repaired and proved.

    `touching` is what one search after another remembers (`takifugu.mechanisms.optimal.bounded`).
    """
    program = rule.whole_program(problem, asked)
    allowed = allowed_moves(program)
    matrix = bounded(program, promise, allowed, touching=touching)
    if matrix is None:
        raise MechanismError(
            "no channel was found in time that keeps these wishes for every law that the rows allow: drop a wish, "
            "promise less, give a coarser domain, or use confidence alone"
        )
    counts = repaired_for(promise, matrix, allowed=None if program.forbidden is None else ~program.forbidden)
    values = table_of(problem).values
    return Found(FiniteChannel(values, values, counts), options=rule.options)
