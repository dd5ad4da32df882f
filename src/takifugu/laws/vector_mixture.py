"""What an adversary believes about several numbers at once: a mixture of normals in d dimensions."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array, integer, reals, vector
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Components, Mixture, Space, counts, shares

_ROUNDING = 1e-10  # of the scale: an asymmetry or a negative eigenvalue below it is the last digits of a sum
_LARGEST = 1e150  # beyond it a variance leaves the range of a float64


class VectorMixture(Components):
    """A mixture of normal distributions of vectors of `dimension` numbers.

    `means` has one row per component, `covariances` one symmetric, positive semidefinite matrix per component; a
    matrix of zeros makes a component a point. The distribution is that of the weights divided by their sum. Immutable,
    hashable and picklable; the arrays are read-only.

    >>> law = VectorMixture([1.0], means=[[0.0, 1.0]], covariances=[[[1.0, 0.5], [0.5, 2.0]]])
    >>> law
    VectorMixture.gaussian(mean=[0.0, 1.0], covariance=[[1.0, 0.5], [0.5, 2.0]])
    >>> law.projected([1.0, 1.0])
    Mixture.gaussian(mean=1, std=2)
    """

    __slots__ = ("covariances", "means")

    space: ClassVar[Space] = "vector"
    _lists = ("weights", "means", "covariances")
    means: Array
    covariances: Array

    def __init__(self, weights: npt.ArrayLike, means: npt.ArrayLike, covariances: npt.ArrayLike) -> None:
        """Validate, copy and freeze the three lists.

        Args:
            weights: one for each component, 0 or more, whose sum is 1 but for rounding.
            means: a row for each component, with a column for each number of the vector.
            covariances: a symmetric, positive semidefinite matrix for each component.

        Raises:
            InputError: for shapes that do not fit one another, NaN, and matrices that are no covariances beyond
                rounding.
        """
        w = vector("weights", weights)
        m = _finite("means", means, 2, "one row of numbers per component")
        c = _finite("covariances", covariances, 3, "one square matrix per component")
        if not len(w) == len(m) == len(c):
            raise InputError(
                f"weights, means and covariances must have one entry per component, got {len(w)}, {len(m)} and {len(c)}"
            )
        if c.shape[1:] != (m.shape[1], m.shape[1]):
            raise InputError(
                f"means of {m.shape[1]} numbers need covariances of {m.shape[1]} rows and columns, got "
                f"{c.shape[1]} by {c.shape[2]}: give every vector the same numbers in the same order"
            )
        w = shares(w)
        c = np.stack(
            [covariance_matrix(f"covariance {k}" if len(c) > 1 else "the covariance", x) for k, x in enumerate(c)]
        )
        self._freeze(w, m, c)

    @classmethod
    def gaussian(cls, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> Self:
        """One normal distribution; a point where the covariance is all zeros.

        Args:
            mean: the expectation, a list of numbers.
            covariance: a symmetric, positive semidefinite matrix with a row for each of them.

        Returns:
            A mixture of one component.

        >>> VectorMixture.gaussian([0, 0], [[1, 0], [0, 4]]).dimension
        2
        """
        m = vector("mean", mean)
        c = _finite("covariance", covariance, 2, "a square matrix of numbers")
        return cls([1.0], m[None, :], c[None, :, :])

    @classmethod
    def empirical(cls, points: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Self:
        """Point masses at the rows of `points`; equal rows are merged, weights (or counts) are normalised.

        Args:
            points: the observed vectors, one a row.
            weights: how often each was seen, or its probability; 1 each where left out.

        Returns:
            A mixture of point masses.

        >>> len(VectorMixture.empirical([[1, 2], [3, 4], [1, 2]]))
        2
        """
        x = _finite("points", points, 2, "one row of numbers per point")
        w = counts(weights, len(x), what="point")
        rows, place = np.unique(x[w > 0], axis=0, return_inverse=True)
        heavy = np.bincount(place.reshape(-1), weights=w[w > 0])
        return cls(heavy / math.fsum(heavy), rows, np.zeros((len(rows), x.shape[1], x.shape[1])))

    @classmethod
    def from_state(cls, state: object, where: str, room: form.Room) -> Self:
        """What `to_state` gave, to the last bit; an `InputError` names the field that is wrong."""
        prior = form.fields(state, cls._lists, where)
        given = room.take(prior["weights"], f"{where}.weights")
        weights = [form.number(w, f"{where}.weights[{k}]", least=0.0) for k, w in enumerate(given)]
        means = form.matrix(prior["means"], f"{where}.means", room)
        matrices = form.exactly(prior["covariances"], f"{where}.covariances", len(weights))
        if len(means) != len(weights):
            raise InputError(f"{where}.means must have {len(weights)} entries, it has {len(means)}")
        covariances = [
            form.matrix(matrix, f"{where}.covariances[{k}]", room, columns=len(means[0]))
            for k, matrix in enumerate(matrices)
        ]
        try:
            made = cls(weights, means, covariances)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if made.weights.tolist() != weights:
            raise InputError(f"{where}.weights must sum to 1 within 2^-50: divide each by their sum")
        if made.covariances.tolist() != covariances:
            raise InputError(f"{where}.covariances must be symmetric to the last digit")
        return made

    def __repr__(self) -> str:
        """Code that makes a small Gaussian again, a summary of anything else."""
        if len(self) == 1 and self.dimension <= 3:
            mean, covariance = self.means[0].tolist(), self.covariances[0].tolist()
            return f"VectorMixture.gaussian(mean={mean}, covariance={covariance})"
        kind = "point" if not self.covariances.any() else "component"
        return f"<VectorMixture of {len(self)} {kind}{'s' * (len(self) != 1)} in {self.dimension} dimensions>"

    def on_the_line(self) -> None:
        """It is not: a vector has no place there."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector holds."""
        return int(self.means.shape[1])

    @property
    def is_gaussian(self) -> bool:
        """Whether this is one normal distribution or one point."""
        return len(self.simplified()) == 1

    @property
    def mean(self) -> Array:
        """The expectation."""
        return self._normalised() @ self.means

    @property
    def covariance(self) -> Array:
        """The covariance: that within the components plus that of their means."""
        w = self._normalised()
        # About the heaviest mean, so that components close together far from zero lose no digits.
        about = self.means - self.means[np.argmax(w)]
        about = about - w @ about
        total: Array = np.einsum("k,kij->ij", w, self.covariances) + (about * w[:, None]).T @ about
        return 0.5 * (total + total.T)

    @property
    def deviations(self) -> Array:
        """The standard deviation on each axis."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    @property
    def component_stds(self) -> Array:
        """The standard deviation of each component on each axis, components by axes."""
        return np.asarray(np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2)))

    @property
    def component_covariances(self) -> Array:
        """The covariance matrix of each component."""
        return self.covariances

    def simplified(self) -> "VectorMixture":
        """The same distribution with no empty component and no component twice, sorted.

        Returns:
            A mixture that is equal as a distribution. Divergences start from it.
        """
        if len(self) == 1:
            return self
        flat = np.concatenate([self.means, self.covariances.reshape(len(self), -1)], axis=1)[self.weights > 0]
        distinct, place = np.unique(flat, axis=0, return_inverse=True)
        d = self.dimension
        weights = np.bincount(place.reshape(-1), weights=self.weights[self.weights > 0])
        return VectorMixture(weights, distinct[:, :d], distinct[:, d:].reshape(-1, d, d))

    def with_noise(self, covariance: npt.ArrayLike) -> "VectorMixture":
        """The distribution of X + N(0, covariance).

        Args:
            covariance: of the noise, a positive semidefinite matrix.

        Returns:
            A mixture of as many components, to whose covariances that of the noise is added.

        >>> VectorMixture.gaussian([0, 0], [[1, 0], [0, 1]]).with_noise([[3, 0], [0, 8]]).deviations.tolist()
        [2.0, 3.0]
        """
        extra = covariance_matrix("the noise's covariance", covariance)
        if extra.shape[0] != self.dimension:
            raise InputError(f"noise of {extra.shape[0]} numbers cannot be added to vectors of {self.dimension}")
        return VectorMixture(self.weights, self.means, self.covariances + extra)

    def marginal(self, axes: Sequence[int]) -> "VectorMixture":
        """The distribution of some of the numbers, in the order of `axes`.

        Args:
            axes: the places of the numbers to keep, counted from 0.

        Returns:
            A law of shorter vectors. Noise that suffices for it alone may be too little for the whole vector, whose
            numbers tell about one another.

        >>> VectorMixture.gaussian([1, 2], [[1, 0], [0, 4]]).marginal([1])
        VectorMixture.gaussian(mean=[2.0], covariance=[[4.0]])
        """
        kept = [integer("an axis", axis, least=0) for axis in axes]
        if not kept or len(set(kept)) < len(kept) or max(kept) >= self.dimension:
            raise InputError(f"axes must be different numbers from 0 to {self.dimension - 1}, got {list(axes)!r}")
        return VectorMixture(self.weights, self.means[:, kept], self.covariances[np.ix_(range(len(self)), kept, kept)])

    def projected(self, direction: npt.ArrayLike) -> Mixture:
        """The distribution of the number direction · X.

        Args:
            direction: as many numbers as the vector has.

        Returns:
            A mixture on the line, with means d·μ and variances dᵀΣd.

        >>> VectorMixture.gaussian([1, 2], [[1, 0], [0, 4]]).projected([0, 1])
        Mixture.gaussian(mean=2, std=2)
        """
        a = vector("direction", direction)
        if len(a) != self.dimension:
            raise InputError(f"direction must hold {self.dimension} numbers, one per axis, got {len(a)}")
        variances = np.einsum("i,kij,j->k", a, self.covariances, a)
        return Mixture(self.weights, self.means @ a, np.sqrt(np.maximum(variances, 0.0)))

    def sample(self, size: int, *, seed: int | None = None) -> Array:
        """Independent draws, one a row, for simulations. Never the noise of a release.

        Args:
            size: how many vectors.
            seed: of the generator; fresh random bits where left out.

        Returns:
            An array with a vector in each of `size` rows.
        """
        size = integer("size", size, least=0)
        rng = np.random.default_rng(None if seed is None else integer("seed", seed, least=0))
        which = rng.choice(len(self), size=size, p=self._normalised())
        values, vectors = np.linalg.eigh(self.covariances)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        draws: Array = self.means[which] + np.einsum(
            "nij,nj->ni", roots[which], rng.standard_normal((size, self.dimension))
        )
        return draws


def covariance_matrix(name: str, given: npt.ArrayLike, *, definite: bool = False) -> Array:
    """`given` as a symmetric matrix whose eigenvalues are not negative, beyond rounding; `definite`: all above 0.

    Args:
        name: what the matrix is called in an error.
        given: the matrix.
        definite: whether every eigenvalue must be above 0, as that of noise must.

    Returns:
        The matrix made symmetric to the last bit.

    Raises:
        InputError: for what is no square matrix of finite numbers, or has an eigenvalue below 0 by more than rounding
            in the units in which every axis has variance 1.
    """
    c = _finite(name, given, 2, "a square matrix of numbers")
    if c.shape[0] != c.shape[1]:
        raise InputError(f"{name} must be a square matrix, got {c.shape[0]} rows and {c.shape[1]} columns")
    if np.abs(c).max() > _LARGEST**2:
        raise InputError(f"{name} holds a variance above {_LARGEST**2:g}: use a larger unit")
    spread = np.sqrt(np.abs(np.diagonal(c)))
    scale = np.where(spread > 0, spread, 1.0)
    with np.errstate(under="ignore"):
        unit = c / scale / scale[:, None]  # a correlation matrix, in which no axis's unit drowns another's
    off = np.abs(unit - unit.T)
    if off.max() > _ROUNDING * max(1.0, float(np.abs(unit).max())):
        i, j = (int(k) for k in np.unravel_index(np.argmax(off), off.shape))
        raise InputError(f"{name} must be symmetric, but its entries ({i}, {j}) and ({j}, {i}) differ")
    least = float(np.linalg.eigvalsh(0.5 * (unit + unit.T))[0])
    if least < -_ROUNDING * len(c) or np.diagonal(c).min() < 0:
        shown = float(np.linalg.eigvalsh(0.5 * (c + c.T))[0])
        raise InputError(f"{name} must be positive semidefinite, but its smallest eigenvalue is {shown:.6g}")
    if definite and not least > 0:
        raise InputError(
            f"{name} must be positive definite, but its smallest eigenvalue is 0: no axis may go without noise"
        )
    return 0.5 * (c + c.T) + 0.0


def _finite(name: str, values: npt.ArrayLike, dimensions: int, accepted: str) -> Array:
    """`values` as a new array of finite floats with so many dimensions."""
    try:
        array = reals(name, values)
    except InputError:
        raise InputError(f"{name} must be {accepted}, all of the same length") from None
    if array.ndim != dimensions or not array.size:
        raise InputError(f"{name} must be {accepted}, got an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite")
    return array + 0.0


# Distributions of an answer, and how they are fitted to counts.

# The laws of one problem are all of one kind, which `problems.beliefs` sees to and no type can say: whoever takes a law
# knows which kind it works on.
Law = Any
LAWS = (Mixture, Finite, VectorMixture)


def law_from_state(state: object, where: str, room: form.Room) -> Law:
    """The law that `to_state` wrote, of whatever kind.

    Args:
        state: the object from a file.
        where: its place in the file, which errors name.
        room: what is left of the numbers that one file may hold.

    Returns:
        A `Mixture`, `Finite` or `VectorMixture`, equal to what was written to the last bit.

    Raises:
        InputError: with the name of the field that is missing, unknown or wrong.

    >>> law_from_state(Mixture.gaussian(0, 1).to_state(), "law", form.Room())
    Mixture.gaussian(mean=0, std=1)
    """
    told = state if isinstance(state, dict) else {}
    kind: type[Mixture | Finite | VectorMixture] = Mixture
    if "values" in told:
        kind = Finite
    elif "covariances" in told:
        kind = VectorMixture
    return kind.from_state(state, where, room)
