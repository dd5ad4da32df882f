"""How likely a Gaussian process makes its training rows, and which way that rises.

It is what scikit-learn's regressor computes for the same kernel (Rasmussen and Williams, Gaussian Processes for Machine
Learning, section 5.4.1), to the last digits, in half to a sixth of the time (`python -m benchmarks fitting`): slopes
along the lengths are sums over pairs of rows, Σ M_ab (u_a − u_b)², which take a product of matrices and no table of
rows × rows × features.
"""

import math
from typing import NamedTuple

import numpy as np

from takifugu._validation import Array


class Likelihood:
    """The logarithm of the marginal likelihood as a function of a kernel's parameters, in logarithms.

    The kernel is that of `takifugu.queries.gp`: a size, one length per feature, and the variance of white noise.
    """

    def __init__(self, inputs: Array, answers: Array, *, ridge: float) -> None:
        """`ridge` is what scikit-learn adds to the diagonal besides, so that the same matrix is factored."""
        self._inputs = inputs - inputs.mean(axis=0)  # distances from products keep more digits near zero
        self._answers = np.asarray(answers, dtype=np.float64)
        self._ridge = ridge

    def value(self, parameters: Array) -> float:
        """The value alone; −∞ where rounding leaves no covariance to speak of."""
        return self._at(parameters).value

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        """The value and its gradient."""
        from scipy.linalg.lapack import dpotri

        at = self._at(parameters)
        if at.value == -math.inf:
            return at.value, np.zeros(len(parameters))
        below, _ = dpotri(at.root, lower=1, overwrite_c=1)  # above the diagonal there is nothing
        pull = np.outer(at.weights, at.weights)  # less the inverse: twice the slope along every entry of the covariance
        pull -= _mirrored(below)
        pairs = np.multiply(pull, at.alike, out=at.alike)
        sums = pairs.sum(axis=1)
        slope = np.empty(len(parameters))
        slope[0] = 0.5 * sums.sum()
        slope[1:-1] = sums @ at.scaled**2 - np.einsum("ij,ij->j", at.scaled, pairs @ at.scaled)
        slope[-1] = 0.5 * math.exp(parameters[-1]) * pull.trace()
        return at.value, slope

    def _at(self, parameters: Array) -> "_Factored":
        from scipy.linalg.lapack import dpotrf, dpotrs

        rows = len(self._inputs)
        scaled = self._inputs / np.exp(parameters[1:-1])
        squares = np.einsum("ij,ij->i", scaled, scaled)
        # In place, step by step: a new table of rows × rows for every step took most of the time.
        alike = scaled @ scaled.T
        alike *= -2.0
        alike += squares[:, None] + squares
        np.maximum(alike, 0.0, out=alike)
        np.fill_diagonal(alike, 0.0)
        alike *= -0.5
        np.exp(alike, out=alike)
        alike *= math.exp(parameters[0])
        covariance = alike.copy()
        covariance.flat[:: rows + 1] += math.exp(parameters[-1]) + self._ridge
        root, failed = dpotrf(covariance.T, lower=1, overwrite_a=1)  # the same, in the order of LAPACK
        weights, _ = dpotrs(root, self._answers, lower=1)
        value = -0.5 * (self._answers @ weights + rows * math.log(2 * math.pi))
        value = -math.inf if failed else float(value - np.log(root.diagonal()).sum())
        return _Factored(value, scaled, alike, root, weights)


def _mirrored(below: Array) -> Array:
    """The symmetric matrix of what is on the diagonal and below it, where nothing is above."""
    found: Array = below.T + below
    np.fill_diagonal(found, below.diagonal())
    return found


class _Factored(NamedTuple):
    """The value, and what it was found from: scaled inputs, the kernel without noise, its root, and K⁻¹y."""

    value: float
    scaled: Array
    alike: Array
    root: Array
    weights: Array
