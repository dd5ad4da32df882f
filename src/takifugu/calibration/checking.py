"""Whether a channel keeps its promise: asked of every rule's answer, and again of every file before a release."""

import math
from collections.abc import Sequence
from typing import Any

from takifugu.channels import Channel, GaussianNoise, GaussianVector, ListChannel, Noise
from takifugu.errors import CalibrationError, InputError
from takifugu.laws import Finite, Mixture, VectorMixture, key
from takifugu.mechanisms import (
    Additive,
    Exact,
    Found,
    Laplace,
    Mechanism,
    Optimal,
    Shaped,
    get_mechanism,
    is_enough,
    is_enough_everywhere,
    is_proved,
    proved_noise,
    root_above,
    table_of,
    worst,
)
from takifugu.problems import Guarantee, Place, Problem

_ROOM = 1e-9  # of the budget: what a second look at a calibration may find more than the first


def checked(rule: Mechanism, found: Found, problem: Problem, asked: Guarantee) -> Found:
    """What a rule found, with the noise that the exact divergence asks for where that is more.

    The bound promises it; the exact divergence makes sure, rounding and other people's code included.
    """
    if not isinstance(found, Found):
        raise CalibrationError(f"{rule.name!r} gave a {type(found).__name__} where a Found with a channel is needed")
    promised = rule.promise(asked)
    if promised.is_provable:
        if not promised.implies(asked):
            raise CalibrationError(
                f"{rule.name!r} promises {promised}, which is less than {asked}: ask for that if it will do"
            )
        asked = promised  # what the calibration will say is what is checked
    law = problem.laws(0)[0]
    if type(rule) in (Laplace, Optimal, Shaped):  # these prove what they return; a subclass may have changed that
        return found
    kept = None
    if isinstance(found.channel, ListChannel) and isinstance(law, Finite):
        kept = promised.is_provable and Optimal(keep=None).is_kept(problem, asked, found.channel)
    elif isinstance(found.channel, GaussianVector) and isinstance(law, VectorMixture):
        kept = promised.is_provable and is_proved(problem, asked, found.channel)
    elif isinstance(found.channel, Noise) and found.channel.bounds_odds:
        kept = _bounds_odds(problem, found.channel, promised)
    if kept is False:
        raise CalibrationError(
            f"{rule.name!r} gave a channel that is not proved to keep {promised}: release nothing through it"
        )
    if kept:
        return Found(found.channel)  # its word on the place, and on what is best, is not taken
    if not isinstance(found.channel, GaussianNoise):
        raise CalibrationError(f"{rule.name!r} gave a {type(found.channel).__name__}, which is no channel known here")
    if not promised.is_provable:
        return Found(found.channel)  # a bound knows which pair it asks most for, not which loses most
    return _proved(rule, found.channel, found, problem, asked)


def _bounds_odds(problem: Problem, channel: Noise, promised: Guarantee) -> bool:
    """Whether noise of another family than Gaussian is proved to keep the guarantee, which can be odds alone."""
    is_odds = promised.is_provable and math.isinf(promised.alpha)
    return is_odds and is_enough_everywhere(problem, channel, epsilon=promised.epsilon)


def _proved(rule: Mechanism, channel: GaussianNoise, found: Found, problem: Problem, asked: Guarantee) -> Found:
    """Gaussian noise, raised to what the exact divergence asks for, proved at every place that no bound clears."""

    def proved(place: Place, theta: float) -> float:
        return proved_noise(problem, place, alpha=asked.alpha, epsilon=asked.epsilon, theta=theta)

    place, close = found.place, found.close
    if type(rule) is not Exact:
        needed = Exact().needed(problem, alpha=asked.alpha, epsilon=asked.epsilon, floor=channel.variance)
        place, close = needed.place, needed.close  # a bound knows which pair it asks most for, not which loses most
        if place is not None:
            channel = GaussianNoise(root_above(needed.variance))
    has_asked = place is not None
    if place is None:
        place = worst(problem, channel, alpha=asked.alpha).place
    theta = proved(place, channel.theta)
    if has_asked and channel.loss(*problem.ends(place), alpha=asked.alpha) < (1 - _ROOM) * asked.epsilon:
        # At the edge of its domain a loss falls off a cliff. The pair that asks for this noise, with less than which it
        # would lose everything, may then lose less than another does, and that one is closest to the limit.
        place = worst(problem, GaussianNoise(theta), alpha=asked.alpha).place
        theta = proved(place, theta)
    for other in close:
        if other != place and (more := proved(other, theta)) > theta:  # floats had seen less than there is
            theta, place = more, other
    return Found(GaussianNoise(theta), place)


def noise_is_enough(
    problem: Problem, channel: Noise, promised: Guarantee, *, mechanism: str, options: dict[str, Any]
) -> bool:
    """Whether noise keeps the promise: by a bound, or in balls where that does not clear a place."""
    if not isinstance(channel, GaussianNoise):
        return _bounds_odds(problem, channel, promised)
    if promised.most_odds is not None:
        return False  # the tails of a bell bound no odds
    rule: Mechanism = Exact()
    if not promised.is_provable:
        rule = get_mechanism(mechanism, options)
    if not isinstance(rule, Additive):
        raise InputError(f"{mechanism!r} promises less than Rényi Pufferfish Privacy, which cannot be checked")
    here = channel.variance * (1 + 2**-50)
    needed = rule.needed(problem, alpha=promised.alpha, epsilon=promised.epsilon * (1 + _ROOM), floor=here)
    if needed.variance != here:
        return False
    if not promised.is_provable:
        return True
    closest = worst(problem, channel, alpha=promised.alpha).place
    budget = {"alpha": promised.alpha, "epsilon": promised.epsilon, "theta": channel.theta}
    return all(is_enough(problem, place, **budget) for place in {closest: None} | dict.fromkeys(needed.close))


# What each kind of law goes through, how it is found by default, and what a published value then loses.

# The mechanism that each kind of law has by default, and the channel that its answers are published through.
_KINDS: dict[type, tuple[str, type]] = {
    Mixture: ("exact", Noise),
    Finite: (Optimal.name, ListChannel),
    VectorMixture: (Shaped.name, GaussianVector),
}


def default_mechanism(problem: Problem, asked: Guarantee) -> str:
    """The name of the mechanism for the laws of a problem, where none is asked for."""
    law = problem.laws(0)[0]
    if isinstance(law, Mixture) and math.isinf(asked.alpha):
        return Laplace.name  # Gaussian noise bounds no odds
    return _KINDS[type(law)][0]


def require_fitting(problem: Problem, channel: Channel) -> None:
    """Refuse a channel that is not of the kind that the laws of a problem go through."""
    law = problem.laws(0)[0]
    if not isinstance(channel, _KINDS[type(law)][1]):
        raise InputError("the channel is not of the kind that the laws need")
    if isinstance(channel, GaussianVector) and channel.dimension != law.dimension:
        raise InputError(f"the channel is for vectors of {channel.dimension} numbers, the laws for {law.dimension}")
    lists = None if problem.answer is None else problem.answer.domain
    if isinstance(channel, ListChannel) and isinstance(lists, tuple):
        _require_on_lists(problem, [{key(value) for value in one.values} for one in lists])


def _require_on_lists(problem: Problem, lists: Sequence[set[Any]]) -> None:
    """Refuse lists that lack a value of the laws: a release would take the nearest of them for it, as no law does."""
    for value in table_of(problem).values:
        row = value if isinstance(value, tuple) else (value,)
        if len(row) != len(lists) or any(key(part) not in one for part, one in zip(row, lists, strict=True)):
            raise InputError("answer.domain lacks a value that the laws are about: the file was changed")


def expected_loss(rule: Mechanism, problem: Problem, channel: Channel) -> float:
    """The expected loss of a published value."""
    if isinstance(channel, ListChannel):
        return (rule if isinstance(rule, Optimal) else Optimal(keep=None)).cost(problem, channel)
    if isinstance(channel, GaussianVector):
        return (rule if isinstance(rule, Shaped) else Shaped()).cost(problem, channel)
    if isinstance(channel, Noise):
        return channel.variance
    raise InputError(f"what a {type(channel).__name__} costs is not known here")
