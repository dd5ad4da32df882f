"""From beliefs and a promise to the channel that keeps it."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu import _validation as check
from takifugu._display import Plotted
from takifugu.channels.base import Channel
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.vector import GaussianVector
from takifugu.documents import channels as channel_form
from takifugu.documents import fields as form
from takifugu.documents import problems as documents
from takifugu.documents import strict_json
from takifugu.errors import CalibrationError, InputError, NoAnswerError
from takifugu.laws import Law
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.laws.vector import VectorMixture
from takifugu.mechanisms import get_mechanism, is_ours
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.assurance import Band, assured
from takifugu.mechanisms.base import Additive, Found, Mechanism, root_above
from takifugu.mechanisms.binding import is_enough, proved_noise
from takifugu.mechanisms.confidence import draws_needed
from takifugu.mechanisms.evidence import Confidence, confident
from takifugu.mechanisms.losses import Losses
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.optimal.mechanism import Optimal, rule_of, table_of
from takifugu.mechanisms.shaped.mechanism import Shaped, is_proved
from takifugu.mechanisms.worst import worst
from takifugu.problems.answer import Answer
from takifugu.problems.beliefs import Belief
from takifugu.problems.findings import Finding
from takifugu.problems.guarantee import Guarantee, Renyi, asked_for
from takifugu.problems.pairs import Pair, Pairs
from takifugu.problems.problem import Place, Problem
from takifugu.queries.priors import require_rows

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "takifugu-calibration"
VERSION = 2  # files of version 0.1 had no format and named no answer: they are refused

_LISTED_LOSSES = 10_000  # directed pairs up to which `to_dict` lists every loss
_ROOM = 1e-9  # of the budget: what a second look at a calibration may find more than the first
_CHECKED_PAIRS = 100  # directed pairs whose rows are looked at: more would take longer than the calibration
_DIGITS = 1e-9  # to which a figure for readers must agree: other machines add up in another order

# The mechanism that each kind of law has by default, and the channel that its answers are published through.
_KINDS: dict[type, tuple[str, type]] = {
    Mixture: ("exact", GaussianNoise),
    Finite: (Optimal.name, FiniteChannel),
    VectorMixture: (Shaped.name, GaussianVector),
}

Priors = Mapping[Any, Law] | Sequence[Mapping[Any, Law]] | Problem


@dataclass(frozen=True)
class Calibration(Plotted):
    """A channel that keeps a promise for a problem, and how it was found.

    `place` is the belief and pair closest to the limit. `theta` is the standard deviation of the noise, where the
    channel is Gaussian noise. `error` is what a published value is expected to lose; where `lower_bound` is a number,
    no channel between these values that keeps the promise loses less, and `optimality` holds what proves it.
    """

    problem: Problem = field(repr=False)
    guarantee: Guarantee
    channel: Channel
    mechanism: str
    place: Place
    options: tuple[tuple[str, Any], ...] = ()
    lower_bound: float | None = None
    optimality: Any = field(default=None, repr=False, compare=False)
    evidence: Confidence | Band | None = None

    @property
    def answer(self) -> Answer | None:
        """What may be published through it; None for priors made by hand, which name no answer."""
        return self.problem.answer

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What there is to know about the data behind the priors."""
        return self.problem.findings

    @property
    def theta(self) -> float:
        """The standard deviation of the Gaussian noise; an `AttributeError` for a channel that adds none."""
        if not isinstance(self.channel, GaussianNoise):
            raise AttributeError(f"a {type(self.channel).__name__} has no theta: see .channel and .error")
        return self.channel.theta

    @property
    def variance(self) -> float:
        """θ², the mean square error that the noise costs a published value."""
        return self.theta * self.theta

    @property
    def error(self) -> float:
        """The expected loss of a published value: for Gaussian noise its square error."""
        return _error(self._price, self.problem, self.channel)

    @property
    def _rule(self) -> Optimal:
        """The options of a finite channel: what was to be lost least, and for which priors."""
        return rule_of(self.mechanism, dict(self.options))

    @property
    def _price(self) -> Mechanism:
        """The rule that knows what a published value loses."""
        return Shaped(**dict(self.options)) if self.mechanism == Shaped.name else self._rule

    @property
    def alpha(self) -> float:
        """The Rényi order of the promise."""
        return self.guarantee.alpha

    @property
    def epsilon(self) -> float:
        """The budget of the promise."""
        return self.guarantee.epsilon

    @property
    def pairs(self) -> Pairs:
        """The pairs of secrets that are hidden from one another."""
        return self.problem.pairs

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """What the adversary may believe."""
        return self.problem.beliefs

    @property
    def priors(self) -> Belief | tuple[Belief, ...]:
        """The priors as they were given: one mapping, or several beliefs."""
        return self.beliefs[0] if len(self.beliefs) == 1 else self.beliefs

    @property
    def worst_pair(self) -> Pair:
        """The pair closest to the limit, in its worse direction."""
        return self.problem.names(self.place)

    @property
    def losses(self) -> Losses:
        """The exact privacy loss of each directed pair through the channel, computed when asked for."""
        return Losses(self.problem, self.channel, self.alpha)

    @property
    def loss(self) -> float:
        """The loss at the place closest to the limit."""
        return self.channel.loss(*self.problem.ends(self.place), alpha=self.alpha)

    def __str__(self) -> str:
        """What was found, in sentences."""
        who, where, loss = self._protected, self.problem.words(self.place), f"{self.loss:.6g}"
        if isinstance(self.channel, FiniteChannel):
            changed = self.channel.share_changed(table_of(self.problem).mass)
            return (
                f"A channel between {len(self.channel.inputs)} values hides {who} within {self.guarantee} "
                f"({self.mechanism}): {changed:.3g} of the values are published as another. The worst pair is {where}, "
                f"with a loss of {loss}."
            )
        if isinstance(self.channel, GaussianVector):
            stds = ", ".join(f"{x:.4g}" for x in np.sqrt(np.diagonal(self.channel.covariance)))
            return (
                f"Gaussian noise on vectors of {self.channel.dimension} numbers, with standard deviations {stds}, "
                f"hides {who} within {self.guarantee} ({self.mechanism}). The worst pair is {where}, with a "
                f"loss of {loss}."
            )
        if self.theta == 0:
            return (
                f"No noise is needed: without any, {who} is within {self.guarantee}. The closest to the limit is "
                f"{where}, with a loss of {loss}."
            )
        promise = (
            f"hides {who}"
            if isinstance(self.guarantee, Renyi)
            else f"gives the weaker, approximate promise of {self.mechanism!r} to {who}"
        )
        foreign = "" if is_ours(self.mechanism) else ", not one of Takifugu's own: the exact divergence was checked"
        return (
            f"Gaussian noise of standard deviation θ = {self.theta:.6g} {promise} within {self.guarantee} "
            f"({self.mechanism}{foreign}). The worst pair is {where}, with a loss of {loss}."
        )

    @property
    def _protected(self) -> str:
        if self.pairs.is_every:
            return "every pair of secrets"
        return "the chosen pair of secrets" if len(self.pairs) == 1 else f"each of the {len(self.pairs):,} chosen pairs"

    def meets_budget(self) -> bool:
        """Whether the channel is seen, once more, to keep the promise for every pair and belief.

        A release asks this, since a calibration may come from a file that somebody has changed. The place closest to
        the limit is decided in ball arithmetic, the others in floats; for a proof of all see `takifugu.certify`.
        """
        if self.evidence is not None and not (
            isinstance(self.guarantee, Renyi) and self.evidence.holds(self.problem, self.channel, self.guarantee)
        ):
            return False
        if isinstance(self.channel, FiniteChannel):
            return isinstance(self.guarantee, Renyi) and self._rule.is_kept(self.problem, self.guarantee, self.channel)
        if isinstance(self.channel, GaussianVector):
            return is_proved(self.problem, self.guarantee, self.channel)
        return self._noise_is_enough()

    def _noise_is_enough(self) -> bool:
        if isinstance(self.guarantee, Renyi) and self.guarantee.most_odds is not None:
            return False  # the tails of a bell bound no odds
        rule: Mechanism = Exact()
        if not isinstance(self.guarantee, Renyi):
            rule = get_mechanism(self.mechanism, dict(self.options))
        if not isinstance(rule, Additive):
            raise InputError(f"{self.mechanism!r} promises less than Rényi Pufferfish Privacy, which cannot be checked")
        here = self.variance * (1 + 2**-50)
        needed = rule.needed(self.problem, alpha=self.alpha, epsilon=self.epsilon * (1 + _ROOM), floor=here)
        if needed.variance != here:
            return False
        if not isinstance(self.guarantee, Renyi):
            return True
        closest = worst(self.problem, self.channel, alpha=self.alpha).place
        return is_enough(self.problem, closest, alpha=self.alpha, epsilon=self.epsilon, theta=self.theta)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON; no float loses a bit. It holds the priors: keep it private.

        Losses are listed up to 10,000 directed pairs; beyond that only the worst is.
        """
        listed = self.losses if len(self.losses) <= _LISTED_LOSSES else [self.worst_pair]
        # What is added here is for readers: it is not read back, except to see that nobody changed a part of it.
        return self.essentials() | {
            "theta": self._plain("theta"),
            "variance": self._plain("variance"),
            "error": self.error,
            "alpha": None if math.isinf(self.alpha) else self.alpha,
            "epsilon": self.epsilon,
            "worst_pair": [form.plain(secret) for secret in self.worst_pair],
            "pairs": None if self.pairs.is_every else [list(map(form.plain, pair)) for pair in self.pairs],
            "losses": [{"pair": list(map(form.plain, pair)), "loss": self.losses[pair]} for pair in listed],
        }

    def essentials(self) -> dict[str, Any]:
        """What everything else follows from: nothing computed anew, so the same on every machine, to the last bit."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "mechanism": self.mechanism,
            "options": {name: _json(value) for name, value in self.options},
            "guarantee": documents.guarantee_to(self.guarantee),
            "channel": channel_form.channel_to(self.channel),
            "problem": documents.problem_to(self.problem),
            "place": list(self.place),
            "evidence": _evidence_to(self.evidence),
            "lower_bound": self.lower_bound,
            "optimality": None if self.optimality is None else self.optimality.to_json(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> "Calibration":
        """What `to_dict` wrote, validated again. Nothing is proved by it: see `certify`."""
        if isinstance(data, dict) and "format" not in data and "theta" in data and "beliefs" in data:
            raise InputError(
                "this is not a calibration of this version: it was made by version 0.1, which did not say what a "
                "calibration is for. Calibrate again"
            )
        form.header(data, FORMAT, (VERSION,), "a calibration as to_dict writes it")
        content = form.fields(data, (*_ESSENTIAL, *_FIGURES), "the calibration")
        found = cls.from_essentials({key: content[key] for key in _ESSENTIAL})
        for key in ("theta", "variance", "error", "alpha", "epsilon"):
            if not _agree(content[key], found._plain(key), _DIGITS if key == "error" else 0.0):
                raise InputError(f"{key!r} is not that of the calibration it stands in: the file was changed")
        if content["worst_pair"] != [form.plain(secret) for secret in found.worst_pair]:
            raise InputError("'worst_pair' is not that of the calibration it stands in: the file was changed")
        chosen = None if found.pairs.is_every else [list(map(form.plain, pair)) for pair in found.pairs]
        if content["pairs"] != chosen:
            raise InputError("'pairs' is not that of the calibration it stands in: the file was changed")
        return found

    @classmethod
    def from_essentials(cls, data: Any) -> "Calibration":
        """What `essentials` gave, validated again."""
        form.header(data, FORMAT, (VERSION,), "a calibration")
        content = form.fields(data, _ESSENTIAL, "the calibration")
        problem = documents.problem_from(content["problem"])
        guarantee = documents.guarantee_from(content["guarantee"])
        name = form.mechanism(content["mechanism"])
        options = _options(name, content["options"], guarantee)
        found = cls(
            problem=problem,
            guarantee=guarantee,
            channel=channel_form.channel_from(content["channel"]),
            mechanism=name,
            place=_place(content["place"], problem),
            options=options,
            evidence=_evidence_from(content["evidence"]),
            lower_bound=_optional(content["lower_bound"], "'lower_bound'"),
            optimality=None if content["optimality"] is None else Duals.from_json(content["optimality"]),
        )
        require_fitting(problem, found.channel)
        return found

    def _plain(self, key: str) -> float | None:
        """A figure for a file; None where there is none, and for what is infinite."""
        number = getattr(self, key, None)
        return None if number is None or math.isinf(number) else float(number)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `load`, `takifugu certify` and `takifugu release` take. It holds the priors."""
        strict_json.write(self.to_dict(), path, private=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Calibration":
        """Read what `save` wrote."""
        data = strict_json.read(path, most_bytes=1 << 28)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r} cannot be used: {error}") from None


_ESSENTIAL = (
    *("format", "version", "mechanism", "options", "guarantee", "channel", "problem", "place"),
    *("evidence", "lower_bound", "optimality"),
)
_FIGURES = ("theta", "variance", "error", "alpha", "epsilon", "worst_pair", "pairs", "losses")


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
    **options: Any,
) -> Calibration:
    """The channel that costs least and keeps every pair of secrets within the promise, both ways.

    Args:
        priors: what `fit_priors` returns; or the law of the answer for each secret, as {secret: Mixture}; or a list
            of such mappings, one per belief the adversary may hold, of which the worst counts.
        alpha: the Rényi order, above 1.
        epsilon: the budget in nats, above 0.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        mechanism: by default "optimal" for Finite laws, "exact" for a Mixture and "shaped" for a VectorMixture; see
            `list_mechanisms`. Also an object with the interface of `takifugu.mechanisms.Mechanism`.
        odds: no published value may change the odds of any pair by more than this factor: alone, or beside `alpha`
            and `epsilon`. Gaussian noise cannot promise it.
        confidence: such as 0.95. The promise is then seen to hold for the centre and for all of a number of draws from
            the posterior of the population's priors (59 for 0.95), not only for the sample's.
        assurance: "band" proves the promise for the population, with probability `confidence` (0.95 by default) over
            independent rows and no model: more noise, and no evidence but a proof.
        seed: of those draws.
        **options: options of the mechanism, such as `delta` of "wasserstein-approx".

    >>> from takifugu import Mixture
    >>> result = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> round(result.variance, 6)
    3.0
    """
    asked = asked_for(alpha=alpha, epsilon=epsilon, odds=odds)
    problem = Problem.of(priors, pairs)
    if mechanism in (None, Optimal.name) and getattr(priors, "loss", None) is not None:
        options.setdefault("loss", priors.loss)  # type: ignore[union-attr]
    rule = get_mechanism(_default(problem) if mechanism is None else mechanism, options)
    require_rows(priors, confidence=0.95 if assurance else confidence)
    found = _checked(rule, rule.find(problem, asked), problem, asked)
    evidence: Confidence | Band | None = None
    if assurance not in (None, "band"):
        raise InputError(f"assurance must be None or 'band', got {assurance!r}")
    if assurance == "band":
        level, without = 0.95 if confidence is None else confidence, _error(rule, problem, found.channel)
        found, evidence = assured(rule, problem, asked, level=level, found=found, without=without)
    elif confidence is not None:
        draws_needed(confidence)  # before the work, whether it is a level at all
        without = _error(rule, problem, found.channel)
        found, evidence = confident(
            rule, problem, asked, level=float(confidence), seed=seed, found=found, without=without
        )
    return Calibration(
        problem=replace(problem, findings=(*problem.findings, *_about_rows(priors, problem, found.channel, asked))),
        guarantee=rule.promise(asked),
        channel=found.channel,
        mechanism=rule.name,
        place=found.place or worst(problem, found.channel, alpha=asked.alpha).place,
        options=tuple(sorted((found.options or rule.options).items())),
        lower_bound=found.lower_bound,
        optimality=found.optimality,
        evidence=evidence,
    )


def _about_rows(priors: Any, problem: Problem, channel: Channel, asked: Renyi) -> Sequence[Finding]:
    """What the rows themselves say about noise that is enough for the priors fitted to them: the worst pair of all."""
    if not isinstance(channel, GaussianVector) or not getattr(priors, "empirical", None):
        return []
    from takifugu.queries.vector import check_rows

    pairs = list(islice(problem.pairs.directed(), _CHECKED_PAIRS))
    found = check_rows(priors, alpha=asked.alpha, epsilon=asked.epsilon, covariance=channel.covariance, pairs=pairs)
    return sorted(found, key=lambda one: -one.loss)[:1]


def _error(rule: Mechanism, problem: Problem, channel: Channel) -> float:
    """The expected loss of a published value."""
    if isinstance(channel, FiniteChannel):
        return (rule if isinstance(rule, Optimal) else Optimal(keep=None)).cost(problem, channel)
    if isinstance(channel, GaussianVector):
        return (rule if isinstance(rule, Shaped) else Shaped()).cost(problem, channel)
    return channel.variance if isinstance(channel, GaussianNoise) else math.nan


def _default(problem: Problem) -> str:
    return _KINDS[type(problem.laws(0)[0])][0]


def require_fitting(problem: Problem, channel: Channel) -> None:
    """Refuse a channel that is not of the kind that the laws of a problem go through."""
    law = problem.laws(0)[0]
    if not isinstance(channel, _KINDS[type(law)][1]):
        raise InputError("the channel is not of the kind that the laws need")
    if isinstance(channel, GaussianVector) and channel.dimension != law.dimension:
        raise InputError(f"the channel is for vectors of {channel.dimension} numbers, the laws for {law.dimension}")


def _agree(stated: Any, found: float | None, digits: float) -> bool:
    if stated is None or found is None:
        return stated is found
    number = form.number(stated, "a figure for readers")
    return abs(number - found) <= digits * abs(found)


def _checked(rule: Mechanism, found: Found, problem: Problem, asked: Renyi) -> Found:
    """What a rule found, with the noise that the exact divergence asks for where that is more.

    The bound promises it; the exact divergence makes sure, rounding and other people's code included.
    """
    if not isinstance(found, Found):
        raise CalibrationError(f"{rule.name!r} gave a {type(found).__name__} where a Found with a channel is needed")
    promised = rule.promise(asked)
    if isinstance(promised, Renyi):
        asked = promised  # what the calibration will say is what is checked
    law = problem.laws(0)[0]
    if type(rule) in (Optimal, Shaped):  # these prove what they return; a subclass may have changed that
        return found
    kept = None
    if isinstance(found.channel, FiniteChannel) and isinstance(law, Finite):
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
        return found
    channel, place = found.channel, found.place
    if type(rule) is not Exact:
        needed = Exact().needed(problem, alpha=asked.alpha, epsilon=asked.epsilon, floor=channel.variance)
        place = needed.place  # a bound knows which pair it asks most for, not which loses most
        if place is not None:
            channel = GaussianNoise(root_above(needed.variance))
    if place is None:
        place = worst(problem, channel, alpha=asked.alpha).place
    theta = proved_noise(problem, place, alpha=asked.alpha, epsilon=asked.epsilon, theta=channel.theta)
    return Found(GaussianNoise(theta), place)


def sweep(
    priors: Priors,
    *,
    alphas: Iterable[float],
    epsilons: Iterable[float],
    mechanisms: Iterable[str] = ("exact",),
    pairs: Iterable[Pair] | None = None,
) -> "pd.DataFrame":
    """Calibrate at every combination: a row each, with alpha, epsilon, mechanism, theta, variance and worst_pair.

    A mechanism that has no answer has an infinite theta in its row, and no worst pair. Where the channel is no noise on
    numbers there is no theta, and NaN stands in its place.

    >>> from takifugu import Mixture
    >>> table = sweep(
    ...     {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alphas=[2], epsilons=[0.5, 1]
    ... )
    >>> table.variance.round(6).tolist()
    [7.0, 3.0]
    """
    import pandas as pd

    if isinstance(mechanisms, str):
        mechanisms = (mechanisms,)
    problem = Problem.of(priors, None if pairs is None else list(pairs))
    orders, budgets = (
        [check.order(a) for a in _several(alphas)],
        [check.budget(e) for e in _several(epsilons)],
    )
    rows: list[tuple[Any, ...]] = []
    for name in mechanisms:
        for alpha in orders:
            for epsilon in budgets:
                try:
                    one = calibrate(problem, alpha=alpha, epsilon=epsilon, mechanism=name)
                    noise = (getattr(one, figure, math.nan) for figure in ("theta", "variance"))
                    rows.append((alpha, epsilon, name, *noise, one.worst_pair))
                except NoAnswerError:
                    rows.append((alpha, epsilon, name, math.inf, math.inf, None))
    return pd.DataFrame(rows, columns=["alpha", "epsilon", "mechanism", "theta", "variance", "worst_pair"])


def _json(value: Any) -> Any:
    """An option as JSON has it: lists for tuples."""
    if isinstance(value, tuple):
        return [_json(part) for part in value]
    value = form.plain(value)
    if value is not None and not isinstance(value, str | int | float | bool):
        raise InputError(f"an option of the mechanism is a {type(value).__name__}, which has no form in a file")
    return value


def _several(values: Any) -> list[Any]:
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def _options(name: str, value: Any, guarantee: Guarantee) -> tuple[tuple[str, Any], ...]:
    """The options in a file, which must be those that the mechanism would have in force."""
    if not isinstance(value, dict):
        raise InputError("'options' must be an object")
    if not is_ours(name):
        if not isinstance(guarantee, Renyi):
            raise InputError(f"{name!r} is not known here, and a weaker promise cannot be checked without it")
        return tuple(sorted(value.items()))
    rule = get_mechanism(name, value)
    promised = rule.promise(Renyi(guarantee.alpha, guarantee.epsilon, getattr(guarantee, "odds", None)))
    if promised != guarantee:
        raise InputError(f"{name!r} promises {promised}, and not {guarantee}")
    return tuple(sorted(rule.options.items()))


def _evidence_to(evidence: Confidence | Band | None) -> Any:
    if evidence is None:
        return None
    return {"kind": "band" if isinstance(evidence, Band) else "confidence", **asdict(evidence)}


def _evidence_from(value: Any) -> Confidence | Band | None:
    if value is None:
        return None
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind == "band":
        content = form.fields(value, ("kind", "level", "without"), "'evidence'")
        level = form.number(content["level"], "evidence.level", least=0.5)
        if level >= 1:
            raise InputError("evidence.level must be below 1")
        return Band(level, form.number(content["without"], "evidence.without", least=0))
    if kind != "confidence":
        raise InputError("evidence.kind must be 'confidence' or 'band'")
    content = form.fields(value, ("kind", "level", "draws", "seed", "without"), "'evidence'")
    level = form.number(content["level"], "evidence.level", above=0)
    draws = form.index(content["draws"], "evidence.draws", below=1_000_000)
    if draws < draws_needed(level):
        raise InputError(f"evidence.draws must be {draws_needed(level)} or more, as its level asks for")
    seed = form.index(content["seed"], "evidence.seed", below=1 << 62)
    return Confidence(level, draws, seed, form.number(content["without"], "evidence.without", least=0))


def _optional(value: Any, where: str) -> float | None:
    return None if value is None else form.number(value, where, least=0)


def _place(value: Any, problem: Problem) -> Place:
    belief, first, second = (
        form.index(k, "'place'", below=below)
        for k, below in zip(
            form.items(value, "'place'", least=3, most=3),
            (len(problem.beliefs), len(problem.pairs.secrets), len(problem.pairs.secrets)),
            strict=True,
        )
    )
    place = Place(belief, first, second)
    if problem.names(place) not in problem.pairs:
        raise InputError("'place' is about a pair that is not among the pairs")
    return place
