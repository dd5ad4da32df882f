"""The least Laplace noise: the largest odds themselves, inverted and proved at every place (proofs/laplace.md)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from takifugu.channels import LaplaceNoise, Noise
from takifugu.divergences import Effort
from takifugu.errors import CalibrationError, MechanismError, NoAnswerError
from takifugu.laws import Mixture
from takifugu.mechanisms.base import Found, Mechanism, on_the_line, require_numbers
from takifugu.problems import Guarantee, Place, Problem

_LIMIT = 500_000  # units of work a place: seconds
_A_POINT = 16
_FIRST_STEP = 2.0**-43  # of the size: the search itself is no closer
_MOST_STEPS = 40
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
    for _ in range(_MOST_STEPS):
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
    limit = _LIMIT + _A_POINT * (len(p) + len(q))  # sums over thousands of rows take as many points
    return channel.decide(p, q, alpha=math.inf, epsilon=epsilon, effort=Effort(limit)).holds
