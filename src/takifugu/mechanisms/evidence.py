"""The promise for the population and not only for the sample: draws from the posterior that a channel must withstand.

What is said here is evidence, not proof (proofs/population.md): with N draws that all hold, N the least number with
cᴺ ≤ 1 − c, one may say with confidence c that at least a share c of the posterior is within the promise.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from takifugu._validation import integer
from takifugu.channels import Channel, FiniteChannel, GaussianNoise
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Finite, Law, Mixture, key
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.cone_margin import has_cones
from takifugu.mechanisms.confidence import (
    confident_noise_of_normals,
    confident_vector_noise,
    has_posterior,
    least_noise_of_draws,
    looked_at,
    no_model_draws,
    normal_draws,
    withstands_vectors,
)
from takifugu.mechanisms.draws import (
    APART,
    MOST_CONFIDENT,
    LatticeDraws,
    column_places,
    draws_needed,
    is_private,
    lattice_draws,
    points_of,
    posterior,
    secret_places,
    turned,
    value_places,
)
from takifugu.mechanisms.least_noise import least_size_between
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.mechanisms.optimal.lower_bound import to_state
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.posterior_margin import (
    SMALL,
    Margin,
    Wish,
    by_bounds,
    by_caution,
    by_cones,
    by_radius,
    confident_channel,
    listed,
    withstands_draws,
)
from takifugu.mechanisms.shaped import Shaped
from takifugu.problems import MEAN_BY, OF_GROUPS, Belief, Guarantee, Pairs, Problem, RenyiDivergence

_ROOM = 1e-9  # of the budget: what rounding may do to a loss that is only looked at
_BOTH = 128  # values, up to which a radius is tried beside cones: where rows are few it may cost less
_MOST_TRIES, _MOST_TURNS, _HALVINGS = 64, 64, 5  # whose seeds may follow from one; the least that a turn asks for


@dataclass(frozen=True)
class Confidence:
    """Draws from the posterior of the priors that a channel was seen to withstand, and how to draw them again.

    `without` is the error that the promise for the sample alone would have cost.
    """

    kind: ClassVar[str] = "confidence"

    level: float
    draws: int
    seed: int
    without: float

    @property
    def sentence(self) -> str:
        """What is said with this, and what is not."""
        share = f"{100 * self.level:g} %"
        # Those of tries and turns that begin at 0, which nobody chose, are such multiples.
        # The k-th try has draws for k halvings, a turn for more: whoever begins elsewhere has too few, and chose.
        number, rest = divmod(self.seed, APART)
        turn, tries = divmod(number, _MOST_TRIES)
        given = rest == 0 and turn < _MOST_TURNS
        given = given and self.draws >= draws_needed(self.level, halvings=tries + _HALVINGS * (turn > 0))
        chosen = "" if given else "; this seed was chosen, and is taken for the only one that was tried"
        return (
            f"with {share} confidence over {self.draws} draws (seed {self.seed}), the guarantee holds with a credible "
            f"content of at least {share}: Monte Carlo evidence, not a proof{chosen}"
        )

    def holds(self, problem: Problem, channel: Channel, asked: Guarantee) -> bool:
        """Draw again, and see whether the channel keeps the promise for every draw."""
        if channel.publishes == "values":
            return withstands_draws(problem, channel.as_list(), asked, draws=self.draws, seed=self.seed)
        if channel.publishes == "vector" and has_posterior(problem):
            return withstands_vectors(problem, channel.as_vector(), asked, draws=self.draws, seed=self.seed)
        if channel.publishes != "number":
            raise InputError(f"draws are not known for a {type(channel).__name__}")
        if _is_of_normals(problem) or not _is_on_grids(channel, asked):
            return all(
                channel.loss(p, q, part.divergence) <= part.budget * (1 + _ROOM)
                for p, q in drawn_laws(problem, self.draws, self.seed)
                for part in asked.parts
            )
        theta = channel.as_noise().size
        drawn = lattice_draws(posterior(problem), problem.pairs, self.draws, self.seed)
        losses = looked_at(points_of(problem), drawn, alpha=asked.alpha, epsilon=asked.epsilon, theta=theta)
        return bool((losses <= asked.epsilon * (1 + 1e-6)).all())


@dataclass
class Shared:
    """What calibrations of one problem at several orders and budgets need not do twice.

    Of noise the draws are the same for all; and since the least noise grows with the order and falls with the budget,
    what one needed is the least that a stricter one can need. Channels share nothing: their draws take a thousandth of
    a sweep's time, and a margin taken over from another budget would make it another channel than `calibrate` finds.
    """

    _drawn: dict[tuple[float, int, int], LatticeDraws] = field(default_factory=dict)
    _needed: list[tuple[float, float, float]] = field(default_factory=list)

    def draws(self, problem: Problem, level: float, seed: int, halvings: int = 0) -> LatticeDraws:
        """The draws of a level, made once."""
        key = (level, seed, halvings)
        if key not in self._drawn:
            needed = draws_needed(level, halvings=halvings)
            self._drawn[key] = lattice_draws(posterior(problem), problem.pairs, needed, seed)
        return self._drawn[key]

    def floor(self, asked: Guarantee) -> float:
        """A θ that this promise needs at the least."""
        looser = (theta for a, e, theta in self._needed if a <= asked.alpha and e >= asked.epsilon)
        return max(looser, default=0.0)

    def remember(self, asked: Guarantee, theta: float) -> None:
        """Keep what a promise needed."""
        self._needed.append((asked.alpha, asked.epsilon, theta))


def _is_on_grids(channel: Channel, asked: Guarantee) -> bool:
    """Whether the draws of a lattice are looked at all at once: through Gaussian noise, at one order."""
    of = asked.parts[0].divergence
    return channel.kind == GaussianNoise.kind and len(asked.parts) == 1 and type(of) is RenyiDivergence


def drawn_laws(problem: Problem, draws: int, seed: int) -> Iterator[tuple[Mixture, Mixture]]:
    """Every pair of laws, both ways, under every draw and belief; on a lattice as they are, too."""
    if _is_of_normals(problem):
        for drawn in normal_draws(problem.beliefs, problem.pairs, draws, seed):
            for a, b in problem.pairs.directed():
                yield from zip(drawn[a], drawn[b], strict=True)
        return
    points, found = points_of(problem), lattice_draws(posterior(problem), problem.pairs, draws, seed)
    laws = [Mixture.empirical(points, law) for law in found.laws]
    for first, second in zip(found.first, found.second, strict=True):
        yield laws[first], laws[second]


def _is_of_normals(problem: Problem) -> bool:
    """Whether the answer is one number about a group, whose posterior is that of a normal's parameters."""
    answer = problem.answer
    if answer is None or answer.query not in OF_GROUPS or len(answer.columns) > 1:
        return False
    if answer.query != "mean" and any(set(belief.drawn) < set(belief) for belief in problem.beliefs):
        raise no_model_draws(answer)
    return True


@dataclass(frozen=True)
class Sureness:
    """How sure the guarantee is to hold for the population, and by which draws that is judged.

    Whoever chooses among 2ʰ channels, each with draws of its own, asks for h `halvings`: each then passes by chance so
    much more rarely that the confidence holds for the one that is chosen. Calibrations may share what they draw.
    """

    level: float
    seed: int
    halvings: int = 0
    shared: Shared | None = None


def confident(
    rule: Mechanism, problem: Problem, asked: Guarantee, sure: Sureness, *, found: Found, without: float
) -> tuple[Found, Confidence]:
    """A channel for the centre and every draw of the posterior, no better than what was found for the sample."""
    level, seed, halvings = sure.level, integer("seed", sure.seed, least=0), sure.halvings
    if found.channel.publishes == "number" and _is_on_grids(found.channel, asked):
        least = found.channel.as_noise().size
        judged: dict[str, Any] = {"level": level, "seed": seed, "halvings": halvings}
        theta = _confident_noise(problem, asked, floor=least, shared=sure.shared or Shared(), **judged)
        # The noise is one number on which every loss depends monotonically: the draws that set it may judge it.
        made = Found(GaussianNoise(theta), found.place if theta == least else None)
        return made, Confidence(level, draws_needed(level, halvings=halvings), seed, without)
    if found.channel.publishes == "vector" and isinstance(rule, Shaped) and has_posterior(problem):
        draws = draws_needed(level, halvings=halvings)
        noise = confident_vector_noise(rule, problem, asked, draws=draws, seed=seed, found=found.channel.as_vector())
        return Found(noise), Confidence(level, draws, seed, without)
    if found.channel.publishes == "number":
        draws = draws_needed(level, halvings=halvings)
        added = found.channel.as_noise()
        size = added.size
        for p, q in drawn_laws(problem, draws, seed):
            for part in asked.parts:
                size = least_size_between(p, q, part, added, size)
        if math.isinf(size):
            raise CalibrationError("no finite noise is enough for every draw: a secret rests on too few rows")
        place = found.place if size == added.size else None
        return Found(added.resized(size), place), Confidence(level, draws, seed, without)
    if problem.answer is not None and problem.answer.query == MEAN_BY:
        raise MechanismError(
            "confidence is not for one mean for each group, whose means rest on rows of their own: leave it out, or "
            "publish the means of whole columns"
        )
    if not isinstance(rule, Optimal):
        raise MechanismError(
            "confidence is for 'exact' and 'optimal', and for means and predictions of 'shaped'; not for "
            f"{rule.name!r} here"
        )

    return _confident_channel(
        rule.settled(problem), problem, asked, found, Confidence(level, 0, seed, without), halvings
    )


def _confident_channel(
    rule: Optimal, problem: Problem, asked: Guarantee, found: Found, evidence: Confidence, halvings: int
) -> tuple[Found, Confidence]:
    """The same for a list; searched for in the order that secrets and values have, whatever they are named in."""
    given, wanted = problem, rule
    if rule.solver == "program" and (_is_small(problem) or has_cones(rule, problem, asked)):
        problem = in_order(given)
    if problem is not given:
        rule = rule_in_order(wanted, given, problem)
        found = rule.find(problem, asked)
    wishes = _wishes(rule, problem, asked, found, evidence.level)
    if rule.solver == "program" and _is_small(problem):
        halvings += 1  # also for who keeps the shares: what passes there must pass here
    # Private counts hide the sample as well as the population: the draws of both are to hold, together this often.
    each = min((1 + evidence.level) / 2, MOST_CONFIDENT) if is_private(problem) else evidence.level
    made, draws, apart = confident_channel(problem, asked, wishes, level=each, seed=evidence.seed, halvings=halvings)
    if problem is not given:
        made = _put_back(made, wanted, given, problem, asked)
    return made, replace(evidence, draws=draws, seed=apart)


def _put_back(made: Found, rule: Optimal, problem: Problem, ordered: Problem, asked: Guarantee) -> Found:
    """A channel for secrets and values in their order as one in the order that they were given in."""
    channel, options = put_back(listed(made).as_table(), problem, ordered), dict(made.options or rule.options)
    options |= {"loss": rule.loss, "weights": rule.weights, "forbidden": rule.forbidden}
    if not np.any(options["radius"]):
        return Found(channel, options=options)
    if isinstance(options["radius"], tuple):
        options["radius"] = radius_put_back(options["radius"], problem)
    # What proves that none is better is about rows and columns in their places: it is found anew.
    proved = Optimal(**options).find(problem, asked)
    bound = None if proved.lower_bound is None else to_state(proved.lower_bound, rule.cost(problem, channel))
    return Found(channel, None, bound, proved.optimality, options)


def _is_small(problem: Problem) -> bool:
    """Whether programs take so little time that a stricter wish is gone through first, and every margin tried."""
    return len(table_of(problem).values) <= SMALL


def _wishes(rule: Optimal, problem: Problem, asked: Guarantee, found: Found, level: float) -> list[Callable[[], Wish]]:
    """What is looked for: before the rule's own wish a stricter one, so that who asks for less never pays more."""

    def cost(one: Found) -> float:
        return rule.cost(problem, listed(one))

    if rule.solver == "columns":
        caution = by_caution(rule, problem, asked)
        if not has_cones(rule, problem, asked):
            return [lambda: Wish(found, [caution], cost)]
        cones = by_cones(rule, problem, asked)
        # Of more than two laws cones are to few outputs: where rows are many, a linear margin to more costs less.
        is_both = _is_small(problem) or len(table_of(problem).laws) > 2
        both = [cones, caution] if is_both else [replace(cones, instead=caution)]
        return [lambda: Wish(found, both, cost)]

    def margins(kept: Optimal) -> list[Margin]:
        widest = [by_radius(kept, problem, asked)]
        if has_cones(kept, problem, asked):
            cones = by_cones(kept, problem, asked)
            both = len(table_of(problem).values) <= _BOTH
            widest = [*widest, cones] if both else [replace(cones, instead=widest[0])]
        return [*widest, *by_bounds(kept, problem, asked, level=level)]

    def as_asked(one: Found) -> Found:
        """What keeps more than was asked for: that none is better is another statement, and not made."""
        return Found(one.channel, one.place, options=(one.options or rule.options) | {"keep": rule.keep})

    def stricter() -> Wish:
        strict = replace(rule, keep="marginal")
        plain = as_asked(strict.find(problem, asked))
        return Wish(plain, [replace(one, at=_then(as_asked, one.at)) for one in margins(strict)], cost)

    def own() -> Wish:
        return Wish(found, margins(rule), cost)

    return [stricter, own] if rule.keep != "marginal" and _is_small(problem) else [own]


def _then(after: Callable[[Found], Found], at: Callable[[float], Found]) -> Callable[[float], Found]:
    return lambda factor: after(at(factor))


def _confident_noise(
    problem: Problem, asked: Guarantee, *, level: float, seed: int, halvings: int, floor: float, shared: Shared
) -> float:
    floor = max(floor, shared.floor(asked))
    if _is_of_normals(problem):
        found = confident_noise_of_normals(
            problem.beliefs,
            problem.pairs,
            alpha=asked.alpha,
            epsilon=asked.epsilon,
            confidence=level,
            halvings=halvings,
            seed=seed,
            floor=floor,
        ).theta
    else:
        drawn = shared.draws(problem, level, seed, halvings)
        points = points_of(problem)
        found, _ = least_noise_of_draws(points, drawn, alpha=asked.alpha, epsilon=asked.epsilon, floor=floor)
    shared.remember(asked, found)
    return found


# One order for secrets and values, so that what is drawn and what is searched for hang on neither.
#
# Two people who name the same secrets, values or columns in another order ask for the same channel. Draws are made by
# position, and of equally good channels a solver finds another one from another side, so both begin from an order of
# their own.


def in_order(problem: Problem) -> Problem:
    """The same problem of finite laws with its secrets, values and columns in their order; itself where they are."""
    secrets = problem.pairs.secrets
    names = secret_places(problem)
    beliefs = tuple(_ordered(problem, belief, [secrets[k] for k in names.tolist()]) for belief in problem.beliefs)
    again = all(one is other for one, other in zip(beliefs, problem.beliefs, strict=True))
    if again and (np.diff(names) > 0).all():
        return problem
    answer, columns = problem.answer, column_places(problem).tolist()
    if answer is not None and columns:
        lists = tuple(answer.lists[k] for k in columns) if answer.lists else answer.domain
        answer = replace(answer, columns=tuple(answer.columns[k] for k in columns), domain=lists)
    first, second = problem.pairs.directed_places()
    back, chosen = np.argsort(names), None
    if not problem.pairs.is_every:
        both = np.sort(np.stack([back[first], back[second]], axis=1), axis=1)
        chosen = [(secrets[names[i]], secrets[names[j]]) for i, j in np.unique(both, axis=0).tolist()]
    pairs = Pairs([secrets[k] for k in names.tolist()], chosen)
    return replace(problem, beliefs=beliefs, pairs=pairs, answer=answer)


def _ordered(problem: Problem, belief: Belief, secrets: Sequence[Hashable]) -> Belief:
    orders = {secret: value_places(problem, belief[secret].values) for secret in belief}
    is_in_order = all((np.diff(order) > 0).all() for order in [*orders.values(), column_places(problem)])
    if is_in_order and list(belief)[: len(secrets)] == list(secrets):
        return belief
    laws: dict[Hashable, Law] = {}
    counted = dict(belief.counted)
    for secret in (*secrets, *(one for one in belief if one not in secrets)):
        law, order = belief[secret], orders[secret]
        values = [turned(problem, law.values[k]) for k in order.tolist()]
        laws[secret] = Finite(values, np.asarray(law.weights)[order])
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
    """The same wishes for `ordered`: of losses and moves by values, of weights by columns, of a radius by laws."""
    loss, radius, weights = rule.loss, rule.radius, rule.weights
    if isinstance(loss, tuple):
        where = _found(ordered, problem)
        loss = tuple(tuple(loss[i][j] for j in where) for i in where)
    if isinstance(radius, tuple):
        names = secret_places(problem)
        radius = tuple(rule.reach(problem).reshape(-1, len(names))[:, names].ravel().tolist())
    columns = column_places(problem).tolist()
    if weights is not None and len(weights) == len(columns):
        weights = tuple(weights[k] for k in columns)
    moves = tuple((turned(problem, one), turned(problem, other)) for one, other in rule.forbidden)
    return replace(rule, loss=loss, radius=radius, weights=weights, forbidden=moves)


def radius_put_back(radius: Sequence[float], problem: Problem) -> tuple[float, ...]:
    """A radius for each law of the ordered problem, in the order of the problem itself."""
    back = np.argsort(secret_places(problem))
    return tuple(np.asarray(radius, dtype=np.float64).reshape(-1, len(back))[:, back].ravel().tolist())


def put_back(channel: FiniteChannel, problem: Problem, ordered: Problem) -> FiniteChannel:
    """A channel between the values of `ordered`, with its inputs and outputs in the order of the problem itself."""
    where = _found(problem, ordered)
    values = table_of(problem).values
    return FiniteChannel(values, values, channel.counts[np.ix_(where, where)])


def _found(wanted: Problem, among: Problem) -> list[int]:
    """Where the values of one problem stand among those of the other."""
    place = {key(turned(among, value)): where for where, value in enumerate(table_of(among).values)}
    return [place[key(turned(wanted, value))] for value in table_of(wanted).values]
