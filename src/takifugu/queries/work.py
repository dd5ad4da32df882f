"""How long the search for a channel takes, from the sizes of the lists alone: told before it begins, or refused."""

from collections.abc import Sequence

from takifugu.errors import InputError
from takifugu.mechanisms.optimal.mechanism import MOST_VALUES

MOST_COLUMNS = 64  # together: nearly every row of more is the only one of its kind
MOST_PROBABILITIES = 100_000  # of all secrets, beyond 2,000 values: of more nobody has measured how long it takes
_MOST_SECONDS = 3 * 3_600.0
_SHORT = 20.0  # seconds that need no word


def seconds(values: int, secrets: int) -> float:
    """About how long the search takes on one core, with confidence; to a factor of two or three.

    Measured, in seconds of processor time: 36 values of 60 secrets 15, 216 of 8 12, 486 of 2 50, 100 of 30 30; and
    beyond 2,000 values 7,175 of 2 secrets 12 and of 12 secrets 76.

    >>> round(seconds(100, 30)), round(seconds(7_175, 12))
    (40, 87)
    """
    if values > MOST_VALUES:
        return 10.0 + 90.0 * values * secrets / MOST_PROBABILITIES
    return 10.0 + 30.0 * float((values / 100) ** 2.5 * (max(secrets, 8) / 30) ** 2.2)


def about(values: int, secrets: int) -> str | None:
    """That time in words; None where it is short.

    >>> about(500, 2), about(40, 2)
    ('about 2 minutes', None)
    """
    found = seconds(values, secrets)
    if found < _SHORT:
        return None
    if found < 60:
        return f"about {round(found, -1):.0f} seconds"
    minutes = round(found / 60)
    return f"about {minutes} minute{'s' * (minutes > 1)}" if minutes < 90 else f"about {found / 3_600:.0f} hours"


def require_feasible(values: int, secrets: int, columns: Sequence[str], sizes: Sequence[int]) -> None:
    """Refuse a search that would not end while somebody waits, before anything is built for it."""
    many = values > MOST_VALUES and values * secrets > MOST_PROBABILITIES
    if not many and seconds(values, secrets) <= _MOST_SECONDS:
        return
    of = "values" if len(columns) == 1 else f"combinations of {len(columns)} columns"
    size, widest = max(zip(sizes, columns, strict=True))
    why = f"a channel is found for {MOST_PROBABILITIES:,} probabilities at most"
    raise InputError(
        f"{values:,} {of} for {secrets:,} secrets are too many: "
        f"{why if many else f'to find the channel would take {about(values, secrets)}'}. Publish fewer columns "
        f"together, give coarser domains ({widest!r} takes the most values, {size:,}), or merge secrets in the table"
    )


def require_few_columns(columns: Sequence[str]) -> None:
    """Refuse more columns in one row than anybody can be hidden in."""
    if len(columns) > MOST_COLUMNS:
        raise InputError(
            f"{len(columns):,} columns are too many to publish together, and {MOST_COLUMNS} at most can be: nearly "
            f"every row would be the only one of its kind. Publish fewer columns together"
        )
