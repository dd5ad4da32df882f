"""Noise on numbers: what every family of one size has in common."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array
from takifugu.channels.protocol import Channel, Publishes
from takifugu.channels.rounded_draws import Grid, Shape, default_granularity, rounded
from takifugu.channels.sampling import BitSource
from takifugu.divergences import (
    Decision,
    Density,
    Effort,
    decide,
    decide_hockey_stick,
    decide_odds_of_points,
    divergence,
    hockey_stick_after,
    known,
    max_divergence,
    register,
    required,
)
from takifugu.errors import CompositionError, InputError
from takifugu.laws import Law, Mixture, VectorMixture
from takifugu.problems import Divergence, HockeyStick, MaxDivergence, RenyiDivergence

_BARE = ("bare",)  # where divergences of laws are registered that no noise was added to
WHOLE = 2**128  # shares of a budget are counted in 2^-128 of it, rounded up


@dataclass(frozen=True)
class AfterNoise:
    """The law of a number after noise, where it is none of the kinds that answers have."""

    law: Mixture
    noise: "Noise"

    def pdf(self, at: Array) -> Array:
        """Its density."""
        return self.noise.density(self.law, at)


class Noise(Channel):
    """Independent, symmetric noise of one size, added to a number: a channel.

    More noise of one family is what less noise becomes when more is added to it, so that it never tells more; a family
    for which that is false does not belong here (proofs/monotonicity.md, proofs/laplace.md). A new family is a class
    with these members, in a file of its own, named in the entry-point group `takifugu.noises` or in `protocol`.
    """

    publishes: ClassVar[Publishes] = "number"
    laws: ClassVar[type] = Mixture
    weaker: ClassVar[str] = "half the noise"

    parameter: ClassVar[str]
    """What its size is called."""
    symbol: ClassVar[str]
    """The letter of its size."""
    size_is: ClassVar[str]
    """What its size is, in words."""
    shape: ClassVar[Shape]
    """The law of noise of size 1, for exact draws."""

    @property
    @abstractmethod
    def excess_kurtosis(self) -> float:
        """Its fourth moment over the squared second, less 3: how far the spread of a few draws may be off."""

    @property
    @abstractmethod
    def size(self) -> float:
        """How much of it is added; 0 publishes a number as it is."""

    def resized(self, size: float) -> Self:
        """The same noise of another size."""
        return type(self)(size)  # type: ignore[call-arg]

    @property
    @abstractmethod
    def std(self) -> float:
        """Its standard deviation."""

    @property
    def variance(self) -> float:
        """The mean square error that it costs a published value."""
        return self.std * self.std

    @property
    def noise_covariance(self) -> Array:
        """See `Channel`: one number, the variance."""
        return np.array([[self.variance]])

    @property
    def axes(self) -> tuple["Noise", ...]:
        """See `Channel`: itself."""
        return (self,)

    @property
    def width(self) -> int:
        """See `Channel`."""
        return 1

    @property
    def is_bare(self) -> bool:
        """See `Channel`: of size 0."""
        return self.size == 0

    def as_noise(self) -> "Noise":
        """See `Channel`."""
        return self

    def at_least(self, other: Channel) -> bool:
        """See `Channel`: more noise of a family is what less noise becomes."""
        return self.kind == other.kind and self.size >= other.as_noise().size

    def apply(self, law: Mixture) -> Mixture | AfterNoise:
        """The law of value plus noise.

        Args:
            law: of the true number, a `Mixture`.

        Returns:
            A mixture where the noise makes one of it, as Gaussian noise does; otherwise the law together with its
            noise, for which divergences are registered.
        """
        self.require_law(law)
        return AfterNoise(law, self)

    def normals_after(self, law: Mixture) -> Mixture | None:
        """The law of value plus noise as a mixture of normals; None where it is none."""
        return None

    def loss(self, p: Law, q: Law, of: Divergence) -> float:
        """See `Channel`; without noise, of the laws themselves, infinite where nothing is known of them."""
        if self.is_bare:
            bare = known(_BARE, type(of))
            return math.inf if bare is None else bare.value(p, q, of, self)
        return super().loss(p, q, of)

    def decide(self, p: Law, q: Law, of: Divergence, budget: float, *, effort: Effort | None = None) -> Decision:
        """See `Channel`."""
        if self.is_bare:
            return required(_BARE, of, "numbers without noise").decide(p, q, of, budget, self, effort)
        return super().decide(p, q, of, budget, effort=effort)

    @abstractmethod
    def smoothed(self, law: Mixture, beside: Mixture) -> Density:
        """The law after the noise, for its privacy curve against another."""

    @abstractmethod
    def density(self, law: Mixture, at: Array) -> Array:
        """The density of what is published for a law."""

    @abstractmethod
    def below(self, gaps: Array) -> Array:
        """The probability that the noise is at most each of these."""

    @abstractmethod
    def beyond(self, last: float, before: float, gap: float) -> float:
        """How many rows should at least lie beyond the last of equally spaced values, of these numbers of rows each."""

    @staticmethod
    def precision(size: float) -> tuple[int, int] | None:
        """What several releases add up, as an exact fraction: 1/θ² of Gaussian noise, 1/b of Laplace noise.

        None, as here, where several releases of one answer are worth no single one: it is published once then.
        """
        return None

    @classmethod
    def _added_up(cls, size: float) -> Fraction:
        found = cls.precision(size)
        if found is None:
            raise CompositionError(f"an answer with {cls.kind} noise is published once: nobody knows what two tell")
        return Fraction(*found)

    def repeated(self, others: Sequence[Channel]) -> Channel:
        """See `Channel`: precisions add up, exactly; the size is rounded down.

        >>> from takifugu.channels import LaplaceNoise
        >>> LaplaceNoise(2.0).repeated([LaplaceNoise(2.0)])
        LaplaceNoise(scale=1.0)
        """
        sizes = [self.size]
        for other in others:
            if other.kind != self.kind:
                raise CompositionError(
                    f"{self.describe()} and {other.describe()} do not add up to one release of either kind"
                )
            sizes.append(other.as_noise().size)
        if len(sizes) == 1 or 0.0 in sizes:
            return self.resized(min(sizes))
        total = sum(map(self._added_up, sizes), Fraction(0))
        root = self._root(float(total / self._added_up(min(sizes))))
        size = min(sizes) * root
        while self._added_up(size) < total:
            size = math.nextafter(size, 0.0)
        while self._added_up(above := math.nextafter(size, math.inf)) >= total:
            size = above
        return self.resized(size)

    def log_likelihood(
        self, law: Mixture, published: Sequence[npt.NDArray[np.float64]], *, weaker: bool = False
    ) -> Array:
        """See `Channel`."""
        (column,) = published
        assumed = self.resized(self.size / 2) if weaker else self
        with np.errstate(divide="ignore"):
            found: Array = np.log(np.maximum(assumed.density(law, column), 1e-300))
        return found

    def describe(self, *, exact: bool = False) -> str:
        """See `Channel`."""
        size = f"{self.size!r}" if exact else f"{self.symbol} = {self.size:.6g}"
        return f"{self.name} noise of {self.size_is} {size}"

    @property
    def name(self) -> str:
        """The family, for a sentence."""
        return self.kind.capitalize()

    def draw(
        self, values: npt.ArrayLike, *, granularity: float | None = None, source: BitSource | None = None
    ) -> Array:
        """Exact roundings of value plus noise, from the system's random bits."""
        return rounded(values, self.shape, theta=self.size, granularity=granularity, source=source)

    def grid(self, granularity: float | None) -> float | None:
        """What published values are rounded to: the power of two that was chosen, or one that suits the size."""
        if granularity is not None:
            return Grid(granularity).granularity
        return default_granularity(self.size) if self.size > 0 else None

    @property
    def is_whole(self) -> bool:
        """Whether whole numbers leave it, whatever they are rounded to afterwards."""
        return False

    def publish(self, values: npt.ArrayLike, source: BitSource | None = None) -> Array:
        """See `Channel`."""
        return self.draw(values, source=source)

    def to_state(self) -> dict[str, object]:
        """See `Channel`."""
        return {"kind": self.kind, self.parameter: self.size}

    @classmethod
    def from_state(cls, state: object) -> Self:
        """See `Channel`."""
        content = form.fields(state, ("kind", cls.parameter), "'channel'")
        return cls(form.number(content[cls.parameter], f"channel.{cls.parameter}", least=0))  # type: ignore[call-arg]

    def public_state(self, *, withhold: bool) -> dict[str, object]:
        """See `Channel`: its size is one number, which is stated beside every release."""
        return self.to_state()

    @classmethod
    def share(cls, size: float, *, budget: float) -> int:
        """The part of a budget of noise `budget` that a release of noise `size` takes, rounded up."""
        if budget == 0:
            return 0  # nothing needs hiding: the answer itself may be published
        if size == 0:
            raise InputError(f"{cls.parameter} is 0: an answer without noise takes more than any budget holds")
        if cls.precision(size) is None:
            return WHOLE if size >= budget else WHOLE + 1  # nothing beside it
        rate, own = cls._added_up(budget), cls._added_up(size)
        return -(-own.numerator * rate.denominator * WHOLE // (own.denominator * rate.numerator))

    @classmethod
    def _root(cls, share: float) -> float:
        """The size, over that of the budget, whose share is about this one."""
        power = math.log2(cls._added_up(1.0) / cls._added_up(2.0))
        return float(share ** (-1.0 / power))

    @classmethod
    def least(cls, left: int, *, budget: float) -> float:
        """The least size whose share fits into what is left; infinite where nothing is."""
        if budget == 0:
            return 0.0
        if left <= 0:
            return math.inf
        if cls.precision(budget) is None:
            return budget if left >= WHOLE else math.inf
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
        if cls.precision(budget) is None:
            return budget if spent <= WHOLE else 0.0
        size = budget * cls._root(spent / WHOLE)
        while not math.isinf(size) and cls.share(size, budget=budget) < spent:
            size = math.nextafter(size, 0.0)
        return size


register(
    "bare",
    RenyiDivergence,
    lambda p, q, of, _: divergence(p, q, alpha=of.alpha, theta=0.0),
    lambda p, q, of, budget, _, effort: decide(p, q, alpha=of.alpha, epsilon=budget, theta=0.0, effort=effort),
)
register(
    "bare",
    MaxDivergence,
    lambda p, q, of, _: max_divergence(p, q),
    lambda p, q, of, budget, _, effort: decide_odds_of_points(p, q, epsilon=budget),
)
register(
    "bare",
    HockeyStick,
    lambda p, q, of, _: hockey_stick_after(p, q, epsilon=of.epsilon),
    lambda p, q, of, budget, _, effort: decide_hockey_stick(p, q, epsilon=of.epsilon, delta=budget, effort=effort),
)

_BLOCK = 1 << 21  # densities of components at a time


def log_density(law: Mixture | VectorMixture, points: Array, noise: Array) -> Array:
    """ln of the density after noise, up to a constant that all laws share; also where it is below every float."""
    simple = law.simplified()
    weights = simple.weights / math.fsum(simple.weights)
    means = simple.means.reshape(len(simple), -1)
    roots = np.linalg.cholesky(simple.component_covariances + noise)
    heights = np.log(weights) - np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    inverses = np.linalg.inv(roots)
    out = np.empty(len(points))
    step = max(1, _BLOCK // (len(weights) * points.shape[1]))
    with np.errstate(over="ignore", under="ignore"):
        for start in range(0, len(points), step):
            gaps = points[start : start + step, None, :] - means
            z = np.einsum("kij,nkj->nki", inverses, gaps)
            logs = heights - 0.5 * np.minimum((z * z).sum(axis=2), 1e300)
            top = logs.max(axis=1)
            out[start : start + step] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return out
