"""Every law that the rows of a list allow: bounds on the share of each value and, for numbers, of those up to each.

The number of rows with a value is binomial, and so is the number at or below it; Clopper–Pearson bounds hold whatever
the law is, and a union bound makes all of them hold at once (proofs/bounds.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import CertificationError, InputError

# Bounds on the distribution function of a law on a lattice that hold with a stated probability over the rows.
#
# At each point the number of rows at or below it is binomial, so Clopper–Pearson bounds hold whatever the law; a
# union bound over points and sides makes them hold at once (proofs/band.md).

_NUDGES = 60
_BITS = 64
_HAIR = 1e-14  # more than what rounding can add to 1 − level and to its share


@dataclass(frozen=True, eq=False)
class Band:
    """lower[k] <= P(X <= point k) <= upper[k] for all points but the last, where both would be 1; both never fall."""

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        """Refuse what is no band: every proof about one starts from this."""
        low, high = self.lower, self.upper
        if low.shape != high.shape or low.ndim != 1 or not len(low):
            raise InputError("a band has one lower and one upper bound for each point but the last")
        rising = (np.diff(low) >= 0).all() and (np.diff(high) >= 0).all()
        if not (rising and (low <= high).all() and low[0] >= 0 and high[-1] <= 1):
            raise InputError("the bounds of a band lie between 0 and 1, never fall, and the lower is never the higher")
        for array in (low, high):
            array.setflags(write=False)

    @classmethod
    def of_counts(cls, counts: npt.ArrayLike, *, side: float) -> "Band":
        """Clopper–Pearson bounds, each of which fails with a probability of at most `side`.

        The quantiles come from SciPy and are not trusted: each is moved outwards until ball arithmetic proves it.
        """
        c = np.asarray(counts, dtype=np.float64)
        if c.ndim != 1 or len(c) < 2 or not np.isfinite(c).all() or c.min() < 0 or (c != np.floor(c)).any():
            raise InputError("a band is made from whole counts, 0 or more, of at least two points")
        if not 0 < side < 0.5:
            raise InputError(f"side must be a probability below 0.5, got {side!r}")
        upto = [int(x) for x in np.cumsum(c)]
        rows = upto.pop()
        lower, upper = binomial_bounds(upto, rows, side=side)
        # F never falls, so a bound at one point bounds the others too: what rounding broke is mended for free.
        return cls(np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1].copy())

    def holds(self, masses: npt.ArrayLike) -> bool:
        """Whether a law on the lattice lies in the band."""
        upto = np.cumsum(np.asarray(masses, dtype=np.float64))[:-1]
        return bool((self.lower <= upto).all() and (upto <= self.upper).all())


def level_a_side(level: float, *, laws: int, points: int) -> float:
    """The probability with which one bound may fail, so that all bounds of all laws hold with probability `level`.

    >>> round(level_a_side(0.95, laws=2, points=16), 6)
    0.000833
    """
    if not 0.5 <= level < 1:
        raise InputError(f"the level of a band must be from 0.5 to below 1, such as 0.95; got {level!r}")
    return (1 - level) * (1 - _HAIR) / (laws * 2 * (points - 1))


def binomial_bounds(seen: Sequence[int], rows: int, *, side: float) -> tuple[Array, Array]:
    """Bounds on the probability behind each number of successes, each failing with probability `side` at most."""
    lower = {x: _lower(x, rows, side) for x in set(seen)}
    upper = {x: _upper(x, rows, side) for x in set(seen)}
    return np.array([lower[x] for x in seen]), np.array([upper[x] for x in seen])


@lru_cache(maxsize=16_384)  # a search makes the same band again and again, and a proof takes half a millisecond
def _upper(successes: int, rows: int, side: float) -> float:
    """A p with P(Bin(rows, p) <= successes) <= side."""
    from scipy.special import betaincinv  # not scipy.stats, which takes longer to load than a bound to find

    if successes == rows:
        return 1.0
    guess = float(betaincinv(successes + 1, rows - successes, 1 - side))
    return _proved(guess, rows - successes, successes + 1, side, up=True)


@lru_cache(maxsize=16_384)
def _lower(successes: int, rows: int, side: float) -> float:
    """A p with P(Bin(rows, p) >= successes) <= side."""
    from scipy.special import betaincinv

    if successes == 0:
        return 0.0
    guess = float(betaincinv(successes, rows - successes + 1, side))
    return _proved(guess, successes, rows - successes + 1, side, up=False)


def _proved(guess: float, a: int, b: int, side: float, *, up: bool) -> float:
    """The guess, moved outwards until the regularised incomplete beta function is proved to be at most `side`.

    P(Bin(n, p) >= c) = I_p(c, n − c + 1), and P(Bin(n, p) <= c) = I_{1−p}(n − c, c + 1).
    """
    from flint import acb, arb, ctx

    end, move = (1.0, 1e-13) if up else (0.0, 1e-13)
    p = guess
    for _ in range(_NUDGES):
        if not math.isfinite(p) or not 0 < p < 1:
            return end
        with ctx.workprec(_BITS):
            at = 1 - arb(p) if up else arb(p)
            if acb(at).beta_lower(a, b, regularized=True).real <= arb(side):
                return p
        p += (end - p) * move if up else -p * move
        move = min(4 * move, 0.5)
    raise CertificationError("a binomial bound could not be proved: please report the number of rows")


Whole = npt.NDArray[np.int64]

UNIT = 1 << 50  # bounds are whole numbers of its inverse: sums over 8,191 values then stay exact in 64 bits
_MOST_VALUES = 4_000
_ROUNDING = 1e-12  # by which bounds are moved to hold a law that is known in floats


@dataclass(frozen=True, eq=False)
class Bounds:
    """lower <= P(x) <= upper for every value x, and below <= P(x_0) + … + P(x) <= above; in units of 2**-50.

    Values are in the order of their numbers; labels have no order, and their sums no bounds.
    """

    lower: Whole
    upper: Whole
    below: Whole
    above: Whole

    def __post_init__(self) -> None:
        """Refuse what no law is within: every proof about bounds starts from there being one."""
        sides = (self.lower, self.upper, self.below, self.above)
        if len({side.shape for side in sides}) > 1 or self.lower.ndim != 1 or not 0 < len(self.lower) <= _MOST_VALUES:
            raise InputError(f"bounds are four lists of one length, of 1 to {_MOST_VALUES:,} values")
        if any(side.dtype != np.int64 or side.min() < 0 or side.max() > UNIT for side in sides):
            raise InputError("bounds lie between 0 and 1")
        if self.below[-1] != UNIT or self.above[-1] != UNIT:
            raise InputError("all shares together are 1")
        if (self.lower > self.upper).any():
            raise InputError("no law is within these bounds")
        for side in sides:
            side.setflags(write=False)
        _greedy([self], np.arange(len(self.lower))[None])

    @classmethod
    def of_counts(cls, counts: npt.ArrayLike, *, level: float, laws: int, ordered: bool) -> "Bounds":
        """Bounds that hold, for so many laws at once, with probability `level`; half of what is left for each kind.

        `ordered` says whether the values are numbers, whose sums are bounded too.
        """
        c = np.asarray(counts, dtype=np.float64)
        if c.ndim != 1 or not len(c) or not np.isfinite(c).all() or c.min() < 0 or (c != np.floor(c)).any():
            raise InputError("bounds are made from whole counts, 0 or more")
        size, rows = len(c), int(c.sum())
        if size == 1:
            return cls(*(np.array([UNIT]) for _ in range(4)))
        laws = 2 * laws if ordered else laws  # half of what may fail is for the shares, half for their sums
        each = binomial_bounds([int(x) for x in c], rows, side=level_a_side(level, laws=laws, points=size + 1))
        below, above = np.zeros(size), np.ones(size)
        below[-1] = 1.0
        if ordered:
            band = Band.of_counts(c, side=level_a_side(level, laws=laws, points=size))
            below[:-1], above[:-1] = band.lower, band.upper
        return cls(_down(each[0]), _up(each[1]), _down(below), _up(above))

    @classmethod
    def likely(cls, weights: npt.ArrayLike, *, deviations: float, ordered: bool) -> "Bounds":
        """Where each share, and each sum of shares, of a draw from Dirichlet(weights) mostly lies.

        Each is a beta variable; its bounds are the quantiles that a normal one has so many deviations out. They are
        where a search looks, and no proof rests on them: `holding` widens them to hold the law they are about.
        """
        a = np.asarray(weights, dtype=np.float64)
        if a.ndim != 1 or not len(a) or not np.isfinite(a).all() or a.min() < 0 or not a.sum() > 0:
            raise InputError("bounds on what is likely are made from weights, 0 or more and not all 0")
        if len(a) == 1:
            return cls(*(np.array([UNIT]) for _ in range(4)))
        lower, upper = _beta_quantiles(a, a.sum() - a, deviations)
        below, above = np.zeros(len(a)), np.ones(len(a))
        below[-1] = 1.0
        if ordered:
            upto, rest = np.cumsum(a)[:-1], np.cumsum(a[::-1])[::-1][1:]
            below[:-1], above[:-1] = _beta_quantiles(upto, rest, deviations)
        mean = a / a.sum()
        # The quantiles of a share that is nearly always 0 may lie below its mean, and all of them together too low.
        return cls(
            _down(np.minimum(lower, mean)),
            _up(np.maximum(upper, mean)),
            _down(np.minimum(below, np.append(np.cumsum(mean)[:-1] - _ROUNDING, 1.0))),
            _up(np.maximum(above, np.append(np.cumsum(mean)[:-1] + _ROUNDING, 1.0))),
        )

    @classmethod
    def of_draws(cls, laws: Array, *, deviations: float, ordered: bool) -> "Bounds":
        """Where each share, and each sum of shares, of these laws mostly lies: so many deviations around its mean.

        A place to look, as `likely` is, for draws that no Dirichlet law describes.
        """
        if laws.shape[1] == 1:
            return cls(*(np.array([UNIT]) for _ in range(4)))
        mean, spread = laws.mean(axis=0), deviations * laws.std(axis=0)
        below, above = np.zeros(len(mean)), np.ones(len(mean))
        below[-1] = 1.0
        if ordered:
            sums = np.cumsum(laws, axis=1)[:, :-1]
            reach = deviations * sums.std(axis=0) + _ROUNDING
            below[:-1], above[:-1] = sums.mean(axis=0) - reach, sums.mean(axis=0) + reach
        return cls(_down(mean - spread), _up(mean + spread), _down(below), _up(above))

    def holding(self, weights: npt.ArrayLike, *, radius: float = 0.0) -> "Bounds":
        """The same, moved apart where that is needed to hold a law, and all within a total variation of it.

        The law is these weights over their sum. Within a radius no share and no sum of shares differs by more.
        """
        given = np.asarray(weights, dtype=np.float64)
        law, away = given / given.sum(), radius + _ROUNDING
        upto = np.cumsum(law)[:-1]
        return Bounds(
            np.minimum(self.lower, _down(law - away)),
            np.maximum(self.upper, _up(law + away)),
            np.minimum(self.below, _down(np.append(upto - away, 1.0))),
            np.maximum(self.above, _up(np.append(upto + away, 1.0))),
        )

    def and_also(self, other: "Bounds") -> "Bounds":
        """The laws within these bounds and within others; an error where there is none."""
        return Bounds(
            np.maximum(self.lower, other.lower),
            np.minimum(self.upper, other.upper),
            np.maximum(self.below, other.below),
            np.minimum(self.above, other.above),
        )

    def holds(self, masses: npt.ArrayLike) -> bool:
        """Whether a law on the values is within the bounds, in floats."""
        law = np.asarray(masses, dtype=np.float64)
        upto = np.append(np.cumsum(law)[:-1], 1.0)
        return bool(
            (self.lower <= law * UNIT).all()
            and (law * UNIT <= self.upper).all()
            and (self.below <= upto * UNIT).all()
            and (upto * UNIT <= self.above).all()
        )

    def extreme(self, table: npt.NDArray[np.generic], *, largest: bool) -> Whole:
        """For each column of a table (values × outputs), the law whose average of it is the largest, or the least.

        Masses in units of 2**-50, outputs × values.
        """
        most, least = extremes([self], table)
        return np.asarray((most if largest else least)[0])


def extremes(bounds: Sequence[Bounds], table: npt.NDArray[np.generic]) -> tuple[Whole, Whole]:
    """The same for several bounds at once, the largest and the least: bounds × outputs × values."""
    best_last = np.argsort(table, axis=0, kind="stable").T
    most, least = np.split(_greedy(bounds, np.concatenate([best_last[:, ::-1], best_last])), 2, axis=1)
    return most, least


def _greedy(bounds: Sequence[Bounds], order: npt.NDArray[np.intp]) -> Whole:
    """Laws with as much as may be on the values that come first in an order; a row of the orders for each law.

    Value by value: what a share must be is taken, what it may be beside is open; where a sum is below its bound the
    best of what is open is taken, and where it could come to lie above the worst is given up. No other law does better
    (proofs/bounds.md).
    """
    outputs, size = order.shape
    rank, every = np.argsort(order, axis=1), np.arange(outputs)
    sides = (
        np.array([getattr(one, side) for one in bounds])[:, :, None] for side in ("lower", "upper", "below", "above")
    )
    lower, upper, below, above = sides  # bounds × values × 1
    # Nothing need be decided before a sum is bounded, and of labels only the last one is (proofs/bounds.md).
    unbounded = (above >= UNIT) | (upper.cumsum(axis=1) <= above)
    decided = np.flatnonzero(~(unbounded & (below <= lower.cumsum(axis=1))).all(axis=(0, 2)))
    first = int(np.min(decided, initial=size - 1))
    seen = order < first
    taken, open_to = (np.where(seen, part[:, order, 0], 0) for part in (lower, upper - lower))
    reached, room = taken.sum(axis=2), open_to.sum(axis=2)
    for k in range(first, size):
        taken[:, every, rank[:, k]] = lower[:, k]
        open_to[:, every, rank[:, k]] = upper[:, k] - lower[:, k]
        reached += lower[:, k]
        room += upper[:, k] - lower[:, k]
        short = below[:, k] - reached
        if (short > 0).any():
            more = np.minimum(np.maximum(short[:, :, None] - (open_to.cumsum(axis=2) - open_to), 0), open_to)
            taken += more
            open_to -= more
            added = more.sum(axis=2)
            reached += added
            room -= added
        over = reached + room - above[:, k]
        if (over > 0).any():
            after = open_to[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] - open_to
            given_up = np.minimum(np.maximum(over[:, :, None] - after, 0), open_to)
            open_to -= given_up
            room -= given_up.sum(axis=2)
        if (reached < below[:, k]).any() or (reached > above[:, k]).any():
            raise InputError("no law is within these bounds")
    laws = np.empty_like(taken)
    np.put_along_axis(laws, np.broadcast_to(order, taken.shape), taken, axis=2)
    return laws


def _beta_quantiles(first: Array, second: Array, deviations: float) -> tuple[Array, Array]:
    """The quantiles of beta variables at Φ(−d) and Φ(d); of one without a first or a second weight, 0 or 1."""
    from scipy.special import betainccinv, betaincinv, ndtr

    tail, inside = float(ndtr(-deviations)), (first > 0) & (second > 0)
    found = []
    for quantile in (betaincinv, betainccinv):
        where = np.where(first > 0, 1.0, 0.0)
        where[inside] = quantile(first[inside], second[inside], tail)
        found.append(where)
    return np.where(np.isfinite(found[0]), found[0], 0.0), np.where(np.isfinite(found[1]), found[1], 1.0)


def _down(shares: Array) -> Whole:
    return np.floor(np.clip(shares, 0.0, 1.0) * UNIT).astype(np.int64)


def _up(shares: Array) -> Whole:
    return np.ceil(np.clip(shares, 0.0, 1.0) * UNIT).astype(np.int64)


def shares_of(masses: Whole) -> Array:
    """Masses in units of 2**-50 as floats."""
    return np.asarray(np.ldexp(masses.astype(np.float64), -round(math.log2(UNIT))))
