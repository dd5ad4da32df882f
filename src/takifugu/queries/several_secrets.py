"""Several secrets at once: each column's pairs are hidden under its own laws, by one channel.

All of them go into one belief, under names that say which column they are of; only pairs within a column are to be
hidden. A pair of one column never meets the laws of another, so nothing is assumed about how the columns go together.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError, rows_of
from takifugu.problems import Diagnostic
from takifugu.queries.priors import Beliefs, Priors, about_left_out
from takifugu.tables import BySecret, Table, answers, how_many

if TYPE_CHECKING:
    import narwhals as nw


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
