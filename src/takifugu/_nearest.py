"""Names that were not found, and the one that was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: object, known: Iterable[object]) -> str:
    """' Did you mean …?' with the known name nearest to `name`, or nothing where none is near.

    >>> suggestion("educaton", ["education", "age"])
    " Did you mean 'education'?"
    >>> suggestion("zzz", ["education", "age"])
    ''
    """
    by_folded = {str(k).casefold(): k for k in known}
    near = get_close_matches(str(name).casefold(), list(by_folded), n=1, cutoff=0.5)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""


def no_column(table: str, name: object, columns: Iterable[object], *, which: str = "") -> str:
    """That a table lacks a column, with the one that was probably meant and those there are; `which` tells more of it.

    >>> no_column("truth", "educaton", ["education", "age"], which=", named in keys")
    "truth has no column 'educaton', named in keys. Did you mean 'education'? Its columns are education, age"
    """
    there = list(map(str, columns))
    return f"{table} has no column {name!r}{which}.{suggestion(name, there)} Its columns are {', '.join(there)}"
