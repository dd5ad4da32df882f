"""Whether a channel keeps its guarantee: asked of every rule's answer, and again of every file before a release."""

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from takifugu import strict_json
from takifugu import strict_json as form
from takifugu._display import Plotted
from takifugu.channels import (
    Channel,
    GaussianNoise,
    Noise,
    channel_from_state,
    known_channel,
)
from takifugu.divergences import PrivacyCurve, privacy_curve
from takifugu.errors import CalibrationError, InputError
from takifugu.laws import Space, key
from takifugu.mechanisms import (
    Additive,
    Closest,
    Found,
    Losses,
    Mechanism,
    closest,
    get_mechanism,
    is_ours,
    is_trusted,
    keeps,
    least_noise_for,
    refuse_former,
)
from takifugu.problems import (
    Answer,
    Approximate,
    Belief,
    Diagnostic,
    Guarantee,
    HockeyStick,
    Pair,
    Pairs,
    Place,
    Problem,
    Renyi,
    first_price,
    guarantee_from_state,
    total_guarantee,
)

_ROOM = 1e-9  # of the budget: what a second look at a calibration may find more than the first


def checked(rule: Mechanism, found: Found, problem: Problem, asked: Guarantee) -> Found:
    """What a rule found, with the noise that the exact divergence asks for where that is more.

    The bound guarantees it; the exact divergence makes sure, rounding and other people's code included.

    A mechanism may be another package's. So its channel is held to the exact divergence once more, whatever the
    mechanism says of it, and to the laws that it is for.

    Args:
        rule: the mechanism.
        found: its channel, and how it was found.
        problem: what it was found for.
        asked: the guarantee.

    Returns:
        The same for a mechanism of this package, whose channels are checked where they are made; of another's, noise
        raised until the exact divergence is within the budget, and any other channel only if it is proved.

    Raises:
        CalibrationError: where the channel does not keep the guarantee, and no noise of its kind is known that does.
    """
    if not isinstance(found, Found):
        raise CalibrationError(f"{rule.name!r} gave a {type(found).__name__} where a Found with a channel is needed")
    promised = rule.promise(asked)
    if promised.is_provable:
        if not promised.implies(asked):
            raise CalibrationError(
                f"{rule.name!r} guarantees {promised}, which is less than {asked}: ask for that if it will do"
            )
        asked = promised  # what the calibration will say is what is checked
    if is_trusted(rule):
        return found
    channel = known_channel(found.channel)
    if channel.publishes != problem.space:
        raise CalibrationError(f"{rule.name!r} gave {channel.describe()}, which these laws do not go through")
    if channel.publishes == "number":
        if promised.is_provable:
            return least_noise_for(problem, asked, channel.as_noise(), floor=channel.as_noise().size)
        return Found(channel)  # a bound knows which pair it asks most for, not which loses most
    if not (promised.is_provable and knowing(channel).is_kept(problem, asked, channel)):
        raise CalibrationError(
            f"{rule.name!r} gave a channel that is not proved to keep {promised}: release nothing through it"
        )
    return Found(channel)  # its word on the place, and on what is best, is not taken


def noise_is_enough(
    problem: Problem, channel: Noise, promised: Guarantee, *, mechanism: str, options: dict[str, object]
) -> bool:
    """Whether noise keeps the guarantee: by a bound, or in balls where that does not clear a place.

    Args:
        problem: the priors and pairs.
        channel: the noise.
        promised: what it has to keep.
        mechanism: the name of the mechanism that found it, for guarantees that nothing else can check.
        options: its options.

    Returns:
        True where every pair is within its budget under every belief. What cannot be decided counts as a no.
    """
    if promised.is_provable:
        return keeps(problem, channel, promised)
    rule = get_mechanism(mechanism, options)
    if not isinstance(rule, Additive) or not channel.kind == GaussianNoise.kind:
        raise InputError(f"{mechanism!r} guarantees less than Rényi Pufferfish Privacy, which cannot be checked")
    here = channel.variance * (1 + 2**-50)
    needed = rule.needed(problem, alpha=promised.alpha, epsilon=promised.epsilon * (1 + _ROOM), floor=here)
    return needed.variance == here


# How a channel is found by default for what laws are of, and what a published value then loses.

_DEFAULTS: dict[Space, tuple[str, dict[str, object]]] = {
    "number": ("exact", {}),
    "values": ("optimal", {"keep": None}),
    "vector": ("shaped", {}),
}


def default_mechanism(problem: Problem, asked: Guarantee) -> str:
    """The name of the mechanism for the laws of a problem, where none is asked for.

    Args:
        problem: whose laws say what is published: numbers, entries of a list, or vectors.
        asked: the guarantee; of numbers, odds take Laplace noise.

    Returns:
        A name that `list_mechanisms` has.
    """
    if problem.space == "number" and asked.most_odds is not None:
        return "laplace"  # Gaussian noise bounds no odds
    return _DEFAULTS[problem.space][0]


def knowing(channel: Channel, rule: Mechanism | None = None) -> Mechanism:
    """The rule, if it knows what such a channel keeps and costs; else the one that does, with nothing wished for.

    Args:
        channel: that a calibration has.
        rule: the mechanism that found it, which may be of another kind.

    Returns:
        A mechanism that answers what such a channel costs and keeps.
    """
    if rule is not None and getattr(rule, "space", None) == channel.publishes:
        return rule
    return get_mechanism(*_DEFAULTS[channel.publishes])


def require_fitting(problem: Problem, channel: Channel) -> None:
    """Refuse a channel that is not of the kind that the laws of a problem go through.

    Args:
        problem: of a calibration from a file, or from another package's mechanism.
        channel: that it has.

    Raises:
        InputError: where they are of different kinds or dimensions, or the channel publishes from other lists.
    """
    if channel.publishes != problem.space:
        raise InputError("the channel is not of the kind that the laws need")
    if channel.publishes == "vector" and channel.width != (dimension := problem.laws(0)[0].dimension):
        raise InputError(f"the channel is for vectors of {channel.width} numbers, the laws for {dimension}")
    lists = None if problem.answer is None else problem.answer.domain
    if channel.publishes == "values" and isinstance(lists, tuple):
        _require_on_lists(problem, [{key(value) for value in one.values} for one in lists])


def _require_on_lists(problem: Problem, lists: Sequence[set[object]]) -> None:
    """Refuse lists that lack a value of the laws: a release would take the nearest of them for it, as no law does."""
    from takifugu.mechanisms import table_of

    for value in table_of(problem).values:
        row = value if isinstance(value, tuple) else (value,)
        if len(row) != len(lists) or any(key(part) not in one for part, one in zip(row, lists, strict=True)):
            raise InputError("answer.domain lacks a value that the laws are about: the file was changed")


def expected_loss(rule: Mechanism, problem: Problem, channel: Channel) -> float:
    """The expected loss of a published value.

    Args:
        rule: the mechanism, which may have a loss of its own.
        problem: whose rows weigh the secrets.
        channel: that the answer goes through.

    Returns:
        The mean squared error of a number or vector, and the expected distortion of a value from a list.
    """
    return knowing(channel, rule).cost(problem, channel)


# What was found: a channel, the promise it keeps, and the problem it keeps it for.


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


def whole(calibration: "Calibration") -> dict[str, object]:
    """Everything, with figures for readers: not read back, except to see that nobody changed a part of them.

    Args:
        calibration: the calibration.

    Returns:
        Plain values for JSON. Losses of more directed pairs than are listed leave the worst alone.
    """
    losses, pairs = calibration.losses, calibration.pairs
    listed = losses if len(losses) <= _LISTED_LOSSES else [calibration.worst_pair]
    return essentials(calibration) | {
        "theta": _figure(calibration, "theta"),
        "variance": _figure(calibration, "variance"),
        "error": calibration.error,
        "alpha": _figure(calibration, "alpha"),
        "epsilon": _figure(calibration, "epsilon"),
        "worst_pair": [form.plain(secret) for secret in calibration.worst_pair],
        "pairs": None if pairs.is_every else [list(map(form.plain, pair)) for pair in pairs],
        "losses": [{"pair": list(map(form.plain, pair)), "loss": _finite(losses[pair])} for pair in listed],
    }


def essentials(calibration: "Calibration") -> dict[str, object]:
    """What everything else follows from: nothing computed anew, so the same on every machine.

    Args:
        calibration: the calibration.

    Returns:
        Plain values for JSON, whose canonical form is what certificates and ledgers take the digest of.
    """
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


def essential_part(data: object) -> dict[str, object]:
    """The essentials within what `whole` gave.

    Args:
        data: the content of a file.

    Returns:
        Its essentials.

    Raises:
        InputError: for what is no calibration, or one of a version that is not read.
    """
    if isinstance(data, dict) and "format" not in data and "theta" in data and "beliefs" in data:
        raise InputError(
            "this is not a calibration of this version: it was made by version 0.1, which did not say what a "
            "calibration is for. Calibrate again"
        )
    form.header(data, FORMAT, (VERSION,), "a calibration as to_dict writes it")
    content = form.fields(data, (*_ESSENTIAL, *_FIGURES), "the calibration")
    return {key: content[key] for key in _ESSENTIAL}


def require_own_figures(data: dict[str, object], found: "Calibration") -> None:
    """Refuse a file whose figures for readers are not those of the calibration in it.

    Args:
        data: the content of a file.
        found: the calibration that its essentials make.

    Raises:
        InputError: with the figure that differs. Whoever reads the file would believe the figure, and it is not proved.
    """
    for name in ("theta", "variance", "error", "alpha", "epsilon"):
        if not _agree(data[name], _figure(found, name), _DIGITS if name == "error" else 0.0):
            raise InputError(f"{name!r} is not that of the calibration it stands in: the file was changed")
    if data["worst_pair"] != [form.plain(secret) for secret in found.worst_pair]:
        raise InputError("'worst_pair' is not that of the calibration it stands in: the file was changed")
    chosen = None if found.pairs.is_every else [list(map(form.plain, pair)) for pair in found.pairs]
    if data["pairs"] != chosen:
        raise InputError("'pairs' is not that of the calibration it stands in: the file was changed")
    limit = closest(found.problem, found.channel, found.guarantee)
    if not found.closest.loss / found.closest.part.budget >= limit.loss / limit.part.budget * (1 - _DIGITS):
        raise InputError("'place' is not where this calibration is closest to its limit: the file was changed")
    _require_own_losses(data["losses"], found)


def _require_own_losses(value: object, found: "Calibration") -> None:
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


def parts(data: object) -> dict[str, Any]:
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


def _agree(stated: object, found: float | None, digits: float, *, least: float = 0.0) -> bool:
    if stated is None or found is None:
        return stated is found
    number = form.number(stated, "a figure for readers")
    return abs(number - found) <= max(digits * abs(found), least)


def _json(value: object) -> object:
    """An option as JSON has it: lists for tuples."""
    if isinstance(value, tuple):
        return [_json(part) for part in value]
    value = form.plain(value)
    if value is not None and not isinstance(value, str | int | float | bool):
        raise InputError(f"an option of the mechanism is a {type(value).__name__}, which has no form in a file")
    return value


def _options(name: str, value: object, guarantee: Guarantee, problem: Problem) -> tuple[tuple[str, object], ...]:
    """The options in a file, which must be those that the mechanism would have in force."""
    if not isinstance(value, dict):
        raise InputError("'options' must be an object")
    refuse_former(name)
    if not is_ours(name):
        if not guarantee.is_provable:
            raise InputError(f"{name!r} is not known here, and a weaker guarantee cannot be checked without it")
        return tuple(sorted(value.items()))
    rule = get_mechanism(name, value)
    asked = guarantee if guarantee.is_provable else Renyi(guarantee.alpha, guarantee.epsilon)
    promised = rule.promise(asked)
    if promised != guarantee:
        raise InputError(f"{name!r} guarantees {promised}, and not {guarantee}")
    return tuple(sorted(rule.settled(problem).options.items()))


def _evidence_to(evidence: "Confidence | ProvedBand | None") -> object:
    if evidence is None:
        return None
    return {"kind": evidence.kind, **asdict(evidence)}


def _evidence_from(value: object, *, halvings: int) -> "Confidence | ProvedBand | None":
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


def _optional(value: object, where: str) -> float | None:
    return None if value is None else form.number(value, where, least=0)


def _place(value: object, problem: Problem) -> Place:
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
    limit = calibration.closest
    closest = f"{calibration.problem.words(calibration.place)}, with {limit.part.divergence.stated(limit.loss)}."
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
    hides = f"hides {who}" if promise.is_provable else f"gives the weaker, approximate guarantee of {rule!r} to {who}"
    foreign = "" if is_ours(rule) else ", not one of Takifugu's own: the exact divergence was checked"
    return f"{channel.describe()} {hides} {promise.bound} ({rule}{foreign}). The worst pair is {closest}"


def _sentence_start(words: str) -> str:
    return words[0].upper() + words[1:]


def _protected(pairs: Pairs) -> str:
    if pairs.is_every:
        return "every pair of secrets"
    return "the chosen pair of secrets" if len(pairs) == 1 else f"each of the {len(pairs):,} chosen pairs"


_MOST_CURVES = 10_000  # directed pairs whose privacy curves are looked at
_FURTHEST = 700.0  # nats, beyond any ε that is worth stating


class KeptApproximately(NamedTuple):
    """The least ε beside a δ: exact, through the best Rényi order, and from the guarantee alone."""

    delta: float
    exact: float
    by_order: float
    alpha: float
    guaranteed: float
    place: Place


@dataclass(frozen=True)
class Calibration(Plotted):
    """A channel that keeps a guarantee for a problem, and how it was found.

    `place` is the belief and pair closest to the limit. `theta` is the standard deviation of the noise, where the
    channel is Gaussian noise. `error` is what a published value is expected to lose; where `lower_bound` is a number,
    no channel between these values that keeps the guarantee loses less, and `optimality` holds what proves it.

    Attributes:
        problem: the priors, the pairs of secrets and the answer.
        guarantee: what the channel keeps for each of them.
        channel: what an answer goes through before it is published.
        mechanism: the name of the mechanism that found it.
        place: the belief and pair closest to the limit.
        options: what the mechanism was asked for.
        lower_bound: what no channel between these values loses less than, where that is proved.
        optimality: what proves it.
        evidence: the posterior draws, or the proved band, by which the guarantee covers the population; None where it
            is for the priors alone.

    Raises:
        InputError: for a channel of a kind that is not known here.

    >>> from takifugu import Mixture, calibrate
    >>> made = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> round(made.theta, 6), made.worst_pair
    (1.732051, ('a', 'b'))
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
        """The same calibration with one more remark.

        Args:
            finding: the remark.

        Returns:
            A new calibration; this one does not change.
        """
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
        """The rule that knows what the channel keeps and costs, with its options; of others the guarantee counts."""
        rule = get_mechanism(self.mechanism, dict(self.options)) if is_ours(self.mechanism) else None
        return knowing(self.channel, rule)

    @property
    def alpha(self) -> float:
        """The Rényi order of the guarantee, infinite for odds; an `AttributeError` for a guarantee without one."""
        return self.guarantee.alpha

    @property
    def epsilon(self) -> float:
        """The ε of the guarantee; an `AttributeError` for several joined that have no one ε."""
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
        """The privacy loss of each directed pair through the channel, computed when asked for.

        The loss is the divergence that the guarantee is about, of several the first: D_α, the logarithm of the largest
        odds, or the δ at the ε of an (ε, δ).
        """
        return Losses(self.problem, self.channel, self.guarantee.parts[0].divergence)

    @property
    def loss(self) -> float:
        """The loss at the place closest to the limit, of the part of the guarantee that is."""
        return self.closest.loss

    @property
    def closest(self) -> Closest:
        """Where the limit is closest: the place, the part of the guarantee, and the loss."""
        ends = self.problem.ends(self.place)
        found = [Closest(self.place, part, self.channel.loss(*ends, part.divergence)) for part in self.guarantee.parts]
        return max(found, key=lambda one: one.loss / one.part.budget)

    def privacy_curve(self, pair: Pair | None = None) -> PrivacyCurve:
        """How well the first secret of a pair can be told from the second by one published value, at every threshold.

        Args:
            pair: two secrets, in this order; by default the pair that is closest to the limit.

        Returns:
            The curve of the laws as they are published, under the belief in which this pair loses most.

        Raises:
            InputError: the pair is not among those that are hidden, or what is published are vectors.

        >>> from takifugu import Mixture, calibrate
        >>> made = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
        >>> curve = made.privacy_curve(("a", "b"))
        >>> round(curve.divergence(2), 9), round(curve.best_guess(), 6)
        (1.0, 0.691462)
        """
        problem, channel = self.problem, self.channel
        place = self.place
        if pair is not None:
            if pair not in self.pairs:
                raise InputError(f"{pair!r} is no pair of secrets that this calibration hides from one another")
            first, second = map(self.pairs.secrets.index, pair)
            places = [Place(belief, first, second) for belief in range(len(problem.beliefs))]
            of = self.guarantee.parts[0].divergence
            place = max(places, key=lambda one: channel.loss(*problem.ends(one), of))
        if channel.publishes == "vector":
            raise InputError("of vectors the privacy curve is not known: ask for that of one column")
        return self._curve_at(place)

    def _curve_at(self, place: Place) -> PrivacyCurve:
        p, q = self.problem.ends(place)
        if self.channel.publishes == "values":
            return privacy_curve(self.channel.apply(p), self.channel.apply(q))
        return privacy_curve(p, q, noise=self.channel.as_noise())

    def approximate(self, delta: float) -> "KeptApproximately":
        """Which (ε, δ) the channel keeps for every pair of secrets, both ways, under every belief.

        Args:
            delta: the share for which nothing is said, above 0 and below 1, such as 1e-5.

        Returns:
            The least ε in `exact`, from the published laws of the pair that binds, which is `place`; in `by_order` the
            least that follows from a Rényi divergence of that pair, which is of the order `alpha`; in `guaranteed`
            what follows from the guarantee alone, whatever the laws are. In float64: what is to be proved is
            calibrated with `epsilon` and `delta`.

        Raises:
            InputError: what is published are vectors, or there are more pairs than can be looked at.

        >>> from takifugu import Mixture, calibrate
        >>> made = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=8, epsilon=1)
        >>> kept = made.approximate(1e-5)
        >>> round(kept.exact, 3), round(kept.by_order, 3), round(kept.guaranteed, 3)
        (1.993, 2.166, 2.214)
        """
        if self.channel.publishes == "vector":
            raise InputError("of vectors the privacy curve is not known: ask for that of one column")
        if self.problem.size > _MOST_CURVES:
            raise InputError(
                f"this calibration is about {self.problem.size:,} directed pairs, over the {_MOST_CURVES:,} whose "
                f"curves are looked at: ask for the privacy_curve of a pair"
            )
        worst, place = -1.0, self.place
        for one in [self.place, *self.problem.places()]:
            if worst < 0 or self.channel.loss(*self.problem.ends(one), HockeyStick(worst)) > delta:
                worst, place = self._curve_at(one).epsilon(delta), one
            if math.isinf(worst):
                break
        by_order, alpha = self._curve_at(place).epsilon_by_order(delta)
        implied = first_price(Approximate(_FURTHEST, delta), self.guarantee)
        return KeptApproximately(
            delta, worst, max(worst, by_order), alpha, math.inf if implied is None else float(implied), place
        )

    def __str__(self) -> str:
        """What was found, in sentences."""
        return told(self)

    def meets_budget(self) -> bool:
        """Whether the channel is seen, once more, to keep the guarantee for every pair and belief.

        A release asks this, since a calibration may come from a file that somebody has changed. Places that a bound
        does not clear are decided in ball arithmetic; for a proof of all see `takifugu.certify`.

        Returns:
            True where every directed pair is within the budget under every belief, and Monte Carlo evidence, if any,
            belongs to this problem, channel and guarantee. False says that a release would be refused.

        >>> from takifugu import Mixture, calibrate
        >>> calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1).meets_budget()
        True
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

    def to_dict(self) -> dict[str, object]:
        """Everything, as plain values for JSON; no float loses a bit. It holds the priors: keep it private.

        Losses are listed up to 10,000 directed pairs; beyond that only the worst is.

        Returns:
            What `save` writes: the essentials, and figures for whoever opens the file.
        """
        return whole(self)

    def essentials(self) -> dict[str, object]:
        """What everything else follows from: nothing computed anew, so the same on every machine, to the last bit."""
        return essentials(self)

    @classmethod
    def from_dict(cls, data: Any) -> "Calibration":
        """What `to_dict` wrote, validated again. Nothing is proved by it: see `certify`.

        Args:
            data: what `to_dict` gave.

        Returns:
            An equal calibration.

        Raises:
            InputError: with the name of the field that is missing, unknown, wrong or not what follows from the others.
        """
        found = cls.from_essentials(essential_part(data))
        require_own_figures(data, found)
        return found

    @classmethod
    def from_essentials(cls, data: Any) -> "Calibration":
        """What `essentials` gave, validated again."""
        return cls(**parts(data))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `load`, `takifugu certify` and `takifugu release` take. It holds the priors.

        Args:
            path: a name that is free, or that of a file to be written over. Only its owner can read it.

        Raises:
            InputError: where it cannot be written.
        """
        strict_json.write(self.to_dict(), path, private=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Calibration":
        """Read what `save` wrote.

        Args:
            path: the file.

        Returns:
            The calibration. A release through it asks once more whether it keeps its guarantee.

        Raises:
            InputError: where the file cannot be read, or its content is no calibration.
        """
        data = strict_json.read(path, most_bytes=1 << 28)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r} cannot be used: {error}") from None
