"""What several releases about one record take of a total guarantee, and whether they fit into it (proofs/ledger.md).

The first release has the price that its own guarantee states. What is independent of everything published before, given
the secret, has its own too. Anything else has its local price, which holds whatever the priors are.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from takifugu.errors import InputError
from takifugu.problems.guarantee import (
    _DIGITS,
    _HAIR,
    Approximate,
    Divergence,
    Guarantee,
    HockeyStick,
    MaxDivergence,
    Odds,
    Part,
    Renyi,
    RenyiDivergence,
)


@dataclass(frozen=True)
class Price:
    """A factor of odds, and nats beside it: together nats + ln factor. Both are exact, so that ×3 and ×3 are ×9.

    >>> Price(Fraction(3)) + Price(Fraction(3))
    Price(factor=Fraction(9, 1), nats=Fraction(0, 1))
    """

    factor: Fraction = Fraction(1)
    nats: Fraction = Fraction(0)

    def __add__(self, other: "Price") -> "Price":
        """Both together."""
        return Price(self.factor * other.factor, self.nats + other.nats)

    def __float__(self) -> float:
        """In nats, to the nearest float or so: for sentences."""
        return math.log(self.factor) + float(self.nats)

    def to_state(self) -> list[str]:
        """As texts for JSON, exact."""
        return [str(self.factor), str(self.nats)]

    @classmethod
    def from_state(cls, state: Iterable[str]) -> "Price":
        """What `to_state` gave."""
        factor, nats = map(Fraction, state)
        return cls(factor, nats)

    def is_within(self, other: "Price") -> bool:
        """Whether this is the other at most; False where seventy digits do not decide it.

        >>> Price(Fraction(9)).is_within(Price(Fraction(3)) + Price(Fraction(3)))
        True
        """
        left, ratio = other.nats - self.nats, other.factor / self.factor
        if left >= 0 and ratio >= 1:
            return True
        if left <= 0 and ratio <= 1:
            return False
        with localcontext(_DIGITS):
            logarithm = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
            rest = Decimal(left.numerator) / Decimal(left.denominator)
            return logarithm + rest > _HAIR * (1 + abs(logarithm) + abs(rest))


def in_nats(loss: float) -> Price | None:
    """A loss as a price; None where it is infinite, or no number."""
    return Price(nats=Fraction(loss)) if math.isfinite(loss) else None


def budget_of(total: Part) -> Price:
    """All that a part of a total allows."""
    if isinstance(total, Odds):
        return Price(Fraction(total.factor))
    return Price(nats=Fraction(total.epsilon if isinstance(total, Approximate) else total.budget))


def priced_in(total: Part) -> Divergence:
    """The divergence whose values add up within a part of a total: of (ε, δ) the odds, which add to ε and not to δ."""
    return MaxDivergence() if isinstance(total.divergence, HockeyStick) else total.divergence


def price_of(total: Part, kept: Guarantee) -> Price | None:
    """What a release under the guarantee `kept` adds to others that it is independent of; None where nobody knows.

    >>> price_of(Odds(9), Odds(3))
    Price(factor=Fraction(3, 1), nats=Fraction(0, 1))
    """
    divergence = priced_in(total)
    if isinstance(divergence, MaxDivergence):
        # No more than one part is about the odds themselves.
        odds = [budget_of(part) for part in kept.parts if isinstance(part.divergence, MaxDivergence)]
        return odds[0] if odds else None
    if isinstance(divergence, RenyiDivergence):
        return in_nats(min(part.bound_on(divergence) for part in kept.parts))
    return None


def first_price(total: Part, kept: Guarantee) -> Price | None:
    """What the first release takes: as above, and of (ε, δ) the least ε at which its own guarantee gives that δ."""
    found = price_of(total, kept)
    if found is not None or not isinstance(total, Approximate):
        return found

    def is_enough(epsilon: float) -> bool:
        return min(part.bound_on(HockeyStick(epsilon)) for part in kept.parts) <= total.delta

    if not is_enough(total.epsilon):
        return None
    stated = [part.epsilon for part in kept.parts if isinstance(part, Approximate) and part.delta <= total.delta]
    low, high = 0.0, min(total.epsilon, *stated) if stated else total.epsilon
    if is_enough(low):
        return Price()
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-12 * high:
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return Price(nats=Fraction(high))


def require_total(total: Guarantee) -> None:
    """Refuse a total of which nobody knows how releases add up to it."""
    for part in total.parts:
        if not isinstance(part.divergence, RenyiDivergence | MaxDivergence | HockeyStick):
            raise InputError(
                f"the total of a ledger is of odds, of (α, ε), of (ε, δ), or of several of them: how releases add up "
                f"to {part} is not known"
            )


# What private counts cost: from the guarantee of everything published to that of the channel, and back.
#
# Counts to which discrete Laplace noise of ε_f was added, and a channel that was fitted to nothing else, change the
# odds by e^ε_f·F at most where the channel alone changes them by F, and lose ε + ε_f(2α − 1)/(2(α − 1)) of order α
# where it alone loses ε: for an adversary who knows every other row, and whose own belief is one that the channel is
# for (proofs/private-counts.md).


_HAIR_OF_COUNTS = Decimal("1e-60")  # more than they are off together


def channel_guarantee(total: Guarantee, private: float) -> Guarantee:
    """What a channel that is fitted to private counts of this ε_f has to keep, rounded to the safe side.

    >>> round(channel_guarantee(Odds(3), 0.2).factor, 6)
    2.456192
    """
    return _each_part(total, lambda part: _of_channel(part, total, private)) if private else total


def total_guarantee(channel: Guarantee, private: float) -> Guarantee:
    """What is kept by such counts and the channel together, rounded to the safe side.

    >>> round(total_guarantee(channel_guarantee(Odds(3), 0.2), 0.2).factor, 12)
    3.0
    """
    return _each_part(channel, lambda part: _in_total(part, private)) if private else channel


def _each_part(given: Guarantee, changed: Callable[[Part], Part]) -> Guarantee:
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
        return _rounded(Fraction(found * (1 + _HAIR_OF_COUNTS if up else 1 - _HAIR_OF_COUNTS)), up=up)


def _rounded(number: Fraction, *, up: bool) -> float:
    """The nearest float that is not below the number, or not above it."""
    found = float(number)
    if up:
        return found if Fraction(found) >= number else math.nextafter(found, math.inf)
    return found if Fraction(found) <= number else math.nextafter(found, -math.inf)
