"""A guarantee for every chain of a box: a channel for some of them, held against bounds for all.

The channel is found for chains at the corners of the box with a share of the budget, which is lowered until the bounds
on what all of them publish are within the whole of it (proofs/dependence.md, claim 15).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from takifugu._validation import Array
from takifugu.calibration.of_people import Find, parts_of, stricter
from takifugu.calibration.result import Calibration
from takifugu.channels import Channel, LaplaceNoise
from takifugu.errors import CalibrationError, MechanismError
from takifugu.laws import Mixture
from takifugu.problems import Belief, Diagnostic, Guarantee

_ROUNDS = 12
_LEAST_SHARE = 1e-3  # of the budget, below which nothing is looked for
_ROOM = 1e-9  # of a budget


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
        if most <= 1 - _ROOM:
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
    if channel.kind != LaplaceNoise.kind or any(not math.isinf(order) for order, _ in parts_of(asked)):
        raise MechanismError("for a box of chains there is a best channel, or Laplace noise under odds: ask for odds")
    at = np.asarray(values, dtype=np.float64)
    found: Array = channel.as_noise().density(Mixture.gaussian(0, 0), at[:, None] - at)
    return found
