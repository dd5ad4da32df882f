"""What a calibration has to say about the rows and the assumptions it rests on, once its channel is found."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from takifugu.calibration.kinds import expected_loss
from takifugu.channels.base import Channel
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.divergences.finite import divergence
from takifugu.laws.lattice import Lattice
from takifugu.mechanisms.assurance import Band
from takifugu.mechanisms.base import Mechanism
from takifugu.mechanisms.evidence import Confidence
from takifugu.problems.findings import Finding, OtherSmoothing, PriceOfIgnorance
from takifugu.problems.guarantee import Renyi
from takifugu.problems.population_findings import FewForConfidence, ListReadForBand
from takifugu.problems.problem import Problem

_ENOUGH = 30  # rows of a secret below which draws from its posterior are mostly the pseudo-row's
_CHECKED_PAIRS = 100  # directed pairs whose rows are looked at: more would take longer than the calibration


def about_the_answer(
    priors: Any, problem: Problem, channel: Channel, asked: Renyi, rule: Mechanism, evidence: Confidence | Band | None
) -> list[Finding]:
    """All of it."""
    told = [*_about_rows(priors, problem, channel, asked)]
    if getattr(priors, "is_smoothed", False) and isinstance(channel, ListChannel):
        told.append(other_smoothing(problem, channel, asked))
        lost = expected_loss(rule, problem, channel)
        if evidence is not None and lost > 0:
            told.append(PriceOfIgnorance(max(0.0, 1 - evidence.without / lost)))
    if isinstance(evidence, Band):
        told += _list_read(problem)
    return [*told, *_few_for_confidence(problem)] if isinstance(evidence, Confidence) else told


def _list_read(problem: Problem) -> list[Finding]:
    """Whether the list of values came from the rows: bounds on the shares of values that were chosen for having been
    seen may all fail at once (proofs/bounds.md)."""
    answer = problem.answer
    if answer is None or (isinstance(answer.domain, Lattice) and not answer.is_read) or answer.is_public:
        return []
    if isinstance(answer.domain, tuple) and len(answer.domain) > 1:
        return [ListReadForBand("rows of several columns are those that occur in them", "publish one column of them")]
    return [ListReadForBand("this one was read from them", "give a domain, or bounds and a step, that are public")]


def other_smoothing(problem: Problem, channel: ListChannel, asked: Renyi) -> OtherSmoothing:
    """The largest loss, in floats, had a tenth or ten times of the added rows been added to every secret's."""
    losses = []
    first, second = problem.pairs.directed_places()
    for factor in (0.1, 10.0):
        counted = [problem.beliefs[0].counted[secret] for secret in problem.pairs.secrets]
        laws = np.stack([(counts + factor * pseudo) / (counts + factor * pseudo).sum() for counts, pseudo in counted])
        published = channel.through(laws)
        losses.append(float(divergence(published[first], published[second], alpha=asked.alpha).max()))
    return OtherSmoothing(tenth=losses[0], tenfold=losses[1], epsilon=asked.epsilon)


def _few_for_confidence(problem: Problem) -> list[Finding]:
    """The secrets with so few rows that confidence rests on its model there; cells have a finding of their own."""
    first = problem.beliefs[0]
    if problem.answer is None or not problem.answer.is_of_rows or first.label:
        return []
    scarce = [secret for secret in problem.pairs.secrets if first.rows.get(secret, _ENOUGH) < _ENOUGH]
    return [FewForConfidence(secret, first.rows[secret]) for secret in scarce]


def _about_rows(priors: Any, problem: Problem, channel: Channel, asked: Renyi) -> Sequence[Finding]:
    """What the rows themselves say about noise that is enough for the priors fitted to them: the worst pair of all."""
    if not isinstance(channel, GaussianVector) or not getattr(priors, "empirical", None):
        return []
    from takifugu.queries.vector import check_rows

    pairs = list(islice(problem.pairs.directed(), _CHECKED_PAIRS))
    found = check_rows(priors, alpha=asked.alpha, epsilon=asked.epsilon, covariance=channel.covariance, pairs=pairs)
    return sorted(found, key=lambda one: -one.loss)[:1]
