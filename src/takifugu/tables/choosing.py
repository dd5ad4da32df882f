"""Which values of a column are the secrets to hide, and whether it can be a column of secrets at all."""

from collections.abc import Iterable, Mapping
from typing import Any

from takifugu._validation import no_text
from takifugu.errors import InputError
from takifugu.tables.table import Secret, Table, match_secret

SECRETS = 1_000  # a column with more distinct values is no list of secrets
_NAMES = 20  # values of which most stand in one row only: they name people; of numbers, any: they were measured
_SHOWN = 20  # secrets that a sentence counts up
LEAVE_OUT = "leave it out, with leave_out=[...] in publish or by naming the others in `secrets`"


def chosen_secrets(
    table: Table, secret: str, rows: Mapping[Any, int], wanted: Iterable[Any] | None, *, without: int = 0
) -> list[Secret]:
    """The secrets to fit, of those that occur, each with its number of rows; `without` are rows that have none."""
    require_some(table, secret, len(rows), without)
    if len(rows) > SECRETS:
        raise InputError(
            f"column {secret!r} has more than {SECRETS} distinct values, too many to be secrets: "
            f"group them into fewer first; numbers are cut at edges where a column is named like 'age:30:60', and of "
            f"dates a column of years can be made"
        )
    advice = (
        ", not groups of them. Name the column to hide, or group its values first; numbers are cut at edges where a "
        "column is named like 'age:30:60'"
    )
    if wanted is None:
        _require_counted(secret, rows)
    require_groups(secret, rows, advice)
    no_text("secrets", wanted, "values")
    if wanted is None:
        return sorted(rows, key=lambda name: (isinstance(name, str), name))
    names = [_there(secret, rows, given) for given in wanted]
    if not names:
        raise InputError("secrets is empty: name those to protect, or leave it out for all")
    return list(dict.fromkeys(names))


def require_some(table: Table, secret: str, known: int, without: int) -> None:
    """Refuse a table without rows, and a column in which no secret is known."""
    if not known and not without:
        raise table.no_rows()
    if not known:
        raise InputError(f"column {secret!r} is empty in every one of the {without} rows: no secret is known")


def require_groups(column: str, rows: Mapping[Any, int], advice: str) -> None:
    """Refuse a column that names people: most of its values stand in one row only, and none belongs in a message."""
    alone = sum(count == 1 for count in rows.values())
    if len(rows) >= _NAMES and 2 * alone > len(rows):
        raise InputError(
            f"{alone} of the {len(rows)} values of column {column!r} stand in one row each: it names people{advice}"
        )


def _require_counted(column: str, rows: Mapping[Any, int]) -> None:
    """Refuse numbers that were measured: where few share one, each is a person's own and belongs in no message."""
    alone = sum(count == 1 for count in rows.values())
    if len(rows) < _NAMES or not alone or not all(isinstance(x, int | float) for x in rows):
        return
    if 2 * alone > len(rows) and all(float(x).is_integer() for x in rows):
        return  # numbers of people, which no edges make a secret of
    raise InputError(
        f"column {column!r} holds {len(rows)} different numbers, some of them in one row only: these are no groups of "
        f"people. Cut them into groups where the column is named, at edges of your choice: '{column}:EDGE:EDGE', as in "
        f"'age:30:60'"
    )


def _there(secret: str, rows: Mapping[Any, int], given: Any) -> Secret:
    found = match_secret(given, rows)
    if found is None:
        common = sorted(rows.items(), key=lambda one: -one[1])[:_SHOWN]
        there = ", ".join(f"{name!r} ({count})" for name, count in common)
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        raise InputError(f"no row has {secret} = {given!r}; those there are, with their rows: {there}{more}")
    return found
