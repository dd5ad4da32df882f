"""What goes beside one secret: what an adversary knows of each row, and other columns that are secrets too.

Of side information there are two beliefs for every combination of values of the known columns, and of their subsets.
The law without knowledge mixes the cells with other weights for each secret, so the cells alone do not cover it: every
subset of the known columns has cells of its own, down to the one cell of nothing known. In one belief about a cell its
few rows are helped by those of the other cells; where it differs from them that hides what it tells, so in another the
cell's rows stand for themselves, and the guarantee holds for both (proofs/cells.md).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError, rows_of
from takifugu.laws import Lattice, Law, cell_pseudo_counts, counted
from takifugu.problems import OWN_ROWS, Diagnostic
from takifugu.queries.priors import Beliefs, Priors, about_left_out
from takifugu.tables import (
    BySecret,
    Overview,
    Secret,
    Subset,
    Table,
    answers,
    cell_in_words,
    cut_named,
    how_many,
    plain,
    reads_as_more,
    require_groups,
    tally,
)

if TYPE_CHECKING:
    import narwhals as nw

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
        made = Priors(
            {s: make(counted(c, pseudo[s])) for s, c in counts.items()},
            rows={s: int(c.sum()) for s, c in counts.items()},
            counts=counts,
            pseudo=pseudo,
            label=label,
        )
        made.lattice = lattice
        beliefs.append(made)

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


# Several secrets at once: each column's pairs are hidden under its own laws, by one channel.
#
# All of them go into one belief, under names that say which column they are of; only pairs within a column are to be
# hidden. A pair of one column never meets the laws of another, so nothing is assumed about how the columns go
# together.


def named(column: str, secret: object) -> str:
    """The name of a secret among those of several columns.

    >>> named("hiv", True)
    'hiv = True'
    """
    return f"{column} = {secret}"


def joined(columns: Sequence[str], fitted: Sequence[Priors | Beliefs]) -> Priors | Beliefs:
    """The priors of each column of secrets as one, with the pairs to hide."""
    if len(set(columns)) < len(columns):
        raise InputError("a column of secrets is named twice: name each once")
    if all(isinstance(one, Priors) for one in fitted):
        return _one(columns, [one for one in fitted if isinstance(one, Priors)], label="")
    beliefs = [one for one in fitted if isinstance(one, Beliefs)]
    labels = list(dict.fromkeys(belief.label for one in beliefs for belief in one))  # cells have names of their own
    merged = []
    for label in labels:
        # A cell in which no row has one of the secrets tells nothing about it: its law is that without knowledge.
        parts = [next((belief for belief in one if belief.label == label), one[0]) for one in beliefs]
        merged.append(_one(columns, parts, label=label))
    findings = dict.fromkeys(finding for one in beliefs for finding in one.findings)
    return Beliefs(merged, findings=findings)


def about_lacking(table: Table, held: Table, column: str) -> Iterable[Diagnostic]:
    """Whether rows that lack another of the secrets, and are left out of `held`, tell this one by that.

    An error where all rows of a secret do: it would vanish unsaid.
    """
    every, left = (BySecret(one, column, ()).rows for one in (table, held))
    for secret, rows in every.items() if left else ():
        if secret not in left:
            raise InputError(
                f"{named(column, repr(secret))} has no row with a value in every column of secrets: none of its "
                f"{rows_of(rows)} would be published, and whoever is missing there would be known to have it. Fill "
                f"these values in, give what is missing a value of its own in the table, such as 'unknown', or hide "
                f"fewer columns of secrets"
            )
    return about_left_out({secret: (rows - left.get(secret, 0), rows) for secret, rows in every.items()})


def _one(columns: Sequence[str], parts: Sequence[Priors], *, label: str) -> Priors:
    both = list(zip(columns, parts, strict=True))
    names = {column: {secret: named(column, secret) for secret in part} for column, part in both}

    every = [name for of_column in names.values() for name in of_column.values()]
    if len(set(every)) < len(every):
        raise InputError("secrets of two columns have the same name once their columns are named: rename a column")

    def gathered(attribute: str) -> dict[Any, Any]:
        return {
            names[column][secret]: value
            for column, part in both
            for secret, value in getattr(part, attribute).items()
            if secret in names[column]
        }

    first = parts[0]
    made = Priors(
        {names[column][secret]: law for column, part in both for secret, law in part.items()},
        answer=None if first.answer is None else replace(first.answer, secret=tuple(columns)),
        findings=dict.fromkeys(finding for part in parts for finding in part.findings),
        rows=gathered("rows"),
        subsets=gathered("subsets"),
        counts=gathered("counts"),
        pseudo=gathered("pseudo"),
        label=label,
    )
    made.loss, made.lattice = first.loss, first.lattice
    made.is_smoothed = any(part.is_smoothed for part in parts)
    made.pairs = [pair for column in columns for pair in _within(list(names[column].values()))]
    return made


def _within(secrets: list[str]) -> Iterable[tuple[str, str]]:
    return ((a, b) for i, a in enumerate(secrets) for b in secrets[i + 1 :])


# Whether people have several rows: every row keeps the promise by itself, and of two the odds may move twice.
#
# A column that names people is told by this: its values repeat, and each of them goes with one value of the secret,
# far more often than chance would have it. A code that is finer than the secret looks the same, so nothing is
# refused.

_LOOKED_AT = 100_000  # rows: people who come twice mostly do so among these
_MOST_COLUMNS = 60
_LEAST_VALUES = 20
_LEAST_REPEATED = 10
_MOST_ROWS_EACH = 20
_NEARLY_ALL = 0.98
_CHANCE = 1e-9  # that values which have nothing to do with the secret each go with one


def several_rows(table: Table, secrets: Sequence[str]) -> list[Diagnostic]:
    """The columns that may name people who have several rows, each with a secret that is theirs in all of them."""
    found: list[Diagnostic] = []
    if table.frame.implementation.is_spark_like():  # a job for every column would take longer than the release
        return found
    # By a secret that is the same in every row nothing can be told.
    telling = {secret: alike for secret in secrets if (alike := _alike(table, secret)) < 1}
    if not telling:
        return found
    columns = [name for name in table.columns if name not in secrets and _can_name(table, name)][:_MOST_COLUMNS]
    columns = _of_many_values(table, columns)
    for secret, alike in telling.items():
        found += [
            Diagnostic("several-rows", column=name, secret=secret)
            for name in columns
            if _names_people(table, name, secret, alike)
        ]
    return found


def _can_name(table: Table, column: str) -> bool:
    """Whether a column is of whole numbers or texts: measurements and truth values name nobody."""
    import narwhals as nw

    dtype = table.schema[column]
    return bool(dtype.is_integer()) or dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _of_many_values(table: Table, columns: list[str]) -> list[str]:
    """Those with as many values as names have at least: one question for all, where each of the rest asks its own."""
    if not columns:
        return columns
    names = {f"c{place}": column for place, column in enumerate(columns)}
    frame = table.frame.head(_LOOKED_AT).select(*(table.secret(column).alias(name) for name, column in names.items()))
    counts = answers(table, frame, {}, {name: name for name in names})
    return [column for name, column in names.items() if int(counts[name]) >= _LEAST_VALUES]


def _alike(table: Table, secret: str) -> float:
    """How often two rows have the same secret by chance."""
    import narwhals as nw

    rows = _rows(table, secret).filter(~nw.col("secret").is_null())
    counts = table.collect(rows.group_by("secret").agg(nw.len().alias("rows")))["rows"]
    total = float(sum(counts))
    return sum((count / total) ** 2 for count in counts) if total else 1.0


def _names_people(table: Table, column: str, secret: str, alike: float) -> bool:
    import narwhals as nw

    there = _rows(table, secret, column).filter(~nw.col("secret").is_null(), ~nw.col("key").is_null())
    of_one = there.group_by("key").agg(
        nw.len().alias("rows"), nw.col("secret").min().alias("low"), nw.col("secret").max().alias("high")
    )
    twice = nw.col("rows") > 1
    counts = table.collect(
        of_one.select(
            nw.len().alias("values"),
            nw.col("rows").sum().alias("rows"),
            how_many(twice).alias("repeated"),
            how_many(twice & (nw.col("low") == nw.col("high"))).alias("same"),
        )
    )
    values, total, repeated, same = (int(counts[name][0] or 0) for name in ("values", "rows", "repeated", "same"))
    return (
        values >= _LEAST_VALUES
        and repeated >= _LEAST_REPEATED
        and total <= _MOST_ROWS_EACH * values
        and same >= _NEARLY_ALL * repeated
        and repeated * math.log(1 / alike) > math.log(1 / _CHANCE)
    )


def _rows(table: Table, secret: str, column: str | None = None) -> "nw.LazyFrame[Any]":
    import narwhals as nw

    # As text: not every engine knows the least of two truth values.
    parts = [table.secret(secret).cast(nw.String).alias("secret")]
    parts += [] if column is None else [table.secret(column).alias("key")]
    return table.frame.head(_LOOKED_AT).select(*parts)
