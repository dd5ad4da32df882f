"""From beliefs and a promise to the channel that keeps it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from takifugu import _validation as check
from takifugu.calibration.backwards import HALVINGS, Step, default_order, promise_asked, require_one_way, strongest
from takifugu.calibration.checking import checked
from takifugu.calibration.kinds import default_mechanism, expected_loss
from takifugu.calibration.result import Calibration
from takifugu.channels.base import Channel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.divergences.finite import divergence
from takifugu.errors import InputError, MechanismError
from takifugu.laws import Law
from takifugu.mechanisms import get_mechanism
from takifugu.mechanisms.assurance import Band, assured
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.draws import draws_needed
from takifugu.mechanisms.evidence import Confidence, Shared, confident
from takifugu.mechanisms.grids import grid_step, on_grid
from takifugu.mechanisms.optimal.mechanism import MOST_VALUES, Optimal, table_of
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.mechanisms.worst import worst
from takifugu.problems.asking_findings import GuessAsked
from takifugu.problems.findings import Finding, OtherSmoothing, PriceOfIgnorance, SparseChosen
from takifugu.problems.guarantee import Renyi
from takifugu.problems.pairs import Pair
from takifugu.problems.population_findings import FewForConfidence, OnGrid
from takifugu.problems.problem import Problem
from takifugu.queries.few_rows import require_rows
from takifugu.queries.others import beside
from takifugu.queries.priors import ColumnWeights

_APART = 1_000_003 * 64  # between the seeds of promises that are tried one after another: each uses up to 18
_ENOUGH = 30  # rows of a secret below which draws from its posterior are mostly the pseudo-row's
_CHECKED_PAIRS = 100  # directed pairs whose rows are looked at: more would take longer than the calibration

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
    grid: float | None = None,
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
            the posterior of the population's priors (59 for 0.95), not only for the sample's.
        assurance: "band" proves the promise for the population, with probability `confidence` (0.95 by default) over
            independent rows and no model: more noise, and no evidence but a proof.
        seed: of those draws.
        beliefs: what others may believe beside that, by name, such as {"last year": priors}; the promise holds for each
            of them, and `problem.words(place)` names the one that binds.
        best_guess: in place of odds and epsilon, such as 0.6: between two secrets that were equally likely before,
            nobody's guess from one published value may be right more often.
        error: in place of all of them, such as 0.2: the strongest promise, to two per cent of its budget, at which a
            published value is off by at most this share of the spread (the standard deviation of the true values), or
            of labels this share is changed. Of several columns the worst counts.
        step: called with each promise that a search for `error` has tried.
        grid: such as 0.05. θ is rounded up to a power of 1.05, or the probabilities of a channel to a coarse grid,
            before anything is proved, so that they tell less about the rows they were fitted to. Hygiene, and no proof.
        **options: options of the mechanism, such as `delta` of "wasserstein-approx".

    >>> from takifugu import Mixture
    >>> result = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> round(result.variance, 6)
    3.0
    """
    require_one_way(alpha=alpha, epsilon=epsilon, odds=odds, best_guess=best_guess, error=error)
    population = Population(confidence, assurance, seed, grid_step(grid or 0.0))
    if beliefs is not None:
        priors = beside(priors, beliefs)
    problem = Problem.of(priors, pairs)
    if error is not None:
        order = default_order(problem) if alpha is None else alpha

        def one_of_many(asked: Renyi, number: int) -> Calibration:
            return calibrated(priors, problem, asked, mechanism, population.tried(number), options)

        return strongest(one_of_many, alpha=order, error=error, step=step)
    asked = promise_asked(problem, alpha=alpha, epsilon=epsilon, odds=odds, best_guess=best_guess)
    made = calibrated(priors, problem, asked, mechanism, population, options)
    if best_guess is None:
        return made
    if not isinstance(made.guarantee, Renyi):
        raise MechanismError(f"{made.mechanism!r} promises less than (α, ε), and bounds no guess: leave best_guess out")
    return made.with_finding(GuessAsked(best_guess, str(asked)))


@dataclass(frozen=True)
class Population:
    """What is asked for beyond the rows there are, and what calibrations that ask alike share."""

    confidence: float | None = None
    assurance: str | None = None
    seed: int = 0
    grid: float = 0.0
    shared: Shared = field(default_factory=Shared)
    halvings: int = 0

    def tried(self, number: int) -> "Population":
        """The same for one of 2ʰ promises of which one will be chosen: draws of its own, h halvings more strictly."""
        return replace(self, seed=self.seed + number * _APART, shared=Shared(), halvings=HALVINGS)

    def __post_init__(self) -> None:
        """Before any work, whether these can be asked for at all."""
        object.__setattr__(self, "seed", check.integer("seed", self.seed, least=0))
        if self.assurance not in (None, "band"):
            raise InputError(f"assurance must be None or 'band', got {self.assurance!r}")
        if self.assurance is None and self.confidence is not None:
            draws_needed(self.confidence)

    def covered(
        self, rule: Mechanism, problem: Problem, asked: Renyi, found: Found
    ) -> tuple[Found, Confidence | Band | None]:
        """What a rule found for the sample, or what is enough for the population too."""
        if self.assurance is None and self.confidence is None:
            return found, None
        without = expected_loss(rule, problem, found.channel)
        if self.assurance is not None:
            level = 0.95 if self.confidence is None else self.confidence
            return assured(rule, problem, asked, level=level, found=found, without=without)
        return confident(
            rule,
            problem,
            asked,
            level=float(self.confidence or 0),
            seed=self.seed,
            found=found,
            without=without,
            shared=self.shared,
            halvings=self.halvings,
        )

    def on_grid(self, found: Found) -> tuple[Found, list[Finding]]:
        """More noise, on the grid; a channel is on it already. More noise never loses more (proofs/monotonicity.md)."""
        if not self.grid:
            return found, []
        if isinstance(found.channel, GaussianVector):
            raise InputError("grid is for noise on one number and for channels: leave it out for vectors")
        if not isinstance(found.channel, GaussianNoise):
            return found, [OnGrid("the channel's probabilities were", self.grid)]
        theta = on_grid(found.channel.theta, self.grid)
        more = (
            found if theta == found.channel.theta else Found(GaussianNoise(theta))
        )  # another place may be the closest
        return more, [OnGrid("the noise θ was", self.grid)]


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
    if getattr(priors, "per_cell", False):
        options = options | {"cells": True}
    by_name = default_mechanism(problem) if mechanism is None else mechanism
    if by_name == Sparse.name and (population.grid or options.get("cells")):
        what = "grid" if population.grid else "per_cell"
        raise InputError(
            f"{what} is for channels of up to {MOST_VALUES:,} values: leave it out, publish fewer columns, or give "
            f"coarser domains"
        )
    if population.grid and by_name == Optimal.name:
        options = options | {"grid": population.grid}
    rule = get_mechanism(by_name, options)
    require_rows(priors, confidence=0.95 if population.assurance else population.confidence)
    found = checked(rule, rule.find(problem, asked), problem, asked)
    found, evidence = population.covered(rule, problem, asked, found)
    found, rounded = population.on_grid(found)
    told: list[Finding] = [*_about_rows(priors, problem, found.channel, asked)]
    if mechanism is None and rule.name == Sparse.name:
        told.append(SparseChosen(len(table_of(problem).values), MOST_VALUES))
    if getattr(priors, "is_smoothed", False) and isinstance(found.channel, ListChannel):
        told.append(other_smoothing(problem, found.channel, asked))
        lost = expected_loss(rule, problem, found.channel)
        if evidence is not None and lost > 0:
            told.append(PriceOfIgnorance(max(0.0, 1 - evidence.without / lost)))
    if isinstance(evidence, Confidence):
        told += _few(problem)
    return Calibration(
        problem=replace(problem, findings=(*problem.findings, *told, *rounded)),
        guarantee=rule.promise(asked),
        channel=found.channel,
        mechanism=rule.name,
        place=found.place or worst(problem, found.channel, alpha=asked.alpha).place,
        options=tuple(sorted((found.options or rule.options).items())),
        lower_bound=found.lower_bound,
        optimality=found.optimality,
        evidence=evidence,
    )


def other_smoothing(problem: Problem, channel: ListChannel, asked: Renyi) -> OtherSmoothing:
    """The largest loss, in floats, had a tenth or ten times of the added rows been added to every secret's."""
    losses = []
    place = {secret: k for k, secret in enumerate(problem.pairs.secrets)}
    first, second = np.array([(place[a], place[b]) for a, b in problem.pairs.directed()]).T
    for factor in (0.1, 10.0):
        counted = [problem.beliefs[0].counted[secret] for secret in problem.pairs.secrets]
        laws = np.stack([(counts + factor * pseudo) / (counts + factor * pseudo).sum() for counts, pseudo in counted])
        published = channel.through(laws)
        losses.append(float(divergence(published[first], published[second], alpha=asked.alpha).max()))
    return OtherSmoothing(tenth=losses[0], tenfold=losses[1], epsilon=asked.epsilon)


def _few(problem: Problem) -> list[Finding]:
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
