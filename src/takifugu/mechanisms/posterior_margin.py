"""A finite channel that withstands draws from the posterior: fitted to some of them, judged by others.

Several margins are tried, each with one factor that is fitted; the cheapest channel that fresh draws let pass is taken.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import inf, isfinite, pi
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu._work import tell
from takifugu.channels import ListChannel
from takifugu.divergences import finite_divergence
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.mechanisms.assurance import band_promise, bounded_channel, is_bounded, likely_laws, noisy_laws
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.cone_margin import Cones
from takifugu.mechanisms.draws import APART, drawn_laws, draws_needed, is_private, posterior
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.problems import Guarantee, Problem

# By how much a promise is widened before a channel is solved for, so that it withstands what the rows leave open.
#
# Each margin has one factor, and none of them promises anything by itself: fresh draws judge the channels that come
# out (proofs/population.md). A radius widens every law alike in every direction; bounds follow the posterior of each
# share, and are wide where rows are few.

SMALL = 64  # values of a program that takes no time to speak of; one of two hundred takes a second or two
_LARGE = 400  # values of a program that takes ten seconds and more
_MOST_SOLVED = 10  # of larger programs than small ones, in a search
_DEVIATIONS = 4.0  # that a channel found by columns keeps in hand at a factor of one
# Bounds are solved for by linear programs of about laws × values² entries, several of them for a finite order.
_MOST_ENTRIES = {"odds": 8_192, "order": 1_500}
_BOUNDS_SOLVED = 5
_OF_NOISE = 200  # draws from private counts that say how wide a margin is
_LAST = 5.0  # deviations, beyond which there are the bounds of a proof alone


@dataclass(frozen=True, kw_only=True)
class Margin:
    """A way to widen a promise by a factor, and how to look for the least one that is enough.

    `at` finds a channel for a factor. A search begins at `first` and goes `up` or `down` by these until it has one
    factor that is enough and one that is not. With `most` it solves at most that often, and steers by how near the
    draws come to the budget; without, it halves until the two lie within a share `narrow`. Beyond the factor `last` a
    margin grows no more. Where `needed` says which factor each draw asks for, nothing else steers. `instead` is tried
    where no channel is found.
    """

    at: Callable[[float], Found]
    name: str = ""
    first: float = 0.5
    up: float = 2.0
    down: float = 4.0
    most: int | None = None
    narrow: float = 1.04
    last: float = inf
    needed: Callable[[ListChannel, Array], Array] | None = None
    instead: "Margin | None" = None


def by_radius(rule: Optimal, problem: Problem, asked: Guarantee) -> Margin:
    """The best channels for every prior within a factor of the expected sampling distances."""

    def at(factor: float) -> Found:
        reach = np.minimum(np.maximum(factor * sampling_distances(problem), rule.reach(problem)), 0.999)
        return replace(rule, radius=tuple(reach.tolist())).find(problem, asked)

    return Margin(at=at, name="a radius", most=solves(len(table_of(problem).values)))


def by_cones(rule: Optimal, problem: Problem, asked: Guarantee) -> Margin:
    """The best channels that keep so many deviations of what they publish in hand."""
    cones = Cones(rule, problem, asked)
    few = _FEW_NEEDED if rule.solver == "columns" and len(table_of(problem).laws) > 2 else _NEEDED
    return Margin(at=cones.at, name="cones", first=_DEVIATIONS, most=few, needed=cones.needed)


def solves(values: int) -> int | None:
    """How many programs of this size a search has time for; None where they take none to speak of."""
    if values <= SMALL:
        return None
    return _MOST_SOLVED if values <= _LARGE else _MOST_SOLVED // 2


def by_caution(rule: Optimal, problem: Problem, asked: Guarantee) -> Margin:
    """Channels found by columns that keep as many deviations in hand as the factor says."""

    def at(factor: float) -> Found:
        return replace(rule, caution=max(rule.caution, _DEVIATIONS * factor)).find(problem, asked)

    return Margin(at=at, name="moves", narrow=1.25)


def by_bounds(rule: Optimal, problem: Problem, asked: Guarantee, *, level: float) -> list[Margin]:
    """Bounds on every share, and for numbers on every sum of shares, where the program of those is small.

    They lie so many of the posterior's deviations out, and never beyond those of `assurance="band"`, which are the
    last ones: where the channel of a proof withstands the draws, evidence does not cost more.
    """
    table, kind = table_of(problem), "order" if isfinite(asked.alpha) else "odds"
    if (
        rule.local_price is not None
        or not is_bounded(problem)
        or len(table.laws) * len(table.values) ** 2 > _MOST_ENTRIES[kind]
    ):
        return []
    widest = cache(lambda: band_promise(rule, problem, asked, level=level))
    touching: list[Array] = []
    if is_private(problem):
        return [_by_noise(rule, problem, asked)]

    def at(factor: float) -> Found:
        promise = widest()
        if factor < _LAST:
            promise = likely_laws(problem, promise, deviations=factor, reach=rule.reach(problem))
        return bounded_channel(rule, problem, asked, promise, touching=touching)

    # How many deviations are needed hangs little on the rows: their number is in the bounds.
    first = 1.5 if kind == "order" else 2.5
    return [Margin(at=at, name="bounds", first=first, up=1.5, down=1.5, narrow=1.08, most=_BOUNDS_SOLVED, last=_LAST)]


def _by_noise(rule: Optimal, problem: Problem, asked: Guarantee) -> Margin:
    """Bounds on every share and sum of shares that private counts leave open, by what is drawn from them."""
    drawn, touching = drawn_laws(problem, _OF_NOISE, APART - 1), list[Array]()

    def at(factor: float) -> Found:
        promise = noisy_laws(problem, asked, drawn, deviations=factor, reach=rule.reach(problem))
        return bounded_channel(rule, problem, asked, promise, touching=touching)

    return Margin(at=at, name="bounds", first=2.0, up=1.5, down=1.5, narrow=1.08, most=_BOUNDS_SOLVED)


def sampling_distances(problem: Problem) -> Array:
    """How far, in total variation, a sample of each law's size is expected to lie from it: ½ Σ √(2p(1−p)/πn).

    Of private counts, the mean distance of what is drawn from them.
    """
    if is_private(problem):
        laws = drawn_laws(problem, _OF_NOISE, APART - 1)
        away = 0.5 * np.abs(laws[:, 1 : 1 + _OF_NOISE] - laws[:, :1]).sum(axis=3).mean(axis=1)
        return np.asarray(np.minimum(away, 0.99).reshape(-1), dtype=np.float64)
    found = []
    for belief in posterior(problem):
        for secret in problem.pairs.secrets:
            counts, pseudo = belief[secret]
            rows = max(float(counts.sum()), 1.0)
            p = (counts + pseudo) / (counts.sum() + pseudo.sum())
            found.append(min(0.5 * float(np.sqrt(2 * p * (1 - p) / (pi * rows)).sum()), 0.99))
    return np.array(found)


# The least factor of a margin whose channel withstands draws from the posterior: it is fitted here, never judged.

TOO_FEW = (
    "no channel was found that withstands the draws: these secrets have too few rows for this guarantee. Merge rare "
    "secrets, which are then not hidden from one another, give a coarser domain, or ask for less"
)
_MOST_STEPS = 18
_ROOM = 1e-9  # of the budget: what rounding may do to a loss that is only looked at
_DOWN = 0.75
_LEAST_LOOKED_AT = 1 / 64  # of the first factor
_NEEDED, _FEW_NEEDED = 8, 4  # channels by need: two or three mostly are enough, of which each takes long for many laws
_SHORT, _IN_HAND, _NEAR = 1.01, 1.005, 1.02  # what a factor that follows from another may be wrong by
_MANY, _MOST_DRAWN = 25, 20_000_000  # draws that may be beyond, and probabilities in all
_OF_SMALL, _MOST_OF_SMALL = 100, 1_000_000  # the same of small programs, where a search looks at them dozens of times
_USED_UP = 0.97  # of the budget, by the worst draw: there is little to gain by a smaller factor


@dataclass(frozen=True)
class Drawn:
    """Laws that a channel should keep a promise for: (belief, draw, secret, value), as `joint_draws` has them.

    A factor is fitted so that no more than a share `beyond` of them is beyond the promise: of `laws`, or of `many`.
    """

    problem: Problem
    asked: Guarantee
    laws: Array
    beyond: float = 0.0
    seed: int = 0

    @cached_property
    def many(self) -> Array:
        """More draws, of which a small share is a number."""
        one = math.prod(self.laws.shape) // self.laws.shape[1]
        draws, have = min(math.ceil(_MANY / self.beyond), _MOST_DRAWN // one), self.laws.shape[1]
        return self.laws if draws <= have else drawn_laws(self.problem, draws, self.seed)

    def withstood_by(self, channel: ListChannel) -> bool:
        """Whether as many draws as should are within the promise, under every belief and for every pair both ways."""
        broken, allowed = np.zeros(self.laws.shape[1], dtype=np.bool_), self._allowed
        for p, q in self._published(channel):
            losses = finite_divergence(p, q, alpha=self.asked.alpha)
            broken |= ~(losses <= self.asked.epsilon * (1 - _ROOM)).all(axis=0)
            if self.asked.odds_beside is not None:
                broken |= ~(p <= self.asked.odds_beside * (1 - _ROOM) * q).all(axis=(0, 2))
            if broken.sum() > allowed:
                return False
        return True

    def strain(self, channel: ListChannel) -> float:
        """The largest loss of the draws that should be within it, over the budget: it steers, and is no verdict."""
        worst = np.zeros(self.laws.shape[1])
        for p, q in self._published(channel):
            losses = finite_divergence(p, q, alpha=self.asked.alpha).max(axis=0) / self.asked.epsilon
            worst = np.maximum(worst, losses)
            if self.asked.odds_beside is not None:
                odds = finite_divergence(p, q, alpha=math.inf).max(axis=0) / math.log(self.asked.odds_beside)
                worst = np.maximum(worst, odds)
        return float(np.sort(worst)[-1 - self._allowed])

    @property
    def is_small(self) -> bool:
        """Whether a program takes no time to speak of."""
        return bool(self.laws.shape[3] <= SMALL)

    @property
    def _allowed(self) -> int:
        return int(self.beyond * self.laws.shape[1])

    def _published(self, channel: ListChannel) -> Iterator[tuple[Array, Array]]:
        """What is published under the two laws of every pair, both ways."""
        if self.laws.shape[3] != len(channel.inputs):
            raise InputError("the counts behind the laws are not about the values that the channel takes")
        published = channel.through(self.laws)  # belief, draw, secret, output
        for a, b in zip(*self.problem.pairs.directed_places(), strict=True):
            yield published[:, :, a], published[:, :, b]


def fitted(margin: Margin, drawn: Drawn, found: Found, *, search: str = "") -> tuple[float, Found] | None:
    """The least factor, about, whose channel withstands these draws, and the channel; None where there is none.

    `found` is the channel at a factor of 0, which does not; `search` says to people which of several this is.
    """
    trying = _Trying(margin, search)
    if margin.needed is not None:
        return _by_need(trying, drawn, margin.needed)
    least = _by_halves(trying, drawn) if margin.most is None else _by_secants(trying, drawn, found, margin.most)
    return None if least is None else _further_down(trying, drawn, least)


def _by_need(
    trying: "_Trying", drawn: Drawn, needed: Callable[[ListChannel, Array], Array]
) -> tuple[float, Found] | None:
    """The same where a channel says which factor each draw needs: the one that is enough for all but a few of many."""
    best, factor, low, high = None, trying.margin.first, 0.0, math.inf
    most = trying.margin.most or _NEEDED
    for left in reversed(range(most)):
        made = trying.at(factor, left=left)
        each = np.sort(needed(listed(made), drawn.many))
        enough = float(each[-1 - int(drawn.beyond * len(each))])
        if enough <= _SHORT * factor:
            if best is None or factor < best[0]:
                best = factor, made
            if factor <= _NEAR * enough:
                break
            high = min(high, factor)
        elif left < most - 1:  # the first channel has another measure: it knows of no channel before
            low = max(low, factor)
        if not 0 < enough < math.inf:
            break
        factor = _IN_HAND * enough
        if 0 < low < high < math.inf and not low < factor < high:  # it would go to and fro
            factor = math.sqrt(low * high)
    return best


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
    return found.channel.as_list()


_LEAST = 1 / 256  # a factor to start widening from
_MORE = 3  # times as many draws to fit a factor to as will judge it: it then mostly passes at once
_PASSING = {True: 0.5, False: 0.8}  # how often fresh draws should all hold, of small programs and of others
_MOST_WIDENED = 14
_WIDER = {True: 1.03, False: 1.08}  # a factor's growth where they do not


class Wish(NamedTuple):
    """What is looked for: the channel for the sample alone, the margins to try, and what a channel costs."""

    found: Found
    margins: Sequence[Margin]
    cost: Callable[[Found], float]


class Passed(NamedTuple):
    """A channel, and the number and the seed of the draws that judged it."""

    found: Found
    draws: int
    seed: int


@dataclass
class Judge:
    """Fresh draws for every channel that is to be judged, each time more of them.

    The k-th time they are so many that all of them hold by chance, where less than the level is within the promise,
    with a probability of (1 − level)/2ʰ⁺ᵏ at most, whatever was tried before; h are the `halvings`.
    """

    problem: Problem
    asked: Guarantee
    level: float
    seed: int
    halvings: int = 0
    tries: int = 0

    def passes(self, found: Found, margin: str = "") -> Passed | None:
        """Judge a channel that no draw from here on has had a part in; whoever waits is told by which margin it is."""
        self.tries += 1
        draws = draws_needed(self.level, halvings=self.halvings + self.tries)
        apart = self.seed + self.tries * APART
        tell(f"Judging the channel by {draws} fresh draws of the population{margin and f', with a margin by {margin}'}")
        withstands = withstands_draws(self.problem, listed(found), self.asked, draws=draws, seed=apart)
        return Passed(found, draws, apart) if withstands else None


def withstands_draws(problem: Problem, channel: ListChannel, asked: Guarantee, *, draws: int, seed: int) -> bool:
    """Whether the channel keeps the promise for every one of these draws."""
    return _drawn(problem, asked, draws, seed).withstood_by(channel)


def _drawn(problem: Problem, asked: Guarantee, draws: int, seed: int) -> Drawn:
    return Drawn(problem, asked, drawn_laws(problem, draws, seed))


def confident_channel(
    problem: Problem,
    asked: Guarantee,
    wishes: Sequence[Callable[[], Wish]],
    *,
    level: float,
    seed: int,
    halvings: int = 0,
) -> Passed:
    """The channel of least cost that withstands draws it has not seen.

    `wishes` ends with the one that is asked for; those before it ask for more, so that what keeps them will do. Each
    is gone through just as it would be alone, by tries and draws of the same numbers, so the last one never costs more
    than any of them; whoever may have 2ʰ wishes asks for h `halvings`. Of each the least factors of its margins are
    fitted to the same draws. A loss need not fall with a factor, and several are tried, so these draws may not judge:
    fresh ones do.
    """
    drawn = draws_to_fit(problem, asked, level, seed, halvings)
    best: tuple[float, Passed] | None = None
    for number, wish in enumerate(wishes, start=1):
        try:
            judge = Judge(problem, asked, level, seed, halvings)
            best = _cheapest(wish(), drawn, judge, best, turn=(number, len(wishes)))
        except (MechanismError, CalibrationError):
            if number == len(wishes) and best is None:  # a stricter wish may be impossible
                raise
    if best is None:
        raise MechanismError(TOO_FEW)
    return best[1]


def draws_to_fit(problem: Problem, asked: Guarantee, level: float, seed: int, halvings: int) -> Drawn:
    """Draws for fitting factors, and how many of them may be beyond the promise that fresh ones often all hold.

    Of small programs every margin is fitted to the same share of thousands: then what they cost can be compared, and
    hangs little on the seed. Of larger ones a factor is fitted to all of few draws, but for a channel that says which
    factor each of many draws needs.
    """
    table, draws = table_of(problem), _MORE * draws_needed(level)
    is_small = len(table.values) <= SMALL
    beyond = 1 - _PASSING[is_small] ** (1 / draws_needed(level, halvings=halvings + 1))
    if is_small:
        most = _MOST_OF_SMALL // (2 * len(problem.beliefs) * len(problem.pairs) * len(table.values))
        draws = max(draws, min(math.ceil(_OF_SMALL / beyond), most))
    return Drawn(problem, asked, drawn_laws(problem, draws, seed), beyond, seed)


class _Candidate(NamedTuple):
    cost: float
    factor: float
    found: Found
    margin: Margin
    widened: int = 0

    def wider(self, cost: Callable[[Found], float], *, by: float) -> "_Candidate":
        """By little at first, then by more: what was fitted to many draws is mostly short by a hair."""
        factor = max(self.factor, _LEAST) * by ** max(1, self.widened)
        found = self.margin.at(factor)
        return _Candidate(cost(found), factor, found, self.margin, self.widened + 1)


def _cheapest(
    wish: Wish, drawn: Drawn, judge: Judge, best: tuple[float, Passed] | None, *, turn: tuple[int, int]
) -> tuple[float, Passed]:
    """The cheapest channel of a wish that passes, or what passed before where that costs no more."""
    if drawn.withstood_by(listed(wish.found)):
        candidates = [_Candidate(wish.cost(wish.found), 0.0, wish.found, wish.margins[0])]
    else:
        candidates = _fitted(wish, drawn, turn)
    while candidates:
        tried = min(candidates, key=lambda one: one.cost)
        if best is not None and tried.cost >= best[0]:
            return best
        if passed := judge.passes(tried.found, tried.margin.name):
            return tried.cost, passed
        candidates.remove(tried)
        if tried.factor < tried.margin.last and tried.widened < _MOST_WIDENED:
            with suppress(MechanismError, CalibrationError):  # another margin may still do
                candidates.append(tried.wider(wish.cost, by=_WIDER[drawn.is_small]))
    if best is None:
        raise MechanismError(TOO_FEW)
    return best


def _fitted(wish: Wish, drawn: Drawn, turn: tuple[int, int]) -> list[_Candidate]:
    """A channel of every margin that withstands the draws; the first margin's error where none has one.

    `turn` is the number of the wish, and of how many: people who wait are told how many searches there are at most.
    """
    found, error = [], None
    (number, wishes), margins = turn, len(wish.margins)
    for place, margin in enumerate(wish.margins, start=1):
        here, every = (number - 1) * margins + place, wishes * margins
        tried: Margin | None = margin
        while tried is not None:
            try:
                least = fitted(tried, drawn, wish.found, search=f" ({here} of {every})" if every > 1 else "")
            except (MechanismError, CalibrationError) as unsolved:
                error, least = error or unsolved, None
            if least is not None:
                found.append(_Candidate(wish.cost(least[1]), *least, tried))
            tried = tried.instead if least is None else None
    if not found and error is not None:
        raise error
    return found
