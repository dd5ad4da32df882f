"""Guarantees for more chains than the one that was fitted: of people who are not in the table, and of whole boxes.

A channel for people holds for draws of them which it has not seen: confidence, where a box is proved.

The beliefs of some drawn people are added to those of all together until every one of the first draws is within the
guarantee; then others, drawn anew, judge the channel. One of them beyond it, and they are all added to the first: each
round halves the probability with which the next one may be wrong (proofs/dependence.md, claim 12).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from takifugu._validation import Array
from takifugu.calibration.result import Calibration
from takifugu.channels import Channel, GaussianNoise, LaplaceNoise
from takifugu.divergences import finite_divergence, lattice_losses
from takifugu.errors import CalibrationError, MechanismError
from takifugu.laws import Mixture, Value
from takifugu.mechanisms import draws_needed, is_ours
from takifugu.problems import Belief, Diagnostic, Guarantee, Odds, Renyi

LAPLACE = ("laplace", "discrete-laplace")  # noises whose largest odds between points are at one of them
_FIRST = 150  # draws of either kind that the channel is fitted to
_AT_ONCE = 32  # people who are added before it is fitted again
_SHARES = (0.95, 0.95, 0.93, 0.9, 0.86, 0.8, 0.7, 0.6)  # of the budget that it is fitted for, round by round
_FITS = 80
_CLOSE = 0.02  # how far beyond that share those may be to whom it is fitted
_ROOM = 1e-7  # of a budget, for floats; what holds for the beliefs of the calibration is proved
_NOTHING = 1e-12  # of a law, at values that no belief has
_APART = 1_000_003

Find = Callable[[Sequence[Belief], Guarantee], Calibration]


class OfPeople(Protocol):
    """Priors that know how people differ."""

    @property
    def people(self) -> int:
        """How many they were fitted to."""

    @property
    def values(self) -> Sequence[int | float]:
        """What the answer may be."""

    def of_people(self, draws: int, seed: int) -> list[Array]:
        """People drawn."""

    def laws(self, person: Array) -> Array:
        """Those of the answer for a person drawn, by time, state and value."""

    def believed(self, laws: Array, time: int) -> Belief:
        """The laws of a person at a time as a belief."""

    def __iter__(self) -> Iterator[Belief]:
        """The beliefs about all of them together."""


class Beyond(NamedTuple):
    """A person about whom more is told than is promised: how many budgets, and at which time most."""

    share: float
    person: Array
    time: int


def kept_for_people(priors: OfPeople, find: Find, asked: Guarantee, *, level: float, seed: int) -> Calibration:
    """What `find` makes of the beliefs of all together, and of people drawn, so that others drawn judge it.

    Args:
        priors: those of a chain that was fitted to people.
        find: the calibration of beliefs for a guarantee.
        asked: the guarantee; channels are found for stricter ones, and the last is judged by this one.
        level: of the confidence.
        seed: of the draws.
    """
    parts_of(asked)
    draws_needed(level)
    beliefs, people = list(priors), priors.of_people(_FIRST, seed)
    for turn, share in enumerate(_SHARES):
        made, beliefs = _fitted(priors, beliefs, people, find, asked, share)
        needed = draws_needed(level, halvings=turn + 1)
        fresh = priors.of_people(needed, seed + (turn + 1) * _APART)
        if not (lost := beyond(priors, made, fresh)):
            told = Diagnostic("people-drawn", draws=needed, people=priors.people, level=level)
            return replace(made, lower_bound=None, optimality=None).with_finding(told)
        people += [one.person for one in lost]
    raise CalibrationError(
        "people drawn anew were beyond the guarantee again and again: ask for less confidence, or calibrate chains "
        "that come from elsewhere"
    )


def _fitted(
    priors: OfPeople, beliefs: list[Belief], people: list[Array], find: Find, asked: Guarantee, share: float
) -> tuple[Calibration, list[Belief]]:
    """Add the worst belief about those who are furthest beyond a share of the budget, until nobody is."""
    found, aim = list(beliefs), stricter(asked, share)
    for _ in range(_FITS):
        made = find(found, aim)
        if not is_ours(made.mechanism):
            raise MechanismError(f"confidence for other people is not looked at for {made.mechanism!r}")
        if not (lost := beyond(priors, made, people, _CLOSE)):
            return replace(made, guarantee=asked), found
        found += [priors.believed(priors.laws(one.person)[one.time], one.time) for one in lost[:_AT_ONCE]]
    raise CalibrationError("no channel was found for all the people drawn: ask for less confidence, or a larger budget")


def stricter(asked: Guarantee, share: float) -> Guarantee:
    """With this share of every budget."""
    (order, budget), *others = parts_of(asked)
    found: Guarantee = Odds(math.exp(share * budget)) if math.isinf(order) else Renyi(order, share * budget)
    for _, beside in others:
        found &= Odds(math.exp(share * beside))
    return found


def beyond(priors: OfPeople, made: Calibration, people: list[Array], room: float = _ROOM) -> list[Beyond]:
    """Those about whom a published value tells more than is promised, the worst first; by floats."""
    parts, found = parts_of(made.guarantee), []
    states = list(priors.believed(priors.laws(people[0])[0], 0))
    pairs = np.array([(states.index(a), states.index(b)) for a, b in made.pairs.directed()]).T
    for person in people:
        laws = priors.laws(person)
        lost = np.max(
            [_losses(made.channel, priors.values, laws, pairs, order) / budget for order, budget in parts], axis=0
        )
        if not (worst := float(lost.max())) <= 1 + room:
            found.append(Beyond(worst, person, int(lost.argmax())))
    return sorted(found, key=lambda one: -one.share)


def _losses(channel: Channel, values: Sequence[int | float], laws: Array, pairs: Array, order: float) -> Array:
    """The largest loss of each time, of pairs in both directions."""
    times, states, size = laws.shape
    if channel.publishes == "values":
        finite = channel.as_list()
        place: dict[Value, int] = {value: k for k, value in enumerate(values)}
        taken = [place[value] for value in finite.inputs]
        if 1 - laws[:, :, taken].sum(axis=2).min() > _NOTHING:
            return np.full(times, math.inf)
        published = finite.through(laws[:, :, taken].reshape(times * states, -1)).reshape(times, states, -1)
        found = finite_divergence(published[:, pairs[0]], published[:, pairs[1]], alpha=order)
    elif channel.kind == GaussianNoise.kind:
        starts = states * np.arange(times)[:, None]
        first, second = ((starts + side).ravel() for side in pairs)
        rows = laws.reshape(times * states, size)
        at = np.asarray(values, dtype=np.float64)
        found = lattice_losses(at, rows, first, second, alpha=order, theta=channel.as_noise().size).reshape(times, -1)
    elif channel.kind in LAPLACE and math.isinf(order):  # the largest odds of points are at one of them
        at = np.asarray(values, dtype=np.float64)
        published = laws @ LaplaceNoise(channel.as_noise().size).density(Mixture.gaussian(0, 0), at[:, None] - at)
        found = finite_divergence(published[:, pairs[0]], published[:, pairs[1]], alpha=order)
    else:
        raise MechanismError(
            f"confidence for other people is not known for {channel.describe()} at order {order:g}: ask for odds with "
            f"Laplace noise, for alpha and epsilon with Gaussian noise, or for the best channel"
        )
    most: Array = found.max(axis=1)
    return most


def parts_of(asked: Guarantee) -> list[tuple[float, float]]:
    """Orders, each with its budget."""
    if not asked.is_provable or not hasattr(asked, "alpha"):
        raise MechanismError(
            f"people drawn, and boxes of chains, are held to Rényi guarantees and odds, not to {asked}"
        )
    beside = asked.odds_beside
    return [(asked.alpha, asked.epsilon), *([] if beside is None else [(math.inf, math.log(beside))])]


# A guarantee for every chain of a box: a channel for some of them, held against bounds for all.
#
# The channel is found for chains at the corners of the box with a share of the budget, which is lowered until the
# bounds on what all of them publish are within the whole of it (proofs/dependence.md, claim 15).


_ROUNDS = 12
_LEAST_SHARE = 1e-3  # of the budget, below which nothing is looked for
_ROOM_OF_BOX = 1e-9  # of a budget


class OfBox(Protocol):
    """Priors of some chains of a box, with bounds for all."""

    @property
    def values(self) -> Sequence[int | float]:
        """What the answer may be."""

    def of_box(self, through: Array) -> Iterator[tuple[Array, Array]]:
        """For each time, bounds on P(output | state), by state and output."""

    def __iter__(self) -> Iterator[Belief]:
        """The beliefs of some chains."""


def kept_for_box(priors: OfBox, find: Find, asked: Guarantee) -> Calibration:
    """What `find` makes of some chains for so small a share of the budget that all of the box are within it."""
    beliefs, share = list(priors), 1.0
    for _ in range(_ROUNDS):
        made = find(beliefs, stricter(asked, share))
        most = largest_share(priors, made, asked)
        if most <= 1 - _ROOM_OF_BOX:
            told = Diagnostic("box-held", most=most)
            return replace(made, guarantee=asked, lower_bound=None, optimality=None).with_finding(told)
        share *= min(0.99, 0.995 / most)
        if not share > _LEAST_SHARE:
            break
    raise CalibrationError(
        "no channel was found for the whole box: take a narrower one, a larger budget, or several chains"
    )


def largest_share(priors: OfBox, made: Calibration, asked: Guarantee) -> float:
    """How many budgets any chain of the box loses at most, by the bounds."""
    through = _through(made.channel, priors.values, asked)
    states = list(next(iter(priors)))
    pairs = np.array([(states.index(a), states.index(b)) for a, b in made.pairs.directed()]).T
    most = 0.0
    for low, high in priors.of_box(through):
        for order, budget in parts_of(asked):
            most = max(most, _loss(low[pairs[1]], high[pairs[0]], order) / budget)
    return most


def _loss(low: Array, high: Array, order: float) -> float:
    """The largest divergence of laws above one bound from laws below another, by pair."""
    seen = high > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gaps = np.where(seen, np.log(high) - np.log(low), -math.inf)
        if math.isinf(order):
            return float(gaps.max())
        terms = np.where(seen, high * np.exp((order - 1) * gaps), 0.0)
        found = float(np.log(terms.sum(axis=1)).max() / (order - 1))
    return math.inf if math.isnan(found) else found


def _through(channel: Channel, values: Sequence[int | float], asked: Guarantee) -> Array:
    """What becomes of each value: the rows of a finite channel, or Laplace densities where they decide."""
    if channel.publishes == "values":
        finite = channel.as_list()
        reached = [k for k, value in enumerate(values) if value is not None]  # of a histogram not all numbers are
        if set(finite.inputs) != {values[k] for k in reached}:
            raise MechanismError("the channel is about other values than those of the answer")
        rows = dict(zip(finite.inputs, finite.through(np.eye(len(finite.inputs))), strict=True))
        through = np.zeros((len(values), len(next(iter(rows.values())))))
        for k in reached:
            through[k] = rows[values[k]]
        return through
    if channel.kind not in LAPLACE or any(not math.isinf(order) for order, _ in parts_of(asked)):
        raise MechanismError("for a box of chains there is a best channel, or Laplace noise under odds: ask for odds")
    at = np.asarray(values, dtype=np.float64)
    found: Array = LaplaceNoise(channel.as_noise().size).density(Mixture.gaussian(0, 0), at[:, None] - at)
    return found
