"""Secrets as people write them: plain values, and which of those in a column a given one stands for."""

import math
from collections.abc import Iterable
from typing import Any

Secret = str | int | float | bool

_PLAIN = frozenset({str, int, bool})  # as they are; a float may be NaN


_MISSING = ("NAType", "NaTType")  # pandas' own are told by their types, so that pandas need not be there


def plain(value: Any) -> Secret | None:
    """A secret as the plain Python value that people write, None where there is none.

    >>> import numpy as np
    >>> plain(np.int64(3)), plain("a"), plain(float("nan"))
    (3, 'a', None)
    """
    if type(value) in _PLAIN:  # nearly all of millions of cells
        return value  # type: ignore[no-any-return]
    if hasattr(value, "item"):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in _MISSING:
        return None
    return value if isinstance(value, bool | int | float) else str(value)


def match_secret(given: Any, known: Iterable[Secret]) -> Secret | None:
    """The known secret that `given` stands for, None where there is none.

    1, 1.0 and the text '1' are one, and so are a truth value and its name in any capitals. Spaces count in texts: a
    file in which " yes" is not "yes" has two secrets there, and which one is meant is not for us to guess.

    >>> match_secret("1", [1, 2]), match_secret(1.0, ["1", "2"]), match_secret("3", [1, 2])
    (1, '1', None)
    >>> match_secret("TRUE", [True, False]), match_secret(True, ["true", "false"]), match_secret(" yes ", ["yes"])
    (True, 'true', None)
    """
    known = list(known)
    for candidate in known:
        if candidate == given and isinstance(candidate, bool) == isinstance(given, bool):
            return candidate
    spelled = _spelling(given)
    matches = [candidate for candidate in known if _spelling(candidate) == spelled]
    if not matches and (truth := _truth(given)) is not None:
        matches = [candidate for candidate in known if _truth(candidate) is truth]
    if not matches:  # a column of truth in an engine that knows only 0 and 1
        matches = [candidate for candidate in known if candidate == given]
    return matches[0] if matches else None


def listed(items: Iterable[Any], most: int = 20) -> str:
    """Items for a sentence: the first few, and how many more there are."""
    items = list(items)
    shown = ", ".join(repr(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def _spelling(value: Any) -> str:
    if isinstance(value, bool):
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)
    return repr(number) if math.isfinite(number) else str(value)


def _truth(value: Any) -> bool | None:
    return {"true": True, "false": False}.get(str(value).lower()) if isinstance(value, str | bool) else None
