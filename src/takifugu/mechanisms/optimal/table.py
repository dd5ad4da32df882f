"""A problem of finite laws in arrays, and what a channel between its values has to keep."""

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.channels.listed import ListChannel
from takifugu.errors import MechanismError
from takifugu.laws.finite import Finite
from takifugu.laws.values import Value, key, plain
from takifugu.mechanisms.optimal.exact_promise import Promise
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem


class Table(NamedTuple):
    """A problem of finite laws in arrays: a row of weights for each law, and the directed pairs of rows."""

    values: tuple[Value, ...]
    laws: Array
    pairs: tuple[tuple[int, int], ...]
    mass: Array


@lru_cache(maxsize=32)
def table_of(problem: Problem) -> Table:
    """The arrays of a problem, or an error where its laws are not finite."""
    laws = [law for belief in range(len(problem.beliefs)) for law in problem.laws(belief)]
    for law in laws:
        if not isinstance(law, Finite):
            raise MechanismError(
                f"'optimal' is for laws on finite lists of values, and one here is a {type(law).__name__}: publish "
                f"with Row, or describe the answer by Finite laws"
            )
    place: dict[Any, int] = {}
    values: list[Value] = []
    for law in laws:
        for value in law.values:
            if key(value) not in place:
                place[key(value)] = len(values)
                values.append(value)
    plain(values)  # values of two laws may look alike though neither law has both
    weights = np.zeros((len(laws), len(values)))
    for row, law in zip(weights, laws, strict=True):
        row[[place[key(value)] for value in law.values]] = law.weights
    secrets = len(problem.pairs.secrets)
    pairs = tuple(
        (place.belief * secrets + place.first, place.belief * secrets + place.second) for place in problem.places()
    )
    mass = weights.sum(axis=0)  # counts pool the rows; a value of any law has some
    weights.setflags(write=False)
    mass.setflags(write=False)
    return Table(tuple(values), weights, pairs, mass)


def promise_of(problem: Problem, asked: Renyi, *, radius: Array | None = None) -> Promise:
    """What a channel between the values of a problem has to keep, in arrays."""
    table = table_of(problem)
    return Promise(
        laws=table.laws,
        pairs=table.pairs,
        alpha=asked.alpha,
        epsilon=asked.epsilon,
        odds=None if asked.odds is None else Fraction(asked.odds),
        radius=radius,
    )


def is_kept(problem: Problem, asked: Renyi, channel: ListChannel, *, radius: Array | None = None) -> bool:
    """Whether a channel is proved to keep the promise for every pair, belief and prior within the radius."""
    if not has_inputs(channel, problem):
        return False
    return promise_of(problem, asked, radius=radius).is_kept_by(channel)


def has_inputs(channel: ListChannel, problem: Problem) -> bool:
    """Whether the channel takes the values of the laws, in their order."""
    return tuple(map(key, channel.inputs)) == tuple(map(key, table_of(problem).values))
