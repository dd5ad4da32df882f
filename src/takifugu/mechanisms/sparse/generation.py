"""All rows of a channel at once, by column generation: of all moves, the program holds those that may be used.

A channel that is best has hardly more moves than inputs. So the linear program starts with a few for each input, and
its own prices say which others would lower the cost; when none would, it is the best of all, whatever was left out.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from takifugu._listening import detail
from takifugu._validation import Array
from takifugu.mechanisms.sparse.linear import Part, solved
from takifugu.mechanisms.sparse.program import Places, Program

_NEAREST = 12  # outputs offered to each input because they cost it least
_NEW = 24  # moves that prices may add to an input in a round
_MOST_ROWS = 45_000  # of a program that HiGHS' simplex solves in seconds
_MOST_LEAN = 2  # laws with something in hand: few outputs for thousands of inputs are slow for a simplex with more
_AT_ONCE = 4_000_000  # moves that are priced together
_CLOSE = 3e-3  # the share of the cost that further moves may yet save, and are not looked for
_LEAST = 1e-13  # of a cost: less is a rounding error of HiGHS


class Generated(NamedTuple):
    """Moves, their shares, and the price of each group's law at each of the outputs (`Part.prices`)."""

    sources: Places
    targets: Places
    shares: Array
    prices: Array


def fits(program: Program, outputs: int) -> bool:
    """Whether all rows can be free at once."""
    if program.lean > 0 and len(program.members) > _MOST_LEAN:
        return False
    return program.size + 2 * len(program.members) * outputs <= _MOST_ROWS


def generated(program: Program, sources: Places, targets: Places, outputs: Places, *, rounds: int) -> Generated | None:
    """The best channel to these outputs, or what so many rounds of pricing come to; None where HiGHS finds nothing.

    sources, targets: moves to begin with, which must hold a channel that keeps the promise
    outputs: in ascending order
    """
    width = len(outputs)
    offered = np.union1d(sources * width + np.searchsorted(outputs, targets), _nearest(program, outputs))
    found: Generated | None = None
    for number in range(1, rounds + 1):
        detail(f"round {number} of the linear program, of {len(offered):,} moves")
        given, taken = offered // width, offered % width
        cost = program.mass[given] * program.cells.along(given, outputs[taken])
        part = solved(
            program,
            laws=program.laws,
            cost=cost,
            sources=given,
            targets=taken,
            held=np.zeros((len(program.laws), width)),
        )
        if part is None:
            break
        found = Generated(given, outputs[taken], part.shares, part.prices)
        more, saving = _cheaper(program, part, given, taken, outputs)
        if not len(more) or saving <= _CLOSE * float(cost @ part.shares):
            break
        offered = np.union1d(offered, more)
    return found


def brackets(program: Program, prices: Array, outputs: Places) -> Iterator[tuple[Places, Array]]:
    """What a whole share of every move costs with what the promise is priced at, some inputs at a time."""
    step = max(1, _AT_ONCE // len(outputs))
    for start in range(0, program.size, step):
        some = np.arange(start, min(program.size, start + step))
        loss = program.mass[some][:, None] * program.cells.between(some, outputs)
        yield some, np.asarray(loss + program.laws[program.members][:, some].T @ prices)


def _nearest(program: Program, outputs: Places) -> Places:
    """The outputs that cost each input least, as places input × outputs + output."""
    number, step = min(_NEAREST, len(outputs)), max(1, _AT_ONCE // len(outputs))
    found = []
    for start in range(0, program.size, step):
        some = np.arange(start, min(program.size, start + step))
        near = np.argpartition(program.cells.between(some, outputs), number - 1, axis=1)[:, :number]
        found.append((some[:, None] * len(outputs) + near).ravel())
    return np.concatenate(found)


def _cheaper(program: Program, part: Part, given: Places, taken: Places, outputs: Places) -> tuple[Places, float]:
    """Moves that are not offered and priced below those that are, and a bound on what they would save."""
    own = np.full(program.size, np.inf)
    priced = program.mass[given] * program.cells.along(given, outputs[taken])
    for law, price in zip(program.members, part.prices, strict=True):
        priced += program.laws[law][given] * price[taken]
    np.minimum.at(own, given, priced)
    tiny = _LEAST * float(np.abs(own).max())
    more, saving = [], 0.0
    for some, table in brackets(program, part.prices, outputs):
        least = table.min(axis=1)
        saving += float(np.maximum(own[some] - least, 0.0).sum())
        rows = np.flatnonzero(least < own[some] - tiny)
        number = min(_NEW, len(outputs))
        best = np.argpartition(table[rows], number - 1, axis=1)[:, :number]
        cheaper = np.take_along_axis(table[rows], best, axis=1) < own[some[rows]][:, None] - tiny
        more.append((some[rows][:, None] * len(outputs) + best)[cheaper])
    return np.concatenate(more), saving
