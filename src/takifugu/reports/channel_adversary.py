"""What one value published through a finite channel tells, in exact fractions (proofs/inference.md).

Laws and channels are quotients of integers, so the best guess and the odds are too; they are rounded once, at the end.
"""

import math
from fractions import Fraction

from takifugu.channels.listed import ListChannel
from takifugu.divergences.proved.finite import Masses
from takifugu.laws.finite import Finite
from takifugu.problems.guarantee import Renyi
from takifugu.reports.adversary import Adversary, OddsFactor, bounds

_SHARES = (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100))


def total_variation(p: Masses, q: Masses) -> Fraction:
    """Half the sum of |p − q|, exactly.

    >>> total_variation(Masses((1, 1), 2), Masses((1, 3), 4))
    Fraction(1, 4)
    """
    apart = sum(abs(a * q.denominator - b * p.denominator) for a, b in zip(p.numerators, q.numerators, strict=True))
    return Fraction(apart, 2 * p.denominator * q.denominator)


def odds_quantiles(p: Masses, q: Masses, shares: tuple[Fraction, ...]) -> list[float]:
    """For each share the least factor that p/q exceeds in no more than the rest of the draws from p.

    >>> odds_quantiles(Masses((3, 1), 4), Masses((1, 3), 4), (Fraction(1, 4), Fraction(1, 2)))
    [0.3333333333333333, 3.0]
    """
    # None stands for a value that q never gives: its factor is infinite, and it comes last.
    factors = [
        (Fraction(a * q.denominator, b * p.denominator) if b else None, a)
        for a, b in zip(p.numerators, q.numerators, strict=True)
        if a
    ]
    factors.sort(key=lambda one: (one[0] is None, one[0] or Fraction(0)))
    found, seen, place = [], factors[0][1], 0
    for share in sorted(shares):
        while seen < share * p.denominator:
            place += 1
            seen += factors[place][1]
        factor = factors[place][0]
        found.append(math.inf if factor is None else float(factor))
    return found


def channel_adversary(channel: ListChannel, p: Finite, q: Finite, *, promise: Renyi | None) -> Adversary:
    """What one value tells apart, as it is and as it is published; the odds are those of whichever fares worse."""
    before = [Masses.of(channel.weights_of(law)) for law in (p, q)]
    after = [channel.published(law) for law in (p, q)]
    ways = odds_quantiles(after[0], after[1], _SHARES), odds_quantiles(after[1], after[0], _SHARES)
    limit, most = bounds(promise, tuple(map(float, _SHARES)))
    return Adversary(
        guess_before=float((1 + total_variation(*before)) / 2),
        guess_after=float((1 + total_variation(*after)) / 2),
        guess_bound=limit,
        odds=tuple(
            OddsFactor(float(share), max(one, other), bound)
            for share, one, other, bound in zip(_SHARES, *ways, most, strict=True)
        ),
    )
