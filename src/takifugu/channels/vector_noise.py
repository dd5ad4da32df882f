"""Gaussian noise on vectors: drawn without a trace of float64, and added up over releases."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array, budget, order
from takifugu.channels.gaussian import GaussianNoise
from takifugu.channels.noise import Noise, log_density
from takifugu.channels.protocol import Channel, Publishes
from takifugu.channels.rounded_draws import CHUNK, Drawing, Grid, checked, default_granularity, exact_multiple
from takifugu.channels.sampling import BitSource, OsBits, read_exactly
from takifugu.divergences import (
    Decision,
    Effort,
    Prover,
    couple,
    exact_matrix,
    fraction,
    gaussian_vector_divergence,
    is_definite,
    is_semidefinite,
    nearest_floats,
    register,
    require_definite,
)
from takifugu.errors import CompositionError, InputError
from takifugu.laws import VectorMixture, covariance_matrix
from takifugu.problems import RenyiDivergence

if TYPE_CHECKING:
    from flint import fmpq, fmpq_mat

# Turning a covariance into independent axes by a matrix that multiplies without rounding.
#
# Σ = T·diag·Tᵀ with T unit lower triangular, so U = T⁻¹ makes the axes of U·noise independent. U is rounded to a few
# binary digits, which spoils that a little; the variances θ² of the axes are raised until diag(θ²) ⪰ UΣUᵀ, that is
# until U⁻¹·diag(θ²)·U⁻ᵀ ⪰ Σ, and this is proved in rational arithmetic (proofs/vector-sampler.md).

_BITS = (12, 18, 24, 30, 36)  # binary digits of U after the point: the first that cost little
_LITTLE = 5e-4  # of the variance
_ATTEMPTS = 60


@dataclass(frozen=True)
class Scheme:
    """x is measured in 2^exponents, multiplied by U = rows·2^−bits, and axis k then gets noise of deviation thetas[k].

    The effective covariance, 2^e·U⁻¹·diag(θ²)·U⁻ᵀ·2^e, is proved to be at least the one asked for.
    """

    exponents: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    bits: int
    thetas: tuple[float, ...]

    @classmethod
    def of(cls, covariance: Array) -> "Scheme":
        """The scheme of a positive definite covariance, proved.

        The variances are brought to between ¼ and 1 by powers of two, which rounds nothing. U is the inverse of the
        Cholesky factor, with ones on its diagonal, rounded to ever more bits until the deviations that are proved to
        dominate the covariance exceed it by next to nothing (proofs/vector-sampler.md).

        Args:
            covariance: of the noise that was asked for, positive definite.

        Returns:
            A scheme whose effective covariance is at least that, in rational numbers.

        Raises:
            InputError: for a matrix that is singular, exactly or to float64.
        """
        # Powers of two, so that changing to these units rounds nothing: variances lie between 1/4 and 1.
        exponents = [-(-math.frexp(float(v))[1] // 2) for v in np.diagonal(covariance)]
        # In two steps: 2^-(e+f) itself may be no float64.
        unit = np.ldexp(1.0, [-e for e in exponents])
        sigma = covariance * unit * unit[:, None]
        exact = _scaled(covariance, exponents)
        require_definite("the noise's covariance", exact)
        try:
            factor = np.linalg.cholesky(sigma)
        except np.linalg.LinAlgError:
            raise InputError("the noise's covariance must be positive definite: it is singular to float64") from None
        turn = np.linalg.inv(factor / np.diagonal(factor))
        for bits in _BITS:
            rows = tuple(
                tuple((1 << bits) if j == i else (round(math.ldexp(float(x), bits)) if j < i else 0) for j, x in line)
                for i, line in enumerate(enumerate(row) for row in turn)
            )
            thetas, excess = _proved_thetas(rows, bits, exact)
            if excess <= _LITTLE:
                break
        return cls(tuple(exponents), rows, bits, thetas)

    def effective(self) -> "fmpq_mat":
        """The covariance of the noise, as a matrix of rational numbers.

        Returns:
            2^e·U⁻¹·diag(θ²)·U⁻ᵀ·2^e without rounding. The matrix is what is drawn, before it lands on its grid.
        """
        from flint import fmpq_mat

        d = len(self.thetas)
        inverse = (_dyadic(self.rows, self.bits)).inv()
        axes = fmpq_mat([[fraction(self.thetas[i]) ** 2 if i == j else 0 for j in range(d)] for i in range(d)])
        units = fmpq_mat([[_power(self.exponents[i]) if i == j else 0 for j in range(d)] for i in range(d)])
        return units * inverse * axes * inverse.transpose() * units


def _proved_thetas(rows: tuple[tuple[int, ...], ...], bits: int, sigma: "fmpq_mat") -> tuple[tuple[float, ...], float]:
    """Deviations of the axes with diag(θ²) ⪰ UΣUᵀ, proved, and how far their squares exceed its diagonal."""
    from flint import fmpq_mat

    d = len(rows)
    U = _dyadic(rows, bits)
    exact = U * sigma * U.transpose()
    # Entries of a product of 2^bits-ths: any of them fits a float64 to its last digit.
    turned = nearest_floats(exact)
    deviation = np.sqrt(np.diagonal(turned))
    excess = max(float(np.linalg.eigvalsh(turned / np.outer(deviation, deviation))[-1]) - 1.0, 0.0) + 1e-14
    for _ in range(_ATTEMPTS):
        thetas = [float(x) for x in deviation * math.sqrt(1 + excess)]
        room = fmpq_mat([[fraction(thetas[i]) ** 2 if i == j else 0 for j in range(d)] for i in range(d)]) - exact
        if is_semidefinite(room):
            return tuple(thetas), excess
        excess = 2 * excess
    raise InputError("the noise's covariance is too close to singular to be drawn safely: raise its least direction")


def _scaled(covariance: Array, exponents: list[int]) -> "fmpq_mat":
    """2^−e·Σ·2^−e without rounding."""
    from flint import fmpq_mat

    d = len(exponents)
    units = fmpq_mat([[_power(-exponents[i]) if i == j else 0 for j in range(d)] for i in range(d)])
    return units * exact_matrix(covariance) * units


def _dyadic(rows: tuple[tuple[int, ...], ...], bits: int) -> "fmpq_mat":
    from flint import fmpq, fmpq_mat

    return fmpq_mat([[fmpq(x, 1 << bits) for x in row] for row in rows])


def _power(exponent: int) -> "fmpq":
    from flint import fmpq

    return fmpq(1 << exponent) if exponent >= 0 else fmpq(1, 1 << -exponent)


# The Gaussian channel of vectors: float-safe noise of any covariance.
#
# What is published is a function of U·x + θN, drawn axis by axis with the scalar sampler from the exact U·x, so its
# proof carries over (proofs/vector-sampler.md). Integers carry every number between the input and the output.

Integers = npt.NDArray[np.object_]

MOST_AXES = 100  # beyond it the proof of how to draw takes longer than anyone waits


class GaussianVector(Channel):
    """Noise N(0, covariance) added to a vector; the noise drawn is proved to be at least that.

    `covariance` is what guarantees rest on. What is drawn has `effective` covariance, larger by less than a tenth of a
    percent unless the matrix is nearly singular: more noise, never less. Equal, hashable and picklable by `covariance`.

    >>> channel = GaussianVector([[1.0, 0.5], [0.5, 2.0]])
    >>> channel.draw([[0.0, 0.0], [3.0, 4.0]]).shape
    (2, 2)
    """

    kind: ClassVar[str] = "vector"
    publishes: ClassVar[Publishes] = "vector"
    laws: ClassVar[type] = VectorMixture
    weaker: ClassVar[str] = "half the noise"

    def __init__(self, covariance: npt.ArrayLike) -> None:
        """Check the covariance, and find and prove how to draw it.

        Args:
            covariance: of the noise, a symmetric, positive definite matrix.

        Raises:
            InputError: for a matrix that is none, or too close to singular to be drawn safely.
        """
        matrix = covariance_matrix("the noise's covariance", covariance, definite=True)
        if len(matrix) > MOST_AXES:
            raise InputError(f"noise on at most {MOST_AXES} numbers at once can be proved, got {len(matrix)}")
        matrix.setflags(write=False)
        self.covariance: Array = matrix
        self._scheme = Scheme.of(matrix)

    def __eq__(self, other: object) -> bool:
        """Whether the covariances agree bit for bit."""
        if not isinstance(other, GaussianVector):
            return NotImplemented
        return np.array_equal(self.covariance, other.covariance)

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self.covariance.tobytes())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the covariance: the scheme is found and proved again."""
        return type(self), (self.covariance,)

    def __repr__(self) -> str:
        """The deviations of the axes."""
        stds = ", ".join(f"{x:.4g}" for x in np.sqrt(np.diagonal(self.covariance)))
        return f"<GaussianVector with standard deviations {stds}>"

    @property
    def noise_covariance(self) -> Array:
        """See `Channel`: what guarantees rest on."""
        return self.covariance

    @property
    def deviations(self) -> Array:
        """The standard deviation of the noise on each number."""
        found: Array = np.sqrt(np.diagonal(self.covariance))
        return found

    @property
    def axes(self) -> tuple[Noise, ...]:
        """See `Channel`."""
        return tuple(GaussianNoise(std) for std in self.deviations.tolist())

    @property
    def width(self) -> int:
        """See `Channel`."""
        return self.dimension

    @property
    def is_bare(self) -> bool:
        """See `Channel`: its covariance is definite."""
        return False

    def as_vector(self) -> "GaussianVector":
        """See `Channel`."""
        return self

    def at_least(self, other: Channel) -> bool:
        """See `Channel`: in every direction as much variance, decided in rational numbers."""
        if self.kind != other.kind or self.dimension != other.width:
            return False
        return at_least(self.covariance, other.noise_covariance)

    def repeated(self, others: Sequence[Channel]) -> Channel:
        """See `Channel`: precisions add up; what floats lose is taken off the covariance."""
        releases = [LinearRelease(self.covariance)]
        for other in others:
            if other.kind != self.kind or other.width != self.dimension:
                raise CompositionError(
                    f"{self.describe()} and {other.describe()} do not add up to one release of either kind"
                )
            releases.append(LinearRelease(other.noise_covariance))
        if len(releases) == 1:
            return self
        covariance, hair = worth(releases), 2.0**-52
        while not fits(releases, budget=covariance):
            covariance, hair = covariance * (1 - hair), 4 * hair
            if hair > 1e-3:
                raise CompositionError(f"what these releases of {self.describe()} are worth is beyond floats")
        return GaussianVector(covariance)

    def describe(self, *, exact: bool = False) -> str:
        """See `Channel`."""
        return f"Gaussian noise on vectors of {self.dimension} numbers"

    def log_likelihood(
        self, law: VectorMixture, published: Sequence[npt.NDArray[np.float64]], *, weaker: bool = False
    ) -> Array:
        """See `Channel`; also where the density is below every float."""
        return log_density(law, np.stack(published, axis=1), (0.25 if weaker else 1.0) * self.covariance)

    def publish(self, values: npt.ArrayLike, source: BitSource | None = None) -> Array:
        """See `Channel`."""
        return self.draw(values, source=source)

    def to_state(self) -> dict[str, object]:
        """See `Channel`."""
        return {"kind": self.kind, "covariance": self.covariance.tolist()}

    @classmethod
    def from_state(cls, state: object) -> "GaussianVector":
        """See `Channel`."""
        content = form.fields(state, ("kind", "covariance"), "'channel'")
        # Counted before it is read: proving how such a matrix is drawn takes time that grows with its fourth power.
        size = len(form.items(content["covariance"], "channel.covariance", least=1, most=MOST_AXES))
        matrix = form.matrix(content["covariance"], "channel.covariance", form.Room(), columns=size)
        channel = cls(matrix)
        if channel.covariance.tolist() != matrix:
            raise InputError("channel.covariance must be symmetric to the last digit")
        return channel

    def public_state(self, *, withhold: bool) -> dict[str, object]:
        """See `Channel`: correlations point in the direction in which the secrets differ, and are never told."""
        return {"kind": self.kind, "deviations": self.deviations.tolist()}

    @property
    def dimension(self) -> int:
        """How many numbers a vector holds."""
        return len(self.covariance)

    @cached_property
    def effective(self) -> Array:
        """The covariance of what is drawn, before it is rounded to its grid."""
        return nearest_floats(self._scheme.effective())

    def precision(self) -> Array:
        """The inverse of the covariance: the precisions of releases of one vector add up."""
        return np.asarray(np.linalg.inv(self.covariance), dtype=np.float64)

    def apply(self, law: VectorMixture) -> VectorMixture:
        """The law of what is published, where the vector has this law.

        Args:
            law: a `VectorMixture` of as many numbers as the noise has.

        Returns:
            The same with the noise's covariance added to that of each component.
        """
        self.require_law(law)
        return law.with_noise(self.covariance)

    def fitting(self, law: VectorMixture) -> VectorMixture:
        """The law without empty components, once it is about as many numbers as the noise.

        Args:
            law: of the true vector.

        Returns:
            It, simplified.

        Raises:
            InputError: where the law is of vectors of another length.
        """
        if law.dimension != self.dimension:
            raise InputError(f"noise on {self.dimension} numbers does not fit a law about {law.dimension}")
        return law.simplified()

    def draw(self, x: npt.ArrayLike, *, source: BitSource | None = None, exact_only: bool = False) -> Array:
        """x + noise for a vector, or for each row of a table of vectors, with independent noise.

        Each axis of U·x + θN is rounded to θ/1024 or finer, and U⁻¹ of that is published, rounded once to float64. All
        that can be refused is refused before a bit is drawn. `exact_only` settles every value in ball arithmetic: the
        same values from the same bits, slower.

        Args:
            x: the true vector, or a table with one in each row.
            source: of random bits; the operating system's where left out.
            exact_only: leave the fast path out, for tests of it.

        Returns:
            An array of the shape of `x`.

        Raises:
            InputError: for numbers that are missing, not finite, or so large that their sum with noise is no float.
        """
        values, _ = checked(x, theta=1.0)
        if values.ndim not in (1, 2) or values.shape[-1] != self.dimension:
            raise InputError(
                f"vectors of {self.dimension} numbers are needed, one a row; got an array of shape {values.shape}"
            )
        table = values.reshape(-1, self.dimension)
        bits = OsBits() if source is None else source
        drawings = [Drawing(t, Grid(default_granularity(t)), bits, exact_only) for t in self._scheme.thetas]
        parts = [self._chunk(table[i : i + CHUNK], drawings) for i in range(0, len(table), CHUNK)]
        published = np.concatenate(parts) if parts else np.empty_like(table)
        return published.reshape(values.shape)

    def _chunk(self, x: Array, drawings: list[Drawing]) -> Array:
        scheme = self._scheme
        turned, unit = self._turned(x)
        ends = [_rounded(turned[k], unit, drawing) for k, drawing in enumerate(drawings)]
        # U⁻¹ by forward substitution, in units fine enough for every product on the way to be a whole number of them.
        finest = min(drawing.grid.exponent for drawing in drawings)
        spare = scheme.bits * self.dimension
        solved: list[Integers] = []
        out = np.empty_like(x)
        for k, drawing in enumerate(drawings):
            mine = ends[k] * (1 << (drawing.grid.exponent - finest + spare))
            for j in range(k):
                mine = mine - ((scheme.rows[k][j] * solved[j]) >> scheme.bits)
            solved.append(mine)
            out[:, k] = [_float(number, finest - spare + scheme.exponents[k]) for number in mine]
        return out

    def _turned(self, x: Array) -> tuple[Integers, int]:
        """U·x as integers, an axis a row, and the exponent of their unit."""
        scheme = self._scheme
        mantissas, exponents = np.frexp(x.T)
        whole = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
        places = exponents.astype(np.int64) - 53 - np.array(scheme.exponents, dtype=np.int64)[:, None]
        places[x.T == 0] = 0 if not x.any() else places[x.T != 0].min()
        unit = int(places.min()) if places.size else 0
        lifted = whole * (1 << (places - unit).astype(object))
        return np.array(scheme.rows, dtype=object) @ lifted, unit - scheme.bits


def _rounded(values: Integers, unit: int, drawing: Drawing) -> Integers:
    """round((value + θN)/Λ) for the exact values, integers in 2^unit: integers."""
    words = np.frombuffer(read_exactly(drawing.source, 4 * len(values)), dtype="<i4")
    shift = drawing.grid.exponent - unit
    if shift <= 0:  # every value is a multiple of Λ
        base, offset = values * (1 << -shift), np.zeros(len(values))
    else:
        base = (values + (1 << (shift - 1))) >> shift
        # Python divides integers of any length with one correct rounding: off by 2⁻⁵⁴ at most, as |offset| ≤ ½.
        offset = ((values - base * (1 << shift)) / (1 << shift)).astype(np.float64)
    with np.errstate(all="ignore"):
        ends, settled = drawing.steps(words, offset)
    result: Integers = base + np.array(
        [int(end) if known else 0 for end, known in zip(ends, settled, strict=True)], object
    )
    for i in np.flatnonzero(~settled):
        exact = Fraction(int(values[i])) * Fraction(2) ** unit
        result[i] = exact_multiple(
            exact, int(words[i]), drawing.source, theta=drawing.theta, granularity=drawing.grid.granularity
        )
    return result


def _float(number: int, exponent: int) -> float:
    """number·2^exponent rounded once to float64; the largest float64 where there is none."""
    try:
        return float(number << exponent) if exponent >= 0 else number / (1 << -exponent)
    except OverflowError:
        return math.copysign(sys.float_info.max, number)


# What several releases about one vector are worth together: their precisions, matrices, add up.
#
# A release A·X + N(0, S) has the precision AᵀS⁻¹A (proofs/vector-sampler.md). Whether a sum still fits into a budget
# is decided in rational arithmetic.


@dataclass(frozen=True, eq=False)
class LinearRelease:
    """A·X + N(0, covariance); `linear` is A, by default the identity: the vector itself."""

    covariance: Array
    linear: Array | None = None

    @classmethod
    def of(cls, covariance: npt.ArrayLike, linear: npt.ArrayLike | None = None) -> "LinearRelease":
        """Check the two matrices.

        Args:
            covariance: of the noise that was added.
            linear: the matrix A that the vector was multiplied by; the identity where left out.

        Returns:
            The release, for `fits`, `what_is_left` and `worth`.

        Raises:
            InputError: for a covariance that is not definite, or matrices whose shapes do not fit.
        """
        matrix = covariance_matrix("the noise's covariance", covariance, definite=True)
        if linear is None:
            return cls(matrix)
        a = np.atleast_2d(np.asarray(linear, dtype=np.float64))
        if a.ndim != 2 or not np.isfinite(a).all() or len(a) != len(matrix):
            raise InputError(
                f"linear must be a matrix of finite numbers with a row for each of the {len(matrix)} numbers published"
            )
        return cls(matrix, a)

    def precision(self) -> "fmpq_mat":
        """AᵀS⁻¹A as rational numbers.

        What releases of one vector tell is the sum of these matrices, whatever is known of the vector: a Gaussian
        observation adds its precision to everybody's (proofs/ledger.md). Sums of rational numbers lose nothing.
        """
        inverse = _inverse(self.covariance)
        if self.linear is None:
            return inverse
        a = exact_matrix(self.linear)
        return a.transpose() * inverse * a


def fits(releases: Sequence[LinearRelease], *, budget: npt.ArrayLike) -> bool:
    """Whether all releases together tell no more than one release of the vector with noise `budget`.

    Args:
        releases: what was published of the vector so far, and what is to be.
        budget: the covariance of the one release that was calibrated.

    Returns:
        True where the budget's precision less that of all releases is positive semidefinite, decided in rational
        numbers.

    >>> half = LinearRelease.of([[2.0, 0.0], [0.0, 2.0]])
    >>> fits([half, half], budget=np.eye(2)), fits([half, half, half], budget=np.eye(2))
    (True, False)
    """
    whole = _inverse(covariance_matrix("the budget's covariance", budget, definite=True))
    for release in releases:
        spent = release.precision()
        if spent.nrows() != whole.nrows():
            raise InputError(f"a release about {spent.nrows()} numbers does not compose with one of {whole.nrows()}")
        whole = whole - spent
    return is_semidefinite(whole)


def at_least(covariance: Array, least: Array) -> bool:
    """Whether one covariance has, in every direction, at least the variance of another.

    Args:
        covariance: of the noise that there is.
        least: of the noise that there must be.

    Returns:
        True where the difference is positive semidefinite, decided in rational numbers: a float's eigenvalue would be
        off by its last digit on either side of 0.
    """
    return is_semidefinite(exact_matrix(covariance) - exact_matrix(least))


def what_is_left(releases: Sequence[LinearRelease], *, budget: npt.ArrayLike) -> Array | None:
    """The covariance of one more release of the whole vector that uses up the budget; None where none is left.

    The precision left over is exact; its inverse is rounded and raised until it is checked to fit.

    Args:
        releases: what was published of the vector.
        budget: the covariance of the one release that was calibrated.

    Returns:
        A covariance that `fits` together with the releases. It is larger than the exact one by rounding, never less.

    >>> what_is_left([LinearRelease.of([[2.0, 0.0], [0.0, 4.0]])], budget=np.eye(2)).round(6).tolist()
    [[2.0, 0.0], [0.0, 1.333333]]
    """
    whole = covariance_matrix("the budget's covariance", budget, definite=True)
    left = _inverse(whole)
    for release in releases:
        left = left - release.precision()
    if not is_definite(left):
        return None
    covariance = nearest_floats(left.inv())
    covariance = 0.5 * (covariance + covariance.T)
    hair = 2.0**-52
    while hair < 1:
        if not np.isfinite(covariance).all() or not is_definite(exact_matrix(covariance)):
            return None  # beyond floats, or so narrow that its rounding has no least direction left
        if fits([*releases, LinearRelease(covariance)], budget=whole):
            return covariance
        covariance, hair = covariance * (1 + hair), 4 * hair
    return None


def worth(releases: Sequence[LinearRelease]) -> Array:
    """The covariance of the one release of the whole vector that tells as much as all of these.

    Args:
        releases: one at least, together about every direction of the vector.

    Returns:
        The inverse of the sum of their precisions, in floats.

    Raises:
        InputError: where a direction of the vector is in none of them.
    """
    total = sum((release.precision() for release in releases[1:]), releases[0].precision())
    if total.det() == 0:
        raise InputError("these releases leave a direction of the vector untold: no release of all of it is worth them")
    return nearest_floats(total.inv())


def _inverse(covariance: Array) -> "fmpq_mat":
    """S⁻¹ as rational numbers, of a definite S.

    A direction of −10⁻¹⁷ would be a precision far below 0: a release that is bare there would give back more of the
    budget than any other takes.
    """
    exact = exact_matrix(covariance)
    require_definite("a covariance", exact)
    return exact.inv()


def _value(p: VectorMixture, q: VectorMixture, of: RenyiDivergence, noise: GaussianVector) -> float:
    """Exact for Gaussians; for mixtures the bound of two couplings, which is never below it."""
    p, q = noise.fitting(p), noise.fitting(q)
    if p == q:
        return 0.0
    if len(p) == len(q) == 1:
        gap = p.means[0] - q.means[0]
        return gaussian_vector_divergence(
            gap, p.covariances[0], q.covariances[0], alpha=of.alpha, covariance=noise.covariance
        )
    return couple(p, q, alpha=of.alpha, covariance=noise.covariance).bound


def _decide(
    p: VectorMixture, q: VectorMixture, of: RenyiDivergence, limit: float, noise: GaussianVector, effort: Effort | None
) -> Decision:
    """For mixtures undecided where the bound is above the budget."""
    prover = Prover(noise.covariance, alpha=order(of.alpha), effort=effort)
    return prover.decide(noise.fitting(p), noise.fitting(q), epsilon=budget(limit))


register("vector", RenyiDivergence, _value, _decide)
