"""Which divergences are known after which noise: one function in floats, and one decision that is proved.

A kind of channel and a kind of divergence meet here and nowhere else. A new noise names the functions of the
divergences that it knows, a new guarantee those of the noises; what nobody named is refused.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from takifugu._validation import Array
from takifugu.divergences.certified import Decision
from takifugu.divergences.numerics.balls import Effort
from takifugu.errors import InputError
from takifugu.laws import Law
from takifugu.problems import Divergence

# Which divergence and channel a function takes follows from the key it stands under, which no type can say.
Value = Callable[[Law, Law, Any, Any], float]
"""Two laws before the channel, the divergence, the channel: how far they are apart after it, in floats."""
Proof = Callable[[Law, Law, Any, float, Any, Effort | None], Decision]
"""The same with a budget before the channel and the work that may be spent after it: whether that is enough."""
Screen = Callable[[Sequence[Law], Any, Any, float], tuple[Array, Array]]
"""Laws, the divergence, the channel and a budget: of each law against each other one a value that the divergence
reaches, and one that it is proved not to exceed; for many pairs at once, and as close as it takes beside the budget."""


class Known(NamedTuple):
    """The functions of one divergence after one kind of channel."""

    value: Value
    decide: Proof
    screen: Screen | None = None


_KNOWN: dict[tuple[str, type[Divergence]], Known] = {}


def register(
    channel: str, divergence: type[Divergence], value: Value, decide: Proof, screen: Screen | None = None
) -> None:
    """Say how a divergence is computed and proved after the channels of a kind.

    Args:
        channel: the kind of channel, or what channels publish: "gaussian", "values".
        divergence: the class of the divergence.
        value: it in floats, never a bound.
        decide: whether it is a budget at most, proved; its `holds` is None where that is not decided.
        screen: bounds for many laws at once, which spare the two above most pairs.
    """
    _KNOWN[channel, divergence] = Known(value, decide, screen)


def known(kinds: Iterable[str], divergence: type[Divergence]) -> Known | None:
    """The functions that the first of these kinds of channel has for a divergence."""
    return next((_KNOWN[kind, divergence] for kind in kinds if (kind, divergence) in _KNOWN), None)


def required(kinds: Iterable[str], divergence: Divergence, channel: str) -> Known:
    """The same, or an error that names what is not known."""
    found = known(kinds, type(divergence))
    if found is None:
        raise InputError(
            f"nothing is known of {divergence.words} after {channel}: nothing can be said, and nothing is proved"
        )
    return found


def registered() -> dict[tuple[str, type[Divergence]], Known]:
    """All that was named so far, for tests of what they have in common."""
    return dict(_KNOWN)
