"""Side information: two beliefs for every combination of values of the known columns, and of their subsets.

The law without knowledge mixes the cells with other weights for each secret, so the cells alone do not cover it: every
subset of the known columns has cells of its own, down to the one cell of nothing known. In one belief about a cell its
few rows are helped by those of the other cells; where it differs from them that hides what it tells, so in another the
cell's rows stand for themselves, and the guarantee holds for both (proofs/cells.md).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws import Lattice, Law, cell_pseudo_counts, counted
from takifugu.problems import OWN_ROWS, Diagnostic
from takifugu.queries.priors import Priors
from takifugu.tables import (
    Overview,
    Secret,
    Subset,
    Table,
    cell_in_words,
    cut_named,
    plain,
    reads_as_more,
    require_groups,
    tally,
)

SMALL = 30  # rows below which a cell is called small
MANY = 50  # cells above which merging is recommended
TOO_MANY = 10_000

Key = tuple[Any, ...]


@dataclass(frozen=True)
class CellCounts:
    """Per combination of known values and secret: the values seen, with their counts."""

    known: tuple[str, ...]
    cells: dict[tuple[Key, Secret], tuple[Array, Array]]

    def subsets(self, secrets: Iterable[Secret]) -> dict[Secret, Subset]:
        """Each secret's values over all cells, as if nothing were known."""
        found = {}
        for name in secrets:
            parts = [pair for (_, secret), pair in self.cells.items() if secret == name]
            values, place = np.unique(np.concatenate([values for values, _ in parts]), return_inverse=True)
            counts = np.bincount(place, weights=np.concatenate([counts for _, counts in parts]))
            found[name] = Subset(values, counts.astype(np.float64), 0.0)
        return found


def count_cells(table: Table, secret: str, column: str, known: Sequence[str], seen: Overview) -> CellCounts:
    """One pass in the engine: rows by secret, known values and value."""
    columns = checked_known(secret, (column,), known)
    keys = {f"known{k}": table.secret(one) for k, one in enumerate(columns)}
    answer = tally(
        table,
        {"secret": table.secret(secret), "value": table.number(column)} | keys,
        complete=("secret", "value"),
        whose=f"the known columns and {column!r}",
        advice=f"cut the known columns with binned(...), or round {column!r} first",
    )
    lines: dict[tuple[Key, Secret], list[tuple[float, float]]] = {}
    for name, value, rows, *key in zip(
        answer["secret"], answer["value"], answer["count"], *(answer[k] for k in keys), strict=True
    ):
        if (who := plain(name)) in seen.extents:
            lines.setdefault((tuple(plain(part) for part in key), who), []).append((float(value), float(rows)))
    cells = {place: tuple(np.array(sorted(pairs)).T) for place, pairs in lines.items()}
    return CellCounts(columns, {place: (values, counts) for place, (values, counts) in cells.items()})


def cell_beliefs(
    known: tuple[str, ...],
    cells: Mapping[tuple[Key, Secret], Array],
    everyone: Mapping[Secret, Array],
    *,
    alone: Callable[[Array], Array],
    make: Callable[[Array], Law],
    lattice: Lattice | None = None,
) -> tuple[list[Priors], list[Diagnostic]]:
    """The priors of every cell of every subset of the known columns but the empty one, and what to know of them.

    Each cell has two: as elsewhere, its pseudo-rows being those of the secret's other cells, and by its own rows alone,
    as a table of these rows would have it. A secret without rows in a cell may have any law there: its pseudo-row is
    spread evenly.

    `cells` has the counts of each combination of known values and secret, all over the same list of answers;
    `everyone` the pseudo-counts of each secret where nothing is known; `alone` makes such pseudo-counts of counts, and
    `make` a law of masses.
    """
    size, secrets = len(known), list(everyone)
    width = len(next(iter(everyone.values())))
    chosen = [subset for length in range(1, size + 1) for subset in combinations(range(size), length)]
    keys = {subset: _keys(cells, subset) for subset in chosen}
    total = sum(len(found) for found in keys.values())
    values = {known[k]: len(keys[(k,)]) for k in range(size)}
    widest = max(values, key=lambda one: values[one])
    if total > TOO_MANY:
        raise InputError(
            f"{total:,} cells of what the adversary knows are more than {TOO_MANY:,}: merge values of "
            f"{_name(widest)!r}, which has {values[widest]:,}, or leave it out"
        )
    for k in range(size):
        _require_no_names(known[k], cells, k)
        _require_told_apart(known, cells, k)
    beliefs: list[Priors] = []
    any_law = np.full(width, 1.0 / width)

    def believe(label: str, counts: dict[Secret, Array], pseudo: dict[Secret, Array]) -> None:
        beliefs.append(
            Priors(
                {s: make(counted(c, pseudo[s])) for s, c in counts.items()},
                rows={s: int(c.sum()) for s, c in counts.items()},
                lattice=lattice,
                counts=counts,
                pseudo=pseudo,
                label=label,
            )
        )

    for subset in chosen:
        _require_mixed(known, cells, subset, secrets)
        tables = {s: _by_cell(cells, subset, keys[subset], s, width) for s in secrets}
        elsewhere = {s: cell_pseudo_counts(tables[s], everyone[s]) for s in secrets}
        for row, key in enumerate(keys[subset]):
            label = ", ".join(cell_in_words(known[k], part) for k, part in zip(subset, key, strict=True))
            here = {s: tables[s][row] for s in secrets}
            borrowed = {s: elsewhere[s][row] for s in secrets}
            believe(label, here, borrowed)
            believe(label + OWN_ROWS, here, {s: alone(c) if c.any() else any_law for s, c in here.items()})
    _require_names_of_their_own(beliefs)
    return beliefs, _about(beliefs, widest, values[widest])


def checked_known(secret: str, columns: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The columns that the adversary may know, none of them the secret or published."""
    if not known:
        raise InputError("known is empty: name the columns that the adversary may know, or leave it out")
    names = [_name(one) for one in known]
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"each of `known` must be a column or binned(column, edges), got {name!r}")
        if name == secret:
            raise InputError(
                f"column {name!r} is the secret: an adversary who knows it has nothing to learn. "
                f"Leave it out of `known`"
            )
        if name in columns:
            raise InputError(
                f"column {name!r} is the answer: an adversary who knows it needs no release. Leave it out of `known`, "
                f"or of what is published"
            )
    if len(set(names)) < len(names):
        raise InputError("a column stands twice in `known`: name each once")
    return tuple(known)


def _name(one: object) -> Any:
    cut = cut_named(one)
    return one if cut is None else cut.column


def _keys(cells: Mapping[tuple[Key, Secret], Array], subset: tuple[int, ...]) -> list[Key]:
    """The combinations that occur, in an order that any engine's answer leads to."""
    found = {tuple(key[k] for k in subset) for key, _ in cells}
    # An empty text is a text: only what is missing needs something else to be told from.
    return sorted(
        found, key=lambda key: [(part is None, isinstance(part, str), 0 if part is None else part) for part in key]
    )


def _by_cell(
    cells: Mapping[tuple[Key, Secret], Array], subset: tuple[int, ...], keys: list[Key], secret: Secret, size: int
) -> Array:
    rows = {key: row for row, key in enumerate(keys)}
    table = np.zeros((len(keys), size))
    for (key, who), counts in cells.items():
        if who == secret:
            table[rows[tuple(key[k] for k in subset)]] += counts
    return table


def _require_no_names(known: str, cells: Mapping[tuple[Key, Secret], Array], place: int) -> None:
    rows: Counter[Any] = Counter()
    for (key, _), counts in cells.items():
        rows[key[place]] += int(counts.sum())
    advice = (
        ", and who knows or reads it knows whose row it is. Leave it out of what is known or kept, or cut it into bins"
    )
    require_groups(_name(known), rows, advice)


def _require_told_apart(known: tuple[str, ...], cells: Mapping[tuple[Key, Secret], Array], place: int) -> None:
    """Refuse texts that read as another column's cell, whether or not there is such a one: a release has others."""
    if any(reads_as_more(known[place], key[place], known) for key, _ in cells):
        raise InputError(
            f"a value of column {_name(known[place])!r} reads as if it named another known column after a comma, and "
            f"two cells would be called the same: write that value without the comma"
        )


def _require_names_of_their_own(beliefs: Sequence[Priors]) -> None:
    """Refuse two cells with one name: a belief is found again by how its cell is called."""
    if len({one.label for one in beliefs}) < len(beliefs):
        raise InputError(
            "two cells of what the adversary knows have the same name in words: rename known columns or their values "
            "that hold commas or equals signs, or cut numbers at edges that differ in their first six digits"
        )


def _require_mixed(
    known: tuple[str, ...],
    cells: Mapping[tuple[Key, Secret], Array],
    subset: tuple[int, ...],
    secrets: Sequence[Secret],
) -> None:
    """Refuse columns that tell the secret: no cell of theirs holds two."""
    if len(secrets) < 2:
        return
    held: dict[Key, set[Secret]] = {}
    for key, who in cells:
        held.setdefault(tuple(key[k] for k in subset), set()).add(who)
    if all(len(who) == 1 for who in held.values()):
        names = " and ".join(repr(_name(known[k])) for k in subset)
        raise InputError(
            f"who knows {names} knows the secret: no value occurs with two secrets. Leave it out of what is known or "
            f"kept, or cut it into fewer bins"
        )


def _about(beliefs: list[Priors], widest: str, values: int) -> list[Diagnostic]:
    findings: list[Diagnostic] = []
    rarest = [min(belief.rows.values()) for belief in beliefs[::2]]  # of the two about each cell, which has its rows
    if small := sum(rows < SMALL for rows in rarest):
        findings.append(Diagnostic("small-cells", small=small, cells=len(rarest), rows=SMALL))
    if lone := sum(rows == 0 for rows in rarest):
        findings.append(Diagnostic("one-secret-cells", cells=lone))
    if len(rarest) > MANY:
        findings.append(Diagnostic("many-cells", cells=len(rarest), column=_name(widest), values=values))
    return findings
