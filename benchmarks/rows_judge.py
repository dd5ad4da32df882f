"""A judge of what rows publish: it reads channels from the form they have in a file, and adds up in rational numbers.

Powers and logarithms are balls of 200 bits, of which the upper end counts. It shares no code with what it judges, and
knows of it only the lists of channels and the weights of laws.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from flint import arb, ctx, fmpq

ctx.prec = 200
Outcomes = dict[Any, Any]  # probabilities, rational numbers, by what is published


def shares(values: Sequence[Any], weights: Sequence[float]) -> Outcomes:
    """The probabilities of a law by its values: floats taken as exact, and divided by their exact sum."""
    exact = [fmpq(*weight.as_integer_ratio()) for weight in weights]
    total = sum(exact, fmpq(0))
    return {_entry(value): weight / total for value, weight in zip(values, exact, strict=True) if weight}


def published(channel: dict[str, Any], law: Outcomes) -> Outcomes:
    """What a law publishes through one channel."""
    lines = _lines(channel)
    found: Outcomes = {}
    for row, share in law.items():
        for output, chance in lines[row]:
            found[output] = found.get(output, fmpq(0)) + chance * share
    if sum(found.values(), fmpq(0)) != 1:
        raise AssertionError("what is published is no law")
    return found


def excess(p: Outcomes, q: Outcomes, *, alpha: float, epsilon: float, odds: float | None = None) -> float:
    """By how much p against q may be over the promise; 0 or less where it is proved to be within."""
    if any(seen not in q for seen in p):
        return math.inf
    ratios = {seen: chance / q[seen] for seen, chance in p.items()}
    largest = max(ratios.values())
    over = [] if odds is None else [arb(largest - fmpq(*odds.as_integer_ratio()))]
    if math.isinf(alpha):
        over.append(arb(largest).log() - arb(epsilon))
    else:
        total = sum((arb(p[seen]) * arb(ratio) ** (arb(alpha) - 1) for seen, ratio in ratios.items()), arb(0))
        over.append(total.log() / (arb(alpha) - 1) - arb(epsilon))
    return max(float(one.upper()) for one in over)


def _lines(channel: dict[str, Any]) -> dict[Any, list[tuple[Any, Any]]]:
    """For each input the outputs it may become, with their probabilities."""
    outputs = [_entry(value) for value in channel["outputs"]]
    found = {}
    for x, value in enumerate(channel["inputs"]):
        moves = list(_moves(channel, x))
        whole = sum(count for _, count in moves)
        found[_entry(value)] = [(outputs[y], fmpq(count, whole)) for y, count in moves]
    return found


def _moves(channel: dict[str, Any], x: int) -> Iterator[tuple[int, int]]:
    if channel["kind"] == "finite":
        yield from ((y, count) for y, count in enumerate(channel["counts"][x]) if count)
        return
    for k in range(channel["starts"][x], channel["starts"][x + 1]):
        yield channel["targets"][k], channel["counts"][k]


def _entry(value: Any) -> Any:
    """A row that a file holds as a list, as the tuple that it is."""
    return tuple(value) if isinstance(value, list) else value
