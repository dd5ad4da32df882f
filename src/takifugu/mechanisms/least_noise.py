"""The least noise there is: the Rényi divergence itself, inverted."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from takifugu._work import one_thread
from takifugu.channels import GaussianNoise, LaplaceNoise, Noise
from takifugu.divergences import Components, Effort, decide, divergence, half_line_loss, losses_and_doubts
from takifugu.errors import CalibrationError, MechanismError, NoAnswerError
from takifugu.laws import Mixture
from takifugu.mechanisms.base import (
    POINTS,
    Additive,
    Binding,
    Found,
    Mechanism,
    NoiseCurve,
    curve_from_losses,
    on_the_line,
    require_numbers,
)
from takifugu.mechanisms.closed_form import closed_form
from takifugu.mechanisms.worst_case import extreme_laws, worst
from takifugu.problems import Guarantee, Indices, Pairs, Place, Problem

if TYPE_CHECKING:
    from takifugu.mechanisms.worst_case import Screen


# Losses for pictures: the largest over a problem at one noise after another, to the digits that are drawn.

_SHOWN = 1e-4  # of a loss: what no picture shows
_MOST_DRAWN = 200  # laws of which every pair is put on one grid


class DrawnLosses:
    """The largest loss through Gaussian noise, for a picture: four digits of it, where a grid resolves them.

    One grid for all pairs instead of an integral to twelve digits for each; nothing is promised on its word. What is
    the same at every noise, such as which laws can bind, is found once.
    """

    def __init__(self, problem: Problem, *, alpha: float) -> None:
        """Look at the laws of each belief."""
        self._alpha = alpha
        self._parts = [_part(problem, belief) for belief in range(len(problem.beliefs))]

    def __call__(self, theta: float) -> float:
        """The largest loss through noise of standard deviation θ."""
        return max(self._largest(part, theta) for part in self._parts)

    def _largest(self, part: "_Part", theta: float) -> float:
        alpha = self._alpha
        if part.components is not None and theta > 0:
            tolerance = 0.1 * _SHOWN * (alpha - 1)
            losses, doubts = losses_and_doubts(
                part.components, part.components, alpha=alpha, theta=theta, tolerance=tolerance
            )
            losses, doubts = losses[part.pairs], doubts[part.pairs]
            k = int(np.argmax(losses))
            found = float(losses[k])
            if math.isfinite(found) and float(doubts[k]) <= _SHOWN * (alpha - 1) * found:
                return found
        return worst(part.problem, GaussianNoise(theta), alpha=alpha).loss


@dataclass(frozen=True)
class _Part:
    """What one belief asks: its pairs of laws, and the laws as one grid takes them where they are few mixtures."""

    problem: Problem
    components: Components | None
    pairs: tuple[Indices, Indices]


def _part(problem: Problem, belief: int) -> _Part:
    laws: list[Mixture] = [law.simplified() for law in problem.laws(belief)]
    pairs = problem.pairs
    if pairs.is_every:
        few = extreme_laws(laws)
        if 1 < len(few) < len(laws):
            laws = [laws[k] for k in few]
            problem, belief = Problem.of(dict(enumerate(laws))), 0
            pairs = problem.pairs
    alone = Problem((problem.beliefs[belief],), pairs)
    if len(laws) > _MOST_DRAWN or all(len(law) == 1 for law in laws):
        return _Part(alone, None, (np.empty(0, np.intp), np.empty(0, np.intp)))
    return _Part(alone, Components.of(laws), pairs.directed_places())


# Where a function of one number changes its sign: as few looks as Brent takes, without loading all of SciPy.

_MOST_STEPS = 300


def crossing(f: Callable[[float], float], low: float, high: float, *, xtol: float) -> float:
    """The upper end of an interval no longer than xtol at whose ends f has opposite signs: f(low) < 0 <= f(high).

    What is no number counts as below.

    T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function
    without using derivatives", Advances in Engineering Software 28 (1997): inverse quadratic interpolation where the
    last three points make it sure to converge, bisection elsewhere.

    >>> crossing(lambda x: x * x - 2.0, 0.0, 2.0, xtol=1e-12)  # doctest: +ELLIPSIS
    1.41421356237...
    """
    a, b = high, low
    fa, fb = f(a), f(b)
    t = 0.5
    for _ in range(_MOST_STEPS):
        x = a + t * (b - a)
        fx = f(x)
        if (fx >= 0) == (fa >= 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        width = abs(b - a)
        if width <= xtol or fa == 0:
            break
        t = 0.5
        if fc != fb:
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            if phi * phi < xi and (1 - phi) ** 2 < 1 - xi:
                t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        # Half the tolerance from either end at least, so that the interval is closed from both sides.
        least = min(0.5 * xtol / width, 0.5)
        t = min(max(t, least), 1.0 - least) if math.isfinite(t) else 0.5
    return a if fa >= 0 else b


# Inverting a bound: the least variance at which a loss that falls with the noise meets the budget.
#
# The answer is always a variance at which the loss was evaluated and found within the budget. See proofs/search.md.

_GROWTH = 4.0
_TINY = 1e-60
_HUGE = 2.0**1022
_MOST_STEPS_SEARCH = 1100  # doublings enough to cross the whole float64 range


def least_variance(
    loss: Callable[[float], float],
    *,
    epsilon: float,
    floor: float,
    start: float,
    unit: float = 0.0,
    rtol: float,
) -> float:
    """The least z >= floor with loss(z) <= epsilon, from above, to within rtol·(z + unit).

    `loss` must not grow with z; it may be infinite. A NaN counts as too much. The search starts `start` above the
    floor; `unit` is the variance that is there already, next to which less noise makes no difference.
    """

    loss = cache(loss)  # the ends of a bracket are asked for again by each step of the search

    def enough(z: float) -> bool:
        return loss(z) <= epsilon

    if enough(floor):
        return floor
    if epsilon < _TINY and not enough(_HUGE):  # so small that no number may do: that is seen at once, not after all
        return math.inf
    low, high = _bracket(enough, floor, start)
    if math.isinf(high):
        return high
    return _narrow(loss, enough, epsilon, low, high, rtol * (low + unit))


def _bracket(enough: Callable[[float], bool], floor: float, start: float) -> tuple[float, float]:
    """A variance that is not enough and a larger one that is."""
    low, step = floor, start if 0 < start < math.inf else max(floor, 1.0)
    for _ in range(_MOST_STEPS_SEARCH):
        high = floor + step
        if math.isinf(high):
            return low, math.inf
        if enough(high):
            break
        low, step = high, step * _GROWTH
    else:
        return low, math.inf
    if low > floor:
        return low, high
    while True:  # the first step was enough: come down, to start the search close
        step /= _GROWTH**2
        middle = floor + step
        if middle == floor or not enough(middle):
            return max(middle, floor), high
        high = middle


def _narrow(
    loss: Callable[[float], float],
    enough: Callable[[float], bool],
    epsilon: float,
    low: float,
    high: float,
    xtol: float,
) -> float:
    """Where 1/loss, which is close to a straight line in z, meets the budget; then up until it is enough."""

    def room(z: float) -> float:
        value = loss(z)
        if not value < math.inf:  # also catches NaN
            return -1.0
        return min(epsilon / value, 1e6) - 1.0 if value > 0 else 1e6

    xtol = max(xtol, 4 * math.ulp(high))
    z = crossing(room, low, high, xtol=xtol) if room(low) < 0 < room(high) else high
    for _ in range(_MOST_STEPS_SEARCH):
        if z >= high:
            return high
        if enough(z):
            return z
        z += xtol
        xtol *= 2.0
    raise CalibrationError("the search for the least noise did not settle: please report this case")


# The share of the budget left for rounding in the divergence itself, so that a proof in ball arithmetic succeeds.
# Searches aim for the whole of it; a pair that is only looked at may use all but a quarter.
_GAUSSIAN_MARGIN = 4e-12
_MIXTURE_MARGIN = 1e-10
_HOPELESS = 1.01  # times the budget: a lower bound above it in floats is above it
_LEVEL = 1.001  # a curve that rises by less from one halving of the noise to the next may have come to its end


@dataclass(frozen=True)
class Exact(Additive):
    """The least variance at which the exact divergence meets the budget; proofs/exact.md.

    Many pairs are taken together: each is evaluated at the noise found so far, and only those for which it is not
    enough are searched.
    """

    name: ClassVar[str] = "exact"
    label: ClassVar[str] = "Exact"
    summary: ClassVar[str] = "The least noise that meets the budget, from the exact divergence; can be certified."

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance with D_α <= ε, a hair on the safe side."""
        p, q = p.simplified(), q.simplified()
        if p == q:
            return floor
        gaussian = len(p) == len(q) == 1
        target = epsilon * (1 - (_GAUSSIAN_MARGIN if gaussian else _MIXTURE_MARGIN))

        # At high orders the look at no noise takes longer than the whole search, and mostly the tails tell as much.
        bare = not gaussian and floor == 0 and half_line_loss(p, q, alpha=alpha) > _HOPELESS * epsilon

        @cache
        def loss(z: float) -> float:
            return math.inf if bare and z == 0 else divergence(p, q, alpha=alpha, theta=math.sqrt(z))

        if floor == 0 and target < loss(0.0) <= epsilon * (1 + _MIXTURE_MARGIN):
            from takifugu.divergences import decide

            if decide(p, q, alpha=alpha, epsilon=epsilon, theta=0.0).holds:
                return 0.0
        width = float(max(p.stds.max(), q.stds.max()))
        unit = width * width  # infinite rather than an error
        if gaussian:
            gap = float(p.means[0] - q.means[0])
            start = closed_form(gap, float(p.stds[0]), float(q.stds[0]), alpha=alpha, epsilon=epsilon)
            return least_variance(loss, epsilon=target, floor=floor, start=1.01 * start, unit=unit, rtol=1e-13)
        reach = float(max(p.means.max(), q.means.max()) - min(p.means.min(), q.means.min()))
        # From above: with too little noise the mass lies far out, and a look takes a hundred times as long.
        start = (unit + reach * reach) * max(1.0, 0.5 * alpha / epsilon)
        # Noise is compared with the narrowest component: beside a wide one a point still shows the least of it.
        narrowest = float(min(p.stds.min(), q.stds.min()))
        return least_variance(loss, epsilon=target, floor=floor, start=start, unit=narrowest * narrowest, rtol=1e-11)

    def least_variance_over(
        self, priors: list[Mixture], pairs: Pairs, *, alpha: float, epsilon: float, floor: float = 0.0
    ) -> Binding:
        """The least variance for all pairs at once."""
        from takifugu.mechanisms.worst_case import GaussianScreen, MixtureScreen, extreme_laws, least_variance_with

        laws = [prior.simplified() for prior in priors]
        places = extreme_laws(laws) if pairs.is_every else np.arange(len(laws))
        if len(places) < 2:
            return Binding(floor, None)
        if len(places) < len(laws):
            laws, pairs = [laws[place] for place in places], Pairs(range(len(places)))
        gaussian = all(len(law) == 1 for law in laws)
        accept = epsilon * (1 - (_GAUSSIAN_MARGIN if gaussian else _MIXTURE_MARGIN) / 4)
        screen: Screen
        if gaussian:
            screen = GaussianScreen(laws, alpha=alpha, accept=accept)
        else:
            screen = MixtureScreen(laws, alpha=alpha, epsilon=epsilon)
        # Matrices this small are slower on several threads, by a factor of two where others want the cores too.
        with nullcontext() if gaussian else one_thread():
            found = least_variance_with(
                screen, self, laws, pairs, alpha=alpha, epsilon=epsilon, accept=accept, floor=floor
            )

        def named(pair: tuple[int, int]) -> tuple[int, int]:
            return int(places[pair[0]]), int(places[pair[1]])

        pair = None if found.pair is None else named(found.pair)
        return Binding(found.variance, pair, tuple(map(named, found.close)))

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve:
        """ε as the loss at each of a range of θ: one look a point, where inverting would take a dozen."""
        return _exact_curve(problem, alpha, low, high)


@lru_cache(maxsize=64)
def _exact_curve(problem: Problem, alpha: float, low: float, high: float) -> NoiseCurve:
    seen: dict[float, float] = {}  # every noise that was looked at is a point of the curve
    look = DrawnLosses(problem, alpha=alpha)

    def loss(theta: float) -> float:
        if theta not in seen:
            seen[theta] = look(theta)
        return seen[theta]

    start = max(max(law.std for law in belief.values()) for belief in problem.beliefs) or 1.0
    top = bottom = start
    while loss(top) > low and top < 1e150:
        top *= 2.0
    while loss(bottom) < high and bottom > 1e-3 * start:
        bottom /= 2.0
        # No loss is larger than that without noise: where halving has brought next to nothing it may be reached, and
        # less noise, which takes finer grids, would show nothing else.
        if loss(bottom) < _LEVEL * loss(2.0 * bottom) and loss(0.0) <= _LEVEL * loss(bottom):
            break
    if loss(bottom) < high:
        loss(0.0)
    while len(seen) < POINTS:
        # Where the tails of a pair barely fit, the loss falls off a cliff: points go where it changes most.
        thetas = sorted(seen)
        heights = np.log(np.clip([seen[theta] for theta in thetas], low, high))
        drops = heights[:-1] - heights[1:]
        k = int(np.argmax(drops))
        if not drops[k] > 0:
            break
        loss(0.5 * (thetas[k] + thetas[k + 1]))
    thetas = sorted(seen)
    # More noise never loses more: where the digits that are drawn say otherwise, the smaller loss is meant.
    losses = np.minimum.accumulate([seen[theta] for theta in thetas])
    return curve_from_losses(losses, np.array(thetas), low=low, high=high)


# The place that binds, decided in ball arithmetic: the last word on how much noise is enough.
#
# A search trusts floats to a few digits of the budget. Where it ends, one pair stands at the limit: that one is
# proved before anything is returned or released (proofs/exact.md, "The place that binds").

_LIMIT = 4_000_000  # units of work: seconds, and only for laws of a thousand components
_FIRST_STEP = 2.0**-43  # of θ: the search itself is no closer
_MOST_STEPS_BINDING = 40
_DOUBT = 1e-6  # the share of the budget left free where balls give up: ten thousand times the error of floats


def proved_noise(problem: Problem, place: Place, *, alpha: float, epsilon: float, theta: float) -> float:
    """The noise `theta`, or a hair more, at which the place is proved to be within the budget.

    Where ball arithmetic meets its limits, noise at which floats leave a millionth of the budget free.
    """
    p, q = problem.ends(place)
    step = _FIRST_STEP
    for _ in range(_MOST_STEPS_BINDING):
        holds = decide(p, q, alpha=alpha, epsilon=epsilon, theta=theta, effort=Effort(_LIMIT)).holds
        if holds:
            return theta
        if holds is None or theta == 0:
            careful = epsilon * (1 - _DOUBT)
            variance = Exact().least_variance(p, q, alpha=alpha, epsilon=careful, floor=theta * theta)
            larger = max(theta, math.nextafter(math.sqrt(variance), math.inf) if variance > 0 else 0.0)
            if holds is None:
                return larger
            if larger == theta:
                break  # floats see room where balls see none
            theta = larger
        else:
            theta, step = theta * (1 + step), 2 * step
    raise CalibrationError("floats and ball arithmetic disagree about the least noise: please report this case")


def is_enough(problem: Problem, place: Place, *, alpha: float, epsilon: float, theta: float) -> bool:
    """Whether the pair is within the budget, proved; where balls give up, seen with a millionth of it to spare."""
    p, q = problem.ends(place)
    holds = decide(p, q, alpha=alpha, epsilon=epsilon, theta=theta, effort=Effort(_LIMIT)).holds
    if holds is None:
        return divergence(p, q, alpha=alpha, theta=theta) <= epsilon * (1 - _DOUBT / 2)
    return holds


# The least Laplace noise: the largest odds themselves, inverted and proved at every place (proofs/laplace.md).


_LAPLACE_LIMIT = 500_000  # units of work a place: seconds
_A_POINT = 16
_PROVABLE = (2.0**-5, 2.0**-1, 2.0)  # of each width: noise that is tried where less is not decided
_FAINTEST = 1.0 / 36  # of the gap between points: less changes no odds by what floats could tell
_LARGEST = 1e150
_FINEST = 2.0**-10  # of the narrowest normal: nobody asks whether less noise than that would do


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Laplace noise of the least scale under which no pair's odds change by more than the factor that was asked for."""

    name: ClassVar[str] = "laplace"
    proves: ClassVar[bool] = True
    label: ClassVar[str] = "exact Laplace noise"
    summary: ClassVar[str] = "The least Laplace noise that bounds the odds, for numbers on no list; proved."

    def suited(self, problem: Problem) -> Problem:
        """See `Mechanism`."""
        return on_the_line(problem)

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """The scale that the worst place asks for, raised until every place is proved."""
        require_numbers(problem, self.name)
        if not math.isinf(asked.alpha):
            raise MechanismError(
                f"{self.name!r} is found for bounded odds, and {asked} was asked for: give odds alone, or use 'exact', "
                f"which adds Gaussian noise"
            )
        size, binding = 0.0, None
        for place in problem.places():
            if (needed := least_size(LaplaceNoise, problem, place, epsilon=asked.epsilon, floor=size)) > size:
                size, binding = needed, place
        for place in problem.places():
            size = proved_size(LaplaceNoise, problem, place, epsilon=asked.epsilon, size=size)
        return Found(LaplaceNoise(size), binding)


def least_size(family: type[Noise], problem: Problem, place: Place, *, epsilon: float, floor: float) -> float:
    """The least size, `floor` or more, whose largest log-odds at a place are `epsilon` in floats."""
    from scipy.optimize import brentq

    p, q = (law.simplified() for law in problem.ends(place))

    def excess(logarithm: float) -> float:
        return family.of_size(math.exp(logarithm)).loss(p, q, alpha=math.inf) - epsilon

    if family.of_size(floor).loss(p, q, alpha=math.inf) <= epsilon:
        return floor
    reach = max(float(abs(p.mean - q.mean)), p.std, q.std, 1e-300)
    low = high = math.log(max(floor, reach / epsilon))
    while excess(high) > 0:
        high += 1.0
        if high > math.log(_LARGEST):
            raise NoAnswerError(
                f"no noise within the range of numbers here keeps the odds of {problem.words(place)} within the "
                f"guarantee: ask for larger odds, or give the values in a larger unit"
            )
    wide = [std for law in (p, q) for std in law.stds.tolist() if std > 0]
    points = np.unique(np.concatenate([law.means[law.stds == 0] for law in (p, q)]))
    finest = [_FINEST * std for std in wide] + (_FAINTEST * np.diff(points)).tolist()
    least = max(math.log(floor) if floor > 0 else -math.inf, math.log(min(finest)))
    while excess(low) <= 0:
        low -= 1.0
        if low <= least:  # the floor itself was not enough, or floats would tell nothing about less
            low = least
            break
    if not low < high:
        return max(floor, math.exp(high))
    if excess(low) <= 0:
        return max(floor, math.exp(low))
    return math.exp(brentq(excess, low, high, xtol=1e-15, rtol=1e-15))


def proved_size(family: type[Noise], problem: Problem, place: Place, *, epsilon: float, size: float) -> float:
    """The size, or a hair more, at which a place is proved to be within the budget. More never tells more."""
    p, q = problem.ends(place)
    step = _FIRST_STEP
    widths = {std for law in (p, q) for std in law.stds.tolist() if std > 0}
    jumps = sorted(share * std for share in _PROVABLE for std in widths)
    for _ in range(_MOST_STEPS_BINDING):
        holds = _decided(family.of_size(size), p, q, epsilon)
        if holds:
            return size
        size, step = size * (1 + step), 2 * step
        if (
            holds is None
        ):  # so little noise beside a normal that no proof ends: a few per cent of its width cost nothing
            while jumps and jumps[0] <= size:
                jumps.pop(0)
            if not jumps:
                break
            size = jumps.pop(0)
    raise CalibrationError(
        f"the odds of {problem.words(place)} could not be proved to be within the guarantee with about "
        f"{family.__name__} of size {size:.3g}: publish from a list (Row), or merge components that nearly agree"
    )


def is_enough_everywhere(problem: Problem, channel: Noise, *, epsilon: float) -> bool:
    """Whether noise is proved to bound the odds at every place."""
    return all(_decided(channel, *problem.ends(place), epsilon) is True for place in problem.places())


def _decided(channel: Noise, p: Mixture, q: Mixture, epsilon: float) -> bool | None:
    if channel.size == 0:  # points have an exact answer, rounded up; of normals it is infinite
        return channel.loss(p, q, alpha=math.inf) <= epsilon
    limit = _LAPLACE_LIMIT + _A_POINT * (len(p) + len(q))  # sums over thousands of rows take as many points
    return channel.decide(p, q, alpha=math.inf, epsilon=epsilon, effort=Effort(limit)).holds
