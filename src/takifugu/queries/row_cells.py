"""Rows whose known columns are published as they are: one belief for each cell, of who has read it.

The laws of a belief live on the rows of its cell alone. What the cell itself tells is not hidden by any channel that
leaves it as it is; a finding says how much it is (proofs/cells.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.fitting.counts import counted
from takifugu.problems.domain import Choices
from takifugu.problems.findings import Finding, SmallCells
from takifugu.problems.population_findings import CellTells
from takifugu.problems.reading_findings import about
from takifugu.queries.as_they_are import told_by_cells
from takifugu.queries.cells import SMALL, Key, cell_beliefs, checked_known, ordered_keys
from takifugu.queries.priors import Beliefs, Priors
from takifugu.queries.row import Row
from takifugu.tables.table import Secret, Table

_DUST = 1e-9  # of a row
_MOST_ROWS = 1_000  # rows of all cells together: the whole channel has as many inputs and outputs


def fit_per_cell(table: Table, secret: Any, query: Any, secrets: Any, known: Any) -> Beliefs:
    """What `fit_priors` returns with `per_cell`."""
    if not isinstance(query, Row) or not isinstance(secret, str) or not known or isinstance(known, str):
        raise InputError("per_cell is for a Row, one column of secrets and a list of known columns to publish")
    found = row_beliefs_per_cell(query, table, secret, secrets, list(known))
    found.findings = (*about(table.findings, [secret, *query.columns, *known]), *found.findings)
    return found


def row_beliefs_per_cell(
    query: Row, table: Table, secret: str, secrets: Iterable[Any] | None, known: Sequence[Any]
) -> Beliefs:
    """The priors of every cell of the known columns, on rows that hold the cell too."""
    columns = checked_known(secret, query.columns, known)
    first, cells, values = query._fitted(table, secret, secrets, columns)
    if any(None in cell for cell, _ in cells):
        raise InputError("a known column is empty in some rows, and with per_cell it is published: fill or drop them")
    names = [str(one) for one in columns]
    keys = ordered_keys(cells)
    fitted, _ = cell_beliefs(columns, cells, first.pseudo, make=lambda masses: Finite(values, masses))
    inner = fitted[-len(keys) :]  # cells of all the columns stand after those of some of them
    found = [tuple(value if isinstance(value, tuple) else (value,)) for value in values]
    rows = [(*cell, *value) for cell in keys for value in found]
    if len(rows) > _MOST_ROWS:
        raise InputError(
            f"{len(keys)} cells of {len(found)} rows each are {len(rows):,} rows, more than the {_MOST_ROWS:,} that a "
            f"channel may have here: keep fewer columns, or give coarser domains"
        )
    beliefs = [_whole(one, k, len(found), rows) for k, one in enumerate(inner)]
    domain = tuple(Choices(tuple({cell[k]: None for cell in keys}), is_read=True) for k in range(len(names)))
    answer = first.answer
    if answer is not None and isinstance(answer.domain, tuple):
        answer = replace(answer, columns=(*names, *query.columns), known=tuple(names), domain=(*domain, *answer.domain))
    beliefs[0].answer = answer
    small = sum(min(one.rows.values()) < SMALL for one in beliefs)
    findings: list[Finding] = [*first.findings, _told(names, cells, list(first))]
    if small:
        findings.append(SmallCells(small, len(beliefs), SMALL))
    made = Beliefs(beliefs, findings=findings)
    made.per_cell = True
    return made


def _whole(one: Priors, cell: int, width: int, rows: list[tuple[Any, ...]]) -> Priors:
    """A cell's priors as laws on the rows of all cells, with nothing outside its own."""

    def spread(held: Array) -> Array:
        wide = np.zeros(len(rows))
        wide[cell * width : (cell + 1) * width] = held
        return wide

    pseudo, nobody = one.pseudo, ~np.any([c + one.pseudo[s] > 0 for s, c in one.counts.items()], axis=0)
    if nobody.any():
        # A row that no secret is said to have here still needs a way out, and tells nothing: the same dust for all.
        pseudo = {s: held + _DUST * nobody for s, held in pseudo.items()}
    return Priors(
        # Weighed by the rows that each law rests on: what is lost is lost a row at a time.
        {s: Finite(rows, spread(max(one.rows[s], 1) * counted(c, pseudo[s]))) for s, c in one.counts.items()},
        rows=one.rows,
        counts={s: spread(held) for s, held in one.counts.items()},
        pseudo={s: spread(held) for s, held in pseudo.items()},
        label=one.label,
    )


def _told(names: Sequence[str], cells: dict[tuple[Key, Secret], Array], secrets: list[Secret]) -> CellTells:
    """What the cell alone tells of the secrets, by the shares of the rows."""
    keys = ordered_keys(cells)
    tallies = {s: [float(cells[cell, s].sum()) if (cell, s) in cells else 0.0 for cell in keys] for s in secrets}
    return told_by_cells(names, {s: np.array(counts) for s, counts in tallies.items()})
