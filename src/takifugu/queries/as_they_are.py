"""Columns that are handed over as they are, beside what goes through a channel: what they tell by themselves.

The promise holds for who knows them, and is about what the rest of a row adds. Nothing hides what they tell, so it is
said (proofs/cells.md, claim 2).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.problems.population_findings import CellTells
from takifugu.queries.betrayal import betrayal
from takifugu.queries.several import named
from takifugu.tables.suspects import notes_among_numbers, notes_in
from takifugu.tables.table import Secret, Table, is_counted_as_text, plain
from takifugu.tables.tally import tally


def _told_by(names: Sequence[str], counts: Mapping[Secret, Array]) -> CellTells:
    """What cells tell of the secrets, whose rows in each of them are given, by their shares."""
    found = betrayal("", dict(counts))
    return CellTells(tuple(names)) if found is None else CellTells(tuple(names), found.odds, found.best_guess)


def told_by_kept(table: Table, columns: Sequence[str], keep: Sequence[str], hidden: Iterable[Any]) -> CellTells:
    """The most that kept columns together tell of any of the secrets in `columns`: in odds, and in guesses.

    `hidden` are the secrets that are hidden from one another, named by their column where there are several.
    """
    chosen = set(hidden)
    every = [_told_by(keep, _counts(table, name, keep, chosen, several=len(columns) > 1)) for name in columns]
    odds, guesses = [one.odds for one in every if one.odds], [one.guess for one in every if one.guess]
    return CellTells(tuple(keep), max(odds, default=None), max(guesses, default=None))


def refuse_notes(table: Table, keep: Sequence[str]) -> None:
    """Refuse kept columns of numbers in which somebody typed a note: it would leave word for word."""
    import narwhals as nw

    for name in keep:
        table.require(name)
        if table.schema[name] != nw.String and not is_counted_as_text(table.schema[name]):
            continue
        answer = tally(table, {"kept": table.secret(name)}, whose="the kept columns", advice="keep fewer, or none")
        rows = {
            str(value): int(count)
            for value, count in zip(answer["kept"], answer["count"], strict=True)
            if plain(value) is not None
        }
        if notes := notes_among_numbers(rows):
            raise InputError(notes_in(name, notes) + ". Name them as missing (na=), or take them out")


def _counts(table: Table, secret: str, keep: Sequence[str], hidden: set[Any], *, several: bool) -> dict[Secret, Array]:
    parts = {"secret": table.secret(secret)} | {f"kept{k}": table.secret(name) for k, name in enumerate(keep)}
    answer = tally(table, parts, whose="the kept columns", advice="keep fewer, or none")
    places: dict[Any, int] = {}
    lines = []
    for who, rows, *cell in zip(
        answer["secret"], answer["count"], *(answer[f"kept{k}"] for k in range(len(keep))), strict=True
    ):
        name = plain(who)
        name = named(secret, name) if several and name is not None else name
        if name is not None and name in hidden:
            lines.append((name, places.setdefault(tuple(map(plain, cell)), len(places)), float(rows)))
    counts: dict[Secret, Array] = {name: np.zeros(len(places)) for name, _, _ in lines}
    for name, place, rows in lines:
        counts[name][place] += rows
    return counts
