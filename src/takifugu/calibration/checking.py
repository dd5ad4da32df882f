"""Whether a channel keeps its promise: asked of every rule's answer, and again of every file before a release."""

import math
from collections.abc import Sequence
from typing import Any

from takifugu.channels import Channel, GaussianNoise, Noise
from takifugu.errors import CalibrationError, InputError
from takifugu.laws import Space, key
from takifugu.mechanisms import (
    Additive,
    Exact,
    Found,
    Mechanism,
    get_mechanism,
    is_enough,
    is_trusted,
    proved_noise,
    root_above,
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
    if is_trusted(rule):
        return found
    channel = found.channel
    if getattr(channel, "publishes", None) != problem.space:
        raise CalibrationError(f"{rule.name!r} gave a {type(channel).__name__}, which is no channel known here")
    if channel.publishes != "number":
        kept = promised.is_provable and knowing(channel).is_kept(problem, asked, channel)
    elif channel.as_noise().bounds_odds:
        kept = _bounds_odds(problem, channel.as_noise(), promised)
    elif not channel.is_gaussian:
        raise CalibrationError(f"{rule.name!r} gave a {type(channel).__name__}, which is no channel known here")
    elif not promised.is_provable:
        return Found(channel)  # a bound knows which pair it asks most for, not which loses most
    else:
        return _proved(rule, channel.as_noise(), found, problem, asked)
    if not kept:
        raise CalibrationError(
            f"{rule.name!r} gave a channel that is not proved to keep {promised}: release nothing through it"
        )
    return Found(channel)  # its word on the place, and on what is best, is not taken


def _bounds_odds(problem: Problem, channel: Noise, promised: Guarantee) -> bool:
    """Whether noise of another family than Gaussian is proved to keep the guarantee, which can be odds alone."""
    from takifugu.mechanisms import is_enough_everywhere

    is_odds = promised.is_provable and math.isinf(promised.alpha)
    return is_odds and is_enough_everywhere(problem, channel, epsilon=promised.epsilon)


def _proved(rule: Mechanism, channel: Noise, found: Found, problem: Problem, asked: Guarantee) -> Found:
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
    theta = proved(place, channel.size)
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
    if not channel.is_gaussian:
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
    budget = {"alpha": promised.alpha, "epsilon": promised.epsilon, "theta": channel.size}
    return all(is_enough(problem, place, **budget) for place in {closest: None} | dict.fromkeys(needed.close))


# How a channel is found by default for what laws are of, and what a published value then loses.

_DEFAULTS: dict[Space, tuple[str, dict[str, object]]] = {
    "number": ("exact", {}),
    "values": ("optimal", {"keep": None}),
    "vector": ("shaped", {}),
}


def default_mechanism(problem: Problem, asked: Guarantee) -> str:
    """The name of the mechanism for the laws of a problem, where none is asked for."""
    if problem.space == "number" and math.isinf(asked.alpha):
        return "laplace"  # Gaussian noise bounds no odds
    return _DEFAULTS[problem.space][0]


def knowing(channel: Channel, rule: Mechanism | None = None) -> Mechanism:
    """The rule, if it knows what such a channel keeps and costs; else the one that does, with nothing wished for."""
    if rule is not None and getattr(rule, "space", None) == channel.publishes:
        return rule
    return get_mechanism(*_DEFAULTS[channel.publishes])


def require_fitting(problem: Problem, channel: Channel) -> None:
    """Refuse a channel that is not of the kind that the laws of a problem go through."""
    if channel.publishes != problem.space:
        raise InputError("the channel is not of the kind that the laws need")
    if channel.publishes == "vector" and channel.width != (dimension := problem.laws(0)[0].dimension):
        raise InputError(f"the channel is for vectors of {channel.width} numbers, the laws for {dimension}")
    lists = None if problem.answer is None else problem.answer.domain
    if channel.publishes == "values" and isinstance(lists, tuple):
        _require_on_lists(problem, [{key(value) for value in one.values} for one in lists])


def _require_on_lists(problem: Problem, lists: Sequence[set[Any]]) -> None:
    """Refuse lists that lack a value of the laws: a release would take the nearest of them for it, as no law does."""
    from takifugu.mechanisms import table_of

    for value in table_of(problem).values:
        row = value if isinstance(value, tuple) else (value,)
        if len(row) != len(lists) or any(key(part) not in one for part, one in zip(row, lists, strict=True)):
            raise InputError("answer.domain lacks a value that the laws are about: the file was changed")


def expected_loss(rule: Mechanism, problem: Problem, channel: Channel) -> float:
    """The expected loss of a published value."""
    return knowing(channel, rule).cost(problem, channel)
