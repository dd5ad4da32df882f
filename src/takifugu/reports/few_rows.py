"""Secrets of so few rows that their law, or its commonest value, would show records: none of it is shown."""

from collections.abc import Sequence

from takifugu.reports.svg import document, label
from takifugu.reports.text import clean, listed

# Of four rows 25 % are one person's record; from ten rows on a share no longer is one at sight.
FEWEST_ROWS = 10
TOO_FEW = "too few rows to show"


def is_shown(rows: int | None) -> bool:
    """Whether a law that rests on so many rows is shown; one that was made by hand rests on none, and is.

    >>> is_shown(9), is_shown(10), is_shown(None)
    (False, True, True)
    """
    return rows is None or rows >= FEWEST_ROWS


def too_few(names: Sequence[str]) -> str:
    """Of which secrets nothing is shown.

    >>> too_few(["6b"]), too_few(["6b", "6c"])
    ('6b has too few rows to show', '6b and 6c have too few rows to show')
    """
    return f"{listed([clean(name, 30) for name in names])} {'has' if len(names) == 1 else 'have'} {TOO_FEW}"


def empty_chart(names: Sequence[str], *, name: str, title: str, width: int) -> str:
    """What stands in the place of a picture of secrets some of which have too few rows."""
    lines = [f"{clean(one, 24)}: {TOO_FEW}" for one in names]
    parts = [label(8, 22 + 20 * k, line) for k, line in enumerate(lines)]
    return document(
        parts,
        name=name,
        title=title,
        description=f"Nothing is drawn: {too_few(names)}.",
        width=width,
        height=14 + 20 * len(lines),
    )
