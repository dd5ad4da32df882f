"""One divergence, taken apart into what is exact, what has a formula and what is an integral."""

from typing import Any

from takifugu.divergences.proved.effort import Effort
from takifugu.divergences.proved.integral import Integral
from takifugu.divergences.proved.precision import working_precision
from takifugu.divergences.proved.rational import Bell, ExactMixture, converges, fraction
from takifugu.laws.mixture import Mixture

_GUARD_BITS = 24
_FORMULA = 200  # units of work in one closed formula
_ROUNDING = 4  # units of work to make the parameters of one component rational


class Divergence:
    """D_α(p + N(0, θ²) ‖ q + N(0, θ²)) of two mixtures given by floats, taken as exact.

    `exact` is the divergence where it is infinite or a rational number, and None otherwise.
    """

    def __init__(self, p: Mixture, q: Mixture, *, alpha: float, theta: float, effort: Effort | None = None) -> None:
        """Decide what can be decided without rounding."""
        from flint import arb, fmpq

        self.alpha = fraction(alpha)
        self.effort = effort if effort is not None else Effort()
        self.effort.spend(_FORMULA + _ROUNDING * (len(p) + len(q)))
        self.p, self.q = ExactMixture.after_noise(p, theta), ExactMixture.after_noise(q, theta)
        self.exact: Any = None
        if self.p == self.q:
            self.exact = fmpq(0)
        elif not _absolutely_continuous(self.p, self.q) or (
            self.p.bells and not converges(self.p.bells, self.q.bells, self.alpha)
        ):
            self.exact = arb.pos_inf()
        elif self._one_each and self.p.bells[0].variance == self.q.bells[0].variance:
            mine, other = self.p.bells[0], self.q.bells[0]
            self.exact = self.alpha * (mine.mean - other.mean) ** 2 / (2 * mine.variance)
        self._integral: Integral | None = None

    def ball(self, goal: int) -> Any:
        """A ball around the divergence, from an integral known to about `goal` bits; `exact` where there is one."""
        from flint import arb

        if self.exact is not None:
            return self.exact
        self.effort.spend(_FORMULA + len(self.p.atoms))
        with working_precision(goal + _GUARD_BITS):
            if self._one_each:
                return gaussian_ball(self.p.bells[0], self.q.bells[0], self.alpha)
            total = self._atoms() + self._bells(goal)
            if not total > 0:  # too crude to take its logarithm
                return arb(0, arb.pos_inf())
            return total.log() / arb(self.alpha - 1)

    @property
    def _one_each(self) -> bool:
        return not self.p.atoms and not self.q.atoms and len(self.p.bells) == len(self.q.bells) == 1

    def _atoms(self) -> Any:
        """Σ P(x)^α Q(x)^(1-α) over the points of p; points of q alone add nothing."""
        from flint import arb

        return sum(
            (_powers(weight, self.q.atoms[point], self.alpha) for point, weight in self.p.atoms.items()),
            arb(0),
        )

    def _bells(self, goal: int) -> Any:
        from flint import arb

        if not self.p.bells:
            return arb(0)
        if len(self.p.bells) == len(self.q.bells) == 1:
            mine, other = self.p.bells[0], self.q.bells[0]
            exponent = arb(self.alpha - 1) * gaussian_ball(mine, other, self.alpha)
            return _powers(mine.weight, other.weight, self.alpha) * exponent.exp()
        if self._integral is None:
            self._integral = Integral(self.p.bells, self.q.bells, self.alpha, self.effort)
        return self._integral.ball(goal)


def gaussian_ball(p: Bell, q: Bell, alpha: Any) -> Any:
    """The divergence of two normals by its formula, for α·q.variance > (α-1)·p.variance.

    All that is rational is exact; what is left to balls is the two logarithms.
    """
    from flint import arb

    ratio = q.variance / p.variance
    margin = alpha * ratio - (alpha - 1)
    shift = alpha * (p.mean - q.mean) ** 2 / (2 * margin * p.variance)
    logs = arb(alpha) * arb(ratio).log() - arb(margin).log()
    return arb(shift) + logs / (2 * arb(alpha - 1))


def _absolutely_continuous(p: ExactMixture, q: ExactMixture) -> bool:
    return p.atoms.keys() <= q.atoms.keys() and (bool(q.bells) or not p.bells)


def _powers(weight: Any, other: Any, alpha: Any) -> Any:
    from flint import arb

    return (arb(alpha) * arb(weight).log() - arb(alpha - 1) * arb(other).log()).exp()
