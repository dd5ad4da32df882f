"""Somebody who knows every row but one, and how the table was published: what a publication tells them of that one.

For every row that the last person may have, the adversary fits the channel again as it was fitted, and asks how likely
the published table is. Nothing is sampled and nothing is estimated: by how much the odds of two secrets move is a
number, and above what is guaranteed it contradicts a guarantee about odds, whatever the level (proofs/audit.md).
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.audits.rows import Rows, listed_rows
from takifugu.calibration import Calibration, calibrate
from takifugu.channels import ListChannel
from takifugu.errors import InputError, TakifuguError
from takifugu.laws import Value, key
from takifugu.problems import Answer, belief_names
from takifugu.queries import Row, fit_priors

Key = Hashable
Cell = tuple[Key, Key]  # a secret and a value, by their keys
Tallies = dict[Cell, int]

_ROOM = 1e-9  # of the factor: a bound that is attained is not passed by rounding
_MOST_FITS = 400
_MOST_WORK = 30_000_000  # additions for one probability
_WISHES = ("loss", "keep", "diagonal", "forbidden", "unbiased")


@dataclass(frozen=True)
class KnownRows:
    """By how much the odds between two secrets of somebody move, for an adversary who knows all other rows.

    `factor` is the largest, beside the `limit` of the guarantee; `beyond` of `people` are moved further than that.
    `is_refitted` says that the channel was fitted to the rows themselves.
    """

    factor: float
    limit: float
    beyond: int
    people: int
    is_refitted: bool

    @property
    def contradicted(self) -> bool:
        """Whether anybody's odds move further than is guaranteed."""
        return self.beyond > 0

    @property
    def sentence(self) -> str:
        """What was found."""
        if not self.contradicted:
            return (
                f"for an adversary who knows all other rows posterior odds change by no more than a factor of "
                f"{self.factor:.4g} "
                f"(guaranteed: {self.limit:.6g})"
            )
        by = "without end" if math.isinf(self.factor) else f"by up to a factor of {self.factor:.4g}"
        why = (
            ". The channel was fitted to these rows, and guarantees nothing against them: fit it to private counts, to "
            "another table, or to no data"
            if self.is_refitted
            else ""
        )
        return (
            f"for an adversary who knows all other rows the odds of {self.beyond:,} of {self.people:,} people move "
            f"{by}, beyond "
            f"{self.limit:.6g}{why}"
        )


def known_rows(rows: Rows, calibration: Calibration) -> KnownRows:
    """What this publication tells who knows all of its rows but one, taken as shuffled.

    Args:
        rows: what was published beside what is true.
        calibration: what it was published with.

    Returns:
        The largest factor over all people and pairs, beside what is guaranteed.

    Raises:
        InputError: for publications that such an adversary is not defined for.
    """
    answer, limit = calibration.answer, calibration.total.most_odds
    if answer is None or answer.query != "row" or answer.known or not rows.answer:
        raise InputError("who knows all other rows attacks rows of a table, with nothing known of them beside")
    if limit is None:
        raise InputError(f"who knows all other rows is asked about odds, and {calibration.total} bounds none")
    true, out = listed_rows(rows, calibration)
    told = Counter(map(key, out))
    cells = Counter(zip(map(key, rows.secrets.tolist()), map(key, true), strict=True))
    beliefs = [
        {key(s): dict(zip(map(key, law.values), law.probabilities.tolist(), strict=True)) for s, law in belief.items()}
        for belief in calibration.beliefs
    ]
    pairs = [(key(a), key(b)) for a, b in calibration.pairs]
    is_refitted = bool(answer.secret) and not answer.private and None in belief_names(calibration.beliefs)
    chance = _refitted(calibration, answer, cells, told) if is_refitted else _fixed(calibration, told)
    weight = _noise(calibration) if answer.private else None
    largest, beyond = 1.0, 0
    for person, people in cells.items():
        others = cells - Counter([person])
        likely: dict[Cell, float] = {}

        def seen(cell: Cell, others: Tallies = others, likely: dict[Cell, float] = likely) -> float:
            if cell not in likely:
                likely[cell] = chance(others, cell) * (1.0 if weight is None else weight(others, cell))
            return likely[cell]

        moved = 1.0
        for belief, (a, b) in itertools.product(beliefs, pairs):
            one, other = (sum(p * seen((s, x)) for x, p in belief[s].items() if p) for s in (a, b))
            moved = max(moved, _ratio(one, other), _ratio(other, one))
        largest = max(largest, moved)
        beyond += people * (moved > limit * (1 + _ROOM))
    return KnownRows(largest, limit, beyond, len(rows), is_refitted)


def _ratio(one: float, other: float) -> float:
    return one / other if other > 0 else math.inf if one > 0 else 1.0


# How likely the published table is, of all other rows and one more.

Chance = Callable[[Mapping[Cell, int], Cell], float]


def _fixed(calibration: Calibration, told: Mapping[Key, int]) -> Chance:
    """Through a channel that is the same whatever the last row is."""
    matrix = _matrix(calibration.channel.as_list(), told)
    known: dict[Key, float] = {}

    def chance(others: Mapping[Cell, int], cell: Cell) -> float:
        tallies = _of_values(others, cell)
        at = tuple(sorted(tallies.items(), key=repr))
        if at not in known:
            known[at] = table_chance(matrix, tallies, list(told.values()))
        return known[at]

    return chance


def _refitted(calibration: Calibration, answer: Answer, cells: Tallies, told: Mapping[Key, int]) -> Chance:
    """Through the channel that would have been fitted, had the last row been this one."""
    values = {key(value): value for law in calibration.beliefs[0].values() for value in law.values}
    secrets: dict[Key, Hashable] = {key(secret): secret for secret in calibration.pairs.secrets}
    if len(cells) * len(values) * len(secrets) > _MOST_FITS:
        raise InputError(
            f"who knows all other rows would fit {len(cells) * len(values) * len(secrets):,} channels, and "
            f"{_MOST_FITS} are the most: audit a table with fewer values"
        )
    known: dict[Key, dict[Key, Array] | None] = {}

    def fitted(tallies: Mapping[Cell, int]) -> dict[Key, Array] | None:
        at = tuple(sorted(tallies.items(), key=repr))
        if at not in known:
            rows = [(secrets[s], values[x]) for (s, x), count in at for _ in range(count)]
            try:
                known[at] = _matrix(_fit(calibration, answer, rows).channel.as_list(), told)
            except TakifuguError:
                known[at] = None  # such a table would not have been published
        return known[at]

    mine, again = _matrix(calibration.channel.as_list(), told), fitted(cells)
    if again is None or mine.keys() != again.keys() or any(not np.array_equal(mine[x], again[x]) for x in mine):
        raise InputError(
            "who knows all other rows fits the channel again, and from this calibration that cannot be done: fit it "
            "with seed=0 to a table with public lists, and ask for nothing beside the guarantee and confidence"
        )

    def chance(others: Mapping[Cell, int], cell: Cell) -> float:
        matrix = fitted(Counter(others) + Counter([cell]))
        return 0.0 if matrix is None else table_chance(matrix, _of_values(others, cell), list(told.values()))

    return chance


def _fit(calibration: Calibration, answer: Answer, rows: Sequence[tuple[Hashable, Value]]) -> Calibration:
    import pandas as pd

    table = pd.DataFrame(
        [(secret, *(value if isinstance(value, tuple) else (value,))) for secret, value in rows],
        columns=[answer.secret[0], *answer.columns],
    )
    lists = {name: list(one.values) for name in answer.columns if (one := answer.domain_of(name)) is not None}
    priors = fit_priors(table, secret=answer.secret[0], query=Row(*answer.columns, domain=lists), few="allow")
    asked = {name: wish for name, wish in calibration.options if name in _WISHES}
    level = None if calibration.evidence is None else calibration.evidence.level
    return calibrate(priors, calibration.guarantee, confidence=level, options=asked)


def _noise(calibration: Calibration) -> Callable[[Mapping[Cell, int], Cell], float]:
    """By how much likelier the noisy counts are with this row than without it: e^(±ε_f/2)."""
    belief, answer = calibration.beliefs[0], calibration.answer
    half = 0.0 if answer is None else answer.private / 2
    noisy = {
        (key(secret), key(value)): count
        for secret, (counts, _) in belief.counted.items()
        for value, count in zip(belief[secret].values, counts.tolist(), strict=True)
    }
    return lambda others, cell: math.exp(half if noisy[cell] > others.get(cell, 0) else -half)


def _of_values(others: Mapping[Cell, int], cell: Cell) -> dict[Key, int]:
    found: Counter[Key] = Counter()
    for (_, value), count in others.items():
        found[value] += count
    found[cell[1]] += 1
    return dict(found)


def _matrix(channel: ListChannel, told: Mapping[Key, int]) -> dict[Key, Array]:
    """For each true value how likely it becomes each of those that were published."""
    place = {one: k for k, one in enumerate(told)}
    inputs, outputs = [key(value) for value in channel.inputs], [key(value) for value in channel.outputs]
    found = {one: np.zeros(len(place)) for one in inputs}
    for x, y, share in zip(*(part.tolist() for part in channel.entries), strict=True):
        if outputs[y] in place:
            found[inputs[x]][place[outputs[y]]] += share
    return found


def table_chance(matrix: Mapping[Key, Array], tallies: Mapping[Key, int], told: Sequence[int]) -> float:
    """How likely these numbers of published values are, of so many true rows of each value, through a channel.

    The most frequent published value is what is left over; of the others every number up to the published one is
    counted, row by row, in sums of positive numbers.

    Args:
        matrix: the probability of each published value, by true value.
        tallies: how many true rows have each value.
        told: how often each value was published.

    Returns:
        A probability; rows go out in random order, so the counts are all there is.

    >>> half = {"a": np.array([0.5, 0.5])}
    >>> table_chance(half, {"a": 2}, [1, 1]), table_chance(half, {"a": 3}, [3, 0])
    (0.5, 0.125)
    """
    rest = int(np.argmax(told))
    counted = [k for k, count in enumerate(told) if count and k != rest]
    shape = tuple(told[k] + 1 for k in counted)
    if math.prod(shape) * sum(told) * len(told) > _MOST_WORK:
        raise InputError(
            f"a table of {sum(told):,} rows with {len(told)} values is too large to say exactly how likely it is for "
            f"one who knows all other rows"
        )
    law = np.zeros(shape)
    law[(0,) * len(shape)] = 1.0
    for value, count in tallies.items():
        chances = matrix.get(value)
        if count and chances is None:
            return 0.0
        for _ in range(count if chances is not None else 0):
            assert chances is not None
            new = law * chances[rest]
            for axis, k in enumerate(counted):
                to, of = [slice(None)] * len(shape), [slice(None)] * len(shape)
                to[axis], of[axis] = slice(1, None), slice(None, -1)
                new[tuple(to)] += law[tuple(of)] * chances[k]
            law = new
    return float(law[(-1,) * len(shape)])
