"""Which column the page opens with: one that most rows have, from a short list, and not among those that tell most."""

from collections.abc import Sequence

from takifugu.errors import InputError
from takifugu.queries.betrayal import betrayals_of
from takifugu.queries.proposing import Proposal, proposed
from takifugu.queries.row_domains import MOST_NUMBERS
from takifugu.tables.by_secret import BySecret
from takifugu.tables.inspect import ColumnFacts
from takifugu.tables.table import Table

_MISSING = 0.1  # of the rows: what more of them lack says little of most
_LOOKED_AT = 12  # columns that are held against the secret: each is a pass over the table


def first_column(table: Table, secret: str, facts: Sequence[ColumnFacts], offered: Sequence[str]) -> str | None:
    """The column to publish that a table is opened with, in the order of the table; None where none can be.

    Of those that are best filled in and have short lists, the half that tells more of the secret is passed over: a
    column that gives it away needs so much change that nothing can be seen of how a promise works.
    """
    lists: dict[str, Proposal] = {}
    shortcomings: dict[str, tuple[bool, ...]] = {}
    for one in facts:
        if one.name == secret or one.name not in offered or one.is_identifier or one.distinct < 2:
            continue
        try:
            proposal = proposed(one)
        except InputError:  # labels that look alike: they are refused when they are published
            continue
        if proposal is not None:
            lists[one.name] = proposal
            shortcomings[one.name] = _shortcomings(one)
    least = min(shortcomings.values(), default=())
    good = [name for name, found in shortcomings.items() if found == least][:_LOOKED_AT]
    if len(good) < 2:
        return next(iter(good), None)
    try:
        telling = _telling(table, secret, {one.name for one in facts if one.is_number}, {n: lists[n] for n in good})
    except InputError:  # a secret of which nothing can be counted: what is asked for next says why
        return good[0]
    quieter = sorted(good, key=lambda name: telling[name])[: (len(good) + 1) // 2]
    return next(name for name in good if name in quieter)


def _shortcomings(one: ColumnFacts) -> tuple[bool, ...]:
    """The worst first: rows that lack it stay out, a code for missing values widens its list, and so do many values."""
    return (
        one.missing > _MISSING * (one.rows + one.missing),
        any(suspect.apart for suspect in one.suspects),
        one.distinct > MOST_NUMBERS,
    )


def _telling(table: Table, secret: str, numbers: set[str], lists: dict[str, Proposal]) -> dict[str, float]:
    """How often the best guess from each column is right, for the pair that it tells apart most easily."""
    told = betrayals_of(BySecret(table, secret, [name for name in lists if name in numbers]), lists)
    return {name: told[name].best_guess if name in told else 0.5 for name in lists}
