"""A finite channel that withstands draws from the posterior: fitted to some of them, judged by others.

Several margins are tried, each with one factor that is fitted; the cheapest channel that fresh draws let pass is taken.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from takifugu._listening import tell
from takifugu.channels.listed import ListChannel
from takifugu.errors import CalibrationError, MechanismError
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.draws import APART, draws_needed, joint_draws
from takifugu.mechanisms.least_margin import TOO_FEW, Drawn, fitted, listed
from takifugu.mechanisms.margins import Margin
from takifugu.mechanisms.posterior import places_of_columns, posterior
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

_LEAST = 1 / 256  # a factor to start widening from
_MORE = 3  # times as many draws to fit a factor to as will judge it: it then mostly passes at once
_MOST_WIDENED = 14
_WIDER = 1.08  # a factor's growth where it does not


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
    asked: Renyi
    level: float
    seed: int
    halvings: int = 0
    tries: int = 0

    def passes(self, found: Found) -> Passed | None:
        """Judge a channel that no draw from here on has had a part in."""
        self.tries += 1
        draws = draws_needed(self.level, halvings=self.halvings + self.tries)
        apart = self.seed + self.tries * APART
        tell(f"Judging the channel by {draws} fresh draws of the population")
        withstands = withstands_draws(self.problem, listed(found), self.asked, draws=draws, seed=apart)
        return Passed(found, draws, apart) if withstands else None


def withstands_draws(problem: Problem, channel: ListChannel, asked: Renyi, *, draws: int, seed: int) -> bool:
    """Whether the channel keeps the promise for every one of these draws."""
    return _drawn(problem, asked, draws, seed).withstood_by(channel)


def _drawn(problem: Problem, asked: Renyi, draws: int, seed: int) -> Drawn:
    laws = joint_draws(posterior(problem), problem.pairs.secrets, draws, seed, places_of_columns(problem))
    return Drawn(problem, asked, laws)


def confident_channel(
    problem: Problem, asked: Renyi, wishes: Sequence[Callable[[], Wish]], *, level: float, seed: int, halvings: int = 0
) -> Passed:
    """The channel of least cost that withstands draws it has not seen.

    `wishes` ends with the one that is asked for; those before it ask for more, so that what keeps them will do. Each
    is gone through just as it would be alone, by tries and draws of the same numbers, so the last one never costs more
    than any of them; whoever may have 2ʰ wishes asks for h `halvings`. Of each the least factors of its margins are
    fitted to the same draws. A loss need not fall with a factor, and several are tried, so these draws may not judge:
    fresh ones do.
    """
    drawn = _drawn(problem, asked, _MORE * draws_needed(level), seed)
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


class _Candidate(NamedTuple):
    cost: float
    factor: float
    found: Found
    margin: Margin
    widened: int = 0

    def wider(self, cost: Callable[[Found], float]) -> "_Candidate":
        """By little at first, then by more: what was fitted to many draws is mostly short by a hair."""
        factor = max(self.factor, _LEAST) * _WIDER ** max(1, self.widened)
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
        if passed := judge.passes(tried.found):
            return tried.cost, passed
        candidates.remove(tried)
        if tried.factor < tried.margin.last and tried.widened < _MOST_WIDENED:
            with suppress(MechanismError, CalibrationError):  # another margin may still do
                candidates.append(tried.wider(wish.cost))
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
        try:
            least = fitted(margin, drawn, wish.found, search=f" ({here} of {every})" if every > 1 else "")
        except (MechanismError, CalibrationError) as unsolved:
            error = error or unsolved
            continue
        if least is not None:
            found.append(_Candidate(wish.cost(least[1]), *least, margin))
    if not found and error is not None:
        raise error
    return found
