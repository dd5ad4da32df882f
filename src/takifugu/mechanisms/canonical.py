"""One order for secrets and values, so that what is drawn and what is searched for hang on neither.

Two people who name the same secrets and values in another order ask for the same channel. Draws are made by position,
and of equally good channels a solver finds another one from another side, so both begin from an order of their own.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from takifugu.channels import FiniteChannel
from takifugu.laws import Finite, Law, key
from takifugu.mechanisms.draws import rank_places
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.problems import Belief, Pairs, Problem


def in_order(problem: Problem) -> Problem:
    """The same problem of finite laws with its secrets and values in their order; itself where they are."""
    secrets = problem.pairs.secrets
    names = rank_places(secrets)
    beliefs = tuple(_ordered(belief, [secrets[k] for k in names.tolist()]) for belief in problem.beliefs)
    again = all(one is other for one, other in zip(beliefs, problem.beliefs, strict=True))
    if again and (np.diff(names) > 0).all():
        return problem
    first, second = problem.pairs.directed_places()
    back, chosen = np.argsort(names), None
    if not problem.pairs.is_every:
        both = np.sort(np.stack([back[first], back[second]], axis=1), axis=1)
        chosen = [(secrets[names[i]], secrets[names[j]]) for i, j in np.unique(both, axis=0).tolist()]
    return replace(problem, beliefs=beliefs, pairs=Pairs([secrets[k] for k in names.tolist()], chosen))


def _ordered(belief: Belief, secrets: Sequence[Hashable]) -> Belief:
    orders = {secret: rank_places(belief[secret].values) for secret in belief}
    is_in_order = all((np.diff(order) > 0).all() for order in orders.values())
    if is_in_order and list(belief)[: len(secrets)] == list(secrets):
        return belief
    laws: dict[Hashable, Law] = {}
    counted = dict(belief.counted)
    for secret in (*secrets, *(one for one in belief if one not in secrets)):
        law, order = belief[secret], orders[secret]
        laws[secret] = Finite([law.values[k] for k in order.tolist()], np.asarray(law.weights)[order])
        if secret in counted:
            counts, pseudo = counted[secret]
            counted[secret] = counts[order], pseudo[order]
    return Belief(
        laws,
        label=belief.label,
        rows=belief.rows,
        histograms=belief.histograms,
        counted=counted,
        drawn=belief.drawn,
        shares=belief.shares,
    )


def rule_in_order(rule: Optimal, problem: Problem, ordered: Problem) -> Optimal:
    """The same wishes for `ordered`: a matrix of losses is by values, and a radius may be by laws."""
    loss, radius = rule.loss, rule.radius
    if isinstance(loss, tuple):
        where = _found(ordered, problem)
        loss = tuple(tuple(loss[i][j] for j in where) for i in where)
    if isinstance(radius, tuple):
        names = rank_places(problem.pairs.secrets)
        radius = tuple(rule.reach(problem).reshape(-1, len(names))[:, names].ravel().tolist())
    return replace(rule, loss=loss, radius=radius)


def radius_put_back(radius: Sequence[float], problem: Problem) -> tuple[float, ...]:
    """A radius for each law of the ordered problem, in the order of the problem itself."""
    back = np.argsort(rank_places(problem.pairs.secrets))
    return tuple(np.asarray(radius, dtype=np.float64).reshape(-1, len(back))[:, back].ravel().tolist())


def put_back(channel: FiniteChannel, problem: Problem, ordered: Problem) -> FiniteChannel:
    """A channel between the values of `ordered`, with its inputs and outputs in the order of the problem itself."""
    where = _found(problem, ordered)
    values = table_of(problem).values
    return FiniteChannel(values, values, channel.counts[np.ix_(where, where)])


def _found(wanted: Problem, among: Problem) -> list[int]:
    """Where the values of one problem stand among those of the other."""
    place = {key(value): where for where, value in enumerate(table_of(among).values)}
    return [place[key(value)] for value in table_of(wanted).values]
