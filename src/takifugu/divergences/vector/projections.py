"""What a vector is sure to lose: the loss of its projections onto lines, which is exact."""

import math

import numpy as np
import numpy.typing as npt

from takifugu._validation import order
from takifugu.divergences.line.general import divergence
from takifugu.laws.vector import VectorMixture, covariance_matrix

_QUICK = 1 << 16  # pairs of components up to which a direction of its own is looked at


def projected_loss(p: VectorMixture, q: VectorMixture, *, alpha: float, covariance: npt.ArrayLike) -> float:
    """The largest D_α of a few numbers a · (X + N): whoever holds the vector can compute each of them.

    A lower bound on the loss of the whole vector (data processing), for laws too many-sided for a formula: point
    masses at the rows of a table, say. The numbers are the axes and, while that is quick, the directions that tell the
    two means apart best: there no two rows fall together as they do on an axis.
    """
    alpha, sigma = order(alpha), covariance_matrix("the noise's covariance", covariance)
    gap = p.mean - q.mean
    within = 0.5 * (p.covariance + q.covariance) + sigma
    directions = [*np.eye(p.dimension)]
    if gap.any() and len(p) * len(q) <= _QUICK:
        directions.append(np.linalg.lstsq(within, gap, rcond=1e-12)[0])
        directions.append(np.linalg.lstsq(sigma, gap, rcond=1e-12)[0])
    worst = 0.0
    for a in directions:
        a = a / np.abs(a).max()
        theta = math.sqrt(max(float(a @ sigma @ a), 0.0))
        worst = max(worst, divergence(p.projected(a), q.projected(a), alpha=alpha, theta=theta))
    return worst
