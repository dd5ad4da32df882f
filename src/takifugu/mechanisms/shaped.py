"""Noise with a shape: the covariance that hides the secret in a vector at the least cost."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, budget, one_of, order, real
from takifugu._work import one_thread
from takifugu.channels import Channel, GaussianVector
from takifugu.divergences import Prover, couple
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Space, VectorMixture, covariance_matrix
from takifugu.mechanisms.base import Found, Mechanism, refuse_odds
from takifugu.mechanisms.closed_form import least_variance
from takifugu.mechanisms.shaped_barrier import Indices, Places, Shape, Terms, least_trace
from takifugu.problems import Guarantee, Place, Problem

# Covariances of several shapes, each multiplied until it keeps the promise at every place.

_MARGIN = 1e-9  # the share of the budget left for rounding, so that the proof succeeds
_COUPLED_MARGIN = (
    1e-7  # for mixtures: couplings found on another machine may stop a round earlier, and must prove it too
)
_COUPLINGS = 12  # rounds of new couplings for mixtures
_SETTLED = 1e-4


@dataclass(frozen=True)
class Candidates:
    """The places in the unit of each axis, and what noise costs there."""

    places: Places
    cost: Array
    floor: Array
    alpha: float
    epsilon: float

    def price(self, sigma: Array) -> float:
        """What noise of this covariance costs."""
        return float((self.cost * sigma).sum())

    def of(self, shape: str) -> dict[str, Array]:
        """Covariances that keep the promise, by the name of their shape."""
        d = len(self.floor)
        if not len(self.places):
            return {"floor": self.floor}
        found = {"equal": self._scaled(np.eye(d))}
        if shape == "equal":
            return found
        if shape == "full":
            with suppress(CalibrationError, np.linalg.LinAlgError):  # one candidate less
                found["whitened"] = self._scaled(self._pooled())
        kinds = {"diagonal": Shape.diagonal(d)} | ({"full": Shape.full(d)} if shape == "full" else {})
        for name, kind in kinds.items():
            start = found["equal"] if name == "diagonal" else min(found.values(), key=self.price)
            found[name] = self._searched(start, kind)
        return found

    def _searched(self, start: Array, kind: Shape) -> Array:
        """The barrier's answer, scaled; for mixtures again with the couplings that are best there."""
        best = start
        for _ in range(1 if self.places.gaussian else _COUPLINGS):
            inside = 1.3 * best
            terms = self.places.coupled(inside, alpha=self.alpha)
            try:
                better = least_trace(
                    terms,
                    inside,
                    shape=kind,
                    cost=self.cost,
                    floor=self.floor,
                    alpha=self.alpha,
                    epsilon=self._target,
                )
                better = self._scaled(better)
            except (CalibrationError, np.linalg.LinAlgError, FloatingPointError):
                break  # the search lost its way; what it started from keeps the promise
            before = self.price(best)
            if not self.price(better) < before:
                break
            best = better
            if self.price(best) > before * (1 - _SETTLED):
                break
        return best

    @property
    def _target(self) -> float:
        return self.epsilon * (1 - (_MARGIN if self.places.gaussian else _COUPLED_MARGIN))

    def _pooled(self) -> Array:
        """The average covariance of all laws: noise that follows it hides in what varies anyway."""
        laws = [law for belief in self.places.beliefs for law in belief]
        return np.asarray(np.mean([law.covariance for law in laws], axis=0) + self.floor, dtype=np.float64)

    def _scaled(self, direction: Array) -> Array:
        """The least multiple of a covariance that keeps the promise and stays above the floor."""
        # scale·direction ⪰ floor, with the floor a multiple of the identity
        least = float(self.floor[0, 0] / np.linalg.eigvalsh(direction)[0]) * (1 + 1e-12)
        if not 0 < least < math.inf:
            raise np.linalg.LinAlgError
        # Couplings stop short of their limit, so a bound on mixtures is not smooth to the last digits.
        rtol = 1e-9 if self.places.gaussian else 1e-5
        scale = _least_scale(self._losses(direction), least, self._target, rtol)
        return scale * direction

    def _losses(self, direction: Array) -> Callable[[float, Indices | None], Array]:
        fixed = self.places.coupled(direction, alpha=self.alpha) if self.places.gaussian else None

        def losses(scale: float, chosen: Indices | None) -> Array:
            if fixed is None:
                terms = self.places.coupled(scale * direction, alpha=self.alpha, chosen=chosen)
            else:
                terms = fixed if chosen is None else fixed.only(chosen)
            # Rough: far below the noise that is needed most places are infinite, and exact arithmetic would tell it
            # slowly. What is found is evaluated and proved with all digits in the end.
            return terms.losses(scale * direction, alpha=self.alpha, rough=True)

        return losses


def _least_scale(losses: Callable[[float, Indices | None], Array], least: float, target: float, rtol: float) -> float:
    """The least scale, `least` or more, at which no place loses more than the target.

    Only the places that were the worst somewhere are searched; all are evaluated at what is found.
    """
    chosen: set[int] = set()
    scale, nudge = least, rtol
    while True:
        everyone = losses(scale, None)
        over = np.flatnonzero(~(everyone <= target))
        if not len(over):
            return scale
        chosen |= set(over[np.argsort(everyone[over])[-8:]].tolist())
        few = np.array(sorted(chosen), dtype=np.intp)

        def worst(z: float, few: Indices = few) -> float:
            return float(losses(z, few).max())

        found = least_variance(worst, epsilon=target, floor=scale, start=scale, unit=scale, rtol=rtol)
        if found <= scale:
            # Iterated bounds of a few places differ in their last digits from those of all, which then stay over the
            # target for ever: a little more noise, twice as much each time, brings them below.
            found, nudge = scale * (1 + nudge), 2 * nudge
        scale = found
        if not math.isfinite(scale):
            raise CalibrationError(
                "no noise of this shape met the budget within the range of numbers here: give the values in other "
                "units, or a larger epsilon"
            )


# Shaped noise: candidates of several shapes, each scaled until the promise holds, the cheapest proved.
#
# No solver is believed. A candidate is only a direction in the space of covariances; along it the loss falls with the
# scale, and the scale returned is one at which the loss of every place was evaluated and found within the budget.
# Then every place is proved in exact arithmetic (proofs/shaped.md).

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
    """What noise of this covariance costs, tr(weights·Σ): the `cost` of `shaped_noise`.

    Args:
        beliefs: the laws of each belief, in the order of the secrets.
        covariance: of the noise.
        weights: a symmetric matrix in units of the axes' own spread; the identity where left out.

    Returns:
        The cost, 0 or more.
    """
    unit = _spread(beliefs)
    return math.fsum((_cost(weights, unit) * covariance / np.outer(unit, unit)).reshape(-1).tolist())


def _settled(places: Places, sigma: Array, alpha: float, epsilon: float, prove: bool) -> tuple[Array, Array]:
    """The covariance in the units of the data, evaluated anew and proved at every place; raised a hair where not."""
    from takifugu.divergences import Prover

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
        if getattr(law, "space", None) != "vector":
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
            f"axis {axis} is the same number under every secret: it says nothing about any and needs no noise; leave "
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


# Shaped noise as a mechanism: from a problem about vectors to Gaussian noise that is proved to keep the promise.


@dataclass(frozen=True)
class Shaped(Mechanism):
    """Gaussian noise on vectors with the covariance of least cost, every belief and pair proved; proofs/shaped.md.

    shape: "full", any covariance; "diagonal", independent noise on the axes; "equal", the same multiple of every
        axis's spread.
    weights: what noise costs, a number for each axis or a matrix; by default 1/variance of each axis.
    floor: no direction gets less noise than this many standard deviations.
    """

    name: ClassVar[str] = "shaped"
    space: ClassVar[Space] = "vector"
    proves: ClassVar[bool] = True
    label: ClassVar[str] = "Shaped noise"
    summary: ClassVar[str] = (
        "Gaussian noise on vectors: the covariance that costs least of those found, proved to hide every pair."
    )

    shape: str = "full"
    weights: npt.ArrayLike | None = None
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

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """Search, and prove every place.

        A covariance is sought whose cost is least among those that keep a bound by couplings (proofs/shaped.md); then
        each place is proved in ball arithmetic, with a little more noise where that takes it.

        Args:
            problem: laws of vectors.
            asked: a Rényi guarantee of one order.

        Returns:
            Noise on vectors, and the place that asked most of it.

        Raises:
            NoAnswerError: where no noise within the range of numbers keeps it.
        """
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

    def is_kept(self, problem: Problem, asked: Guarantee, channel: Channel) -> bool:
        """Whether noise on vectors is proved to keep the guarantee for every pair and belief.

        Args:
            problem: laws of vectors.
            asked: the guarantee.
            channel: noise on vectors.

        Returns:
            True where every directed pair under every belief is proved.
        """
        return is_proved(problem, asked, channel.as_vector())

    def cost(self, problem: Problem, channel: Channel) -> float:
        """tr(weights·Σ): by default the noise's variances relative to those of the axes, added up.

        Args:
            problem: whose laws say how wide each axis is.
            channel: noise on vectors.

        Returns:
            1 for noise on one axis that is as wide as the data on it.
        """
        return price(_beliefs(problem), channel.as_vector().covariance, weights=self.weights)


def is_proved(problem: Problem, promise: Guarantee, channel: GaussianVector) -> bool:
    """Whether noise on vectors is proved, from the laws alone, to keep the guarantee for every pair and belief.

    Args:
        problem: laws of vectors.
        promise: the guarantee.
        channel: the noise.

    Returns:
        True where each place is proved; Gaussian noise never bounds odds, so that a guarantee about those is a no.
    """
    if not promise.is_provable or promise.most_odds is not None:
        return False
    laws = [[law.simplified() for law in belief] for belief in _beliefs(problem)]
    if any(law.dimension != channel.dimension for belief in laws for law in belief):
        return False
    prover = Prover(channel.covariance, alpha=promise.alpha)
    return all(
        prover.decide(laws[place.belief][place.first], laws[place.belief][place.second], epsilon=promise.epsilon).holds
        for place in problem.places()
    )


def require_vectors(problem: Problem, asked: Guarantee, name: str) -> None:
    """Refuse what Gaussian noise on vectors cannot do."""
    if problem.space != "vector":
        kind = type(problem.laws(0)[0]).__name__
        raise MechanismError(
            f"{name!r} adds noise to vectors, and these laws are of the kind {kind}: name several "
            f"columns, such as Mean(['a', 'b']), or leave the mechanism out"
        )
    refuse_odds(asked, name)


def _beliefs(problem: Problem) -> list[list[VectorMixture]]:
    return [problem.laws(belief) for belief in range(len(problem.beliefs))]


def _frozen(weights: object) -> tuple[object, ...]:
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
