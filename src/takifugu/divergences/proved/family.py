"""Many divergences of the same laws after the same noise, with what depends on one law worked out once.

Two normals have a closed formula: in balls of 192 bits it takes a few microseconds. Mixtures share a grid on which a
pair is a sum of products. Both are sharp enough for almost any claim; where they are not, or there is no grid, it is
settled as it would be alone (proofs/certified.md).
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from takifugu._validation import noise, order
from takifugu.divergences.proved.balls import UNKNOWN, Enclosure, outward
from takifugu.divergences.proved.certified import Decision, settle
from takifugu.divergences.proved.effort import Effort, UndecidableError
from takifugu.divergences.proved.precision import working_precision
from takifugu.divergences.proved.rational import fraction
from takifugu.divergences.proved.shared_grid import SharedGrid
from takifugu.laws.mixture import Mixture

_BITS = 192  # means and variances are exact in it but for scales that no data has
_NO_LIMIT = 1 << 62
_FORMULA = 10  # units of work: no more than ten operations on balls


class _Normal(NamedTuple):
    """One normal after noise, in balls; the logarithm is that of its variance."""

    mean: Any
    variance: Any
    log: Any


class Family:
    """Laws with the same noise, of which pairs are to be proved."""

    def __init__(
        self,
        laws: Sequence[Mixture],
        *,
        alpha: float,
        theta: float,
        effort: Effort | None = None,
        grid: SharedGrid | None = None,
    ) -> None:
        """Keep the laws; `effort` is what may be spent on all of them together, `grid` one that was made for them."""
        self._laws, self._effort = laws, effort
        self._alpha, self._theta = order(alpha), noise(theta)
        self._grid = SharedGrid(laws, alpha=self._alpha, theta=self._theta) if grid is None else grid
        self._normals: dict[int, _Normal | None] = {}

    def settle(self, i: int, j: int, claim: Enclosure, *, enclose: bool = True) -> Decision:
        """`certified.settle` for law i against law j.

        Who needs only the verdict leaves `enclose` out: the enclosure of what is proved is then the claim itself.
        """
        try:
            with working_precision(_BITS):
                value = self._quick(i, j)
                if value is not None and _lies_within(value, claim):
                    found = _within(outward(value), claim) if enclose else claim
                    return Decision(True, found, f"proved: D is at most {found.upper!r}, within {claim.upper!r}")
        except UndecidableError as limit:
            return Decision(None, UNKNOWN, f"undecided: {limit}")
        return settle(self._laws[i], self._laws[j], claim, alpha=self._alpha, theta=self._theta, effort=self._effort)

    def _quick(self, i: int, j: int) -> Any:
        """A ball around the divergence from what is shared; None where that does not tell."""
        p, q = self._normal(i), self._normal(j)
        effort = Effort(_NO_LIMIT) if self._effort is None else self._effort
        if p is None or q is None:
            return self._grid.ball(i, j, effort)
        effort.spend(_FORMULA)
        return self._formula(p, q)

    def _normal(self, place: int) -> _Normal | None:
        """The law in balls where it is one normal with a positive variance."""
        if place not in self._normals:
            self._normals[place] = self._as_normal(self._laws[place])
        return self._normals[place]

    def _as_normal(self, law: Mixture) -> _Normal | None:
        from flint import arb

        if len(law) != 1 or law.weights[0] == 0:
            return None
        variance = fraction(law.stds[0]) ** 2 + fraction(self._theta) ** 2
        if variance == 0:
            return None
        with working_precision(_BITS):
            ball = arb(variance)
            return _Normal(arb(float(law.means[0])), ball, ball.log())

    def _formula(self, p: _Normal, q: _Normal) -> Any:
        """A ball around αΔ/2S + [α ln u − β ln v − ln S]/2β, S = αu − βv; None where S is not seen to be positive."""
        alpha, beta, half = self._orders
        margin = alpha * q.variance - beta * p.variance
        if not margin > 0:
            return None
        gap = p.mean - q.mean
        return alpha * gap * gap / (margin + margin) + (alpha * q.log - beta * p.log - margin.log()) * half

    @cached_property
    def _orders(self) -> tuple[Any, Any, Any]:
        from flint import arb

        alpha = arb(self._alpha)
        beta = alpha - 1
        return alpha, beta, 1 / (2 * beta)


def _lies_within(value: Any, claim: Enclosure) -> bool:
    """Whether every number in the ball is in the claim; a comparison of balls is true only if it is for all of them."""
    from flint import arb

    return bool(value <= arb(claim.upper) and (claim.lower == 0 or value >= arb(claim.lower)))


def _within(found: Enclosure, claim: Enclosure) -> Enclosure:
    # The ball lies within the claim even where the nearest float outside the ball does not.
    return Enclosure(max(found.lower, claim.lower), min(found.upper, claim.upper))
