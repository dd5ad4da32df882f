"""∫ p^α q^(1-α) in ball arithmetic: the pieces of a window, and a bound on what lies outside it.

The proof that the ball returned holds the integral is proofs/certified.md.
"""

import math
from dataclasses import replace
from typing import Any

from takifugu.divergences.proved.balls import bits, dyadic
from takifugu.divergences.proved.effort import Effort, UndecidableError
from takifugu.divergences.proved.integrand import Bells, Integrand
from takifugu.divergences.proved.pieces import Piece, Plan
from takifugu.divergences.proved.precision import working_precision
from takifugu.divergences.proved.rational import Bell, fraction, mirrored, widest
from takifugu.divergences.proved.tails import RightTail, term

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

    def __init__(self, p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: Any, effort: Effort) -> None:
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

    def ball(self, goal: int) -> Any:
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

    def _window(self, goal: int) -> tuple[float, float, Any]:
        """Two ends, and a ball that holds what lies beyond them."""
        from flint import arb

        log2_target = math.floor(self._log2_size) - goal - 4
        core = self.plan.core
        with working_precision(goal + _GUESS_BITS):
            end, right = _end(RightTail(self.p, self.q, self.alpha), float(core.max()), log2_target)
            mirror = RightTail(mirrored(self.p), mirrored(self.q), self.alpha)
            minus_start, left = _end(mirror, -float(core.min()), log2_target)
            return -minus_start, end, arb(0).union(right + left)

    def _integrate(self, piece: Piece, goal: int, exponent: int) -> Any:
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

    def _shortened(self, piece: Piece, exponent: int) -> tuple[Piece, Any]:
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

    def _most(self, piece: Piece) -> Any:
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


def _moved(bells: tuple[Bell, ...], centre: Any, unit: Any) -> tuple[Bell, ...]:
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


def _end(tail: RightTail, least: float, log2_target: int) -> tuple[float, Any]:
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
