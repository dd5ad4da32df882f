"""D_α of two mixtures after Laplace noise, at a finite order: by quadrature in floats, and enclosed in balls.

After Lap(b), with u = 1/b, the logarithm of a density has a slope between −u and u everywhere. So the integrand
p^α q^(1−α) has no feature narrower than b/(2α − 1) but those of the laws themselves, and beyond all points and normals
it falls like e^(−u|y|): there e^(uy)·p(y) only grows, towards the moment generating function of p at u, which bounds
what is left of the integral from both sides (proofs/laplace.md).
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from takifugu._validation import Array, budget, order
from takifugu.divergences.certified import Decision
from takifugu.divergences.laplace_odds import ExactLaplace, LogLaplace, odds_after_laplace
from takifugu.divergences.numerics.balls import (
    UNKNOWN,
    Effort,
    Enclosure,
    UndecidableError,
    fraction,
    meet,
    outward,
    working_precision,
)
from takifugu.divergences.numerics.envelope import from_log_integral, log_weighted_excess
from takifugu.errors import InputError
from takifugu.laws import Mixture

if TYPE_CHECKING:
    from flint import arb, fmpq

_NODES = 20  # of each panel; half as many tell how far they are off
_REACH = 9.0  # standard deviations around a tilted normal beyond which nothing is left in floats
_CUTS = 2  # panels a standard deviation
_SWING = 4.0  # by which the logarithm of the integrand may change along a panel
_MOST_PANELS = 20_000
_AGREES = 1e-11  # of the largest panel, for the coarser rule: the finer one is then exact to rounding
_HALVINGS = 12
_NARROW = 1e-12
_GOALS = (96, 160, 320)  # bits, one attempt after another
_EVALUATIONS = 20_000  # of the integrand in one stretch
_TURNS = 60


def renyi_after_laplace(p: Mixture, q: Mixture, *, alpha: float, scale: float) -> float:
    """D_α(p + Lap(scale) ‖ q + Lap(scale)) in float64; `alpha` is finite, `scale` above 0.

    Where laws are so far apart, beside the scale, that a grid would be too long, it is the bound D∞.

    >>> p, q = Mixture.gaussian(0, 0), Mixture.gaussian(1, 0)
    >>> round(renyi_after_laplace(p, q, alpha=2, scale=1.0), 12)
    0.619123629999
    """
    p, q = p.simplified(), q.simplified()
    if p == q:
        return 0.0
    first, second = LogLaplace(p, scale), LogLaplace(q, scale)
    cuts = _panels((p, q), alpha, scale)
    if cuts is None:
        return odds_after_laplace(p, q, scale=scale)

    def logs(y: Array) -> Array:
        mine, other = first(y), second(y)
        return log_weighted_excess(mine - other, other, alpha * mine - (alpha - 1.0) * other, alpha)

    # Beyond the last cut both densities are pure exponentials, and the integrand is one as well.
    left, right = (
        float(log_weighted_excess(m - o, o, alpha * m - (alpha - 1.0) * o, alpha))
        for m, o in ((first.limits[1], second.limits[1]), (first.limits[0], second.limits[0]))
    )
    tails = np.array([left + cuts[0] / scale, right - cuts[-1] / scale]) - math.log(2.0)
    return from_log_integral(_log_sum(np.append(_refined(logs, cuts) - math.log(2.0 * scale), tails)), alpha)


def _panels(laws: tuple[Mixture, ...], alpha: float, scale: float) -> Array | None:
    """Where to cut: at points, along normals, and so that no panel swings far; None where these would be too many."""
    parts = []
    for law in laws:
        parts.append(law.means[law.stds == 0])
        wide = law.stds > 0
        for mean, std in {*zip(law.means[wide].tolist(), law.stds[wide].tolist(), strict=True)}:
            reach = _REACH + std / scale  # noise tilts a normal by u·σ²
            if reach * _CUTS > _MOST_PANELS:
                return None
            parts.append(mean + std * np.linspace(-reach, reach, 2 * math.ceil(reach * _CUTS) + 1))
    cuts = np.unique(np.concatenate(parts))
    pieces = np.ceil(np.diff(cuts) * (2.0 * alpha - 1.0) / (_SWING * scale)).clip(min=1.0)
    if not pieces.sum() <= _MOST_PANELS:
        return None
    starts = np.repeat(cuts[:-1], pieces.astype(int))
    steps = np.repeat(np.diff(cuts) / pieces, pieces.astype(int))
    within = np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces.astype(int))
    return np.append(starts + within * steps, cuts[-1])


def _refined(logs: Callable[[Array], Array], cuts: Array) -> Array:
    """The logarithms of the integrals over the panels, halved until two rules agree on each that counts."""
    left, right, done = cuts[:-1], cuts[1:], [np.array([-np.inf])]
    for _ in range(_HALVINGS):
        fine, coarse = _by_gauss(logs, left, right, _NODES), _by_gauss(logs, left, right, _NODES // 2)
        most = max(float(one.max()) for one in (fine, *done) if one.size)
        with np.errstate(invalid="ignore"):
            off = np.abs(np.exp(fine - most) - np.exp(coarse - most)) > _AGREES
        done.append(fine[~off])
        left, right, middle = left[off], right[off], 0.5 * (left[off] + right[off])
        if not len(left):
            break
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    else:
        done.append(_by_gauss(logs, left, right, _NODES))
    return np.concatenate(done)


def _by_gauss(logs: Callable[[Array], Array], left: Array, right: Array, nodes: int) -> Array:
    """The logarithm of the integral over each panel, by one Gauss rule."""
    at, weights = np.polynomial.legendre.leggauss(nodes)
    half = 0.5 * (right - left)
    y = (0.5 * (left + right))[:, None] + half[:, None] * at
    values = logs(y.ravel()).reshape(y.shape)
    top = values.max(axis=1)
    with np.errstate(invalid="ignore"):  # a panel on which the integrand is nothing
        found = top + np.log(np.exp(values - top[:, None]) @ weights * half)
    return np.where(np.isneginf(top), -np.inf, found)


def _log_sum(logs: Array) -> float:
    top = float(logs.max())
    return top if math.isinf(top) else top + math.log(math.fsum(np.exp(logs - top).tolist()))


def enclose_renyi_after_laplace(
    p: Mixture, q: Mixture, *, alpha: float, scale: float, effort: Effort | None = None
) -> Enclosure:
    """Two floats that hold D_α(p + Lap(scale) ‖ q + Lap(scale)), proved.

    >>> found = enclose_renyi_after_laplace(Mixture.gaussian(0, 0), Mixture.gaussian(1, 0), alpha=2, scale=1.0)
    >>> exact = math.log(2 / 3 * math.e + math.exp(-2) / 3)
    >>> found.width < 1e-12 and abs(found.upper - exact) < 1e-12
    True
    """
    return _attempt(p, q, alpha=alpha, scale=scale, limit=None, effort=effort).enclosure


def decide_renyi_after_laplace(
    p: Mixture, q: Mixture, *, alpha: float, epsilon: float, scale: float, effort: Effort | None = None
) -> Decision:
    """Whether D_α(p + Lap(scale) ‖ q + Lap(scale)) is `epsilon` at most, proved either way.

    >>> p, q = Mixture.gaussian(0, 0), Mixture.gaussian(1, 0)
    >>> decide_renyi_after_laplace(p, q, alpha=2, epsilon=0.62, scale=1.0).holds
    True
    """
    return _attempt(p, q, alpha=alpha, scale=scale, limit=budget(epsilon), effort=effort)


def _attempt(
    p: Mixture, q: Mixture, *, alpha: float, scale: float, limit: float | None, effort: Effort | None
) -> Decision:
    """Ever narrower enclosures until they answer; without a limit the first that is narrow."""
    of_order = order(alpha)
    if not 0 < scale < math.inf:
        raise InputError(f"scale must be a finite number above 0, got {scale!r}")
    spent, found = Effort() if effort is None else effort, UNKNOWN
    try:
        for goal in _GOALS:
            with working_precision(goal):
                ball = _ball(p, q, of_order, scale, goal, spent)
                found = meet(found, meet(outward(ball), Enclosure(0.0, math.inf)))
                # The ball itself is compared: a search ends closer to the budget than two floats lie apart.
                within = limit is not None and ball <= fraction(limit)
                above = limit is not None and ball > fraction(limit)
            if limit is None and found.width <= _NARROW * max(found.lower, _NARROW):
                break
            if limit is not None and within:
                held = Enclosure(found.lower, min(found.upper, limit))
                return Decision(True, held, f"proved: D is at most {held.upper!r}, within {limit!r}")
            if limit is not None and above:
                return Decision(False, found, f"refuted: D is at least {found.lower!r}, above {limit!r}")
    except UndecidableError as stopped:
        return Decision(None, found, f"undecided: {stopped}")
    return Decision(None, found, f"undecided: D lies in [{found.lower!r}, {found.upper!r}]")


def _ball(p: Mixture, q: Mixture, alpha: float, scale: float, goal: int, effort: Effort) -> "arb":
    """(ln ∫ p^α q^(1−α)) / (α − 1) as a ball."""
    from flint import arb

    first, second = ExactLaplace(p, scale, effort), ExactLaplace(q, scale, effort)
    if first.law == second.law:
        return arb(0)
    powers = arb(fraction(alpha)), arb(1 - fraction(alpha))
    cuts = sorted({*first.breaks, *second.breaks})
    total = arb(0)
    for sign in (-1, 1):
        end, tail = _tail(first, second, powers, cuts[0] if sign < 0 else cuts[-1], sign, goal)
        cuts = sorted({*cuts, end})
        total += tail
    for a, c in pairwise(cuts):
        total += _stretch(first, second, powers, (a, c), goal)
    total *= arb(first.u) / 2
    return total.log() / (powers[0] - 1)  # of what may be 0 no number, which no comparison holds for


def _tail(
    p: ExactLaplace, q: ExactLaplace, powers: "tuple[arb, arb]", start: "fmpq", sign: int, goal: int
) -> "tuple[fmpq, arb]":
    """A place, and a ball around 2b times the integral beyond it.

    Beyond y each density lies between its value there, carried on as an exponential, and its moment generating
    function's; where a law has no normals both are the same.
    """
    from flint import arb

    end, step = start, 1 / p.u
    for law in (p, q):
        for bell in law.law.bells:
            step = max(step, fraction(math.sqrt(float(bell.variance.numer()) / float(bell.variance.denom()))))
    for turn in range(_TURNS):
        if turn:
            end = end + sign * step * (1 + (turn - 1) // 8)
        far = arb(sign * p.u * end).exp()
        bounds = [_between(sum(law.parts(end), arb(0)) * far, law.moment(sign)) for law in (p, q)]
        tail = bounds[0] ** powers[0] * bounds[1] ** powers[1] / (far * arb(p.u))
        if tail.rel_accuracy_bits() >= goal - 20:
            break
    return end, tail


def _between(low: "arb", high: "arb") -> "arb":
    """A ball that holds every number between the two; a moment bounds a value, so that the second is never less."""
    return low.union(high)


def _stretch(
    p: ExactLaplace, q: ExactLaplace, powers: "tuple[arb, arb]", ends: "tuple[fmpq, fmpq]", goal: int
) -> "arb":
    """2b times the integral over a stretch inside which no point lies: the integrand is analytic around it."""
    from flint import acb, arb

    a, c = ends
    mine, other = p.between(a, c), q.between(a, c)

    stopped: list[UndecidableError] = []

    def integrand(y: acb, is_analytic: bool) -> acb:
        # An error must not pass through compiled code: it is kept, and nothing is known of the integrand meanwhile.
        try:
            above, below = mine(y).log(analytic=is_analytic), other(y).log(analytic=is_analytic)
        except UndecidableError as error:
            stopped.append(error)
            return acb(arb.nan())
        return (powers[0] * above + powers[1] * below).exp()

    found = acb.integral(
        integrand, acb(arb(a)), acb(arb(c)), rel_tol=arb(2) ** -goal, abs_tol=0, eval_limit=_EVALUATIONS
    )
    if stopped:
        raise stopped[0]
    return found.real
