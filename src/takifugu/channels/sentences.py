"""A finite channel in words: what becomes of 100 people with a value."""

from collections.abc import Sequence

import numpy as np

from takifugu._validation import Array
from takifugu.laws.values import Value, key


def sentence(value: Value, outputs: Sequence[Value], shares: Array) -> str:
    """What becomes of 100 people with this value.

    The whole numbers add up to 100: each share is rounded down, and what is missing goes to the largest
    remainders, of equal ones to the output listed first.

    >>> sentence(4, (3, 4), np.array([0.19, 0.81]))
    'of 100 people with 4, 81 stay, 19 become 3'
    """
    people = np.array(hundred(shares))
    stays = [place for place, output in enumerate(outputs) if key(output) == key(value)]
    order = sorted(np.flatnonzero(people).tolist(), key=lambda place: (place not in stays, -people[place], place))
    rare = int(((shares > 0) & (people == 0)).sum())
    parts = [_part(int(people[place]), None if place in stays else outputs[place], rare) for place in order]
    if rare:
        parts.append(f"{rare} other outcome{'s happen' if rare > 1 else ' happens'} to fewer than 1 in 100")
    return f"of 100 people with {named(value)}, {', '.join(parts)}"


def hundred(shares: Array) -> list[int]:
    """Whole numbers that add up to 100, as near to the shares as that allows."""
    ideal = 100 * np.asarray(shares) / np.sum(shares)
    # A share such as 0.29 is a little below 29 hundredths in float64; it is 29 people all the same.
    down = np.floor(ideal + 1e-9)
    missing = round(100 - down.sum())
    first = np.argsort(np.round(down - ideal, 9), kind="stable")[:missing]
    down[first] += 1
    return [int(count) for count in down]


def named(value: Value) -> str:
    """A value as it stands in a sentence: texts without quotes, rows in brackets."""
    if isinstance(value, tuple):
        return f"({', '.join(named(entry) for entry in value)})"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _part(people: int, becomes: Value | None, rare: int) -> str:
    number = ("nearly all" if rare else "all") if people == 100 else str(people)
    ending = "s" if people == 1 else ""
    return f"{number} stay{ending}" if becomes is None else f"{number} become{ending} {named(becomes)}"
