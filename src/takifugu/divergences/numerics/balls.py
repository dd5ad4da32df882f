"""Enclosures: a number known to lie between two floats, and how balls are rounded outwards to one."""

import math
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.errors import CertificationError
from takifugu.laws import Mixture

if TYPE_CHECKING:
    from flint import arb, fmpq

_LARGEST_EXPONENT = 1 << 12  # beyond it a float is 0 or infinite whatever the mantissa
_PLAIN = 1000  # up to it a float has all its digits


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The quantity lies in [lower, upper]; `upper` may be infinite.

    >>> Enclosure(1.0, 1.5).width
    0.5
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """How far apart the ends are; zero where the value is known to be infinite."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower


INFINITE = Enclosure(math.inf, math.inf)
UNKNOWN = Enclosure(0.0, math.inf)  # what is true of every divergence


def dyadic(number: "fmpq") -> "arb":
    """A rational number whose denominator is a power of two, as a ball of radius zero."""
    from flint import arb

    return arb((number.numer(), 1 - int(number.denom()).bit_length()))


def outward(divergence: "arb | fmpq") -> Enclosure:
    """A ball or a rational number around a divergence, as floats rounded outwards; it is never negative."""
    from flint import fmpq

    if isinstance(divergence, fmpq):
        value = Fraction(int(divergence.numer()), int(divergence.denom()))
        return Enclosure(_nearest(value, down=True), _nearest(value, down=False))
    if not divergence.is_finite():
        return INFINITE if divergence.is_exact() and divergence > 0 else UNKNOWN
    lower, upper = _rounded(divergence.lower(), down=True), _rounded(divergence.upper(), down=False)
    return Enclosure(max(0.0, lower), max(0.0, upper))


def meet(first: Enclosure, second: Enclosure) -> Enclosure:
    """What two enclosures of the same number prove together."""
    lower, upper = max(first.lower, second.lower), min(first.upper, second.upper)
    if lower > upper:
        raise CertificationError(
            f"{first} and {second} cannot both hold the same divergence: one of them is wrong, and so "
            "nothing is proved; please report the mixtures that led here"
        )
    return Enclosure(lower, upper)


def bits(number: "arb") -> float:
    """Roughly log2 of the size of a ball, for choosing a precision; never for a proof."""
    size = abs(number).upper()
    if size.is_zero() or not size.is_finite():
        return -math.inf if size.is_zero() else math.inf
    mantissa, exponent = size.man_exp()
    return float(int(mantissa).bit_length() + int(exponent))


def _rounded(exact: "arb", *, down: bool) -> float:
    mantissa, exponent = (int(part) for part in exact.man_exp())
    if mantissa == 0:
        return 0.0
    size = mantissa.bit_length() + exponent
    if abs(size) > _LARGEST_EXPONENT:
        tiny, huge = (0.0, 5e-324), (1.7976931348623157e308, math.inf)
        below, above = tiny if size < 0 else huge
        toward_zero = down == (mantissa > 0)
        return math.copysign(below if toward_zero else above, 1 if mantissa > 0 else -1)
    if abs(size) > _PLAIN:
        return _nearest(Fraction(mantissa) * Fraction(2) ** exponent, down=down)
    beyond = max(0, mantissa.bit_length() - sys.float_info.mant_dig)  # bits that a float has no place for
    shortened = mantissa >> beyond if down else -(-mantissa >> beyond)
    return math.ldexp(shortened, exponent + beyond)


def _nearest(value: Fraction, *, down: bool) -> float:
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if down and near > value:
        return math.nextafter(near, -math.inf)
    if not down and near < value:
        return math.nextafter(near, math.inf)
    return near


# Flint's precision is one number for the whole process: only one thread at a time may set and use it.
#
# A ball computed at another thread's precision would still hold its number, but the verdict would depend on what else
# runs, and a precision restored in the wrong order would stay for everyone. So whoever works in balls holds this
# lock.

_LOCK = threading.RLock()  # of a thread that already holds it nothing more is asked


@contextmanager
def alone() -> Iterator[None]:
    """No other thread works in balls meanwhile."""
    with _LOCK:
        yield


class working_precision:  # noqa: N801
    """Balls of so many bits, for this thread alone.

    A class, since a hundred thousand small proofs take this step each, and a generator takes twice as long.
    """

    __slots__ = ("_before", "_bits", "_context", "_lock")

    def __init__(self, bits: int) -> None:
        """Nothing is set before the block is entered."""
        self._bits = bits

    def __enter__(self) -> None:
        """Wait for the others, then set the precision."""
        from flint import ctx

        self._lock, self._context = _LOCK, ctx
        self._lock.acquire()
        try:
            self._before, ctx.prec = ctx.prec, self._bits
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        """Restore the precision, then let the others in."""
        self._context.prec = self._before
        self._lock.release()


def _renew() -> None:
    """A process forked while another thread worked in balls would wait for ever: that thread is not in it."""
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


# A limit on work, counted and not timed, so that the same input always meets the same fate.

DEFAULT_LIMIT = 8_000_000  # of one divergence; a unit is one component evaluated once, about a microsecond
VERIFY_LIMIT = 15_000_000  # of a whole certificate, however small
_PER_PLACE, _PER_COMPONENT = 10_000, 3_000  # several times what an honest claim about such laws takes


class UndecidableError(Exception):
    """A limit on work or precision was met before anything was proved; the text says which."""


def limit_for(sizes: Iterable[int]) -> int:
    """The work that claims about pairs of laws may take; `sizes` are the numbers of components of each pair.

    It grows with what is claimed: a file of forty thousand places is no more suspicious a place than one of ten.
    """
    return max(VERIFY_LIMIT, sum(min(_PER_PLACE + _PER_COMPONENT * size, DEFAULT_LIMIT) for size in sizes))


class Effort:
    """Units of work that may still be spent; several divergences can share one."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        """Start with the whole limit."""
        self.left = self.limit = limit

    def spend(self, units: int) -> None:
        """Count work; an error once there was more than the limit."""
        self.left -= units
        self.require()

    def require(self) -> None:
        """Go on only while some work is left."""
        if self.left <= 0:
            raise UndecidableError(f"the limit of {self.limit:,} evaluations of a component was met")


# Mixtures as exact rational numbers: what a proof starts from.
#
# A float is a fraction with a power of two below it, so weights, means and variances after noise are known exactly,
# and so is every comparison that decides whether a divergence is finite.


@dataclass(frozen=True, slots=True)
class Bell:
    """One normal component: its weight in the whole, its mean and its variance, all rational."""

    weight: "fmpq"
    mean: "fmpq"
    variance: "fmpq"


@dataclass(frozen=True, slots=True)
class ExactMixture:
    """Point masses (value to weight) and bells; all weights together sum to one exactly."""

    atoms: "dict[fmpq, fmpq]"
    bells: tuple[Bell, ...]

    @classmethod
    def after_noise(cls, mixture: Mixture, theta: float) -> "ExactMixture":
        """The mixture plus N(0, theta²), weights divided by their exact sum, equal components merged."""
        noise = fraction(theta) ** 2
        # Floats are equal, and in order, as the numbers they stand for are, and are compared in far less time.
        weights: defaultdict[tuple[float, float], fmpq] = defaultdict(lambda: fraction(0.0))
        lists = (mixture.weights.tolist(), mixture.means.tolist(), mixture.stds.tolist())
        for weight, mean, std in zip(*lists, strict=True):
            if weight > 0:
                weights[mean, std] += fraction(weight)
        total = sum(weights.values(), fraction(0.0))
        parts = [
            (fraction(mean), fraction(std) ** 2 + noise, weights[mean, std] / total) for mean, std in sorted(weights)
        ]
        return cls(
            {mean: weight for mean, variance, weight in parts if variance == 0},
            tuple(Bell(weight, mean, variance) for mean, variance, weight in parts if variance != 0),
        )


def fraction(number: float) -> "fmpq":
    """The float as a rational number, exactly."""
    from flint import fmpq

    return fmpq(*float(number).as_integer_ratio())


def mirrored(bells: tuple[Bell, ...]) -> tuple[Bell, ...]:
    """The bells seen from the other end of the line."""
    return tuple(Bell(bell.weight, -bell.mean, bell.variance) for bell in bells)


def widest(bells: tuple[Bell, ...]) -> Bell:
    """The bell that outweighs all others far to the right: the widest, and of those the rightmost."""
    return max(bells, key=lambda bell: (bell.variance, bell.mean))


def converges(p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: "fmpq") -> bool:
    """Whether ∫ p^α q^(1-α) is finite, decided without rounding (proofs/certified.md, lemma 1)."""
    right_p, right_q = widest(p), widest(q)
    margin = alpha * right_q.variance - (alpha - 1) * right_p.variance
    if margin != 0:
        return bool(margin > 0)
    # The squares cancel and what is left is exp(linear): both ends must slope down.
    left_p, left_q = widest(mirrored(p)), widest(mirrored(q))
    return bool(right_p.mean < right_q.mean and left_p.mean < left_q.mean)
