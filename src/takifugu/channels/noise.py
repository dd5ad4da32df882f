"""Noise on numbers: what every family of one size has in common, and the families by name."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from takifugu._validation import Array
from takifugu.channels.rounded_draws import Shape, rounded
from takifugu.channels.sampling import BitSource
from takifugu.divergences import Decision, Effort
from takifugu.errors import InputError
from takifugu.laws import Mixture

WHOLE = 2**128  # shares of a budget are counted in 2^-128 of it, rounded up


@dataclass(frozen=True)
class AfterNoise:
    """The law of a number after noise, where it is none of the kinds that answers have."""

    law: Mixture
    noise: "Noise"

    def pdf(self, at: Array) -> Array:
        """Its density."""
        return self.noise.density(self.law, at)


class Noise(ABC):
    """Independent, symmetric noise of one size, added to a number: a channel.

    More noise of one family is what less noise becomes when more is added to it, so that it never tells more; a family
    for which that is false does not belong here (proofs/monotonicity.md, proofs/laplace.md). A new family is a class
    with these members, in a file of its own, named in the entry-point group `takifugu.noises` or in `families`.
    """

    kind: ClassVar[str]
    """Its name in files and messages."""
    parameter: ClassVar[str]
    """What its size is called."""
    symbol: ClassVar[str]
    """The letter of its size."""
    size_is: ClassVar[str]
    """What its size is, in words."""
    shape: ClassVar[Shape]
    """The law of noise of size 1, for exact draws."""
    bounds_odds: ClassVar[bool]
    """Whether odds are bounded by some size of it."""

    @property
    @abstractmethod
    def size(self) -> float:
        """How much of it is added; 0 publishes a number as it is."""

    @classmethod
    @abstractmethod
    def of_size(cls, size: float) -> Self:
        """The noise of a size."""

    @property
    @abstractmethod
    def std(self) -> float:
        """Its standard deviation."""

    @property
    def variance(self) -> float:
        """The mean square error that it costs a published value."""
        return self.std * self.std

    def apply(self, law: Mixture) -> Any:
        """The law of value plus noise."""
        return AfterNoise(law, self)

    @abstractmethod
    def loss(self, p: Mixture, q: Mixture, *, alpha: float) -> float:
        """D_α between what is published for p and for q, in floats."""

    @abstractmethod
    def decide(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, effort: Effort | None = None) -> Decision:
        """Whether that is `epsilon` at most, proved either way."""

    @abstractmethod
    def density(self, law: Mixture, at: Array) -> Array:
        """The density of what is published for a law."""

    @abstractmethod
    def below(self, gaps: Array) -> Array:
        """The probability that the noise is at most each of these."""

    @abstractmethod
    def beyond(self, last: float, before: float, gap: float) -> float:
        """How many rows should at least lie beyond the last of equally spaced values, of these numbers of rows each."""

    @abstractmethod
    def exceeds(self, p: Mixture, q: Mixture, *, epsilon: float) -> float:
        """∫ (p − e^ε q)₊ after the noise, in floats."""

    @staticmethod
    @abstractmethod
    def precision(size: float) -> tuple[int, int]:
        """What several releases add up, as an exact fraction: 1/θ² of Gaussian noise, 1/b of Laplace noise."""

    def describe(self) -> str:
        """In a few words."""
        return f"{self.name} noise of {self.size_is} {self.symbol} = {self.size:.6g}"

    @property
    def name(self) -> str:
        """The family, for a sentence."""
        return self.kind.capitalize()

    def draw(self, values: Any, *, granularity: float | None = None, source: BitSource | None = None) -> Array:
        """Exact roundings of value plus noise, from the system's random bits."""
        return rounded(values, self.shape, theta=self.size, granularity=granularity, source=source)

    def to_state(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {"kind": self.kind, self.parameter: self.size}

    @classmethod
    def share(cls, size: float, *, budget: float) -> int:
        """The part of a budget of noise `budget` that a release of noise `size` takes, rounded up."""
        if budget == 0:
            return 0  # nothing needs hiding: the answer itself may be published
        if size == 0:
            raise InputError(f"{cls.parameter} is 0: an answer without noise takes more than any budget holds")
        (up, down), (own_up, own_down) = cls.precision(budget), cls.precision(size)
        return -(-own_up * down * WHOLE // (own_down * up))

    @classmethod
    def _root(cls, share: float) -> float:
        """The size, over that of the budget, whose share is about this one."""
        up, down = cls.precision(2.0)
        power = -math.log2(up / down)  # 2 where squares add up, 1 where the sizes' inverses do
        return float(share ** (-1.0 / power))

    @classmethod
    def least(cls, left: int, *, budget: float) -> float:
        """The least size whose share fits into what is left; infinite where nothing is."""
        if budget == 0:
            return 0.0
        if left <= 0:
            return math.inf
        size = budget * cls._root(left / WHOLE)
        while not math.isinf(size) and cls.share(size, budget=budget) > left:
            size = math.nextafter(size, math.inf)
        while cls.share(below := math.nextafter(size, 0.0), budget=budget) <= left:
            size = below
        return size

    @classmethod
    def effective(cls, spent: int, *, budget: float) -> float:
        """The size of the one release that would tell as much, rounded down; infinite before the first."""
        if budget == 0:
            return 0.0
        if spent <= 0:
            return math.inf
        size = budget * cls._root(spent / WHOLE)
        while not math.isinf(size) and cls.share(size, budget=budget) < spent:
            size = math.nextafter(size, 0.0)
        return size
