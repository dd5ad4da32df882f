"""From beliefs and a promise to the channel that keeps it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from takifugu.calibration.backwards import Step, default_order, promise_asked, require_one_way, strongest
from takifugu.calibration.checking import checked
from takifugu.calibration.kinds import default_mechanism
from takifugu.calibration.population import Population
from takifugu.calibration.result import Calibration
from takifugu.calibration.telling import about_the_answer
from takifugu.errors import MechanismError
from takifugu.laws import Law
from takifugu.mechanisms import get_mechanism
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.optimal.mechanism import MOST_VALUES, Optimal
from takifugu.mechanisms.optimal.table import table_of
from takifugu.mechanisms.posterior import with_rows
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.mechanisms.worst import worst
from takifugu.problems.asking_findings import GuessAsked
from takifugu.problems.findings import SparseChosen
from takifugu.problems.findings.shown import show
from takifugu.problems.guarantee import Renyi
from takifugu.problems.pairs import Pair
from takifugu.problems.problem import Problem
from takifugu.queries.few_rows import require_rows
from takifugu.queries.others import beside
from takifugu.queries.priors import ColumnWeights

Priors = Mapping[Any, Law] | Sequence[Mapping[Any, Law]] | Problem


def calibrate(
    priors: Priors,
    *,
    alpha: float | None = None,
    epsilon: float | None = None,
    pairs: Iterable[Pair] | None = None,
    mechanism: str | Mechanism | None = None,
    odds: float | None = None,
    confidence: float | None = None,
    assurance: str | None = None,
    seed: int = 0,
    beliefs: Mapping[str, Any] | None = None,
    best_guess: float | None = None,
    error: float | None = None,
    step: Step = lambda what: None,
    **options: Any,
) -> Calibration:
    """The channel that costs least and keeps every pair of secrets within the promise, both ways.

    Args:
        priors: what `fit_priors` returns; or the law of the answer for each secret, as {secret: Mixture}; or a list
            of such mappings, one per belief the adversary may hold, of which the worst counts.
        alpha: the Rényi order, above 1.
        epsilon: the budget in nats, above 0.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        mechanism: by default "optimal" for Finite laws ("sparse" beyond 2,000 values), "exact" for a Mixture and
            "shaped" for a VectorMixture; see `list_mechanisms`. Also an object with the interface of
            `takifugu.mechanisms.Mechanism`.
        odds: no published value may change the odds of any pair by more than this factor: alone, or beside `alpha`
            and `epsilon`. Gaussian noise cannot promise it.
        confidence: such as 0.95. The promise is then seen to hold for the centre and for all of a number of draws from
            the posterior of the population's priors (59 for 0.95; more for a channel), not only for the sample's.
        assurance: "band" proves the promise for the population, with probability `confidence` (0.95 by default) over
            independent rows and no model: more noise, and no evidence but a proof.
        seed: of those draws. Whoever tries several and takes what suits best has less confidence than is stated.
        beliefs: what others may believe beside that, by name, such as {"last year": priors}; the promise holds for each
            of them, and `problem.words(place)` names the one that binds.
        best_guess: in place of odds and epsilon, such as 0.6: between two secrets that were equally likely before,
            nobody's guess from one published value may be right more often.
        error: in place of all of them, such as 0.2: the strongest promise, to two per cent of its budget, at which a
            published value is off by at most this share of the spread (the standard deviation of the true values), or
            of labels this share is changed. Of several columns the worst counts.
        step: called with each promise that a search for `error` has tried.
        **options: options of the mechanism, such as `delta` of "wasserstein-approx".

    >>> from takifugu import Mixture
    >>> result = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> round(result.variance, 6)
    3.0
    """
    population = Population(confidence, assurance, seed)
    if beliefs is not None:
        priors = beside(priors, beliefs)
    problem = Problem.of(priors, pairs)
    require_one_way(problem, alpha=alpha, epsilon=epsilon, odds=odds, best_guess=best_guess, error=error)
    if error is not None:
        order = default_order(problem) if alpha is None else alpha

        def one_of_many(asked: Renyi, number: int) -> Calibration:
            return calibrated(priors, problem, asked, mechanism, population.tried(number, problem), options)

        made = strongest(one_of_many, alpha=order, error=error, step=step)
    else:
        asked = promise_asked(problem, alpha=alpha, epsilon=epsilon, odds=odds, best_guess=best_guess)
        made = calibrated(priors, problem, asked, mechanism, population, options)
    if best_guess is not None:
        if not isinstance(made.guarantee, Renyi):
            raise MechanismError(
                f"{made.mechanism!r} promises less than (α, ε), and bounds no guess: leave best_guess out"
            )
        made = made.with_finding(GuessAsked(best_guess, str(asked)))
    show(one for one in made.findings if one not in problem.findings)  # those were shown where the priors were fitted
    return made


def _bounded_below(found: Found, sample: Found, rule: Mechanism) -> Found:
    """What keeps a promise for the population keeps it for the sample too: it loses no less than the best does there.

    With a radius it is about channels that meet a sufficient condition, which others need not meet.
    """
    options = found.options or rule.options
    if found.lower_bound is not None or np.any(options.get("radius")) or options != (sample.options or rule.options):
        return found
    return found._replace(lower_bound=sample.lower_bound, optimality=sample.optimality)


def calibrated(
    priors: Any,
    problem: Problem,
    asked: Renyi,
    mechanism: str | Mechanism | None,
    population: Population,
    options: dict[str, Any],
) -> Calibration:
    """The calibration of a problem; `priors` are what it was made of, which know their rows."""
    if mechanism in (None, Optimal.name, Sparse.name) and (wanted := getattr(priors, "loss", None)) is not None:
        options = {"weights" if isinstance(wanted, ColumnWeights) else "loss": wanted} | options
    by_name = default_mechanism(problem) if mechanism is None else mechanism
    rule = get_mechanism(by_name, options)
    require_rows(priors, confidence=0.95 if population.assurance else population.confidence)
    sample = checked(rule, rule.find(problem, asked), problem, asked)
    found, evidence = population.covered(rule, problem, asked, sample)
    found = _bounded_below(found, sample, rule)
    if evidence is not None:
        problem = with_rows(problem)
    told = about_the_answer(priors, problem, found.channel, asked, rule, evidence)
    if mechanism is None and rule.name == Sparse.name:
        told.append(SparseChosen(len(table_of(problem).values), MOST_VALUES))
    return Calibration(
        problem=replace(problem, findings=(*problem.findings, *told)),
        guarantee=rule.promise(asked),
        channel=found.channel,
        mechanism=rule.name,
        place=found.place or worst(problem, found.channel, alpha=asked.alpha).place,
        options=tuple(sorted((found.options or rule.options).items())),
        lower_bound=found.lower_bound,
        optimality=found.optimality,
        evidence=evidence,
    )
