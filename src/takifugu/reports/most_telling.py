"""The largest of a figure over all pairs of secrets and all beliefs, and where that is (proofs/inference.md).

Each figure has a largest of its own: the pair that loses most is mostly another than the one that is guessed best.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.divergences.finite import divergence
from takifugu.divergences.proved.finite import Masses
from takifugu.errors import InputError
from takifugu.problems.problem import Place, Problem
from takifugu.reports.adversary import Adversary, adversary
from takifugu.reports.channel_adversary import channel_adversary, total_variation
from takifugu.reports.common import belief_name, promised
from takifugu.reports.text import clean
from takifugu.reports.vector_adversary import vector_adversary

_NEAR = 1e-9  # of figures in float64: those that are closer to the largest are looked at exactly
_BLOCK = 4_000_000  # probabilities at a time


def most_telling(calibration: Calibration) -> Adversary:
    """The best guess of all, from values as they are and as published, and which pair and belief each is about.

    Of finite channels both are the largest in exact fractions. The odds are those of the pair that is guessed best.
    """
    problem, channel = calibration.problem, calibration.channel
    found: Adversary
    if isinstance(channel, ListChannel):
        told: Any = partial(channel_adversary, channel, promise=promised(calibration))
        before = _most_apart(problem, lambda law: Masses.of(channel.weights_of(law)))
        after = _most_apart(problem, channel.published)
        found, bare = (told(*problem.ends(place)) for place in (after, before))
    else:
        if isinstance(channel, GaussianNoise):
            told = partial(adversary, promise=promised(calibration), theta=channel.theta)
        elif isinstance(channel, GaussianVector):
            told = partial(vector_adversary, promise=promised(calibration), channel=channel)
        else:
            raise InputError(f"what a {type(channel).__name__} tells is not known here")
        every = {place: told(*problem.ends(place)) for place in problem.places() if place.first < place.second}
        before = max(every, key=lambda place: every[place].guess_before)
        after = max(every, key=lambda place: every[place].guess_after)
        found, bare = every[after], every[before]
    return replace(
        found,
        guess_before=bare.guess_before,
        before_between=_named(calibration, before),
        after_between=_named(calibration, after),
    )


def worst_odds(calibration: Calibration, channel: ListChannel) -> float:
    """The most that any published value changes the odds of any pair to hide, under any belief: exact, rounded up."""
    problem = calibration.problem
    return max(
        channel.worst_odds(*problem.ends(place))
        for place in _nearest(problem, channel.published, partial(divergence, alpha=math.inf), directed=True)
    )


def _most_apart(problem: Problem, masses: Callable[[Any], Masses]) -> Place:
    """Where total variation is largest, in exact fractions."""

    @cache
    def of(belief: int, secret: Hashable) -> Masses:
        return masses(problem.beliefs[belief][secret])

    def exact(place: Place) -> Any:
        return total_variation(*(of(place.belief, secret) for secret in problem.names(place)))

    near = _nearest(problem, masses, lambda p, q: 0.5 * np.abs(p - q).sum(axis=-1), directed=False)
    return max(near, key=exact) if len(near) > 1 else near[0]


def _nearest(
    problem: Problem, masses: Callable[[Any], Masses], figure: Callable[[Array, Array], Array], *, directed: bool
) -> list[Place]:
    """Where a figure is as large as anywhere, as far as float64 can tell."""
    first, second = (side if directed else side[::2] for side in problem.pairs.directed_places())
    found: list[tuple[float, Place]] = []
    for belief in range(len(problem.beliefs)):
        laws = [masses(law) for law in problem.laws(belief)]
        shares = np.array([[int(n) / law.denominator for n in law.numerators] for law in laws])
        size = max(1, _BLOCK // shares.shape[1])
        for start in range(0, len(first), size):
            here, there = first[start : start + size], second[start : start + size]
            values = figure(shares[here], shares[there])
            least = max(float(values.max()), max((value for value, _ in found), default=-math.inf)) - _NEAR
            found = [one for one in found if one[0] >= least]
            found += [
                (float(values[k]), Place(belief, int(here[k]), int(there[k]))) for k in np.flatnonzero(values >= least)
            ]
    return [place for _, place in found]


def _named(calibration: Calibration, place: Place) -> str:
    a, b = calibration.problem.names(place)
    where = belief_name(calibration, place.belief)
    return f"{clean(a, 30)} and {clean(b, 30)}" + (f" ({clean(where, 60)})" if where else "")
