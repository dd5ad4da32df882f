"""The same rows under other priors: where the noise hangs on which is believed, a reader must know."""

import math
from dataclasses import dataclass

import numpy as np

from takifugu.calibration import Calibration
from takifugu.errors import CalibrationError, MechanismError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.additive.exact import Exact
from takifugu.problems.beliefs import Belief
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

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
    if not known or len(secrets) > _MOST_SECRETS or not isinstance(calibration.guarantee, Renyi):
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
