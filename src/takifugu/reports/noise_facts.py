"""What there is to say about Gaussian noise on the line."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.laws.mixture import Mixture
from takifugu.problems.beliefs import Belief
from takifugu.reports.common import Facts, drawn_secrets, finite, question_of
from takifugu.reports.few_rows import is_shown
from takifugu.reports.grids import Curve, curve, grid
from takifugu.reports.losses import belief_losses, pair_losses
from takifugu.reports.most_telling import most_telling
from takifugu.reports.noise_curves import Comparison, Drawn, compared, itself, noise_curves
from takifugu.reports.priors_compared import UnderPrior, priors_compared

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
    """One calibration of Gaussian noise, with its curves."""

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
        return self.calibration.theta

    @cached_property
    def noise_curves(self) -> tuple[Drawn, ...]:
        """Noise against budget, drawn when first looked at: a terminal shows no curve and need not wait for it."""
        return noise_curves(self.calibration, self.comparisons)

    def to_dict(self) -> dict[str, Any]:
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
    """The facts of Gaussian noise. `compare=False` leaves the other mechanisms out; the exact curve stays."""
    a, b = calibration.worst_pair
    belief = calibration.beliefs[calibration.place.belief]
    p, q = belief[a], belief[b]
    theta = calibration.theta
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
        after=(curve(str(a), noisy[0], noisy_x), curve(str(b), noisy[1], noisy_x)),
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
