"""A bound on the divergence of any two laws in two bands, after noise: envelopes of the published densities.

On each half of a step the densities' largest and smallest value belong to one law each, the same on the whole half
(proofs/band.md). So the envelopes are mixtures, piece by piece, and the bound is a sum of smooth integrals.
"""

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.divergences.numerics.balls import Effort, UndecidableError, fraction, outward
from takifugu.laws import Band, Lattice, exact

if TYPE_CHECKING:
    from flint import acb, arb, fmpq

_NODES = 12  # of the Gauss–Legendre rule on each part of a half step
_PART = 0.75  # standard deviations that one part may span
_REACH = 40.0  # standard deviations beyond the outermost points
_BLOCK = 1 << 22


def largest_laws(band: Band) -> Array:
    """For each half step, the law in the band with the largest density there: masses, one law a row."""
    size = len(band.lower) + 1
    upto = np.ones((2 * (size - 1), size))
    for half in range(2 * (size - 1)):
        nearest = (half + 1) // 2
        upto[half, :-1] = np.where(np.arange(size - 1) < nearest, band.lower, band.upper)
    return np.diff(upto, axis=1, prepend=0.0)


def smallest_laws(band: Band) -> Array:
    """For each half step, the law in the band with the smallest density there: masses, one law a row."""
    size = len(band.lower) + 1
    upto = np.ones((2 * (size - 1), size))
    for half in range(2 * (size - 1)):
        nearest = (half + 1) // 2
        level = chosen_level(band, half)
        left = np.arange(size - 1) < nearest
        upto[half, :-1] = np.where(left, np.minimum(band.upper, level), np.maximum(band.lower, level))
    return np.diff(upto, axis=1, prepend=0.0)


def chosen_level(band: Band, half: int) -> float:
    """The share of the mass that goes to the left of the half step, for the smallest density there.

    The density as a function of the level c is convex with slope E_a − E_b, where a is the point on the left that the
    next bit of mass would go to and b the one on the right that it would come from. It is least where a comes closer
    than b; which is closer does not change within a half step, so whole numbers decide and no rounding does.
    """
    last, nearest = len(band.lower), (half + 1) // 2
    upper, lower = band.upper[:nearest], band.lower[nearest:]

    def enough(level: float) -> bool:
        a = int(np.searchsorted(upper, level, side="right"))
        b = min(nearest + int(np.searchsorted(lower, level, side="right")), last)
        # Distances from the middle of the half step, in quarters of a step.
        return abs(4 * a - 2 * half - 1) <= abs(4 * b - 2 * half - 1)

    levels: list[float] = [0.0, *np.sort(np.concatenate([upper, lower])).tolist(), 1.0]
    return levels[bisect_left(levels, True, key=enough)]


class BandLoss:
    """The bound for p in one band against q in another, as a function of the noise (in steps of the lattice)."""

    def __init__(self, p: Band, q: Band) -> None:
        """Find the laws of the envelopes: they do not depend on the noise."""
        self.p, self.q = largest_laws(p), smallest_laws(q)
        self.size = self.p.shape[1]

    def bound(self, *, alpha: float, noise: float) -> float:
        """ln ∫ (p⁺)^α (q⁻)^(1−α) / (α − 1), by quadrature: a guide for the search, and no proof."""
        if noise == 0:
            return self._without_noise(alpha)
        parts = max(1, math.ceil(0.5 / (_PART * noise)))
        x, w = _rule()
        places = ((np.arange(parts)[:, None] + x) / parts).ravel()
        weights = np.tile(w, parts) / parts
        rows = len(self.p)
        logs, sizes = [], []
        block = max(1, _BLOCK // (len(places) * self.size))
        for start in range(0, rows, block):
            halves = np.arange(start, min(start + block, rows))
            t = 0.5 * (halves[:, None] + places)
            logs.append(self._log_f(halves, t, alpha, noise).ravel())
            sizes.append(np.tile(0.5 * weights, len(halves)))
        steps = math.ceil(_REACH / _PART)
        beyond = (_PART * noise * (np.arange(steps)[:, None] + x)).ravel()
        for half, t in ((0, -beyond), (rows - 1, self.size - 1 + beyond)):
            logs.append(self._log_f(np.array([half]), t[None], alpha, noise).ravel())
            sizes.append(np.tile(_PART * noise * w, steps))
        log_f, size = np.concatenate(logs), np.concatenate(sizes)
        top = float(log_f.max())
        if not math.isfinite(top):
            return math.inf
        total = float(np.exp(log_f - top) @ size)
        return max(0.0, top + math.log(total)) / (alpha - 1)

    def _log_f(self, halves: npt.NDArray[np.intp], t: Array, alpha: float, noise: float) -> Array:
        """The log-integrand at places t, one row per half step."""
        z = (t[:, :, None] - np.arange(self.size)) / noise
        exponents = -0.5 * z * z
        top = exponents.max(axis=2, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            bells = np.exp(exponents - top)
            log_p = np.log(np.einsum("htk,hk->ht", bells, self.p[halves]))
            log_q = np.log(np.einsum("htk,hk->ht", bells, self.q[halves]))
            found = alpha * log_p - (alpha - 1) * log_q + top[:, :, 0] - math.log(noise) - 0.5 * math.log(2 * math.pi)
        # A q⁻ that underflows is taken for nothing, and the bound for infinite: more noise, never less.
        return np.where(np.isneginf(log_p) & np.isneginf(log_q), np.inf, found)

    def _without_noise(self, alpha: float) -> float:
        halves = np.maximum(2 * np.arange(self.size) - 1, 0)
        here = np.arange(self.size)
        p, q = self.p[halves, here], self.q[halves, here]
        if (q[p > 0] <= 0).any():
            return math.inf
        total = float((p[p > 0] ** alpha * q[p > 0] ** (1 - alpha)).sum())
        return max(0.0, math.log(total)) / (alpha - 1)


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    x, w = np.polynomial.legendre.leggauss(_NODES)
    return 0.5 * (x + 1), 0.5 * w


# The bound over two bands with a proof: ∫ (p⁺)^α (q⁻)^(1−α) in ball arithmetic.
#
# In steps of the lattice, bells around t = m add up to e^(−h²/2s²)·v^(−m)·Σ_k w_k e^(−(m−k)²/2s²) v^k with h = t − m
# and v = e^(h/s²): a polynomial, whose evaluation is one Horner scheme. Proofs are in proofs/band.md.

_BITS = 96
_GOAL = 34  # bits of each piece: far below what a search leaves of the budget
_PIECE = 2.0  # standard deviations that one piece beyond the lattice spans
_FIRST_PIECES = 4  # beyond which the tail is worth a bound
_MOST_PIECES = 200
_LIMIT = 400_000_000  # units of work: one coefficient of a polynomial used once


def band_upper(
    lattice: Lattice, p: Band, q: Band, *, alpha: float, theta: float, effort: Effort | None = None
) -> float:
    """A float that D_α(P + N(0, θ²) ‖ Q + N(0, θ²)) does not exceed for any P in one band and Q in the other.

    `math.inf` where a limit on work was met before anything was proved.
    """
    from flint import ctx

    envelopes = _Exact(p, q)
    work = Effort(_LIMIT) if effort is None else effort
    try:
        with ctx.workprec(_BITS):
            if theta == 0:
                total = envelopes.without_noise(alpha)
            else:
                total = _Integral(envelopes, lattice, alpha, theta, work).upper()
            return outward(total.log() / (_ball(alpha) - 1)).upper
    except UndecidableError:
        return math.inf


class _Exact:
    """The laws of the envelopes with masses as exact numbers: differences of the floats that the band holds."""

    def __init__(self, p: Band, q: Band) -> None:
        if len(p.lower) != len(q.lower):
            raise UndecidableError("the two bands are on different lattices")
        chosen = BandLoss(p, q)
        self.size = chosen.size
        self.p, self.q = _levels(chosen, p, q)

    def without_noise(self, alpha: float) -> "arb":
        """Σ (p⁺)^α (q⁻)^(1−α) over the points."""
        from flint import arb

        total, a = arb(0), _ball(alpha)
        for k in range(self.size):
            half = max(2 * k - 1, 0)
            top, bottom = arb(_masses(self.p[half])[k]), arb(_masses(self.q[half])[k])
            if top > 0 and not bottom > 0:
                raise UndecidableError("without noise a point may have no mass at all under the other secret")
            if top > 0:
                total += (a * top.log() + (1 - a) * bottom.log()).exp()
        return total


def _levels(chosen: BandLoss, p: Band, q: Band) -> "tuple[list[list[fmpq]], list[list[fmpq]]]":
    """The distribution functions of the envelopes' laws as rationals, picked as `BandLoss` picks them in floats."""

    size = chosen.size
    low, high = ([fraction(float(x)) for x in side] for side in (p.lower, p.upper))
    q_low, q_high = ([fraction(float(x)) for x in side] for side in (q.lower, q.upper))
    largest, smallest = [], []
    for half in range(2 * (size - 1)):
        nearest = (half + 1) // 2
        largest.append([low[k] if k < nearest else high[k] for k in range(size - 1)])
        level = fraction(chosen_level(q, half))
        smallest.append([min(q_high[k], level) if k < nearest else max(q_low[k], level) for k in range(size - 1)])
    return largest, smallest


def _masses(upto: "list[fmpq]") -> "list[fmpq]":
    from flint import fmpq

    ends = [fmpq(0), *upto, fmpq(1)]
    return [after - before for before, after in pairwise(ends)]


class _Integral:
    """The integral, piece by piece, in steps of the lattice."""

    def __init__(self, envelopes: _Exact, lattice: Lattice, alpha: float, theta: float, effort: Effort) -> None:
        self.envelopes, self.effort, self.size = envelopes, effort, envelopes.size
        self.lattice, self.theta = lattice, Fraction(theta)
        ratio = self.theta / exact(lattice.step)
        self.s = float(ratio)
        self.curve = _rational(1 / ratio**2)  # 1/s², exactly
        self.alpha = _ball(alpha)
        low, step = exact(lattice.low), exact(lattice.step)
        # How far the points, which are floats, are from the exact decimals at most.
        self.off = max(abs(Fraction(float(x)) - low - k * step) for k, x in enumerate(lattice.points))

    def upper(self) -> "arb":
        """A ball whose upper end bounds the integral."""
        from flint import arb

        last = 2 * (self.size - 1) - 1
        total, reach = arb(0), Fraction(0)
        for half in range(last + 1):
            total += self._piece(half, Fraction(half, 2), Fraction(half + 1, 2))
        for half, sign in ((0, -1), (last, 1)):
            tail, far = self._tail(half, sign, total)
            total += tail
            reach = max(reach, far)
        return total * self._off_lattice(reach)

    def _off_lattice(self, reach: Fraction) -> "arb":
        """What the points' being floats, and not the decimals they stand for, can add: a factor on the integral."""
        return ((2 * self.alpha - 1) * self._shift(reach)).exp()

    def _shift(self, reach: Fraction) -> "arb":
        """ρ with every bell within e^±ρ of the one at the exact decimal, up to `reach` steps beyond the lattice."""
        from flint import arb

        farthest = (self.size - 1 + reach) * exact(self.lattice.step)
        return arb(_rational((farthest * self.off + self.off**2 / 2) / self.theta**2))

    def _piece(self, half: int, start: Fraction, end: Fraction) -> "arb":
        from flint import acb, arb

        middle = (start + end) / 2
        integrand = _Integrand(self, half, middle)
        goal = arb((1, -_GOAL))
        value = acb.integral(
            integrand,
            acb(_rational(start - middle)),
            acb(_rational(end - middle)),
            rel_tol=goal,
            abs_tol=goal * goal,
            eval_limit=1 + self.effort.left // (2 * self.size),
        )
        self.effort.spend(2 * self.size * (4 + integrand.calls))
        if not value.real.is_finite():
            raise UndecidableError("the integrand could not be bounded within the limits")
        return value.real

    def _tail(self, half: int, sign: int, total: "arb") -> "tuple[arb, Fraction]":
        """What lies beyond the lattice on one side, and how far out the bound on the rest was taken.

        Beyond the last point the slope of the log-integrand is at most −(t − c)/s², so what is left beyond T is at most
        the integrand at T times s²/(T − c).
        """
        from flint import arb

        at = Fraction(0 if sign < 0 else self.size - 1)
        edge, step, found = at, sign * _short(_PIECE * self.s), arb(0)
        for pieces in range(_MOST_PIECES):
            if pieces >= _FIRST_PIECES:
                rest = self._rest(half, sign, at)
                if rest is not None and rest <= (total + found) * arb((1, -_GOAL)):
                    return found + rest, abs(at - edge)
            found += self._piece(half, min(at, at + step), max(at, at + step))
            at += step
        raise UndecidableError("the tail does not fall within reach")

    def _rest(self, half: int, sign: int, at: Fraction) -> "arb | None":
        """A bound on what lies beyond `at`, or None where it is not far enough out for one."""
        from flint import arb

        integrand = _Integrand(self, half, at)
        rho = self._shift(abs(at))
        off = arb(_rational(self.off / exact(self.lattice.step)))
        # From the far end of the lattice, so that every term of the tilted mean is positive.
        far = 0 if sign > 0 else self.size - 1
        mean = sum((abs(k - far) * c for k, c in enumerate(integrand.q_terms)), arb(0)) / integrand.q_total
        mean = mean * (-2 * rho).exp() - off
        farthest = max(abs(k - far) for k, w in enumerate(integrand.p_masses) if w > 0) + off
        centre = self.alpha * farthest - (self.alpha - 1) * mean
        distance = arb(_rational(sign * (at - far))) - centre
        if not distance > 0:
            return None
        return integrand.real_value() / (self.curve * distance)


class _Integrand:
    """(p⁺)^α (q⁻)^(1−α) around a middle, as a function of h = t − middle."""

    def __init__(self, integral: _Integral, half: int, middle: Fraction) -> None:
        from flint import acb, acb_poly, arb

        self.curve, self.alpha, self.calls = integral.curve, integral.alpha, 0
        self.middle = _rational(middle)
        bells = [(-self.curve * (self.middle - k) ** 2 / 2) for k in range(integral.size)]
        heights = [arb(bell).exp() for bell in bells]
        self.p_masses, q_masses = _masses(integral.envelopes.p[half]), _masses(integral.envelopes.q[half])
        self.p_terms = [arb(w) * e for w, e in zip(self.p_masses, heights, strict=True)]
        self.q_terms = [arb(w) * e for w, e in zip(q_masses, heights, strict=True)]
        self.q_total = sum(self.q_terms, arb(0))
        self.p_poly, self.q_poly = acb_poly(self.p_terms), acb_poly(self.q_terms)
        self.scale = (arb(self.curve) / (2 * arb.pi())).sqrt()
        # As `__call__` needs them, thousands of times.
        self._up, self._down, self._scale = acb(self.alpha), acb(self.alpha - 1), acb(self.scale)
        self._curve, self._middle = acb(self.curve), acb(self.middle)

    def __call__(self, h: "acb", analytic: bool) -> "acb":
        """At a complex ball, as `acb.integral` asks."""
        self.calls += 1
        v = (h * self._curve).exp()
        logs = self._up * self.p_poly(v).log(analytic=analytic)
        logs -= self._down * self.q_poly(v).log(analytic=analytic)
        rest = -self._curve * h * (h / 2 + self._middle)
        return self._scale * (logs + rest).exp()

    def real_value(self) -> "arb":
        """At the middle itself."""
        from flint import arb

        p_total = sum(self.p_terms, arb(0))
        return self.scale * (self.alpha * p_total.log() + (1 - self.alpha) * self.q_total.log()).exp()


def _ball(number: float) -> "arb":
    from flint import arb

    return arb(fraction(number))


def _rational(number: Fraction) -> "fmpq":
    from flint import fmpq

    return fmpq(number.numerator, number.denominator)


def _short(number: float) -> Fraction:
    """A short fraction near a float: pieces may end anywhere, and short numbers are quick."""
    return Fraction(number).limit_denominator(1 << 20) or Fraction(1, 1 << 20)
