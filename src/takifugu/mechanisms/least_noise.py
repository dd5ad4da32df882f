"""The least noise of a family that keeps a guarantee: every divergence inverted, and proved.

One search serves every family of noise of one size and every divergence that is registered for it. It is sound where
more noise is what less noise becomes when more is added (proofs/monotonicity.md, proofs/laplace.md): then no loss grows
with the size, and what is enough at one place stays enough while another asks for more.
"""

import math
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

import numpy as np

from takifugu._validation import Array
from takifugu._work import one_thread
from takifugu.channels import GaussianNoise, LaplaceNoise, Noise
from takifugu.divergences import Components, Effort, divergence, half_line_loss, losses_and_doubts
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
    root_above,
)
from takifugu.mechanisms.closed_form import closed_form, least_variance
from takifugu.mechanisms.worst_case import closest, extreme_laws, worst
from takifugu.problems import Guarantee, Indices, MaxDivergence, Pairs, Part, Place, Problem, RenyiDivergence

if TYPE_CHECKING:
    from takifugu.mechanisms.worst_case import Screen

# The share of the budget left for rounding in the divergence itself, so that a proof in ball arithmetic succeeds.
# Searches aim for the whole of it; a pair that is only looked at may use all but a quarter.
_GAUSSIAN_MARGIN = 4e-12
_MIXTURE_MARGIN = 1e-10
_HOPELESS = 1.01  # times the budget: a lower bound above it in floats is above it


@dataclass(frozen=True)
class Exact(Additive):
    """The least Gaussian noise at which the exact divergence meets the budget; proofs/exact.md.

    Many pairs are taken together: each is evaluated at the noise found so far, and only those for which it is not
    enough are searched.
    """

    name: ClassVar[str] = "exact"
    label: ClassVar[str] = "Exact"
    summary: ClassVar[str] = "The least Gaussian noise that keeps (α, ε) or (ε, δ), from the divergence itself; proved."
    proves: ClassVar[bool] = True

    def require(self, asked: Guarantee) -> None:
        """See `Mechanism`: whatever is known after Gaussian noise."""
        require_known(self.name, GaussianNoise, asked)

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """See `Mechanism`."""
        require_numbers(problem, self.name)
        return least_noise_for(problem, asked, GaussianNoise(0.0))

    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance with D_α <= ε, a hair on the safe side.

        The divergence falls as noise grows (proofs/monotonicity.md), so that the root is bracketed and bisected; what
        is returned is a point at which it was seen to be within the budget.

        Args:
            p: the law under one secret.
            q: that under the other.
            alpha: the order, above 1.
            epsilon: the budget.
            floor: a variance that other pairs ask for already; where it is enough one look is all that this pair takes.

        Returns:
            The variance; infinite where no noise within the range of numbers is enough.
        """
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
        """The least variance for all pairs at once.

        Args:
            priors: the laws of one belief.
            pairs: which of their secrets are to be hidden from one another.
            alpha: the order, above 1.
            epsilon: the budget.
            floor: a variance that other beliefs ask for already.

        Returns:
            The variance and the pair that asked for it. Most pairs are cleared by bounds for many at once, and only
            those that are not are computed one by one.
        """
        from takifugu.mechanisms.worst_case import GaussianScreen, MixtureScreen, least_variance_with

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

        return exact_curve(problem, alpha, low, high)


@dataclass(frozen=True)
class Laplace(Mechanism):
    """The least Laplace noise that keeps a guarantee; it bounds odds, which Gaussian noise of no size does."""

    name: ClassVar[str] = "laplace"
    label: ClassVar[str] = "exact Laplace noise"
    summary: ClassVar[str] = "The least Laplace noise that keeps the guarantee, bounded odds among them; proved."
    proves: ClassVar[bool] = True

    def require(self, asked: Guarantee) -> None:
        """See `Mechanism`: whatever is known after Laplace noise."""
        require_known(self.name, LaplaceNoise, asked)

    def suited(self, problem: Problem) -> Problem:
        """See `Mechanism`."""
        return on_the_line(problem)

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """See `Mechanism`."""
        require_numbers(problem, self.name)
        lattice = _lattice_of(problem)
        if lattice is None:
            return least_noise_for(problem, asked, LaplaceNoise(0.0))
        from takifugu.channels import DiscreteLaplaceNoise

        found = least_noise_for(problem, asked, DiscreteLaplaceNoise(0.0, *lattice))
        if all(type(part.divergence) is MaxDivergence for part in asked.parts):
            return found  # at the same scale as Laplace noise, with less variance
        other = least_noise_for(problem, asked, LaplaceNoise(0.0))  # what falls between points is told from nothing
        return min(found, other, key=lambda one: one.channel.as_noise().variance)


def _lattice_of(problem: Problem) -> tuple[float, float] | None:
    """The step and a point of the coarsest lattice that all laws are on; None where they are on none."""
    laws = [law for belief in range(len(problem.beliefs)) for law in problem.laws(belief)]
    if not all(law.is_discrete for law in laws):
        return None
    from takifugu.laws import spacing

    lattice = None if problem.answer is None else problem.answer.lattice  # draws of a posterior may be on all of it
    return spacing(np.concatenate([law.means for law in laws]) if lattice is None else lattice.points[:2])


def require_known(name: str, family: type[Noise], asked: Guarantee) -> None:
    """Refuse a guarantee about a divergence of which nothing is known after a family of noise.

    Args:
        name: of the mechanism.
        family: the kind of noise that it adds.
        asked: the guarantee.

    Raises:
        MechanismError: with the mechanisms that know the guarantee, where there are any.
    """
    unknown = [part for part in asked.parts if not (part.is_provable and family.knows(type(part.divergence)))]
    if unknown:
        others = [rule.name for rule in (Exact, Laplace) if _is_known(rule, asked)]
        use = f"On a number use {' or '.join(map(repr, others))}, or publish" if others else "Publish"
        raise MechanismError(
            f"{name!r} cannot keep {unknown[0]}: {family.kind.capitalize()} noise bounds "
            f"{unknown[0].divergence.words} at no size that is known. {use} from a finite list (Row, or Finite laws)"
        )


def _is_known(rule: type[Exact] | type[Laplace], asked: Guarantee) -> bool:
    family = GaussianNoise if rule is Exact else LaplaceNoise
    return all(part.is_provable and family.knows(type(part.divergence)) for part in asked.parts)


# One search for every family and every divergence: the size that the worst place asks for, then its proof.


class Enough(NamedTuple):
    """A size that is enough in floats, the place that asked for it, and the places that nothing has proved yet."""

    size: float
    place: Place | None
    unproved: tuple[Place, ...]


def least_noise_for(problem: Problem, asked: Guarantee, family: Noise, *, floor: float = 0.0) -> Found:
    """Noise of the least size, `floor` or more, that is proved to keep every part of a guarantee.

    Args:
        problem: laws of numbers.
        asked: a guarantee whose divergences are known after this noise.
        family: such noise, of any size; more of it must be post-processing of less.
        floor: a size that there is already.

    Returns:
        The noise, and the place that is closest to the limit.

    Raises:
        NoAnswerError: no size within the range of numbers is enough.
        CalibrationError: what floats see could not be proved.
    """
    size, binding = floor, None
    needed = []
    for part in asked.parts:
        found = _enough(problem, part, family, size)
        if found.size > size:
            size, binding = found.size, found.place
        needed.append((part, found))
    for part, found in needed:
        for place in found.unproved:
            larger = proved_size(problem, place, part, family, size)
            if larger > size:  # floats had seen less than there is
                size, binding = larger, place
    channel = family.resized(size)
    if binding is None or not _is_at_limit(problem, channel, asked, binding):
        # At the edge of its domain a loss falls off a cliff: the place that asks for this noise, with less than which
        # it would lose everything, may then lose less than another does, and that one is closest to the limit.
        here = closest(problem, channel, asked)
        larger = proved_size(problem, here.place, here.part, family, size)
        channel, binding = family.resized(larger), here.place
    return Found(channel, binding)


def keeps(problem: Problem, channel: Noise, asked: Guarantee) -> bool:
    """Whether noise is proved to keep a guarantee at every place; the same places are looked at as in the search.

    Args:
        problem: the priors and pairs.
        channel: the noise.
        asked: the guarantee.

    Returns:
        True where every directed pair under every belief is cleared by a bound or decided in ball arithmetic.
    """
    for part in asked.parts:
        if not channel.knows(type(part.divergence)):
            return False
        places: Iterable[Place]
        if _is_screened(channel, part):
            here = channel.variance * (1 + 2**-50)
            alpha = cast(RenyiDivergence, part.divergence).alpha
            needed = Exact().needed(problem, alpha=alpha, epsilon=part.budget * (1 + _ROOM), floor=here)
            if needed.variance != here:
                return False
            places = {worst(problem, channel, part.divergence).place: None} | dict.fromkeys(needed.close)
        else:
            places = uncleared(problem, part, channel)
        if not all(_is_enough(problem, place, part, channel) for place in places):
            return False
    return True


_ROOM = 1e-9  # of the budget: what a second look may find more than the first


def _is_at_limit(problem: Problem, channel: Noise, asked: Guarantee, place: Place) -> bool:
    ends = problem.ends(place)
    return any(channel.loss(*ends, part.divergence) >= (1 - _ROOM) * part.budget for part in asked.parts)


def _is_screened(family: Noise, part: Part) -> bool:
    """Whether cheap bounds dismiss most places: of Gaussian noise and one order (proofs/exact.md)."""
    return family.kind == GaussianNoise.kind and type(part.divergence) is RenyiDivergence


def _enough(problem: Problem, part: Part, family: Noise, floor: float) -> Enough:
    if _is_screened(family, part):
        alpha = cast(RenyiDivergence, part.divergence).alpha
        needed = Exact().needed(problem, alpha=alpha, epsilon=part.budget, floor=floor * floor)
        if math.isinf(needed.variance):
            raise no_size(problem, needed.place, part)
        if needed.place is None:
            return Enough(floor, None, needed.close)
        size = root_above(needed.variance)
        return Enough(size, needed.place, (needed.place, *(one for one in needed.close if one != needed.place)))
    size, binding = floor, None
    if problem.size > _FEW_PLACES:
        size, binding, places = _by_screen(problem, part, family, floor)
    else:
        places = list(problem.places())
    for place in places:
        if (more := least_size(problem, place, part, family, size)) > size:
            size, binding = more, place
    return Enough(size, binding, tuple(places))


_FEW_PLACES = 12  # that are simply all looked at
_MOST_SCREENED = 2_000  # laws of which every pair is bounded at once
_MOST_LOOKS = 30
_CLEAR = 1e-6  # of the budget: by how much a pair that a bound clears stays below it


def _by_screen(problem: Problem, part: Part, family: Noise, floor: float) -> tuple[float, Place | None, list[Place]]:
    """A size that no pair with a bound needs more than, who asked for it, and the places that no bound clears.

    The pair that loses most at one size is asked for the least size that does for it, until no pair loses more than the
    budget by what is attained. More noise never tells more: who is cleared at one size is cleared at every larger one.
    """
    size, binding = floor, None
    for place in problem.places():  # without noise nothing is known of many pairs at once
        if size > 0:
            break
        if (more := least_size(problem, place, part, family, size)) > size:
            size, binding = more, place
    for _ in range(_MOST_LOOKS):
        found = _attained(problem, part, family.resized(size))
        if found is None or not found[1] > part.budget:
            break
        more = least_size(problem, found[0], part, family, size)
        if not more > size:  # within the budget by the divergence itself, to the last digit
            break
        size, binding = more, found[0]
    return size, binding, uncleared(problem, part, family.resized(size))


def _attained(problem: Problem, part: Part, channel: Noise) -> tuple[Place, float] | None:
    """The place with the largest loss that is attained for certain, and that loss."""
    best: tuple[Place, float] | None = None
    i, j = problem.pairs.directed_places()
    for belief in range(len(problem.beliefs)):
        found = _screen(problem, part, channel, belief)
        if found is None:
            return None
        losses = found[0][i, j]
        k = int(np.argmax(losses))
        if best is None or losses[k] > best[1]:
            best = Place(belief, int(i[k]), int(j[k])), float(losses[k])
    return best


def uncleared(problem: Problem, part: Part, channel: Noise) -> list[Place]:
    """The places that no bound shows to be within the budget, those that lose most first; all where none is known.

    Args:
        problem: the priors and pairs.
        part: one divergence and its budget.
        channel: the noise.

    Returns:
        The places that are still to be decided.
    """
    places: list[tuple[float, Place]] = []
    i, j = problem.pairs.directed_places()
    for belief in range(len(problem.beliefs)):
        found = _screen(problem, part, channel, belief)
        if found is None:
            return list(problem.places())
        attained, bound = found
        open_ones = np.flatnonzero(~(bound[i, j] <= part.budget * (1 - _CLEAR)))
        places += [(-float(attained[i[k], j[k]]), Place(belief, int(i[k]), int(j[k]))) for k in open_ones]
    return [place for _, place in sorted(places, key=lambda one: one[0])]


def _screen(problem: Problem, part: Part, channel: Noise, belief: int) -> tuple[Array, Array] | None:
    laws = problem.laws(belief)
    if len(laws) > _MOST_SCREENED:
        return None
    return channel.screened([law.simplified() for law in laws], part.divergence, part.budget)


def no_size(problem: Problem, place: Place | None, part: Part) -> NoAnswerError:
    """Why there is no answer."""
    pair = "these laws" if place is None else problem.words(place)
    return NoAnswerError(
        f"no noise within the range of numbers here keeps {part} for {pair}: ask for a larger budget or a lower order, "
        f"or give the values in a larger unit"
    )


_LARGEST = 1e150
_FINEST = 2.0**-10  # of the narrowest normal: nobody asks whether less noise than that would do
_FAINTEST = 1.0 / 36  # of the gap between points: less changes no odds by what floats could tell


def least_size(problem: Problem, place: Place, part: Part, family: Noise, floor: float) -> float:
    """The least size, `floor` or more, at which a place is within the budget in floats."""
    found = least_size_between(*problem.ends(place), part, family, floor)
    if not found < _LARGEST:
        raise no_size(problem, place, part)
    return found


def least_size_between(p: Mixture, q: Mixture, part: Part, family: Noise, floor: float) -> float:
    """The least size, `floor` or more, at which one law against another is within the budget in floats; or infinity.

    Args:
        p: the law under one secret.
        q: that under the other.
        part: one divergence and its budget.
        family: the noise; its own size does not matter.
        floor: a size that other places ask for already.

    Returns:
        A size at which the divergence was seen to be within the budget: the safe end of the bracket, not its middle.
    """
    p, q = p.simplified(), q.simplified()
    if p == q:
        return floor

    @cache
    def loss(size: float) -> float:
        return family.resized(size).loss(p, q, part.divergence) if size < _LARGEST else 0.0

    if loss(floor) <= part.budget:
        return floor
    wide = [std for law in (p, q) for std in law.stds.tolist() if std > 0]
    points = np.unique(np.concatenate([law.means[law.stds == 0] for law in (p, q)]))
    finest = min([_FINEST * std for std in wide] + (_FAINTEST * np.diff(points)).tolist())
    reach = max(float(abs(p.mean - q.mean)), p.std, q.std, 1e-300)
    start = reach / min(1.0, part.budget)
    return least_variance(loss, epsilon=part.budget, floor=max(floor, finest), start=start, rtol=1e-14)


# The last word on how much noise is enough: places decided in balls (proofs/exact.md, "The place that binds").

_LIMIT = 4_000_000  # units of work a place: seconds, and only for laws of a thousand components
_LIMIT_OF_MANY = 500_000  # the same where every place is decided
_A_POINT = 16  # sums over thousands of rows take as many points
_FIRST_STEP = 2.0**-43  # of the size: the search itself is no closer
_MOST_STEPS = 40
_DOUBT = 1e-6  # the share of the budget left free where balls give up: ten thousand times the error of floats
_PROVABLE = (2.0**-5, 2.0**-1, 2.0)  # of each width: noise that is tried where less is not decided
_UNDECIDED = 1e-10  # of the size: steps up to it are tried where balls do not tell, for a budget met too closely


def proved_size(problem: Problem, place: Place, part: Part, family: Noise, size: float) -> float:
    """The size, or a hair more, at which a place is proved to be within the budget. More never tells more.

    Where ball arithmetic meets its limits on Gaussian noise and one order, noise at which floats leave a millionth of
    the budget free; of other noise a few per cent of a width more, or an error.

    Args:
        problem: the priors and pairs.
        place: the pair and belief.
        part: one divergence and its budget.
        family: the noise.
        size: what is enough in floats.

    Returns:
        A size at which ball arithmetic has decided that the budget is kept.

    Raises:
        CalibrationError: where nothing was decided within the work that is allowed.
    """
    p, q = problem.ends(place)
    step = _FIRST_STEP
    screened = _is_screened(family, part)
    widths = {std for law in (p, q) for std in law.stds.tolist() if std > 0}
    jumps = sorted(share * std for share in _PROVABLE for std in widths)
    for _ in range(_MOST_STEPS):
        spent = _effort(family, p, q, part)
        holds = family.resized(size).decide(p, q, part.divergence, part.budget, effort=spent).holds
        if holds:
            return size
        if screened and (holds is None or size == 0):
            careful = part.budget * (1 - _DOUBT)
            alpha = cast(RenyiDivergence, part.divergence).alpha
            variance = Exact().least_variance(p, q, alpha=alpha, epsilon=careful, floor=size * size)
            larger = max(size, math.nextafter(math.sqrt(variance), math.inf) if variance > 0 else 0.0)
            if holds is None:
                return larger
            if larger == size:
                break  # floats see room where balls see none
            size = larger
            continue
        if holds is False or (step < _UNDECIDED and spent.left > 0):  # a budget met too closely costs little to see
            if size == 0:
                size = least_size(problem, place, part, family, 5e-324)
                continue
            size, step = size * (1 + step), 2 * step
            continue
        # So little noise beside a normal that no proof ends: a few per cent of its width cost nothing.
        while jumps and jumps[0] <= size:
            jumps.pop(0)
        if not jumps:
            break
        size = jumps.pop(0)
    if screened:
        raise CalibrationError("floats and ball arithmetic disagree about the least noise: please report this case")
    raise CalibrationError(
        f"{part.divergence.words} of {problem.words(place)} could not be proved to be within the guarantee with about "
        f"{family.resized(size).describe()}: publish from a list (Row), or merge components that nearly agree"
    )


def _is_enough(problem: Problem, place: Place, part: Part, channel: Noise) -> bool:
    """Whether a place is within the budget, proved; where balls give up on one order, with a millionth to spare."""
    p, q = problem.ends(place)
    effort = _effort(channel, p, q, part)
    holds = channel.decide(p, q, part.divergence, part.budget, effort=effort).holds
    if holds is None and _is_screened(channel, part):
        return channel.loss(p, q, part.divergence) <= part.budget * (1 - _DOUBT / 2)
    return holds is True


def _effort(family: Noise, p: Mixture, q: Mixture, part: Part) -> Effort:
    """The work that one look at one place may take."""
    return Effort(_LIMIT if _is_screened(family, part) else _LIMIT_OF_MANY + _A_POINT * (len(p) + len(q)))


# Noise against budget for pictures, where inverting the loss at every budget would take too long.


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
        return worst(part.problem, GaussianNoise(theta), RenyiDivergence(alpha)).loss


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


_LEVEL = 1.001  # a curve that rises by less from one halving of the noise to the next may have come to its end


@lru_cache(maxsize=64)
def exact_curve(problem: Problem, alpha: float, low: float, high: float) -> NoiseCurve:
    """The least Gaussian noise at every budget between two, from the losses at some sixty sizes of it."""
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
