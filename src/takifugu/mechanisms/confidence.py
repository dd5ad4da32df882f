"""The least noise that is enough for the centre of the posterior and for every one of a number of draws from it.

N draws that all hold, N = ⌈ln(1−c)/ln c⌉, are evidence for the population: had less than a share c of the posterior
been within the budget, all N would have held with probability below 1 − c. This is no proof (proofs/population.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer
from takifugu.divergences.line.general import divergence
from takifugu.divergences.line.one_lattice import lattice_losses
from takifugu.errors import CalibrationError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import root_above
from takifugu.mechanisms.draws import Counted, LatticeDraws, draws_needed, lattice_draws
from takifugu.mechanisms.search import least_variance
from takifugu.problems.pairs import Pairs, Secret

_CLEAR = 1e-3  # the share of the budget by which a draw that is not looked at twice stays below it
_MARGIN = 1e-10  # the share of the budget left for rounding in the divergence itself
_LEADERS = 4  # laws worth a search of their own before all are looked at again
_ROUNDS = 60
_TINY = 1e-7  # budgets (times α − 1) below this are beyond the digits of a trapezoidal rule


class Place(NamedTuple):
    """Where the noise binds: the belief, the draw (None for the centre), and the directed pair."""

    belief: int
    draw: int | None
    pair: tuple[Secret, Secret]


@dataclass(frozen=True)
class Confident:
    """Noise that is enough for the centre and for all draws, and how to draw them again.

    `centre_theta` is what the centre alone would need: the price of confidence is the ratio.
    """

    theta: float
    centre_theta: float
    confidence: float
    draws: int
    seed: int
    place: Place | None


def confident_noise(
    points: npt.ArrayLike,
    beliefs: Sequence[Mapping[Secret, Counted]],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    confidence: float = 0.95,
    seed: int = 0,
) -> Confident:
    """The least θ at which the centre and all draws lose at most ε, for every pair both ways and every belief."""
    draws, seed = draws_needed(confidence), integer("seed", seed, least=0)
    drawn = lattice_draws(beliefs, pairs, draws, seed)
    alone, centre = least_noise(points, drawn.centre, alpha=alpha, epsilon=epsilon)
    theta, place = least_noise(points, drawn, alpha=alpha, epsilon=epsilon, floor=alone)
    return Confident(theta, alone, float(confidence), draws, seed, place or centre)


def least_noise(
    points: npt.ArrayLike, drawn: LatticeDraws, *, alpha: float, epsilon: float, floor: float = 0.0
) -> tuple[float, Place | None]:
    """The least θ, `floor` or more, at which every place of these draws loses at most ε; and which place binds."""
    search = _Search(np.asarray(points, dtype=np.float64), drawn, alpha, epsilon)
    return search.run(floor), search.place


def looked_at(
    points: Array, drawn: LatticeDraws, which: Any = slice(None), *, alpha: float, epsilon: float, theta: float
) -> Array:
    """The losses of some of the draws, or of all: as accurate as a look at them beside this budget needs."""
    tolerance = min(1e-6, 1e-3 * epsilon * (alpha - 1))
    first, second = drawn.first[which], drawn.second[which]
    return lattice_losses(
        points, drawn.laws, first, second, alpha=alpha, theta=theta, tolerance=tolerance, limit=2 * epsilon
    )


class _Search:
    """The noise for all laws at once: a few are searched, all are looked at, the closest are checked accurately."""

    def __init__(self, points: Array, drawn: LatticeDraws, alpha: float, epsilon: float) -> None:
        self.points, self.drawn, self.alpha, self.epsilon = points, drawn, alpha, epsilon
        self.laws, self.i, self.j = drawn.laws, drawn.first, drawn.second
        self.place: Place | None = None

    def run(self, floor: float) -> float:
        """The least θ, `floor` or more."""
        if self.epsilon * (self.alpha - 1) < _TINY:
            return self._accurately(floor)
        theta = floor
        for _ in range(_ROUNDS):
            losses = self._losses(np.arange(len(self.i)), theta)
            if not (losses > self.epsilon).any():
                theta, settled = self._check(losses, theta)
                if settled:
                    return theta
                continue
            # An infinite loss is an unknown one: those that are known to be large come first.
            leaders = np.argsort(-np.where(np.isinf(losses), np.finfo(float).max, losses))[:_LEADERS]
            theta = self._raised(leaders, theta)
        raise CalibrationError("the search for the least noise over all draws did not settle: please report this case")

    def _losses(self, which: npt.NDArray[np.intp], theta: float) -> Array:
        return looked_at(self.points, self.drawn, which, alpha=self.alpha, epsilon=self.epsilon, theta=theta)

    def _raised(self, leaders: npt.NDArray[np.intp], theta: float) -> float:
        """The least θ that is enough for these laws, by the fast rule."""
        reach = float(self.points[-1] - self.points[0])

        def loss(z: float) -> float:
            return float(self._losses(leaders, math.sqrt(z)).max())

        z = least_variance(
            loss,
            epsilon=self.epsilon * (1 - 1e-7),
            floor=theta * theta,
            start=max(theta * theta, 1e-2 * reach * reach) if theta else reach * reach,
            unit=0.0,
            rtol=1e-9,
        )
        if not math.isfinite(z):
            raise CalibrationError("no finite noise was found to be enough for every draw: please report this case")
        self._bind(int(leaders[np.argmax(self._losses(leaders, math.sqrt(z)))]))
        return root_above(z)

    def _check(self, losses: Array, theta: float) -> tuple[float, bool]:
        """Whether the laws closest to the budget are within it by adaptive quadrature; if not, a larger θ."""
        close = np.flatnonzero(losses > self.epsilon * (1 - _CLEAR))
        for k in close[np.argsort(-losses[close])]:
            p, q = (Mixture.empirical(self.points, self.laws[side[k]]) for side in (self.i, self.j))
            if not divergence(p, q, alpha=self.alpha, theta=theta) <= self.epsilon * (1 - _MARGIN):
                self._bind(int(k))
                return (theta * (1 + 1e-8) if theta else float(np.diff(self.points).min()) * 1e-3), False
        return theta, True

    def _accurately(self, floor: float) -> float:
        """Without the fast rule, whose digits are not enough for a budget this small."""
        exact, variance = Exact(), floor * floor
        for k, (a, b) in enumerate(zip(self.i, self.j, strict=True)):
            p, q = Mixture.empirical(self.points, self.laws[a]), Mixture.empirical(self.points, self.laws[b])
            new = exact.least_variance(p, q, alpha=self.alpha, epsilon=self.epsilon, floor=variance)
            if not new <= variance:
                variance = new
                self._bind(k)
        if not math.isfinite(variance):
            raise CalibrationError("no finite noise was found to be enough for every draw: please report this case")
        return max(floor, root_above(variance))

    def _bind(self, k: int) -> None:
        self.place = Place(*self.drawn.named(k))
