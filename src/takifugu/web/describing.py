"""What the page is told of a table: which columns can be secrets, which can be published, and what looks odd."""

from collections.abc import Iterable, Sequence
from typing import Any

from takifugu.errors import InputError
from takifugu.problems.inspection_findings import SuspectedSentinel
from takifugu.problems.reading_findings import ReadAs
from takifugu.tables.free_text import is_free_text
from takifugu.tables.inspect import AWKWARD, ColumnFacts, look
from takifugu.tables.table import Table
from takifugu.web.rereading import on_page, quoted

MOST_SECRETS = 60  # a column with more distinct values is not offered as a secret
MOST_COLUMNS = 400
_LISTED = ("whole numbers", "numbers", "truth", "labels")  # what a list of values can be made of
_MOST_LABELS = 1_000


def looked_at(table: Table) -> tuple[ColumnFacts, ...]:
    """The facts of every column of a table that is not too wide for the page."""
    if len(table.columns) > MOST_COLUMNS:
        raise InputError(f"{table.name} has {len(table.columns)} columns; the explorer takes {MOST_COLUMNS}")
    return look(table)


def described(table: Table, facts: Sequence[ColumnFacts], *, wanted: str | None) -> dict[str, Any]:
    """The columns that can be secrets, numbers to add noise to, and values to publish from a list.

    What looks like an identifier is named apart: it is never what the page opens with, nor are notes and amounts in
    text. `wanted` is the secret that it opens with, where that is known.
    """
    secrets = [one for one in facts if 2 <= one.distinct <= MOST_SECRETS and _can_be_secret(table, one)]
    if not secrets:
        columns = f"none of its {len(facts)} columns has" if len(facts) > 1 else "its one column does not have"
        # A likely reason is how it was read: a sheet of notes before the one with the table, or another separator.
        read = [one.sentence for one in table.findings if isinstance(one, ReadAs)]
        decided = "".join(f". {sentence[0].upper()}{sentence[1:]}" for sentence in read)
        raise InputError(
            f"{table.name} has no column that could be a secret: {columns} between 2 and {MOST_SECRETS} values{decided}"
        )
    identifiers = [one.name for one in facts if one.is_identifier]
    lists = [one.name for one in facts if one.kind in _LISTED and (one.is_number or 1 < one.distinct <= _MOST_LABELS)]
    awkward = [one.name for one in facts if is_free_text(one) or one.form in AWKWARD]
    suspected = _suspected(facts)
    return {
        "secrets": [one.name for one in secrets],
        "secret": wanted or _first_secret(secrets),
        "numbers": _last(table.numeric, identifiers),
        "lists": _last(_last(lists, awkward), identifiers),
        "identifiers": identifiers,
        "findings": [on_page(one.sentence) for one in (*table.findings, *suspected)],
        "suspects": [quoted(one.code) for one in suspected],
    }


def _suspected(facts: Iterable[ColumnFacts]) -> list[SuspectedSentinel]:
    """Codes that stand far from the rest of their column."""
    return [
        SuspectedSentinel(one.name, suspect.value, suspect.rows, suspect.apart)
        for one in facts
        for suspect in one.suspects
        if suspect.apart
    ]


def _can_be_secret(table: Table, facts: ColumnFacts) -> bool:
    try:
        table.secret(facts.name)
    except InputError:
        return False
    return True


def _first_secret(columns: list[ColumnFacts]) -> str:
    """Of those that can be secrets, the labels with the fewest values; a number only where there are no labels.

    What most rows leave empty, as remarks are, comes last of all.
    """
    return min(columns, key=lambda one: (one.missing > one.rows, one.is_identifier, one.is_number, one.distinct)).name


def _last(columns: list[str], unwanted: list[str]) -> list[str]:
    return sorted(columns, key=lambda name: name in unwanted)
