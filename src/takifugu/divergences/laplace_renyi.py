"""D_α of two mixtures after Laplace noise, at a finite order: by quadrature in floats, and enclosed in balls.

After Lap(b), with u = 1/b, the logarithm of a density has a slope between −u and u everywhere. So the integrand
p^α q^(1−α) has no feature narrower than b/(2α − 1) but those of the laws themselves, and beyond all points and normals
it falls like e^(−u|y|): there e^(uy)·p(y) only grows, towards the moment generating function of p at u, which bounds
what is left of the integral from both sides (proofs/laplace.md).
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

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


# Bounds on the largest odds of every pair of many laws after Laplace noise, from one grid that all share.
#
# The logarithm of a density after Lap(b) has a slope of 1/b at most, so that of a ratio one of 2/b: between two
# places of a grid a ratio is no further above its larger end than the step over b, and beyond the last the moment
# generating functions bound it (proofs/laplace.md, claims 2 and 4). Of laws on points the largest odds are at one of
# the points.


_SCREEN_REACH = 6.0  # standard deviations, on either side of where noise tilts a normal to
_SHARE = 0.02  # of the budget: what the steps of the grid may leave open
_LEAST, _MOST = 64, 8_000  # places of a grid
_WORK = 2_000_000_000  # differences of logarithms for all pairs
_ROUNDING = 2.0**-48  # of a logarithm's size, for each term that is added up: thirty times what floats lose
_CLEARING_BITS = 96  # of the balls at the places of a grid: its steps leave far more open than these do
_SHARES = (_SHARE, _SHARE / 10)  # for all laws, and for those that the first grid leaves open
_UNDERFLOW = 1e-280  # more than all products together that are below the smallest float
_DEEPEST = 750.0  # e to minus this is below all floats
_DEEPEST_KEPT = 340.0  # two such factors are still above the least float
_NEAR = 1.05  # times the budget: beyond, only the largest is looked for
_CLEAR = 1e-3  # of the budget: by how much others stay below it
_STEP = 4.0  # a step's slack is a quarter of the slope over it
_TOGETHER = 1_000_000  # densities of components at a time


Truths = npt.NDArray[np.bool_]


class Screened(NamedTuple):
    """For each law against each other one: odds that are attained or approached, and a bound on all of them, as ln."""

    attained: Array
    bound: Array


def screen_odds_after_laplace(laws: Sequence[Mixture], *, scale: float, epsilon: float) -> Screened:
    """Both for every pair of laws, beside a budget that says how fine a grid is worth.

    >>> laws = [Mixture.gaussian(0, 1), Mixture.gaussian(1, 1)]
    >>> found = screen_odds_after_laplace(laws, scale=2.0, epsilon=1.0)
    >>> bool(found.attained[0, 1] <= 0.5 <= found.bound[0, 1] <= 0.53)
    True
    """
    with np.errstate(all="ignore"):  # what overflows, or is no number, clears nothing
        return _screened(_centred(laws), scale, epsilon)


def _screened(laws: Sequence[Mixture], scale: float, epsilon: float) -> Screened:
    """Every pair by what its two laws are against all others together, and those that lose most by themselves."""
    places, step = _grid(laws, scale, epsilon)
    heights, (right, left) = _logarithms(laws, places, scale)
    last, first = heights[:, -1] + places[-1] / scale, heights[:, 0] - places[0] / scale
    lost, size = _lost(laws, places, scale), len(laws)
    # No pair of a law loses more than the law does against the least, or the largest, of all at every place.
    tops, dips = (heights - heights.min(axis=0)).max(axis=1), (heights.max(axis=0) - heights).max(axis=1)
    above = np.maximum(tops + step / scale, np.maximum(right - last.min(), left - first.min()))
    below = np.maximum(dips + step / scale, np.maximum(right.max() - last, left.max() - first))
    most = max(float(tops.max()), float(np.ptp(right)), float(np.ptp(left)))
    worth = most if most > _NEAR * epsilon else min(most, epsilon) * (1.0 - _CLEAR)
    attained, bound = np.zeros((size, size)), np.minimum(above[:, None], below[None, :])
    columns = np.flatnonzero(~(below + lost < worth))
    for i in np.flatnonzero(~(above + lost < worth)):
        inside = (heights[i] - heights[columns]).max(axis=1)
        ends = np.maximum(right[i] - right[columns], left[i] - left[columns])
        attained[i, columns] = np.maximum(inside, ends)
        tails = np.maximum(right[i] - last[columns], left[i] - first[columns])
        bound[i, columns] = np.maximum(inside + step / scale, tails)
    return _with_room(attained, bound, lost)


def _with_room(attained: Array, bound: Array, lost: float) -> Screened:
    """Both, less and more by what rounding may do."""
    attained, bound = np.nan_to_num(attained - lost, nan=0.0).clip(min=0.0), bound + lost
    same = np.eye(len(bound), dtype=bool)
    return Screened(np.where(same, 0.0, attained), np.where(same, 0.0, np.where(np.isnan(bound), np.inf, bound)))


def _logarithms(laws: Sequence[Mixture], places: Array, scale: float) -> tuple[Array, Array]:
    """ln 2b times the density of each law after the noise, and ln M(u), ln M(−u) of each."""
    u = 1.0 / scale
    sizes = [len(law) for law in laws]
    starts = np.cumsum([0, *sizes[:-1]])
    means, stds, raw = (np.concatenate([getattr(law, name) for law in laws]) for name in ("means", "stds", "weights"))
    weights = np.log(raw) - np.repeat([math.log(math.fsum(law.weights)) for law in laws], sizes)
    bend = 0.5 * (u * stds) ** 2 + weights
    limits = np.array([np.logaddexp.reduceat(bend + sign * u * means, starts) for sign in (1.0, -1.0)])
    if not stds.all():  # sums over thousands of points are added up point by point
        return np.array([LogLaplace(law, scale)(places) for law in laws]), limits
    from scipy.special import log_ndtr

    heights = np.empty((len(laws), len(places)))
    step = max(1, _TOGETHER // len(means))
    for k in range(0, len(places), step):
        z = (places[None, k : k + step] - means[:, None]) / stds[:, None]
        tilt = (u * stds)[:, None]
        left, right = bend[:, None] - tilt * z + log_ndtr(z - tilt), bend[:, None] + tilt * z + log_ndtr(-z - tilt)
        heights[:, k : k + step] = np.logaddexp.reduceat(np.logaddexp(left, right), starts, axis=0)
    return heights, limits


def screen_renyi_after_laplace(laws: Sequence[Mixture], *, alpha: float, scale: float, epsilon: float) -> Screened:
    """D_α of each law from each other one: one that is reached, and a bound, beside a budget as above.

    ln p^α q^(1−α) has a slope of (2α − 1)/b at most, so that its integral over half a step next to a place lies between
    two multiples of its value there; beyond the ends either density lies between two exponentials. Each bound is then a
    product of a number of p and one of q, added up over the places: for all pairs one product of matrices.

    >>> laws = [Mixture.gaussian(0, 0), Mixture.gaussian(1, 0)]
    >>> found = screen_renyi_after_laplace(laws, alpha=2.0, scale=1.0, epsilon=1.0)
    >>> bool(found.attained[0, 1] <= 0.619123629999 <= found.bound[0, 1] <= 0.66)
    True
    """
    with np.errstate(all="ignore"):
        return _by_order(_centred(laws), alpha, scale, epsilon)


def _by_order(laws: Sequence[Mixture], alpha: float, scale: float, epsilon: float) -> Screened:
    slope = (2.0 * alpha - 1.0) / scale
    reach = np.array([_SCREEN_REACH + float(law.stds.max()) / scale for law in laws])
    low = min(float((law.means - far * law.stds).min()) for law, far in zip(laws, reach, strict=True))
    high = max(float((law.means + far * law.stds).max()) for law, far in zip(laws, reach, strict=True))
    most = min(_MOST, max(_LEAST, _WORK // len(laws) ** 2))
    needed = (high - low) * slope / (_STEP * _SHARE * epsilon * (alpha - 1.0))
    count = most if not needed < most else max(_LEAST, math.ceil(needed))
    places, step = np.linspace(low, high, count + 1, retstep=True)
    heights, (right, left) = _logarithms(laws, places, scale)
    half = 0.5 * slope * float(step) * (1.0 + 2.0**-40)
    halves = np.full(len(places), 2.0)
    halves[[0, -1]] = 1.0
    last, first = heights[:, -1] + places[-1] / scale, heights[:, 0] - places[0] / scale
    tails = np.array([-places[-1] / scale, places[0] / scale]) + math.log(scale)
    reached, limits = np.stack([last, first], axis=1), np.stack([right, left], axis=1)
    lost = _lost(laws, places, scale) * (2.0 * alpha - 1.0) / (alpha - 1.0)
    found = []
    for weight, mine, other, least in (
        (float(np.expm1(half)), limits, reached, -_DEEPEST_KEPT),  # no less than the integral, what is below floats too
        (-float(np.expm1(-half)), reached, limits, -math.inf),  # no more
    ):
        logs = np.log(halves * (weight / slope))
        first_logs = np.hstack([alpha * heights + logs, alpha * mine + tails])
        other_logs = np.hstack([(1.0 - alpha) * heights, (1.0 - alpha) * other])
        found.append((_log_products(first_logs, other_logs, least=least) - math.log(2.0 * scale)) / (alpha - 1.0))
    return _with_room(found[1], found[0], lost)


def _log_products(first: Array, other: Array, *, least: float) -> Array:
    """ln Σ_k e^(a_k + b_k) of each row of the one and each of the other; factors below e^least count as that."""
    middle = 0.5 * (first.max(axis=0) - other.max(axis=0))
    left, right = first - middle, other + middle
    tops = left.max(axis=1)[:, None], right.max(axis=1)[:, None]
    left, right = (np.exp(np.maximum(one - top, least)) for one, top in zip((left, right), tops, strict=True))
    found: Array = np.log(left @ right.T) + tops[0] + tops[1].T
    return found


def _centred(laws: Sequence[Mixture]) -> list[Mixture]:
    """The laws around a common middle: nothing that tells them apart changes, and large offsets cost no digits."""
    every = np.concatenate([law.means for law in laws])
    middle = 0.5 * float(every.min()) + 0.5 * float(every.max())
    return [Mixture(law.weights, law.means - middle, law.stds) for law in laws]


def _lost(laws: Sequence[Mixture], places: Array, scale: float) -> float:
    """No less than what rounding may do to a difference of logarithms; infinite where nothing is left of them.

    A logarithm is a sum of as many terms as the law has components, each up to the span over the scale in size, or half
    the squared width over the squared scale.
    """
    span = max(float(np.abs(places).max()), *(float(np.abs(law.means).max()) for law in laws))
    width = max(float(law.stds.max()) for law in laws) / scale
    terms = 8 + max(len(law) for law in laws)
    lost = _ROUNDING * terms * (2.0 * span / scale + width * width + _DEEPEST)
    return lost if math.isfinite(lost) else math.inf


def _grid(
    laws: Sequence[Mixture], scale: float, epsilon: float, share: float = _SHARE, *, fill: bool = False
) -> tuple[Array, float]:
    """Where to look, and the longest gap between two places that may hide a larger ratio; 0 where none does."""
    points = np.unique(np.concatenate([law.means[law.stds == 0] for law in laws]))
    wide = [law for law in laws if law.stds.any()]
    if not wide and not fill:
        return points, 0.0
    tilted = [_SCREEN_REACH + law.stds / scale for law in wide]
    each = zip(wide, tilted, strict=True)
    ends = [(float((law.means - t * law.stds).min()), float((law.means + t * law.stds).max())) for law, t in each]
    low, high = min((a for a, _ in ends), default=math.inf), max((c for _, c in ends), default=-math.inf)
    if len(points):
        low, high = min(low, float(points[0])), max(high, float(points[-1]))
    most = min(_MOST, max(_LEAST, _WORK // len(laws) ** 2))
    needed = (high - low) / (share * epsilon * scale)
    count = most if not needed < most else max(_LEAST, math.ceil(needed))
    places = np.linspace(low, high, count + 1)
    gaps = np.diff(np.union1d(places, points))
    return np.union1d(places, points), float(gaps.max()) if len(gaps) and high > low else math.inf


def cleared_after_laplace(
    laws: Sequence[Mixture], *, scale: float, epsilon: float, effort: Effort | None = None
) -> Truths:
    """Of which pairs of many laws it is proved that their odds after Lap(scale) are within the budget, as ln.

    The same bounds as above, on logarithms that are balls and differences that are rounded outwards (proofs/laplace.md,
    claim 4b). What is not cleared is not decided: it is for `decide_odds_after_laplace`.

    >>> laws = [Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), Mixture.gaussian(9, 1)]
    >>> cleared_after_laplace(laws, scale=2.0, epsilon=1.0)[0].tolist()
    [True, True, False]
    """
    spent = Effort() if effort is None else effort

    def within(some: Sequence[Mixture], share: float) -> Truths:
        with np.errstate(all="ignore"):
            places, _ = _grid(some, scale, epsilon, share)
        seen = _enclosed(some, places, scale, spent)
        return np.zeros((len(some), len(some)), dtype=bool) if seen is None else _odds_bound(seen) <= epsilon

    return _cleared(laws, within)


def cleared_renyi_after_laplace(
    laws: Sequence[Mixture], *, alpha: float, scale: float, epsilon: float, effort: Effort | None = None
) -> Truths:
    """The same of D_α: an upper sum over the cells around the places of a grid, and the tails (claim 4c).

    >>> laws = [Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), Mixture.gaussian(9, 1)]
    >>> cleared_renyi_after_laplace(laws, alpha=2.0, scale=2.0, epsilon=0.5)[0].tolist()
    [True, True, False]
    """
    from flint import arb

    spent = Effort() if effort is None else effort
    with working_precision(_CLEARING_BITS):
        most, _ = _outward(((arb(fraction(alpha)) - 1) * arb(fraction(epsilon))).exp())

    def within(some: Sequence[Mixture], share: float) -> Truths:
        with np.errstate(all="ignore"):
            places, _ = _grid(some, scale, epsilon, share, fill=True)
        seen = _enclosed(some, places, scale, spent)
        return np.zeros((len(some), len(some)), dtype=bool) if seen is None else _integral(seen, alpha) <= most

    return _cleared(laws, within)


def _cleared(laws: Sequence[Mixture], within: Callable[[Sequence[Mixture], float], Truths]) -> Truths:
    """Of all laws on one grid, and of those with a pair that it leaves open on a finer one."""
    cleared = np.eye(len(laws), dtype=bool)
    left = np.arange(len(laws))
    for share in _SHARES:
        try:
            cleared[np.ix_(left, left)] |= within([laws[k] for k in left.tolist()], share)
        except UndecidableError:  # the work allowed is done: the proof of a pair says so where one is left
            break
        left = np.flatnonzero(~cleared.all(axis=0) | ~cleared.all(axis=1))
        if len(left) < 2:
            break
    return cleared


class _Enclosed(NamedTuple):
    """Floats below and above ln 2b·p_b of each law at each place, and above and below what is left of it in the tails.

    `beyond` are ln M(±u); `last` and `first` the logarithms at the ends with the noise's own slope taken out.
    """

    at: "list[fmpq]"
    u: "fmpq"
    is_discrete: bool
    low: Array
    high: Array
    beyond: tuple[Array, Array]
    last: Array
    first: Array


def _enclosed(laws: Sequence[Mixture], places: Array, scale: float, spent: Effort) -> _Enclosed | None:
    """All of that in balls, rounded outwards; None where the grid is none."""
    from flint import arb

    if not np.isfinite(places).all() or len(places) < 2:
        return None
    is_discrete = all(law.is_discrete for law in laws)
    at = [fraction(place) for place in places.tolist()]
    ends = []
    low, high = np.empty((2, len(laws), len(places)))
    with working_precision(_CLEARING_BITS):
        for k, law in enumerate(laws):
            exact = ExactLaplace(law, scale, spent)
            balls = exact.at_points(at) if is_discrete else [sum(exact.parts(place), arb(0)) for place in at]
            logs = [ball.log() for ball in balls]
            low[k], high[k] = np.array([_outward(log) for log in logs]).T
            tails = (exact.moment(1).log(), exact.moment(-1).log())
            ends.append(
                [*map(_outward, tails), _outward(logs[-1] + exact.u * at[-1]), _outward(logs[0] - exact.u * at[0])]
            )
    below, above = np.moveaxis(np.array(ends), (2, 1), (0, 1))
    return _Enclosed(at, 1 / fraction(scale), is_discrete, low, high, (above[0], above[1]), below[2], below[3])


def _odds_bound(seen: _Enclosed) -> Array:
    """For each law against each other one a bound on ln of the odds, rounded up; infinite where there is none."""
    from flint import arb

    with working_precision(_CLEARING_BITS):
        # Over a step of h a difference of two logarithms rises by h/b at most above the larger end.
        widest = max(c - a for a, c in pairwise(seen.at))
        rise = 0.0 if seen.is_discrete else _outward(arb(widest * seen.u))[1]
    bound = np.empty((len(seen.low), len(seen.low)))
    for k, high in enumerate(seen.high):
        bound[k] = _up(_up((high - seen.low).max(axis=1)) + rise)
    right, left = (_up(one[:, None] - end) for one, end in zip(seen.beyond, (seen.last, seen.first), strict=True))
    found = np.maximum(bound, np.maximum(right, left))
    return np.where(np.isnan(found), np.inf, found)


def _integral(seen: _Enclosed, alpha: float) -> Array:
    """For each law against each other one no less than ∫ p^α q^(1−α); infinite where there is no bound."""
    from flint import arb

    ends, u = seen.at, seen.u
    gaps = [(c - a) / 2 for a, c in pairwise(ends)]
    highs = [*seen.high.T, *seen.beyond]
    lows = [*seen.low.T, seen.last, seen.first]
    rows = len(seen.low)
    first, second = np.empty((2, rows, len(highs)))
    with working_precision(_CLEARING_BITS):
        order, rise = arb(fraction(alpha)), (2 * arb(fraction(alpha)) - 1) * arb(u)

        def side(length: "fmpq") -> "arb":
            """∫ e^(rise·s) over s from 0 to the length, times 1/2b."""
            return ((rise * arb(length)).exp() - 1) / rise * arb(u) / 2

        weights = [side(one) for one in [gaps[0], *gaps]]
        cells = [weights[0], *(a + c for a, c in pairwise(weights[1:])), weights[-1]]
        tails = [(-arb(u * ends[-1])).exp() / 2, arb(u * ends[0]).exp() / 2]
        for k, (high, low, weight) in enumerate(zip(highs, lows, [*cells, *tails], strict=True)):
            if not (np.isfinite(high).all() and np.isfinite(low).all()):
                return np.full((rows, rows), np.inf)
            middle = float(np.median(high))  # any number: it is taken out here and put back there
            here, back = arb(fraction(middle)), arb(fraction(middle)).exp() * weight
            first[:, k] = [_outward((order * (arb(one) - here)).exp())[1] for one in high.tolist()]
            second[:, k] = [_outward(((1 - order) * (arb(one) - here)).exp() * back)[1] for one in low.tolist()]
    with np.errstate(all="ignore"):
        # Sums of products of positive floats, in whatever order: off by as many roundings as there are terms at most.
        found = (first @ second.T) * (1.0 + 4.0 * len(highs) * 2.0**-53) + _UNDERFLOW
    return np.where(np.isnan(found), np.inf, found)


def _outward(ball: "arb") -> tuple[float, float]:
    """Floats below and above all of a ball; infinite where it is no number."""
    if not ball.is_finite():
        return -math.inf, math.inf
    return math.nextafter(float(ball.lower()), -math.inf), math.nextafter(float(ball.upper()), math.inf)


def _up(rounded: Array) -> Array:
    """No less than the exact result of which this is the nearest float."""
    return np.nextafter(rounded, np.inf)
