"""What is promised: how little the published value may tell about any pair of secrets."""

import math
import sys
from dataclasses import dataclass
from typing import Any

from takifugu import _validation as check
from takifugu.errors import InputError

_LARGEST = math.log(sys.float_info.max)  # e to a little more is beyond floats


@dataclass(frozen=True)
class Renyi:
    """(α, ε)-Rényi Pufferfish Privacy: D_α between the published laws of any pair is ε at most, both ways.

    At α = ∞ it bounds the odds: no published value makes one secret of a pair more than e^ε times as likely, against
    the other, as it was before. `odds` is that promise made beside an (α, ε) of finite order.
    """

    alpha: float
    epsilon: float
    odds: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no promise."""
        number = check.real("epsilon", self.epsilon, "a finite number above 0")
        if number <= 0:
            raise InputError(f"epsilon must be a finite number above 0, got {self.epsilon!r}")
        object.__setattr__(self, "epsilon", number)
        object.__setattr__(self, "alpha", math.inf if self.alpha == math.inf else check.order(self.alpha))
        if self.odds is not None:
            if math.isinf(self.alpha):
                raise InputError("at alpha = inf the promise is about the odds already: leave odds out")
            object.__setattr__(self, "odds", check.odds(self.odds))

    @classmethod
    def from_odds(cls, odds: float) -> "Renyi":
        """The promise that no published value changes the odds of a pair by more than this factor.

        ε is its logarithm, rounded down: the nearest float to ln 3 lies above it, and would promise a little less.

        >>> round(Renyi.from_odds(3).epsilon, 6)
        1.098612
        """
        return cls(math.inf, _logarithm_below(check.odds(odds)))

    @property
    def most_odds(self) -> float | None:
        """The factor that the odds of a pair never exceed; None where the promise says nothing about it.

        Infinite where it is beyond the largest float.
        """
        if math.isfinite(self.alpha):
            return self.odds
        return math.exp(self.epsilon) if self.epsilon <= _LARGEST else math.inf

    def implies(self, other: "Renyi") -> bool:
        """Whether whoever keeps this keeps the other: D_α never falls as α grows, and odds are bounded by odds alone.

        >>> asked = Renyi(3, 1.1)
        >>> Renyi(4, 1.1).implies(asked), Renyi.from_odds(3).implies(asked), Renyi(2, 1.1).implies(asked)
        (True, True, False)
        """
        return self._bounds_odds_of(other) and self.alpha >= other.alpha and self.epsilon <= other.epsilon

    def _bounds_odds_of(self, other: "Renyi") -> bool:
        """Whether the other's odds are kept; e^ε is no float, so ε is compared with the logarithm, rounded down."""
        if other.odds is None:
            return math.isinf(self.alpha) or not math.isinf(other.alpha)
        if math.isinf(self.alpha):
            return self.epsilon <= _logarithm_below(other.odds)
        return self.odds is not None and self.odds <= other.odds

    @property
    def bound(self) -> str:
        """The promise as the end of a sentence: a secret is hidden …"""
        return f"{'with' if math.isinf(self.alpha) else 'within'} {self}"

    def __str__(self) -> str:
        """The promise in a few words."""
        if math.isinf(self.alpha):
            factor = f"{self.most_odds:g}" if self.epsilon <= _LARGEST else f"e^{self.epsilon:g}"
            return f"odds within a factor of {factor}"
        beside = "" if self.odds is None else f" and odds within a factor of {self.odds:g}"
        return f"(α, ε) = ({self.alpha:g}, {self.epsilon:g}){beside}"


def _logarithm_below(factor: float) -> float:
    """The largest float whose exponential is `factor` at most, for a factor above one.

    Fifty digits decide it: e to a rational power is irrational, and a double and its neighbour differ in the 17th.
    """
    from decimal import Context, Decimal

    digits = Context(prec=50)
    found = math.nextafter(math.log(factor), math.inf)
    while digits.exp(Decimal(found)) > Decimal(factor):
        found = math.nextafter(found, 0.0)
    return found


@dataclass(frozen=True)
class Approximate:
    """A weaker promise: (α, ε) holds but for a share `delta` of the cases, about which nothing is said."""

    alpha: float
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Refuse what is no promise."""
        object.__setattr__(self, "alpha", check.order(self.alpha))
        object.__setattr__(self, "epsilon", check.budget(self.epsilon))
        number = check.real("delta", self.delta, "a number between 0 and 1")
        if not 0 < number < 1:
            raise InputError(f"delta must be a number between 0 and 1, got {self.delta!r}")
        object.__setattr__(self, "delta", number)

    @property
    def bound(self) -> str:
        """The promise as the end of a sentence: a secret is hidden …"""
        return f"within {self}"

    def __str__(self) -> str:
        """The promise in a few words."""
        return f"(α, ε, δ) = ({self.alpha:g}, {self.epsilon:g}, {self.delta:g})"


Guarantee = Renyi | Approximate


def asked_for(*, alpha: Any, epsilon: Any, odds: Any, of_noise: bool = False) -> Renyi:
    """The promise that the three arguments of `calibrate` name together.

    `of_noise` where it is to be kept by noise on vectors, which bounds no odds: nobody is sent to ask for those.
    """
    if alpha is None and epsilon is None:
        if odds is None:
            beside = "best_guess or error" if of_noise else "odds"
            raise InputError(f"the promise is missing: give alpha and epsilon, or {beside}")
        return Renyi.from_odds(odds)
    if alpha is None or epsilon is None:
        missing, given = ("alpha", "epsilon") if alpha is None else ("epsilon", "alpha")
        beside = "" if of_noise else "; or give odds alone"
        raise InputError(f"{missing} is missing: a promise has both, and {given} was given{beside}")
    return Renyi(alpha, epsilon, odds)
