"""The rows that a belief is about: those of the cell of what the adversary knows that its label names."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from takifugu.audits.features import Places
from takifugu.audits.rows import Rows
from takifugu.problems.problem import Problem
from takifugu.tables.binned import cell_in_words, cut_named


class Cell(NamedTuple):
    """Rows of which the adversary knows the same, and how many columns that is about."""

    rows: Places
    known: int


def known_columns(problem: Problem) -> tuple[str, ...]:
    """The names of the columns that the adversary may know."""
    known = () if problem.answer is None else problem.answer.known
    return tuple(one if (cut := cut_named(one)) is None else cut.column for one in known)


def rows_of_beliefs(problem: Problem, rows: Rows) -> dict[int, Cell]:
    """For each belief the rows it is about; a belief that is about no cell is about all rows.

    A belief whose cell cannot be found in the truth is left out: nothing is said about it. Of the two beliefs about a
    cell the second is too, as it is about the same rows.
    """
    known = () if problem.answer is None else problem.answer.known
    everyone = Cell(np.arange(len(rows)), 0)
    if not known:
        return dict.fromkeys(range(len(problem.beliefs)), everyone)
    told = [_told(one, rows) for one in known]
    found: dict[str, Cell] = {"": everyone}
    for size in range(1, len(told) + 1):
        for subset in combinations([column for column in told if column is not None], size):
            labels = np.array([", ".join(parts) for parts in zip(*subset, strict=True)])
            for label in np.unique(labels):
                found[str(label)] = Cell(np.flatnonzero(labels == label), size)
    return {place: found[belief.label] for place, belief in enumerate(problem.beliefs) if belief.label in found}


def _told(one: str, rows: Rows) -> list[str] | None:
    """Each row's part of a label, as `takifugu.queries.cells` writes it; None where truth lacks the column."""
    column = rows.truth.get(one)
    return None if column is None else [cell_in_words(one, value) for value in column.labels.tolist()]
