"""What was found: a channel, the promise it keeps, and the problem it keeps it for."""

import math
import os
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from takifugu import strict_json
from takifugu import strict_json as form
from takifugu._display import Plotted
from takifugu.calibration.checking import knowing, noise_is_enough, require_fitting
from takifugu.channels import (
    Channel,
    channel_from_state,
    known_channel,
)
from takifugu.errors import InputError
from takifugu.mechanisms import Losses, Mechanism, get_mechanism, is_ours, refuse_former, worst
from takifugu.problems import (
    Answer,
    Belief,
    Diagnostic,
    Guarantee,
    Pair,
    Pairs,
    Place,
    Problem,
    Renyi,
    guarantee_from_state,
    total_guarantee,
)

if TYPE_CHECKING:
    from takifugu.mechanisms import Confidence, Optimality, ProvedBand

# The file of a calibration: strict, versioned, and read back to the last bit.

FORMAT = "takifugu-calibration"
VERSION = 2  # files of version 0.1 had no format and named no answer: they are refused

_LISTED_LOSSES = 10_000  # directed pairs up to which every loss is listed
_CHECKED_LOSSES = 1_000  # of them are computed anew when a file is read: more would take longer than the rest of it
_DIGITS = 1e-9  # to which a figure for readers must agree: other machines add up in another order

_ESSENTIAL = (
    *("format", "version", "mechanism", "options", "guarantee", "channel", "problem", "place"),
    *("evidence", "lower_bound", "optimality"),
)
_FIGURES = ("theta", "variance", "error", "alpha", "epsilon", "worst_pair", "pairs", "losses")


def whole(calibration: "Calibration") -> dict[str, Any]:
    """Everything, with figures for readers: not read back, except to see that nobody changed a part of them."""
    losses, pairs = calibration.losses, calibration.pairs
    listed = losses if len(losses) <= _LISTED_LOSSES else [calibration.worst_pair]
    return essentials(calibration) | {
        "theta": _figure(calibration, "theta"),
        "variance": _figure(calibration, "variance"),
        "error": calibration.error,
        "alpha": None if math.isinf(calibration.alpha) else calibration.alpha,
        "epsilon": calibration.epsilon,
        "worst_pair": [form.plain(secret) for secret in calibration.worst_pair],
        "pairs": None if pairs.is_every else [list(map(form.plain, pair)) for pair in pairs],
        "losses": [{"pair": list(map(form.plain, pair)), "loss": _finite(losses[pair])} for pair in listed],
    }


def essentials(calibration: "Calibration") -> dict[str, Any]:
    """What everything else follows from: nothing computed anew, so the same on every machine."""
    from takifugu.problems import nouns as documents

    optimality = calibration.optimality
    return {
        "format": FORMAT,
        "version": VERSION,
        "mechanism": calibration.mechanism,
        "options": {name: _json(value) for name, value in calibration.options},
        "guarantee": calibration.guarantee.to_state(),
        "channel": calibration.channel.to_state(),
        "problem": documents.problem_to(calibration.problem),
        "place": list(calibration.place),
        "evidence": _evidence_to(calibration.evidence),
        "lower_bound": calibration.lower_bound,
        "optimality": None if optimality is None else optimality.to_json(),
    }


def essential_part(data: Any) -> dict[str, Any]:
    """The essentials within what `whole` gave."""
    if isinstance(data, dict) and "format" not in data and "theta" in data and "beliefs" in data:
        raise InputError(
            "this is not a calibration of this version: it was made by version 0.1, which did not say what a "
            "calibration is for. Calibrate again"
        )
    form.header(data, FORMAT, (VERSION,), "a calibration as to_dict writes it")
    content = form.fields(data, (*_ESSENTIAL, *_FIGURES), "the calibration")
    return {key: content[key] for key in _ESSENTIAL}


def require_own_figures(data: dict[str, Any], found: "Calibration") -> None:
    """Refuse a file whose figures for readers are not those of the calibration in it."""
    for key in ("theta", "variance", "error", "alpha", "epsilon"):
        if not _agree(data[key], _figure(found, key), _DIGITS if key == "error" else 0.0):
            raise InputError(f"{key!r} is not that of the calibration it stands in: the file was changed")
    if data["worst_pair"] != [form.plain(secret) for secret in found.worst_pair]:
        raise InputError("'worst_pair' is not that of the calibration it stands in: the file was changed")
    chosen = None if found.pairs.is_every else [list(map(form.plain, pair)) for pair in found.pairs]
    if data["pairs"] != chosen:
        raise InputError("'pairs' is not that of the calibration it stands in: the file was changed")
    closest = worst(found.problem, found.channel, alpha=found.alpha).loss
    if not found.loss >= closest * (1 - _DIGITS):
        raise InputError("'place' is not where this calibration is closest to its limit: the file was changed")
    _require_own_losses(data["losses"], found)


def _require_own_losses(value: Any, found: "Calibration") -> None:
    """Refuse losses of other pairs, or in another order; and, while they are not too many, other losses."""
    losses = found.losses
    expected = list(losses) if len(losses) <= _LISTED_LOSSES else [found.worst_pair]
    listed = form.exactly(value, "'losses'", len(expected))
    for number, (entry, pair) in enumerate(zip(listed, expected, strict=True)):
        content = form.fields(entry, ("pair", "loss"), f"losses[{number}]")
        right = content["pair"] == list(map(form.plain, pair))
        if right and number < _CHECKED_LOSSES:
            right = _agree(content["loss"], _finite(losses[pair]), _DIGITS, least=_DIGITS)
        if not right:
            raise InputError(f"losses[{number}] is not that of the calibration it stands in: the file was changed")


def parts(data: Any) -> dict[str, Any]:
    """The fields of the calibration that `essentials` wrote, validated again."""
    from takifugu.mechanisms import optimality_from, require_rows_behind
    from takifugu.problems import nouns as documents

    form.header(data, FORMAT, (VERSION,), "a calibration")
    content = form.fields(data, _ESSENTIAL, "the calibration")
    problem = documents.problem_from(content["problem"])
    guarantee = guarantee_from_state(content["guarantee"])
    name = form.mechanism(content["mechanism"])
    channel = channel_from_state(content["channel"])
    require_fitting(problem, channel)
    # A channel is fitted to draws and judged by others, the first time by as many as one halving asks for.
    evidence = _evidence_from(content["evidence"], halvings=int(channel.publishes == "values"))
    if evidence is not None:
        require_rows_behind(problem)
    return {
        "problem": problem,
        "guarantee": guarantee,
        "channel": channel,
        "mechanism": name,
        "place": _place(content["place"], problem),
        "options": _options(name, content["options"], guarantee, problem),
        "evidence": evidence,
        "lower_bound": _optional(content["lower_bound"], "'lower_bound'"),
        "optimality": None if content["optimality"] is None else optimality_from(content["optimality"]),
    }


def _figure(calibration: "Calibration", key: str) -> float | None:
    """A figure for a file; None where there is none, and for what is infinite."""
    number = getattr(calibration, key, None)
    return None if number is None else _finite(number)


def _finite(number: float) -> float | None:
    return None if math.isinf(number) else float(number)


def _agree(stated: Any, found: float | None, digits: float, *, least: float = 0.0) -> bool:
    if stated is None or found is None:
        return stated is found
    number = form.number(stated, "a figure for readers")
    return abs(number - found) <= max(digits * abs(found), least)


def _json(value: Any) -> Any:
    """An option as JSON has it: lists for tuples."""
    if isinstance(value, tuple):
        return [_json(part) for part in value]
    value = form.plain(value)
    if value is not None and not isinstance(value, str | int | float | bool):
        raise InputError(f"an option of the mechanism is a {type(value).__name__}, which has no form in a file")
    return value


def _options(name: str, value: Any, guarantee: Guarantee, problem: Problem) -> tuple[tuple[str, Any], ...]:
    """The options in a file, which must be those that the mechanism would have in force."""
    if not isinstance(value, dict):
        raise InputError("'options' must be an object")
    refuse_former(name)
    if not is_ours(name):
        if not guarantee.is_provable:
            raise InputError(f"{name!r} is not known here, and a weaker promise cannot be checked without it")
        return tuple(sorted(value.items()))
    rule = get_mechanism(name, value)
    asked = guarantee if guarantee.is_provable else Renyi(guarantee.alpha, guarantee.epsilon)
    promised = rule.promise(asked)
    if promised != guarantee:
        raise InputError(f"{name!r} promises {promised}, and not {guarantee}")
    return tuple(sorted(rule.settled(problem).options.items()))


def _evidence_to(evidence: "Confidence | ProvedBand | None") -> Any:
    if evidence is None:
        return None
    return {"kind": evidence.kind, **asdict(evidence)}


def _evidence_from(value: Any, *, halvings: int) -> "Confidence | ProvedBand | None":
    if value is None:
        return None
    from takifugu.mechanisms import Confidence, ProvedBand, draws_needed

    kind = form.kind_of(value)
    if kind == "band":
        content = form.fields(value, ("kind", "level", "without"), "'evidence'")
        level = form.number(content["level"], "evidence.level", least=0.5)
        if level >= 1:
            raise InputError("evidence.level must be below 1")
        return ProvedBand(level, form.number(content["without"], "evidence.without", least=0))
    if kind != "confidence":
        raise InputError("evidence.kind must be 'confidence' or 'band'")
    content = form.fields(value, ("kind", "level", "draws", "seed", "without"), "'evidence'")
    level = form.number(content["level"], "evidence.level", above=0)
    draws = form.index(content["draws"], "evidence.draws", below=1_000_000)
    if draws < (needed := draws_needed(level, halvings=halvings)):
        raise InputError(f"evidence.draws must be {needed} or more, as its level asks for")
    seed = form.index(content["seed"], "evidence.seed", below=1 << 62)
    return Confidence(level, draws, seed, form.number(content["without"], "evidence.without", least=0))


def _optional(value: Any, where: str) -> float | None:
    return None if value is None else form.number(value, where, least=0)


def _place(value: Any, problem: Problem) -> Place:
    belief, first, second = (
        form.index(k, "'place'", below=below)
        for k, below in zip(
            form.exactly(value, "'place'", 3),
            (len(problem.beliefs), len(problem.pairs.secrets), len(problem.pairs.secrets)),
            strict=True,
        )
    )
    place = Place(belief, first, second)
    if problem.names(place) not in problem.pairs:
        raise InputError("'place' is about a pair that is not among the pairs")
    return place


# A calibration in sentences.


def told(calibration: "Calibration") -> str:
    """What a calibration found, in sentences."""
    channel, promise, rule = calibration.channel, calibration.guarantee, calibration.mechanism
    who = _protected(calibration.pairs)
    closest = f"{calibration.problem.words(calibration.place)}, with a loss of {calibration.loss:.6g}."
    if channel.publishes == "values":
        from takifugu.mechanisms import table_of

        changed = channel.as_list().share_changed(table_of(calibration.problem).mass)
        return (
            f"{_sentence_start(channel.describe())} hides {who} {promise.bound} ({rule}): {changed:.3g} of the values "
            f"are published as another. The worst pair is {closest}"
        )
    if channel.publishes == "vector":
        stds = ", ".join(f"{noise.std:.4g}" for noise in channel.axes)
        return (
            f"{channel.describe()}, with standard deviations {stds}, hides {who} {promise.bound} ({rule}). The worst "
            f"pair is {closest}"
        )
    if channel.is_bare:
        return f"No noise is needed: without any, {who} is {promise.bound}. The closest to the limit is {closest}"
    hides = f"hides {who}" if promise.is_provable else f"gives the weaker, approximate promise of {rule!r} to {who}"
    foreign = "" if is_ours(rule) else ", not one of Takifugu's own: the exact divergence was checked"
    return f"{channel.describe()} {hides} {promise.bound} ({rule}{foreign}). The worst pair is {closest}"


def _sentence_start(words: str) -> str:
    return words[0].upper() + words[1:]


def _protected(pairs: Pairs) -> str:
    if pairs.is_every:
        return "every pair of secrets"
    return "the chosen pair of secrets" if len(pairs) == 1 else f"each of the {len(pairs):,} chosen pairs"


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
    optimality: "Optimality | None" = field(default=None, repr=False, compare=False)
    evidence: "Confidence | ProvedBand | None" = None

    def __post_init__(self) -> None:
        """Refuse a channel of a kind that nobody knows here: everything that follows goes by its kind."""
        known_channel(self.channel)

    @property
    def answer(self) -> Answer | None:
        """What may be published through it; None for priors made by hand, which name no answer."""
        return self.problem.answer

    @property
    def total(self) -> Guarantee:
        """What everything together keeps: the channel, and the private counts that it was fitted to, if it was."""
        return total_guarantee(self.guarantee, 0.0 if self.answer is None else self.answer.private)

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What there is to know about the data behind the priors."""
        return self.problem.findings

    def with_finding(self, finding: Diagnostic) -> "Calibration":
        """The same calibration with one more remark."""
        return replace(self, problem=replace(self.problem, findings=(*self.problem.findings, finding)))

    @property
    def theta(self) -> float:
        """The standard deviation of the Gaussian noise; an `AttributeError` for a channel that adds none."""
        if self.channel.publishes != "number" or self.channel.as_noise().parameter != "theta":
            raise AttributeError(f"a {type(self.channel).__name__} has no theta: see .channel and .error")
        return self.channel.as_noise().size

    @property
    def variance(self) -> float:
        """The mean square error that noise on a number costs it; an `AttributeError` for other channels."""
        if self.channel.publishes != "number":
            raise AttributeError(f"a {type(self.channel).__name__} has no variance: see .channel and .error")
        return self.channel.as_noise().variance

    @property
    def error(self) -> float:
        """The expected loss of a published value: for noise on numbers its square error."""
        return self._rule.cost(self.problem, self.channel)

    @property
    def _rule(self) -> Mechanism:
        """The rule that knows what the channel keeps and costs, with its options; of others only the promise counts."""
        rule = get_mechanism(self.mechanism, dict(self.options)) if is_ours(self.mechanism) else None
        return knowing(self.channel, rule)

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
        return told(self)

    def meets_budget(self) -> bool:
        """Whether the channel is seen, once more, to keep the promise for every pair and belief.

        A release asks this, since a calibration may come from a file that somebody has changed. Places that a bound
        does not clear are decided in ball arithmetic; for a proof of all see `takifugu.certify`.
        """
        if self.evidence is not None and not (
            self.guarantee.is_provable and self.evidence.holds(self.problem, self.channel, self.guarantee)
        ):
            return False
        if self.channel.publishes != "number":
            return self.guarantee.is_provable and self._rule.is_kept(self.problem, self.guarantee, self.channel)
        noise = self.channel.as_noise()
        return noise_is_enough(
            self.problem, noise, self.guarantee, mechanism=self.mechanism, options=dict(self.options)
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON; no float loses a bit. It holds the priors: keep it private.

        Losses are listed up to 10,000 directed pairs; beyond that only the worst is.
        """
        return whole(self)

    def essentials(self) -> dict[str, Any]:
        """What everything else follows from: nothing computed anew, so the same on every machine, to the last bit."""
        return essentials(self)

    @classmethod
    def from_dict(cls, data: Any) -> "Calibration":
        """What `to_dict` wrote, validated again. Nothing is proved by it: see `certify`."""
        found = cls.from_essentials(essential_part(data))
        require_own_figures(data, found)
        return found

    @classmethod
    def from_essentials(cls, data: Any) -> "Calibration":
        """What `essentials` gave, validated again."""
        return cls(**parts(data))

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
