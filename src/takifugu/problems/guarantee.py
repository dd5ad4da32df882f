"""What is guaranteed: how little the published value may tell about any pair of secrets.

A guarantee is a conjunction of parts, and a part is a divergence with a budget: between the published laws of any pair
of secrets, in both directions, that divergence is the budget at most. What follows from what is proved in
proofs/guarantees.md; every figure is rounded to the safe side.
"""

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, ClassVar

from takifugu import _validation as check
from takifugu.errors import InputError

GROUP = "takifugu.guarantees"  # the entry-point group of guarantees that other packages install

_LARGEST = math.log(sys.float_info.max)  # e to a little more is beyond floats
_DIGITS = Context(prec=70)  # each operation is rounded correctly, so that few of them are off by 1e-66 at most
_HAIR = Decimal("1e-50")  # more than they are off together, divided by an α − 1 of one float at least
_STEPS = 1 << 53  # floats between ½ and 1 are multiples of its reciprocal


# How far two published laws are apart.


@dataclass(frozen=True)
class Divergence(ABC):
    """A measure of how far one published law is from another, with its parameters; its functions are registered."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, in the middle of a sentence."""

    def stated(self, value: float) -> str:
        """A value of it, after "with".

        Args:
            value: the divergence of two laws.

        Returns:
            A few words, such as "a loss of 0.98" or "δ = 1e-05".
        """
        return f"a loss of {value:.6g}"


@dataclass(frozen=True)
class RenyiDivergence(Divergence):
    """D_α of a finite order."""

    alpha: float

    @property
    def words(self) -> str:
        """See `Divergence`."""
        return f"the Rényi divergence of order {self.alpha:g}"


@dataclass(frozen=True)
class MaxDivergence(Divergence):
    """D∞, the logarithm of the largest odds that a published value can give one law against the other."""

    @property
    def words(self) -> str:
        """See `Divergence`."""
        return "the odds"


@dataclass(frozen=True)
class HockeyStick(Divergence):
    """∫ (p − e^ε q)₊: by how much more than e^ε times as likely the first law can make an event."""

    epsilon: float

    @property
    def words(self) -> str:
        """See `Divergence`."""
        return f"the hockey-stick divergence at ε = {self.epsilon:g}"

    def stated(self, value: float) -> str:
        """See `Divergence`."""
        return f"δ = {value:.6g}"


@dataclass(frozen=True)
class PartialRenyi(Divergence):
    """D_α of the laws but for a share of each: the least over all events of probability 1 − δ at least."""

    alpha: float
    delta: float

    @property
    def words(self) -> str:
        """See `Divergence`."""
        return f"the Rényi divergence of order {self.alpha:g} but for a share of {self.delta:g}"


# What is promised about it.


class Guarantee(ABC):
    """That every part is kept for every pair of secrets, in both directions, under every belief.

    Made by `Renyi`, `Odds` and `Approximate`, and by `&` of them.

    >>> Renyi(3, 1) & Odds(5)
    Renyi(alpha=3.0, epsilon=1.0) & Odds(factor=5.0)
    """

    @property
    @abstractmethod
    def parts(self) -> tuple["Part", ...]:
        """What is guaranteed, one divergence at a time."""

    if TYPE_CHECKING:  # a guarantee that has none of these, or several, raises an AttributeError

        @property
        def alpha(self) -> float:
            """The order of a guarantee about one Rényi divergence, infinite for odds alone."""

        @property
        def epsilon(self) -> float:
            """The budget in nats."""

        @property
        def odds_beside(self) -> float | None:
            """The factor that odds are bounded by beside a Rényi divergence of finite order."""

    @property
    def leading(self) -> "Part":
        """The part that is said first, and whose losses are listed."""
        return self.parts[0]

    def __and__(self, other: "Guarantee") -> "Guarantee":
        """Both guarantees; of two budgets for one divergence the smaller."""
        if not isinstance(other, Guarantee):
            return NotImplemented
        kept: dict[Divergence, Part] = {}
        for part in (*self.parts, *other.parts):
            known = kept.get(part.divergence)
            if known is None or part.budget < known.budget:
                kept[part.divergence] = part
        parts = sorted(kept.values(), key=lambda part: (part.place, part.kind, repr(part)))
        return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))

    def implies(self, other: "Guarantee") -> bool:
        """Whether whoever keeps this keeps the other, by what is known of the divergences alone.

        Args:
            other: the guarantee that is needed.

        Returns:
            True where every part of the other follows from some part of this. False says only that no such argument is
            known: the channel at hand may keep the other all the same.

        >>> asked = Renyi(3, 1.1)
        >>> Renyi(4, 1.1).implies(asked), Odds(3).implies(asked), Renyi(2, 1.1).implies(asked)
        (True, True, False)
        """
        return all(any(part.covers(wanted) for part in self.parts) for wanted in other.parts)

    def best_guess(self) -> float:
        """The largest chance of a right guess between two secrets that were equally likely, rounded up.

        Returns:
            The probability, from 0.5, which is a random guess, to 1. Of several parts the one that allows the least
            counts. What an attacker reaches with given priors is usually less.

        >>> Odds(3).best_guess()
        0.75
        """
        return min(part.best_guess() for part in self.parts)

    def odds_factor(self, chance: float) -> float:
        """The factor that the odds of the true secret rise beyond with this chance at most; infinite where none is.

        Args:
            chance: of drawing a published value that raises the odds by more, above 0 and 1 at most.

        Returns:
            A factor, rounded up. Of several parts the one that allows the least counts.

        >>> round(Renyi(3, 1).odds_factor(0.05), 2), Odds(3).odds_factor(0.05)
        (12.16, 3.0)
        """
        return min(part.odds_factor(chance) for part in self.parts)

    @property
    def most_odds(self) -> float | None:
        """The factor that the odds of a pair never exceed; None where nothing is said about it.

        Infinite where it is beyond the largest float.
        """
        bounds = [part.most_odds for part in self.parts]
        return min((bound for bound in bounds if bound is not None), default=None)

    @property
    def is_provable(self) -> bool:
        """Whether every part is about published laws as they are, so that it can be proved of a channel."""
        return all(part.is_provable for part in self.parts)

    @property
    @abstractmethod
    def bound(self) -> str:
        """The guarantee as the end of a sentence: a secret is hidden …"""

    @abstractmethod
    def to_state(self) -> dict[str, object]:
        """As plain values for JSON, which `guarantee_from_state` reads."""


class Part(Guarantee):
    """One divergence and its budget. A new one is a frozen dataclass of numbers with these members.

    Its fields are what is written into files; the entry-point group `takifugu.guarantees` names it by its kind, and
    `takifugu.divergences.register` says how its divergence is computed and proved.
    """

    kind: ClassVar[str]
    """Its name in files and messages."""
    place: ClassVar[int] = 9
    """Where it stands in a conjunction."""

    @property
    @abstractmethod
    def divergence(self) -> Divergence:
        """What is bounded."""

    @property
    @abstractmethod
    def budget(self) -> float:
        """By how much."""

    @abstractmethod
    def with_epsilon(self, epsilon: float) -> "Part":
        """The same guarantee with another ε.

        Searches over the budget use it: `calibrate` with `error` or `best_guess` in place of ε.

        Args:
            epsilon: the new ε, above 0.

        Returns:
            A part of the same kind, its other numbers unchanged.
        """

    @abstractmethod
    def bound_on(self, divergence: Divergence) -> float:
        """What another divergence is at most where this part is kept both ways, rounded up; infinite if unknown.

        Args:
            divergence: the one that somebody else's guarantee is about.

        Returns:
            A number that the divergence never exceeds, for any two laws that keep this part in both directions. Rounded
            up, so that a guarantee is never read as a stronger one.
        """

    def covers(self, wanted: "Part") -> bool:
        """Whether the other part is kept wherever this one is.

        Args:
            wanted: the part that is needed.

        Returns:
            True where the bound on its divergence is within its budget.
        """
        return self.bound_on(wanted.divergence) <= wanted.budget

    @abstractmethod
    def best_guess(self) -> float:
        """See `Guarantee`."""

    @abstractmethod
    def odds_factor(self, chance: float) -> float:
        """See `Guarantee`."""

    @property
    def parts(self) -> tuple["Part", ...]:
        """Itself."""
        return (self,)

    @property
    def most_odds(self) -> float | None:
        """See `Guarantee`."""
        return None

    @property
    def is_provable(self) -> bool:
        """See `Guarantee`."""
        return True

    @property
    def bound(self) -> str:
        """See `Guarantee`."""
        return f"within {self}"

    def to_state(self) -> dict[str, object]:
        """The kind and every number; infinity is written as null, for which JSON has a word."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **{name: None if math.isinf(n) else n for name, n in numbers.items()}}


@dataclass(frozen=True, repr=False)
class Conjunction(Guarantee):
    """Several parts, each of which is kept; made by `&`."""

    members: tuple[Part, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """See `Guarantee`."""
        return self.members

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """The order, budget and odds of a Rényi divergence with odds beside it; of no other conjunction."""
            members = self.__dict__.get("members", ())
            if name in ("alpha", "epsilon", "odds_beside") and [type(part.divergence) for part in members] == [
                RenyiDivergence,
                MaxDivergence,
            ]:
                order, odds = members
                return getattr(order, name) if name != "odds_beside" else _factor_below(odds)
            raise AttributeError(f"a guarantee of several parts has no {name!r}")

    @property
    def bound(self) -> str:
        """See `Guarantee`."""
        return " and ".join([self.members[0].bound, *map(str, self.members[1:])])

    def to_state(self) -> dict[str, object]:
        """See `Guarantee`."""
        return {"kind": "all", "of": [part.to_state() for part in self.members]}

    def __str__(self) -> str:
        """The guarantee in a few words."""
        return " and ".join(map(str, self.members))

    def __repr__(self) -> str:
        """What makes it."""
        return " & ".join(map(repr, self.members))


@dataclass(frozen=True)
class Renyi(Part):
    """(α, ε)-Rényi Pufferfish Privacy: D_α between the published laws of any pair is ε at most, both ways.

    At α = ∞ it bounds the odds, as `Odds` does with a factor in place of its logarithm.

    Args:
        alpha: the order, above 1, or `math.inf`. The larger it is, the rarer the published values that may tell more
            than e^ε; `recommended_alpha` gives one to start from.
        epsilon: the budget, above 0, in natural logarithms.

    Raises:
        InputError: for what is no order or no budget.

    >>> Renyi(3, 1).epsilon
    1.0
    """

    kind: ClassVar[str] = "renyi"
    place: ClassVar[int] = 0
    odds_beside: ClassVar[None] = None

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what is no guarantee."""
        object.__setattr__(self, "epsilon", check.budget(self.epsilon))
        object.__setattr__(self, "alpha", math.inf if self.alpha == math.inf else check.order(self.alpha))

    @property
    def divergence(self) -> Divergence:
        """D_α."""
        return MaxDivergence() if math.isinf(self.alpha) else RenyiDivergence(self.alpha)

    @property
    def budget(self) -> float:
        """ε."""
        return self.epsilon

    def with_epsilon(self, epsilon: float) -> "Renyi":
        """See `Part`."""
        return Renyi(self.alpha, epsilon)

    def bound_on(self, divergence: Divergence) -> float:
        """D_β falls with β, and of a hockey stick the best conversion at this order is known.

        From D_α ≤ ε follows δ ≤ e^((α−1)(ε−ε'))·(1 − 1/α)^α/(α − 1) at every ε', the conversion of C. Canonne, G.
        Kamath and T. Steinke, "The Discrete Gaussian for Differential Privacy" (2020), proposition 12.
        """
        if math.isinf(self.alpha):
            return _from_log_odds(self.epsilon, divergence)
        if isinstance(divergence, RenyiDivergence) and divergence.alpha <= self.alpha:
            return self.epsilon
        if isinstance(divergence, HockeyStick):
            return _delta_by_order(self.alpha, self.epsilon, divergence.epsilon)
        return math.inf

    def best_guess(self) -> float:
        """See `Guarantee`: claim 4 of proofs/odds.md."""
        return _guess_of_order(self.alpha, self.epsilon)

    def odds_factor(self, chance: float) -> float:
        """e^ε·chance^(−1/(α−1)), by Markov's inequality.

        If the odds of the true secret rise by r, the published value is r times as likely under it as under the other.
        The mean of r^(α−1) under the true secret is e^((α−1)D_α), so that r > t has probability e^((α−1)ε)·t^(1−α) at
        most.

        Args:
            chance: that probability.

        Returns:
            The t that belongs to it, rounded up.
        """
        exponent = self.epsilon - math.log(chance) / (self.alpha - 1)
        # Each step rounds by 2⁻⁵³ of something below 700: the margin covers all of them.
        return math.exp(exponent) * (1 + 1e-12) if exponent < 700 else math.inf

    @property
    def most_odds(self) -> float | None:
        """See `Guarantee`."""
        if math.isfinite(self.alpha):
            return None
        return math.exp(self.epsilon) if self.epsilon <= _LARGEST else math.inf

    @property
    def bound(self) -> str:
        """See `Guarantee`."""
        return f"{'with' if math.isinf(self.alpha) else 'within'} {self}"

    def __str__(self) -> str:
        """The guarantee in a few words."""
        if math.isinf(self.alpha):
            factor = f"{self.most_odds:g}" if self.epsilon <= _LARGEST else f"e^{self.epsilon:g}"
            return f"odds within a factor of {factor}"
        return f"(α, ε) = ({self.alpha:g}, {self.epsilon:g})"


@dataclass(frozen=True)
class Odds(Part):
    """That no published value changes the odds of a pair by more than this factor.

    The divergence is compared with its logarithm, rounded down: the nearest float to ln 3 lies above it, and would
    guarantee a little less.

    Args:
        factor: above 1. At 3 a guess between two secrets that were equally likely is right three times in four at most.

    Raises:
        InputError: for a factor that is not above 1.

    >>> round(Odds(3).epsilon, 6)
    1.098612
    """

    kind: ClassVar[str] = "odds"
    place: ClassVar[int] = 1
    alpha: ClassVar[float] = math.inf
    odds_beside: ClassVar[None] = None

    factor: float

    def __post_init__(self) -> None:
        """Refuse what is no guarantee."""
        object.__setattr__(self, "factor", check.odds(self.factor))

    @property
    def divergence(self) -> Divergence:
        """D∞."""
        return MaxDivergence()

    @property
    def budget(self) -> float:
        """The logarithm of the factor, rounded down."""
        return _logarithm_below(self.factor)

    @property
    def epsilon(self) -> float:
        """The same."""
        return self.budget

    def with_epsilon(self, epsilon: float) -> "Odds":
        """See `Part`."""
        return Odds(math.exp(epsilon))

    def bound_on(self, divergence: Divergence) -> float:
        """No Rényi divergence is larger than D∞, which is the logarithm itself at most.

        Any two laws within a factor F of one another can be made from two coins with odds of F. Whatever divergence
        falls under processing is largest for the coins.

        Args:
            divergence: any of them.

        Returns:
            ln F for a Rényi divergence, and (F − e^ε)/(1 + F) for a hockey stick, rounded up.
        """
        return _from_log_odds(math.nextafter(self.budget, math.inf), divergence)

    def covers(self, wanted: Part) -> bool:
        """Of two factors no logarithm is needed."""
        return self.factor <= wanted.factor if isinstance(wanted, Odds) else super().covers(wanted)

    def best_guess(self) -> float:
        """F/(1 + F).

        With odds of 1:1 before, they are F:1 at most after any published value.
        """
        share = Fraction(self.factor) / (1 + Fraction(self.factor))
        found = share.numerator / share.denominator
        return found if Fraction(found) >= share else math.nextafter(found, 1.0)

    def odds_factor(self, chance: float) -> float:
        """The factor, whatever the chance."""
        return self.factor

    @property
    def most_odds(self) -> float:
        """The factor."""
        return self.factor

    @property
    def bound(self) -> str:
        """See `Guarantee`."""
        return f"with {self}"

    def __str__(self) -> str:
        """The guarantee in a few words."""
        return f"odds within a factor of {self.factor:g}"


@dataclass(frozen=True)
class Approximate(Part):
    """(ε, δ): no event is more than e^ε times as likely under one secret of a pair as under the other, plus δ.

    The hockey-stick divergence of e^ε is δ at most, both ways. Once in 1/δ published values anything may be told.

    Args:
        epsilon: the budget, above 0, in natural logarithms.
        delta: the share of cases, between 0 and 1, in which more may be told: far below one in the number of people.

    Raises:
        InputError: for what is no budget or no share.

    >>> Odds(3).implies(Approximate(1.1, 1e-9)), Approximate(1, 1e-9).implies(Odds(1e9))
    (True, False)
    """

    kind: ClassVar[str] = "approximate"
    place: ClassVar[int] = 2

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Refuse what is no guarantee."""
        number = check.real("epsilon", self.epsilon, "a finite number, 0 or more")
        if number < 0:
            raise InputError(f"epsilon must be a finite number, 0 or more, got {self.epsilon!r}")
        object.__setattr__(self, "epsilon", number)
        object.__setattr__(self, "delta", _share("delta", self.delta, ": with no share left out ask for odds"))

    @property
    def divergence(self) -> Divergence:
        """The hockey stick of e^ε."""
        return HockeyStick(self.epsilon)

    @property
    def budget(self) -> float:
        """δ."""
        return self.delta

    def with_epsilon(self, epsilon: float) -> "Approximate":
        """See `Part`."""
        return Approximate(epsilon, self.delta)

    def bound_on(self, divergence: Divergence) -> float:
        """Of another hockey stick: δ where it asks for less, 1 − (1−δ)(1+e^ε')/(1+e^ε) where it asks for more.

        Beyond ε nothing better than δ follows. Below it, any (ε, δ) pair of laws can be made from one that reveals the
        secret with probability δ and otherwise tosses coins with odds of e^ε (P. Kairouz, S. Oh and P. Viswanath, "The
        Composition Theorem for Differential Privacy", 2015).
        """
        if not isinstance(divergence, HockeyStick):
            return math.inf
        if divergence.epsilon >= self.epsilon:
            return self.delta
        if divergence.epsilon < 0 or self.epsilon > _LARGEST:
            return 1.0
        with localcontext(_DIGITS):
            e, lower = (Decimal(number).exp() for number in (self.epsilon, divergence.epsilon))
            return min(1.0, _above(1 - (1 - Decimal(self.delta)) * (1 + lower) / (1 + e) + _HAIR))

    def best_guess(self) -> float:
        """(e^ε + δ)/(1 + e^ε): what is told with probability δ is known, and the rest are odds of e^ε."""
        if self.epsilon > _LARGEST:
            return 1.0
        with localcontext(_DIGITS):
            e = Decimal(self.epsilon).exp()
            return min(1.0, _above((e + Decimal(self.delta)) / (1 + e) + _HAIR))

    def odds_factor(self, chance: float) -> float:
        """e^ε/(1 − δ/chance): above it lies an event whose probability under the other secret is too small.

        Args:
            chance: of a published value that raises the odds by more.

        Returns:
            The factor, rounded up; infinite for a chance of δ at most, with which the secret itself may be published.
        """
        if chance <= 1.001 * self.delta or self.epsilon >= 700:
            return math.inf
        return math.exp(self.epsilon) / (1 - self.delta / chance) * (1 + 1e-12)

    def __str__(self) -> str:
        """The guarantee in a few words."""
        return f"(ε, δ) = ({self.epsilon:g}, {self.delta:g})"


@dataclass(frozen=True)
class ApproximateRenyi(Part):
    """A weaker guarantee: (α, ε) holds but for a share `delta` of the cases, about which nothing is said."""

    kind: ClassVar[str] = "approximate-renyi"
    place: ClassVar[int] = 3
    odds_beside: ClassVar[None] = None

    alpha: float
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Refuse what is no guarantee."""
        object.__setattr__(self, "alpha", check.order(self.alpha))
        object.__setattr__(self, "epsilon", check.budget(self.epsilon))
        object.__setattr__(self, "delta", _share("delta", self.delta))

    @property
    def divergence(self) -> Divergence:
        """D_α of what is left of the laws."""
        return PartialRenyi(self.alpha, self.delta)

    @property
    def budget(self) -> float:
        """ε."""
        return self.epsilon

    @property
    def is_provable(self) -> bool:
        """Which share is left out nobody says."""
        return False

    def with_epsilon(self, epsilon: float) -> "ApproximateRenyi":
        """See `Part`."""
        return ApproximateRenyi(self.alpha, epsilon, self.delta)

    def bound_on(self, divergence: Divergence) -> float:
        """Of lower orders and larger shares alone."""
        weaker = isinstance(divergence, PartialRenyi) and divergence.alpha <= self.alpha
        return self.epsilon if weaker and self.delta <= getattr(divergence, "delta", 0.0) else math.inf

    def best_guess(self) -> float:
        """Nothing is known of it."""
        return 1.0

    def odds_factor(self, chance: float) -> float:
        """Nothing is known of it."""
        return math.inf

    def __str__(self) -> str:
        """The guarantee in a few words."""
        return f"(α, ε, δ) = ({self.alpha:g}, {self.epsilon:g}, {self.delta:g})"


_OURS: dict[str, type[Part]] = {part.kind: part for part in (Renyi, Odds, Approximate, ApproximateRenyi)}


def guarantee_from_state(value: object) -> Guarantee:
    """What `to_state` wrote, validated again.

    Args:
        value: the object from a file.

    Returns:
        The guarantee, equal to what was written.

    Raises:
        InputError: for an unknown kind, a missing, unknown or wrong number, and parts that are not joined as `&` joins
            them.

    >>> guarantee_from_state({"kind": "odds", "factor": 3})
    Odds(factor=3.0)
    """
    if not isinstance(value, dict):
        raise InputError("a guarantee must be an object")
    content = dict(value)
    kind = content.pop("kind", None)
    if kind == "all":
        return _conjunction(content)
    part = _part_of(kind)
    names = [field.name for field in fields(part)]  # type: ignore[arg-type]
    if sorted(content, key=str) != sorted(names):
        raise InputError(f"a guarantee of the kind {kind!r} must have {', '.join(names)} and nothing else")
    return part(*(_number(content[name], name) for name in names))


def _conjunction(content: dict[str, object]) -> Guarantee:
    listed = content.get("of")
    if list(content) != ["of"] or not isinstance(listed, list) or not 2 <= len(listed) <= len(_OURS) + 12:
        raise InputError("a guarantee of the kind 'all' must have a list of its parts and nothing else")
    parts = [guarantee_from_state(one) for one in listed]
    found = parts[0]
    for part in parts[1:]:
        found = found & part
    if [*found.parts] != parts:
        raise InputError(
            "the parts of a guarantee must be about different divergences, in the order they are written in"
        )
    return found


def _number(value: object, name: str) -> float:
    if value is None and name == "alpha":
        return math.inf
    return check.real(f"guarantee.{name}", value, "a finite number")


_OFFERED: dict[str, type[Part]] = {}


def offer_guarantee(part: type[Part]) -> None:
    """Make a guarantee known by its kind, in this process: the entry-point group does so in all.

    Ledgers and files need it, which write a guarantee down and read it again.

    Args:
        part: a class with the members of `Part`.

    Raises:
        InputError: there is such a kind already.
    """
    if part.kind in _OURS | _installed() | _OFFERED:
        raise InputError(f"there is a guarantee of the kind {part.kind!r} already: give yours a name of its own")
    _OFFERED[part.kind] = part


@lru_cache
def _installed() -> dict[str, type[Part]]:
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}


def _part_of(kind: object) -> type[Part]:
    known = _OURS if isinstance(kind, str) and kind in _OURS else _OURS | _installed() | _OFFERED
    if not isinstance(kind, str) or kind not in known:
        raise InputError(f"there is no guarantee of the kind {kind!r}; there are {', '.join(map(repr, known))}")
    part = known[kind]
    if part.kind != kind:
        raise InputError(f"the entry point {kind!r} of {GROUP!r} must have the name of its guarantee's kind")
    return part


def asked_for(
    *, alpha: object = None, epsilon: object = None, odds: object = None, delta: object = None, of_noise: bool = False
) -> Guarantee:
    """The guarantee that the short forms name together.

    `of_noise` where it is to be kept by noise on vectors, which bounds no odds: nobody is sent to ask for those.

    Args:
        alpha: the Rényi order, above 1 or infinite.
        epsilon: the budget, with `alpha` or with `delta`.
        odds: the factor that the odds of a pair may change by.
        delta: of an (ε, δ) guarantee.
        of_noise: whether the channel will be noise on vectors.

    Returns:
        The guarantee; with `odds` beside another one both joined.

    Raises:
        InputError: where one of two numbers is missing, or two guarantees are mixed up.

    >>> asked_for(alpha=3, epsilon=1, odds=5)
    Renyi(alpha=3.0, epsilon=1.0) & Odds(factor=5.0)
    """
    beside = Odds(odds) if odds is not None else None  # type: ignore[arg-type]
    if delta is not None:
        if alpha is not None:
            raise InputError("alpha and delta are of two guarantees: leave one out, or join them with &")
        if epsilon is None:
            raise InputError("epsilon is missing: (ε, δ) has both, and delta was given")
        asked: Guarantee = Approximate(epsilon, delta)  # type: ignore[arg-type]
        return asked if beside is None else asked & beside
    if alpha is None and epsilon is None:
        if beside is None:
            other = "best_guess or error" if of_noise else "odds"
            raise InputError(f"the guarantee is missing: give alpha and epsilon, or {other}")
        return beside
    if alpha is None or epsilon is None:
        missing, given = ("alpha", "epsilon") if alpha is None else ("epsilon", "alpha")
        other = "" if of_noise else "; or give odds alone"
        raise InputError(f"{missing} is missing: a guarantee has both, and {given} was given{other}")
    made = Renyi(alpha, epsilon)  # type: ignore[arg-type]
    if beside is not None and math.isinf(made.alpha):
        raise InputError("at alpha = inf the guarantee is about the odds already: leave odds out")
    return made if beside is None else made & beside


def guarantee_asked(
    guarantee: object = None,
    *,
    alpha: object = None,
    epsilon: object = None,
    odds: object = None,
    delta: object = None,
    of_noise: bool = False,
) -> Guarantee:
    """The guarantee itself, or what the short forms name; both together are refused by name.

    Args:
        guarantee: such as `Renyi(3, 1)`, or None.
        alpha: see `asked_for`, as all others.
        epsilon: the budget.
        odds: the factor.
        delta: of (ε, δ).
        of_noise: whether the channel will be noise on vectors.

    Returns:
        The one guarantee that is meant.

    Raises:
        InputError: where nothing is asked for, or the same thing twice.
    """
    short = {"alpha": alpha, "epsilon": epsilon, "odds": odds, "delta": delta}
    if guarantee is None:
        return asked_for(alpha=alpha, epsilon=epsilon, odds=odds, delta=delta, of_noise=of_noise)
    if not isinstance(guarantee, Guarantee):
        raise InputError(
            f"guarantee must be Renyi(alpha, epsilon), Odds(factor) or Approximate(epsilon, delta), or several joined "
            f"with &; got {type(guarantee).__name__}"
        )
    if beside := [name for name, value in short.items() if value is not None]:
        raise InputError(f"the guarantee is given, and {' and '.join(beside)} as well: leave one out, or join with &")
    return guarantee


# What a guarantee allows an adversary, and the guarantee that allows no more (proofs/odds.md).

_UNLUCKY = 0.05  # the chance that any of all values is unlucky, behind the advice on alpha
_FIRST_ORDER = 3.0  # what is advised for one value


def best_guess(
    guarantee: Guarantee | None = None,
    *,
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
) -> float:
    """The largest chance with which anybody guesses right, from one published value, that a guarantee allows.

    The guess is between two secrets of a pair that were equally likely before: 0.5 is a random guess. What it really
    is with given data is usually less; a report says it. Rounded up to the next float.

    Args:
        guarantee: such as `Odds(3)`; or one of the short forms of `calibrate`.
        odds: the factor that odds change by at most.
        alpha: the Rényi order.
        epsilon: the budget, with `alpha` or `delta`.
        delta: of (ε, δ).

    Returns:
        A probability between 0.5 and 1.

    Raises:
        InputError: where nothing is asked for, or the same thing twice.

    >>> best_guess(odds=3)
    0.75
    >>> round(best_guess(alpha=3, epsilon=1), 4)
    0.7572
    >>> round(best_guess(Approximate(1, 1e-5)), 4)
    0.7311
    """
    return guarantee_asked(guarantee, alpha=alpha, epsilon=epsilon, odds=odds, delta=delta).best_guess()


def promise_of_guess(guess: float, *, alpha: float | None = None) -> Renyi:
    """The weakest guarantee under which no guess between two equally likely secrets is right more often than this.

    About odds by default, otherwise (α, ε) of the order given.

    Args:
        guess: the probability of a right guess that is allowed, above 0.5 and below 1.
        alpha: the order; infinite where left out.

    Returns:
        The guarantee with the largest budget, rounded down, whose `best_guess` is `guess` at most.

    Raises:
        InputError: for a probability that is out of range, or so close to ½ that no budget is known to keep it.

    >>> round(promise_of_guess(0.75).most_odds, 9)
    3.0
    >>> round(promise_of_guess(0.7572, alpha=3).epsilon, 3)
    1.0
    """
    accepted = "a number between 0.5, which is a random guess, and 1"
    chance = check.real("best_guess", guess, accepted)
    if not 0.5 < chance < 1.0:
        raise InputError(f"best_guess must be {accepted}, got {guess!r}")
    order = math.inf if alpha is None or alpha == math.inf else check.order(alpha)
    epsilon = _budget_of_guess(chance, order)
    if epsilon <= 0:
        raise InputError(f"best_guess = {guess!r} is too close to a random guess: no budget is known to allow no more")
    return Renyi(order, epsilon)


def odds_factor(*, alpha: float, epsilon: float, chance: float) -> float:
    """The factor that the odds of the true secret rise beyond with this chance at most, over what is published.

    For a guarantee about odds, alpha = math.inf, it is that factor whatever the chance.

    Args:
        alpha: the order of the guarantee.
        epsilon: its budget.
        chance: how often the odds may rise by more, over the noise.

    Returns:
        A factor, rounded up.

    Raises:
        InputError: for a chance that is not above 0, or above 1.

    >>> round(odds_factor(alpha=3, epsilon=1, chance=0.05), 2)
    12.16
    """
    promise = Renyi(alpha, epsilon)
    rare = check.real("chance", chance, "a number above 0, and 1 at most")
    if not 0 < rare <= 1:
        raise InputError(f"chance must be a number above 0, and 1 at most, got {chance!r}")
    return promise.odds_factor(rare)


def recommended_alpha(values: int) -> int:
    """The order to start from where so many values go out with Gaussian noise: 3 for one, 8 for a thousand.

    At it the odds of nobody's true secret rise by more than 4.5·e^ε, but for a chance of one in twenty over all the
    values together. A guarantee about odds needs no such choice.

    Args:
        values: how many values are published, over all releases together.

    Returns:
        A whole order, 3 or more.

    Raises:
        InputError: for what is no whole number, 1 or more.

    >>> [recommended_alpha(n) for n in (1, 20, 1_000, 50_000)]
    [3, 5, 8, 11]
    """
    count = check.integer("values", values, least=1)
    # Each of n values is unlucky with a chance of 0.05/n. Then (n/0.05)^(1/(α−1)) is the factor beyond e^ε, and for
    # one value at α = 3 it is √20 = 4.47: the order that keeps it there for n.
    share = math.log(count) / math.log(1 / _UNLUCKY)
    return math.ceil(_FIRST_ORDER + (_FIRST_ORDER - 1) * share - 1e-9)


# Figures that the parts share, in seventy digits.


@lru_cache(maxsize=256)
def _guess_of_order(alpha: float, epsilon: float) -> float:
    low, high = _STEPS // 2, _STEPS  # at ½ nothing may be told, at 1 everything may
    while high - low > 1:
        middle = (low + high) // 2
        enough = _budget_of_guess(middle / _STEPS, alpha) >= epsilon
        low, high = (low, middle) if enough else (middle, high)
    return high / _STEPS


def _budget_of_guess(guess: float, alpha: float) -> float:
    """The ε at which the best guess that (α, ε) allows is `guess`, from below.

    With r = x/(1−x) the equation of claim 4 (proofs/odds.md) reads e^((α−1)ε) = x·r^(α−1) + (1−x)·r^(1−α). Written as
    a sum of ln r and a rest over α − 1, it neither overflows at high orders nor loses its digits near ½.
    """
    with localcontext(_DIGITS):
        x = Decimal(guess)
        ratio = (x / (1 - x)).ln()
        if math.isinf(alpha):
            return _below(ratio - _HAIR)
        above = Decimal(alpha) - 1
        rest = (x + (1 - x) * (-2 * above * ratio).exp()).ln()
        found = ratio + rest / above
        return _below(found - _HAIR * (1 + abs(found)))


def _from_log_odds(epsilon: float, divergence: Divergence) -> float:
    """What follows from odds within e^ε: the largest over all pairs of laws is reached by two coins."""
    if isinstance(divergence, RenyiDivergence | MaxDivergence):
        return epsilon
    if not isinstance(divergence, HockeyStick):
        return math.inf
    if divergence.epsilon >= epsilon:
        return 0.0
    if divergence.epsilon < 0 or epsilon > _LARGEST:
        return 1.0
    with localcontext(_DIGITS):
        e, lower = (Decimal(number).exp() for number in (epsilon, divergence.epsilon))
        return min(1.0, _above((e - lower) / (1 + e) + _HAIR))


def _delta_by_order(alpha: float, bound: float, epsilon: float) -> float:
    """δ ≤ e^((α−1)(D − ε))·(1 − 1/α)^α/(α − 1): the least that follows from D_α ≤ D alone, by this order."""
    with localcontext(_DIGITS):
        a = Decimal(alpha)
        logarithm = (a - 1) * (Decimal(bound) - Decimal(epsilon)) - (a - 1).ln() + a * (1 - 1 / a).ln()
        if logarithm >= 0:
            return 1.0
        return max(_above((logarithm + _HAIR * (1 + a)).exp()), 5e-324)


def _share(name: str, value: object, because: str = "") -> float:
    number = check.real(name, value, "a number between 0 and 1")
    if not 0 < number < 1:
        raise InputError(f"{name} must be a number between 0 and 1, got {value!r}{because if number == 0 else ''}")
    return number


def _factor_below(part: Part) -> float:
    """The factor of odds that a part bounds, never more than it guarantees."""
    if isinstance(part, Odds):
        return part.factor
    with localcontext(_DIGITS):
        return _below(Decimal(part.budget).exp())


def _above(number: Decimal) -> float:
    found = float(number)
    return found if Decimal(found) >= number else math.nextafter(found, math.inf)


def _below(number: Decimal) -> float:
    found = float(number)
    return found if Decimal(found) <= number else math.nextafter(found, -math.inf)


@lru_cache(maxsize=256)
def _logarithm_below(factor: float) -> float:
    """The largest float whose exponential is `factor` at most, for a factor above one.

    Fifty digits decide it: e to a rational power is irrational, and a double and its neighbour differ in the 17th.
    """
    digits = Context(prec=50)
    found = math.nextafter(math.log(factor), math.inf)
    while digits.exp(Decimal(found)) > Decimal(factor):
        found = math.nextafter(found, 0.0)
    return found
