"""The divergence of vectors with a proof: exactly for Gaussians, by the coupling bound for mixtures.

The parameters are the exact numbers that their floats are (proofs/vector.md).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, budget, order
from takifugu.divergences.certified import Decision
from takifugu.divergences.numerics.balls import UNKNOWN, Effort, Enclosure, UndecidableError, fraction, meet, outward
from takifugu.errors import CertificationError, InputError
from takifugu.laws import VectorMixture, covariance_matrix

if TYPE_CHECKING:
    from flint import arb, fmpq, fmpq_mat

# Matrices of rational numbers: signs and determinants with no rounding at all.
#
# A float is a fraction with a power of two below it. Whether a symmetric matrix of such numbers is positive definite
# is read off the signs of its characteristic polynomial, whose roots are all real (proofs/vector.md, lemma 1).


def exact_matrix(array: Array) -> "fmpq_mat":
    """A float64 matrix, or a vector as one column, as a matrix of rational numbers."""
    from flint import fmpq_mat

    rows = array.tolist() if array.ndim == 2 else [[x] for x in array.tolist()]
    return fmpq_mat([[fraction(x) for x in row] for row in rows])


def nearest_floats(matrix: "fmpq_mat") -> Array:
    """A matrix of rational numbers in float64, each entry rounded once."""
    return np.array([[int(x.numer()) / int(x.denom()) for x in row] for row in matrix.tolist()])


def is_definite(matrix: "fmpq_mat") -> bool:
    """Whether every eigenvalue of a symmetric matrix is above 0."""
    return volume_if_definite(matrix) is not None


def require_definite(name: str, matrix: "fmpq_mat") -> None:
    """Raise unless a covariance is definite as the exact numbers it holds.

    To floats a direction of −10⁻¹⁷ is one of 0 or a little more: a matrix of a rank too few, rounded, may pass there.
    """
    if not is_definite(matrix):
        raise InputError(f"{name} must be positive definite: but for rounding it is singular")


def volume_if_definite(matrix: "fmpq_mat") -> "fmpq | None":
    """The determinant of a symmetric matrix whose eigenvalues are all above 0, None for any other."""
    coefficients = _alternated(matrix)
    return coefficients[0] if all(c > 0 for c in coefficients) else None


def is_semidefinite(matrix: "fmpq_mat") -> bool:
    """Whether no eigenvalue of a symmetric matrix is below 0."""
    coefficients = _alternated(matrix)
    return all(c >= 0 for c in coefficients)


def pivots(matrix: "fmpq_mat") -> list[int]:
    """The first columns that span the range of the matrix."""
    reduced, rank = matrix.rref()
    found = []
    for row in reduced.tolist()[:rank]:
        found.append(next(k for k, x in enumerate(row) if x != 0))
    return found


def block(matrix: "fmpq_mat", rows: list[int], columns: list[int]) -> "fmpq_mat":
    """The entries in some rows and columns."""
    from flint import fmpq_mat

    entries = matrix.tolist()
    return fmpq_mat([[entries[i][j] for j in columns] for i in rows])


def beside(left: "fmpq_mat", right: "fmpq_mat") -> "fmpq_mat":
    """Two matrices of as many rows, one beside the other."""
    from flint import fmpq_mat

    return fmpq_mat([a + b for a, b in zip(left.tolist(), right.tolist(), strict=True)])


def quadratic_form(matrix: "fmpq_mat", column: "fmpq_mat", determinant: "fmpq") -> "fmpq":
    """xᵀ·matrix⁻¹·x from two determinants: that of the matrix bordered by x is −|matrix|·xᵀ·matrix⁻¹·x."""
    from flint import fmpq, fmpq_mat

    xs = [row[0] for row in column.tolist()]
    bordered = fmpq_mat([[*row, x] for row, x in zip(matrix.tolist(), xs, strict=True)] + [[*xs, fmpq(0)]])
    return -bordered.det() / determinant


def _alternated(matrix: "fmpq_mat") -> "list[fmpq]":
    """The elementary symmetric functions of the eigenvalues, from the determinant down to the trace."""
    from flint import fmpq

    coefficients = matrix.charpoly().coeffs()
    size = matrix.nrows()
    coefficients += [fmpq(0)] * (size + 1 - len(coefficients))
    return [c if (size - k) % 2 == 0 else -c for k, c in enumerate(coefficients[:size])]


# The divergence of two Gaussian vectors with a proof.
#
# Everything up to three logarithms is rational and computed without rounding; the logarithms are balls
# (proofs/vector.md).

FIRST, _MOST = 96, 3072  # bits of the logarithms; laws that agree to more are not told apart


@dataclass(frozen=True)
class ExactGaussian:
    """One Gaussian vector after noise, rational; `sound` is False where its matrix is no covariance."""

    mean: "fmpq_mat"
    covariance: "fmpq_mat"
    determinant: "fmpq"
    sound: bool

    @classmethod
    def after_noise(cls, mean: Array, covariance: Array, noise: "fmpq_mat") -> "ExactGaussian":
        """N(mean, covariance + noise) for float64 numbers taken as exact, the noise rational already."""
        total = exact_matrix(covariance) + noise
        return cls(exact_matrix(mean), total, total.det(), is_semidefinite(total))


class GaussianVectors:
    """D_α of two Gaussian vectors with everything that is rational worked out.

    `exact` is the divergence where it is infinite or rational, None where logarithms are left; `sound` is False where
    nothing can be proved, because a matrix is no covariance.
    """

    def __init__(self, p: ExactGaussian, q: ExactGaussian, *, alpha: "fmpq") -> None:
        """Decide what can be decided without rounding; `alpha` is rational."""
        from flint import arb, fmpq

        self.alpha = alpha
        self.exact: arb | fmpq | None = None
        self.sound = p.sound and q.sound
        if not self.sound:
            return
        gap, lead, follow = p.mean - q.mean, p.covariance, q.covariance
        self.ratio, below = fmpq(1), q.determinant
        if below == 0:
            kept = pivots(follow)
            same = beside(lead, follow).rank() == lead.rank() == len(kept)
            if not same or beside(follow, gap).rank() > len(kept):
                self.exact = arb.pos_inf()  # p has mass where q has none, or lies in fewer dimensions
                return
            if not kept:
                self.exact = fmpq(0)  # the same point twice
                return
            # Both live in the same plane, in which these axes are coordinates.
            gap, lead, follow = block(gap, kept, [0]), block(lead, kept, kept), block(follow, kept, kept)
            below, above = follow.det(), lead.det()
        else:
            above = p.determinant
        margin = alpha * follow - (alpha - 1) * lead
        volume = volume_if_definite(margin)
        if above == 0 or volume is None:
            self.exact = arb.pos_inf()
            return
        self.shift = alpha * quadratic_form(margin, gap, volume) / 2
        self.ratio, self.tilt = below / above, volume / below
        if lead == follow:
            self.exact = self.shift

    def ball(self, precision: int) -> "arb | fmpq":
        """A ball around the divergence, with logarithms of so many bits."""
        from flint import arb, ctx

        if not self.sound:
            return arb(0, arb.pos_inf())
        if self.exact is not None:
            return self.exact
        with ctx.workprec(precision):
            logs = arb(self.ratio - 1).log1p() - arb(self.tilt - 1).log1p() / arb(self.alpha - 1)
            return arb(self.shift) + logs / 2

    def balls(self) -> "Iterator[arb | fmpq]":
        """Ever smaller balls; one alone where the divergence is exact or nothing can be proved."""
        precision = FIRST
        while precision <= _MOST:
            yield self.ball(precision)
            if self.exact is not None or not self.sound:
                return
            precision *= 2


def enclose_gaussian_vectors(
    p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: npt.ArrayLike, rtol: float = 1e-12
) -> Enclosure:
    """Two floats that hold D_α(p + N(0, Σ) ‖ q + N(0, Σ)) of two Gaussian vectors, `rtol` apart or less.

    >>> p, q = VectorMixture.gaussian([0, 0], [[1, 0], [0, 1]]), VectorMixture.gaussian([1, 1], [[1, 0], [0, 1]])
    >>> enclose_gaussian_vectors(p, q, alpha=2, covariance=[[1, 0], [0, 1]])
    Enclosure(lower=1.0, upper=1.0)
    """
    p, q, sigma = _checked(p, q, covariance)
    if len(p) > 1 or len(q) > 1:
        raise InputError("enclose_gaussian_vectors takes Gaussian laws: use prove_vectors for mixtures")
    found = UNKNOWN
    for value in Prover(sigma, alpha=order(alpha)).pair(p, q).balls():
        found = meet(found, outward(value))
        if found.width <= max(rtol * found.lower, math.ulp(found.lower)):
            break
    return found


def enclose_coupled_vectors(
    p: VectorMixture, q: VectorMixture, forward: Array, backward: Array, *, alpha: float, covariance: npt.ArrayLike
) -> Enclosure:
    """[0, b] with b a proved bound on D_α of two mixtures after noise, from two couplings of their components.

    Row k of `forward` must sum to at least the k-th weight of p, column l of `backward` to at most the l-th of q: both
    are checked as rational numbers, for the laws as given (weights divided by their exact sum).
    """
    p, q, sigma = _checked(p, q, covariance, simplify=False)
    return Prover(sigma, alpha=order(alpha)).coupled(p, q, forward, backward)


def prove_vectors(
    p: VectorMixture, q: VectorMixture, *, alpha: float, epsilon: float, covariance: npt.ArrayLike
) -> Decision:
    """Whether D_α(p + N(0, Σ) ‖ q + N(0, Σ)) ≤ ε is proved; for mixtures None where the coupling bound is above ε."""
    p, q, sigma = _checked(p, q, covariance)
    return Prover(sigma, alpha=order(alpha)).decide(p, q, epsilon=budget(epsilon))


class Prover:
    """Proofs about many pairs of laws under one noise: what belongs to one law is worked out once."""

    def __init__(self, covariance: Array, *, alpha: float, effort: Effort | None = None) -> None:
        """Take the noise's covariance and the order as the exact numbers that they are; count against `effort`."""
        self.covariance, self.order = covariance, alpha
        self._effort = effort
        self.alpha, self._noise = fraction(alpha), exact_matrix(covariance)
        self._known: dict[tuple[bytes, bytes], ExactGaussian] = {}

    def component(self, law: VectorMixture, k: int) -> ExactGaussian:
        """One component of a law after the noise."""
        key = law.means[k].tobytes(), law.covariances[k].tobytes()
        if key not in self._known:
            self._spend(law.means[k], law.covariances[k])
            self._known[key] = ExactGaussian.after_noise(law.means[k], law.covariances[k], self._noise)
        return self._known[key]

    def pair(self, p: VectorMixture, q: VectorMixture, k: int = 0, l: int = 0) -> GaussianVectors:
        """The divergence of two components."""
        self._spend(p.covariances[k], q.covariances[l])
        return GaussianVectors(self.component(p, k), self.component(q, l), alpha=self.alpha)

    def coupled(self, p: VectorMixture, q: VectorMixture, forward: Array, backward: Array) -> Enclosure:
        """See `enclose_coupled_vectors`."""
        from flint import arb, ctx

        w, v = exact_matrix(forward), exact_matrix(backward)
        _check_sums(w, v, p, q)
        a = self.alpha
        with ctx.workprec(FIRST):
            total = arb(0)
            for k, l in zip(*(index.tolist() for index in np.nonzero(forward > 0)), strict=True):
                loss = arb(self.pair(p, q, k, l).ball(FIRST))
                if v[k, l] <= 0 or not loss.is_finite():
                    return UNKNOWN
                total += (arb(a) * arb(w[k, l]).log() + arb(a - 1) * (loss - arb(v[k, l]).log())).exp()
            return Enclosure(0.0, outward(total.log() / arb(a - 1)).upper)

    def decide(self, p: VectorMixture, q: VectorMixture, *, epsilon: float) -> Decision:
        """See `prove_vectors`; the laws are simplified already."""
        try:
            return self._decided(p, q, epsilon=epsilon)
        except UndecidableError as limit:
            return Decision(None, UNKNOWN, f"undecided: {limit}")

    def _spend(self, *arrays: Array) -> None:
        """Count what exact matrices of these numbers take: d⁴ steps on as many bits as the numbers span (measured)."""
        if self._effort is not None:
            d, places = len(self.covariance), [np.frexp(x[x != 0])[1] for x in (self.covariance, *arrays)]
            powers = np.concatenate(places)
            span = 53 + int(powers.max() - powers.min())
            self._effort.spend(100 + d**4 * span // 6400)

    def _decided(self, p: VectorMixture, q: VectorMixture, *, epsilon: float) -> Decision:
        found = UNKNOWN
        if len(p) > 1 or len(q) > 1:
            from takifugu.divergences.vectors import couple

            how = couple(p, q, alpha=self.order, covariance=self.covariance)
            if math.isfinite(how.bound):
                found = self.coupled(p, q, how.forward, how.backward)
            if found.upper <= epsilon:
                return Decision(True, found, f"proved: D is at most {found.upper!r}, within {epsilon!r}")
            return Decision(None, found, f"undecided: two couplings bound D by {found.upper!r}, above {epsilon!r}")
        for value in self.pair(p, q).balls():
            found = meet(found, outward(value))
            if found.lower > epsilon:
                return Decision(False, found, f"refuted: D is at least {found.lower!r}, above {epsilon!r}")
            if found.upper <= epsilon:
                return Decision(True, found, f"proved: D is at most {found.upper!r}, within {epsilon!r}")
        return Decision(None, found, f"undecided: D lies in [{found.lower!r}, {found.upper!r}]")


def _checked(
    p: VectorMixture, q: VectorMixture, covariance: npt.ArrayLike, *, simplify: bool = True
) -> tuple[VectorMixture, VectorMixture, Array]:
    sigma = covariance_matrix("the noise's covariance", covariance)
    if not p.dimension == q.dimension == len(sigma):
        raise InputError(
            f"both laws and the noise must be of the same numbers, got {p.dimension}, {q.dimension} and {len(sigma)}"
        )
    return (p.simplified(), q.simplified(), sigma) if simplify else (p, q, sigma)


def _check_sums(w: "fmpq_mat", v: "fmpq_mat", p: VectorMixture, q: VectorMixture) -> None:
    weight_p, weight_q = ([fraction(x) for x in law.weights.tolist()] for law in (p, q))
    whole_p, whole_q = sum(weight_p, fraction(0.0)), sum(weight_q, fraction(0.0))
    rows, columns = w.tolist(), list(zip(*v.tolist(), strict=True))
    if len(rows) != len(p) or len(columns) != len(q) or len(rows[0]) != len(q) or len(columns[0]) != len(p):
        raise CertificationError("a coupling must have a row for each component of p and a column for each of q")
    short = any(sum(row, fraction(0.0)) * whole_p < mine for row, mine in zip(rows, weight_p, strict=True))
    long = any(sum(column, fraction(0.0)) * whole_q > mine for column, mine in zip(columns, weight_q, strict=True))
    negative = any(x < 0 for row in rows for x in row) or any(x < 0 for column in columns for x in column)
    if short or long or negative:
        raise CertificationError("the couplings do not cover the weights of the two laws: nothing is proved by them")
