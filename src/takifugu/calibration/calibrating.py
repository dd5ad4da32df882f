"""From beliefs and a guarantee to the channel that keeps it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from takifugu import _validation as check
from takifugu._work import Pace, expect, tell
from takifugu.calibration.result import Calibration, checked, default_mechanism, expected_loss
from takifugu.calibration.targets import (
    HALVINGS,
    HALVINGS_OF_ALL,
    default_order,
    promise_asked,
    require_one_way,
    strongest,
)
from takifugu.channels import Channel
from takifugu.errors import InputError, MechanismError, NoAnswerError
from takifugu.laws import Law
from takifugu.mechanisms import Found, Mechanism, closest, get_mechanism
from takifugu.problems import (
    AUTO,
    OF_TABLES,
    Adversary,
    Diagnostic,
    Guarantee,
    Pair,
    Problem,
    Utility,
    asked_for,
    channel_guarantee,
    guarantee_asked,
    refuse_beyond,
    require_rows,
    total_guarantee,
    warn,
    with_short_forms,
)

if TYPE_CHECKING:
    import pandas as pd

    from takifugu.channels import ListChannel
    from takifugu.dependence import Series, SeriesCalibration
    from takifugu.mechanisms import Confidence, ProvedBand, Shared
    from takifugu.queries import Row


# What is asked for beyond the rows there are: confidence, a band.


@dataclass(frozen=True)
class Population:
    """What is asked for beyond the rows there are, and what calibrations that ask alike share."""

    confidence: float | None = None
    assurance: str | None = None
    seed: int = 0
    shared: "Shared | None" = None
    halvings: int = 0

    def tried(self, number: int, problem: Problem) -> "Population":
        """The same for one of 2ʰ guarantees of which one will be chosen: draws of its own, h halvings more strictly.

        A model keeps some draws of its parameters and there are no others: each guarantee would be judged by nearly the
        same ones, whatever its seed, so they are the same and h is larger.
        """

        from takifugu.mechanisms import own_seed

        if any(belief.drawn for belief in problem.beliefs):
            return replace(self, shared=None, halvings=HALVINGS_OF_ALL)
        return replace(self, seed=own_seed(self.seed, number), shared=None, halvings=HALVINGS)

    def __post_init__(self) -> None:
        """Before any work, whether these can be asked for at all."""
        object.__setattr__(self, "seed", check.integer("seed", self.seed, least=0))
        if self.assurance not in (None, "band"):
            raise InputError(f"assurance must be None or 'band', got {self.assurance!r}")
        if self.assurance is None and self.confidence is not None:
            from takifugu.mechanisms import draws_needed

            draws_needed(self.confidence)

    def covered(
        self, rule: Mechanism, problem: Problem, asked: Guarantee, found: Found
    ) -> "tuple[Found, Confidence | ProvedBand | None]":
        """What a rule found for the sample, or what is enough for the population too."""
        if self.assurance is None and self.confidence is None:
            return found, None
        from takifugu.mechanisms import Sureness, assured, confident

        without = expected_loss(rule, problem, found.channel)
        if self.assurance is not None:
            level = 0.95 if self.confidence is None else self.confidence
            return assured(rule, problem, asked, level=level, found=found, without=without)
        sure = Sureness(float(self.confidence or 0), self.seed, self.halvings, self.shared)
        return confident(rule, problem, asked, sure, found=found, without=without)


# What a calibration has to say about the rows and the assumptions it rests on, once its channel is found.

_ENOUGH = 30  # rows of a secret below which draws from its posterior are mostly the pseudo-row's
_CHECKED_PAIRS = 100  # directed pairs whose rows are looked at: more would take longer than the calibration


def about_the_answer(
    priors: object,
    problem: Problem,
    channel: Channel,
    asked: Guarantee,
    rule: Mechanism,
    evidence: "Confidence | ProvedBand | None",
) -> list[Diagnostic]:
    """All of it."""
    told = [*_about_rows(priors, problem, channel, asked)]
    if channel.publishes == "values" and not hasattr(asked, "alpha"):
        told += delta_spent(problem, channel.as_list(), asked)
    if getattr(priors, "is_smoothed", False) and channel.publishes == "values" and hasattr(asked, "alpha"):
        told.append(other_smoothing(problem, channel.as_list(), asked))
        lost = expected_loss(rule, problem, channel)
        if evidence is not None and lost > 0:
            told.append(Diagnostic("price-of-ignorance", share=max(0.0, 1 - evidence.without / lost)))
    if evidence is not None:
        told += (_list_read if evidence.kind == "band" else _few_for_confidence)(problem)
    return told


def _list_read(problem: Problem) -> list[Diagnostic]:
    """Whether the list of values came from the rows: bounds on the shares of values that were chosen for having been
    seen may all fail at once (proofs/bounds.md)."""
    answer = problem.answer
    if answer is None or (answer.lattice is not None and not answer.is_read) or answer.is_public:
        return []
    return [Diagnostic("list-read-for-band", several=len(answer.lists) > 1)]


def delta_spent(problem: Problem, channel: "ListChannel", asked: Guarantee) -> list[Diagnostic]:
    """For each (ε, δ), which published values tell more than ε allows, and by how much; in floats."""
    from takifugu.channels import named

    rows = sum(problem.beliefs[0].rows.get(secret, 0) for secret in problem.pairs.secrets)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [[channel.apply(law).probabilities for law in problem.laws(b)] for b in range(len(problem.beliefs))]
        odds = np.zeros(len(channel.outputs))
        for place in problem.places():
            ratios = shares[place.belief][place.first] / shares[place.belief][place.second]
            odds = np.maximum(odds, np.where(shares[place.belief][place.first] > 0, ratios, 0.0))
    found = []
    for part in asked.parts:
        if hasattr(part, "delta"):
            beyond = np.flatnonzero(odds > math.exp(part.epsilon) * (1 + _SPENT))
            words = [named(channel.outputs[y]) for y in beyond[np.argsort(-odds[beyond], kind="stable")].tolist()]
            more = [f"{len(words) - _NAMED} more"] if len(words) > _NAMED else []
            found.append(
                Diagnostic(
                    "delta-spent",
                    delta=part.delta,
                    every=1 / part.delta,
                    rows=rows,
                    expected=part.delta * rows,
                    values=", ".join([*words[:_NAMED], *more]),
                    odds=float(odds.max()),
                )
            )
    return found


_SPENT, _NAMED = 1e-6, 8  # of the odds, for rounding to whole numbers; values that are named


def other_smoothing(problem: Problem, channel: "ListChannel", asked: Guarantee) -> Diagnostic:
    """The largest loss, in floats, had a tenth or ten times of the added rows been added to every secret's."""
    from takifugu.divergences import finite_divergence

    losses = []
    first, second = problem.pairs.directed_places()
    for factor in (0.1, 10.0):
        counted = [problem.beliefs[0].counted[secret] for secret in problem.pairs.secrets]
        laws = np.stack([(counts + factor * pseudo) / (counts + factor * pseudo).sum() for counts, pseudo in counted])
        published = channel.through(laws)
        losses.append(float(finite_divergence(published[first], published[second], alpha=asked.alpha).max()))
    return Diagnostic("other-smoothing", tenth=losses[0], tenfold=losses[1], epsilon=asked.epsilon)


def _few_for_confidence(problem: Problem) -> list[Diagnostic]:
    """The secrets with so few rows that confidence rests on its model there; cells have a finding of their own."""
    first = problem.beliefs[0]
    if problem.answer is None or not problem.answer.is_of_rows or first.label:
        return []
    scarce = [secret for secret in problem.pairs.secrets if first.rows.get(secret, _ENOUGH) < _ENOUGH]
    return [Diagnostic("few-for-confidence", secret=secret, rows=first.rows[secret]) for secret in scarce]


def _about_rows(priors: Any, problem: Problem, channel: Channel, asked: Guarantee) -> Sequence[Diagnostic]:
    """What the rows themselves say about noise that is enough for the priors fitted to them: the worst pair of all."""
    if channel.publishes != "vector" or not getattr(priors, "empirical", None):
        return []
    from takifugu.queries import check_rows

    pairs = list(islice(problem.pairs.directed(), _CHECKED_PAIRS))
    found = check_rows(
        priors, alpha=asked.alpha, epsilon=asked.epsilon, covariance=channel.noise_covariance, pairs=pairs
    )
    return sorted(found, key=lambda one: -one["loss"])[:1]


Priors: TypeAlias = "Mapping[Any, Law] | Sequence[Mapping[Any, Law]] | Problem | Row"


@overload
def calibrate(
    priors: "Series",
    guarantee: Guarantee | None = None,
    *,
    alpha: float | None = None,
    epsilon: float | None = None,
) -> "SeriesCalibration": ...


@overload
def calibrate(
    priors: Priors,
    guarantee: Guarantee | None = None,
    *,
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    best_guess: float | None = None,
    error: float | None = None,
    pairs: Iterable[Pair] | None = None,
    mechanism: str | Mechanism | None = None,
    noise: str | None = None,
    confidence: float | None = None,
    assurance: str | None = None,
    radius: float | Sequence[float] | None = None,
    preserve: str | None = AUTO,
    adversary: Adversary | None = None,
    utility: Utility | None = None,
    options: Mapping[str, object] | None = None,
) -> Calibration: ...


def calibrate(
    priors: "Priors | Series",
    guarantee: Guarantee | None = None,
    *,
    odds: float | None = None,
    alpha: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    best_guess: float | None = None,
    error: float | None = None,
    pairs: Iterable[Pair] | None = None,
    mechanism: str | Mechanism | None = None,
    noise: str | None = None,
    confidence: float | None = None,
    assurance: str | None = None,
    radius: float | Sequence[float] | None = None,
    preserve: str | None = AUTO,
    adversary: Adversary | None = None,
    utility: Utility | None = None,
    options: Mapping[str, object] | None = None,
) -> "Calibration | SeriesCalibration":
    """The channel that costs least and keeps every pair of secrets within the guarantee, both ways.

    Args:
        priors: what `fit_priors` returns; or the law of the answer for each secret, as {secret: Mixture}; or a list
            of such mappings, one per belief the adversary may hold, of which the worst counts. Of a `Series` the
            noise is correlated over time; it takes a Rényi guarantee of finite order and nothing else.
        guarantee: what is guaranteed, such as `Odds(3)`, `Renyi(3, 1)`, `Approximate(1, 1e-5)`, or several joined with
            `&`; or one of the short forms that follow.
        odds: no published value may change the odds of any pair by more than this factor: alone, or beside `alpha`
            and `epsilon`. Gaussian noise cannot guarantee it.
        alpha: the Rényi order, above 1.
        epsilon: the budget in nats, above 0, with `alpha` or with `delta`.
        delta: with `epsilon` and no `alpha`, an (ε, δ) guarantee: `Approximate(epsilon, delta)`; beside `alpha` the
            option of "wasserstein-approx".
        best_guess: in place of odds and epsilon: see `Adversary`, of which it is a short form.
        error: in place of all of them, the strongest guarantee, to two per cent of its budget, at this cost: see
            `Utility`, of which it is a short form. Of several columns the worst counts.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        mechanism: by default "optimal" for Finite laws, "laplace" for a Mixture under odds and "exact" otherwise, and
            "shaped" for a VectorMixture; see `list_mechanisms`. "data-free" is the best channel that is fitted to no
            data, and `priors` is then a `Row` with public lists. Also an object with the interface of
            `takifugu.mechanisms.Mechanism`.
        noise: "gaussian" or "laplace" in place of the mechanism that finds the least of it ("exact", "laplace"), or
            "auto": whichever of the two has the smaller variance and can keep the guarantee.
        confidence: such as 0.95. The guarantee is then seen to hold for the centre and for all of a number of draws
            from the posterior (59 for 0.95; more for a channel), not only for the sample's.
        assurance: "band" proves the guarantee for the population, with probability `confidence` (0.95 by default) over
            independent rows and no model: more noise, and no evidence but a proof. A short form of `Adversary`.
        radius: the total variation to every prior that the guarantee holds for: a short form of `Adversary`.
        preserve: "marginal", "mean" or None: a short form of `Utility`.
        adversary: what the adversary may believe, and how sure the guarantee is to hold. What it knows is said where
            priors are fitted.
        utility: what is to survive.
        options: what is a mechanism's own, by name, as `list_mechanisms` and `Calibration.options` have it:
            {"solver": "columns"} for "optimal", or the fields of a mechanism of yours.

    Returns:
        A `Calibration`: the channel, the guarantee, and the pair that asked for it. It prints itself, plots itself, and
        goes to `release`, `certify` and `report`. Of a `Series` a calibration of its own.

    Raises:
        InputError: an argument that nobody could mean, or two that contradict one another.
        MechanismError: no channel of this mechanism keeps such a guarantee for such laws.
        NoAnswerError: no noise is enough, or the program has no solution.
        CalibrationError: what was found does not keep the guarantee.

    >>> from takifugu import Mixture
    >>> result = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> round(result.variance, 6)
    3.0
    """
    by, to = _joined(adversary, utility, assurance=assurance, radius=radius, preserve=preserve)
    by = with_short_forms(by, Adversary, best_guess=best_guess)
    to = with_short_forms(to, Utility, error=error)
    mechanism = _mechanism_for(noise, mechanism)
    given = mechanism_options(by, to, options)
    if hasattr(priors, "calibrated"):  # a series, which two Gaussians need not load
        refused: dict[str, object] = {"pairs": pairs, "mechanism": mechanism, "confidence": confidence}
        refused |= {"assurance": by.assurance, "beliefs": by.beliefs, "best_guess": by.best_guess, "error": to.error}
        if named := [name for name, value in (refused | given).items() if value is not None]:
            raise InputError(f"the noise of a series has its own rule: leave {' and '.join(named)} out")
        return priors.calibrated(guarantee_asked(guarantee, alpha=alpha, epsilon=epsilon, odds=odds, delta=delta))
    if hasattr(priors, "of_people") or hasattr(priors, "of_box"):  # chains: of several people, or all between bounds
        if by.beliefs is not None or to.error is not None or by.assurance is not None:
            raise InputError(
                "chains of people, or of a box, have a rule of their own: leave beliefs, error and assurance out"
            )
        chains: Any = priors
        together = Problem.of(list(chains), pairs)
        wanted = {"alpha": alpha, "epsilon": epsilon, "delta": delta, "odds": odds}
        require_one_way(together, guarantee, best_guess=by.best_guess, error=None, **wanted)
        asked = promise_asked(together, guarantee, best_guess=by.best_guess, **wanted)

        def find(held: Sequence[Mapping[Any, Law]], aim: Guarantee) -> Calibration:
            return calibrate(held, aim, pairs=pairs, mechanism=mechanism, options=given)

        return _of_chains(chains, find, asked, confidence=confidence, seed=by.seed)
    population = Population(confidence, by.assurance, by.seed)
    if mechanism == "data-free":
        from takifugu.queries import point_masses

        if by.beliefs is not None or pairs is not None:
            raise InputError("a data-free channel holds for every belief and every pair: leave beliefs and pairs out")
        priors, mechanism, given = point_masses(priors), "optimal", {"keep": None} | given
        population = Population()  # it holds for every law on the list: there is nothing to be confident of
    if by.beliefs is not None:
        from takifugu.queries import beside

        priors = beside(priors, by.beliefs)
    problem = Problem.of(priors, pairs)
    if delta is not None and mechanism is not None and (alpha is not None or epsilon is None):  # the mechanism's own
        given, delta = given | {"delta": delta}, None
    short = {"alpha": alpha, "epsilon": epsilon, "odds": odds, "delta": delta}
    require_one_way(problem, guarantee, best_guess=by.best_guess, error=to.error, **short)
    if to.error is not None:
        order = default_order(problem) if alpha is None else alpha

        def one_of_many(asked: Guarantee, number: int) -> Calibration:
            return calibrated(priors, problem, asked, mechanism, population.tried(number, problem), given)

        made = strongest(one_of_many, alpha=order, error=to.error)
    else:
        asked = promise_asked(problem, guarantee, best_guess=by.best_guess, **short)
        made = calibrated(priors, problem, asked, mechanism, population, given)
    if by.best_guess is not None:
        if not made.guarantee.is_provable:
            raise MechanismError(
                f"{made.mechanism!r} guarantees less than (α, ε), and bounds no guess: leave best_guess out"
            )
        made = made.with_finding(Diagnostic("guess-asked", asked=by.best_guess, promise=str(asked)))
    warn(one for one in made.findings if one not in problem.findings)  # those were shown where the priors were fitted
    return made


def _joined(
    adversary: Adversary | None, utility: Utility | None, *, assurance: str | None, radius: object, preserve: str | None
) -> tuple[Adversary, Utility]:
    """What is asked of adversary and utility, with their short forms; what is about rows is refused."""
    by = with_short_forms(adversary, Adversary, assurance=assurance, radius=radius)
    if by.known:
        raise InputError("known is about the columns of a table: give it to fit_priors, whose priors then know it")
    if not by.own:
        raise InputError("own=False is for publish: calibrate takes the priors that it is given, and no others")
    later = "is about what is published, of which calibrate sees nothing: leave it out here"
    refuse_beyond(by, ("beliefs", "radius", "assurance", "best_guess", "seed"), later)
    to = with_short_forms(utility, Utility, preserve=preserve)
    refuse_beyond(to, [one.name for one in fields(to) if one.name not in ("granularity", "allow_no_noise")], later)
    return by, to


def mechanism_options(by: Adversary, to: Utility, options: Mapping[str, object] | None) -> dict[str, object]:
    """All that a mechanism is asked for by name; what is given in two places is refused."""
    asked = to.options if by.radius is None else {**to.options, "radius": by.radius}
    own = dict(options or {})
    if twice := sorted(asked.keys() & own.keys()):
        raise InputError(f"{twice[0]} is given twice, in options too: leave one of them out")
    return asked | own


def _of_chains(
    priors: Any,
    find: Callable[[Sequence[Mapping[Any, Law]], Guarantee], Calibration],
    asked: Guarantee,
    *,
    confidence: float | None,
    seed: int,
) -> Calibration:
    """What is enough for people drawn like those of a chain, or for every chain of a box."""
    if hasattr(priors, "of_people"):
        from takifugu.calibration.of_people import kept_for_people

        return kept_for_people(priors, find, asked, level=0.95 if confidence is None else confidence, seed=seed)
    from takifugu.calibration.of_people import kept_for_box

    if confidence is not None:
        raise InputError("a box of chains holds for all of them, not with some confidence: leave confidence out")
    return kept_for_box(priors, find, asked)


def _bounded_below(found: Found, sample: Found, rule: Mechanism) -> Found:
    """What keeps a guarantee for the population keeps it for the sample too: it loses no less than the best does there.

    With a radius it is about channels that meet a sufficient condition, which others need not meet.
    """
    options = found.options or rule.options
    if found.lower_bound is not None or np.any(options.get("radius")) or options != (sample.options or rule.options):
        return found
    return found._replace(lower_bound=sample.lower_bound, optimality=sample.optimality)


def calibrated(
    priors: object,
    problem: Problem,
    asked: Guarantee,
    mechanism: str | Mechanism | None,
    population: Population,
    options: Mapping[str, object],
) -> Calibration:
    """The calibration of a problem; `priors` are what it was made of, which know their rows."""
    wanted = getattr(priors, "loss", None)
    if wanted is not None and mechanism in (None, "optimal") and "loss" not in options:
        from takifugu.queries import ColumnWeights

        options = {"weights" if isinstance(wanted, ColumnWeights) else "loss": wanted} | dict(options)
    if mechanism == _EITHER:
        return _of_less_variance(priors, problem, asked, population, options)
    by_name = default_mechanism(problem, asked) if mechanism is None else mechanism
    rule = get_mechanism(by_name, options)
    rule.require(asked)
    problem = rule.suited(problem)
    require_rows(priors, confidence=0.95 if population.assurance else population.confidence)
    private = 0.0 if problem.answer is None else problem.answer.private
    if private and population.assurance is not None:
        raise InputError(
            "assurance='band' is about counts of rows, and private counts hold noise: use confidence alone"
        )
    beyond = population.confidence is not None or population.assurance is not None
    if beyond and problem.answer is not None and problem.answer.query in OF_TABLES:
        raise MechanismError(
            "a share is hidden from who believes the laws of this table's rows, and what confidence or assurance would "
            "add is not known for it: leave them out"
        )
    if beyond and problem.space == "values" and not hasattr(asked, "alpha"):
        raise MechanismError(
            f"what confidence or assurance would add is not known for {asked} of a list: leave them out, or ask for "
            f"odds or one order"
        )
    asked = channel_guarantee(asked, private)
    if problem.space == "values" and rule.name == "optimal":
        from takifugu.mechanisms import Size

        expect(Size.of(problem, asked, population.confidence).seconds)
    sample = checked(rule, rule.find(problem, asked), problem, asked)
    found, evidence = population.covered(rule, problem, asked, sample)
    found = _bounded_below(found, sample, rule)
    if evidence is not None:
        from takifugu.mechanisms import with_rows

        problem = with_rows(problem)
    told = about_the_answer(priors, problem, found.channel, asked, rule, evidence)
    if private:
        told.append(Diagnostic("private-total", epsilon=private, total=str(total_guarantee(asked, private))))
    if dict(options).get("solver") is None and (found.options or {}).get("solver") == "columns":
        from takifugu.mechanisms import most_values, table_of

        table = table_of(problem)
        limit = most_values(len(table.pairs))
        told.append(Diagnostic("sparse-chosen", values=len(table.values), limit=limit))
    return Calibration(
        problem=replace(problem, findings=(*problem.findings, *told)),
        guarantee=rule.promise(asked),
        channel=found.channel,
        mechanism=rule.name,
        place=found.place or closest(problem, found.channel, asked).place,
        options=tuple(sorted((found.options or rule.options).items())),
        lower_bound=found.lower_bound,
        optimality=found.optimality,
        evidence=evidence,
    )


_EITHER = "auto"
_LEAST_OF = {"gaussian": "exact", "laplace": "laplace", "auto": _EITHER}


def _mechanism_for(noise: str | None, mechanism: str | Mechanism | None) -> str | Mechanism | None:
    """The mechanism that finds the least of the noise that was asked for; what was asked for itself where none was."""
    if noise is None:
        return mechanism
    if mechanism is not None:
        raise InputError("noise and mechanism both name how the noise is found: give one of them")
    if noise not in _LEAST_OF:
        raise InputError(f"noise must be 'gaussian', 'laplace' or 'auto', got {noise!r}")
    return _LEAST_OF[noise]


def _of_less_variance(
    priors: object, problem: Problem, asked: Guarantee, population: Population, options: Mapping[str, object]
) -> Calibration:
    """Through whichever noise has the smaller variance, of those that can keep the guarantee.

    Which that is follows from the laws, as the size does, and is stated as it is: choosing costs no budget.
    """
    found: list[Calibration] = []
    refused: MechanismError | None = None
    for name in ("exact", "laplace"):
        try:
            found.append(calibrated(priors, problem, asked, name, population, options))
        except MechanismError as error:
            refused = error
    if not found:
        assert refused is not None
        raise refused
    return min(found, key=lambda one: one.variance)


# Calibrations side by side: every order, budget and mechanism.


def sweep(
    priors: Priors,
    *,
    alpha: float | Iterable[float] = (),
    epsilon: float | Iterable[float] = (),
    delta: float | Iterable[float] = (),
    odds: float | Iterable[float] = (),
    mechanism: str | Iterable[str] | None = None,
    pairs: Iterable[Pair] | None = None,
    confidence: float | None = None,
    assurance: str | None = None,
    radius: float | Sequence[float] | None = None,
    preserve: str | None = AUTO,
    adversary: Adversary | None = None,
    utility: Utility | None = None,
    options: Mapping[str, object] | None = None,
) -> "pd.DataFrame":
    """Calibrate at every combination: a row each, with alpha, epsilon, mechanism, theta, variance and worst_pair.

    A mechanism that has no answer has an infinite theta in its row, and no worst pair. Where the channel is not
    Gaussian noise there is no theta, and NaN stands in its place; a channel between values of a list has `error`, the
    expected loss of a published value, and `changed`, the share of values published as another. The draws of a
    confidence are made once for all rows, and what is said with it is said of each row alone: of one that is chosen
    among many it is less sure (`calibrate(error=...)` chooses and keeps its confidence).

    Args:
        priors: as for `calibrate`.
        alpha: one order, or several.
        epsilon: one budget, or several, each at every order and with every δ.
        delta: one share, or several: each a row (ε, δ) at every budget, which has no order. The table then has a column
            `delta`, and `std`, the standard deviation of whichever noise it is.
        odds: one factor, or several, each a row of infinite order.
        mechanism: one name, or several; by default the one that `calibrate` would take.
        pairs: as for `calibrate`, and so is all that follows.
        confidence: the guarantee is then for the population.
        assurance: "band" for a proof of that.
        radius: the total variation to every prior that the guarantee holds for.
        preserve: "marginal", "mean" or None.
        adversary: what the adversary may believe; the seed of the draws.
        utility: what is to survive.
        options: what is a mechanism's own, the same for every row.

    Returns:
        A pandas table.

    Raises:
        InputError: an argument that nobody could mean, or two that contradict one another.
        MechanismError: a mechanism keeps no such guarantee for such laws, whatever the noise.

    >>> from takifugu import Mixture
    >>> table = sweep(
    ...     {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=[2], epsilon=[0.5, 1]
    ... )
    >>> table.variance.round(6).tolist()
    [7.0, 3.0]
    """
    import pandas as pd

    by, to = _joined(adversary, utility, assurance=assurance, radius=radius, preserve=preserve)
    if by.best_guess is not None or to.error is not None:
        raise InputError("sweep goes through budgets, and best_guess and error ask for one: leave them out")
    given = mechanism_options(by, to, options)
    if by.beliefs is not None:
        from takifugu.queries import beside

        priors = beside(priors, by.beliefs)
    mechanisms = (mechanism,) if isinstance(mechanism, str) else mechanism
    if hasattr(priors, "of_people"):
        raise InputError("a chain fitted to people is calibrated for one guarantee at a time: use calibrate")
    problem = Problem.of(priors, None if pairs is None else list(pairs))
    population = Population(confidence, by.assurance, by.seed)
    if confidence is not None:
        from takifugu.mechanisms import Shared

        population = replace(population, shared=Shared())
    orders, budgets = (
        [check.order(a) for a in _several(alpha)],
        [check.budget(e) for e in _several(epsilon)],
    )
    factors, shares = _several(odds), _several(delta)
    if bool(orders or shares) != bool(budgets) or not (orders or shares or factors):
        raise InputError(
            "give alpha and epsilon, epsilon and delta, odds, or all of them: there is nothing to calibrate at"
        )
    promises = [asked_for(alpha=order, epsilon=budget, odds=None) for order in orders for budget in budgets]
    promises += [asked_for(epsilon=budget, delta=share) for share in shares for budget in budgets]
    promises += [asked_for(alpha=None, epsilon=None, odds=most) for most in factors]
    rows: list[tuple[object, ...]] = []
    names, pace = [None] if mechanisms is None else list(mechanisms), Pace()
    for name in names:
        for asked in promises:
            done, of = len(rows), len(names) * len(promises)
            tell(f"Row {done + 1:,} of {of:,}{pace.left(done, of)}")
            rule = default_mechanism(problem, asked) if name is None else name
            numbers = tuple(getattr(asked, one, math.nan) for one in ("alpha", "epsilon", "delta"))
            try:
                made = calibrated(priors, problem, asked, rule, population, given)
                rows.append((*numbers, rule, *_figures(made)))
            except NoAnswerError:
                rows.append((*numbers, rule, math.inf, math.inf, None, math.nan, math.nan))
    titles = ["alpha", "epsilon", "delta", "mechanism", "theta", "variance", "worst_pair", "error", "changed"]
    found = pd.DataFrame(rows, columns=titles)
    if shares and problem.space != "values":
        found.insert(5, "std", found["variance"] ** 0.5)
    left_out = [*([] if shares else ["delta"]), *([] if problem.space == "values" else ["error", "changed"])]
    return found.drop(columns=left_out)


def _figures(one: Calibration) -> tuple[object, ...]:
    noise = (getattr(one, figure, math.nan) for figure in ("theta", "variance"))
    if one.channel.publishes != "values":
        return (*noise, one.worst_pair, math.nan, math.nan)
    from takifugu.mechanisms import table_of

    return (*noise, one.worst_pair, one.error, one.channel.as_list().share_changed(table_of(one.problem).mass))


def _several(values: object) -> list[object]:
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
