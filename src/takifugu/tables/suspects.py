"""What may stand for a missing value: the codes of questionnaires, extremes that stand apart, words among numbers.

Nothing here is certain, so nothing is dropped for it: a suspect is told, and whoever knows the table decides.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array

_NINES = [10**digits - 1 for digits in range(2, 10)]
_OF_SURVEYS = [-1, -2, -3, -7, -8, -9, 77, 88, 777, 888, 7777, 8888, 99.9, 999.9, 9999.9, 99.99, 999.99]
USUAL = frozenset([*_OF_SURVEYS, *_NINES, *(-n for n in _NINES), *(n - k for n in _NINES for k in (1, 2))])
_OTHERS = 5  # distinct values beside a suspect, below which a column is a scale and -1 may be a step of it
_STEPS = 2  # of such a scale, at least: where they lie close together a code far away is none of them
_REPEATED = 5  # rows that share a value: fewer may be an odd person, whose value is nobody's business
_APART = 3  # times as far from the rest as the rest reaches from its middle: for a value that is no usual code
_NUMERAL = re.compile(r"\s*[+-]?(?:0|[1-9][0-9]*)(?:[.,][0-9]+)?\s*%?\s*")  # 007 is a name
_SPELLED = re.compile(r"\s*[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?\s*%?\s*")  # codes such as 007 too
_STEP = 12  # characters of a step of a scale, such as "10 or more", at most
_WORDS = 2  # that mean "missing" in one column, at most
_SPIKE = 5  # times as many rows as its neighbour


@dataclass(frozen=True)
class Suspect:
    """A value that may mean a missing one. It is `usual` if questionnaires use it so, `apart` if it is far out."""

    value: float
    rows: int
    usual: bool
    apart: bool


def suspects(values: Array, counts: Array) -> tuple[Suspect, ...]:
    """The suspects among the distinct values of a column, in order, each with its rows.

    A value that is no usual code is named only if several rows share it.

    >>> suspects(np.array([1.0, 2, 3, 4, 5, 6, 999]), np.array([9.0, 9, 9, 9, 9, 9, 1]))
    (Suspect(value=999.0, rows=1, usual=True, apart=True),)
    """
    lowest = _at_the_top(-values[::-1], counts[::-1], sign=-1)
    return (*reversed(lowest), *_at_the_top(values, counts, sign=1))


def words_among_numbers(labels: Mapping[Any, int]) -> tuple[str, ...]:
    """The one or two words that keep a column from being one of numbers, each shared by several rows; else none.

    A text with a digit in it, such as "10 or more", is a step of the scale.

    >>> words_among_numbers({"0": 4, "1": 9, "2": 9, "3": 9, "4,5": 2, "unknown": 30})
    ('unknown',)
    >>> words_among_numbers({"0": 4, "1": 9, "2": 9, "3": 9, "4": 2, "5 or more": 30})
    ()
    """
    words = sorted(str(label) for label in labels if not _NUMERAL.fullmatch(str(label)))
    if not 1 <= len(words) <= _WORDS or len(labels) - len(words) < _OTHERS:
        return ()
    plain = all(labels[word] >= _REPEATED and not any(map(str.isdigit, word)) for word in words)
    return tuple(words) if plain else ()


def notes_among_numbers(labels: Mapping[Any, int]) -> int:
    """How many texts of few rows each stand in a column nearly all of whose rows hold numbers: notes about somebody.

    A short one with a digit in it and no capital, such as "10+" or "3 or more", is a step of the scale.

    >>> notes_among_numbers({"0": 40, "1": 90, "2": 9, "ill (Ann)": 1, "Ann: HIV 2019": 1})
    2
    >>> notes_among_numbers({"00": 40, "01": 90, "2e-9": 9, "3 or more": 1})
    0
    """
    texts = {str(label): rows for label, rows in labels.items() if not _SPELLED.fullmatch(str(label))}
    if 10 * sum(texts.values()) > sum(labels.values()):
        return 0
    return sum(rows < _REPEATED and not _is_step(text) for text, rows in texts.items())


def notes_in(column: str, notes: int) -> str:
    """The beginning of a sentence about so many of them."""
    return (
        f"column {column!r} holds numbers, and in a few rows {notes} other text{'s' * (notes > 1)}, which may be notes "
        f"about somebody: they are not published"
    )


def _is_step(text: str) -> bool:
    return len(text) <= _STEP and any(map(str.isdigit, text)) and text == text.lower()


def _at_the_top(values: Array, counts: Array, *, sign: int) -> list[Suspect]:
    """The suspects among the three largest values; `sign` turns them into those of the column."""
    for size in (1, 2, 3):  # 998 and 999 stand side by side
        rest, heavy = values[:-size], counts[:-size]
        if len(rest) < _STEPS:
            break
        top, tallies = sign * values[-size:], counts[-size:]
        usual = all(float(value) in USUAL for value in top)
        gap = float(values[-size] - rest[-1])
        if len(rest) < _OTHERS:
            if usual and gap > _APART * float(rest[-1] - rest[0]):
                return _apart(top, tallies, usual=True)
            continue
        # How far the rest reaches on this side: what lies on the other one, perhaps a code too, must not count much.
        middle = rest[np.searchsorted(np.cumsum(heavy), 0.5 * heavy.sum())]
        reach = max(float(rest[-1] - middle), 0.25 * float(rest[-1] - rest[0]))
        alone = sign < 0 and float(rest[-1]) <= 0 < float(values[-size])  # the only numbers below zero
        apart = gap > reach if usual else size == 1 and gap > _APART * reach and tallies[0] >= _REPEATED
        if apart or (usual and alone):
            return _apart(top, tallies, usual=usual)
        if size == 1 and usual and tallies[0] >= _REPEATED and tallies[0] > _SPIKE * heavy[-1]:
            return [Suspect(float(top[0]), int(tallies[0]), True, False)]
    return []


def _apart(values: Array, tallies: Array, *, usual: bool) -> list[Suspect]:
    return [Suspect(float(value), int(rows), usual, True) for value, rows in zip(values, tallies, strict=True)]
