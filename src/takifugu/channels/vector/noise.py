"""The Gaussian channel of vectors: float-safe noise of any covariance.

What is published is a function of U·x + θN, drawn axis by axis with the scalar sampler from the exact U·x, so its
proof carries over (proofs/vector-sampler.md). Integers carry every number between the input and the output.
"""

import math
import sys
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, budget, order
from takifugu.channels.bits import BitSource, OsBits, read_exactly
from takifugu.channels.gaussian.exact_rounding import exact_multiple
from takifugu.channels.gaussian.grid import Grid, default_granularity
from takifugu.channels.gaussian.sampler import CHUNK, Drawing, checked
from takifugu.channels.vector.scheme import Scheme
from takifugu.divergences.proved.certified import Decision
from takifugu.divergences.proved.effort import Effort
from takifugu.divergences.proved.matrices import nearest_floats
from takifugu.divergences.proved.vector import Prover
from takifugu.divergences.vector.coupling import couple
from takifugu.divergences.vector.gaussian import gaussian_vector_divergence
from takifugu.errors import InputError
from takifugu.laws.vector import VectorMixture, covariance_matrix

Integers = npt.NDArray[np.object_]

MOST_AXES = 100  # beyond it the proof of how to draw takes longer than anyone waits


class GaussianVector:
    """Noise N(0, covariance) added to a vector; the noise drawn is proved to be at least that.

    `covariance` is what guarantees rest on. What is drawn has `effective` covariance, larger by less than a tenth of a
    percent unless the matrix is nearly singular: more noise, never less. Equal, hashable and picklable by `covariance`.

    >>> channel = GaussianVector([[1.0, 0.5], [0.5, 2.0]])
    >>> channel.draw([[0.0, 0.0], [3.0, 4.0]]).shape
    (2, 2)
    """

    kind: ClassVar[str] = "vector"

    def __init__(self, covariance: npt.ArrayLike) -> None:
        """Check the covariance, and find and prove how to draw it."""
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the covariance: the scheme is found and proved again."""
        return type(self), (self.covariance,)

    def __repr__(self) -> str:
        """The deviations of the axes."""
        stds = ", ".join(f"{x:.4g}" for x in np.sqrt(np.diagonal(self.covariance)))
        return f"<GaussianVector with standard deviations {stds}>"

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
        """The law of what is published, where the vector has this law."""
        return law.with_noise(self.covariance)

    def loss(self, p: VectorMixture, q: VectorMixture, *, alpha: float) -> float:
        """D_α(p + N ‖ q + N): exact for Gaussians, for mixtures the bound of two couplings, which is never below it.

        Infinite at α = ∞ unless the laws agree, since a bell's tails know no bound.
        """
        p, q = self._fitting(p), self._fitting(q)
        if p == q:
            return 0.0
        if math.isinf(alpha):
            return math.inf
        if len(p) == len(q) == 1:
            return gaussian_vector_divergence(
                p.means[0] - q.means[0], p.covariances[0], q.covariances[0], alpha=alpha, covariance=self.covariance
            )
        return couple(p, q, alpha=alpha, covariance=self.covariance).bound

    def decide(
        self, p: VectorMixture, q: VectorMixture, *, alpha: float, epsilon: float, effort: Effort | None = None
    ) -> Decision:
        """Whether the loss is proved to be `epsilon` at most; for mixtures undecided where the bound is above it."""
        prover = Prover(self.covariance, alpha=order(alpha), effort=effort)
        return prover.decide(self._fitting(p), self._fitting(q), epsilon=budget(epsilon))

    def _fitting(self, law: VectorMixture) -> VectorMixture:
        """The law without empty components, once it is about as many numbers as the noise."""
        if law.dimension != self.dimension:
            raise InputError(f"noise on {self.dimension} numbers does not fit a law about {law.dimension}")
        return law.simplified()

    def draw(self, x: npt.ArrayLike, *, source: BitSource | None = None, exact_only: bool = False) -> Array:
        """x + noise for a vector, or for each row of a table of vectors, with independent noise.

        Each axis of U·x + θN is rounded to θ/1024 or finer, and U⁻¹ of that is published, rounded once to float64. All
        that can be refused is refused before a bit is drawn. `exact_only` settles every value in ball arithmetic: the
        same values from the same bits, slower.
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
