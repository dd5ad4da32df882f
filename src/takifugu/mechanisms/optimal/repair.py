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
from takifugu.channels.counts import BITS, MOST_BITS, whole_rows
from takifugu.divergences.proved.finite import Counts
from takifugu.errors import CalibrationError, InputError
from takifugu.mechanisms.optimal.exact_promise import Promise

Mask = npt.NDArray[np.bool_]

_NEGLIGIBLE = 1e-7  # probabilities below are a solver's dust
_FIRST_SHARE = 30  # exponent of the first share of the safe channel
_WORTH_REFINING = 2.0**-12  # a share above costs enough to look for a smaller one between it and its half
_REFINEMENTS = 5
_EVEN = 0.25  # the part of the safe row that is spread evenly


def repaired(
    matrix: npt.ArrayLike,
    *,
    laws: Array,
    pairs: Sequence[tuple[int, int]],
    alpha: float = math.inf,
    epsilon: float | None = None,
    odds: float | Fraction | None = None,
    radius: Array | None = None,
    allowed: Mask | None = None,
    fallback: npt.ArrayLike | None = None,
    bits: int = BITS,
) -> Counts:
    """Counts, inputs by outputs with rows that sum to `1 << bits`, proved to keep the promise.

    `matrix` is what a solver returned, whatever that is. `laws`, `pairs`, `alpha`, `epsilon`, `odds` and `radius` are
    the promise, as `Promise` has them. `allowed` is False where an input must never become an output. `fallback` is a
    channel that keeps the promise with room to spare (solved for a smaller budget, say). It is of use with forbidden
    moves alone: without them a row that is the same for all inputs can always be mixed in, and keeps any promise.

    >>> repaired([[1.0, 0.0], [0.0, 1.0]], laws=np.eye(2), pairs=[(0, 1), (1, 0)], odds=3, bits=4).tolist()
    [[12, 4], [4, 12]]
    """
    promise = Promise(laws=laws, pairs=pairs, alpha=alpha, epsilon=epsilon, odds=odds, radius=radius)
    return repaired_for(promise, matrix, allowed=allowed, fallback=fallback, bits=bits)


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


def repaired_for(
    promise: Provable,
    matrix: npt.ArrayLike,
    *,
    allowed: Mask | None = None,
    fallback: npt.ArrayLike | None = None,
    bits: int = BITS,
) -> Counts:
    """The same for any promise that can be looked at and proved."""
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
        "no channel with these forbidden moves could be proved to keep the promise: open one output to every input, "
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
