"""p^α q^(1-α) near one piece of the line, as a function that ball arithmetic can integrate.

With u = y - middle, and the leading component of each side factored out, the integrand is
exp(G(u)) · P(u)^α · Q(u)^(1-α): G is one quadratic in which the large squares of p and q have cancelled,
and P and Q are 1 plus what the other components add.
"""

import math
from functools import cached_property
from typing import Any

import numpy as np

from takifugu.divergences.proved.lattices import Lattice, Powers, lattice_of
from takifugu.divergences.proved.pieces import Piece, Side
from takifugu.divergences.proved.rational import Bell, fraction

_REACH = 2.0  # an evaluation may leave a piece by as much as half its width
_STEP_BITS = 64  # precisions are rounded up to a multiple of it, so that parameters are converted once


class Bells:
    """The components of one side in balls, at each precision asked for."""

    def __init__(self, bells: tuple[Bell, ...], side: Side) -> None:
        """Keep the rational parameters, and the floats for a quick look."""
        self.bells, self.side = bells, side
        self._cache: dict[int, list[tuple[Any, Any, Any]]] = {}

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice on which the bells stand; None where they do not, or are not all equally wide."""
        return lattice_of(self.bells)

    def balls(self) -> list[tuple[Any, Any, Any]]:
        """For each component: mean, 1/(2·variance) and the logarithm of its height, in force precision."""
        from flint import arb, ctx

        if ctx.prec not in self._cache:
            half_log_tau = (2 * arb.pi()).log() / 2
            self._cache[ctx.prec] = [
                (
                    arb(bell.mean),
                    arb(1 / (2 * bell.variance)),
                    (arb(bell.weight**2 / bell.variance)).log() / 2 - half_log_tau,
                )
                for bell in self.bells
            ]
        return self._cache[ctx.prec]

    def log_density(self, y: Any) -> Any:
        """The logarithm of the density at a rational number."""
        from flint import arb

        at = arb(y)
        return sum(((height - half * (at - mean) ** 2).exp() for mean, half, height in self.balls()), arb(0)).log()


class Expansion:
    """One side around the middle of a piece: each component as exp(a + b·u + c·u²)."""

    def __init__(self, bells: Bells, lead: int, middle: float, radius: float, drop_bits: int) -> None:
        """Decide, in floats, which components are worth carrying and what precision they need."""
        self.bells, self.lead, self.middle, self.radius = bells, lead, middle, radius
        self.drop_bits = drop_bits

    @cached_property
    def lost_bits(self) -> float:
        """About how many leading bits cancel in the coefficients."""
        side, lead = self.bells.side, self.lead
        with np.errstate(all="ignore"):
            gaps = self.middle - side.means
            squares = 0.5 * (np.abs(gaps) + self.radius) ** 2 / side.variances
            levels = side.heights - 0.5 * gaps**2 / side.variances
            slopes, curves = -gaps / side.variances, -0.5 / side.variances
            most = (
                (levels - levels[lead])
                + np.abs(slopes - slopes[lead]) * self.radius
                + np.abs(curves - curves[lead]) * self.radius**2
            )
            unsure = 1e-12 * (squares + squares[lead])  # floats cannot tell better
            carried = ~(most + unsure < -self.drop_bits * math.log(2))
        carried[lead] = True
        return math.log2(1.0 + float(squares[carried].max()))

    def coefficients(self) -> tuple[tuple[Any, Any, Any], "_Sum"]:
        """The leading quadratic, and the sum of the others over it for |u| <= radius."""
        from flint import arb

        middle, radius = arb(self.middle), arb(self.radius)
        quadratics = []
        for mean, half, height in self.bells.balls():
            gap = middle - mean
            quadratics.append((height - half * gap * gap, -2 * half * gap, -half))
        a0, b0, c0 = lead = quadratics[self.lead]
        negligible = arb(-self.drop_bits) * arb.const_log2()
        kept, powers, rest = [], {}, arb(0)
        lattice = self.bells.lattice
        for k, (a, b, c) in enumerate(quadratics):
            if k == self.lead:
                continue
            a, b, c = a - a0, b - b0, c - c0  # over the leading component
            if self.bells.bells[k].variance == self.bells.bells[self.lead].variance:
                c = arb(0)  # exactly
            most = a + abs(b) * radius + abs(c) * radius * radius
            if most < negligible:
                rest += most.exp()
            elif lattice is not None:
                powers[lattice.positions[k] - lattice.positions[self.lead]] = a
            else:
                kept.append((a, b, c))
        rate = arb(0) if lattice is None else arb(lattice.rate)
        return lead, _Sum(kept, Powers(powers, rate), rest.upper(), self.radius)


class Integrand:
    """A function for `acb.integral`: a ball that holds p^α q^(1-α) on the ball given, counted."""

    def __init__(self, p: Bells, q: Bells, alpha: Any, piece: Piece, drop_bits: int) -> None:
        """Place the piece around its middle; all of its ends are exact."""
        middle = 0.5 * piece.start + 0.5 * piece.end
        self.low = fraction(piece.start) - fraction(middle)
        self.high = fraction(piece.end) - fraction(middle)
        self.alpha = alpha
        self.radius = _REACH * max(-float(self.low), float(self.high))
        self.sides = [
            Expansion(side, lead, middle, self.radius, drop_bits)
            for side, lead in ((p, piece.p_lead), (q, piece.q_lead))
        ]
        self.calls = 0

    def precision(self, goal: int) -> int:
        """The bits to work with so that about `goal` of them are right in the end."""
        lost = max(side.lost_bits for side in self.sides) + math.log2(float(self.alpha))
        if not math.isfinite(lost):
            return 1 << 30
        return -(-math.ceil(goal + lost) // _STEP_BITS) * _STEP_BITS

    def prepare(self) -> None:
        """Work out the coefficients at the precision in force."""
        from flint import acb, arb

        alpha = arb(self.alpha)
        self._up, self._down = acb(alpha), acb(alpha - 1)
        (lead_p, self._p), (lead_q, self._q) = (side.coefficients() for side in self.sides)
        a, b, c = (alpha * x - (alpha - 1) * y for x, y in zip(lead_p, lead_q, strict=True))
        self._lead = _Parabola(a, b, c, self.radius)
        self._limit, self._unknown = arb(self.radius), acb(arb.nan())
        # Where the other components are next to nothing, a side is the same ball for every u: its logarithm is, too.
        self._p_logs, self._q_logs = (
            None if side.size else [power * side.constant.log(analytic=analytic) for analytic in (False, True)]
            for side, power in ((self._p, self._up), (self._q, self._down))
        )
        self.cost = self._p.size + self._q.size + 4

    def __call__(self, u: Any, analytic: bool) -> Any:
        """The ball; not finite where the integrand might not be analytic or is not bounded."""
        self.calls += 1
        if not u.abs_upper() <= self._limit:
            return self._unknown  # components were left out that matter there: a smaller step is needed
        p = self._p_logs[bool(analytic)] if self._p_logs else self._up * self._p(u).log(analytic=analytic)
        q = self._q_logs[bool(analytic)] if self._q_logs else self._down * self._q(u).log(analytic=analytic)
        return (self._lead(u) + p - q).exp()


class _Parabola:
    """a + b·u + c·u², written around its vertex where that is near the piece: wide balls stay tight there."""

    __slots__ = ("centred", "constant", "curve", "place")

    def __init__(self, a: Any, b: Any, c: Any, radius: float) -> None:
        from flint import acb

        self.centred = bool(abs(b) <= 4 * radius * abs(c)) and not c.contains(0)
        self.curve = acb(c)
        self.place = acb(-b / (2 * c)) if self.centred else acb(b)
        self.constant = acb(a - b * b / (4 * c)) if self.centred else acb(a)

    def __call__(self, u: Any) -> Any:
        if self.centred:
            gap = u - self.place
            return gap * gap * self.curve + self.constant
        return (self.curve * u + self.place) * u + self.constant


class _Sum:
    """1 + Σ exp(a + b·u + c·u²) + a remainder no larger than `rest`."""

    def __init__(self, terms: list[tuple[Any, Any, Any]], powers: Powers, rest: Any, radius: float) -> None:
        from flint import acb, arb

        around = arb(0, rest)
        self.constant = acb(1) + acb(around, around)
        self.powers = powers if len(powers) else None
        self.linear = [(acb(a), acb(b)) for a, b, c in terms if c.is_zero()]
        self.curved = [_Parabola(*term, radius) for term in terms if not term[2].is_zero()]
        self.size = len(terms) + len(powers)

    def __call__(self, u: Any) -> Any:
        total = self.constant if self.powers is None else self.constant + self.powers(u)
        for a, b in self.linear:
            total = total + (b * u + a).exp()
        for parabola in self.curved:
            total = total + parabola(u).exp()
        return total
