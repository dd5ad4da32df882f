"""A judge of what rows publish: it reads channels from the form they have in a file, and adds up in fractions.

Powers are taken with mpmath in 40 digits. It shares no code with what it judges, and knows of it only the lists of
channels and the weights of laws.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import mpmath as mp

Outcomes = dict[Any, Fraction]


def shares(values: Sequence[Any], weights: Sequence[float]) -> dict[Any, Fraction]:
    """The probabilities of a law by its values: floats taken as exact, and divided by their exact sum."""
    total = sum(map(Fraction, weights))
    return {_entry(value): Fraction(weight) / total for value, weight in zip(values, weights, strict=True) if weight}


def published(channel: dict[str, Any], law: dict[Any, Fraction]) -> Outcomes:
    """What a law publishes through one channel."""
    return published_in_turn([(channel, None)], law)


def published_in_turn(turns: Sequence[tuple[dict[str, Any], Any]], law: dict[Any, Fraction]) -> Outcomes:
    """What a law of rows publishes when columns go out in turn: each a channel, and the places of its columns.

    None as places is the whole row. The draws are independent of one another given the row.
    """
    lines = [(_lines(channel), where) for channel, where in turns]
    found: Outcomes = {}
    for row, share in law.items():
        for outcome in itertools.product(*(of[_part(row, where)] for of, where in lines)):
            seen = tuple(output for output, _ in outcome)
            found[seen] = found.get(seen, Fraction(0)) + share * math.prod(chance for _, chance in outcome)
    if sum(found.values()) != 1:
        raise AssertionError("what is published is no law")
    return found


def excess(p: Outcomes, q: Outcomes, *, alpha: float, epsilon: float, odds: float | None = None) -> Any:
    """By how much p against q is over the promise; 0 or less where it is within."""
    if any(q.get(seen, 0) == 0 for seen, chance in p.items() if chance):
        return mp.inf
    both = [(chance, q[seen]) for seen, chance in p.items() if chance]
    with mp.workdps(40):
        over = -mp.inf if odds is None else _number(max(a / b for a, b in both) - Fraction(odds))
        if math.isinf(epsilon):
            return over
        if math.isinf(alpha):
            return max(over, mp.log(_number(max(a / b for a, b in both))) - mp.mpf(epsilon))
        order = mp.mpf(alpha)
        total = mp.fsum(_number(a) ** order * _number(b) ** (1 - order) for a, b in both)
        return max(over, mp.log(total) / (order - 1) - mp.mpf(epsilon))


def stays(channel: dict[str, Any], width: int) -> bool:
    """Whether the first columns of every row are published as they are."""
    return all(output[:width] == row[:width] for row, line in _lines(channel).items() for output, _ in line)


def _lines(channel: dict[str, Any]) -> dict[Any, list[tuple[Any, Fraction]]]:
    """For each input the outputs it may become, with their probabilities."""
    outputs = [_entry(value) for value in channel["outputs"]]
    found = {}
    for x, value in enumerate(channel["inputs"]):
        moves = list(_moves(channel, x))
        whole = sum(count for _, count in moves)
        found[_entry(value)] = [(outputs[y], Fraction(count, whole)) for y, count in moves]
    return found


def _moves(channel: dict[str, Any], x: int) -> Iterator[tuple[int, int]]:
    if channel["kind"] == "finite":
        yield from ((y, count) for y, count in enumerate(channel["counts"][x]) if count)
        return
    for k in range(channel["starts"][x], channel["starts"][x + 1]):
        yield channel["targets"][k], channel["counts"][k]


def _part(row: Any, where: Any) -> Any:
    if where is None:
        return row
    part = tuple(row[k] for k in where)
    return part if len(part) > 1 else part[0]


def _entry(value: Any) -> Any:
    """A row that a file holds as a list, as the tuple that it is."""
    return tuple(value) if isinstance(value, list) else value


def _number(x: Fraction) -> Any:
    return mp.mpf(x.numerator) / x.denominator
