"""The channel that needs no data: every value of a public list is hidden from every other, whatever anybody believes.

Each value is a secret whose answer is that value. A channel that keeps odds of F between any two of these laws has
K(y|x) ≤ F·K(y|x') for all x, x': it is locally differentially private, and so keeps F between any two laws on the list
(proofs/data-free.md). The best one is found, proved and bounded from below like any other.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from takifugu.errors import InputError, MechanismError
from takifugu.laws import Finite, Value, key
from takifugu.problems import Answer, Diagnostic
from takifugu.queries.priors import Priors
from takifugu.queries.row import Row, values_of

DATA_FREE = "data-free"
_MOST = 128  # values: every pair of them is proved


def point_masses(given: object) -> Priors:
    """What the data-free channel hides: of a `Row` with public lists every value, each as likely as any other.

    Of laws made by hand the values that they list, weighed by all laws together; the weights say what is to be lost
    least, and no guarantee rests on them.

    >>> import takifugu as tk
    >>> tk.calibrate(Row("ill", domain=["no", "yes"]), odds=3, mechanism="data-free").channel.matrix.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    if isinstance(given, Row):
        values, weights, answer = _of_lists(given)
    else:
        values, weights = _by_hand(given)
        answer = None
    if not 2 <= len(values) <= _MOST:
        raise _not_so_many(len(values))
    each = np.eye(len(values))
    laws = {_name(value): Finite(values, weights[k] * each[k]) for k, value in enumerate(values)}
    if len(laws) < len(values):
        raise InputError("two combinations of values look alike: write the values of one column in another way")
    return Priors(laws, answer=answer, findings=[Diagnostic("data-free", values=len(values))])


def _of_lists(row: Row) -> tuple[tuple[Value, ...], Any, Answer]:
    missing = [name for name in row.columns if name not in row.domain]
    if missing:
        raise InputError(
            f"a data-free channel takes public lists alone, and {missing[0]!r} has none: give one with domain="
        )
    domain = tuple(row.domain[name] for name in row.columns)
    sizes = [len(one.values) for one in domain]
    if math.prod(sizes) > _MOST:
        raise _not_so_many(math.prod(sizes))
    support = list(itertools.product(*map(range, sizes)))
    return values_of(support, domain), np.ones(len(support)), Answer("row", row.columns, (), domain=domain)


def _by_hand(given: object) -> tuple[tuple[Value, ...], Any]:
    if not isinstance(given, Mapping) or getattr(given, "answer", None) is not None:
        raise MechanismError(
            "a data-free channel is fitted to no rows, and these priors are: give Row(column, domain=[...]) with its "
            "public lists in their place"
        )
    weights: dict[object, float] = {}
    first: dict[object, Value] = {}
    for law in given.values():
        if law.space != "values":
            raise MechanismError("a data-free channel is for values from finite lists: give Row(column, domain=[...])")
        for value, share in zip(law.values, law.probabilities.tolist(), strict=True):
            first.setdefault(key(value), value)
            weights[key(value)] = weights.get(key(value), 0.0) + share
    floor = 1e-9 * sum(weights.values())  # nobody has it, and it is hidden all the same
    return tuple(first.values()), np.array([max(weights[one], floor) for one in first])


def _not_so_many(values: int) -> InputError:
    return InputError(
        f"a data-free channel hides every value from every other, and {values:,} were listed: give 2 to {_MOST}, by "
        f"fewer columns or coarser lists"
    )


def _name(value: Value) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value
