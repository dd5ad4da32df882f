"""Everything a reader is told, computed once: the report, the command line and the explorer show these facts."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.channels import GaussianNoise, GaussianVector, Noise
from takifugu.errors import CalibrationError, InputError, MechanismError, NoAnswerError
from takifugu.laws import Law, Mixture, VectorMixture
from takifugu.mechanisms import Additive, Exact, NoiseCurve, get_mechanism, label_of, least_size
from takifugu.problems import Belief, Guarantee, Place, Problem, Renyi
from takifugu.reports.channel_facts import channel_facts
from takifugu.reports.common import (
    Curve,
    Facts,
    belief_losses,
    curve,
    drawn_secrets,
    finite,
    grid,
    is_shown,
    most_telling,
    pair_losses,
    published_curve,
    question_of,
)
from takifugu.reports.text import number

# What there is to say about noise on vectors.


@dataclass(frozen=True)
class AxisFacts:
    """One number of the vector: its noise beside its natural spread, and the worst pair before and after.

    `means` are those of the secrets; None where a secret has too few rows for its law to be shown.
    """

    name: str
    noise: float
    spread: float
    means: tuple[float | None, ...]
    before: tuple[Curve, Curve] = field(repr=False)
    after: tuple[Curve, Curve] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class VectorFacts(Facts):
    """One calibration of noise on vectors."""

    axes: tuple[AxisFacts, ...] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    rows: tuple[int | None, ...] = field(repr=False)
    correlation: Array = field(repr=False)

    def to_dict(self) -> dict[str, object]:
        """See `Facts.to_dict`."""
        return super().to_dict() | {
            "axes": [{"name": a.name, "noise": a.noise, "spread": a.spread, "means": list(a.means)} for a in self.axes],
            "secrets": list(self.secrets),
            "rows": list(self.rows),
            "correlation": self.correlation.tolist(),
        }


def vector_facts(
    calibration: Calibration, *, question: str | None, compare: bool, certificate_sha256: str | None
) -> VectorFacts:
    """The facts of noise on vectors; there is nothing to compare it with."""
    if calibration.channel.publishes != "vector":
        raise InputError("these facts are about noise on vectors")
    channel = calibration.channel.as_vector()
    a, b = calibration.worst_pair
    belief = calibration.beliefs[calibration.place.belief]
    laws = [belief[name] for name in calibration.pairs.secrets]
    rows = tuple(belief.rows.get(name) for name in calibration.pairs.secrets)
    are_shown = [is_shown(tally) for tally in rows]
    width = np.sqrt(np.diagonal(channel.covariance))
    return VectorFacts(
        question=question_of(calibration) if question is None else question,
        calibration=calibration,
        loss=calibration.loss,
        axes=tuple(
            _axis(calibration, belief[a], belief[b], laws, are_shown, channel, k) for k in range(channel.dimension)
        ),
        secrets=tuple(str(name) for name in calibration.pairs.secrets),
        rows=rows,
        correlation=channel.covariance / np.outer(width, width),
        adversary=most_telling(calibration),
        pair_losses=pair_losses(calibration),
        beliefs=belief_losses(calibration),
        findings=calibration.findings,
        certificate_sha256=certificate_sha256,
    )


def axis_names(calibration: Calibration, dimension: int) -> tuple[str, ...]:
    """What each number of the vector is called."""
    answer = calibration.answer
    if answer is not None and len(answer.columns) == dimension:
        return answer.columns
    return tuple(f"number {k + 1}" for k in range(dimension))


def _axis(
    calibration: Calibration,
    p: VectorMixture,
    q: VectorMixture,
    laws: list[VectorMixture],
    are_shown: list[bool],
    channel: GaussianVector,
    axis: int,
) -> AxisFacts:
    direction = np.eye(channel.dimension)[axis]
    a, b = map(str, calibration.worst_pair)
    bare = p.projected(direction), q.projected(direction)
    noise = math.sqrt(float(channel.covariance[axis, axis]))
    noisy = tuple(law.with_noise(noise) for law in bare)
    x, noisy_x = grid(bare), grid([*noisy, *bare])
    return AxisFacts(
        axis_names(calibration, channel.dimension)[axis],
        noise,
        max(law.projected(direction).std for law in laws),
        tuple(float(law.mean[axis]) if shown else None for law, shown in zip(laws, are_shown, strict=True)),
        (curve(a, bare[0], x), curve(b, bare[1], x)),
        (curve(a, noisy[0], noisy_x), curve(b, noisy[1], noisy_x)),
    )


def facts_for(
    priors: Mapping[object, Law] | Sequence[Mapping[object, Law]],
    *,
    asked: Mapping[str, Any],
    question: str | None = None,
    compare: bool = True,
    certificate_sha256: str | None = None,
) -> Facts:
    """Calibrate for what is `asked`, the other arguments of `calibrate`, and compute what there is to say about it.

    Priors from `fit_priors` bring their findings and histograms along. `compare=False` leaves other mechanisms out.

    >>> from takifugu import Mixture
    >>> facts = facts_for(
    ...     {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)},
    ...     asked={"alpha": 2, "epsilon": 1},
    ...     question="raw:x",
    ... )
    >>> round(facts.theta, 6), round(facts.adversary.guess_before, 4), round(facts.adversary.guess_after, 4)
    (1.732051, 0.8413, 0.6915)
    """
    return facts_of(
        calibrate(priors, **asked), question=question, compare=compare, certificate_sha256=certificate_sha256
    )


def facts_of(
    calibration: Calibration,
    *,
    question: str | None = None,
    compare: bool = True,
    certificate_sha256: str | None = None,
) -> Facts:
    """The facts of a calibration that was made already, in the kind that its channel brings.

    >>> from takifugu import Finite, calibrate
    >>> result = calibrate({"a": Finite([0, 1], [3, 1]), "b": Finite([0, 1], [1, 3])}, odds=2)
    >>> facts = facts_of(result)
    >>> facts.adversary.guess_before, round(facts.adversary.guess_after, 4)
    (0.75, 0.6667)
    """
    make: object
    if calibration.channel.publishes == "number":
        make = noise_facts
    elif calibration.channel.publishes == "values":
        make = channel_facts
    elif calibration.channel.publishes == "vector":
        make = vector_facts
    else:
        kind = type(calibration.channel).__name__
        raise InputError(f"there is no report on a {kind}: str(calibration) tells what was found in a few words")
    facts: Facts = make(calibration, question=question, compare=compare, certificate_sha256=certificate_sha256)
    return facts


# What there is to say about noise on numbers.


# Other mechanisms at the same promise, and noise against budget for each.

_BASELINES = ("wasserstein", "wasserstein-approx", "wasserstein-aware")
_MOST_PLACES = 60  # that the paper's mechanisms and the baselines, which look at pair by pair, are asked about
_FEW_PLACES = 6  # the same for mixtures
_FEW_BUDGETS = 9  # points of the curve of a family other than Gaussian
_MOST_COUPLED = 100_000  # pairs of components, over all couplings, that a comparison is worth


@dataclass(frozen=True)
class Drawn:
    """One mechanism's curve."""

    mechanism: str
    curve: NoiseCurve

    @property
    def epsilon(self) -> Array:
        """The budgets, ascending."""
        return self.curve.epsilon

    @property
    def theta(self) -> Array:
        """The noise at each."""
        return self.curve.theta

    @property
    def label(self) -> str:
        """A name for readers."""
        return label_of(self.mechanism)


@dataclass(frozen=True)
class Comparison:
    """Another mechanism at the same budget; `theta` is infinite where it has no answer.

    `is_least` says that only the pair closest to the limit was looked at: all pairs take this much noise at least.
    """

    mechanism: str
    theta: float
    guarantee: Guarantee
    is_least: bool = False

    @property
    def label(self) -> str:
        """A name for readers."""
        return label_of(self.mechanism)

    def told(self, digits: int = 4) -> str:
        """θ for readers, from below where only a part was looked at."""
        return f"{'≥ ' * self.is_least}{number(self.theta, digits)}"

    @property
    def is_weaker(self) -> bool:
        """Whether it guarantees less than (α, ε)-Rényi Pufferfish Privacy."""
        return not self.guarantee.is_provable


def channel_of(calibration: Calibration) -> Noise:
    """The channel of a calibration of noise on numbers."""
    if calibration.channel.publishes != "number":
        raise InputError(f"a {type(calibration.channel).__name__} adds no noise to numbers")
    return calibration.channel.as_noise()


def itself(calibration: Calibration) -> Comparison:
    """The chosen mechanism."""
    return Comparison(calibration.mechanism, channel_of(calibration).std, calibration.guarantee)


def compared(calibration: Calibration) -> tuple[Comparison, ...]:
    """The exact mechanism, the paper's and the baselines at one budget, with the chosen one among them.

    Those that look at pair after pair are asked about the pair closest to the limit alone where there are many: the
    comparison would take longer than the calibration.
    """
    if not _is_as_in_the_paper(calibration):
        return (itself(calibration),)  # the others are about Gaussian noise at one order
    asked, problem = Renyi(calibration.alpha, calibration.epsilon), calibration.problem
    closest = _only(problem, calibration.place) if _takes_long(problem) else None
    names = dict.fromkeys(("exact", *_others(closest or problem)))
    if calibration.mechanism not in names:
        names = dict.fromkeys((calibration.mechanism, *names))
    found = []
    for name in names:
        if name == calibration.mechanism:
            found.append(itself(calibration))
            continue
        part = None if name == "exact" else closest
        rule = get_mechanism(name, {})
        try:
            channel = rule.find(part or problem, asked).channel  # not proved: nothing is published through it
        except NoAnswerError:
            channel = None
        except (MechanismError, CalibrationError):
            continue
        theta = math.inf if channel is None else channel.as_noise().std
        found.append(Comparison(name, theta, rule.promise(asked), is_least=part is not None and theta < math.inf))
    return tuple(found)


def _is_as_in_the_paper(calibration: Calibration) -> bool:
    """Whether it is Gaussian noise under one Rényi guarantee, which other mechanisms are compared at."""
    guarantee = calibration.guarantee
    is_renyi = len(guarantee.parts) == 1 and hasattr(guarantee.leading.divergence, "alpha")
    return is_renyi and calibration.channel.kind == GaussianNoise.kind


def noise_curves(calibration: Calibration, comparisons: tuple[Comparison, ...]) -> tuple[Drawn, ...]:
    """The exact curve, and one for each finite comparison whose mechanism draws one; none of a guarantee without ε."""
    if not (epsilon := getattr(calibration.guarantee.leading, "epsilon", None)):
        return ()  # a guarantee about no ε has no curve over it
    low, high = budgets(epsilon)
    problem = calibration.problem
    if not _is_as_in_the_paper(calibration):
        return (Drawn(calibration.mechanism, _of_worst_pair(calibration, low, high)),)
    alpha = calibration.alpha
    found = [Drawn("exact", Exact().curve(problem, alpha=alpha, low=low, high=high))]
    for one in comparisons:
        if one.mechanism == "exact" or one.is_least or not 0 < one.theta < math.inf:
            continue
        try:
            rule = get_mechanism(one.mechanism, {})
        except InputError:  # a mechanism that was given as an object, or is not installed here
            continue
        curve = rule.curve(problem, alpha=alpha, low=low, high=high) if isinstance(rule, Additive) else None
        if curve is not None:
            found.append(Drawn(one.mechanism, curve))
    return tuple(found)


def _of_worst_pair(calibration: Calibration, low: float, high: float) -> NoiseCurve:
    """Noise of another family against budget, for the pair that is closest to the limit."""
    family, at = channel_of(calibration), np.geomspace(low, high, _FEW_BUDGETS)
    size, stds = 0.0, []
    for epsilon in at[::-1].tolist():  # from the largest budget down: the noise of one is the floor of the next
        part = calibration.guarantee.parts[0].with_epsilon(epsilon)
        size = least_size(calibration.problem, calibration.place, part, family, size)
        stds.append(family.resized(size).std)
    return NoiseCurve(at, np.array(stds[::-1]))


def budgets(epsilon: float) -> tuple[float, float]:
    """The range of budgets worth a look: the same for most ε, so that curves can be remembered.

    >>> budgets(1.0), budgets(40.0)
    ((0.1, 10.0), (0.1, 100.0))
    """
    return min(0.1, 10.0 ** math.floor(math.log10(epsilon / 2))), max(10.0, 10.0 ** math.ceil(math.log10(epsilon * 2)))


def _takes_long(problem: Problem) -> bool:
    """Whether one pair after another would take more than a moment: quantiles of mixtures are dear, points are not."""
    is_plain = all(law.is_gaussian or law.is_discrete for belief in problem.beliefs for law in belief.values())
    return problem.size > (_MOST_PLACES if is_plain else _FEW_PLACES)


def _only(problem: Problem, place: Place) -> Problem:
    """The problem of one place: one belief, and one pair of secrets."""
    return Problem.of(dict(zip(problem.names(place), problem.ends(place), strict=True)), None)


def _others(problem: Problem) -> tuple[str, ...]:
    """The mechanisms worth a comparison."""
    largest = max(len(law.simplified()) for belief in problem.beliefs for law in belief.values())
    if largest == 1:
        return ("closed-form", *_BASELINES)
    # The transport between hundreds of components is a linear programme of many minutes: left out.
    return ("gmm-transport", *_BASELINES) if problem.size * largest**2 <= _MOST_COUPLED else _BASELINES


# The same rows under other priors: where the noise hangs on which is believed, a reader must know.

_MOST_SECRETS = 12
_MOST_VALUES = 400  # of one secret: more take longer than a comparison is worth
_APART = 2.0  # times as much noise under one prior as under another is worth a word
_BARE = 0.05  # of the spread: noise below it hides next to nothing


@dataclass(frozen=True)
class UnderPrior:
    """The noise that the rows would ask for if each secret's law were taken to be of this kind."""

    prior: str
    theta: float


def priors_compared(calibration: Calibration) -> tuple[UnderPrior, ...]:
    """The noise for the rows' own shares and for one normal per secret; nothing where the rows are not known."""
    belief, secrets = calibration.beliefs[0], calibration.pairs.secrets
    known = all(secret in belief.histograms for secret in secrets)
    if not known or len(secrets) > _MOST_SECRETS or not _is_as_in_the_paper(calibration):
        return ()
    if max(len(belief.histograms[secret].values) for secret in secrets) > _MOST_VALUES:
        return ()
    found = []
    for name, law in (("the rows' own shares", _empirical), ("one normal per secret", _normal)):
        laws = {secret: law(belief, secret) for secret in secrets}
        try:
            problem = Problem.of(laws, list(calibration.pairs))
            # Not proved: nothing is published through it.
            needed = Exact().needed(problem, alpha=calibration.alpha, epsilon=calibration.epsilon)
            found.append(UnderPrior(name, math.sqrt(needed.variance)))
        except (CalibrationError, MechanismError):
            found.append(UnderPrior(name, math.inf))
    return tuple(found)


def hangs_on_prior(theta: float, spread: float, others: tuple[UnderPrior, ...]) -> bool:
    """Whether the noise is much less, or none, under one of the priors."""
    every = [theta, *(one.theta for one in others)]
    bare = _BARE * spread
    return bool(others) and max(every) > max(_APART * min(every), bare)


def _empirical(belief: Belief, secret: object) -> Mixture:
    seen = belief.histograms[secret]
    return Mixture.empirical(seen.values, weights=seen.counts)


def _normal(belief: Belief, secret: object) -> Mixture:
    seen = belief.histograms[secret]
    shares = seen.counts / np.sum(seen.counts)
    mean = float(shares @ seen.values)
    return Mixture.gaussian(mean, math.sqrt(max(float(shares @ (seen.values - mean) ** 2), 0.0)))


_MOST_DRAWN = 6  # priors in one picture
_RELEASES = (1, 10, 100, 1_000, 10_000)


@dataclass(frozen=True)
class SecretFacts:
    """One secret's prior in numbers, under the belief that binds; nothing but the rows where they are too few."""

    name: str
    rows: int | None
    components: int | None
    mean: float | None
    std: float | None
    is_discrete: bool = False


@dataclass(frozen=True)
class Histogram:
    """How often each value occurs in the data, as shares of one secret's rows."""

    label: str
    values: Array
    shares: Array


@dataclass(frozen=True)
class Averaged:
    """The standard error that the noise leaves in a mean of n released values."""

    releases: int
    error: float


@dataclass(frozen=True, kw_only=True)
class NoiseFacts(Facts):
    """One calibration of noise on numbers, with its curves."""

    secrets: tuple[SecretFacts, ...] = field(repr=False)
    densities: tuple[Curve, ...] = field(repr=False)
    histograms: tuple[Histogram, ...] = field(repr=False)
    before: tuple[Curve, Curve] = field(repr=False)
    after: tuple[Curve, Curve] = field(repr=False)
    comparisons: tuple[Comparison, ...]
    analyst: tuple[Averaged, ...]
    spread: float
    other_priors: tuple[UnderPrior, ...] = ()

    @property
    def theta(self) -> float:
        """The standard deviation of the noise."""
        return channel_of(self.calibration).std

    @cached_property
    def noise_curves(self) -> tuple[Drawn, ...]:
        """Noise against budget, drawn when first looked at: a terminal shows no curve and need not wait for it."""
        return noise_curves(self.calibration, self.comparisons)

    def to_dict(self) -> dict[str, object]:
        """See `Facts.to_dict`."""
        return super().to_dict() | {
            "theta": self.theta,
            "spread": self.spread,
            "other_priors": [{"prior": one.prior, "theta": finite(one.theta)} for one in self.other_priors],
            "secrets": [
                {"name": s.name, "rows": s.rows, "components": s.components, "mean": s.mean, "std": s.std}
                for s in self.secrets
            ],
            "comparisons": [
                {
                    "mechanism": c.mechanism,
                    "label": c.label,
                    "theta": finite(c.theta),
                    "weaker": c.is_weaker,
                    "least": c.is_least,
                }
                for c in self.comparisons
            ],
            "analyst": [{"releases": a.releases, "error": finite(a.error)} for a in self.analyst],
        }


def noise_facts(
    calibration: Calibration, *, question: str | None, compare: bool, certificate_sha256: str | None
) -> NoiseFacts:
    """The facts of noise on numbers. `compare=False` leaves the other mechanisms out; the exact curve stays."""
    a, b = calibration.worst_pair
    belief = calibration.beliefs[calibration.place.belief]
    p, q = belief[a], belief[b]
    channel = channel_of(calibration)
    theta = channel.std
    comparisons = compared(calibration) if compare else (itself(calibration),)
    names = drawn_secrets(calibration, _MOST_DRAWN)
    pair_x = grid([p, q])
    x = grid([belief[name] for name in names]) if names else pair_x
    noisy = p.with_noise(theta), q.with_noise(theta)
    noisy_x = grid([*noisy, p, q])
    return NoiseFacts(
        question=question_of(calibration) if question is None else question,
        calibration=calibration,
        loss=calibration.loss,
        secrets=tuple(_secret(name, belief[name], belief.rows.get(name)) for name in calibration.pairs.secrets),
        densities=tuple(curve(str(name), belief[name], x) for name in names),
        histograms=_histograms(belief, names),
        before=(curve(str(a), p, pair_x), curve(str(b), q, pair_x)),
        after=(published_curve(str(a), p, channel, noisy_x), published_curve(str(b), q, channel, noisy_x)),
        comparisons=comparisons,
        adversary=most_telling(calibration),
        analyst=tuple(Averaged(n, theta / math.sqrt(n)) for n in _RELEASES),
        spread=max(p.std, q.std),
        other_priors=priors_compared(calibration) if compare else (),
        pair_losses=pair_losses(calibration),
        beliefs=belief_losses(calibration),
        findings=calibration.findings,
        certificate_sha256=certificate_sha256,
    )


def _secret(name: Hashable, prior: Mixture, rows: int | None) -> SecretFacts:
    if not is_shown(rows):
        return SecretFacts(str(name), rows, None, None, None)
    simple = prior.simplified()
    return SecretFacts(str(name), rows, len(simple), prior.mean, prior.std, simple.is_discrete)


def _histograms(belief: Belief, names: list[Hashable]) -> tuple[Histogram, ...]:
    subsets = belief.histograms
    return tuple(
        Histogram(str(name), subsets[name].values, subsets[name].counts / np.sum(subsets[name].counts))
        for name in names
        if name in subsets
    )
