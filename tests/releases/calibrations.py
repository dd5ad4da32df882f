"""A calibration made by hand, so that the tests of a release do not wait for a search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from takifugu.divergences import renyi_divergence
from takifugu.priors.mixture import Mixture

PRIORS = {"a": Mixture.gaussian(0.0, 1.0), "b": Mixture.gaussian(1.0, 1.0)}


@dataclass(frozen=True)
class HandMade:
    """The fields of a `Calibration` that a release reads; its epsilon is the exact loss at theta."""

    theta: float
    alpha: float
    epsilon: float
    beliefs: Sequence[Mapping[Any, Mixture]]
    pairs: Sequence[tuple[Any, Any]]
    mechanism: str = "exact"


def hand_made(theta=1.0, *, alpha=2.0, priors=PRIORS, pairs=None, epsilon=None) -> HandMade:
    secrets = list(priors)
    pairs = pairs or [(a, b) for i, a in enumerate(secrets) for b in secrets[i + 1 :]]
    if epsilon is None:
        epsilon = max(
            renyi_divergence(priors[i], priors[j], alpha=alpha, theta=theta)
            for a, b in pairs
            for i, j in ((a, b), (b, a))
        )
    return HandMade(theta, alpha, epsilon, (priors,), pairs)
