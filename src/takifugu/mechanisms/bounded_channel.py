"""A finite channel that is proved to keep its promise for every law that the rows allow, and so for the population's.

The set of laws follows from the counts and the level alone: bounds on the share of each value and, for numbers, on the
shares up to each (proofs/bounds.md). The law that the problem has is within it too.
"""

import math
from fractions import Fraction

import numpy as np

from takifugu._validation import Array
from takifugu.channels.counts import BITS
from takifugu.channels.finite import FiniteChannel
from takifugu.errors import MechanismError
from takifugu.laws.bounds import Bounds
from takifugu.laws.values import number
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.optimal.bounded import bounded
from takifugu.mechanisms.optimal.every_law import EveryLaw
from takifugu.mechanisms.optimal.mechanism import FINER, Optimal, table_of
from takifugu.mechanisms.optimal.repair import repaired_for
from takifugu.mechanisms.optimal.wishes import allowed_moves
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

MOST_VALUES = 64  # of a list whose laws are bounded value by value; the program of a longer one takes minutes


def every_law(
    problem: Problem, asked: Renyi, counts: list[Array], *, level: float, laws: int, reach: Array | None = None
) -> EveryLaw:
    """The promise for every law within the bounds of these counts, one list for each law of the problem.

    `laws` is how many bounds have to hold at once, with probability `level`, here and elsewhere. `reach` is a radius
    around each of the problem's laws that the promise is asked for as well.
    """
    table = table_of(problem)
    ordered = all(map(number, table.values))
    order = np.argsort(np.array(table.values, dtype=np.float64)) if ordered else np.arange(len(table.values))
    bounds = []
    around = np.zeros(len(counts)) if reach is None else reach
    for seen, law, radius in zip(counts, table.laws, around.tolist(), strict=True):
        found = Bounds.of_counts(seen[order], level=level, laws=laws, ordered=ordered)
        bounds.append(found.holding(law[order], radius=radius))
    return EveryLaw(
        bounds=tuple(bounds),
        shares=table.laws / table.laws.sum(axis=1, keepdims=True),
        order=order,
        pairs=table.pairs,
        alpha=asked.alpha,
        epsilon=asked.epsilon,
        odds=None if asked.odds is None else Fraction(asked.odds),
    )


def bounded_channel(rule: Optimal, problem: Problem, asked: Renyi, promise: EveryLaw) -> Found:
    """The channel that costs least, about, among those that keep the promise for every law: repaired and proved."""
    program = rule.whole_program(problem, asked)
    allowed = allowed_moves(program)
    matrix = bounded(program, promise, allowed)
    if matrix is None:
        raise MechanismError(
            "no channel was found that keeps these wishes for every law that the rows allow: drop a wish, promise "
            "less, or use confidence alone"
        )
    bits = math.ceil(math.log2(FINER / rule.grid)) if rule.grid else BITS
    counts = repaired_for(promise, matrix, allowed=None if program.forbidden is None else ~program.forbidden, bits=bits)
    values = table_of(problem).values
    return Found(FiniteChannel(values, values, counts), options=rule.options)
