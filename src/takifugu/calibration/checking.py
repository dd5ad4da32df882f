"""Whether a channel keeps its promise: asked of every rule's answer, and again of every file before a release."""

from typing import Any

from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.errors import CalibrationError, InputError
from takifugu.laws.finite import Finite
from takifugu.laws.vector import VectorMixture
from takifugu.mechanisms import get_mechanism
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import Additive, Found, Mechanism, root_above
from takifugu.mechanisms.binding import is_enough, proved_noise
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.shaped.mechanism import Shaped, is_proved
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.mechanisms.worst import worst
from takifugu.problems.guarantee import Guarantee, Renyi
from takifugu.problems.problem import Place, Problem

_ROOM = 1e-9  # of the budget: what a second look at a calibration may find more than the first


def checked(rule: Mechanism, found: Found, problem: Problem, asked: Renyi) -> Found:
    """What a rule found, with the noise that the exact divergence asks for where that is more.

    The bound promises it; the exact divergence makes sure, rounding and other people's code included.
    """
    if not isinstance(found, Found):
        raise CalibrationError(f"{rule.name!r} gave a {type(found).__name__} where a Found with a channel is needed")
    promised = rule.promise(asked)
    if isinstance(promised, Renyi):
        if not promised.implies(asked):
            raise CalibrationError(
                f"{rule.name!r} promises {promised}, which is less than {asked}: ask for that if it will do"
            )
        asked = promised  # what the calibration will say is what is checked
    law = problem.laws(0)[0]
    if type(rule) in (Optimal, Shaped, Sparse):  # these prove what they return; a subclass may have changed that
        return found
    kept = None
    if isinstance(found.channel, ListChannel) and isinstance(law, Finite):
        kept = isinstance(promised, Renyi) and Optimal(keep=None).is_kept(problem, asked, found.channel)
    elif isinstance(found.channel, GaussianVector) and isinstance(law, VectorMixture):
        kept = isinstance(promised, Renyi) and is_proved(problem, asked, found.channel)
    if kept is False:
        raise CalibrationError(
            f"{rule.name!r} gave a channel that is not proved to keep {promised}: release nothing through it"
        )
    if kept:
        return Found(found.channel)  # its word on the place, and on what is best, is not taken
    if not isinstance(found.channel, GaussianNoise):
        raise CalibrationError(f"{rule.name!r} gave a {type(found.channel).__name__}, which is no channel known here")
    if not isinstance(promised, Renyi):
        return Found(found.channel)  # a bound knows which pair it asks most for, not which loses most
    return _proved(rule, found.channel, found, problem, asked)


def _proved(rule: Mechanism, channel: GaussianNoise, found: Found, problem: Problem, asked: Renyi) -> Found:
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
    problem: Problem, channel: GaussianNoise, promised: Guarantee, *, mechanism: str, options: dict[str, Any]
) -> bool:
    """Whether Gaussian noise keeps the promise: by a bound, or in balls where that does not clear a place."""
    if isinstance(promised, Renyi) and promised.most_odds is not None:
        return False  # the tails of a bell bound no odds
    rule: Mechanism = Exact()
    if not isinstance(promised, Renyi):
        rule = get_mechanism(mechanism, options)
    if not isinstance(rule, Additive):
        raise InputError(f"{mechanism!r} promises less than Rényi Pufferfish Privacy, which cannot be checked")
    here = channel.variance * (1 + 2**-50)
    needed = rule.needed(problem, alpha=promised.alpha, epsilon=promised.epsilon * (1 + _ROOM), floor=here)
    if needed.variance != here:
        return False
    if not isinstance(promised, Renyi):
        return True
    closest = worst(problem, channel, alpha=promised.alpha).place
    budget = {"alpha": promised.alpha, "epsilon": promised.epsilon, "theta": channel.theta}
    return all(is_enough(problem, place, **budget) for place in {closest: None} | dict.fromkeys(needed.close))
