"""Shaped noise: candidates of several shapes, each scaled until the promise holds, the cheapest proved.

No solver is believed. A candidate is only a direction in the space of covariances; along it the loss falls with the
scale, and the scale returned is one at which the loss of every place was evaluated and found within the budget. Then
every place is proved in exact arithmetic (proofs/shaped.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu._threads import one_thread
from takifugu._validation import Array, budget, one_of, order, real
from takifugu.divergences.vector.coupling import couple
from takifugu.errors import CalibrationError, InputError
from takifugu.laws.vector import VectorMixture, covariance_matrix
from takifugu.mechanisms.shaped.candidates import Candidates
from takifugu.mechanisms.shaped.places import Places, Terms
from takifugu.problems.problem import Place

SHAPES = ("full", "diagonal", "equal")
_FLOOR = 0.05  # standard deviations of an axis that no direction goes below
_WIDEST = 64  # numbers in a vector for which a full covariance is sought


@dataclass(frozen=True)
class ShapedNoise:
    """A covariance of noise, what it costs, tr(weights·Σ), and the place that asked for it, if any did.

    `losses` holds the loss of each of `places` as evaluated; `compared` what the other shapes would cost; `proved`
    whether every place was proved in exact arithmetic.
    """

    covariance: Array
    cost: float
    binding: Place | None
    places: tuple[Place, ...]
    losses: tuple[float, ...]
    compared: dict[str, float]
    proved: bool


def shaped_noise(
    beliefs: Sequence[Sequence[VectorMixture]],
    *,
    alpha: float,
    epsilon: float,
    pairs: Sequence[tuple[int, int]] | None = None,
    shape: str = "full",
    weights: npt.ArrayLike | None = None,
    floor: float = _FLOOR,
    prove: bool = True,
) -> ShapedNoise:
    """The covariance Σ of least tr(weights·Σ) with D_α ≤ ε at every place: each belief, each pair, both ways.

    Args:
        beliefs: for each belief, one law per secret; the secrets in the same order in all.
        alpha: the Rényi order.
        epsilon: the budget.
        pairs: positions of the secrets to be hidden from one another; by default all.
        shape: "full", any covariance; "diagonal", independent noise on the axes; "equal", the same multiple of every
            axis's standard deviation.
        weights: what noise costs, a number for each axis or a matrix; by default 1/variance, so that an error counts
            relative to the spread of its axis.
        floor: no direction gets less noise than this many standard deviations: values on a lattice could be read off
            a direction that goes without.
        prove: whether to prove each place; without, the losses are evaluated only.
    """

    alpha, epsilon = order(alpha), budget(epsilon)
    one_of("shape", shape, SHAPES)
    if real("floor", floor, "a number from 0.001 to 1") < 1e-3 or floor > 1:
        raise InputError(f"floor must be a number from 0.001 to 1, got {floor!r}: a singular noise hides nothing")
    d, pairs = _checked(beliefs, pairs)
    if shape == "full" and d > _WIDEST:
        raise InputError(f"a full covariance is sought for up to {_WIDEST} numbers, got {d}: use shape='diagonal'")
    unit = _spread(beliefs)
    cost = _cost(weights, unit)
    candidates = Candidates(Places(_rescaled(beliefs, unit), pairs), cost, floor**2 * np.eye(d), alpha, epsilon)
    with one_thread():  # the matrices are small: threads would only wait for one another
        found = candidates.of(shape)
        name = min(found, key=lambda each: candidates.price(found[each]))
        sigma = found[name]
        places = Places(beliefs, pairs)
        covariance, losses = _settled(places, _symmetric(sigma * np.outer(unit, unit)), alpha, epsilon, prove)
    binding = places.places[int(np.argmax(losses))] if len(losses) else None
    compared = {each: candidates.price(other) for each, other in found.items()}
    # A scale that settles the last digits is part of what it costs.
    paid = price(beliefs, covariance, weights=weights)
    return ShapedNoise(covariance, paid, binding, tuple(places.places), tuple(losses.tolist()), compared, prove)


def price(
    beliefs: Sequence[Sequence[VectorMixture]], covariance: Array, *, weights: npt.ArrayLike | None = None
) -> float:
    """What noise of this covariance costs, tr(weights·Σ): the `cost` of `shaped_noise`."""
    unit = _spread(beliefs)
    return math.fsum((_cost(weights, unit) * covariance / np.outer(unit, unit)).reshape(-1).tolist())


def _settled(places: Places, sigma: Array, alpha: float, epsilon: float, prove: bool) -> tuple[Array, Array]:
    """The covariance in the units of the data, evaluated anew and proved at every place; raised a hair where not."""
    from takifugu.divergences.proved.vector import Prover

    if not len(places):
        return sigma, np.zeros(0)
    hair = 1e-10
    for _ in range(12):
        terms = places.coupled(sigma, alpha=alpha) if places.gaussian else None
        losses = _losses_at(places, terms, sigma, alpha)
        if (losses <= epsilon).all():
            prover = Prover(sigma, alpha=alpha)
            if not prove or all(prover.decide(*places.laws(p), epsilon=epsilon).holds for p in places.places):
                return sigma, losses
        sigma, hair = _symmetric((1 + hair) * sigma), 8 * hair
    raise CalibrationError("the noise found could not be proved to meet the budget: please report this case")


def _losses_at(places: Places, terms: Terms | None, sigma: Array, alpha: float) -> Array:
    if terms is not None:
        return terms.losses(sigma, alpha=alpha)
    return np.array([couple(*places.laws(place), alpha=alpha, covariance=sigma).bound for place in places.places])


def _checked(
    beliefs: Sequence[Sequence[VectorMixture]], pairs: Sequence[tuple[int, int]] | None
) -> tuple[int, list[tuple[int, int]]]:
    """The number of axes and the pairs, or an error."""
    laws = [law for belief in beliefs for law in belief]
    for law in laws:
        if not isinstance(law, VectorMixture):
            raise InputError(f"shaped noise is for vectors: each law must be a VectorMixture, got {type(law).__name__}")
    sizes = sorted({law.dimension for law in laws})
    if len(sizes) != 1:
        raise InputError(f"every law must be of the same numbers, got vectors of {sizes}: give each secret all of them")
    secrets = {len(belief) for belief in beliefs}
    if len(secrets) != 1 or secrets.pop() < 2:
        raise InputError("every belief must give a law to the same secrets, at least two")
    count = len(beliefs[0])
    chosen = [(i, j) for i in range(count) for j in range(i)] if pairs is None else list(pairs)
    for i, j in chosen:
        if not (0 <= i < count and 0 <= j < count) or i == j:
            raise InputError(f"each of the pairs must be two different positions below {count}, got {(i, j)!r}")
    return sizes[0], chosen


def _spread(beliefs: Sequence[Sequence[VectorMixture]]) -> Array:
    """The standard deviation of each axis over all laws, differences of their means included."""
    laws = [law for belief in beliefs for law in belief]
    whole = VectorMixture(
        np.full(len(laws), 1 / len(laws)), [law.mean for law in laws], [law.covariance for law in laws]
    ).covariance
    spread = np.sqrt(np.diagonal(whole))
    if not (spread > 0).all():
        axis = int(np.argmin(spread))
        raise InputError(
            f"axis {axis} is the same number under every secret: it tells nothing about any and needs no noise; leave "
            f"it out"
        )
    return np.asarray(spread, dtype=np.float64)


def _rescaled(beliefs: Sequence[Sequence[VectorMixture]], unit: Array) -> list[list[VectorMixture]]:
    square = np.outer(unit, unit)
    return [[VectorMixture(law.weights, law.means / unit, law.covariances / square) for law in b] for b in beliefs]


def _cost(weights: npt.ArrayLike | None, unit: Array) -> Array:
    """The price of noise in units of each axis's spread, as a positive definite matrix."""
    if weights is None:
        return np.eye(len(unit))
    given = np.asarray(weights, dtype=np.float64)
    matrix = covariance_matrix("weights", np.diag(given) if given.ndim == 1 else given, definite=True)
    if len(matrix) != len(unit):
        raise InputError(f"weights must be given for each of the {len(unit)} axes, got {len(matrix)}")
    return matrix * np.outer(unit, unit)


def _symmetric(matrix: Array) -> Array:
    return np.asarray(0.5 * (matrix + matrix.T), dtype=np.float64)
