"""Several secrets at once: each column's pairs are hidden under its own laws, by one channel.

All of them go into one belief, under names that say which column they are of; only pairs within a column are to be
hidden. A pair of one column never meets the laws of another, so nothing is assumed about how the columns go together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from takifugu.errors import InputError
from takifugu.problems.findings import LeftOutTells
from takifugu.problems.findings.base import rows_of
from takifugu.queries.few_rows import about_left_out
from takifugu.queries.priors import Beliefs, Priors
from takifugu.tables.by_secret import BySecret
from takifugu.tables.table import Table


def named(column: str, secret: Any) -> str:
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


def about_lacking(table: Table, held: Table, column: str) -> Iterable[LeftOutTells]:
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
        lattice=first.lattice,
        counts=gathered("counts"),
        pseudo=gathered("pseudo"),
        label=label,
    )
    made.loss = first.loss
    made.is_smoothed = any(part.is_smoothed for part in parts)
    made.pairs = [pair for column in columns for pair in _within(list(names[column].values()))]
    return made


def _within(secrets: list[str]) -> Iterable[tuple[str, str]]:
    return ((a, b) for i, a in enumerate(secrets) for b in secrets[i + 1 :])
