"""What the laws of a problem rest on, and so what draws of the population's laws are drawn from."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels.sparse import SparseChannel
from takifugu.errors import InputError, MechanismError
from takifugu.laws import Law
from takifugu.laws.finite import Finite
from takifugu.laws.values import key
from takifugu.mechanisms.draws import Counted
from takifugu.mechanisms.optimal.table import table_of
from takifugu.problems.beliefs import Belief, belief_names, is_of_all
from takifugu.problems.problem import Problem

_OTHER_VALUES = "the counts behind the laws must be about the same values: fit all beliefs on the same lists"


def posterior(problem: Problem) -> list[dict[Any, Counted]]:
    """What each law rests on: counts and pseudo-counts, for every belief and secret."""
    found = []
    for belief in problem.beliefs:
        here = {}
        for secret in problem.pairs.secrets:
            if secret in belief.counted:
                here[secret] = _in_order(belief[secret], Counted(*belief.counted[secret]), problem)
            elif isinstance(belief[secret], Finite):
                here[secret] = _by_hand(belief[secret], problem)
            else:
                raise MechanismError(
                    "confidence draws from counts, and these priors rest on none: fit them with Raw on a lattice "
                    "(bounds and step) or with Row, or give Finite laws whose weights are counts"
                )
        found.append(here)
    if len({array.shape for here in found for counts in here.values() for array in counts}) > 1:
        raise InputError(_OTHER_VALUES)
    return found


def with_rows(problem: Problem) -> Problem:
    """The problem with the number of rows behind each law, which of priors made by hand are their weights."""
    beliefs = [
        Belief(
            belief,
            label=belief.label,
            rows=_by_weights(belief) | belief.rows,
            histograms=belief.histograms,
            counted=belief.counted,
            drawn=belief.drawn,
        )
        for belief in problem.beliefs
    ]
    return replace(problem, beliefs=tuple(beliefs))


def require_rows_behind(problem: Problem) -> None:
    """Refuse what is said about the population where it does not say on how many rows it rests.

    That the rows were there no file can prove; so their number is named wherever the evidence is.
    """
    for place, belief in enumerate(problem.beliefs):
        least, weights = int(is_of_all(belief)), _by_weights(belief)
        for secret in problem.pairs.secrets:
            rows = belief.rows.get(secret)
            if rows is None or rows < least or rows != weights.get(secret, rows):
                raise InputError(
                    f"beliefs[{place}].rows must say how many rows there are with each secret, as what is said about "
                    f"the population rests on them: make the certificate anew from the rows"
                )


def rows_in_words(problem: Problem) -> str:
    """On how many rows the evidence rests, and whose word that is."""
    told = []
    for name in belief_names(problem.beliefs):
        rows = [dict(one.rows) for one in problem.beliefs if belief_names([one]) == [name]]
        most = max(rows, key=lambda one: sum(one.values()))  # cells have a part of them each
        whose = "" if name is None else f" of {name!r}"
        told.append(f"{sum(most.values()):,} rows{whose} ({min(most.values()):,} of the rarest secret)")
    return f"it rests on {' and '.join(told)}, by the word of whoever holds them: nothing here proves that number"


def _by_weights(belief: Belief) -> dict[Any, int]:
    """Of finite laws made by hand, whose weights stand for rows."""
    laws = {secret: law for secret, law in belief.items() if secret not in belief.counted}
    return {secret: int(law.total) for secret, law in laws.items() if isinstance(law, Finite)}


def _in_order(law: Law, counted: Counted, problem: Problem) -> Counted:
    """The counts behind a law, in the order in which a channel takes the values: beliefs may list them differently."""
    if not isinstance(law, Finite):
        return counted
    wanted = [key(value) for value in table_of(problem).values]
    place = {key(value): where for where, value in enumerate(law.values)}
    if place.keys() != set(wanted) or len(counted.counts) != len(place):
        raise InputError(_OTHER_VALUES)
    order = np.array([place[one] for one in wanted], dtype=np.intp)
    return Counted(counted.counts[order], counted.pseudo[order])


def _by_hand(law: Finite, problem: Problem) -> Counted:
    """A law whose weights are counts, with one pseudo-row spread evenly: its own, and nothing of another's."""
    if not (law.weights == np.rint(law.weights)).all() or law.total < 2:
        raise InputError("confidence needs laws whose weights are counts of rows: give whole numbers")
    table = table_of(problem)
    channel_order = SparseChannel.constant(table.values, table.values[0]).weights_of(law)
    return Counted(channel_order, np.full(len(table.values), 1.0 / len(table.values)))


def places_of_columns(problem: Problem) -> npt.NDArray[np.intp]:
    """For each value that a channel takes, the place of its entry among those of every column, values by columns."""
    rows = [value if isinstance(value, tuple) else (value,) for value in table_of(problem).values]
    if len({len(row) for row in rows}) > 1:
        raise InputError(_OTHER_VALUES)
    columns = []
    for column in zip(*rows, strict=True):
        place = {one: k for k, one in enumerate(dict.fromkeys(map(key, column)))}
        columns.append([place[key(one)] for one in column])
    return np.array(columns, dtype=np.intp).T


def points_of(problem: Problem) -> Array:
    """The points of the lattice that a problem is about."""
    answer = problem.answer
    points = getattr(answer.domain, "points", None) if answer is not None else None
    if points is None:
        raise MechanismError(
            "confidence needs values on a lattice: give Raw bounds and a step, or publish with Row from a finite list"
        )
    found: Array = points
    if any(len(part) != len(found) for one in problem.beliefs for pair in one.counted.values() for part in pair):
        raise InputError("the counts behind the laws are not about the points of the lattice")
    return found
