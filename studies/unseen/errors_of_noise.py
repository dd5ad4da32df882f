"""What Gaussian noise costs on a list of values: as it is, and after the best that can be done to it afterwards.

Whoever publishes with noise may clip it to the bounds, or replace each noisy value by the mean of the true values that
it may have come from. Both are post-processing and keep the guarantee, so a comparison has to show them.
"""

import numpy as np

from takifugu._validation import Array

_REACH = 9.0  # standard deviations of noise around the values; beyond is less than 1e-18 of the mass
_POINTS = 4_001


def clipped(values: Array, shares: Array, theta: float) -> float:
    """The mean square error of noisy values that are clipped to the smallest and the largest value.

    >>> round(clipped(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 1e9), 6)
    0.5
    """
    from scipy.stats import chi2, norm

    if theta == 0:
        return 0.0
    low, high = values.min() - values, values.max() - values
    a, b = low / theta, high / theta
    # ∫ z²φ(z) dz from 0 is half the law of χ² with three degrees: nothing cancels where noise is large.
    inside = 0.5 * (np.sign(b) * chi2.cdf(b**2, 3) - np.sign(a) * chi2.cdf(a**2, 3))
    ends = low**2 * norm.cdf(a) + high**2 * norm.sf(b)
    return float(shares @ (theta**2 * inside + ends))


def estimated(values: Array, shares: Array, theta: float) -> float:
    """The mean square error of the best estimate of a value from its noisy one: E[X | Y], the shares known.

    By the trapezoidal rule, which is exact to many digits for a sum of bells.

    >>> round(estimated(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 1e3), 4)
    0.25
    """
    if theta == 0:
        return 0.0
    spread = float(np.ptp(values))
    points = max(_POINTS, int(np.ceil(8 * (spread + 2 * _REACH * theta) / theta)))
    y = np.linspace(values.min() - _REACH * theta, values.max() + _REACH * theta, points)
    with np.errstate(under="ignore"):
        joint = shares * np.exp(-0.5 * ((y[:, None] - values) / theta) ** 2)
        mass = joint.sum(axis=1)
        guess = (joint @ values) / np.maximum(mass, 1e-300)
        losses = (joint * (guess[:, None] - values) ** 2).sum(axis=1)
    step = y[1] - y[0]
    return float(losses.sum() * step / (theta * np.sqrt(2 * np.pi)))
