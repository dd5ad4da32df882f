"""Calibrations made by hand, so that the tests of a release do not wait for a search."""

from takifugu.calibration import Calibration
from takifugu.channels.gaussian import GaussianNoise
from takifugu.divergences import renyi_divergence
from takifugu.laws.mixture import Mixture
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Belief, Pairs, Place, Problem

PRIORS = {"a": Mixture.gaussian(0.0, 1.0), "b": Mixture.gaussian(1.0, 1.0)}


def hand_made(theta=1.0, *, alpha=2.0, priors=PRIORS, pairs=None, epsilon=None) -> Calibration:
    """A calibration with this noise; its epsilon is the exact loss, unless given."""
    chosen = Pairs(priors, pairs)
    if epsilon is None:
        losses = [renyi_divergence(priors[i], priors[j], alpha=alpha, theta=theta) for i, j in chosen.directed()]
        epsilon = max(losses) * (1 + 2**-40) or 1e-300  # a hair of room: a release asks for a proof
    first = tuple(chosen.secrets.index(secret) for secret in chosen[0])
    return Calibration(
        Problem((Belief(priors),), chosen), Renyi(alpha, epsilon), GaussianNoise(theta), "exact", Place(0, *first)
    )
