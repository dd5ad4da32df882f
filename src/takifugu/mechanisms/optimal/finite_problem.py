"""A problem of finite laws in arrays, and what a channel between its values has to keep."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu.channels import ListChannel
from takifugu.errors import InputError, MechanismError
from takifugu.laws import Finite, Value, key, number, plain
from takifugu.mechanisms.optimal.repair import Promise
from takifugu.problems import Problem, Renyi


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


# What it costs to publish one value for another: the square, the distance, or one for any change.

NAMES = ("square", "absolute", "change")


def loss_matrix(loss: Any, inputs: tuple[Value, ...], outputs: tuple[Value, ...], mass: Array) -> Array:
    """The loss of every input published as every output.

    For rows of several columns the columns are added up: numbers as their square over their own variance (so that a
    column of large numbers does not count for more), labels as one for a change.
    """
    if loss is not None and not isinstance(loss, str):
        matrix = np.array(loss, dtype=np.float64)
        if matrix.shape != (len(inputs), len(outputs)):
            raise InputError(
                f"loss must have a row for each of the {len(inputs)} values and a column for each of the "
                f"{len(outputs)} that may be published, got {matrix.shape}"
            )
        return matrix
    if loss is not None and loss not in NAMES:
        raise InputError(f"loss must be one of {', '.join(map(repr, NAMES))} or a matrix, got {loss!r}")
    if isinstance(inputs[0], tuple):
        columns = zip(zip(*inputs, strict=True), zip(*outputs, strict=True), strict=True)
        total: Array = sum((column_loss(loss, a, b, mass, relative=True) for a, b in columns), np.zeros(()))
        return total
    return column_loss(loss, inputs, outputs, mass, relative=False)


def column_loss(loss: str | None, inputs: Any, outputs: Any, mass: Array, *, relative: bool) -> Array:
    """The loss of one column; relative to its own variance where columns are added up."""
    numeric = all(map(number, (*inputs, *outputs)))
    if loss is None:
        loss = "square" if numeric else "change"
    if loss == "change" or (relative and not numeric):
        places: dict[Any, int] = {}
        a, b = (np.array([places.setdefault(key(v), len(places)) for v in side]) for side in (inputs, outputs))
        changed: Array = (a[:, None] != b[None, :]).astype(np.float64)
        return changed
    if not numeric:
        raise InputError(f'loss={loss!r} is for numbers, and these values are labels: use loss="change" or a matrix')
    x, y = np.array(inputs, dtype=np.float64), np.array(outputs, dtype=np.float64)
    gaps = np.abs(x[:, None] - y[None, :])
    with np.errstate(over="ignore"):
        matrix: Array = gaps if loss == "absolute" else gaps * gaps
    if not np.isfinite(matrix).all():
        raise InputError("the values lie too far apart for their loss to be a number: use a larger unit")
    if relative:
        shares = mass / mass.sum()
        variance = float(shares @ (x - shares @ x) ** 2)
        if variance > 0:
            matrix = matrix / (np.sqrt(variance) if loss == "absolute" else variance)
    return matrix


def frozen_matrix(loss: Any) -> tuple[tuple[float, ...], ...]:
    """A matrix of losses that cannot change, checked."""
    try:
        rows = tuple(tuple(float(x) for x in row) for row in loss)
    except (TypeError, ValueError):
        raise InputError(
            'loss must be "square", "absolute", "change", or a matrix of numbers, inputs by outputs'
        ) from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("loss must be a matrix: every row as long as the first")
    if any(not math.isfinite(x) or x < 0 for row in rows for x in row):
        raise InputError("loss must hold finite numbers, 0 or more")
    return rows
