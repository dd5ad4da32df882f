"""From what a solver returned to a channel of whole numbers that is proved to keep its promise.

Nothing of the solver is believed. Its matrix is cleaned, rounded to integers over a power of two, and
proved; while that fails a little of a safe channel is mixed in. Mixing with one that publishes the same whatever the
input brings every loss down to zero in the end, so a matrix that is nonsense becomes a poor channel and never an
unsafe one (proofs/finite-channels.md, "Repair").
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, budget, integer, reals
from takifugu.channels import BITS, MOST_BITS, ListChannel, checked_counts, whole_rows
from takifugu.divergences import (
    Counts,
    Extremes,
    Masses,
    exact_odds,
    finite_divergence,
    holds,
    lowered,
    order_or_odds,
    raised,
    within_odds,
)
from takifugu.errors import CalibrationError, InputError
from takifugu.mechanisms.optimal.linear_program import components

# What a finite channel has to keep: every directed pair of laws within the order and budget, the odds, or both.
#
# It is asked in two ways: in floats, to steer a search, and exactly, which alone is believed.

_MANY_PAIRS = 24  # from which one look at all of them is cheaper
_AT_ONCE = 4_000_000  # entries of pairs times outputs that are held in memory together


@dataclass(frozen=True, eq=False, kw_only=True)
class Promise:
    """For each (i, j) in `pairs`: what law i publishes is within the limits of what law j publishes.

    `laws` has a row of weights over the inputs per law (one for each secret of each belief), taken as exact and divided
    by its exact sum. `epsilon` bounds D_α, and for α = ∞ the logarithm of every ratio; `odds` bounds every ratio
    itself, as the exact number given. One of the two is needed; an infinite epsilon is none. `radius` has an entry per
    law and extends the promise to every prior within that total variation of it.
    """

    laws: Array
    pairs: Sequence[tuple[int, int]]
    alpha: float = math.inf
    epsilon: float | None = None
    odds: float | Fraction | None = None
    radius: Array | None = None

    def __post_init__(self) -> None:
        """Refuse what promises nothing."""
        laws = _laws(self.laws)
        pairs = tuple((integer("pairs", i, least=0), integer("pairs", j, least=0)) for i, j in self.pairs)
        if not pairs or max(map(max, pairs)) >= len(laws):
            raise InputError(f"pairs must name at least one pair of laws, each between 0 and {len(laws) - 1}")
        order_or_odds(self.alpha)
        epsilon = None if self.epsilon is None or self.epsilon == math.inf else budget(self.epsilon)
        odds = None if self.odds is None else exact_odds(self.odds)
        if epsilon is None and odds is None:
            raise InputError("a promise needs epsilon, odds, or both")
        radius = np.zeros(len(laws)) if self.radius is None else reals("radius", self.radius).copy()
        if radius.shape != (len(laws),) or not ((radius >= 0) & np.isfinite(radius)).all():
            raise InputError(f"radius must have one finite number, 0 or more, for each of the {len(laws)} laws")
        checked = {"laws": laws, "pairs": pairs, "epsilon": epsilon, "odds": odds, "radius": radius}
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @cached_property
    def shares(self) -> Array:
        """The laws as rows of probabilities, in float64."""
        rows = self.laws / self.laws.max(axis=1, keepdims=True)  # weights near the largest float have no sum
        shares: Array = rows / rows.sum(axis=1, keepdims=True)
        return shares

    def seems_kept(self, matrix: Array) -> bool:
        """Whether a channel keeps it as far as float64 can tell."""
        published, low, high = self.shares @ matrix, matrix.min(axis=0), matrix.max(axis=0)
        reach = np.asarray(self.radius)[:, None]
        above, below = raised(published, reach, low, high), lowered(published, reach, low, high)
        pairs, step = np.array(self.pairs), max(1, _AT_ONCE // matrix.shape[1])
        for start in range(0, len(pairs), step):
            first, second = pairs[start : start + step].T
            p, q = above[first], below[second]
            if self.epsilon is not None and not (finite_divergence(p, q, alpha=self.alpha) <= self.epsilon).all():
                return False
            if self.odds is not None and not (p <= float(self.odds) * q).all():
                return False
        return True

    def is_kept(self, counts: Counts) -> bool:
        """Whether a channel of whole numbers is proved to keep it (proofs/finite-channels.md).

        The rows must sum to one power of two: what is no channel is refused, because the proof speaks of channels.
        """
        counts = checked_counts(counts, self.laws.shape[1], np.shape(counts)[-1])
        denominator = int(counts[0].sum())
        return self._is_kept(lambda law: law.through(counts, denominator), Extremes.of(counts, denominator))

    def is_kept_by(self, channel: ListChannel) -> bool:
        """The same for a channel, whose inputs are in the order of the laws' weights."""
        if len(channel.inputs) != self.laws.shape[1]:
            raise InputError(f"the channel must have {self.laws.shape[1]} inputs, one for each weight of the laws")
        return self._is_kept(channel.exactly, channel.extremes)

    def _is_kept(self, through: Callable[[Masses], Masses], extremes: Extremes) -> bool:
        published = {i: through(self._law(i)) for i in {i for pair in self.pairs for i in pair}}
        reach = np.asarray(self.radius).tolist()
        above = {i: law.raised(reach[i], extremes) for i, law in published.items()}
        below = {i: law.lowered(reach[i], extremes) for i, law in published.items()}
        return all(self._holds(above[i], below[j]) for i, j in self._not_clear_at_once(above, below))

    def _not_clear_at_once(self, above: dict[int, Masses], below: dict[int, Masses]) -> Sequence[tuple[int, int]]:
        """The pairs to look at: of bounded ratios none where the largest of all is within the limits of the least."""
        if len(self.pairs) <= _MANY_PAIRS or not (self.alpha == math.inf or self.epsilon is None):
            return self.pairs
        left, right = np.array(self.pairs, dtype=np.intp).T
        component = components(left, right, len(self.laws))[left]
        open_: list[tuple[int, int]] = []
        for name in np.unique(component):
            pairs = [self.pairs[k] for k in np.flatnonzero(component == name).tolist()]
            firsts, seconds = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
            largest, least = Masses.largest([above[i] for i in firsts]), Masses.least([below[j] for j in seconds])
            if not self._holds(largest, least):
                # One that fails ends it, and of a million pairs it is most likely one of these.
                suspects = _extreme({i: above[i] for i in firsts}, {j: below[j] for j in seconds})
                open_ += sorted(pairs, key=lambda pair: pair not in suspects)
        return open_

    def _holds(self, p: Masses, q: Masses) -> bool:
        if self.odds is not None and not within_odds(p, q, odds=self.odds):
            return False
        return self.epsilon is None or holds(p, q, alpha=self.alpha, epsilon=self.epsilon)

    def _law(self, row: int) -> Masses:
        return Masses.of(self.laws[row])


def _extreme(above: dict[int, Masses], below: dict[int, Masses]) -> set[tuple[int, int]]:
    """For each output, which of some laws shows it the most and which of others the least, as floats see it."""
    high, low = (
        np.array([[x / law.denominator for x in law.numerators] for law in laws.values()]) for laws in (above, below)
    )
    firsts, seconds = (np.array(list(laws)) for laws in (above, below))
    most, fewest = firsts[high.argmax(axis=0)], seconds[low.argmin(axis=0)]
    return set(zip(most.tolist(), fewest.tolist(), strict=True))


def _laws(given: Any) -> Array:
    laws: npt.NDArray[np.float64] = reals("laws", given).copy()  # what was proved must not change under the proof
    if laws.ndim != 2 or laws.size == 0:
        raise InputError(f"laws must be a table with a row of weights per law, got shape {laws.shape}")
    if not (np.isfinite(laws).all() and (laws >= 0).all() and (laws > 0).any(axis=1).all()):
        raise InputError("the weights of every law must be finite, 0 or more and not all 0")
    return laws


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
