"""The Rényi divergence of two laws on the same finite list, in float64: for searching, never for a promise.

`takifugu.divergences.discrete` proves what these functions estimate (proofs/finite-channels.md).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, budget, real
from takifugu.divergences.certified import Decision
from takifugu.divergences.numerics.balls import UNKNOWN, Enclosure, meet, outward
from takifugu.errors import InputError

if TYPE_CHECKING:
    from flint import arb

_ROUNDING = 1e-12  # a sum that is off by less was meant to be one


def order_or_odds(alpha: float) -> float:
    """The Rényi order, above one; infinity is the order of bounded odds."""
    if isinstance(alpha, float | np.floating) and alpha == math.inf:
        return math.inf
    number = real("alpha", alpha, "a number above 1, or math.inf")
    if number <= 1:
        raise InputError(f"alpha must be a number above 1, or math.inf, got {alpha!r}")
    return number


def finite_divergence(p: Array, q: Array, *, alpha: float) -> Array:
    """D_α(p‖q) along the last axis, for 1 < α ≤ ∞; +∞ where q is zero (or less) and p is not.

    p may sum to more than one and q to less, as bounds on probabilities do; the result is then the bound
    ln(Σ p^α q^(1-α))/(α-1). What is not a number comes back as +∞.

    Args:
        p: probabilities, or upper bounds on them, along the last axis.
        q: probabilities, or lower bounds on them.
        alpha: the order, above 1 or infinite.

    Returns:
        The divergence for each pair of rows, in float64 and not rounded outwards: `enclose` is what proves.

    >>> float(finite_divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75]), alpha=math.inf))
    0.6931471805599453
    """
    alpha = order_or_odds(alpha)
    p, q = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64))
    with np.errstate(all="ignore"):
        # Logarithms are subtracted because a quotient of small numbers under- or overflows.
        gap = np.where(p > 0, np.where(q > 0, np.log(p) - np.log(q), np.inf), -np.inf)
        if alpha == math.inf:
            found = gap.max(axis=-1)
        else:
            found = np.where((alpha - 1) * gap.max(axis=-1) < 1, _small(p, gap, alpha), _large(p, gap, alpha))
        lost = np.isnan(p + q).any(axis=-1) | np.isnan(found)
        kept: Array = np.where(lost, np.inf, np.maximum(found, 0.0))
        return kept


def _small(p: Array, gap: Array, alpha: float) -> Array:
    """ln(1 + Σ p·(r^(α-1) - 1))/(α-1): keeps its digits where every ratio r is near one, or α is."""
    over = p.sum(axis=-1) - 1
    over = np.where(np.abs(over) > _ROUNDING, over, 0.0)
    # p·expm1 of -inf is 0·(-1), which is the zero that such an output adds.
    value: Array = np.log1p((p * np.expm1((alpha - 1) * gap)).sum(axis=-1) + over) / (alpha - 1)
    return value


def _large(p: Array, gap: Array, alpha: float) -> Array:
    """The same with the largest term taken out, so that no power overflows.

    Everything is divided by α-1 first: at an order of 1e306 the exponents themselves would be beyond floats.
    """
    exponents = np.where(p > 0, np.log(p) / (alpha - 1) + gap, -np.inf)
    top = exponents.max(axis=-1)
    rest = np.exp((alpha - 1) * (exponents - top[..., None])).sum(axis=-1)
    value: Array = np.where(np.isfinite(top), top + np.log(rest) / (alpha - 1), top)
    return value


def spread(matrix: Array) -> tuple[Array, Array]:
    """The least and the largest probability of each output over all inputs."""
    return matrix.min(axis=0), matrix.max(axis=0)


def raised(p: Array, radius: Array | float, low: Array, high: Array) -> Array:
    """An upper bound on what any prior within total variation `radius` publishes, output by output.

    Moving a share r of a law's mass changes what is published at an output by r times the difference of two entries of
    the channel's column, and no output can be more probable than the largest entry (proofs/finite-channels.md).

    Args:
        p: what is published for the law in the middle.
        radius: the total variation, between 0 and 1.
        low: the least probability of each output over all inputs.
        high: the largest.

    Returns:
        One bound for each output. Together they may add up to more than 1.
    """
    return np.minimum(p + radius * (high - low), high)


def lowered(q: Array, radius: Array | float, low: Array, high: Array) -> Array:
    """The lower bound that belongs to `raised`.

    Args:
        q: what is published for the law in the middle.
        radius: the total variation, between 0 and 1.
        low: the least probability of each output over all inputs.
        high: the largest.

    Returns:
        One bound for each output, never below the least probability.
    """
    return np.maximum(q - radius * (high - low), low)


# The Rényi divergence of finite laws with a proof: rational probabilities, and balls for the powers.
#
# Laws are the exact rational numbers that their float64 weights are, divided by their exact sum; a channel's
# probabilities are integers over a power of two. So published probabilities are quotients of integers, and all that
# is left to ball arithmetic is a finite sum of powers (proofs/finite-channels.md).

Counts = npt.NDArray[np.int64]

_FIRST_PRECISION = 96
_MOST_PRECISION = 12_288  # laws that agree to more bits than this are not told apart
_INT64 = 2**63


@dataclass(frozen=True, slots=True)
class Masses:
    """Rational numbers, 0 or more, over one denominator: a law, or bounds on one."""

    numerators: tuple[int, ...]
    denominator: int

    @classmethod
    def of(cls, weights: npt.ArrayLike) -> "Masses":
        """The law of float64 weights, each divided by their exact sum.

        Args:
            weights: floats, 0 or more, not all of them 0.

        Returns:
            The exact rational numbers: a float is an integer times a power of two, so nothing is rounded.

        >>> Masses.of([0.5, 1.5])
        Masses(numerators=(1, 3), denominator=4)
        """
        whole = _integers(weights)
        return cls(tuple(whole), sum(whole))

    def through(self, counts: Counts, denominator: int) -> "Masses":
        """The law published when this one goes through the channel counts/denominator.

        Args:
            counts: the channel, inputs by outputs, whole numbers.
            denominator: what every row sums to.

        Returns:
            The exact law of what is published.
        """
        # Where no sum can reach 2⁶³ numpy's integers are exact, and fifty times faster than Python's.
        kind = np.int64 if self.denominator * denominator < _INT64 else object
        law = np.array(self.numerators, dtype=kind)
        support = np.flatnonzero(law)
        published = law[support] @ counts[support].astype(kind, copy=False)
        return Masses(tuple(map(int, published.tolist())), self.denominator * denominator)

    def through_entries(
        self, sources: Counts, targets: Counts, counts: Counts, *, outputs: int, denominator: int
    ) -> "Masses":
        """The same for a channel given by its entries above 0: counts[k] from sources[k] to targets[k].

        Args:
            sources: the input of each entry.
            targets: its output.
            counts: the entry itself, a whole number above 0.
            outputs: how many outputs there are.
            denominator: what the entries of one input sum to.

        Returns:
            The exact law of what is published.
        """
        kind = np.int64 if self.denominator * denominator < _INT64 else object
        moved = np.array(self.numerators, dtype=kind)[sources] * counts.astype(kind, copy=False)
        published = np.zeros(outputs, dtype=kind)
        np.add.at(published, targets, moved)
        return Masses(tuple(map(int, published.tolist())), self.denominator * denominator)

    @classmethod
    def largest(cls, several: Sequence["Masses"]) -> "Masses":
        """Output by output the largest of several.

        Args:
            several: masses over the same outputs.

        Returns:
            Upper bounds that hold for all of them, over a common denominator.

        >>> Masses.largest([Masses((1, 1), 2), Masses((1, 2), 3)])
        Masses(numerators=(3, 4), denominator=6)
        """
        return cls._chosen(several, max)

    @classmethod
    def least(cls, several: Sequence["Masses"]) -> "Masses":
        """Output by output the least of several."""
        return cls._chosen(several, min)

    @classmethod
    def _chosen(cls, several: Sequence["Masses"], choose: Callable[..., int]) -> "Masses":
        denominator = math.lcm(*(one.denominator for one in several))
        scaled = ([mass * (denominator // one.denominator) for mass in one.numerators] for one in several)
        return cls(tuple(choose(masses) for masses in zip(*scaled, strict=True)), denominator)

    def raised(self, radius: float, extremes: "Extremes") -> "Masses":
        """Upper bounds on what any prior within total variation `radius` publishes, output by output.

        Args:
            radius: the total variation, taken as the exact number that the float is.
            extremes: of the channel that they were published through.

        Returns:
            Exact bounds; see the function of the same name.
        """
        return self._moved(_radius(radius), extremes, up=True)

    def lowered(self, radius: float, extremes: "Extremes") -> "Masses":
        """The lower bounds that belong to `raised`."""
        return self._moved(_radius(radius), extremes, up=False)

    def _moved(self, radius: Fraction, extremes: "Extremes", *, up: bool) -> "Masses":
        if radius == 0:
            return self
        denominator = math.lcm(self.denominator, extremes.denominator) * radius.denominator
        mine = denominator // self.denominator
        theirs = denominator // extremes.denominator
        step = radius.numerator * (theirs // radius.denominator)
        moved = (
            min(mass * mine + step * (high - low), theirs * high)
            if up
            else max(mass * mine - step * (high - low), theirs * low)
            for mass, low, high in zip(self.numerators, extremes.low, extremes.high, strict=True)
        )
        return Masses(tuple(moved), denominator)


@dataclass(frozen=True, slots=True)
class Extremes:
    """The least and the largest count of each output over all inputs of a channel."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    denominator: int

    @classmethod
    def of(cls, counts: Counts, denominator: int) -> "Extremes":
        """Those of counts/denominator."""
        return cls(tuple(counts.min(axis=0).tolist()), tuple(counts.max(axis=0).tolist()), denominator)


def enclose(p: Masses, q: Masses, *, alpha: float, rtol: float = 1e-12) -> Enclosure:
    """Two floats that hold ln(Σ p^α q^(1-α))/(α-1), or for α = ∞ the logarithm of the largest p/q.

    Of two laws this is D_α. Where a limit of precision is met first the enclosure is wider, never wrong.

    Precision is doubled until the enclosure is as narrow as asked for. Each step holds the value, so that all of them
    are intersected.

    Args:
        p: rational masses: a law, or upper bounds on one.
        q: rational masses: a law, or lower bounds on one.
        alpha: the order, above 1 or infinite.
        rtol: how wide the enclosure may be beside its lower end.

    Returns:
        The enclosure, each end a float rounded outwards; its upper end is infinite where q lacks an output of p.

    >>> enclose(Masses((1, 1), 2), Masses((1, 1), 2), alpha=2)
    Enclosure(lower=0.0, upper=0.0)
    """
    found = UNKNOWN
    for value in _values(p, q, order_or_odds(alpha)):
        found = meet(found, outward(value))
        if found.width <= max(rtol * found.lower, math.ulp(found.lower)):
            break
    return found


def decide_finite(p: Masses, q: Masses, *, alpha: float, epsilon: float) -> Decision:
    """Whether ln(Σ p^α q^(1-α)) ≤ (α-1)ε, and for α = ∞ whether p ≤ e^ε·q everywhere: proved either way.

    For rational masses and ε > 0 the two sides are never equal, since one is algebraic and e to a rational power
    is not, so enough precision always decides; None is for laws beyond the largest precision, and is no yes.

    Args:
        p: rational masses: a law, or upper bounds on one.
        q: rational masses: a law, or lower bounds on one.
        alpha: the order, above 1 or infinite.
        epsilon: the budget, taken as the exact number that the float is.

    Returns:
        The answer with the enclosure that it rests on, and words for it.

    >>> decide_finite(Masses((2, 1), 3), Masses((1, 2), 3), alpha=math.inf, epsilon=0.7).holds
    True
    """
    from flint import arb

    found, limit = UNKNOWN, budget(epsilon)
    for value in _values(p, q, order_or_odds(alpha)):
        found = meet(found, outward(value))
        # A comparison with a ball is true only where it holds for every number in the ball.
        if value > arb(limit):
            return Decision(False, found, f"refuted: D is at least {found.lower!r}, above {limit!r}")
        if value <= arb(limit):
            found = meet(found, Enclosure(0.0, limit))
            return Decision(True, found, f"proved: D is at most {found.upper!r}, within {limit!r}")
    return Decision(None, found, f"undecided: {_MOST_PRECISION} bits are not enough; D lies in {found}")


def holds(p: Masses, q: Masses, *, alpha: float, epsilon: float) -> bool:
    """Whether the budget is proved to be kept; what is not proved is not kept."""
    return decide_finite(p, q, alpha=alpha, epsilon=epsilon).holds is True


def decide_excess(p: Masses, q: Masses, *, epsilon: float, delta: float) -> Decision:
    """Whether Σ (p − e^ε q)₊ ≤ δ: proved either way, for ε = 0 in rational numbers alone.

    >>> decide_excess(Masses((2, 1), 3), Masses((1, 2), 3), epsilon=0, delta=0.34).holds
    True
    """
    from flint import arb, ctx

    if epsilon == 0:
        return _decide_variation(p, q, delta)
    found, before = UNKNOWN, ctx.prec
    try:
        for ctx.prec in _EXCESS_PRECISIONS:
            right = arb(float(epsilon)).exp() * p.denominator
            both = zip(p.numerators, q.numerators, strict=True)
            terms = ((a * q.denominator - b * right).max(arb(0)) for a, b in both if a)
            total = sum(terms, arb(0)) / (p.denominator * q.denominator)
            found = meet(found, outward(total))
            if total <= arb(delta):
                return Decision(True, found, f"proved: δ is at most {found.upper!r}, within {delta!r}")
            if total > arb(delta):
                return Decision(False, found, f"refuted: δ is at least {found.lower!r}, above {delta!r}")
    finally:
        ctx.prec = before
    return Decision(None, found, f"undecided: {_EXCESS_PRECISIONS[-1]} bits are not enough; δ lies in {found}")


def _decide_variation(p: Masses, q: Masses, delta: float) -> Decision:
    """The same at ε = 0, a rational number."""
    both = zip(p.numerators, q.numerators, strict=True)
    whole = sum(max(0, a * q.denominator - b * p.denominator) for a, b in both)
    total = Fraction(whole, p.denominator * q.denominator)
    found = Enclosure(math.nextafter(float(total), 0.0), math.nextafter(float(total), 1.0))
    if total <= Fraction(delta):
        return Decision(True, found, f"proved: δ is at most {found.upper!r}, within {delta!r}")
    return Decision(False, found, f"refuted: δ is at least {found.lower!r}, above {delta!r}")


_EXCESS_PRECISIONS = (192, 1024)


def excess(p: Array, q: Array, *, epsilon: float) -> Array:
    """Σ (p − e^ε q)₊ along the last axis, in floats."""
    found: Array = np.maximum(p - math.exp(epsilon) * q, 0.0).sum(axis=-1)
    return found


def within_odds(p: Masses, q: Masses, *, odds: float | Fraction) -> bool:
    """Whether p ≤ odds·q everywhere, in integers: equality counts as kept, and nothing is rounded.

    Args:
        p: rational masses under one secret.
        q: those under the other.
        odds: the factor, as the exact number that is given.

    Returns:
        True or False, always right.

    >>> within_odds(Masses((3, 1), 4), Masses((1, 3), 4), odds=3)
    True
    """
    most = exact_odds(odds)
    left, right = q.denominator * most.denominator, p.denominator * most.numerator
    return all(a * left <= b * right for a, b in zip(p.numerators, q.numerators, strict=True))


def exact_odds(odds: float | Fraction) -> Fraction:
    """The largest odds as the exact number given, above one."""
    if isinstance(odds, bool) or not isinstance(odds, int | float | Fraction | np.number) or not 1 < odds < math.inf:
        raise InputError(f"odds must be a finite number above 1, got {odds!r}")
    return Fraction(odds if isinstance(odds, Fraction | int) else float(odds))


def largest_ratio(p: Masses, q: Masses) -> Fraction | None:
    """The largest p/q over the outputs that p reaches; None where q does not reach one of them.

    Args:
        p: rational masses under one secret.
        q: those under the other.

    Returns:
        The exact factor that the odds rise by at most.

    >>> largest_ratio(Masses((2, 1), 3), Masses((1, 2), 3))
    Fraction(2, 1)
    """
    best = Fraction(0)
    for a, b in zip(p.numerators, q.numerators, strict=True):
        if a > 0:
            if b <= 0:
                return None
            if a * best.denominator > best.numerator * b:
                best = Fraction(a, b)
    return best * Fraction(q.denominator, p.denominator)


def _values(p: Masses, q: Masses, alpha: float) -> "Iterator[arb]":
    """The divergence where it is exact; otherwise ever smaller balls around it."""
    from flint import arb, ctx, fmpq

    ratio = largest_ratio(p, q)
    if ratio is None:
        yield arb.pos_inf()
        return
    if ratio == 1 and _same_law(p, q):
        yield arb(0)
        return
    precision = _FIRST_PRECISION
    while precision <= _MOST_PRECISION:
        with ctx.workprec(precision):
            value = arb(fmpq(ratio.numerator, ratio.denominator)).log() if alpha == math.inf else _ball(p, q, alpha)
        yield value
        precision *= 2


def _ball(p: Masses, q: Masses, alpha: float) -> "arb":
    """ln(Σ p^α q^(1-α))/(α-1) at the precision in force, with the largest term taken out of the sum."""
    from flint import arb

    power = arb(alpha)  # a float is dyadic: the ball has no radius, and α-1 below is rounded outwards
    less = power - 1
    terms = [
        power * arb(a).log() - less * arb(b).log() for a, b in zip(p.numerators, q.numerators, strict=True) if a > 0
    ]
    # Any number may be taken out; the largest midpoint (an exact number) keeps every power at most about one.
    top = terms[0].mid()
    for term in terms:
        top = term.mid() if term.mid() > top else top
    total = sum(((term - top).exp() for term in terms), arb(0))
    if not total > 0:  # too crude to take its logarithm
        return arb(0, arb.pos_inf())
    scale = power * arb(p.denominator).log() - less * arb(q.denominator).log()
    return (top + total.log() - scale) / less


def _same_law(p: Masses, q: Masses) -> bool:
    """Whether both are one law; bounds that do not sum to one have a loss of their own even where they agree."""
    pairs = zip(p.numerators, q.numerators, strict=True)
    return sum(p.numerators) == p.denominator and all(a * q.denominator == b * p.denominator for a, b in pairs)


def _radius(radius: float) -> Fraction:
    number = real("radius", radius, "a finite number, 0 or more")
    if number < 0:  # it would narrow what has to be widened
        raise InputError(f"radius must be a finite number, 0 or more, got {radius!r}")
    return Fraction(number)


def _integers(weights: npt.ArrayLike) -> list[int]:
    """Float64 weights as integers in one common unit, a power of two."""
    given: Array = np.asarray(weights, dtype=np.float64)
    if given.ndim != 1 or not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
        raise InputError("weights must be one list of finite numbers, 0 or more and not all 0")
    ratios: Sequence[tuple[int, int]] = [weight.as_integer_ratio() for weight in given.tolist()]
    unit = max(denominator for _, denominator in ratios)
    return [numerator * (unit // denominator) for numerator, denominator in ratios]
