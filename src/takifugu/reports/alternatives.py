"""What a finite channel is measured against: Gaussian noise, replacing values at random, and a weaker promise."""

import math
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.listed import ListChannel
from takifugu.divergences.finite import divergence
from takifugu.errors import TakifuguError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import root_above
from takifugu.mechanisms.optimal.table import table_of
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem
from takifugu.reports.columns import ColumnFacts, column_facts

ORDER = 3.0  # at which Gaussian noise is shown where the promise is about odds, which it cannot keep
_MOST_WORK = 300_000  # pairs of points, over all places: about two seconds
_MOST_VALUES = 64  # of a channel that is solved a second time
_MOST_NUMBERS = 2_000_000  # probabilities looked at in each step of a search
_STEPS = 40


@dataclass(frozen=True)
class Cost:
    """What another way would cost: the root mean square error of numbers, and the share of values changed.

    `promise` is what it keeps. `is_weaker` says that this is less than what the channel promises; `is_least` that the
    figure is from below, since only a part of what must be hidden was looked at.
    """

    label: str
    promise: str
    error: float | None
    changed: float | None
    is_weaker: bool = False
    is_least: bool = False
    is_chosen: bool = False


def gaussian_noise(calibration: Calibration, column: ColumnFacts, position: int) -> Cost | None:
    """The least Gaussian noise on one column of numbers; None where it cannot be told within a moment.

    Of several columns each is looked at alone, which noise on all of them cannot do with less.
    """
    asked = calibration.guarantee
    several = isinstance(table_of(calibration.problem).values[0], tuple)
    alpha = ORDER if math.isinf(asked.alpha) else asked.alpha
    beliefs = [
        _mixtures(calibration, k, column, position if several else None) for k in range(len(calibration.beliefs))
    ]
    pairs = list(calibration.pairs) if len(calibration.pairs) <= _MOST_WORK else [calibration.worst_pair]
    work = 2 * len(pairs) * len(column.inputs) ** 2
    is_least = several
    if work * len(beliefs) > _MOST_WORK:
        beliefs, is_least = [beliefs[calibration.place.belief]], True
    if work > _MOST_WORK:
        pairs = [calibration.worst_pair]
    if 2 * len(column.inputs) ** 2 > _MOST_WORK:
        return None
    try:
        # Not proved: nothing is published through it.
        theta = root_above(Exact().needed(Problem.of(beliefs, pairs), alpha=alpha, epsilon=asked.epsilon).variance)
    except TakifuguError:
        return None
    if math.isinf(theta):
        return None
    return Cost(
        f"Gaussian noise{f' on {column.name} alone' if several else ''}",
        f"{Renyi(alpha, asked.epsilon)}{_whose(calibration)}",
        theta,
        1.0 if theta > 0 else 0.0,
        is_weaker=asked != Renyi(alpha, asked.epsilon) or several or calibration.evidence is not None,
        is_least=is_least,
    )


def _whose(calibration: Calibration) -> str:
    """What is measured at the centre alone says so, beside a channel that is for the population."""
    return "" if calibration.evidence is None else ", for these rows alone"


def _mixtures(
    calibration: Calibration, belief: int, column: ColumnFacts, position: int | None
) -> dict[object, Mixture]:
    """The laws of one column under a belief, as points on the line."""
    found = {}
    for secret, law in calibration.beliefs[belief].items():
        values = [value if position is None else value[position] for value in law.values]
        found[secret] = Mixture(law.probabilities, values, np.zeros(len(values)))
    return found


def replaced_at_random(calibration: Calibration, channel: ListChannel) -> Cost | None:
    """Publishing a share of all values as draws from everybody's: the least share that keeps the promise in float64."""
    table = table_of(calibration.problem)
    asked = calibration.guarantee
    if channel.inputs != channel.outputs or not isinstance(asked, Renyi):
        return None
    left, right = (np.array(side) for side in zip(*table.pairs, strict=True))
    if len(left) * len(table.values) > _MOST_NUMBERS:
        return None
    shares = table.laws / table.laws.sum(axis=1, keepdims=True)
    pool = table.mass / table.mass.sum()

    def is_kept(share: float) -> bool:
        published = (1 - share) * shares + share * pool
        kept = divergence(published[left], published[right], alpha=asked.alpha).max() <= asked.epsilon
        if asked.odds is not None:
            kept &= divergence(published[left], published[right], alpha=math.inf).max() <= math.log(asked.odds)
        return bool(kept)

    low, high = 0.0, 1.0
    if is_kept(0.0):
        high = 0.0
    for _ in range(_STEPS if high else 0):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_kept(middle) else (middle, high)
    error = None
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in table.values):
        x = np.array(table.values, dtype=np.float64)
        error = math.sqrt(high * 2.0 * float(pool @ (x - pool @ x) ** 2))
    promise = f"{asked}{_whose(calibration)}"
    changed = high * float(1.0 - pool @ pool)
    return Cost("Values replaced at random", promise, error, changed, is_weaker=calibration.evidence is not None)


def at_finite_order(calibration: Calibration, channel: ListChannel, mass: Array) -> Cost | None:
    """The best channel at the order at which Gaussian noise is shown, where the promise is about odds."""
    asked = calibration.guarantee
    if not math.isinf(asked.alpha) or len(channel.inputs) > _MOST_VALUES or calibration.mechanism != "optimal":
        return None
    try:
        found = calibrate(
            calibration.problem,
            alpha=ORDER,
            epsilon=asked.epsilon,
            mechanism="optimal",
            **dict(calibration.options),
        )
    except TakifuguError:
        return None
    if not isinstance(found.channel, FiniteChannel):
        return None
    column, *more = column_facts(found.channel, mass, (mass, mass), None)
    error = None if more else column.error
    return Cost("Best channel", str(found.guarantee), error, found.channel.share_changed(mass), is_weaker=True)
