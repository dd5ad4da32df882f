"""Bounds on the distribution function of a law on a lattice that hold with a stated probability over the rows.

At each point the number of rows at or below it is binomial, so Clopper–Pearson bounds hold whatever the law; a union
bound over points and sides makes them hold at once (proofs/band.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.errors import CertificationError, InputError

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
