"""From beliefs and a promise to the channel that keeps it."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from takifugu import _validation as check
from takifugu.channels.base import Channel
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.documents import fields as form
from takifugu.documents import problems as documents
from takifugu.documents import strict_json
from takifugu.errors import CalibrationError, InputError, NoAnswerError
from takifugu.laws import Law
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms import get_mechanism, is_ours
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import Additive, Found, Mechanism, root_above
from takifugu.mechanisms.binding import is_enough, proved_noise
from takifugu.mechanisms.confidence import draws_needed
from takifugu.mechanisms.evidence import Confidence, confident
from takifugu.mechanisms.losses import Losses
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.optimal.mechanism import Optimal, table_of
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

Priors = Mapping[Any, Law] | Sequence[Mapping[Any, Law]] | Problem


@dataclass(frozen=True)
class Calibration:
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
    evidence: Confidence | None = None

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
        return _error(self._rule, self.problem, self.channel)

    @property
    def _rule(self) -> Optimal:
        """The options of a finite channel: what was to be lost least, and for which priors."""
        return Optimal(**dict(self.options)) if self.mechanism == Optimal.name else Optimal(keep=None)

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
        if isinstance(self.channel, FiniteChannel):
            return isinstance(self.guarantee, Renyi) and self._rule.is_kept(self.problem, self.guarantee, self.channel)
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
        return {
            "format": FORMAT,
            "version": VERSION,
            "mechanism": self.mechanism,
            "options": {name: _json(value) for name, value in self.options},
            "guarantee": documents.guarantee_to(self.guarantee),
            "channel": documents.channel_to(self.channel),
            "problem": documents.problem_to(self.problem),
            "place": list(self.place),
            "evidence": None if self.evidence is None else asdict(self.evidence),
            "lower_bound": self.lower_bound,
            "optimality": None if self.optimality is None else self.optimality.to_json(),
            # What follows is for readers: it is not read back, except to see that nobody changed a part of it.
            "theta": self._plain("theta"),
            "variance": self._plain("variance"),
            "error": self.error,
            "alpha": None if math.isinf(self.alpha) else self.alpha,
            "epsilon": self.epsilon,
            "worst_pair": [form.plain(secret) for secret in self.worst_pair],
            "pairs": None if self.pairs.is_every else [list(map(form.plain, pair)) for pair in self.pairs],
            "losses": [{"pair": list(map(form.plain, pair)), "loss": self.losses[pair]} for pair in listed],
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
        content = form.fields(data, _KEYS, "the calibration")
        problem = documents.problem_from(content["problem"])
        guarantee = documents.guarantee_from(content["guarantee"])
        name = form.mechanism(content["mechanism"])
        options = _options(name, content["options"], guarantee)
        found = cls(
            problem=problem,
            guarantee=guarantee,
            channel=documents.channel_from(content["channel"]),
            mechanism=name,
            place=_place(content["place"], problem),
            options=options,
            evidence=_evidence(content["evidence"]),
            lower_bound=_optional(content["lower_bound"], "'lower_bound'"),
            optimality=None if content["optimality"] is None else Duals.from_json(content["optimality"]),
        )
        if isinstance(found.channel, GaussianNoise) != isinstance(problem.laws(0)[0], Mixture):
            raise InputError("the channel is not of the kind that the laws need")
        found._require_figures(content)
        return found

    def _require_figures(self, content: dict[str, Any]) -> None:
        """Refuse a file whose figures for readers are not those of what stands in it."""
        every = None if self.pairs.is_every else [list(map(form.plain, pair)) for pair in self.pairs]
        right = {key: content[key] == self._plain(key) for key in ("theta", "variance", "alpha", "epsilon")}
        error = self._plain("error")  # a sum, whose last bit depends on the machine
        given = None if content["error"] is None else form.number(content["error"], "'error'", least=0)
        right["error"] = error == given or (
            None not in (error, given) and math.isclose(error, given, rel_tol=1e-9, abs_tol=1e-300)  # type: ignore[arg-type]
        )
        right["worst_pair"] = content["worst_pair"] == [form.plain(secret) for secret in self.worst_pair]
        right["pairs"] = content["pairs"] == every
        for key, is_right in right.items():
            if not is_right:
                raise InputError(f"{key!r} is not that of the calibration it stands in: the file was changed")

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


FOR_READERS = ("theta", "variance", "error", "alpha", "epsilon", "worst_pair", "pairs", "losses")
_KEYS = (
    *("format", "version", "mechanism", "options", "guarantee", "channel", "problem", "place"),
    *("evidence", "lower_bound", "optimality"),
    *FOR_READERS,
)


def calibrate(
    priors: Priors,
    *,
    alpha: float | None = None,
    epsilon: float | None = None,
    pairs: Iterable[Pair] | None = None,
    mechanism: str | Mechanism | None = None,
    odds: float | None = None,
    confidence: float | None = None,
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
        mechanism: by default "optimal" for Finite laws and "exact" for a Mixture; see `list_mechanisms`. Also an
            object with the interface of `takifugu.mechanisms.Mechanism`.
        odds: no published value may change the odds of any pair by more than this factor: alone, or beside `alpha`
            and `epsilon`. Gaussian noise cannot promise it.
        confidence: such as 0.95. The promise is then seen to hold for the centre and for all of a number of draws from
            the posterior of the population's priors (59 for 0.95), not only for the sample's.
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
    require_rows(priors, confidence=confidence)
    found = _checked(rule, rule.find(problem, asked), problem, asked)
    evidence = None
    if confidence is not None:
        draws_needed(confidence)  # before the work, whether it is a level at all
        without = _error(rule, problem, found.channel)
        found, evidence = confident(
            rule, problem, asked, level=float(confidence), seed=seed, found=found, without=without
        )
    return Calibration(
        problem=problem,
        guarantee=rule.promise(asked),
        channel=found.channel,
        mechanism=rule.name,
        place=found.place or worst(problem, found.channel, alpha=asked.alpha).place,
        options=tuple(sorted((found.options or rule.options).items())),
        lower_bound=found.lower_bound,
        optimality=found.optimality,
        evidence=evidence,
    )


def _error(rule: Mechanism, problem: Problem, channel: Channel) -> float:
    """The expected loss of a published value."""
    if isinstance(channel, FiniteChannel):
        return (rule if isinstance(rule, Optimal) else Optimal(keep=None)).cost(problem, channel)
    return channel.variance if isinstance(channel, GaussianNoise) else math.nan


def _default(problem: Problem) -> str:
    return "exact" if isinstance(problem.laws(0)[0], Mixture) else "optimal"


def _checked(rule: Mechanism, found: Found, problem: Problem, asked: Renyi) -> Found:
    """What a rule found, with the noise that the exact divergence asks for where that is more.

    The bound promises it; the exact divergence makes sure, rounding and other people's code included.
    """
    if not isinstance(found, Found):
        raise CalibrationError(f"{rule.name!r} gave a {type(found).__name__} where a Found with a channel is needed")
    promised = rule.promise(asked)
    if isinstance(promised, Renyi):
        asked = promised  # what the calibration will say is what is checked
    if isinstance(found.channel, FiniteChannel) and not isinstance(problem.laws(0)[0], Mixture):
        if type(rule) is Optimal:  # it proves what it returns; a subclass may have changed that
            return found
        if not isinstance(promised, Renyi) or not Optimal(keep=None).is_kept(problem, asked, found.channel):
            raise CalibrationError(
                f"{rule.name!r} gave a channel that is not proved to keep {promised}: release nothing through it"
            )
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

    A mechanism that has no answer has an infinite theta in its row, and no worst pair.

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
                    rows.append((alpha, epsilon, name, one.theta, one.variance, one.worst_pair))
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


def _evidence(value: Any) -> Confidence | None:
    if value is None:
        return None
    content = form.fields(value, ("level", "draws", "seed", "without"), "'evidence'")
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
