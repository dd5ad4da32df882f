"""The least factor of a margin whose channel withstands draws from the posterior: it is fitted here, never judged."""

import math
from dataclasses import dataclass

from takifugu._listening import tell
from takifugu._validation import Array
from takifugu.channels.listed import ListChannel
from takifugu.divergences.finite import divergence
from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.margins import Margin
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

TOO_FEW = (
    "no channel was found that withstands the draws: these secrets have too few rows for this promise. Merge rare "
    "secrets, give a coarser domain, or ask for less"
)
_MOST_STEPS = 18
_ROOM = 1e-9  # of the budget: what rounding may do to a loss that is only looked at
_DOWN = 0.75
_LEAST_LOOKED_AT = 1 / 64  # of the first factor
_USED_UP = 0.97  # of the budget, by the worst draw: there is little to gain by a smaller factor


@dataclass(frozen=True)
class Drawn:
    """Laws that a channel should keep a promise for: (belief, draw, secret, value), as `joint_draws` has them."""

    problem: Problem
    asked: Renyi
    laws: Array

    def withstood_by(self, channel: ListChannel) -> bool:
        """Whether every draw of every belief is within the promise, for every pair both ways."""
        if self.laws.shape[3] != len(channel.inputs):
            raise InputError("the counts behind the laws are not about the values that the channel takes")
        published = channel.through(self.laws)  # belief, draw, secret, output
        for a, b in zip(*self.problem.pairs.directed_places(), strict=True):
            p, q = published[:, :, a], published[:, :, b]
            if not (divergence(p, q, alpha=self.asked.alpha) <= self.asked.epsilon * (1 - _ROOM)).all():
                return False
            if self.asked.odds is not None and not (p <= self.asked.odds * (1 - _ROOM) * q).all():
                return False
        return True

    def strain(self, channel: ListChannel) -> float:
        """The largest loss of any draw, over the budget: for steering a search, never for a verdict."""
        published, worst = channel.through(self.laws), 0.0
        for a, b in zip(*self.problem.pairs.directed_places(), strict=True):
            p, q = published[:, :, a], published[:, :, b]
            worst = max(worst, float(divergence(p, q, alpha=self.asked.alpha).max()) / self.asked.epsilon)
            if self.asked.odds is not None:
                worst = max(worst, float(divergence(p, q, alpha=math.inf).max()) / math.log(self.asked.odds))
        return worst


def fitted(margin: Margin, drawn: Drawn, found: Found, *, search: str = "") -> tuple[float, Found] | None:
    """The least factor, about, whose channel withstands these draws, and the channel; None where there is none.

    `found` is the channel at a factor of 0, which does not; `search` says to people which of several this is.
    """
    trying = _Trying(margin, search)
    least = _by_halves(trying, drawn) if margin.most is None else _by_secants(trying, drawn, found, margin.most)
    return None if least is None else _further_down(trying, drawn, least)


class _Trying:
    """The channels of a margin, one after another, each of which may take seconds: whoever waits is told which it is.

    How many there will be is known once one factor is enough and another is not: it is about so many, for a smaller
    one may do as well.
    """

    def __init__(self, margin: Margin, search: str) -> None:
        self.margin, self._search, self._number = margin, search, 0

    def at(self, factor: float, *, left: int | None = None) -> Found:
        """The channel at a factor, of which `left` more are tried after this one where that is known."""
        self._number += 1
        of = "" if left is None else f" of about {self._number + left}"
        tell(f"Trying how wide a margin must be{self._search}: channel {self._number}{of}")
        return self.margin.at(factor)


def _further_down(trying: _Trying, drawn: Drawn, least: tuple[float, Found]) -> tuple[float, Found]:
    """A smaller factor that is enough as well, should there be one: a loss need not fall with the factor.

    Below a factor that is not enough there may be a whole range of those that are, at half of the cost.
    """
    while least[0] >= _LEAST_LOOKED_AT * trying.margin.first:
        made = trying.at(_DOWN * least[0], left=0)
        if not drawn.withstood_by(listed(made)):
            break
        least = _DOWN * least[0], made
    return least


def _by_halves(trying: _Trying, drawn: Drawn) -> tuple[float, Found] | None:
    margin = trying.margin
    low, high, best, factor = 0.0, math.inf, None, margin.first
    for _ in range(_MOST_STEPS):
        made = trying.at(factor, left=_halvings(low, high, margin.narrow))
        if drawn.withstood_by(listed(made)):
            high, best = factor, made
            factor = factor / 2 if low == 0 else math.sqrt(low * high)
        else:
            low = factor
            factor = margin.up * factor if math.isinf(high) else math.sqrt(low * high)
        if best is not None and (high <= low * margin.narrow or high < _LEAST_LOOKED_AT * margin.first):
            break
    return None if best is None else (high, best)


def _halvings(low: float, high: float, narrow: float) -> int | None:
    """How many channels are tried after the next, and the one below the least; None while one end is open.

    >>> _halvings(1.0, 2.0, 1.04), _halvings(0.0, 2.0, 1.04)
    (5, None)
    """
    if not 0 < low < high < math.inf:
        return None
    return max(1, math.ceil(math.log2(math.log(high / low) / math.log(narrow))))


def _by_secants(trying: _Trying, drawn: Drawn, found: Found, most: int) -> tuple[float, Found] | None:
    """The same with as few channels as can be, since each takes long: where the worst draw's loss meets the budget.

    As the factor grows that loss falls much like a power of it.
    """
    margin = trying.margin
    low, high, best, factor = (0.0, drawn.strain(listed(found))), None, None, margin.first
    for solved in range(_MOST_STEPS):
        if high is not None and (solved >= most or high[1] >= _USED_UP or high[0] <= low[0] * margin.narrow):
            break
        made = trying.at(factor, left=None if high is None else most - solved)
        if drawn.withstood_by(listed(made)):
            high, best = (factor, drawn.strain(listed(made))), made
        elif factor >= margin.last:
            return None
        else:
            low = factor, drawn.strain(listed(made))
        factor = margin.up * factor if high is None else _between(low, high, down=margin.down)
    return None if high is None or best is None else (high[0], best)


def _between(low: tuple[float, float], high: tuple[float, float], *, down: float) -> float:
    """Where the secant, in logarithms, through two factors and their strains is at one; a safe way from both."""
    (a, over), (b, under) = low, high
    if a == 0:
        return b / down
    share = math.log(over) / math.log(over / under) if 1 < over < math.inf and under > 0 else 0.5
    return float(a * (b / a) ** min(max(share, 0.1), 0.9))


def listed(found: Found) -> ListChannel:
    """The channel, which has to be one between lists."""
    if not isinstance(found.channel, ListChannel):
        raise MechanismError(f"a {type(found.channel).__name__} is no channel between lists")
    return found.channel
