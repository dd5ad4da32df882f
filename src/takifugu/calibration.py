"""From beliefs and a budget to the noise that meets it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu import _validation as check
from takifugu.errors import CalibrationError, InputError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms import get_mechanism
from takifugu.mechanisms.base import RPP, Binding, Mechanism
from takifugu.mechanisms.binding import is_enough, proved_noise
from takifugu.mechanisms.losses import Losses
from takifugu.mechanisms.worst import largest_loss
from takifugu.problems.beliefs import Belief, beliefs_from
from takifugu.problems.pairs import Pair, Pairs

if TYPE_CHECKING:
    import pandas as pd

_LISTED_LOSSES = 10_000  # directed pairs up to which `to_dict` lists every loss


_NO_NOISE = Binding(0.0, None)


@dataclass(frozen=True)
class Calibration:
    """Noise that hides every pair of secrets within a budget, and how it was found.

    `theta` is the standard deviation of the Gaussian noise to add. It is infinite where the mechanism has no finite
    answer. `guarantee` is "rpp" for (α, ε)-Rényi Pufferfish Privacy; mechanisms with a weaker promise say so.
    """

    theta: float
    alpha: float
    epsilon: float
    mechanism: str
    worst_pair: Pair
    pairs: Pairs = field(repr=False)
    beliefs: tuple[Belief, ...] = field(repr=False)
    guarantee: str = RPP
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def variance(self) -> float:
        """θ², the mean square error that the noise costs a published value."""
        return self.theta * self.theta

    @property
    def priors(self) -> Belief | tuple[Belief, ...]:
        """The priors as they were given: one mapping, or several beliefs."""
        return self.beliefs[0] if len(self.beliefs) == 1 else self.beliefs

    @property
    def losses(self) -> Losses:
        """The exact privacy loss of each directed pair at this noise, computed when asked for."""
        return Losses(self.beliefs, self.pairs, self.alpha, self.theta)

    @property
    def _protected(self) -> str:
        if self.pairs.is_every:
            return "every pair of secrets"
        return "the chosen pair of secrets" if len(self.pairs) == 1 else f"each of the {len(self.pairs):,} chosen pairs"

    def __str__(self) -> str:
        """What was found, in sentences."""
        a, b = self.worst_pair
        budget = f"(α, ε) = ({self.alpha:g}, {self.epsilon:g})"
        if self.theta == 0:
            return (
                f"No noise is needed: without any, {self._protected} is within {budget}. The closest to the "
                f"limit is {a!r} against {b!r}, with a loss of {self.losses[a, b]:.6g}."
            )
        if math.isinf(self.theta):
            return (
                f"No finite noise satisfies {self.mechanism!r} for {a!r} against {b!r}: its bound is infinite "
                f"whatever the noise. Use 'exact', which always has an answer."
            )
        promise = (
            f"hides {self._protected}"
            if self.guarantee == RPP
            else f"gives the weaker, {self.guarantee} promise of {self.mechanism!r} to {self._protected}"
        )
        return (
            f"Gaussian noise of standard deviation θ = {self.theta:.6g} {promise} within {budget} "
            f"({self.mechanism}). The worst pair is {a!r} against {b!r}, with a loss of {self.losses[a, b]:.6g}."
        )

    def meets_budget(self) -> bool:
        """Whether the noise is seen, once more, to be enough for every pair and belief.

        A release asks this, since a calibration may come from a file that somebody has changed. The pair closest to
        the limit is decided in ball arithmetic, the others in floats; for a proof of all see `takifugu.certify`.
        """
        name, options = ("exact", {}) if self.guarantee == RPP else (self.mechanism, dict(self.options))
        here, budget = Binding(self.variance * (1 + 2**-50), None), self.epsilon * (1 + 1e-9)
        if _over_beliefs(get_mechanism(name, options), self.beliefs, self.pairs, self.alpha, budget, here) != here:
            return False
        if self.guarantee != RPP or math.isinf(self.theta):
            return True
        priors = [[belief[secret] for secret in self.pairs.secrets] for belief in self.beliefs]
        worst = largest_loss(priors, self.pairs, alpha=self.alpha, theta=self.theta)
        return is_enough(priors, worst, alpha=self.alpha, epsilon=self.epsilon, theta=self.theta)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON; no float loses a bit. It holds the priors: keep it private.

        Losses are listed up to 10,000 directed pairs; beyond that only the worst is.
        """
        listed = self.losses if len(self.losses) <= _LISTED_LOSSES else [self.worst_pair]
        return {
            "theta": self.theta,
            "variance": self.variance,
            "alpha": self.alpha,
            "epsilon": self.epsilon,
            "mechanism": self.mechanism,
            "options": dict(self.options),
            "guarantee": self.guarantee,
            "worst_pair": list(self.worst_pair),
            "pairs": None if self.pairs.is_every else [list(pair) for pair in self.pairs],
            "losses": [{"pair": list(pair), "loss": self.losses[pair]} for pair in listed],
            "beliefs": [
                [
                    {
                        "secret": secret,
                        "weights": prior.weights.tolist(),
                        "means": prior.means.tolist(),
                        "stds": prior.stds.tolist(),
                    }
                    for secret, prior in belief.items()
                ]
                for belief in self.beliefs
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Calibration":
        """What `to_dict` wrote, validated again. Nothing is proved by it: see `certify`."""
        try:
            for belief in data["beliefs"]:
                if len({entry["secret"] for entry in belief}) < len(belief):
                    raise InputError("a secret stands twice in one belief: which prior is meant cannot be told")
            beliefs = beliefs_from(
                [
                    {e["secret"]: Mixture(e["weights"], e["means"], e["stds"]) for e in belief}
                    for belief in data["beliefs"]
                ]
            )
            chosen = data["pairs"]
            pairs = Pairs(beliefs[0], None if chosen is None else [tuple(pair) for pair in chosen])
            theta, worst = data["theta"], tuple(data["worst_pair"])
            if worst not in pairs:
                raise InputError(f"the worst pair {worst!r} is not among the pairs")
            rule = get_mechanism(data["mechanism"], dict(data["options"]))
            if data["guarantee"] != rule.guarantee:
                raise InputError(f"{rule.name!r} gives the guarantee {rule.guarantee!r}, not {data['guarantee']!r}")
            return cls(
                theta=theta if theta == math.inf else check.noise(theta),
                alpha=check.order(data["alpha"]),
                epsilon=check.budget(data["epsilon"]),
                mechanism=rule.name,
                worst_pair=worst,
                pairs=pairs,
                beliefs=beliefs,
                guarantee=rule.guarantee,
                options=tuple(sorted(rule.options.items())),
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise InputError(f"this is not a calibration as to_dict writes it: {error!r}") from error


def calibrate(
    priors: Mapping[Any, Mixture] | Sequence[Mapping[Any, Mixture]],
    *,
    alpha: float,
    epsilon: float,
    pairs: Iterable[Pair] | None = None,
    mechanism: str = "exact",
    **options: Any,
) -> Calibration:
    """The least noise that keeps every pair of secrets within the budget, both ways.

    Args:
        priors: the distribution of the answer for each secret, as {secret: Mixture}; or a list of such mappings, one
            per belief the adversary may hold, of which the worst counts.
        alpha: the Rényi order, above 1.
        epsilon: the budget in nats, above 0.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        mechanism: "exact" by default; see `list_mechanisms`.
        **options: options of the mechanism, such as `delta` of "wasserstein-approx".

    >>> result = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1)
    >>> round(result.variance, 6)
    3.0
    """
    alpha, epsilon = check.order(alpha), check.budget(epsilon)
    beliefs = beliefs_from(priors)
    wanted = Pairs(beliefs[0], pairs)
    rule = get_mechanism(mechanism, options)
    found = _over_beliefs(rule, beliefs, wanted, alpha, epsilon)
    if rule.guarantee == RPP and rule.name != "exact":
        # The bound promises it; the exact divergence makes sure, rounding included.
        found = _over_beliefs(get_mechanism("exact", {}), beliefs, wanted, alpha, epsilon, found)
    theta = _root_above(found.variance)
    priors_of = [[belief[secret] for secret in wanted.secrets] for belief in beliefs]
    if found.pair is None or (rule.name != "exact" and math.isfinite(theta)):
        i, j = largest_loss(priors_of, wanted, alpha=alpha, theta=theta)
    else:
        i, j = found.pair
    if rule.guarantee == RPP and math.isfinite(theta):
        theta = proved_noise(priors_of, (i, j), alpha=alpha, epsilon=epsilon, theta=theta)
    return Calibration(
        theta=theta,
        alpha=alpha,
        epsilon=epsilon,
        mechanism=rule.name,
        worst_pair=(wanted.secrets[i], wanted.secrets[j]),
        pairs=wanted,
        beliefs=beliefs,
        guarantee=rule.guarantee,
        options=tuple(sorted(rule.options.items())),
    )


def sweep(
    priors: Mapping[Any, Mixture] | Sequence[Mapping[Any, Mixture]],
    *,
    alphas: Iterable[float],
    epsilons: Iterable[float],
    mechanisms: Iterable[str] = ("exact",),
    pairs: Iterable[Pair] | None = None,
) -> "pd.DataFrame":
    """Calibrate at every combination: a row each, with alpha, epsilon, mechanism, theta, variance and worst_pair.

    >>> table = sweep(
    ...     {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alphas=[2], epsilons=[0.5, 1]
    ... )
    >>> table.variance.round(6).tolist()
    [7.0, 3.0]
    """
    import pandas as pd

    if isinstance(mechanisms, str):
        mechanisms = (mechanisms,)
    chosen = None if pairs is None else list(pairs)
    orders, budgets = (
        [check.order(a) for a in _several(alphas)],
        [check.budget(e) for e in _several(epsilons)],
    )
    rows = []
    for name in mechanisms:
        for alpha in orders:
            for epsilon in budgets:
                one = calibrate(priors, alpha=alpha, epsilon=epsilon, pairs=chosen, mechanism=name)
                rows.append((alpha, epsilon, name, one.theta, one.variance, one.worst_pair))
    return pd.DataFrame(rows, columns=["alpha", "epsilon", "mechanism", "theta", "variance", "worst_pair"])


def _several(values: Any) -> list[Any]:
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def _over_beliefs(
    rule: Mechanism,
    beliefs: tuple[Belief, ...],
    pairs: Pairs,
    alpha: float,
    epsilon: float,
    start: Binding = _NO_NOISE,
) -> Binding:
    """The least variance for all beliefs, no less than that of `start`."""
    found = start
    for belief in beliefs:
        if math.isinf(found.variance):
            break
        priors = [belief[secret] for secret in pairs.secrets]
        binding = rule.least_variance_over(priors, pairs, alpha=alpha, epsilon=epsilon, floor=found.variance)
        if math.isnan(binding.variance):
            raise CalibrationError(f"{rule.name!r} gave no number for these priors: please report this case")
        if binding.variance > found.variance:
            found = binding
    return found


def _root_above(variance: float) -> float:
    """The least float whose square is the variance or more."""
    theta = math.sqrt(variance)
    if math.isinf(theta):
        return theta
    while Fraction(theta) ** 2 < Fraction(variance):
        theta = math.nextafter(theta, math.inf)
    return theta
