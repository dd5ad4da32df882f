"""The promise for the population and not only for the sample: draws from the posterior that a channel must withstand.

What is said here is evidence, not proof (proofs/population.md): with N draws that all hold, N the least number with
cᴺ ≤ 1 − c, one may say with confidence c that at least a share c of the posterior is within the promise.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, integer
from takifugu.channels.base import Channel
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.divergences.finite import divergence
from takifugu.divergences.line.one_lattice import lattice_losses
from takifugu.errors import InputError, MechanismError
from takifugu.laws.finite import Finite
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.confidence import Counted, confident_noise, draws_needed, joint_draws
from takifugu.mechanisms.confidence_means import confident_noise_of_means, mean_draws
from takifugu.mechanisms.optimal.mechanism import Optimal, table_of
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

_ROOM = 1e-9  # of the budget: what rounding may do to a loss that is only looked at
_FIRST = 0.5  # of the expected sampling distance: where the search for the radius begins
_NARROW = 1.04  # the search ends when two radii, one enough and one not, lie this close
_NARROW_LARGE = 1.25
_SMALL = 64
_MOST_STEPS = 18
_MORE = 3  # times as many draws to fit the factor to as will judge it: it then mostly passes at once
_WIDER = 1.08  # the factor's growth where it does not
_APART = 1_000_003  # between the seeds of draws that must have nothing in common
_TOO_FEW = (
    "no channel was found that withstands the draws: these secrets have too few rows for this promise. Merge rare "
    "secrets, give a coarser domain, or ask for less"
)


@dataclass(frozen=True)
class Confidence:
    """Draws from the posterior of the priors that a channel was seen to withstand, and how to draw them again.

    `without` is the error that the promise for the sample alone would have cost.
    """

    level: float
    draws: int
    seed: int
    without: float

    @property
    def sentence(self) -> str:
        """What is said with this, and what is not."""
        share = f"{100 * self.level:g} %"
        return (
            f"with {share} confidence over {self.draws} draws (seed {self.seed}), at least {share} of the posterior of "
            f"the population's priors is within the promise: evidence from draws, not a proof"
        )

    def holds(self, problem: Problem, channel: Channel, asked: Renyi) -> bool:
        """Draw again, and see whether the channel keeps the promise for every draw."""
        if isinstance(channel, GaussianNoise) and _is_of_means(problem):
            return self._holds_for_means(problem, channel, asked)
        laws = joint_draws(posterior(problem), problem.pairs.secrets, self.draws, self.seed)
        return _withstands(problem, channel, asked, laws)

    def _holds_for_means(self, problem: Problem, channel: GaussianNoise, asked: Renyi) -> bool:
        belief, secrets = problem.beliefs[0], problem.pairs.secrets
        drawn = {
            secret: mean_draws(belief[secret], belief.rows[secret], self.draws, [self.seed, 0, k])
            for k, secret in enumerate(secrets)
        }
        return all(
            channel.loss(drawn[a][k], drawn[b][k], alpha=asked.alpha) <= asked.epsilon * (1 + _ROOM)
            for k in range(self.draws)
            for a, b in problem.pairs.directed()
        )


def _is_of_means(problem: Problem) -> bool:
    """Whether the answer is the mean of one column, whose posterior is that of a normal's parameters."""
    answer = problem.answer
    return answer is not None and answer.query == "mean" and len(answer.columns) == 1 and len(problem.beliefs) == 1


def confident(
    rule: Any,
    problem: Problem,
    asked: Renyi,
    found: Found,
    *,
    level: float,
    seed: int,
    without: float,
    halvings: int = 0,
) -> tuple[Found, Confidence]:
    """A channel for the centre and every draw of the posterior, no better than what was found for the sample.

    Whoever chooses among 2ʰ such channels asks for h `halvings`: each then passes by chance so much more rarely that
    the confidence holds for the one that is chosen.
    """
    seed = integer("seed", seed, least=0)
    if isinstance(found.channel, GaussianNoise):
        given: dict[str, Any] = {"alpha": asked.alpha, "epsilon": asked.epsilon}
        given |= {"confidence": level, "halvings": halvings, "seed": seed}
        if _is_of_means(problem):
            belief = problem.beliefs[0]
            noise = confident_noise_of_means(belief, belief.rows, problem.pairs, **given)
        else:
            points, rests_on = _points(problem), posterior(problem)
            noise = confident_noise(points, rests_on, problem.pairs, **given)
        theta = max(found.channel.theta, noise.theta)
        # The noise is one number on which every loss depends monotonically: the draws that set it may judge it.
        made = Found(GaussianNoise(theta), found.place if theta == found.channel.theta else None)
        return made, Confidence(level, noise.draws, seed, without)
    if not isinstance(rule, Optimal):
        raise MechanismError(f"confidence is for 'exact' and 'optimal', not for {rule.name!r}")
    return _confident_channel(rule, problem, asked, found, level=level, seed=seed, without=without, halvings=halvings)


def posterior(problem: Problem) -> list[dict[Any, Counted]]:
    """What each law rests on: counts and pseudo-counts, for every belief and secret."""
    found = []
    for belief in problem.beliefs:
        here = {}
        for secret in problem.pairs.secrets:
            if secret in belief.counted:
                here[secret] = Counted(*belief.counted[secret])
            elif isinstance(belief[secret], Finite):
                here[secret] = _by_hand(belief[secret], problem)
            else:
                raise MechanismError(
                    "confidence draws from counts, and these priors rest on none: fit them with Raw on a lattice "
                    "(bounds and step) or with Row, or give Finite laws whose weights are counts"
                )
        found.append(here)
    if len({array.shape for here in found for counts in here.values() for array in counts}) > 1:
        raise InputError("the counts behind the laws must be about the same values: some are longer than others")
    return found


def _by_hand(law: Finite, problem: Problem) -> Counted:
    """A law whose weights are counts, with one pseudo-row spread evenly: its own, and nothing of another's."""
    if not (law.weights == np.rint(law.weights)).all() or law.total < 2:
        raise InputError("confidence needs laws whose weights are counts of rows: give whole numbers")
    table = table_of(problem)
    channel_order = FiniteChannel.identity(table.values, bits=1).weights_of(law)
    return Counted(channel_order, np.full(len(table.values), 1.0 / len(table.values)))


def _points(problem: Problem) -> Array:
    answer = problem.answer
    points = getattr(answer.domain, "points", None) if answer is not None else None
    if points is None:
        raise MechanismError(
            "confidence needs values on a lattice: give Raw bounds and a step, or publish with Row from a finite list"
        )
    found: Array = points
    return found


def _withstands(problem: Problem, channel: Channel, asked: Renyi, laws: Array) -> bool:
    """Whether every draw of every belief is within the promise, for every pair both ways."""
    place = {secret: k for k, secret in enumerate(problem.pairs.secrets)}
    directed = np.array([(place[a], place[b]) for a, b in problem.pairs.directed()])
    first, second = directed.T
    if isinstance(channel, GaussianNoise):
        flat = laws.reshape(-1, laws.shape[3])
        starts = np.arange(laws.shape[0] * laws.shape[1])[:, None] * laws.shape[2]
        i, j = (starts + first).ravel(), (starts + second).ravel()
        losses = lattice_losses(
            _points(problem),
            flat,
            i,
            j,
            alpha=asked.alpha,
            theta=channel.theta,
            tolerance=min(1e-6, 1e-3 * asked.epsilon * (asked.alpha - 1)),
            limit=2 * asked.epsilon,
        )
        return bool((losses <= asked.epsilon * (1 + 1e-6)).all())
    if not isinstance(channel, FiniteChannel):
        raise InputError(f"draws are not known for a {type(channel).__name__}")
    if laws.shape[3] != len(channel.inputs):
        raise InputError("the counts behind the laws are not about the values that the channel takes")
    published = laws @ channel.matrix  # belief, draw, secret, output
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        p, q = published[:, :, i], published[:, :, j]
        if not (divergence(p, q, alpha=asked.alpha) <= asked.epsilon * (1 - _ROOM)).all():
            return False
        if asked.odds is not None and not (p <= asked.odds * (1 - _ROOM) * q).all():
            return False
    return True


def _confident_channel(
    rule: Optimal,
    problem: Problem,
    asked: Renyi,
    found: Found,
    *,
    level: float,
    seed: int,
    without: float,
    halvings: int,
) -> tuple[Found, Confidence]:
    """The channel of the least radius that withstands the draws it is fitted to, judged by draws it has not seen.

    The radius of a law is a factor times the distance that a sample of its size is expected to lie from the
    population; one number, the factor, is fitted. A loss need not fall with it, and several factors are tried on the
    same draws, so these may not judge: fresh ones do, the k-th time so many that all of them hold by chance, where
    less than the level is within the promise, with a probability of (1 − level)/2ᵏ at most. Together that is 1 − level.
    """
    search = joint_draws(posterior(problem), problem.pairs.secrets, _MORE * draws_needed(level), seed)
    factor, made = _least_factor(rule, problem, asked, search, found)
    for attempt in range(1, _MOST_STEPS):
        fresh = Confidence(level, draws_needed(level, halvings=halvings + attempt), seed + attempt * _APART, without)
        if fresh.holds(problem, made.channel, asked):
            return made, fresh
        factor = max(factor, _FIRST / 4) * _WIDER
        made = _at(factor, rule, problem, asked)
    raise MechanismError(_TOO_FEW)


def _least_factor(rule: Optimal, problem: Problem, asked: Renyi, laws: Array, found: Found) -> tuple[float, Found]:
    """The least factor, about, whose channel withstands these draws."""
    if _withstands(problem, found.channel, asked, laws):
        return 0.0, found
    low, high, best, factor = 0.0, math.inf, None, _FIRST
    # A program of a hundred values takes a second, one of two hundred twenty: the larger, the coarser the search.
    size = laws.shape[3]
    narrow = _NARROW if size <= _SMALL else _NARROW_LARGE if size <= 2 * _SMALL else math.inf
    for _ in range(_MOST_STEPS):
        made = _at(factor, rule, problem, asked)
        if _withstands(problem, made.channel, asked, laws):
            high, best = factor, made
            factor = factor / 2 if low == 0 else math.sqrt(low * high)
        else:
            low = factor
            factor = 2 * factor if math.isinf(high) else math.sqrt(low * high)
        if best is not None and (narrow == math.inf or high <= low * narrow or high < _FIRST / 64):
            break
    if best is None:
        raise MechanismError(_TOO_FEW)
    return high, best


def _at(factor: float, rule: Optimal, problem: Problem, asked: Renyi) -> Found:
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
