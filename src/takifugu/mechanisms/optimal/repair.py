"""From what a solver returned to a channel of whole numbers that is proved to keep its promise.

Nothing of the solver is believed. Its matrix is cleaned, rounded to integers over a power of two, and
proved; while that fails a little of a safe channel is mixed in. Mixing with one that publishes the same whatever the
input brings every loss down to zero in the end, so a matrix that is nonsense becomes a poor channel and never an
unsafe one (proofs/finite-channels.md, "Repair").
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer
from takifugu.channels import BITS, MOST_BITS, SparseChannel, whole_rows
from takifugu.divergences import Counts, Masses
from takifugu.errors import CalibrationError, InputError
from takifugu.laws import Value
from takifugu.mechanisms.optimal.column_generation import Moves
from takifugu.mechanisms.optimal.finite_problem import Promise
from takifugu.mechanisms.optimal.program import Mask

Integers = npt.NDArray[np.int64]

_NEGLIGIBLE = 1e-7  # probabilities below are a solver's dust
_FIRST_SHARE = 30  # exponent of the first share of the safe channel
_WORTH_REFINING = 2.0**-12  # a share above costs enough to look for a smaller one between it and its half
_REFINEMENTS = 5
_EVEN = 0.25  # the part of the safe row that is spread evenly


class Provable(Protocol):
    """What repair asks of a promise: a row of probabilities over the inputs per law, a look, and a proof."""

    @property
    def shares(self) -> Array:
        """The laws, inputs in columns."""
        ...

    def seems_kept(self, matrix: Array) -> bool:
        """Whether a channel keeps it as far as float64 can tell."""
        ...

    def is_kept(self, counts: Counts) -> bool:
        """Whether a channel of whole numbers is proved to keep it."""
        ...


def repaired(
    matrix: npt.ArrayLike,
    promise: Provable,
    *,
    allowed: Mask | None = None,
    fallback: npt.ArrayLike | None = None,
    bits: int = BITS,
) -> Counts:
    """Counts, inputs by outputs with rows that sum to `1 << bits`, proved to keep the promise.

    Args:
        matrix: what a solver returned, whatever that is.
        promise: what the channel has to keep; `Promise` is one, `bounded.EveryLaw` another.
        allowed: False where an input must never become an output.
        fallback: a channel that keeps the promise with room to spare (solved for a smaller budget, say). It is of use
            with forbidden moves alone: without them a row that is the same for all inputs can always be mixed in, and
            keeps any promise.
        bits: the logarithm of the denominator.

    Raises:
        CalibrationError: with forbidden moves, where no mixture could be proved.

    >>> promise = Promise(laws=np.eye(2), pairs=[(0, 1), (1, 0)], odds=3)
    >>> repaired([[1.0, 0.0], [0.0, 1.0]], promise, bits=4).tolist()
    [[12, 4], [4, 12]]
    """
    given = _numbers(matrix, promise)
    if not 1 <= integer("bits", bits, least=1) <= MOST_BITS:
        raise InputError(f"bits must lie between 1 and {MOST_BITS}, got {bits}")
    open_to = np.ones(given.shape, dtype=bool) if allowed is None else np.asarray(allowed, dtype=bool)
    if open_to.shape != given.shape:
        raise InputError(f"allowed must have the shape of the matrix, {given.shape}, got {open_to.shape}")
    if not open_to.any(axis=1).all():
        raise CalibrationError("an input may become no output at all: allow it at least one")
    channel = _cleaned(given, open_to)
    tried = (_least_mixed(channel, safe, promise, bits) for safe in _safe_channels(channel, promise, open_to, fallback))
    found = [mixed for mixed in tried if mixed is not None]
    if found:
        return min(found, key=lambda mixed: mixed.share).counts
    raise CalibrationError(
        "no channel with these forbidden moves could be proved to keep the guarantee: open one output to every input, "
        "ask for a larger epsilon or odds, or hide fewer pairs"
    )


class _Mixed(NamedTuple):
    share: float
    counts: Counts


def _least_mixed(channel: Array, safe: Array, promise: Provable, bits: int) -> _Mixed | None:
    """The channel with the least share of the safe one at which the proof succeeds, or None."""
    for share in _shares():
        counts = _proved(channel, safe, share, promise, bits)
        if counts is None:
            continue
        if share > _WORTH_REFINING:
            low = share / 2
            for _ in range(_REFINEMENTS):
                middle = math.sqrt(low * share)
                better = _proved(channel, safe, middle, promise, bits)
                counts, low, share = (counts, middle, share) if better is None else (better, low, middle)
        return _Mixed(share, counts)
    return None


def _shares() -> Iterator[float]:
    yield 0.0
    for exponent in range(_FIRST_SHARE, -1, -1):
        yield math.ldexp(1.0, -exponent)


def _proved(channel: Array, safe: Array, share: float, promise: Provable, bits: int) -> Counts | None:
    """The mixture in whole numbers if it is proved to keep the promise, and None otherwise."""
    with np.errstate(under="ignore"):
        mixed = (1 - share) * channel + share * safe
    if not promise.seems_kept(mixed):
        return None
    counts = whole_rows(mixed, bits)
    # Float64 sees most of what rounding broke and is a hundred times faster than the proof.
    if promise.seems_kept(np.ldexp(counts, -bits)) and promise.is_kept(counts):
        return counts
    return None


def _numbers(matrix: npt.ArrayLike, promise: Provable) -> Array:
    try:
        given = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the matrix to repair must be a table of numbers, inputs by outputs") from None
    if given.ndim != 2 or len(given) != promise.shares.shape[1] or given.shape[1] == 0:
        raise InputError(
            f"the matrix to repair must have a row for each of the {promise.shares.shape[1]} inputs, got {given.shape}"
        )
    return given


def _cleaned(given: Array, open_to: Mask) -> Array:
    """Rows of probabilities without dust and forbidden moves; a row with nothing left takes all it is allowed."""
    sane = np.where(np.isfinite(given) & open_to, np.clip(given, 0.0, 1.0), 0.0)
    sane[sane < _NEGLIGIBLE] = 0.0
    empty = ~sane.any(axis=1)
    sane[empty] = open_to[empty]
    rows: Array = sane / sane.sum(axis=1, keepdims=True)
    return rows


def _safe_channels(channel: Array, promise: Provable, open_to: Mask, fallback: npt.ArrayLike | None) -> Iterator[Array]:
    """What may be mixed in. The proof alone decides whether it helps; a row that all inputs share always does."""
    common: Mask = np.logical_and.reduce(open_to, axis=0)
    if common.any():
        yield np.repeat(_one_row(channel, promise, common)[None, :], len(channel), axis=0)
    if not common.all():
        # An output that is closed to some cannot be mended from outputs that are open to all.
        yield _cleaned(np.where(open_to, _one_row(channel, promise, np.ones_like(common)), 0.0), open_to)
        if fallback is not None:
            yield _cleaned(_numbers(fallback, promise), open_to)


def _one_row(channel: Array, promise: Provable, common: Mask) -> Array:
    """What is published whatever the input: mostly the published law of the pool, and a part spread evenly.

    What rounding breaks it breaks by a few units of 2**-bits, in any output that is used, however rare that is. The
    even part mends all of them with a small share. The pooled law alone needs a share that is larger by as much as
    the rarest output is rare: on solved problems that cost up to twice the error, and the two together 1e-5 of it.
    """
    pooled = np.where(common, promise.shares.mean(axis=0) @ channel, 0.0)
    if not pooled.any():
        pooled = common.astype(np.float64)
    # A value that nobody has may use outputs too, and a radius speaks for those who might have it.
    used = common & (channel > 0).any(axis=0)
    used |= pooled > 0
    row: Array = _EVEN * used / used.sum() + (1 - _EVEN) * pooled / pooled.sum()
    return row


# From moves in floats to a channel of whole numbers that is proved to keep its promise.
#
# Nothing of the search is believed. Its shares are rounded to integers, and every output is looked at in integers.
# Where the odds are too large by a rounding, every input is given the output with a trace of probability; where by
# more, the output is dissolved, its moves going to one that everyone shares. When all outputs are dissolved the
# channel publishes one value and tells nothing, so this ends, and the proof has the last word (proofs/sparse.md).

_BITS_OF_MOVES = 60  # a share of 1e-12 is then off by a millionth of itself at most
_MENDS = 4  # attempts at mending before outputs are dissolved
_FEW_BROKEN = 20  # outputs that are mended: each then has an entry for every input
_TRACE = 1e-6  # of probability that mending may cost an input in all
_LEAST_SHARE = 1e-15  # of probability: less cannot be told in whole numbers
_CLOSEST = Fraction(1, 10**9)  # odds nearer to one are mended as if they were this far from it
_MORE = 1.01  # times what is missing


def whole_moves(moves: Moves, *, bits: int = _BITS_OF_MOVES) -> tuple[Integers, Integers, Integers]:
    """Sources, targets and counts; those of each input sum to `1 << bits`, and none is 0.

    Args:
        moves: the shares of every input, which sum to 1 but for rounding.
        bits: how fine the counts are.

    Returns:
        Three lists of one length. All shares are rounded down, and what is missing goes to the largest of each input.
    """
    counts = np.floor(np.ldexp(moves.shares, bits)).astype(np.int64)
    used = counts > 0
    sources, targets, counts = moves.sources[used].astype(np.int64), moves.targets[used].astype(np.int64), counts[used]
    starts = np.searchsorted(sources, np.arange(sources[-1] + 2))
    missing = (1 << bits) - np.add.reduceat(counts, starts[:-1])
    # The largest count of each input takes what rounding left over: it is at least one part in as many as there are.
    counts[_largest(sources, counts)] += missing
    return sources, targets, counts


def repaired_moves(moves: Moves, values: Sequence[Value], promise: Promise, *, odds: Fraction) -> SparseChannel | None:
    """The channel of the moves with every ratio within `odds`, if it is proved to keep the promise; None otherwise.

    Where few outputs are beyond the odds, and by little, every input becomes them a little more often. Otherwise they
    are merged into one output that everyone shares, with ever more sound ones; merging is post-processing.

    Args:
        moves: what a solver found.
        values: the list that is published from.
        promise: what has to be proved.
        odds: the factor, exactly.

    Returns:
        A channel in whole numbers, proved.
    """
    table = _Counted(*whole_moves(moves), outputs=len(values))
    laws = [Masses.of(law) for law in promise.laws]
    hidden = sorted({i for pair in promise.pairs for i in pair})
    mends = dissolutions = 0
    while True:
        published = {
            i: laws[i].through_entries(*table[:3], outputs=table.outputs, denominator=1 << _BITS_OF_MOVES)
            for i in hidden
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


class _Counted(NamedTuple):
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


def _mended(table: _Counted, missing: Array, inputs: int) -> _Counted:
    """Every input becomes each of a few outputs a little more often, at the expense of its largest count."""
    few = np.flatnonzero(missing)
    extra = np.ceil(np.ldexp(missing[few] * _MORE, _BITS_OF_MOVES)).astype(np.int64)
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


def _dissolved(table: _Counted, broken: Mask, least: Array, *, sound: int) -> _Counted:
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


def _channel(values: Sequence[Value], table: _Counted, promise: Promise) -> SparseChannel | None:
    used, where = np.unique(table.targets, return_inverse=True)
    channel = SparseChannel(
        tuple(values),
        tuple(values[y] for y in used.tolist()),
        np.searchsorted(table.sources, np.arange(len(values) + 1)),
        where.reshape(-1),
        table.counts,
    )
    return channel if promise.is_kept_by(channel) else None


def _merged(sources: Integers, targets: Integers, counts: Integers, outputs: int) -> _Counted:
    both, where = np.unique(sources * outputs + targets, return_inverse=True)
    total = np.zeros(len(both), dtype=np.int64)
    np.add.at(total, where.reshape(-1), counts)
    return _Counted(both // outputs, both % outputs, total, outputs)
