"""From moves in floats to a channel of whole numbers that is proved to keep its promise.

Nothing of the search is believed. Its shares are rounded to integers, and every output is looked at in integers. Where
the odds are too large by a rounding, every input is given the output with a trace of probability; where by more, the
output is dissolved, its moves going to one that everyone shares. When all outputs are dissolved the channel publishes
one value and tells nothing, so this ends, and the proof has the last word (proofs/sparse.md).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels.sparse import SparseChannel
from takifugu.divergences.proved.finite import Masses
from takifugu.laws.values import Value
from takifugu.mechanisms.optimal.exact_promise import Promise
from takifugu.mechanisms.sparse.search import Moves

Integers = npt.NDArray[np.int64]

BITS = 60  # a share of 1e-12 is then off by a millionth of itself at most
_MENDS = 4  # attempts at mending before outputs are dissolved
_FEW_BROKEN = 20  # outputs that are mended: each then has an entry for every input
_TRACE = 1e-6  # of probability that mending may cost an input in all
_LEAST_SHARE = 1e-15  # of probability: less cannot be told in whole numbers
_CLOSEST = Fraction(1, 10**9)  # odds nearer to one are mended as if they were this far from it
_MORE = 1.01  # times what is missing


def whole_moves(moves: Moves, *, bits: int = BITS) -> tuple[Integers, Integers, Integers]:
    """Sources, targets and counts; those of each input sum to `1 << bits`, and none is 0."""
    counts = np.floor(np.ldexp(moves.shares, bits)).astype(np.int64)
    used = counts > 0
    sources, targets, counts = moves.sources[used].astype(np.int64), moves.targets[used].astype(np.int64), counts[used]
    starts = np.searchsorted(sources, np.arange(sources[-1] + 2))
    missing = (1 << bits) - np.add.reduceat(counts, starts[:-1])
    # The largest count of each input takes what rounding left over: it is at least one part in as many as there are.
    counts[_largest(sources, counts)] += missing
    return sources, targets, counts


def proved(moves: Moves, values: Sequence[Value], promise: Promise, *, odds: Fraction) -> SparseChannel | None:
    """The channel of the moves with every ratio within `odds`, if it is proved to keep the promise; None otherwise."""
    table = _Table(*whole_moves(moves), outputs=len(values))
    laws = [Masses.of(law) for law in promise.laws]
    hidden = sorted({i for pair in promise.pairs for i in pair})
    mends = dissolutions = 0
    while True:
        published = {
            i: laws[i].through_entries(*table[:3], outputs=table.outputs, denominator=1 << BITS) for i in hidden
        }
        missing = _missing(published, promise.pairs, odds)
        if not missing.any():
            break
        if mends < _MENDS and np.count_nonzero(missing) <= _FEW_BROKEN and missing.sum() < _TRACE:
            table, mends = _mended(table, missing, len(values)), mends + 1
            continue
        least = np.array(
            [min(one.numerators[y] / one.denominator for one in published.values()) for y in range(len(values))]
        )
        table, dissolutions = _dissolved(table, missing > 0, least, sound=2**dissolutions - 1), dissolutions + 1
    return _channel(values, table, promise)


class _Table(NamedTuple):
    """Counts from sources to targets, sources in order."""

    sources: Integers
    targets: Integers
    counts: Integers
    outputs: int


def _missing(published: dict[int, Masses], pairs: Sequence[tuple[int, int]], odds: Fraction) -> Array:
    """For every output the probability that, given to all laws alike, brings its ratios within the odds.

    It is 0 where they are within them, which is decided in integers.
    """
    found = np.zeros(len(next(iter(published.values())).numerators))
    for i, j in pairs:
        p, q = published[i], published[j]
        left, right = q.denominator * odds.denominator, p.denominator * odds.numerator
        for y, (a, b) in enumerate(zip(p.numerators, q.numerators, strict=True)):
            if a * left > b * right:
                over = Fraction(a * left - b * right, p.denominator * left)
                found[y] = max(found[y], float(over / max(odds - 1, _CLOSEST)), _LEAST_SHARE)
    return found


def _mended(table: _Table, missing: Array, inputs: int) -> _Table:
    """Every input becomes each of a few outputs a little more often, at the expense of its largest count."""
    few = np.flatnonzero(missing)
    extra = np.ceil(np.ldexp(missing[few] * _MORE, BITS)).astype(np.int64)
    largest = _largest(table.sources, table.counts)
    counts = table.counts.copy()
    counts[largest] -= extra.sum()
    everyone = np.arange(inputs)
    return _merged(
        np.concatenate([table.sources, np.repeat(everyone, len(few))]),
        np.concatenate([table.targets, np.tile(few, inputs)]),
        np.concatenate([counts, np.tile(extra, inputs)]),
        table.outputs,
    )


def _dissolved(table: _Table, broken: npt.NDArray[np.bool_], least: Array, *, sound: int) -> _Table:
    """Broken outputs merged into one that everyone shares, and a number of the largest sound ones with them.

    A common output that is too small to take in more is thus made larger, and in the end holds everything.
    """
    common = int(np.argmax(np.where(broken, -1.0, least))) if not broken.all() else int(np.argmax(least))
    gone = broken.copy()
    gone[np.argsort(-least, kind="stable")[:sound]] = True
    return _merged(table.sources, np.where(gone[table.targets], common, table.targets), table.counts, table.outputs)


def _largest(sources: Integers, counts: Integers) -> Integers:
    """Where the largest count of every input stands."""
    order = np.lexsort((counts, sources))
    found: Integers = order[np.append(np.flatnonzero(np.diff(sources)), len(sources) - 1)]
    return found


def _channel(values: Sequence[Value], table: _Table, promise: Promise) -> SparseChannel | None:
    used, where = np.unique(table.targets, return_inverse=True)
    channel = SparseChannel(
        tuple(values),
        tuple(values[y] for y in used.tolist()),
        np.searchsorted(table.sources, np.arange(len(values) + 1)),
        where.reshape(-1),
        table.counts,
    )
    return channel if promise.is_kept_by(channel) else None


def _merged(sources: Integers, targets: Integers, counts: Integers, outputs: int) -> _Table:
    both, where = np.unique(sources * outputs + targets, return_inverse=True)
    total = np.zeros(len(both), dtype=np.int64)
    np.add.at(total, where.reshape(-1), counts)
    return _Table(both // outputs, both % outputs, total, outputs)
