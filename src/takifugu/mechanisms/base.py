"""What every mechanism is: a rule that finds a channel for a problem and a promise, or refuses by name."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Protocol, Self, cast

import numpy as np

from takifugu import strict_json
from takifugu._validation import Array
from takifugu.channels import Channel, GaussianNoise
from takifugu.errors import CalibrationError, InputError, MechanismError, NoAnswerError, suggestion
from takifugu.laws import Mixture, Space
from takifugu.problems import Belief, Divergence, Guarantee, MaxDivergence, Pairs, Place, Problem, RenyiDivergence

# Noise against budget: what a picture needs of a mechanism, cheaply enough to follow a slider.

POINTS = 25
_FEW_POINTS = 9  # of a mechanism that takes long


@dataclass(frozen=True)
class NoiseCurve:
    """The noise that a mechanism asks for at each budget, budgets ascending."""

    epsilon: Array
    theta: Array


def calibrated_curve(
    needed: Callable[..., Any], problem: Problem, *, alpha: float, low: float, high: float
) -> NoiseCurve:
    """A mechanism inverted at each budget: for those that are quick.

    From the largest budget down, so that the noise of one is the floor of the next.

    Args:
        needed: the mechanism's `needed`, which takes the problem, an order, a budget and a floor.
        problem: the priors and pairs.
        alpha: the order.
        low: the smallest budget.
        high: the largest.

    Returns:
        The curve, with fewer points where the laws are mixtures.
    """
    quick = all(law.is_gaussian for belief in problem.beliefs for law in belief.values())
    at = np.geomspace(low, high, POINTS if quick else _FEW_POINTS)
    thetas, variance = [], 0.0
    for epsilon in at[::-1].tolist():
        variance = needed(problem, alpha=alpha, epsilon=epsilon, floor=variance).variance
        thetas.append(math.sqrt(variance))
    return NoiseCurve(at, np.array(thetas[::-1]))


def scaled_curve(theta: float, *, low: float, high: float) -> NoiseCurve:
    """The curve of a rule whose θ² is inversely proportional to ε, from its θ at ε = 1.

    Args:
        theta: the noise at a budget of 1.
        low: the smallest budget.
        high: the largest.

    Returns:
        The curve θ/√ε.
    """
    at = np.geomspace(low, high, POINTS)
    return NoiseCurve(at, theta / np.sqrt(at))


def curve_from_losses(epsilon: Array, theta: Array, *, low: float, high: float) -> NoiseCurve:
    """The losses at some noise, read as budgets: ascending and cut to the range.

    At its upper end stands the least θ that was looked at.

    Args:
        epsilon: the loss at each noise that was looked at.
        theta: the noise.
        low: the smallest budget of the picture.
        high: the largest.

    Returns:
        The curve, budgets ascending.
    """
    order = np.lexsort((-theta, epsilon))
    epsilon, theta = epsilon[order], theta[order]
    inside = (epsilon > low) & (epsilon < high)
    ends_at = np.append(epsilon[inside], high)
    beyond = np.flatnonzero(epsilon >= high)
    thetas = np.append(theta[inside], theta[beyond[0]] if beyond.size else theta[-1])
    below = np.flatnonzero((epsilon > 0) & (epsilon <= low))
    if below.size:  # between two points that straddle it, the curve is a power law as good as exactly
        left = below[-1]
        span = math.log(ends_at[0] / epsilon[left])
        share = math.log(low / epsilon[left]) / span if span else 0.0
        ends_at = np.append(low, ends_at)
        thetas = np.append(theta[left] ** (1 - share) * thetas[0] ** share, thetas)
    return NoiseCurve(ends_at, thetas)


class Optimality(Protocol):
    """What proves a lower bound: numbers that anyone may write down and check again, whoever found them."""

    def to_json(self) -> dict[str, object]:
        """Plain lists and numbers."""
        ...


class Found(NamedTuple):
    """A channel, and the place that asked for it where the mechanism knows."""

    channel: Channel
    place: Place | None = None
    lower_bound: float | None = None  # no channel errs less, where that was proved
    optimality: Optimality | None = None  # what proves it
    options: dict[str, Any] | None = None  # the options in force, where the search changed them


@dataclass(frozen=True)
class Mechanism(ABC):
    """A rule that finds a channel. Its options are its dataclass fields.

    `label` is its name for readers of a report, `summary` a sentence on it. CONTRIBUTING.md shows one from start to
    end.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    summary: ClassVar[str]

    divergences: ClassVar[tuple[type[Divergence], ...]] = (RenyiDivergence, MaxDivergence)
    """What it can keep, each once: one Rényi divergence of any order, with odds beside it or not."""

    space: ClassVar[Space] = "number"
    """What the channels publish of which it knows what they keep and cost."""

    proves: ClassVar[bool] = False
    """Whether it proves what it returns. Takifugu's own are believed; what others return is checked."""

    def require(self, asked: Guarantee) -> None:
        """Refuse a guarantee about a divergence that this rule does not know.

        Args:
            asked: the guarantee.

        Raises:
            MechanismError: with the name of a mechanism that knows it, where there is one.
        """
        kinds = [type(part.divergence) for part in asked.parts]
        if len(kinds) != len(set(kinds)) or not set(kinds) <= set(self.divergences):
            raise MechanismError(
                f"{self.name!r} finds no channel for {asked}: it knows one order α and odds. For numbers use 'exact' "
                f"or 'laplace', and for a divergence of your own give a mechanism that knows it"
            )

    def suited(self, problem: Problem) -> Problem:
        """The same problem with its laws in the form that this rule takes, where they have one.

        Args:
            problem: the priors and pairs.

        Returns:
            An equal problem for this mechanism: lists of numbers become points on the line where noise is to be added.
        """
        return problem

    def promise(self, asked: Guarantee) -> Guarantee:
        """What this mechanism guarantees when it is asked for that: less, for some of the baselines.

        Args:
            asked: what `calibrate` was asked for.

        Returns:
            The guarantee that the channel keeps, which the calibration then states.
        """
        return asked

    @abstractmethod
    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """A channel that keeps the guarantee; a `MechanismError` or `NoAnswerError` says why there is none.

        Args:
            problem: the priors, as `suited` gave them, and the pairs to hide.
            asked: the guarantee, which `require` let through.

        Returns:
            The channel, with the place that asked most of it where that is known.

        Raises:
            MechanismError: where this mechanism has no channel for such laws.
            NoAnswerError: where no channel of its kind keeps the guarantee.
        """

    def settled(self, problem: Problem) -> Self:
        """The same with what hangs on the problem decided."""
        return self

    def is_kept(self, problem: Problem, asked: Guarantee, channel: Channel) -> bool:
        """Whether a channel of its `space` is proved to keep the guarantee for every pair and belief.

        Args:
            problem: the priors and pairs.
            asked: the guarantee.
            channel: any channel that publishes in this mechanism's space, whoever found it.

        Returns:
            True only with a proof for every directed pair under every belief; what is not decided is not kept.
        """
        raise InputError(f"{self.name!r} proves nothing of {channel.describe()}")

    def cost(self, problem: Problem, channel: Channel) -> float:
        """The expected loss of a value that a channel of its `space` publishes: of noise on a number its square.

        Args:
            problem: whose rows weigh the secrets.
            channel: a channel of its `space`.

        Returns:
            The mean squared error of noise, or the expected distortion of a channel on a list.
        """
        return channel.as_noise().variance

    @property
    def options(self) -> dict[str, Any]:
        """The options in force."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


class Binding(NamedTuple):
    """A variance, and the directed pair (positions of its secrets) that asked for it, if any asked for more.

    `close` are the pairs that no bound clears at this variance: a quadrature saw them within the budget.
    """

    variance: float
    pair: tuple[int, int] | None
    close: tuple[tuple[int, int], ...] = ()


class Needed(NamedTuple):
    """A variance that is enough for a whole problem, and the place that asked for it, if any asked for more."""

    variance: float
    place: Place | None
    close: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Additive(Mechanism):
    """A rule for how much Gaussian noise is enough for one law on the line against another."""

    @abstractmethod
    def least_variance(self, p: Mixture, q: Mixture, *, alpha: float, epsilon: float, floor: float = 0.0) -> float:
        """The least variance, `floor` or more, that this rule allows for p against q (one direction).

        `math.inf` where no noise satisfies the rule. A caller that already has noise of variance `floor` passes it,
        so that rules which search can stop at once where it is enough.

        Args:
            p: the law of the number under one secret.
            q: that under the other.
            alpha: the order, above 1.
            epsilon: the budget.
            floor: a variance that other pairs ask for already.

        Returns:
            A variance, rounded up where rounding is in doubt.
        """

    def least_variance_over(
        self, priors: list[Mixture], pairs: Pairs, *, alpha: float, epsilon: float, floor: float = 0.0
    ) -> Binding:
        """The least variance for all pairs, both ways; `priors` in the order of `pairs.secrets`.

        Args:
            priors: the laws of one belief.
            pairs: which of their secrets are to be hidden from one another.
            alpha: the order, above 1.
            epsilon: the budget.
            floor: a variance that other beliefs ask for already.

        Returns:
            The variance, and the pair that asked for it; no pair where the floor was enough.
        """
        place = {secret: i for i, secret in enumerate(pairs.secrets)}
        found = Binding(floor, None)
        for a, b in pairs.directed():
            i, j = place[a], place[b]
            variance = self.least_variance(priors[i], priors[j], alpha=alpha, epsilon=epsilon, floor=found.variance)
            if not variance <= found.variance:  # a NaN is passed on, for the caller to refuse
                found = Binding(variance, (i, j))
            if not math.isfinite(found.variance):
                break
        return found

    def suited(self, problem: Problem) -> Problem:
        """See `Mechanism`."""
        return on_the_line(problem)

    def needed(self, problem: Problem, *, alpha: float, epsilon: float, floor: float = 0.0) -> Needed:
        """The least variance for every belief and pair, no less than `floor`.

        Args:
            problem: the priors and pairs.
            alpha: the order, above 1.
            epsilon: the budget.
            floor: a variance that is needed already.

        Returns:
            The variance and the place that asked for it.
        """
        found = Needed(floor, None)
        for belief in range(len(problem.beliefs)):
            if math.isinf(found.variance):
                break
            binding = self.least_variance_over(
                problem.laws(belief), problem.pairs, alpha=alpha, epsilon=epsilon, floor=found.variance
            )
            if math.isnan(binding.variance):
                raise CalibrationError(f"{self.name!r} gave no number for these priors: please report this case")
            found = found._replace(close=(*found.close, *(Place(belief, *pair) for pair in binding.close)))
            if binding.variance > found.variance and binding.pair is not None:
                found = found._replace(variance=binding.variance, place=Place(belief, *binding.pair))
        return found

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """Noise of the least variance that this rule allows.

        Args:
            problem: laws of numbers.
            asked: a Rényi guarantee of one order.

        Returns:
            Gaussian noise whose deviation is the root of that variance, rounded up.

        Raises:
            NoAnswerError: where no noise satisfies the rule for some pair, which the error names.
        """
        require_noise(problem, asked, self.name)
        needed = self.needed(problem, alpha=asked.alpha, epsilon=asked.epsilon)
        if needed.place is not None and math.isinf(needed.variance):
            pair = problem.words(needed.place)
            raise NoAnswerError(
                f"no finite noise satisfies {self.name!r} for {pair}: its bound is infinite whatever the noise. Use "
                f"'exact', which always has an answer"
            )
        return Found(GaussianNoise(root_above(needed.variance)), needed.place)

    def curve(self, problem: Problem, *, alpha: float, low: float, high: float) -> NoiseCurve | None:
        """Noise against budget for a picture, cheaply; None where that would take too long.

        Args:
            problem: the priors and pairs.
            alpha: the order.
            low: the smallest budget.
            high: the largest.

        Returns:
            The curve. It is for a picture: nothing that is published rests on it.
        """
        return calibrated_curve(self.needed, problem, alpha=alpha, low=low, high=high)


def on_the_line(problem: Problem) -> Problem:
    """The problem with laws on finite lists of numbers as points on the line, to which noise can be added.

    Only of priors made by hand: where an answer is known to come from a list, it is published from that list.

    Args:
        problem: the priors and pairs.

    Returns:
        The same problem where it has an answer, or labels among its values.
    """
    if problem.answer is not None:
        return problem
    beliefs = []
    for belief in problem.beliefs:
        laws = {secret: law.on_the_line() for secret, law in belief.items()}
        if any(law is None for law in laws.values()):
            return problem
        beliefs.append(Belief(laws, label=belief.label, rows=belief.rows, drawn=belief.drawn))
    return replace(problem, beliefs=tuple(beliefs))


def require_noise(problem: Problem, asked: Guarantee, name: str) -> None:
    """Refuse what Gaussian noise on the line cannot do."""
    require_numbers(problem, name)
    refuse_odds(asked, name)


def require_numbers(problem: Problem, name: str) -> None:
    """Refuse laws of anything but numbers, to which noise is added."""
    if problem.space != "number":
        kind = type(problem.laws(0)[0]).__name__
        raise MechanismError(f"{name!r} adds noise to numbers on the line, and these laws are of the kind {kind}")


def refuse_odds(asked: Guarantee, name: str) -> None:
    """Refuse a promise about odds, of whatever Gaussian noise."""
    if asked.most_odds is not None:
        other = "" if name == "shaped" else "use 'laplace', whose noise bounds the odds of a number (odds alone), "
        raise MechanismError(
            f"Gaussian noise bounds the odds at no size, since its tails know no bound, so {name!r} cannot guarantee "
            f"it: {other}publish from a finite list (Row, or Finite laws), or ask for alpha and epsilon"
        )


def root_above(variance: float) -> float:
    """The least float whose square is the variance or more.

    Args:
        variance: 0 or more.

    Returns:
        A standard deviation, decided in rational numbers: the float root of a variance may be a last digit too small.

    >>> root_above(2.0) ** 2 >= 2.0, root_above(4.0)
    (True, 2.0)
    """
    theta = math.sqrt(variance)
    while Fraction(theta) ** 2 < Fraction(variance):
        theta = math.nextafter(theta, math.inf)
    return theta


def at_least(floor: float, variance: float) -> float:
    """The larger of the two; a variance that is no number becomes infinite, never less noise.

    Args:
        floor: a variance that is needed already.
        variance: what a formula gave.

    Returns:
        A variance, never NaN.

    >>> at_least(1.0, math.nan), at_least(1.0, 0.5)
    (inf, 1.0)
    """
    return math.inf if math.isnan(variance) else max(floor, variance)


def require_mechanism(rule: object) -> Mechanism:
    """An object with the interface of `Mechanism`, or an error that says what it lacks."""
    for name in ("name", "label", "summary", "require", "promise", "find", "options"):
        if not hasattr(rule, name):
            raise InputError(
                f"mechanism must be a name or an object like takifugu.mechanisms.Mechanism; "
                f"{type(rule).__name__} has no {name!r}"
            )
    found = cast(Mechanism, rule)
    if not (isinstance(found.name, str) and strict_json.NAME.fullmatch(found.name)):
        raise InputError(
            f"the name of a mechanism must be lower-case letters, digits and hyphens, such as 'my-rule'; got "
            f"{found.name!r}"
        )
    return found


# The mechanisms by name: ours, and those that other packages install.


GROUP = "takifugu.mechanisms"  # the entry-point group of mechanisms that other packages install

# Each is loaded when it is first asked for: two Gaussians need no programs.
_OURS = {
    "exact": "least_noise.Exact",
    "laplace": "least_noise.Laplace",
    "closed-form": "closed_form.ClosedForm",
    "closed-form-envelope": "closed_form.ClosedFormEnvelope",
    "gmm-transport": "transport.GmmTransport",
    "wasserstein": "transport.Wasserstein",
    "wasserstein-approx": "transport.WassersteinApprox",
    "wasserstein-aware": "transport.WassersteinAware",
    "wasserstein-laplace": "coupled_laplace.WassersteinLaplace",
    "kantorovich": "coupled_laplace.Kantorovich",
    "kantorovich-relaxed": "coupled_laplace.KantorovichRelaxed",
    "optimal": "optimal.mechanism.Optimal",
    "shaped": "shaped.Shaped",
}


_CALLED = {"keep": "preserve"}  # options that `calibrate` and `publish` call by another name

# Names of earlier versions, with what there is instead.
_FORMER = {"sparse": "mechanism='optimal' with solver='columns', which it takes by itself beyond 2,000 values"}


def refuse_former(name: str) -> None:
    """Refuse a name that a mechanism of Takifugu's had."""
    if name in _FORMER:
        raise InputError(f"there is no mechanism {name!r} any more: use {_FORMER[name]}")


def list_mechanisms() -> dict[str, str]:
    """The names that `calibrate` takes as `mechanism`, with a sentence on each.

    >>> list(list_mechanisms())[:2]
    ['exact', 'laplace']
    """
    return {name: mechanism.summary for name, mechanism in (_ours() | _installed()).items()}


def is_ours(name: str) -> bool:
    """Whether a mechanism of that name comes with Takifugu."""
    return name in _OURS


def is_trusted(rule: Mechanism) -> bool:
    """Whether a rule is one of Takifugu's own that prove what they return; a subclass may have changed that.

    Args:
        rule: the mechanism that found a channel.

    Returns:
        True where its channels are proved as they are made, so that `calibrate` need not check them again.
    """
    return is_ours(rule.name) and type(rule) is _own(rule.name) and rule.proves


def label_of(name: str) -> str:
    """The name of a mechanism for readers; its own where it is not installed here."""
    if is_ours(name):
        return _own(name).label
    known = _installed()
    return known[name].label if name in known else name


def get_mechanism(name: object, options: Mapping[str, object]) -> Mechanism:
    """The mechanism of that name with these options; an object with its interface is taken as it is.

    Args:
        name: a name that `list_mechanisms` has, or a mechanism.
        options: what was wished for, by name.

    Returns:
        The mechanism with these options.

    Raises:
        InputError: for a name or an option that is unknown; the nearest one that there is is named.
    """
    if not isinstance(name, str):
        if options:
            raise InputError(f"give the options to the mechanism itself, not to calibrate: {', '.join(options)}")
        rule = require_mechanism(name)
        if is_ours(rule.name) and type(rule) is not _own(rule.name):
            raise InputError(f"{rule.name!r} is the name of a mechanism of Takifugu's: give yours another")
        return rule
    refuse_former(name)
    if not is_ours(name) and name not in (installed := _installed()):
        known = [*_OURS, *installed]
        raise InputError(
            f"there is no mechanism {name!r}; there are {', '.join(map(repr, known))}.{suggestion(name, known)}"
        )
    mechanism = _own(name) if is_ours(name) else installed[name]
    accepted = {_CALLED.get(field.name, field.name): field.name for field in fields(mechanism)}
    for option in (_CALLED.get(option, option) for option in options):
        if option not in accepted:
            takes = f"only {', '.join(sorted(accepted))}" if accepted else "none"
            raise InputError(f"{name!r} has no option {option!r}: it takes {takes}")
    made: Callable[..., Mechanism] = mechanism
    return require_mechanism(made(**{accepted[_CALLED.get(name, name)]: one for name, one in options.items()}))


def _own(name: str) -> type[Mechanism]:
    module, _, inside = _OURS[name].rpartition(".")
    found: type[Mechanism] = getattr(import_module(f"takifugu.mechanisms.{module}"), inside)
    return found


def _ours() -> dict[str, type[Mechanism]]:
    return {name: _own(name) for name in _OURS}


def _installed() -> dict[str, type[Mechanism]]:
    """What other packages offer; none takes a name of ours."""
    from importlib.metadata import entry_points

    found = {}
    for entry in entry_points(group=GROUP):
        mechanism = entry.load()
        if entry.name != getattr(mechanism, "name", None) or entry.name in _OURS:
            raise InputError(
                f"the entry point {entry.name!r} of the group {GROUP!r} must have the name of its mechanism, and none "
                f"of Takifugu's: mend or remove the package that installs it"
            )
        found[entry.name] = mechanism
    return found
