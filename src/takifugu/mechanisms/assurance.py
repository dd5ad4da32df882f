"""The promise for the population, proved: with a stated probability over independent rows, and no model.

For Gaussian noise on a lattice, bands around each secret's distribution function (proofs/band.md). For finite channels
the same and bounds on the share of each value (proofs/bounds.md); between many values, a ball of total variation around
each secret's law that holds the population's by McDiarmid's inequality (proofs/finite-channels.md).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, real
from takifugu.channels.base import Channel
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.divergences.proved.band import band_upper
from takifugu.errors import InputError, MechanismError
from takifugu.laws.lattice import Lattice
from takifugu.mechanisms.band import band_noise, bands_of
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.bounded_channel import MOST_VALUES, bounded_channel, every_law
from takifugu.mechanisms.optimal.every_law import EveryLaw
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.optimal.table import has_inputs, table_of
from takifugu.mechanisms.posterior import posterior
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

_TOO_FEW = (
    "a secret, or its part in a cell of what is known, has too few rows for a proof about the population: merge it "
    "with another, name fewer known columns, give a coarser domain, or use confidence alone"
)


@dataclass(frozen=True)
class Band:
    """With probability `level` over independent rows, the population's own laws are within the promise: proved.

    `without` is the error that the promise for the sample alone would have cost.
    """

    level: float
    without: float

    @property
    def sentence(self) -> str:
        """What is promised."""
        return (
            f"with probability {100 * self.level:g} % over independent rows, for values from a list that was not "
            f"chosen from them, an adversary who knows the population itself is within the promise, whatever its laws: "
            f"proved"
        )

    def holds(self, problem: Problem, channel: Channel, asked: Renyi) -> bool:
        """Prove it again."""
        if isinstance(channel, FiniteChannel) and is_bounded(problem):
            return has_inputs(channel, problem) and band_promise(
                Optimal(keep=None), problem, asked, level=self.level
            ).is_kept(channel.counts)
        if isinstance(channel, ListChannel):
            return Optimal(keep=None, radius=tuple(radii(problem, self.level))).is_kept(problem, asked, channel)
        if not isinstance(channel, GaussianNoise):
            return False
        lattice, counts = _lattice(problem), _counts(problem)
        bands, _ = bands_of(counts, level=self.level, points=len(lattice))
        return all(
            band_upper(lattice, bands[b][i], bands[b][j], alpha=asked.alpha, theta=channel.theta) <= asked.epsilon
            for b in range(len(bands))
            for i, j in problem.pairs.directed()
        )


def assured(
    rule: Any, problem: Problem, asked: Renyi, *, level: float, found: Found, without: float
) -> tuple[Found, Band]:
    """A channel that is proved for the population, no better than what was found for the sample."""
    level = real("confidence", level, "a number between 0.5 and 1, such as 0.95")
    if not 0.5 <= level < 1:
        raise InputError(f"confidence must be a number from 0.5 to below 1, such as 0.95; got {level!r}")
    if isinstance(found.channel, GaussianNoise):
        noise = band_noise(
            _lattice(problem), _counts(problem), problem.pairs, alpha=asked.alpha, epsilon=asked.epsilon, level=level
        )
        theta = max(found.channel.theta, noise.theta)
        return Found(GaussianNoise(theta), found.place if theta == found.channel.theta else None), Band(level, without)
    if not isinstance(rule, Optimal):
        raise MechanismError(
            f"assurance='band' is for 'exact' and 'optimal', not for {rule.name!r}: publish fewer values, or use "
            f"confidence alone"
        )
    if is_bounded(problem):
        promise = band_promise(rule, problem, asked, level=level)
        return bounded_channel(rule, problem, asked, promise), Band(level, without)
    reach = np.maximum(radii(problem, level), rule.reach(problem))
    if reach.max() >= 1:
        raise MechanismError(_TOO_FEW)
    wider = Optimal(**(rule.options | {"radius": tuple(reach.tolist())}))
    return wider.find(problem, asked)._replace(options=wider.options), Band(level, without)


def is_bounded(problem: Problem) -> bool:
    """Which set of laws is used, and it must not depend on what the rows are: bounds for short lists, else a ball."""
    return len(table_of(problem).values) <= MOST_VALUES


def band_promise(rule: Optimal, problem: Problem, asked: Renyi, *, level: float) -> EveryLaw:
    """The promise for every law that the rows allow, and for every prior within the rule's radius."""
    counts = _seen(problem)
    if min(float(seen.sum()) for seen in counts) < 1:
        raise MechanismError(_TOO_FEW)
    return every_law(problem, asked, counts, level=level, laws=len(counts), reach=rule.reach(problem))


def radii(problem: Problem, level: float) -> Array:
    """Total variation within which the population lies of every law's counts, all at once with probability `level`.

    Of n independent rows on k values, E TV ≤ ½√((k−1)/n), and one row moves TV by 1/n at most: by McDiarmid's
    inequality TV exceeds that by √(ln(1/δ)/2n) with probability δ at most; δ is shared by the laws. A law that is not
    the shares of its counts themselves lies as far away again as it does from those.
    """
    counted = _seen(problem)
    share = math.log(len(counted) / (1 - level))
    laws = table_of(problem).laws
    found = []
    for counts, law in zip(counted, laws, strict=True):
        rows = float(counts.sum())
        if rows < 1:
            found.append(1.0)
            continue
        expected = 0.5 * math.sqrt((len(counts) - 1) / rows)
        away = 0.5 * float(np.abs(counts / rows - law / law.sum()).sum())
        found.append(min(1.0, (expected + math.sqrt(share / (2 * rows)) + away) * (1 + 1e-12)))
    return np.array(found)


def _seen(problem: Problem) -> list[Array]:
    """The counts behind each law, belief by belief."""
    return [belief[secret].counts for belief in posterior(problem) for secret in problem.pairs.secrets]


def _lattice(problem: Problem) -> Lattice:
    domain = None if problem.answer is None else problem.answer.domain
    if not isinstance(domain, Lattice):
        raise MechanismError(
            "assurance='band' needs values on a lattice: give Raw bounds and a step, or publish with Row from a list"
        )
    return domain


def _counts(problem: Problem) -> list[dict[Any, Array]]:
    return [{secret: counted.counts for secret, counted in belief.items()} for belief in posterior(problem)]
