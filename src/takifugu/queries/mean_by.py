"""One mean for each group of rows, such as each department, as one vector: the secret is whose departments they are."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from takifugu.channels.vector import MOST_AXES
from takifugu.errors import InputError
from takifugu.laws.vector import VectorMixture
from takifugu.problems.answer import MEAN_BY, Answer
from takifugu.problems.findings import Finding
from takifugu.queries.vector import VectorPriors, mean_vectors
from takifugu.tables.choosing import chosen_secrets
from takifugu.tables.table import Secret, Table, listed, plain
from takifugu.tables.tally import tally


def named(column: str, group: Any) -> str:
    """What one number of the vector is called.

    >>> named("salary", "Sales")
    'salary of Sales'
    """
    return f"{column} of {group}"


def means_by(columns: Sequence[str], by: str, table: Table, secret: str, secrets: Iterable[Any] | None) -> VectorPriors:
    """The joint law of the means of every group, for each secret.

    No row is in two groups, so given the secret their means are independent: the covariance has a block for each.
    """
    if by == secret or by in columns:
        raise InputError(f"by={by!r} must be another column than the secret and what is averaged")
    table.require(by)
    names, groups = _groups(table, secret, secrets, by)
    if len(groups) * len(columns) > MOST_AXES:
        raise InputError(
            f"{len(groups):,} groups of {by!r} with {len(columns)} column(s) are more than the {MOST_AXES} numbers "
            f"of one vector: merge groups, or name fewer columns"
        )
    parts = [mean_vectors(columns, _only(table, by, group), secret, names) for group in groups]
    size = len(columns)
    laws = {}
    for name in names:
        mean, covariance = np.zeros(size * len(parts)), np.zeros((size * len(parts),) * 2)
        for k, part in enumerate(parts):
            here = slice(k * size, (k + 1) * size)
            mean[here], covariance[here, here] = part[name].means[0], part[name].covariances[0]
        laws[name] = VectorMixture.gaussian(mean, covariance)
    told = tuple(named(column, group) for group in groups for column in columns)
    if len(set(told)) < len(told):
        raise InputError(f"two groups of {by!r} look alike once their columns are named: rename one of them")
    findings: list[Finding] = list(dict.fromkeys(finding for part in parts for finding in part.findings))
    # What rests on few rows is judged by the smallest group of a secret.
    rows = {name: min(part.rows[name] for part in parts) for name in names}
    return VectorPriors(laws, answer=Answer(MEAN_BY, told, (secret,)), findings=findings, rows=rows)


def _groups(table: Table, secret: str, secrets: Iterable[Any] | None, by: str) -> tuple[list[Secret], list[Any]]:
    """The secrets and the groups, each of which has rows of each secret."""
    parts = {"secret": table.secret(secret), "group": table.secret(by)}
    # Rows without a group are counted too: a secret that has no others is not to vanish unsaid.
    answer = tally(table, parts, complete=("secret",), whose=f"{secret!r} and {by!r}", advice="merge groups")
    rows: dict[tuple[Any, Any], int] = {}
    totals: dict[Any, int] = {}
    for who, group, count in zip(answer["secret"], answer["group"], answer["count"], strict=True):
        if plain(who) is None:
            continue
        totals[plain(who)] = totals.get(plain(who), 0) + int(count)
        if plain(group) is not None:
            rows[plain(who), plain(group)] = int(count)
    names = chosen_secrets(table, secret, totals, secrets)
    groups = sorted({group for who, group in rows if who in names}, key=lambda group: (isinstance(group, str), group))
    for name in names:
        missing = [group for group in groups if rows.get((name, group), 0) < 2]
        if missing:
            raise InputError(
                f"secret {name!r} has fewer than 2 rows in {listed(missing, most=4)} of {by!r}: merge groups, or leave "
                f"the secret out by naming the others in `secrets`"
            )
    return names, groups


def _only(table: Table, by: str, group: Any) -> Table:
    """The rows of one group."""
    part = Table(table)
    part.frame = table.frame.filter(table.secret(by) == group)
    return part
