"""A problem about rows, seen through some of their columns."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws import Law
from takifugu.laws.finite import Finite
from takifugu.laws.values import Value, key, number
from takifugu.problems.beliefs import Belief
from takifugu.problems.domain import Places
from takifugu.problems.problem import Problem


def of_columns(problem: Problem, columns: Sequence[str], *, before: Sequence[str] = ()) -> Problem:
    """The problem of publishing these columns of the rows, `before` (the first of them) being published already.

    Laws, counts and pseudo-counts are added up over the columns that are left out: sums of the same numbers, so that
    whoever has the law of the rows comes to the same problem.
    """
    answer = problem.answer
    if answer is None or answer.query != "row" or not isinstance(answer.domain, tuple):
        raise InputError("columns can be told apart in the priors of Row alone: fit them with query=Row(...)")
    if list(columns[: len(before)]) != list(before) or len(columns) <= len(before):
        raise InputError("the columns published before must come first, and one at least must follow")
    for name in columns:
        if name not in answer.columns:
            raise InputError(f"{name!r} is not among the columns of these priors: {', '.join(answer.columns)}")
    if len(set(columns)) < len(columns):
        raise InputError("a column is named twice: name each once")
    where = [answer.columns.index(name) for name in columns]
    domain = tuple(answer.domain[k] for k in where)
    return replace(
        problem,
        beliefs=tuple(_belief(belief, where) for belief in problem.beliefs),
        answer=replace(answer, columns=tuple(columns), domain=domain, before=tuple(before)),
    )


def _belief(belief: Belief, where: list[int]) -> Belief:
    laws: dict[object, Law] = {}
    counted = {}
    for secret, law in belief.items():
        if not isinstance(law, Finite):
            raise InputError("columns can be told apart in laws on finite lists alone")
        values, places = _parts(law.values, where)
        laws[secret] = Finite(values, _added(law.weights, places, len(values)))
        if secret in belief.counted:
            counts, pseudo = (_added(numbers, places, len(values)) for numbers in belief.counted[secret])
            counted[secret] = (counts, pseudo)
    return Belief(laws, label=belief.label, rows=belief.rows, counted=counted)


def _parts(values: tuple[Value, ...], where: list[int]) -> tuple[list[Value], Places]:
    """The distinct values of the chosen columns, numbers in order, and which of them each row has."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    parts: list[Value] = [row[where[0]] if len(where) == 1 else tuple(row[k] for k in where) for row in rows]
    distinct = list({key(part): part for part in parts}.values())
    if all(map(number, distinct)):
        distinct.sort()
    place = {key(part): k for k, part in enumerate(distinct)}
    return distinct, np.array([place[key(part)] for part in parts], dtype=np.intp)


def _added(
    numbers: Array,
    places: Places,
    size: int,
) -> Array:
    total = np.zeros(size)
    np.add.at(total, places, numbers)
    return total
