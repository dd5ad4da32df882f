"""Shaped noise as a mechanism: from a problem about vectors to Gaussian noise that is proved to keep the promise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from takifugu._validation import one_of, real
from takifugu.channels.vector import GaussianVector
from takifugu.divergences.proved.vector import Prover
from takifugu.errors import InputError, MechanismError
from takifugu.laws.vector import VectorMixture
from takifugu.mechanisms.base import Found, Mechanism, refuse_odds
from takifugu.mechanisms.shaped.noise import SHAPES, price, shaped_noise
from takifugu.problems.guarantee import Guarantee, Renyi
from takifugu.problems.problem import Problem


@dataclass(frozen=True)
class Shaped(Mechanism):
    """Gaussian noise on vectors with the covariance of least cost, every belief and pair proved; proofs/shaped.md.

    shape: "full", any covariance; "diagonal", independent noise on the axes; "equal", the same multiple of every
        axis's spread.
    weights: what noise costs, a number for each axis or a matrix; by default 1/variance of each axis.
    floor: no direction gets less noise than this many standard deviations.
    """

    name: ClassVar[str] = "shaped"
    label: ClassVar[str] = "Shaped noise"
    summary: ClassVar[str] = (
        "Gaussian noise on vectors: the covariance that costs least of those found, proved to hide every pair."
    )

    shape: str = "full"
    weights: Any = None
    floor: float = 0.05

    def __post_init__(self) -> None:
        """Check the options, and freeze what came as lists, so that equal options are equal."""
        one_of("shape", self.shape, SHAPES)
        number = real("floor", self.floor, "a number from 0.001 to 1")
        if not 1e-3 <= number <= 1:
            raise InputError(
                f"floor must be a number from 0.001 to 1, got {self.floor!r}: bare directions hide nothing"
            )
        object.__setattr__(self, "floor", number)
        if self.weights is not None:
            object.__setattr__(self, "weights", _frozen(self.weights))

    def find(self, problem: Problem, asked: Renyi) -> Found:
        """Search, and prove every place."""
        require_vectors(problem, asked, self.name)
        position = {secret: i for i, secret in enumerate(problem.pairs.secrets)}
        found = shaped_noise(
            _beliefs(problem),
            alpha=asked.alpha,
            epsilon=asked.epsilon,
            pairs=[(position[a], position[b]) for a, b in problem.pairs],
            shape=self.shape,
            weights=self.weights,
            floor=self.floor,
        )
        return Found(GaussianVector(found.covariance), found.binding)

    def cost(self, problem: Problem, channel: GaussianVector) -> float:
        """tr(weights·Σ): by default the noise's variances relative to those of the axes, added up."""
        return price(_beliefs(problem), channel.covariance, weights=self.weights)


def is_proved(problem: Problem, promise: Guarantee, channel: GaussianVector) -> bool:
    """Whether noise on vectors is proved, from the laws alone, to keep the promise for every pair and belief."""
    if not isinstance(promise, Renyi) or promise.most_odds is not None:
        return False
    laws = [[law.simplified() for law in belief] for belief in _beliefs(problem)]
    if any(law.dimension != channel.dimension for belief in laws for law in belief):
        return False
    prover = Prover(channel.covariance, alpha=promise.alpha)
    return all(
        prover.decide(laws[place.belief][place.first], laws[place.belief][place.second], epsilon=promise.epsilon).holds
        for place in problem.places()
    )


def require_vectors(problem: Problem, asked: Renyi, name: str) -> None:
    """Refuse what Gaussian noise on vectors cannot do."""
    law = problem.laws(0)[0]
    if not isinstance(law, VectorMixture):
        raise MechanismError(
            f"{name!r} adds noise to vectors, and these laws are of the kind {type(law).__name__}: name several "
            f"columns, such as Mean(['a', 'b']), or leave the mechanism out"
        )
    refuse_odds(asked, name)


def _beliefs(problem: Problem) -> list[list[VectorMixture]]:
    return [problem.laws(belief) for belief in range(len(problem.beliefs))]


def _frozen(weights: Any) -> tuple[Any, ...]:
    try:
        if isinstance(weights, str | bytes) or not isinstance(weights, Sequence | np.ndarray):
            raise TypeError
        rows = [tuple(map(float, row)) if isinstance(row, Sequence | np.ndarray) else float(row) for row in weights]
        flat = [x for row in rows for x in (row if isinstance(row, tuple) else (row,))]
    except (TypeError, ValueError):
        raise InputError("weights must be a list of numbers, one for each axis, or a matrix of them") from None
    if not flat or not all(map(math.isfinite, flat)):
        raise InputError("weights must be finite numbers, one for each axis, or a matrix of them")
    return tuple(rows)
