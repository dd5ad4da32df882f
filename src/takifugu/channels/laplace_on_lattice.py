"""Discrete Laplace noise as a channel: for answers on equally spaced points, which published values do not leave.

On such a lattice it bounds the odds at the very scale that Laplace noise does, with less variance, and it is drawn
exactly: no rounding is left to argue about (proofs/discrete-laplace.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import numpy.typing as npt

from takifugu import _validation as check
from takifugu import strict_json as form
from takifugu._validation import Array
from takifugu.channels.laplace import Exponential, LaplaceNoise
from takifugu.channels.noise import Noise
from takifugu.channels.protocol import Channel
from takifugu.channels.rounded_draws import CHUNK, checked, exact_multiple, table_of
from takifugu.channels.sampling import BitSource, OsBits, read_exactly
from takifugu.divergences import (
    Comparison,
    Decision,
    Density,
    DiscreteLaplace,
    Effort,
    Points,
    by_excess,
    by_odds,
    by_order,
    cleared_after_laplace,
    register,
)
from takifugu.errors import CompositionError, InputError
from takifugu.laws import Law, Mixture, exact
from takifugu.problems import HockeyStick, MaxDivergence, RenyiDivergence

if TYPE_CHECKING:
    from flint import arb

_FINEST = 2.0**-40  # of the scale: a finer lattice is none in floats
_SLACK = 2.0**-46  # more than float64 loses after the table, per unit of scale over step
_ON_IT = 1e-9  # of a step: by how much floats may miss a point


@dataclass(frozen=True)
class _Folded(Exponential):
    """The size of discrete Laplace noise before it is rounded: above t with probability e^(−t)/cosh(step/2·scale).

    Rounded to whole steps it is k or more, for k from 1 on, with probability 2r^k/(1 + r), r = e^(−step/scale): what
    lies below half a step, and may be below zero, is rounded to none at all.
    """

    rate: Fraction

    def survival(self, size: "arb") -> "arb":
        """See `Shape`."""
        from flint import arb, fmpq

        half = arb(fmpq(self.rate.numerator, 2 * self.rate.denominator))
        return (-size).exp() / half.cosh()

    def quantile(self, size: int, known: int) -> float:
        """See `Shape`."""
        return super().quantile(size, known) - self.lowered

    @property
    def lowered(self) -> float:
        """By how much less it is than an exponential variable, in floats: ln cosh(step/2·scale)."""
        half = float(self.rate) / 2
        return half + math.log1p(math.exp(-2 * half)) - math.log(2)


@dataclass(frozen=True)
class DiscreteLaplaceNoise(Noise):
    """Adds a whole number z of steps, each as probable as e^(−|z|·step/scale) says, to values on a lattice.

    Args:
        scale: the scale b of the Laplace noise that bounds the same odds.
        step: how far neighbouring points lie apart.
        offset: one of the points. Points are read as decimals: steps of 0.1 are tenths.

    Raises:
        InputError: for what is no scale or no step, and wherever values or laws are not on the lattice.

    >>> noise = DiscreteLaplaceNoise(1.0, step=1)
    >>> round(noise.variance, 6), LaplaceNoise(1.0).variance
    (1.841347, 2.0)
    """

    kind: ClassVar[str] = "discrete-laplace"
    parameter: ClassVar[str] = "scale"
    symbol: ClassVar[str] = "b"
    size_is: ClassVar[str] = "scale"

    scale: float
    step: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no scale, and no lattice."""
        numbers = {name: check.real(name, getattr(self, name), "a finite number") for name in self._names()}
        if numbers["scale"] < 0:
            raise InputError(f"scale must be a finite number, at least 0, got {self.scale!r}")
        if not numbers["step"] > 0:
            raise InputError(f"step must be a finite number above 0, got {self.step!r}")
        if numbers["step"] < numbers["scale"] * _FINEST or 0 < numbers["scale"] < numbers["step"] * _FINEST:
            raise InputError(f"a step of {self.step:g} lies too far from a scale of {self.scale:g}: use LaplaceNoise")
        for name, number in numbers.items():
            object.__setattr__(self, name, number + 0.0)

    @staticmethod
    def _names() -> tuple[str, ...]:
        return ("scale", "step", "offset")

    @property
    def size(self) -> float:
        """The scale b."""
        return self.scale

    def resized(self, size: float) -> Self:
        """See `Noise`: on the same lattice."""
        return replace(self, scale=size)

    @property
    def _rate(self) -> Fraction:
        """−ln r, exactly."""
        return Fraction(self.step) / Fraction(self.scale)

    @property
    def _noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(self._rate)

    @property
    def variance(self) -> float:
        """2r/(1 − r)²·step² = step²/2 sinh²(step/2b): less than 2b², by step²/6 at most."""
        half = self.step / (2.0 * self.scale) if self.scale > 0 else math.inf
        return 0.0 if half > 350.0 else (self.step / math.sinh(half)) ** 2 / 2.0

    @property
    def std(self) -> float:
        """The root of the variance."""
        return math.sqrt(self.variance)

    @property
    def excess_kurtosis(self) -> float:
        """See `Noise`: 3 + (1 − r)²/2r."""
        half = self.step / (2.0 * self.scale) if self.scale > 0 else 0.0
        return 3.0 + 2.0 * math.sinh(min(half, 300.0)) ** 2

    @property
    def name(self) -> str:
        """See `Noise`."""
        return "Discrete Laplace"

    def describe(self, *, exact: bool = False) -> str:
        """See `Channel`."""
        step, offset = (f"{one!r}" if exact else f"{one:.6g}" for one in (self.step, self.offset))
        return f"{super().describe(exact=exact)} on steps of {step}" + (f" from {offset}" if self.offset else "")

    # ---- the lattice

    def places(self, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """How many steps each value lies from the offset; an error for a value that is on no point."""
        x = np.asarray(values, dtype=np.float64)
        distinct, inverse = np.unique(x, return_inverse=True)
        steps = (distinct - self.offset) / self.step
        if not (np.isfinite(steps) & (np.abs(steps) < 2.0**52)).all():
            raise InputError(f"values lie too far from {self.offset:g} for steps of {self.step:g}")
        found = np.rint(steps).astype(np.int64)
        off = self._points(found) != distinct
        if off.any():
            raise InputError(
                f"{int(off[inverse].sum()):,} of {x.size:,} values are not on the points that this noise is for, "
                f"{self.offset:g} and whole steps of {self.step:g} from it: what lies between two points would be read "
                f"from what is published. Round the values first, or calibrate with laws of what they are"
            )
        return found[inverse].reshape(x.shape)

    def _points(self, places: npt.NDArray[np.int64]) -> Array:
        """The floats nearest to the points."""
        if self.step.is_integer() and self.offset.is_integer():
            return places.astype(np.float64) * self.step + self.offset
        step, offset = exact(self.step), exact(self.offset)
        distinct, inverse = np.unique(places, return_inverse=True)
        found = np.array([float(offset + k * step) for k in distinct.tolist()], dtype=np.float64)
        return found[inverse].reshape(places.shape)

    def require_law(self, law: Law) -> None:
        """See `Channel`: points alone, and all on the lattice."""
        super().require_law(law)
        self._counted(law)

    def _counted(self, law: Mixture) -> Mixture:
        """The law in steps from the offset."""
        if law.stds.any():
            raise InputError(
                f"through {self.describe()} goes a law on points, and this one has normals: use LaplaceNoise"
            )
        return Mixture(law.weights, self.places(law.means), law.stds)

    # ---- what becomes of a law

    def compared(self, p: Mixture, q: Mixture, how: Comparison) -> float:
        """How far apart two laws are after the noise, in floats."""
        return self._noise.loss(self._counted(p), self._counted(q), how)

    def settled(self, p: Mixture, q: Mixture, how: Comparison, budget: float, effort: Effort | None) -> Decision:
        """Whether that is within a budget, proved."""
        return self._noise.decide(self._counted(p), self._counted(q), how, budget, effort)

    def bounds(self, laws: Sequence[Mixture], how: Comparison) -> tuple[Array, Array]:
        """Of each law against each other one a value that is reached and a bound."""
        return self._noise.screened([self._counted(law) for law in laws], how)

    def cleared_by_odds(self, laws: Sequence[Mixture], budget: float, effort: Effort | None) -> npt.NDArray[np.bool_]:
        """Of which pairs it is proved, all at once, that their odds are within a budget.

        At points the odds are those of Laplace noise of this scale, and less noise never tells less.
        """
        scale = math.nextafter(float(1 / self._rate), 0.0)
        return cleared_after_laplace([self._counted(law) for law in laws], scale=scale, epsilon=budget, effort=effort)

    def smoothed(self, law: Mixture, beside: Mixture) -> Density:
        """See `Noise`: with what lies beyond all points of both laws at their ends."""
        here, other = self._counted(law), self._counted(beside)
        masses = self._noise.points(here, other)
        points = self._points(np.array([*masses], dtype=np.int64))
        return Points(dict(zip(points.tolist(), masses.values(), strict=True)))

    def density(self, law: Mixture, at: Array) -> Array:
        """See `Noise`: the probability of the nearest point, over the step."""
        counted = self._counted(law)
        r = math.exp(-float(self._rate)) if self.scale > 0 else 0.0
        weights = counted.weights / math.fsum(counted.weights)
        y = np.rint((np.asarray(at, dtype=np.float64) - self.offset) / self.step)
        distinct, inverse = np.unique(y, return_inverse=True)
        found = np.zeros(len(distinct))
        for place, weight in zip(counted.means.tolist(), weights.tolist(), strict=True):
            found += weight * np.power(r, np.abs(distinct - place))
        spread: Array = (found * ((1.0 - r) / (1.0 + r)) / self.step)[inverse].reshape(y.shape)
        return spread

    def below(self, gaps: Array) -> Array:
        """See `Noise`."""
        steps = np.floor(np.asarray(gaps, dtype=np.float64) / self.step + _ON_IT)
        if self.scale == 0:
            return (steps >= 0).astype(float)
        u = float(self._rate)
        tail = np.exp(-u * np.abs(np.where(steps < 0, steps, steps + 1.0))) / (1.0 + math.exp(-u))
        found: Array = np.where(steps < 0, tail, 1.0 - tail)
        return found

    def beyond(self, last: float, before: float, gap: float) -> float:
        """See `Noise`: as after Laplace noise."""
        return LaplaceNoise(self.scale).beyond(last, before, gap)

    # ---- several releases

    @staticmethod
    def precision(size: float) -> tuple[int, int]:
        """1/b, as of Laplace noise: several releases can be drawn from one (proofs/discrete-laplace.md)."""
        return LaplaceNoise.precision(size)

    def repeated(self, others: Sequence[Channel]) -> Channel:
        """See `Channel`: rates add up, on one lattice.

        >>> DiscreteLaplaceNoise(2.0).repeated([DiscreteLaplaceNoise(2.0)])
        DiscreteLaplaceNoise(scale=1.0, step=1.0, offset=0.0)
        """
        for other in others:
            if other.kind == self.kind and other.as_noise().resized(self.scale) != self:
                raise CompositionError(f"{self.describe()} and {other.describe()} are on different points")
        return super().repeated(others)

    def at_least(self, other: Channel) -> bool:
        """See `Channel`: on the same lattice."""
        return super().at_least(other) and other.as_noise().resized(self.scale) == self

    # ---- draws

    def draw(
        self, values: npt.ArrayLike, *, granularity: float | None = None, source: BitSource | None = None
    ) -> Array:
        """Values plus noise, exactly, as the floats nearest to points of the lattice.

        Args:
            values: on the lattice; others are refused.
            granularity: none; the lattice is where published values lie.
            source: of random bits, by default the system's.
        """
        self.grid(granularity)
        ready = checked(values, theta=self.scale)[0]
        start = self.places(ready)
        if self.scale == 0:
            return ready + 0.0
        bits, shape = OsBits() if source is None else source, _Folded(self._rate)
        moved = start.reshape(-1)
        for k in range(0, len(moved), CHUNK):
            moved[k : k + CHUNK] += self._steps(len(moved[k : k + CHUNK]), shape, bits)
        return self._points(moved).reshape(start.shape) + 0.0

    def _steps(self, count: int, shape: _Folded, source: BitSource) -> npt.NDArray[np.int64]:
        """So many numbers of steps: by the table where that settles them, else in balls with more bits."""
        words = np.frombuffer(read_exactly(source, 4 * count), dtype="<i4")
        a = np.abs(words + 0.5)
        table = table_of(LaplaceNoise.shape)
        rows = table.rows(a)
        tau = self.scale / self.step
        with np.errstate(invalid="ignore", over="ignore"):
            y = (table.c0[rows] + (table.c1[rows] + table.c2[rows] * a) * a - shape.lowered) * tau
            ends = np.rint(y)
            sure = np.abs(y - ends) <= 0.5 - tau * table.error[rows] * (1 + 2.0**-40) - _SLACK * (tau + 1.0)
        found = np.where(sure, np.copysign(ends, words), 0.0).astype(np.int64)
        for k in np.flatnonzero(~sure).tolist():
            found[k] = exact_multiple(0.0, int(words[k]), source, theta=self.scale, granularity=self.step, shape=shape)
        return found

    def grid(self, granularity: float | None) -> None:
        """See `Noise`: its own points."""
        if granularity is not None:
            raise InputError(
                f"granularity is for noise that is rounded, and {self.describe()} stays on its points: leave it out"
            )

    @property
    def is_whole(self) -> bool:
        """See `Noise`."""
        return self.step.is_integer() and self.offset.is_integer()

    # ---- files

    def to_state(self) -> dict[str, object]:
        """See `Channel`."""
        return {"kind": self.kind, **{name: getattr(self, name) for name in self._names()}}

    @classmethod
    def from_state(cls, state: object) -> Self:
        """See `Channel`."""
        content = form.fields(state, ("kind", *cls._names()), "'channel'")
        return cls(
            form.number(content["scale"], "channel.scale", least=0),
            form.number(content["step"], "channel.step", above=0),
            form.number(content["offset"], "channel.offset"),
        )


register(
    "discrete-laplace",
    MaxDivergence,
    lambda p, q, of, noise: noise.compared(p, q, by_odds()),
    lambda p, q, of, budget, noise, effort: noise.settled(p, q, by_odds(), budget, effort),
    lambda laws, of, noise, budget: noise.bounds(laws, by_odds()),
    lambda laws, of, noise, budget, effort: noise.cleared_by_odds(laws, budget, effort),
)
register(
    "discrete-laplace",
    RenyiDivergence,
    lambda p, q, of, noise: noise.compared(p, q, by_order(of.alpha)),
    lambda p, q, of, budget, noise, effort: noise.settled(p, q, by_order(of.alpha), budget, effort),
    lambda laws, of, noise, budget: noise.bounds(laws, by_order(of.alpha)),
)
register(
    "discrete-laplace",
    HockeyStick,
    lambda p, q, of, noise: noise.compared(p, q, by_excess(of.epsilon)),
    lambda p, q, of, budget, noise, effort: noise.settled(p, q, by_excess(of.epsilon), budget, effort),
    lambda laws, of, noise, budget: noise.bounds(laws, by_excess(of.epsilon)),
)
