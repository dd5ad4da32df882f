"""What each kind of law goes through, how it is found by default, and what a published value then loses."""

from collections.abc import Sequence
from typing import Any

from takifugu.channels.base import Channel
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.sparse import SparseChannel
from takifugu.channels.vector import GaussianVector
from takifugu.errors import InputError
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.laws.values import key
from takifugu.laws.vector import VectorMixture
from takifugu.mechanisms.base import Mechanism
from takifugu.mechanisms.optimal.mechanism import MOST_VALUES, Optimal
from takifugu.mechanisms.optimal.table import table_of
from takifugu.mechanisms.shaped.mechanism import Shaped
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.problems.problem import Problem

# The mechanism that each kind of law has by default, and the channel that its answers are published through.
_KINDS: dict[type, tuple[str, type]] = {
    Mixture: ("exact", GaussianNoise),
    Finite: (Optimal.name, ListChannel),
    VectorMixture: (Shaped.name, GaussianVector),
}


def default_mechanism(problem: Problem) -> str:
    """The name of the mechanism for the laws of a problem, where none is asked for."""
    law = problem.laws(0)[0]
    if isinstance(law, Finite) and len(table_of(problem).values) > MOST_VALUES:
        return Sparse.name
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
    if isinstance(channel, SparseChannel):
        return (rule if isinstance(rule, Sparse) else Sparse()).cost(problem, channel)
    if isinstance(channel, FiniteChannel):
        return (rule if isinstance(rule, Optimal) else Optimal(keep=None)).cost(problem, channel)
    if isinstance(channel, GaussianVector):
        return (rule if isinstance(rule, Shaped) else Shaped()).cost(problem, channel)
    if isinstance(channel, GaussianNoise):
        return channel.variance
    raise InputError(f"what a {type(channel).__name__} costs is not known here")
