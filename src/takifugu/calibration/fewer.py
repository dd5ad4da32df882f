"""What fewer columns would give, where a row of several keeps little of what it tells."""

from collections.abc import Callable

from takifugu.calibration.kinds import expected_loss
from takifugu.channels.listed import ListChannel
from takifugu.channels.sparse import SparseChannel
from takifugu.errors import TakifuguError
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.optimal.table import table_of
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.problems.columns import of_columns
from takifugu.problems.findings import Finding, LittleLeft
from takifugu.problems.problem import Problem

LITTLE = 0.5  # of what the rows tell: where less is left, fewer columns are looked at


def fewer_columns(
    rule: Mechanism, problem: Problem, found: Found, again: Callable[[Mechanism, Problem], Found]
) -> list[Finding]:
    """A finding where a channel of several columns loses more than half of what one that tells nothing loses.

    `again` finds the channel of another problem under the same promise, for the population where that is asked for.
    """
    answer, channel = problem.answer, found.channel
    if answer is None or answer.query != "row" or len(answer.columns) < 2 or not isinstance(channel, ListChannel):
        return []
    plain = rule.loss is None if isinstance(rule, Optimal | Sparse) else False
    if not plain:
        return []  # of a loss over whole rows nobody knows what single columns lose
    left = _left(rule, problem, channel)
    if left >= LITTLE:
        return []
    alone = []
    for name in answer.columns:
        part = of_columns(problem, (name,))
        single = Optimal(keep=rule.keep) if isinstance(rule, Optimal) else Optimal(keep=None)
        try:
            kept = again(single, part).channel
        except TakifuguError:  # too few rows for this promise even so: of this column there is nothing to tell
            continue
        if isinstance(kept, ListChannel):
            alone.append((name, _left(single, part, kept)))
    return [LittleLeft(left, tuple(sorted(alone, key=lambda one: -one[1])))]


def _left(rule: Mechanism, problem: Problem, channel: ListChannel) -> float:
    """The share of what the values tell that a channel leaves: 1 where nothing is lost, 0 where nothing is told."""
    nothing = Sparse(weights=rule.weights) if isinstance(rule, Sparse) else Sparse()
    lost = nothing.cost(problem, _telling_nothing(nothing, problem))
    return 1.0 if not lost > 0 else max(0.0, 1.0 - expected_loss(rule, problem, channel) / lost)


def _telling_nothing(rule: Sparse, problem: Problem) -> SparseChannel:
    """The channel that publishes one value for everybody, the one that costs least."""
    values = table_of(problem).values
    return SparseChannel.constant(values, values[rule.best_constant(problem)])
