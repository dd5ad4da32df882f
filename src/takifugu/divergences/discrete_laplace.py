"""How far two laws of whole numbers are apart after discrete Laplace noise: exact sums, in floats and proved.

After Z with P(Z = z) proportional to e^(−u|z|) the probability of a whole number k, up to one factor, is A(k) + B(k) as
the density after Laplace noise of scale 1/u is: the largest odds are the same. Beyond the last point of both laws each
probability is e^(−u) times that before it, so all that lies beyond tells what the end tells, and is added to it: a
finite list is left (proofs/discrete-laplace.md).
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takifugu._validation import Array, budget
from takifugu.divergences.certified import Decision
from takifugu.divergences.laplace_odds import LogLaplace
from takifugu.divergences.numerics.balls import (
    UNKNOWN,
    Effort,
    Enclosure,
    ExactMixture,
    UndecidableError,
    fraction,
    outward,
    working_precision,
)
from takifugu.divergences.numerics.envelope import from_log_integral, log_weighted_excess
from takifugu.errors import InputError
from takifugu.laws import Mixture

if TYPE_CHECKING:
    from flint import arb, fmpq

_BITS = 192
_MOST_PLACES = 100_000  # of one list
_ROUNDING = 2.0**-40  # of what is compared: far more than sums of a hundred thousand terms lose in floats


class DiscreteLaplace(NamedTuple):
    """Noise on whole numbers, each z as probable as e^(−u|z|) says."""

    rate: Fraction

    @property
    def scale(self) -> float:
        """1/u, in floats."""
        return float(1 / self.rate)

    def log_masses(self, laws: Sequence[Mixture]) -> tuple[Array, Array]:
        """The places of all laws, and the logarithms of the probabilities of each: at an end, of all beyond it."""
        places = np.arange(*self._ends(laws), dtype=float)
        found = np.array([LogLaplace(law, self.scale)(places) for law in laws])
        u = float(self.rate)
        found += math.log(math.tanh(0.5 * u))
        beyond = -math.log(-math.expm1(-u))
        found[:, 0] += beyond
        if len(places) > 1:
            found[:, -1] += beyond
        return places, found

    def exact_masses(self, laws: Sequence[Mixture], effort: Effort) -> "list[list[arb]]":
        """The same as balls, without the logarithm."""
        from flint import arb

        low, stop = self._ends(laws)
        effort.spend(4 * len(laws) * (stop - low))
        fall = (-arb(fraction_of(self.rate))).exp()
        found = []
        for law in laws:
            atoms = ExactMixture.after_noise(law, 0.0).atoms
            weights = [arb(atoms.get(fraction(k), fraction(0.0))) for k in range(low, stop)]
            below, above = [arb(0)], [arb(0)]
            for weight in weights:
                below.append(below[-1] * fall + weight)
            for weight in reversed(weights):
                above.append((above[-1] + weight) * fall)
            masses = [
                (one + other) * (1 - fall) / (1 + fall)
                for one, other in zip(below[1:], reversed(above[:-1]), strict=True)
            ]
            for end in {0, len(masses) - 1}:
                masses[end] = masses[end] / (1 - fall)
            found.append(masses)
        return found

    @staticmethod
    def _ends(laws: Sequence[Mixture]) -> tuple[int, int]:
        low = int(min(float(law.means.min()) for law in laws))
        stop = int(max(float(law.means.max()) for law in laws)) + 1
        if stop - low > _MOST_PLACES:
            raise InputError(
                f"laws that reach over {stop - low:,} steps of discrete Laplace noise are not compared: take a coarser "
                f"step, or LaplaceNoise"
            )
        return low, stop

    def points(self, law: Mixture, beside: Mixture) -> Mapping[Hashable, float]:
        """What is published for a law, with what lies beyond the points of it and of another at the ends."""
        places, (masses, _) = self.log_masses([law, beside])
        return dict(zip(places.tolist(), np.exp(masses).tolist(), strict=True))

    # ---- two laws, compared one way or another

    def loss(self, p: Mixture, q: Mixture, how: "Comparison") -> float:
        """How far apart two laws of whole numbers are, in floats."""
        if p.simplified() == q.simplified():
            return how.of_same
        return how.value(*self.log_masses([p, q])[1])

    def decide(self, p: Mixture, q: Mixture, how: "Comparison", most: float, effort: Effort | None) -> Decision:
        """Whether that is `most` at most, proved in ball arithmetic either way."""
        limit = budget(most)
        if not how.of_same and ExactMixture.after_noise(p, 0.0) == ExactMixture.after_noise(q, 0.0):
            return Decision(True, Enclosure(0.0, 0.0), "proved: the laws are the same")
        try:
            with working_precision(_BITS):
                return _compared(how.ball(*self.exact_masses([p, q], Effort() if effort is None else effort)), limit)
        except UndecidableError as stopped:
            return Decision(None, UNKNOWN, f"undecided: {stopped}")

    def screened(self, laws: Sequence[Mixture], how: "Comparison") -> tuple[Array, Array]:
        """Of each law against each other one a value that is reached and a bound: the sums, but for rounding."""
        with np.errstate(all="ignore"):  # what overflows, or is no number, clears nothing
            _, logs = self.log_masses(laws)
            found = np.array([how.values(one, logs) for one in logs])
            lost = _ROUNDING * how.steepness * (1.0 + float(np.abs(logs).max()))
        bound = np.where(np.isnan(found), np.inf, found + lost)
        attained = np.nan_to_num(found - lost, nan=0.0, posinf=0.0).clip(min=0.0)
        np.fill_diagonal(bound, how.of_same)
        np.fill_diagonal(attained, 0.0)
        return attained, bound


class Comparison(NamedTuple):
    """One divergence of two finite lists: of their logarithms in floats, and of balls."""

    value: Callable[[Array, Array], float]
    """Of one list against another, to the last digits."""
    values: Callable[[Array, Array], Array]
    """Of one list against each row of a matrix, to those that sums in floats leave."""
    ball: "Callable[[list[arb], list[arb]], arb]"
    of_same: float = 0.0  # of a law from itself
    steepness: float = 1.0  # by how much more than itself an error of the logarithms may change it


def by_odds() -> Comparison:
    """The logarithm of the largest ratio."""

    def ball(p: "list[arb]", q: "list[arb]") -> "arb":
        from flint import arb

        largest = arb(0)
        for one, other in zip(p, q, strict=True):
            largest = largest.max((one / other).log())
        return largest

    return Comparison(
        lambda mine, other: max(0.0, float((mine - other).max())), lambda mine, rows: (mine - rows).max(axis=1), ball
    )


def by_order(alpha: float) -> Comparison:
    """The Rényi divergence of a finite order above 1."""

    def value(mine: Array, other: Array) -> float:
        logs = log_weighted_excess(mine - other, other, alpha * mine - (alpha - 1.0) * other, alpha)
        top = float(logs.max())
        if not math.isfinite(top):
            return 0.0 if top < 0 else math.inf
        return from_log_integral(top + math.log(math.fsum(np.exp(logs - top).tolist())), alpha)

    def values(mine: Array, rows: Array) -> Array:
        logs = alpha * mine - (alpha - 1.0) * rows
        top = logs.max(axis=1)
        found: Array = (top + np.log(np.exp(logs - top[:, None]).sum(axis=1))) / (alpha - 1.0)
        return found

    def ball(p: "list[arb]", q: "list[arb]") -> "arb":
        from flint import arb

        order = arb(fraction(alpha))
        total = sum(((one / other) ** order * other for one, other in zip(p, q, strict=True)), arb(0))
        return total.log() / (order - 1)

    return Comparison(value, values, ball, steepness=(2.0 * alpha + 1.0) / min(1.0, alpha - 1.0))


def by_excess(epsilon: float) -> Comparison:
    """The hockey stick: what is above e^ε times the other."""

    def value(mine: Array, other: Array) -> float:
        return min(1.0, math.fsum(np.maximum(np.exp(mine) - np.exp(other + epsilon), 0.0).tolist()))

    def ball(p: "list[arb]", q: "list[arb]") -> "arb":
        from flint import arb

        factor = arb(fraction(epsilon)).exp()
        return sum(((one - factor * other).max(arb(0)) for one, other in zip(p, q, strict=True)), arb(0))

    return Comparison(
        value,
        lambda mine, rows: np.maximum(np.exp(mine) - np.exp(rows + epsilon), 0.0).sum(axis=1),
        ball,
        of_same=max(0.0, -math.expm1(epsilon)),
    )


def fraction_of(number: Fraction) -> "fmpq":
    """The same rational number for balls."""
    from flint import fmpq

    return fmpq(number.numerator, number.denominator)


def _compared(ball: "arb", limit: float) -> Decision:
    from flint import arb

    if not ball.is_finite():
        return Decision(None, UNKNOWN, "undecided: the sum is not known")
    found = outward(ball)
    if ball <= arb(limit):
        found = Enclosure(max(0.0, found.lower), max(0.0, min(limit, found.upper)))
        return Decision(True, found, f"proved: it is at most {found.upper!r}, within {limit!r}")
    if ball > arb(limit):
        return Decision(False, found, f"refuted: it is at least {found.lower!r}, above {limit!r}")
    return Decision(None, found, "undecided: the sum is too close to the budget")
