"""The divergence of two Gaussian vectors with a proof.

Everything up to three logarithms is rational and computed without rounding; the logarithms are balls
(proofs/vector.md).
"""

from dataclasses import dataclass
from typing import Any

from takifugu._validation import Array
from takifugu.divergences.proved.matrices import (
    beside,
    block,
    exact_matrix,
    is_semidefinite,
    pivots,
    quadratic_form,
    volume_if_definite,
)

FIRST, _MOST = 96, 3072  # bits of the logarithms; laws that agree to more are not told apart


@dataclass(frozen=True)
class ExactGaussian:
    """One Gaussian vector after noise, rational; `sound` is False where its matrix is no covariance."""

    mean: Any
    covariance: Any
    determinant: Any
    sound: bool

    @classmethod
    def after_noise(cls, mean: Array, covariance: Array, noise: Any) -> "ExactGaussian":
        """N(mean, covariance + noise) for float64 numbers taken as exact, the noise rational already."""
        total = exact_matrix(covariance) + noise
        return cls(exact_matrix(mean), total, total.det(), is_semidefinite(total))


class GaussianVectors:
    """D_α of two Gaussian vectors with everything that is rational worked out.

    `exact` is the divergence where it is infinite or rational, None where logarithms are left; `sound` is False where
    nothing can be proved, because a matrix is no covariance.
    """

    def __init__(self, p: ExactGaussian, q: ExactGaussian, *, alpha: Any) -> None:
        """Decide what can be decided without rounding; `alpha` is rational."""
        from flint import arb, fmpq

        self.alpha = alpha
        self.exact: Any = None
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

    def ball(self, precision: int) -> Any:
        """A ball around the divergence, with logarithms of so many bits."""
        from flint import arb, ctx

        if not self.sound:
            return arb(0, arb.pos_inf())
        if self.exact is not None:
            return self.exact
        with ctx.workprec(precision):
            logs = arb(self.ratio - 1).log1p() - arb(self.tilt - 1).log1p() / arb(self.alpha - 1)
            return arb(self.shift) + logs / 2

    def balls(self) -> Any:
        """Ever smaller balls; one alone where the divergence is exact or nothing can be proved."""
        precision = FIRST
        while precision <= _MOST:
            yield self.ball(precision)
            if self.exact is not None or not self.sound:
                return
            precision *= 2
