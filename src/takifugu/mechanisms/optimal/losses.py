"""What it costs to publish one value for another: the square, the distance, or one for any change."""

import math
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws.values import Value, key, number

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
