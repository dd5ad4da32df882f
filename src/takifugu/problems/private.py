"""What private counts cost: from the guarantee of everything published to that of the channel, and back.

Counts to which discrete Laplace noise of ε_f was added, and a channel that was fitted to nothing else, change the odds
by e^ε_f·F at most where the channel alone changes them by F, and lose ε + ε_f(2α − 1)/(2(α − 1)) of order α where it
alone loses ε: for an adversary who knows every other row, and whose own belief is one that the channel is for
(proofs/private-counts.md).
"""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from takifugu.errors import InputError
from takifugu.problems.guarantee import Guarantee, Odds, Part, Renyi

_DIGITS = Context(prec=70)  # each operation is rounded correctly
_HAIR = Decimal("1e-60")  # more than they are off together


def channel_guarantee(total: Guarantee, private: float) -> Guarantee:
    """What a channel that is fitted to private counts of this ε_f has to keep, rounded to the safe side.

    >>> round(channel_guarantee(Odds(3), 0.2).factor, 6)
    2.456192
    """
    return _each(total, lambda part: _of_channel(part, total, private)) if private else total


def total_guarantee(channel: Guarantee, private: float) -> Guarantee:
    """What is kept by such counts and the channel together, rounded to the safe side.

    >>> round(total_guarantee(channel_guarantee(Odds(3), 0.2), 0.2).factor, 12)
    3.0
    """
    return _each(channel, lambda part: _in_total(part, private)) if private else channel


def _each(given: Guarantee, changed: Callable[[Part], Part]) -> Guarantee:
    first, *rest = (changed(part) for part in given.parts)
    found: Guarantee = first
    for part in rest:
        found = found & part
    return found


def _of_channel(part: Part, total: Guarantee, private: float) -> Part:
    if isinstance(part, Odds):
        left = _times_exp(part.factor, -private, up=False)
        if left > 1:
            return Odds(left)
    elif isinstance(part, Renyi):
        exact = Fraction(part.epsilon) - _added(part.alpha, private)
        left = _rounded(exact, up=False)
        if left > 0:
            return Renyi(part.alpha, left)
    else:
        raise InputError(f"what private counts cost is known for odds and for (α, ε), and not for {part}: ask for odds")
    raise InputError(
        f"private counts of epsilon = {private:g} take all of {total} by themselves, and nothing is left for the "
        f"channel: ask for more than odds of {_times_exp(1.0, private, up=True):.4g}, or draw counts with a smaller "
        f"epsilon"
    )


def _in_total(part: Part, private: float) -> Part:
    if isinstance(part, Odds):
        return Odds(_times_exp(part.factor, private, up=True))
    if isinstance(part, Renyi):
        return Renyi(part.alpha, _rounded(Fraction(part.epsilon) + _added(part.alpha, private), up=True))
    raise InputError(f"what private counts cost is known for odds and for (α, ε), and not for {part}")


def _added(alpha: float, private: float) -> Fraction:
    """ε_f(2α − 1)/(2(α − 1)), which is ε_f for odds."""
    if math.isinf(alpha):
        return Fraction(private)
    order = Fraction(alpha)
    return Fraction(private) * (2 * order - 1) / (2 * (order - 1))


def _times_exp(factor: float, exponent: float, *, up: bool) -> float:
    with localcontext(_DIGITS):
        found = Decimal(factor) * Decimal(exponent).exp()
        return _rounded(Fraction(found * (1 + _HAIR if up else 1 - _HAIR)), up=up)


def _rounded(number: Fraction, *, up: bool) -> float:
    """The nearest float that is not below the number, or not above it."""
    found = float(number)
    if up:
        return found if Fraction(found) >= number else math.nextafter(found, math.inf)
    return found if Fraction(found) <= number else math.nextafter(found, -math.inf)
