"""Everything a reader is told, computed once: the report, the command line and the explorer show these facts."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.documents.problems import guarantee_to
from takifugu.laws.mixture import Mixture
from takifugu.problems.beliefs import Belief
from takifugu.problems.findings import Finding
from takifugu.problems.guarantee import Renyi
from takifugu.problems.pairs import Pair
from takifugu.reports.adversary import Adversary, adversary
from takifugu.reports.grids import Curve, curve, grid
from takifugu.reports.noise_curves import Comparison, Drawn, compared, itself, noise_curves

_MOST_DRAWN = 6  # priors in one picture
_RELEASES = (1, 10, 100, 1_000, 10_000)


@dataclass(frozen=True)
class SecretFacts:
    """One secret's prior in numbers, under the belief that binds."""

    name: str
    rows: int | None
    components: int
    mean: float
    std: float
    is_discrete: bool


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


@dataclass(frozen=True)
class Facts:
    """One calibration and all there is to say about it. Labels are plain text: whoever shows them escapes them."""

    question: str
    calibration: Calibration = field(repr=False)
    loss: float
    secrets: tuple[SecretFacts, ...] = field(repr=False)
    densities: tuple[Curve, ...] = field(repr=False)
    histograms: tuple[Histogram, ...] = field(repr=False)
    before: tuple[Curve, Curve] = field(repr=False)
    after: tuple[Curve, Curve] = field(repr=False)
    noise_curves: tuple[Drawn, ...] = field(repr=False)
    comparisons: tuple[Comparison, ...]
    adversary: Adversary
    analyst: tuple[Averaged, ...]
    spread: float
    findings: tuple[Finding, ...] = ()
    certificate_sha256: str | None = None

    @property
    def alpha(self) -> float:
        """The Rényi order."""
        return self.calibration.alpha

    @property
    def epsilon(self) -> float:
        """The budget."""
        return self.calibration.epsilon

    @property
    def theta(self) -> float:
        """The standard deviation of the noise."""
        return self.calibration.theta

    @property
    def worst_pair(self) -> tuple[str, str]:
        """The secrets of the pair that is hardest to hide, as text."""
        a, b = self.calibration.worst_pair
        return str(a), str(b)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values for JSON; what is infinite is None. It describes the priors: keep it private."""
        return {
            "question": self.question,
            "theta": self.theta,
            "alpha": self.alpha,
            "epsilon": self.epsilon,
            "mechanism": self.calibration.mechanism,
            "guarantee": guarantee_to(self.calibration.guarantee),
            "worst_pair": list(self.worst_pair),
            "loss": _finite(self.loss),
            "spread": self.spread,
            "secrets": [
                {"name": s.name, "rows": s.rows, "components": s.components, "mean": s.mean, "std": s.std}
                for s in self.secrets
            ],
            "comparisons": [
                {"mechanism": c.mechanism, "label": c.label, "theta": _finite(c.theta), "weaker": c.is_weaker}
                for c in self.comparisons
            ],
            "adversary": {
                "guess_before": self.adversary.guess_before,
                "guess_after": self.adversary.guess_after,
                "guess_bound": self.adversary.guess_bound,
                "odds": [
                    {"probability": o.probability, "exact": _finite(o.exact), "bound": _finite(o.bound)}
                    for o in self.adversary.odds
                ],
            },
            "analyst": [{"releases": a.releases, "error": _finite(a.error)} for a in self.analyst],
            "findings": [finding.to_dict() for finding in self.findings],
            "certificate_sha256": self.certificate_sha256,
        }


def facts_for(
    priors: Mapping[Any, Mixture] | Sequence[Mapping[Any, Mixture]],
    *,
    alpha: float,
    epsilon: float,
    pairs: Iterable[Pair] | None = None,
    mechanism: str = "exact",
    question: str,
    compare: bool = True,
    certificate_sha256: str | None = None,
    **options: Any,
) -> Facts:
    """Calibrate, and compute what there is to say about the result.

    Priors from `fit_priors` bring their findings and histograms along. `compare=False` leaves the other mechanisms
    out; the exact curve stays.

    >>> facts = facts_for(
    ...     {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1, question="raw:x"
    ... )
    >>> round(facts.theta, 6), round(facts.adversary.guess_before, 4), round(facts.adversary.guess_after, 4)
    (1.732051, 0.8413, 0.6915)
    """
    result = calibrate(priors, alpha=alpha, epsilon=epsilon, pairs=pairs, mechanism=mechanism, **options)
    return facts_of(result, question=question, compare=compare, certificate_sha256=certificate_sha256)


def facts_of(
    calibration: Calibration,
    *,
    question: str,
    compare: bool = True,
    certificate_sha256: str | None = None,
) -> Facts:
    """The facts of a calibration that was made already."""
    a, b = calibration.worst_pair
    belief = calibration.beliefs[calibration.place.belief]
    p, q = belief[a], belief[b]
    theta = calibration.theta
    comparisons = compared(calibration) if compare else (itself(calibration),)
    names = _drawn(calibration)
    x = grid([belief[name] for name in names])
    pair_x = grid([p, q])
    noisy = p.with_noise(theta), q.with_noise(theta)
    noisy_x = grid([*noisy, p, q])
    # A weaker promise bounds nothing by ε alone.
    promised = calibration.epsilon if isinstance(calibration.guarantee, Renyi) else math.inf
    return Facts(
        question=question,
        calibration=calibration,
        loss=calibration.loss,
        secrets=tuple(_secret(name, belief[name], belief.rows.get(name)) for name in calibration.pairs.secrets),
        densities=tuple(curve(str(name), belief[name], x) for name in names),
        histograms=_histograms(belief, names),
        before=(curve(str(a), p, pair_x), curve(str(b), q, pair_x)),
        after=(curve(str(a), noisy[0], noisy_x), curve(str(b), noisy[1], noisy_x)),
        noise_curves=noise_curves(calibration, comparisons),
        comparisons=comparisons,
        adversary=adversary(p, q, alpha=calibration.alpha, epsilon=promised, theta=theta),
        analyst=tuple(Averaged(n, theta / math.sqrt(n)) for n in _RELEASES),
        spread=max(p.std, q.std),
        findings=calibration.findings,
        certificate_sha256=certificate_sha256,
    )


def _drawn(calibration: Calibration) -> list[Hashable]:
    """The secrets of one picture: the worst pair first, then as many as fit."""
    first = list(calibration.worst_pair)
    return [*first, *(name for name in calibration.pairs.secrets if name not in first)][:_MOST_DRAWN]


def _secret(name: Hashable, prior: Mixture, rows: int | None) -> SecretFacts:
    simple = prior.simplified()
    return SecretFacts(str(name), rows, len(simple), prior.mean, prior.std, simple.is_discrete)


def _histograms(belief: Belief, names: list[Hashable]) -> tuple[Histogram, ...]:
    subsets = belief.histograms
    return tuple(
        Histogram(str(name), subsets[name].values, subsets[name].counts / np.sum(subsets[name].counts))
        for name in names
        if name in subsets
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
