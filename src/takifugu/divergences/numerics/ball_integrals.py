"""∫ p^α q^(1-α) in ball arithmetic: the pieces of a window, and a bound on what lies outside it.

The proof that the ball returned holds the integral is proofs/certified.md.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takifugu.divergences.numerics.balls import (
    Bell,
    Effort,
    UndecidableError,
    bits,
    dyadic,
    fraction,
    mirrored,
    widest,
    working_precision,
)
from takifugu.divergences.numerics.envelope import Piece, Plan, Side

if TYPE_CHECKING:
    from flint import acb, arb, fmpq

# Bells of one width on a lattice: over the leading one they are powers of a single exponential.
#
# Values that were counted stand on a lattice, and after noise each of a hundred of them is a bell of the same width.
# The k-th over the leading one is exp(a_k + n_k·r·u), n_k whole and r the same for all: a polynomial in exp(r·u),
# which takes one exponential where a sum would take a hundred (proofs/certified.md). Floats stand on a lattice
# exactly where its step is a sum of few powers of two, as whole numbers and quarters are; tenths do not, and are
# summed.

_FEWEST = 6  # bells for which a polynomial is quicker than their exponentials
_FURTHEST = 4096  # steps from end to end
_THIN = 2.0**-30  # radius of the exponent: wider balls grow in every product of a polynomial


class Lattice(NamedTuple):
    """The place of each bell as a whole number of steps, and by how much the exponent grows from one to the next."""

    positions: list[int]
    rate: "fmpq"  # step / variance, rational


def lattice_of(bells: tuple[Bell, ...]) -> Lattice | None:
    """The coarsest lattice that holds the means of bells of one variance; None where there is none worth it."""
    from flint import fmpq

    if len(bells) < _FEWEST or any(bell.variance != bells[0].variance for bell in bells):
        return None
    gaps = [bell.mean - bells[0].mean for bell in bells]
    together = math.lcm(*(int(gap.denom()) for gap in gaps))
    whole = [int(gap * together) for gap in gaps]
    step = math.gcd(*whole)
    if step == 0 or max(whole) - min(whole) > _FURTHEST * step:
        return None
    return Lattice([place // step for place in whole], fmpq(step, together) / bells[0].variance)


class Powers:
    """Σ exp(a_n + n·rate·u) over whole n, none of them 0."""

    def __init__(self, logs: "dict[int, arb]", rate: "arb") -> None:
        """Keep the logarithms of the coefficients in balls."""
        from flint import acb, acb_poly

        self._terms = [(acb(a), acb(n * rate)) for n, a in logs.items()]
        self._reach = float(abs(rate).upper()) * max(map(abs, logs), default=0)
        self._sides = []
        for sign in (1, -1):
            most = max((sign * n for n in logs), default=0)
            if most > 0:
                coefficients = [logs[sign * n].exp() if sign * n in logs else 0 for n in range(most + 1)]
                self._sides.append((acb(sign * rate), acb_poly(coefficients)))

    def __len__(self) -> int:
        """The number of terms."""
        return len(self._terms)

    def __call__(self, u: "acb") -> "acb":
        """The sum in balls: as a polynomial for all but a wide ball, which each product would make wider."""
        from flint import acb

        total = acb(0)
        if float(u.rad()) * self._reach <= _THIN:
            for rate, polynomial in self._sides:
                total += polynomial((rate * u).exp())
            return total
        for a, b in self._terms:
            total += (b * u + a).exp()
        return total


# p^α q^(1-α) near one piece of the line, as a function that ball arithmetic can integrate.
#
# With u = y - middle, and the leading component of each side factored out, the integrand is exp(G(u)) · P(u)^α ·
# Q(u)^(1-α): G is one quadratic in which the large squares of p and q have cancelled, and P and Q are 1 plus what the
# other components add.

_REACH = 2.0  # an evaluation may leave a piece by as much as half its width
_STEP_BITS = 64  # precisions are rounded up to a multiple of it, so that parameters are converted once


class Bells:
    """The components of one side in balls, at each precision asked for."""

    def __init__(self, bells: tuple[Bell, ...], side: Side) -> None:
        """Keep the rational parameters, and the floats for a quick look."""
        self.bells, self.side = bells, side
        self._cache: dict[int, list[tuple[arb, arb, arb]]] = {}

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice on which the bells stand; None where they do not, or are not all equally wide."""
        return lattice_of(self.bells)

    def balls(self) -> "list[tuple[arb, arb, arb]]":
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

    def log_density(self, y: "fmpq") -> "arb":
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

    def coefficients(self) -> "tuple[tuple[arb, arb, arb], _Sum]":
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

    def __init__(self, p: Bells, q: Bells, alpha: "fmpq", piece: Piece, drop_bits: int) -> None:
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

    def __call__(self, u: "acb", analytic: bool) -> "acb":
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

    def __init__(self, a: "arb", b: "arb", c: "arb", radius: float) -> None:
        from flint import acb

        self.centred = bool(abs(b) <= 4 * radius * abs(c)) and not c.contains(0)
        self.curve = acb(c)
        self.place = acb(-b / (2 * c)) if self.centred else acb(b)
        self.constant = acb(a - b * b / (4 * c)) if self.centred else acb(a)

    def __call__(self, u: "acb") -> "acb":
        if self.centred:
            gap = u - self.place
            return gap * gap * self.curve + self.constant
        return (self.curve * u + self.place) * u + self.constant


class _Sum:
    """1 + Σ exp(a + b·u + c·u²) + a remainder no larger than `rest`."""

    def __init__(self, terms: "list[tuple[arb, arb, arb]]", powers: Powers, rest: "arb", radius: float) -> None:
        from flint import acb, arb

        around = arb(0, rest)
        self.constant = acb(1) + acb(around, around)
        self.powers = powers if len(powers) else None
        self.linear = [(acb(a), acb(b)) for a, b, c in terms if c.is_zero()]
        self.curved = [_Parabola(*term, radius) for term in terms if not term[2].is_zero()]
        self.size = len(terms) + len(powers)

    def __call__(self, u: "acb") -> "acb":
        total = self.constant if self.powers is None else self.constant + self.powers(u)
        for a, b in self.linear:
            total = total + (b * u + a).exp()
        for parabola in self.curved:
            total = total + parabola(u).exp()
        return total


# What lies outside a window: a rigorous bound on the two tails of ∫ p^α q^(1-α).
#
# With l the component of q that outweighs the others on that side, and weights that sum to at most one, p^α q^(1-α)
# <= Σ_k w_k N_k^α (w_l N_l)^(1-α): each term is a bell or, on the edge of the domain, an exponential
# (proofs/certified.md, lemma 2).


@dataclass(frozen=True, slots=True)
class Term:
    """exp(log_size) times exp(-curve·(y - centre)²/2), or exp(-slope·y) where there is no curve."""

    log_size: "arb"
    curve: "fmpq"
    centre: "fmpq"
    slope: "fmpq"


class RightTail:
    """The bound on the integral from `start` to infinity, for any start; mirror the bells for the left."""

    def __init__(self, p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: "fmpq") -> None:
        """Work out each term at the precision in force."""
        widest_of_q = widest(q)
        self.terms = [term(bell, widest_of_q, alpha) for bell in p]

    def bound(self, start: "arb") -> "arb":
        """A ball whose upper end bounds the tail beyond `start` (an exact ball)."""
        from flint import arb

        total = arb(0)
        for part in self.terms:
            if part.curve == 0:
                total += (part.log_size - start * part.slope).exp() / part.slope
            else:
                curve = arb(part.curve)
                reach = (start - part.centre) * (curve / 2).sqrt()
                total += part.log_size.exp() * (arb.pi() / (2 * curve)).sqrt() * reach.erfc()
        return total

    def start(self, log_target: float) -> float:
        """About where the bound falls below exp(log_target); only a guess, `bound` tells the truth."""
        from flint import arb

        share = arb(log_target - math.log(len(self.terms)))
        best = arb.neg_inf()
        for part in self.terms:
            if part.curve == 0:
                slope = arb(part.slope)
                best = best.max((part.log_size - slope.log() - share) / slope)
                continue
            curve = arb(part.curve)
            excess = part.log_size + (2 * arb.pi() / curve).log() / 2 - share
            if excess > 0:
                best = best.max(part.centre + (2 * excess / curve).sqrt())
        return float(best)


def term(bell: Bell, other: Bell, alpha: "fmpq") -> Term:
    """One component of p over the component of q that outweighs the others."""
    from flint import arb, fmpq

    a, v, s = alpha, bell.variance, other.variance
    margin = a * s - (a - 1) * v
    heights = arb(bell.weight).log() - (arb(a) - 1) * arb(other.weight).log()
    norms = (arb(a) * _log_norm(v) - (arb(a) - 1) * _log_norm(s)) / 2
    if margin == 0:
        # -α(y-m)²/2v + (α-1)(y-n)²/2s with α/v = (α-1)/s: only the linear part is left.
        slope = a / v * (other.mean - bell.mean)
        constant = a / (2 * v) * (other.mean**2 - bell.mean**2)
        return Term(heights - norms + arb(constant), fmpq(0), fmpq(0), slope)
    curve = margin / (v * s)
    centre = (a * bell.mean * s - (a - 1) * other.mean * v) / margin
    peak = a * (a - 1) * (bell.mean - other.mean) ** 2 / (2 * margin)
    return Term(heights - norms + arb(peak), curve, centre, fmpq(0))


def _log_norm(variance: "fmpq") -> "arb":
    from flint import arb

    return (2 * arb.pi() * arb(variance)).log()


_GUARD_BITS = 24
_GUESSES = 8  # points at which the size of the integrand is looked up
_GUESS_BITS = 256
_WIDENINGS = 40  # each twice the one before; the first guess is right but for rounding
_MOST_BITS = 4000  # a working precision beyond this means scales that no data has
_MOST_COMPONENTS = 4000  # of both sides together: tables of points by components must fit in memory
_SETUP = 8  # units of work to expand one component around a piece, or to bound its tail
_HOPELESSLY_LITTLE = 64  # bits below what is asked for: between far clusters the integrand is next to nothing
_LONG, _HALVINGS = 1000.0, 200  # widths of q's widest component, and how often a longer piece is halved
_MOST_PAIRS = 400  # of components, each of which takes a quadratic: beyond, what is little is integrated too
_START = 2000  # units of work to lay out a window


class Integral:
    """The integral of p^α q^(1-α) for two sets of bells, to any accuracy asked for."""

    def __init__(self, p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: "fmpq", effort: Effort) -> None:
        """Move the line so that the widest component of q stands at 0 with a width near 1."""
        if len(p) + len(q) > _MOST_COMPONENTS:
            raise UndecidableError(f"{len(p) + len(q)} components are over the limit of {_MOST_COMPONENTS}")
        self.effort = effort
        anchor = widest(q)
        scale = (int(anchor.variance.numer()).bit_length() - int(anchor.variance.denom()).bit_length()) // 2
        unit = fraction(2.0) ** scale
        self.alpha = alpha
        self.p, self.q = _moved(p, anchor.mean, unit), _moved(q, anchor.mean, unit)
        self.plan = Plan(self.p, self.q, float(alpha))
        self._balls = Bells(self.p, self.plan.p), Bells(self.q, self.plan.q)
        self._log2_size = self._guess()  # until a lower bound is proved

    def ball(self, goal: int) -> "arb":
        """A ball around the integral, its radius about 2^-goal of it where the limits allow."""
        self.effort.spend(_START + _SETUP * (len(self.p) + len(self.q)))
        with working_precision(goal + _GUARD_BITS):
            start, end, total = self._window(goal)
            pieces = self.plan.pieces(start, end)
            _require_cover(pieces, start, end)
            share = goal + len(pieces).bit_length() + 2
            for piece in pieces:
                total += self._integrate(piece, goal, math.floor(self._log2_size) - share)
                if not total.is_finite():
                    raise UndecidableError("the integrand could not be bounded within the limits")
                if total > 0:
                    self._log2_size = max(self._log2_size, bits(total.lower()) - 1)
            # The guess may have been too high: what has been proved replaces it for the next call.
            self._log2_size = bits(total.lower()) - 1 if total > 0 else self._log2_size - goal
            return total

    def _guess(self) -> float:
        """About log2 of the largest value of the integrand, at points where it is likely to be found."""
        from flint import arb

        sides = ((1, self.p, self.q), (-1, mirrored(self.p), mirrored(self.q)))
        with working_precision(_GUESS_BITS):
            far = [sign * term(widest(p), widest(q), self.alpha).centre for sign, p, q in sides]
            up, down = arb(self.alpha), arb(self.alpha - 1)
            logs = [
                up * self._balls[0].log_density(y) - down * self._balls[1].log_density(y)
                for y in (*map(fraction, self.plan.heights(_GUESSES)), *far)
            ]
        return max((float(log) / math.log(2) for log in logs if log.is_finite()), default=0.0)

    def _window(self, goal: int) -> "tuple[float, float, arb]":
        """Two ends, and a ball that holds what lies beyond them."""
        from flint import arb

        log2_target = math.floor(self._log2_size) - goal - 4
        core = self.plan.core
        with working_precision(goal + _GUESS_BITS):
            end, right = _end(RightTail(self.p, self.q, self.alpha), float(core.max()), log2_target)
            mirror = RightTail(mirrored(self.p), mirrored(self.q), self.alpha)
            minus_start, left = _end(mirror, -float(core.min()), log2_target)
            return -minus_start, end, arb(0).union(right + left)

    def _integrate(self, piece: Piece, goal: int, exponent: int) -> "arb":
        from flint import acb, arb

        if piece.log_mass < (exponent - _HOPELESSLY_LITTLE) * math.log(2):  # says the plan, which is not trusted
            most = self._most(piece)
            if most < arb((1, exponent)):
                return arb(0).union(most)
        piece, little = self._shortened(piece, exponent)
        function = Integrand(*self._balls, self.alpha, piece, goal + _GUARD_BITS)
        precision = function.precision(goal + _GUARD_BITS)
        if precision > _MOST_BITS:
            raise UndecidableError(f"the scales are so far apart that more than {_MOST_BITS} bits are needed")
        with working_precision(precision):
            function.prepare()
            cost = function.cost * (1 + precision // 128)
            self.effort.spend(_SETUP * (len(self.p) + len(self.q)))
            value = acb.integral(
                function,
                dyadic(function.low),
                dyadic(function.high),
                rel_tol=arb((1, -goal - 2)),
                abs_tol=arb((1, exponent)),
                eval_limit=1 + self.effort.left // cost,
            )
        self.effort.spend(function.calls * cost)
        return value.real + little

    def _shortened(self, piece: Piece, exponent: int) -> "tuple[Piece, arb]":
        """What is left of a long piece without halves on which the integrand is next to nothing, and a ball for those.

        Between far clusters lies a crossing, around which a sum of bells has zeros next to the line: it would have to
        be crossed in tiny steps, for nothing.
        """
        from flint import arb

        little, limit = arb(0), arb((1, exponent - _HALVINGS.bit_length()))
        for _ in range(_HALVINGS):
            if piece.end - piece.start <= _LONG:
                break
            middle = 0.5 * (piece.start + piece.end)
            halves = replace(piece, end=middle), replace(piece, start=middle)
            for half, other in (halves, halves[::-1]):
                most = self._most(half)
                if most < limit:
                    piece, little = other, little + arb(0).union(most)
                    break
            else:
                break
        return piece, little

    def _most(self, piece: Piece) -> "arb":
        """A bound on the integral over a piece: its width times the largest that the integrand can be on it.

        p is at most so many times its largest component, and q at least any one of its own: for each pair of them the
        exponent is a quadratic, which is largest at an end or, where it bends down, at its vertex.
        """
        from flint import arb

        if len(self.p) * len(self.q) > _MOST_PAIRS:
            return arb.pos_inf()
        self.effort.spend(len(self.p) * len(self.q))
        up, down = arb(self.alpha), arb(self.alpha - 1)
        start, end = arb(piece.start), arb(piece.end)
        largest = arb.neg_inf()
        for mean, half, height in self._balls[0].balls():
            least = arb.pos_inf()
            for other, other_half, other_height in self._balls[1].balls():
                gap, bend = mean - other, up * half - down * other_half
                level = up * height - down * other_height
                at = [
                    level - up * half * x * x + down * other_half * (x + gap) ** 2 for x in (start - mean, end - mean)
                ]
                if not bend <= 0:  # the vertex, wherever it is, is no less than what is on the piece
                    vertex = down * other_half * gap / bend
                    if not (vertex < start - mean or vertex > end - mean):
                        at.append(level + down * other_half * gap * gap + down * other_half * gap * vertex)
                found = at[0]
                for value in at[1:]:
                    found = found.max(value)
                least = least.min(found)
            largest = largest.max(least)
        return (largest + up * arb(len(self.p)).log()).exp() * (end - start)


def _moved(bells: tuple[Bell, ...], centre: "fmpq", unit: "fmpq") -> tuple[Bell, ...]:
    """The bells on a line moved and scaled, which no divergence notices."""
    return tuple(Bell(bell.weight, (bell.mean - centre) / unit, bell.variance / unit**2) for bell in bells)


def _require_cover(pieces: list[Piece], start: float, end: float) -> None:
    """The one thing a proof asks of a plan: that its pieces leave no gap."""
    at = start
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if piece.start != at or not piece.end > at:
            raise UndecidableError("the window could not be cut into pieces")
        at = piece.end
    if at != end:
        raise UndecidableError("the window could not be cut into pieces")


def _end(tail: RightTail, least: float, log2_target: int) -> "tuple[float, arb]":
    """A point, not before `least`, with a tail beyond it that is small enough, and the bound on that tail."""
    from flint import arb

    end = max(least, tail.start(log2_target * math.log(2)))
    step = 2.0**-10 * max(1.0, abs(end))
    for _ in range(_WIDENINGS):
        bound = tail.bound(arb(end)) if math.isfinite(end) else arb.pos_inf()
        if bound <= arb((1, log2_target)):
            return end, bound
        end, step = end + step, 2 * step
    raise UndecidableError("the scales of the two mixtures are too far apart")
