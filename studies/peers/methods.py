"""Ways to publish a column, each swept over its own parameter: how well the secret can be guessed, at what error.

The guess is exact, ½ + ½·TV between the two secrets that are told apart best, for an adversary who knows the shares:
nothing is drawn. Errors are the share of labels that are changed, or the mean square error over the variance.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import calibrate
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.errors import TakifuguError
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.problems.options import Utility
from takifugu.reports.adversary import best_guess

Draw = Callable[[np.random.Generator, Array], Array]  # positions of true values in, published numbers or positions out

OURS, OURS_KEPT, RESPONSE, PRAM = "optimal", "optimal, shares kept", "randomized response", "PRAM, invariant"
GAUSSIAN, LAPLACE, CONSTANT = "Gaussian noise", "Laplace noise", "one value for all"
METHODS = (OURS, OURS_KEPT, PRAM, RESPONSE, GAUSSIAN, LAPLACE, CONSTANT)


@dataclass(frozen=True)
class Column:
    """The values of a column, and how many rows of each secret (a line each) have them."""

    values: tuple[Any, ...]
    counts: Array
    is_number: bool

    @property
    def pool(self) -> Array:
        """The share of each value among all rows."""
        return np.asarray(self.counts.sum(axis=0) / self.counts.sum())

    @property
    def laws(self) -> Array:
        """The shares among the rows of each secret."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    @property
    def points(self) -> Array:
        """The values as numbers; labels by their places."""
        return np.array(self.values if self.is_number else range(len(self.values)), dtype=np.float64)

    @property
    def variance(self) -> float:
        """Of the numbers."""
        return float(self.pool @ (self.points - self.pool @ self.points) ** 2)

    @property
    def cost(self) -> Array:
        """What it costs to publish one value for another."""
        if self.is_number:
            return np.asarray((self.points[:, None] - self.points) ** 2 / self.variance)
        return 1.0 - np.eye(len(self.values))


@dataclass(frozen=True)
class Point:
    """One setting of a method: the best guess, the error, and how a table is drawn with it."""

    guess: float
    error: float
    draw: Draw


def worst_guess(laws: Array) -> float:
    """The best guess between the two rows of a table that differ most.

    >>> worst_guess(np.array([[1.0, 0.0], [0.5, 0.5]]))
    0.75
    """
    return 0.5 + 0.25 * max(float(np.abs(a - b).sum()) for a, b in combinations(laws, 2))


def invariant(matrix: Array, pool: Array) -> Array:
    """The first step undone by Bayes' rule (Gouweleeuw et al., 1998): together they keep the pooled shares.

    >>> pool = np.array([0.7, 0.3])
    >>> np.allclose(pool @ invariant(np.array([[0.9, 0.1], [0.2, 0.8]]), pool), pool)
    True
    """
    back = (matrix * pool[:, None]).T
    return np.asarray(matrix @ (back / back.sum(axis=1, keepdims=True)))


def curves(column: Column, *, odds: int = 30) -> dict[str, list[Point]]:
    """Every method that applies, over its parameter; `odds` is how many guarantees ours is calibrated for."""
    found = {OURS: list(_channels(column, odds, keep=None)), OURS_KEPT: list(_channels(column, odds, keep="marginal"))}
    size = len(column.values)
    responses = [share * np.eye(size) + (1 - share) / size for share in np.linspace(0, 1, 201).tolist()]
    found[RESPONSE] = [_of_table(column, one) for one in responses]
    found[PRAM] = [_of_table(column, invariant(one, column.pool)) for one in responses[:-1]]
    found[CONSTANT] = [_constant(column)]
    if column.is_number:
        thetas = (np.geomspace(0.03, 30, 40) * math.sqrt(column.variance)).tolist()
        found[GAUSSIAN] = [_gaussian(column, theta) for theta in thetas]
        found[LAPLACE] = [_laplace(column, theta / math.sqrt(2)) for theta in thetas]
    return found


def least_error(points: list[Point], guess: float) -> Point | None:
    """The setting with the least error among those that let nobody guess better than this."""
    fit = [point for point in points if point.guess <= guess]
    return min(fit, key=lambda point: point.error, default=None)


def _of_table(column: Column, matrix: Array) -> Point:
    cumulative = matrix.cumsum(axis=1)
    cumulative[:, -1] = 1.0

    def draw(rng: np.random.Generator, places: Array) -> Array:
        chosen = (rng.random(len(places))[:, None] > cumulative[places]).sum(axis=1)
        return column.points[chosen] if column.is_number else np.asarray(chosen)

    error = float(column.pool @ (matrix * column.cost).sum(axis=1))
    return Point(worst_guess(column.laws @ matrix), error, draw)


def _channels(column: Column, odds: int, *, keep: str | None) -> Iterator[Point]:
    priors = {str(i): Finite(column.values, counts) for i, counts in enumerate(column.counts)}
    steps = np.linspace(0, 1, odds + 1)[1:] ** 2  # close together where the guarantee is strict and costs most
    for factor in np.exp(_most(column) * steps).tolist():
        try:
            made = calibrate(
                priors, odds=factor, preserve=keep, utility=Utility(loss="square" if column.is_number else "change")
            )
        except TakifuguError:  # a guarantee too small to be kept, or kept by nothing
            continue
        yield _of_table(column, cast(FiniteChannel, made.channel).matrix)


def _most(column: Column) -> float:
    """The logarithm of the odds in the true values, beyond which nothing has to be changed; of a factor of 50 at most.

    >>> math.exp(_most(Column((0, 1), np.array([[50.0, 50.0], [20.0, 80.0]]), is_number=True))).__round__(6)
    2.5
    """
    with np.errstate(divide="ignore"):
        logs = np.log(column.laws)
    gaps = np.where(np.isfinite(logs).all(axis=0), np.ptp(np.maximum(logs, -1e9), axis=0), np.inf)
    return float(min(gaps.max(), math.log(50)))


def _constant(column: Column) -> Point:
    """The mean, or the commonest label, for everybody: what deleting the column leaves a reader with."""
    best = float(column.pool @ column.points) if column.is_number else int(column.pool.argmax())
    error = 1.0 if column.is_number else 1.0 - float(column.pool.max())
    return Point(0.5, error, lambda rng, places: np.full(len(places), best))


def _gaussian(column: Column, theta: float) -> Point:
    noisy = [Mixture.empirical(column.points, law).with_noise(theta) for law in column.laws]
    guess = max(best_guess(a, b) for a, b in combinations(noisy, 2))
    return Point(
        guess,
        theta**2 / column.variance,
        lambda rng, places: column.points[places] + rng.normal(0, theta, len(places)),
    )


def _laplace(column: Column, scale: float) -> Point:
    """As local differential privacy adds it. On a grid the guess comes out too small, if anything: in its favour."""
    x = column.points
    grid = np.unique(np.concatenate([x, np.linspace(x.min() - 12 * scale, x.max() + 12 * scale, 4_001)]))
    z = (grid[:, None] - x) / scale
    below = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))
    return Point(
        worst_guess(np.diff(column.laws @ below.T, axis=1)),
        2 * scale**2 / column.variance,
        lambda rng, places: x[places] + rng.laplace(0, scale, len(places)),
    )
