"""By how much a promise is widened before a channel is solved for, so that it withstands what the rows leave open.

Each margin has one factor, and none of them promises anything by itself: fresh draws judge the channels that come out
(proofs/population.md). A radius widens every law alike in every direction; bounds follow the posterior of each share,
and are wide where rows are few.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import inf, isfinite, pi

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.assurance import band_promise, is_bounded
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.bounded_channel import bounded_channel, likely_laws
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.optimal.table import table_of
from takifugu.mechanisms.posterior import posterior
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

SMALL = 64  # values of a program that takes no time to speak of; one of two hundred takes a second or two
_LARGE = 400  # values of a program that takes ten seconds and more
_MOST_SOLVED = 10  # of larger programs than small ones, in a search
_DEVIATIONS = 4.0  # that a sparse channel keeps in hand at a factor of one
# Bounds are solved for by linear programs of about laws × values² entries, several of them for a finite order.
_MOST_ENTRIES = {"odds": 8_192, "order": 1_500}
_BOUNDS_SOLVED = 5
_LAST = 5.0  # deviations, beyond which there are the bounds of a proof alone


@dataclass(frozen=True, kw_only=True)
class Margin:
    """A way to widen a promise by a factor, and how to look for the least one that is enough.

    `at` finds a channel for a factor. A search begins at `first` and goes `up` or `down` by these until it has one
    factor that is enough and one that is not. With `most` it solves at most that often, and steers by how near the
    draws come to the budget; without, it halves until the two lie within a share `narrow`. Beyond the factor `last` a
    margin grows no more.
    """

    at: Callable[[float], Found]
    first: float = 0.5
    up: float = 2.0
    down: float = 4.0
    most: int | None = None
    narrow: float = 1.04
    last: float = inf


def by_radius(rule: Optimal, problem: Problem, asked: Renyi) -> Margin:
    """The best channels for every prior within a factor of the expected sampling distances."""

    def at(factor: float) -> Found:
        reach = np.minimum(np.maximum(factor * sampling_distances(problem), rule.reach(problem)), 0.999)
        wider = Optimal(**(rule.options | {"radius": tuple(reach.tolist())}))
        return wider.find(problem, asked)._replace(options=wider.options)

    return Margin(at=at, most=solves(len(table_of(problem).values)))


def solves(values: int) -> int | None:
    """How many programs of this size a search has time for; None where they take none to speak of."""
    if values <= SMALL:
        return None
    return _MOST_SOLVED if values <= _LARGE else _MOST_SOLVED // 2


def by_caution(rule: Sparse, problem: Problem, asked: Renyi) -> Margin:
    """Sparse channels that keep as many deviations in hand as the factor says."""

    def at(factor: float) -> Found:
        careful = replace(rule, caution=max(rule.caution, _DEVIATIONS * factor))
        return careful.find(problem, asked)._replace(options=careful.options)

    return Margin(at=at, narrow=1.25)


def by_bounds(rule: Optimal, problem: Problem, asked: Renyi, *, level: float) -> list[Margin]:
    """Bounds on every share, and for numbers on every sum of shares, where the program of those is small.

    They lie so many of the posterior's deviations out, and never beyond those of `assurance="band"`, which are the
    last ones: where the channel of a proof withstands the draws, evidence does not cost more.
    """
    table, kind = table_of(problem), "order" if isfinite(asked.alpha) else "odds"
    if not is_bounded(problem) or len(table.laws) * len(table.values) ** 2 > _MOST_ENTRIES[kind]:
        return []
    widest = cache(lambda: band_promise(rule, problem, asked, level=level))
    touching: list[Array] = []

    def at(factor: float) -> Found:
        promise = widest()
        if factor < _LAST:
            promise = likely_laws(problem, promise, deviations=factor, reach=rule.reach(problem))
        return bounded_channel(rule, problem, asked, promise, touching=touching)

    # How many deviations are needed hangs little on the rows: their number is in the bounds.
    first = 1.5 if kind == "order" else 2.5
    return [Margin(at=at, first=first, up=1.5, down=1.5, narrow=1.08, most=_BOUNDS_SOLVED, last=_LAST)]


def sampling_distances(problem: Problem) -> Array:
    """How far, in total variation, a sample of each law's size is expected to lie from it: ½ Σ √(2p(1−p)/πn)."""
    found = []
    for belief in posterior(problem):
        for secret in problem.pairs.secrets:
            counts, pseudo = belief[secret]
            rows = max(float(counts.sum()), 1.0)
            p = (counts + pseudo) / (counts.sum() + pseudo.sum())
            found.append(min(0.5 * float(np.sqrt(2 * p * (1 - p) / (pi * rows)).sum()), 0.99))
    return np.array(found)
