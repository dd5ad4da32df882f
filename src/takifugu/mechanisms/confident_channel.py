"""A finite channel that withstands draws from the posterior: fitted to some of them, judged by others.

A channel has one parameter that is fitted: the factor of the radius within which it keeps the promise for every prior.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np

from takifugu._listening import tell
from takifugu._validation import Array
from takifugu.channels.listed import ListChannel
from takifugu.divergences.finite import divergence
from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.draws import draws_needed, joint_draws
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.posterior import posterior
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

_ROOM = 1e-9  # of the budget: what rounding may do to a loss that is only looked at
_FIRST = 0.5  # of the expected sampling distance: where the search for the radius begins
_NARROW = 1.04  # the search ends when two radii, one enough and one not, lie this close
_NARROW_LARGE = 1.25
_SMALL = 64  # values of a program that takes no time to speak of; one of two hundred takes twenty seconds
_MOST_SOLVED = 10  # of larger programs, in a search
_USED_UP = 0.97  # of the budget, by the worst draw: there is little to gain by a smaller factor
_LEAST = 1 / 256  # a factor to start widening from
_MOST_STEPS = 18
_MORE = 3  # times as many draws to fit the factor to as will judge it: it then mostly passes at once
_WIDER = 1.08  # the factor's growth where it does not
_DEVIATIONS = 4.0  # that a sparse channel keeps in hand at a factor of one
_APART = 1_000_003  # between the seeds of draws that must have nothing in common
_TOO_FEW = (
    "no channel was found that withstands the draws: these secrets have too few rows for this promise. Merge rare "
    "secrets, give a coarser domain, or ask for less"
)


def withstands(problem: Problem, channel: ListChannel, asked: Renyi, laws: Array) -> bool:
    """Whether every draw of every belief is within the promise, for every pair both ways."""
    if laws.shape[3] != len(channel.inputs):
        raise InputError("the counts behind the laws are not about the values that the channel takes")
    published = channel.through(laws)  # belief, draw, secret, output
    for a, b in zip(*problem.pairs.directed_places(), strict=True):
        p, q = published[:, :, a], published[:, :, b]
        if not (divergence(p, q, alpha=asked.alpha) <= asked.epsilon * (1 - _ROOM)).all():
            return False
        if asked.odds is not None and not (p <= asked.odds * (1 - _ROOM) * q).all():
            return False
    return True


def withstands_draws(problem: Problem, channel: ListChannel, asked: Renyi, *, draws: int, seed: int) -> bool:
    """Whether the channel keeps the promise for every one of these draws."""
    return withstands(problem, channel, asked, joint_draws(posterior(problem), problem.pairs.secrets, draws, seed))


At = Callable[[float], Found]


def confident_channel(
    problem: Problem,
    asked: Renyi,
    at: At,
    *,
    level: float,
    seed: int,
    found: Found,
    size: int | None = None,
    coarse: bool = False,
    halvings: int = 0,
) -> tuple[Found, int, int]:
    """The channel of the least factor that withstands the draws it is fitted to, judged by draws it has not seen.

    `at` finds the best channel whose promise is widened by a factor times the distance that a sample of each law's size
    is expected to lie from the population; one number, the factor, is fitted. `found` is the channel at 0, `size` how
    many values `at` solves for, and `coarse` asks for a quick search. A loss need not fall with the factor, and several
    are tried on the same draws, so these may not judge: fresh ones do, the k-th time so many that all of them hold by
    chance, where less than the level is within the promise, with a probability of (1 − level)/2ᵏ at most. Together that
    is 1 − level.
    Returned are the channel, and the number and the seed of the draws that judged it.
    """
    search = joint_draws(posterior(problem), problem.pairs.secrets, _MORE * draws_needed(level), seed)
    factor, made = _least_factor(problem, asked, at, search, found, search.shape[3] if size is None else size, coarse)
    for attempt in range(1, _MOST_STEPS):
        draws, apart = draws_needed(level, halvings=halvings + attempt), seed + attempt * _APART
        tell(f"Judging the channel by {draws} fresh draws of the population")
        if withstands_draws(problem, _finite(made), asked, draws=draws, seed=apart):
            return made, draws, apart
        # By little at first, then by more: what was fitted to more draws than these is mostly short by a hair.
        factor = max(factor, _LEAST) * _WIDER ** max(1, attempt - 1)
        made = at(factor)
    raise MechanismError(_TOO_FEW)


def _least_factor(
    problem: Problem, asked: Renyi, at: At, laws: Array, found: Found, size: int, coarse: bool
) -> tuple[float, Found]:
    """The least factor, about, whose channel withstands these draws."""
    if withstands(problem, _finite(found), asked, laws):
        return 0.0, found
    at = _told(at)
    if size > _SMALL and not coarse:
        return _by_secants(problem, asked, at, laws, found, _MOST_SOLVED if size <= 2 * _SMALL else _MOST_SOLVED // 2)
    low, high, best, factor = 0.0, math.inf, None, _FIRST
    narrow = _NARROW_LARGE if coarse else _NARROW
    for _ in range(_MOST_STEPS):
        made = at(factor)
        if withstands(problem, _finite(made), asked, laws):
            high, best = factor, made
            factor = factor / 2 if low == 0 else math.sqrt(low * high)
        else:
            low = factor
            factor = 2 * factor if math.isinf(high) else math.sqrt(low * high)
        if best is not None and (high <= low * narrow or high < _FIRST / 64):
            break
    if best is None:
        raise MechanismError(_TOO_FEW)
    return high, best


def _told(at: At) -> At:
    """The same, saying which channel is tried: each may take seconds."""
    numbers = count(1)

    def telling(factor: float) -> Found:
        tell(f"Trying how wide a margin the population needs: channel {next(numbers)}")
        return at(factor)

    return telling


def _by_secants(problem: Problem, asked: Renyi, at: At, laws: Array, found: Found, most: int) -> tuple[float, Found]:
    """The same with as few channels as can be, since each takes seconds: where the worst draw's loss meets the budget.

    As the factor grows that loss falls much like a power of it.
    """
    low, high, best, factor = (0.0, strain(problem, _finite(found), asked, laws)), None, None, _FIRST
    for solved in range(_MOST_STEPS):
        if high is not None and (solved >= most or high[1] >= _USED_UP or high[0] <= low[0] * _NARROW):
            break
        made = at(factor)
        if withstands(problem, _finite(made), asked, laws):
            high, best = (factor, strain(problem, _finite(made), asked, laws)), made
        else:
            low = factor, strain(problem, _finite(made), asked, laws)
        factor = 2 * factor if high is None else _between(low, high)
    if high is None or best is None:
        raise MechanismError(_TOO_FEW)
    return high[0], best


def _between(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Where the secant, in logarithms, through two factors and their strains is at one; a safe way from both."""
    (a, over), (b, under) = low, high
    if a == 0:
        return b / 4
    share = math.log(over) / math.log(over / under) if 1 < over < math.inf and under > 0 else 0.5
    return float(a * (b / a) ** min(max(share, 0.1), 0.9))


def strain(problem: Problem, channel: ListChannel, asked: Renyi, laws: Array) -> float:
    """The largest loss of any draw, over the budget: for steering a search, never for a verdict."""
    published, worst = channel.through(laws), 0.0
    for a, b in zip(*problem.pairs.directed_places(), strict=True):
        p, q = published[:, :, a], published[:, :, b]
        worst = max(worst, float(divergence(p, q, alpha=asked.alpha).max()) / asked.epsilon)
        if asked.odds is not None:
            worst = max(worst, float(divergence(p, q, alpha=math.inf).max()) / math.log(asked.odds))
    return worst


def with_caution(factor: float, rule: Sparse, problem: Problem, asked: Renyi) -> Found:
    """A sparse channel that keeps as many deviations in hand as the factor says."""
    careful = replace(rule, caution=max(rule.caution, _DEVIATIONS * factor))
    return careful.find(problem, asked)._replace(options=careful.options)


def with_radius(factor: float, rule: Optimal, problem: Problem, asked: Renyi) -> Found:
    """The best channel for every prior within this factor of the expected sampling distances."""
    reach = np.minimum(np.maximum(factor * sampling_distances(problem), rule.reach(problem)), 0.999)
    wider = Optimal(**(rule.options | {"radius": tuple(reach.tolist())}))
    return wider.find(problem, asked)._replace(options=wider.options)


def sampling_distances(problem: Problem) -> Array:
    """How far, in total variation, a sample of each law's size is expected to lie from it: ½ Σ √(2p(1−p)/πn)."""
    found = []
    for belief in posterior(problem):
        for secret in problem.pairs.secrets:
            counts, pseudo = belief[secret]
            rows = max(float(counts.sum()), 1.0)
            p = (counts + pseudo) / (counts.sum() + pseudo.sum())
            found.append(min(0.5 * float(np.sqrt(2 * p * (1 - p) / (math.pi * rows)).sum()), 0.99))
    return np.array(found)


def _finite(found: Found) -> ListChannel:
    if not isinstance(found.channel, ListChannel):
        raise MechanismError(f"a {type(found.channel).__name__} is no channel between lists")
    return found.channel
