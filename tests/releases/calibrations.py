"""Calibrations made by hand, so that the tests of a release do not wait for a search."""

from takifugu.calibration import Belief, Calibration
from takifugu.divergences import renyi_divergence
from takifugu.laws.mixture import Mixture
from takifugu.problems.pairs import Pairs

PRIORS = {"a": Mixture.gaussian(0.0, 1.0), "b": Mixture.gaussian(1.0, 1.0)}


def hand_made(theta=1.0, *, alpha=2.0, priors=PRIORS, pairs=None, epsilon=None) -> Calibration:
    """A calibration with this noise; its epsilon is the exact loss, unless given, and never a bit below it."""
    chosen = Pairs(priors, pairs)
    if epsilon is None:
        epsilon = max(renyi_divergence(priors[i], priors[j], alpha=alpha, theta=theta) for i, j in chosen.directed())
        epsilon *= 1 + 2**-46  # a release decides in ball arithmetic, and the loss above is rounded
    return Calibration(theta, alpha, epsilon, "exact", chosen[0], chosen, (Belief(priors),))
